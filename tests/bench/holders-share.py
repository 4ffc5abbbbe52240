#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""holders-share.py KONTEND HELD [FRAMES [LOAD...]]

How often kontend knows who holds a lock: of waits of more than 1 ms for mutexes and write-held rwsems
the share with a sure holder, that with a holder or with the task that a free lock is handed to, and
the share of frames with a root in which something waits. Loads:
fork, fault, rename (workloads/held.c) and mmap (`kontend bench mmap -t 8`); each idle, beside 60
niced tasks that use the CPU, and with load and kontend in a PID namespace of their own.
KONTEND_SHARE_MISSING names a file for the waits and frames of which nothing was known.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
import holders

CONDITIONS = ("idle", "load 60", "PID ns")


def loads(kontend, held, directory):
    return {"fork": [held, "fork", "600"], "fault": [held, "fault", "600"],
            "mmap": [kontend, "bench", "-q", "mmap", "-t", "8", "-n", "1000000"],
            "rename": [held, "rename", "600", directory]}


def percent(x):
    return "     -" if x is None else "%6.1f" % x


def say(load, condition, s):
    print("%-8s %-8s %6d %8d %6d %6d %6d %s  %s %7d %s" % (
        load, condition, s.sure, s.readers, s.handed, s.free, s.none, percent(s.known()),
        percent(s.named()), s.frames, percent(s.roots())), flush=True)
    if "KONTEND_SHARE_MISSING" in os.environ:
        with open(os.environ["KONTEND_SHARE_MISSING"], "a") as f:
            json.dump({"load": load, "condition": condition, "waits": s.missing,
                       "frames": s.rootless}, f)
            f.write("\n")


def inside(argv):
    """In a PID namespace of its own: this script runs again there, for one load."""
    return ["unshare", "-pf", "--mount-proc", "--kill-child", sys.executable,
            os.path.abspath(__file__), *argv]


def measure(kontend, held, frames, load, condition):
    busy = [subprocess.Popen(["nice", "-n", "19", "sh", "-c", "while :; do :; done"])
            for _ in range(60 if condition == "load 60" else 0)]
    try:
        with tempfile.TemporaryDirectory(prefix="kontend-share-",
                                         ignore_cleanup_errors=True) as d:
            say(load, condition, holders.count(kontend, loads(kontend, held, d)[load], d, frames))
    finally:
        for p in busy:
            p.kill()
            p.wait()


def main():
    kontend, held = sys.argv[1:3]
    frames = int(sys.argv[3]) if len(sys.argv) > 3 else 12
    if os.geteuid() != 0 or not shutil.which("unshare"):
        print("skipped: needs root, and unshare")
        sys.exit(77)
    if "KONTEND_SHARE_INSIDE" in os.environ:
        measure(kontend, held, frames, sys.argv[4], CONDITIONS[2])
        return
    print("%-8s %-8s %6s %8s %6s %6s %6s %6s %7s %7s %6s" % (
        "load", "", "sure", "readers", "handed", "free", "none", "sure %", "named %", "frames",
        "root %"), flush=True)
    for load in sys.argv[4:] or ("fork", "fault", "mmap", "rename"):
        for condition in CONDITIONS[:2]:
            measure(kontend, held, frames, load, condition)
        subprocess.run(inside([kontend, held, str(frames), load]), check=True,
                       env=dict(os.environ, KONTEND_SHARE_INSIDE="1"))


main()
