#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The view of blocked tasks without BPF: the same tasks as for test-blocked.py, as far as they need no
disk, with their causes from /proc. A recording has them, too, and so has a container of its own.

    test-blocked-proc.py KONTEND"""
import json
import os
import signal
import subprocess
import sys
import time

import causes
from checks import check, failed
from namespaces import can, main

PROC = ("proc", "proc_again")
# /proc/locks shows no lock there whose process has gone.
INSIDE = """flock "$2" sleep 600 &
until grep -q FLOCK /proc/locks; do sleep 0.05; done
flock "$2" true &
until grep -q -e "-> FLOCK" /proc/locks; do sleep 0.05; done
"$1" report --no-bpf -q --view blocked --by task --format json --duration 2s
"""


def view_of(*words):
    p = subprocess.run([*words, "-q", "--view", "blocked", "--by", "task", "--format", "json"],
                       capture_output=True, text=True)
    if p.returncode:
        raise AssertionError(f"{words}: {p.stderr.strip()}")
    return json.loads(p.stdout)["views"]["blocked"]


def has_cause(t, r):
    words = t.cause if not r["device"] else f"{t.cause} {r['device']}"
    return r["cause"] in (t.cause, words)


def compare(view, tasks, since):
    check(view["known"], f"not known: {view.get('reason')}")
    check(view["method"] in PROC, f"by {view['method']}")
    check("--no-bpf" in view["no_objects"], f"objects: {view['no_objects']}")
    rows = {r["tid"]: r for r in view["rows"]}
    d_rows = [r for r in view["rows"] if r["task_state"] == "D"]
    check(view["in_d"] == len(d_rows), f"{view['in_d']} in state D, {len(d_rows)} rows")
    for t in tasks:
        r = rows.get(t.tid)
        if not check(r is not None, f"{t.name}: not there"):
            continue
        asleep = r["longest_now_ns"] or 0
        print(f"{t.name} {r['task_state']}: {r['cause']}, {asleep / 1e9:.3f} s, because of "
              f"{r['because_of']}, in {r['sleeps_in']}")
        check(has_cause(t, r), f"{t.name}: '{r['cause']}', not '{t.cause}'")
        check(r["task_state"] in t.states, f"{t.name}: in state {r['task_state']}")
        check(r["comm"] == t.name, f"{t.name}: it has the name '{r['comm']}'")
        check(since - t.settled <= asleep <= time.monotonic_ns() - t.began,
              f"{t.name}: asleep for {asleep} ns, of {since - t.settled} at least")
        if "vfork" in t.name:
            check(t.because in (r["because_of"] or ""), f"{t.name}: because of {r['because_of']}")


def record(kontend, folder, tasks):
    path, since = os.path.join(folder, "data"), time.monotonic_ns()
    subprocess.run([kontend, "record", "-q", "--no-bpf", "--duration", "2s", "-o", path], check=True)
    compare(view_of(kontend, "report", "-i", path), tasks, since)


def container(kontend, folder):
    """A waiter in a PID namespace of its own, and no other task is there."""
    if not can("unshare", "-pf", "--mount-proc"):
        print("no PID namespace here, as in a chroot, whose / is no mount point")
        return
    path = os.path.join(folder, "lock")
    p = subprocess.run(["unshare", "-pf", "--mount-proc", "--kill-child", "sh", "-c", INSIDE, "sh",
                        kontend, path],
                       capture_output=True, text=True)
    if not check(p.returncode == 0, f"inside: {p.stderr.strip()}"):
        return
    rows = json.loads(p.stdout)["views"]["blocked"]["rows"]
    check([r["cause"] for r in rows] == ["file lock"], f"inside: {rows}")
    for r in rows:
        check(r["comm"] == "flock" and path in (r["because_of"] or ""), f"inside: {r}")


def end(*_):
    raise AssertionError("ended by a signal")


def run():
    signal.signal(signal.SIGTERM, end)
    c = causes.produce(causes.processes, causes.files, causes.cgroups)
    try:
        tasks = [t for t in c.tasks if t.steady]
        since = time.monotonic_ns()
        compare(view_of(sys.argv[1], "report", "--no-bpf", "--duration", "2s"), tasks, since)
        record(sys.argv[1], c.dir, tasks)
        container(sys.argv[1], c.dir)
    finally:
        c.end()
    return failed() != 0


main(run)
