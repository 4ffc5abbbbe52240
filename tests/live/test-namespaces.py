#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Waits as they are seen from within namespaces, and from outside, at the same time, of work that is
outside and of work that is inside: the same waits, of tasks by the numbers that they have there; live
by BPF, live by perf's events, and in recordings, wherever these are read.

    test-namespaces.py KONTEND TRUTH"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter

from namespaces import Checks, Observer, Skip, can, main

PID = ["unshare", "-pf", "--mount-proc", "--kill-child"]
# How to make one, how to enter it, whether tasks have other numbers there, and what is compared.
SPACES = {
    "pid": (PID, ["-p", "-m"], True, ["by BPF", "by perf", "recorded"]),
    "mount": (["unshare", "-m"], ["-m"], False, ["by BPF"]),
    "cgroup": (["unshare", "-C"], ["-C"], False, ["by BPF"]),
    "net": (["unshare", "-n"], ["-n"], False, ["by BPF"]),
    "all": (["unshare", "-pf", "-m", "-C", "-n", "-u", "-i", "--mount-proc", "--kill-child"],
            ["-p", "-m"], True, ["by BPF", "by perf", "recorded"]),
}
# The work waits for rwsems. In its last steps, after its exit was reported, a thread waits for
# spinlocks, which are a row of their own where the exit is seen.
REPORT = ["--view", "locks", "--by", "task", "--rows", "0", "--lock", "rwsem"]
WAYS = {
    "by BPF": ("report", REPORT),
    "by perf": ("report", ["--no-bpf", *REPORT]),
    "recorded": ("record", []),
}
TRIES = 3


class Work:
    """Waits that are known: of each thread of it when it waited, and how long."""

    def __init__(self, folder, truth, lead):
        done = subprocess.run([*lead, truth, "dir", "-h", "60", "-r", "3", "-w", "2", "-o",
                               f"{folder}/truth"], capture_output=True, text=True)
        if done.returncode == 77:
            raise Skip(done.stdout.strip() or done.stderr.strip())
        if done.returncode:
            raise AssertionError(f"truth: {done.stdout} {done.stderr}")
        with open(f"{folder}/truth") as f:
            self.waits = {wait["tid"]: wait["wait_ns"] for wait in json.load(f)["waits"]}


def lost(report):
    source = report["source"]
    return sum(source[key] for key in ["lost", "dropped", "doubtful", "unmatched_begin"])


def rows(report):
    """Of the work's threads; who is outside has no name without BPF."""
    return {row["tid"]: row for row in report["views"]["locks"]["rows"]
            if row["comm"] == "truth" or row["comm"] is None and row["tid"] < 0}


def check_work(c, what, waits, seen, outside, shift):
    """`shift`: a thread's number as `seen` has it."""
    for tid, wait_ns in waits.items():
        row = seen.get(shift(tid))
        c.check(row is not None, f"{what}: nothing of thread {shift(tid)}, but of {sorted(seen)}")
        if row is None:
            continue
        c.check(row["total_ns"] <= 1.2 * wait_ns + 5e6 and row["max_ns"] >= 0.5 * wait_ns,
                f"{what}: thread {tid} waited {wait_ns} ns, seen: {row['max_ns']} of {row['total_ns']}")
    mine = sorted(seen[shift(tid)]["contended"] for tid in waits if shift(tid) in seen)
    c.equal(what + ", waits", mine, outside)


def look(c, what, folder, kontend, truth, space, way):
    verb, options = WAYS[way]
    lead, enter, is_inner, _ = SPACES[space]
    observers = [Observer(kontend, folder, before, verb, *options) for before in ([], lead)]
    try:
        outer, inner = [o.ready() for o in observers]
        theirs = Work(folder, truth, [])
        ours = Work(folder, truth, inner.enter(*enter))
        reports = [o.end() for o in observers]
        outside, inside = [o.report(kontend, *REPORT) for o in reports]
        again = inner.report(kontend, *REPORT, lead=PID) if verb == "record" else inside
    finally:
        for o in observers:
            o.kill()
    if lost(outside) or lost(inside):
        return False
    c.check(("PID ns" in inside["source"]["method"]) == is_inner,
            f"{what}: it says that it was made by {inside['source']['method']}")
    c.check("PID ns" not in outside["source"]["method"], f"{what}: {outside['source']['method']}")
    seen, far = rows(inside), rows(outside)
    check_work(c, f"{what}, work outside", theirs.waits, seen,
               sorted(far[tid]["contended"] for tid in theirs.waits),
               lambda tid: -tid if is_inner else tid)
    others = Counter(row["contended"] for tid, row in far.items() if tid not in theirs.waits)
    mine = Counter(row["contended"] for tid, row in seen.items() if tid in ours.waits)
    c.check(not mine - others, f"{what}, work inside: {mine} inside, {others} outside")
    check_work(c, f"{what}, work inside", ours.waits, seen,
               sorted(seen[tid]["contended"] for tid in ours.waits if tid in seen), lambda tid: tid)
    c.equal(f"{what}, read inside", rows(again), rows(inside))
    return True


def is_seen(what, folder, kontend, truth, space, way):
    """Others may measure at the same time, beside whom a wait may be lost: that is no matter of
    namespaces, and not so each time."""
    for _ in range(TRIES):
        c = Checks()
        if look(c, what, folder, kontend, truth, space, way) and not c.complaints:
            return True
    print("\n".join(c.complaints or [f"FAIL {what}: something was lost each time"]))
    return False


def run():
    kontend, truth = [os.path.realpath(path) for path in sys.argv[1:3]]
    if not can(*PID) or not shutil.which("nsenter"):
        raise Skip("unshare makes no PID namespace here, as in a chroot, whose / is no mount point")
    failures = 0
    with tempfile.TemporaryDirectory(prefix="kontend-") as folder:
        for space, (_, _, _, ways) in SPACES.items():
            for way in ways:
                failures += not is_seen(f"{way}, namespaces: {space}", folder, kontend, truth,
                                        space, way)
    return 1 if failures else 0


main(run)
