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
CUT = ("[caller not read yet", "[user part not taken", "[no call chain")
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


def check_chains(what, chains, path, lock):
    """@lock: the type of the lock, with which each chain ends."""
    mine = [([base(f) for f in frames], ns) for frames, ns in chains if frames[-1] == "[%s]" % lock]
    total = sum(ns for _, ns in mine)
    check(total > 0, "%s: no chain of %s: %s" % (what, lock, chains[:5]))
    want = path[::-1]
    unread = wrong = 0
    for frames, ns in mine:
        is_whole = any(frames[i:i + len(want)] == want for i in range(len(frames)))
        # The sums of what is too short to be reported have no chain.
        is_cut = any(f.startswith(CUT) for f in frames)
        unread += ns if is_cut and not is_whole else 0
        wrong += ns if not is_cut and not is_whole else 0
    check(not wrong, "%s: %s of %s ns are of other callers: %s" % (what, wrong, total, mine))
    check(unread <= MOST_UNREAD * total, "%s: %s of %s ns were not read yet" % (what, unread, total))


def main():
    kontend, *programs = sys.argv[1:]
    if os.geteuid():
        skip("needs root")
    for program in programs:
        name = os.path.basename(program)
        with tempfile.TemporaryDirectory(prefix="kontend-frames-") as d:
            work = (program, os.path.join(d, "lock"), SECONDS)
            export = ("export", "-q", "--no-config", "--format", "folded", "--weight", "wait")
            check_chains(name, folded(run(kontend, *export, *HOW, "--", *work)), FILE, "flock:W")
            for where, words in (("here", ()), ("in a namespace", ("unshare", "-pf", "--mount-proc"))):
                data = os.path.join(d, where.replace(" ", "-"))
                run(*words, kontend, "record", "-q", "--no-config", *HOW, "-o", data, "--", *work)
                chains = folded(run(kontend, *export, data))
                check_chains("%s recorded %s, file" % (name, where), chains, FILE, "flock:W")
                check_chains("%s recorded %s, mutex" % (name, where), chains, MUTEX, "mutex(u)")
            off = run(kontend, *export, "--user-frames", "off", "--", *work)
            check("commit_log" not in off, "%s: off has chains of the program" % name)
    done()


main()
