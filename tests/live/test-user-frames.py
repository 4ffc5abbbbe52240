#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Short waits have the call chain of their program, as BPF unwinds it when they begin: in a program with frame pointers
and in one without, for a lock of a file and for a mutex; live, in a PID namespace, and recorded.

    test-user-frames.py KONTEND WITH WITHOUT"""
import json
import os
import subprocess
import sys
import tempfile

from checks import check, done, skip

SECONDS = "2"
HOW = ("--user-frames", "fp")
# From the system call outwards.
FILE = ["take_file_lock", "commit_log", "file_thread"]
MUTEX = ["take_mutex", "update_row", "mutex_thread"]
MOST_UNREAD = 0.15  # of the waiting: until each place has been read


def run(*words):
    p = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if p.returncode:
        sys.exit("FAIL %s: status %d: %s" % (words, p.returncode, p.stderr))
    return p.stdout


def folded(text):
    """Frames of each chain, the outermost first, and its ns."""
    chains = []
    for line in text.splitlines():
        frames, ns = line.rsplit(" ", 1)
        chains.append((frames.split(";"), int(ns)))
    return chains


def base(name):
    """Without what the compiler adds to the name of a part of a function."""
    return name.split(".")[0]


def check_chains(what, chains, path, through):
    """@through: a function that all of these chains have."""
    mine = [([base(f) for f in frames], ns) for frames, ns in chains if any(through in f for f in frames)]
    total = sum(ns for _, ns in mine)
    check(total > 0, "%s: no chain has %s: %s" % (what, through, chains[:5]))
    want = path[::-1]
    right = sum(ns for frames, ns in mine if any(frames[i:i + len(want)] == want for i in range(len(frames))))
    unread = sum(ns for frames, ns in mine if any("not read yet" in f or "not taken" in f for f in frames))
    check(right + unread == total, "%s: %s of %s are right, %s not read yet: %s" % (
        what, right, total, unread, [m for m in mine if m[0] and not any("not read" in f for f in m[0])][:5]))
    check(unread <= MOST_UNREAD * total, "%s: %s of %s were not read yet" % (what, unread, total))


def check_all(what, text):
    chains = folded(text)
    check_chains(what + ", file", chains, FILE, "flock")
    check_chains(what + ", mutex", chains, MUTEX, "lll_lock_wait")


def main():
    kontend, *programs = sys.argv[1:]
    if os.geteuid():
        skip("needs root")
    for program in programs:
        name = os.path.basename(program)
        with tempfile.TemporaryDirectory(prefix="kontend-frames-") as d:
            work = (program, os.path.join(d, "lock"), SECONDS)
            export = ("export", "-q", "--no-config", "--format", "folded", "--weight", "wait")
            check_all(name, run(kontend, *export, *HOW, "--", *work))
            check_all(name + " in a namespace", run("unshare", "-pf", "--mount-proc", kontend, *export, *HOW, "--",
                                                   *work))
            data = os.path.join(d, "data")
            run(kontend, "record", "-q", "--no-config", *HOW, "-o", data, "--", *work)
            check_all(name + " recorded", run(kontend, *export, data))
            off = run(kontend, *export, "--user-frames", "off", "--", *work)
            check("commit_log" not in off, "%s: off has chains of the program" % name)
    done()


main()
