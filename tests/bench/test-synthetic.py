#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""test-synthetic.py KONTEND SYNTHETIC

What was put into a synthetic recording is what a report of it shows, wait by wait and nanosecond by
nanosecond: by lock, by task and by call chain, with few CPUs and with many, where tids are reused,
records are lost and time goes by without events.
"""
import json
import os
import subprocess
import sys
import tempfile

SHAPES = {
    "plain": [],
    "tids are reused": ["reuse=5"],
    "time without events": ["gaps=2"],
    "1024 CPUs": ["cpus=1024"],
    "3000 CPUs": ["cpus=3000"],
    "records are lost": ["lost=2"],
    "each lock as often, all waits move": ["zipf=0", "migrate=100", "depth=1"],
    "threads wait for locks of programs": ["users=20"],
    "many wait for one lock": ["waiters=15"],
    "both, and tids are reused": ["users=20", "waiters=15", "reuse=5", "cpus=1024"],
}
SEEDS = (1, 2)
COMMON = ["events=4000", "tasks=40", "locks=30", "chains=10"]


def rows(kontend, path, by):
    out = subprocess.run([kontend, "report", "-q", "-i", path, "--view", "locks", "--by", by, "-n", "0",
                          "--format", "json"], stdout=subprocess.PIPE, check=True, timeout=60).stdout
    report = json.loads(out)
    return report["views"]["locks"]["rows"], report["source"]


def sums(items, waits, ns, key):
    return sorted((key(i), i[waits], i[ns]) for i in items)


def shown(items, key):
    return sums(items, "contended", "total_ns", key)


def truth(items, key):
    return sums(items, "waits", "wait_ns", key)


def task(row):
    return f'{row["comm"]}/{row["tid"]}'


def check(kontend, synthetic, path, shape, seed):
    out = subprocess.run([synthetic, path, f"seed={seed}", *COMMON, *shape], stdout=subprocess.PIPE,
                         check=True, timeout=60).stdout
    want = json.loads(out)
    locks, source = rows(kontend, path, "lock")
    tasks, _ = rows(kontend, path, "task")
    callers, _ = rows(kontend, path, "caller")
    wrong = []
    all_locks = want["locks"] + want["users"]
    if shown(locks, lambda r: r["lock"]) != truth(all_locks, lambda r: r["address"]):
        wrong.append("locks")
    if shown(tasks, task) != truth(want["tasks"], task):
        wrong.append("tasks")
    # Callers are named by function, here by nothing: their sums alone are compared.
    in_kernel = [r for r in callers if not r["type"].endswith("(u)")]
    if shown(in_kernel, lambda r: "") != truth(want["chains"], lambda r: ""):
        wrong.append("chains")
    if source["lost"] != want["lost"] or source["folded"] or source["doubtful"] or source["bad"]:
        wrong.append(f'damage: lost {source["lost"]} of {want["lost"]}, folded {source["folded"]}, '
                     f'doubtful {source["doubtful"]}, bad {source["bad"]}')
    return wrong


def folded(kontend, path, *options):
    out = subprocess.run([kontend, "report", "-q", "-i", path, "--view", "overview", "--format", "json",
                          *options], stdout=subprocess.PIPE, check=True, timeout=60).stdout
    report = json.loads(out)
    types = report["views"]["overview"]["types"]
    return report["source"]["folded"], sum(t["contended"] for t in types)


def check_memory(kontend, synthetic, path):
    """More than fits into the least: by default all is kept apart, and no wait is lost in either."""
    subprocess.run([synthetic, path, "events=400000", "tasks=400", "locks=400", "chains=50", "zipf=0"],
                   stdout=subprocess.DEVNULL, check=True, timeout=60)
    free, all_waits = folded(kontend, path)
    tight, same_waits = folded(kontend, path, "--memory", "1M")
    print(f"by default {free} waits are folded, with 1M {tight}, of {all_waits} and {same_waits}")
    return free != 0 or tight == 0 or all_waits != 200000 or same_waits != all_waits


def main():
    kontend, synthetic = sys.argv[1:]
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "synthetic.data")
        for name, shape in SHAPES.items():
            for seed in SEEDS:
                wrong = check(kontend, synthetic, path, shape, seed)
                print(f"{name}, seed {seed}: {', '.join(wrong) or 'equal'}", flush=True)
                failures += bool(wrong)
        failures += check_memory(kontend, synthetic, path)
    print(f"{len(SHAPES) * len(SEEDS) + 1} recordings, {failures} wrong")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
