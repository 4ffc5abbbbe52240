#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Sleeps in the calls that are newer than futex(2), against a program that measures its own: those for a word are found
as others are, with owner and releaser, also by futex_requeue(2); those for several words are no locks. Of a 32-bit
program, if one can be built here, the sleeps are counted.

    test-user-futex2.py KONTEND PROGRAM SOURCE"""
import json
import os
import signal
import subprocess
import sys
import tempfile

from checks import check, done, skip
from usertruth import ALL, LOCKS, ROUNDS, check_threads, compare, run, truth

LOOK = ("report", "-q", "--duration", "2", "--view", "overview,locks", "--rows", "0", "--format", "json")
FLAGS_32 = ("-m32", "-O2", "-D_GNU_SOURCE", "-Wno-psabi", "-I/usr/include/x86_64-linux-gnu", "-pthread")


def look(kontend, program):
    """What a report sees of it: classes of its sleepers, its locks, and the sleeps of 32-bit programs."""
    p = subprocess.Popen((program, "100000"), stdout=subprocess.DEVNULL, start_new_session=True)
    try:
        views = json.loads(run(kontend, *LOOK))["views"]
    finally:
        os.killpg(p.pid, signal.SIGKILL)  # and its processes
        p.wait()
    comm = os.path.basename(program)[:15]
    elsewhere = views["overview"]["elsewhere"]
    whats = {(f["class"], f["what"]): f["tasks"] for f in elsewhere["futexes"] if f["comm"] == comm}
    rows = [r for r in views["locks"]["rows"] if comm in r["name"] and r["type"].endswith("(u)")]
    return whats, rows, elsewhere


def main():
    kontend, program, source = sys.argv[1:]
    if os.geteuid():
        skip("needs root")
    if subprocess.run((program, "1"), stdout=subprocess.DEVNULL, check=False).returncode == 77:
        skip("this kernel has no futex_requeue(2)")
    with tempfile.TemporaryDirectory(prefix="kontend-user-futex2-") as folder:
        out = os.path.join(folder, "report.json")
        said = run(kontend, "report", "-q", *LOCKS, *ALL, "-o", out, "--", program, ROUNDS)
        with open(out, encoding="utf-8") as f:
            compare("live", f.read(), truth(said, 3))
        file = os.path.join(folder, "kontend.data")
        said = truth(run(kontend, "record", "-q", *ALL, "-o", file, "--", program, ROUNDS), 3)
        compare("recorded", run(kontend, "report", *LOCKS, "-i", file), said)
        check_threads(run(kontend, "script", "--format", "json", "-i", file), said)
        whats, _, _ = look(kontend, program)
        check(whats.get(("wait", "several words")) == 1, "a thread sleeps for several words: %s" % whats)
        old = os.path.join(folder, "contend32")
        made = subprocess.run(("cc", *FLAGS_32, "-o", old, source), capture_output=True, check=False)
        if made.returncode or subprocess.run((old, "1"), capture_output=True, check=False).returncode:
            print("not tried: 32-bit programs cannot be built or run here")
            done()
        whats, rows, elsewhere = look(kontend, old)
        check(set(whats) == {("unknown", "32-bit program")}, "sleepers of a 32-bit program: %s" % whats)
        check(not rows, "locks of a 32-bit program: %s" % rows)
        check(elsewhere["futex_32bit"] > 100, "sleeps of 32-bit programs: %s" % elsewhere["futex_32bit"])
    done()


main()
