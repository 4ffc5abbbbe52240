#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Waits that no event reports: of a task that changes a mapping while a page fault uses it, of the
writers of percpu-rwsems, and of those that wait behind them.

    test-silent-waits.py KONTEND"""
import json
import os
import signal
import subprocess
import sys
import time

import causes
from causes import Task
from checks import check, failed
from namespaces import Skip, main, wait_for

GROUPS = ("/sys/fs/cgroup/freezer", "/sys/fs/cgroup")
WRITERS = 4
PAUSE = 0.05  # seconds, after which a writer has to wait for RCU again
REPORTS = 6


def report(kontend, seconds, *views):
    p = subprocess.run([kontend, "report", "-q", "-a", "--format", "json", "-n", "1000", "--duration",
                        f"{seconds}s", "--view", ",".join(views)], capture_output=True, text=True)
    if p.returncode:
        raise AssertionError(f"report: {p.stderr.strip()}")
    return json.loads(p.stdout)["views"]


def row_of(rows, task):
    mine = [r for r in rows if r["tid"] == task.tid and not r.get("ended")]
    return mine[0] if check(len(mine) == 1, f"{task.name}: {len(mine)} rows of {task.tid}") else None


def compare_length(task, r, begin):
    """Asleep since it was seen to sleep, or longer, and not since before it began."""
    now = time.monotonic_ns()
    print(f"{task.name} {task.tid}: {r['kind']} {r['name']} for {r['since_ns'] / 1e9:.3f} s, holder "
          f"{r['owner_comm']}/{r['owner_tid']} {r['owner_certainty']}, RCU {r['rcu_ns']}, readers "
          f"{r['readers_ns']}")
    check(begin - task.settled <= r["since_ns"] <= now - task.began,
          f"{task.name}: {r['since_ns']} ns, truth {begin - task.settled} to {now - task.began}")


def compare_hang(views, begin, at):
    """What the rows say of each task."""
    rows = views["waiters"]["rows"]
    for name, kind, holder, certainty in (("vma", "vma", "reclaim", "evidence"),
                                          ("ps", "rwsem:R", "vma", "sure"),
                                          ("fsfreeze", "pcpu-sem:W", None, None),
                                          ("late", "pcpu-sem:R", "fsfreeze", "sure")):
        r = row_of(rows, at[name])
        if not r:
            continue
        compare_length(at[name], r, begin)
        check(r["kind"] == kind, f"{name}: {r['kind']}, not {kind}")
        check(r["owner_certainty"] == certainty, f"{name}: holder is {r['owner_certainty']}")
        check(r["owner_tid"] == (at[holder].tid if holder else None), f"{name}: {r['owner_tid']}")
    vma, freeze = row_of(rows, at["vma"]), row_of(rows, at["fsfreeze"])
    if vma and freeze:
        check(vma["name"].startswith(f"reclaim/{at['reclaim'].tid} "), f"the mapping {vma['name']}")
        check(freeze["readers_ns"] and freeze["readers_ns"] <= freeze["since_ns"],
              f"waits for readers for {freeze['readers_ns']} of {freeze['since_ns']} ns")


def above(rows, task):
    """The tasks from this one to the root, by their rows in the tree."""
    by_node = {r["node"]: r for r in rows}
    found = []
    at = next((r for r in rows if r["row"] == "waiter" and r["tid"] == task.tid), None)
    while at:
        if at["row"] != "lock":
            found.append(at["tid"])
        at = by_node.get(at["parent"])
    return found


def compare_chains(views, at):
    rows = views["chains"]["rows"]
    for names in (("ps", "vma", "reclaim"), ("late", "fsfreeze")):
        tids = above(rows, at[names[0]])
        print("chain", names, tids)
        check(tids[:len(names)] == [at[n].tid for n in names], f"chain {names}: {tids}")
    blocked = [r for r in views["blocked"]["rows"] if r["cause"] in ("kernel lock", "VMA lock")]
    check(any(r["cause"] == "VMA lock" for r in blocked), "no VMA lock among the causes")


def hang(kontend):
    c = causes.prepared()
    try:
        causes.ext4(c)
        at = {t.name: t for t in c.tasks}
        ps = Task("ps", "kernel lock", "^__access_remote_vm", "D")
        at["ps"] = c.add(ps, lambda: causes.read(f"/proc/{at['reclaim'].tid}/cmdline"))
        begin = time.monotonic_ns()
        views = report(kontend, 3, "waiters", "chains", "blocked")
        compare_hang(views, begin, at)
        compare_chains(views, at)
    finally:
        c.end()


def write_groups(groups, ended, out):
    """The time that this took, as the program measured it."""
    spent = 0
    n = 0
    while not os.path.exists(ended):
        before = time.monotonic_ns()
        causes.write(groups[n % len(groups)] + "/cgroup.procs", os.getpid())
        spent += time.monotonic_ns() - before
        n += 1
        time.sleep(PAUSE)
    os.write(out, b"%d %d\n" % (n, spent))


def writers(kontend):
    """Moves between cgroups, each of which waits for RCU: the row has this part, and no more than the
    programs have spent in write(2)."""
    base = next((g for g in GROUPS if os.path.exists(g + "/cgroup.procs")), None)
    if not base:
        raise Skip("no cgroups")
    groups = [f"{base}/kontend-silent-{os.getpid()}-{i}" for i in (0, 1)]
    ended = f"/tmp/kontend-silent-{os.getpid()}"
    told, out = os.pipe()
    pids, rows = [], []
    try:
        for g in groups:
            os.mkdir(g)
        for _ in range(WRITERS):
            pid = os.fork()
            if pid == 0:
                try:
                    write_groups(groups, ended, out)
                    causes.write(base + "/cgroup.procs", os.getpid())
                finally:
                    os._exit(0)
            pids.append(pid)
        for _ in range(REPORTS):
            rows = [r for r in report(kontend, 10, "locks")["locks"]["rows"]
                    if r["kind"] == "pcpu-sem:W" and r["rcu_ns"]]
            if rows:
                break
    finally:
        with open(ended, "w"):
            pass
        for pid in pids:
            os.waitpid(pid, 0)
        os.unlink(ended)
        for g in groups:
            wait_for(lambda: causes.remove_cgroup(g), g)
    n, spent = (sum(x) for x in zip(*(map(int, line.split()) for line in os.read(told, 4096).split(b"\n")
                                      if line)))
    if check(len(rows) == 1, f"{len(rows)} rows of writers that wait for RCU"):
        r = rows[0]
        print(f"{r['name']}: {r['contended']} waits seen, {r['total_ns'] / 1e6:.1f} ms, of it RCU "
              f"{r['rcu_ns'] / 1e6:.1f} ms; truth: {n} writes, {spent / 1e6:.1f} ms")
        check(r["name"] == "cgroup_threadgroup_rwsem", f"its name is {r['name']}")
        check(r["rcu_ns"] + r["readers_ns"] <= spent, "longer than the writes")


def end(*_):
    raise AssertionError("ended by a signal")


def run():
    signal.signal(signal.SIGTERM, end)
    hang(sys.argv[1])
    writers(sys.argv[1])
    return failed() != 0


main(run)
