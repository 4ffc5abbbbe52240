#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Waits for what no layout shows to be a lock, which kontend recognises by the calls: a semaphore that is used as a
lock, against a program that measures its waits, live and from a recording, and the GIL of Python. A semaphore that hands
out work, a barrier and conditions are no locks.

    test-user-places.py KONTEND PROGRAM"""
import os
import sys
import tempfile

from checks import check, done, skip
from usertruth import ALL, LOCKS, compare, rows_of, run, sleeps_of, truth

ROUNDS = "800"
# The first of the seconds pass until kontend has read the symbols of Python: their waits are sleeps that may be no lock.
THREADS, SECONDS = 4, 8
GIL = """
import threading, time
end = time.monotonic() + %d
def work():
    n = 0
    while time.monotonic() < end:
        for i in range(10000):
            n += i
threads = [threading.Thread(target=work) for _ in range(%d)]
for t in threads:
    t.start()
for t in threads:
    t.join()
""" % (SECONDS, THREADS)


def check_releasers(text, least):
    """Who posts the semaphore has released the lock."""
    sems = [e for e in sleeps_of(text) if e["type"] == "sem(u)"]
    released = [e for e in sems if e["releaser_tid"] is not None]
    check(len(sems) >= least, "%d lines of %d waits" % (len(sems), least))
    check(len(released) == len(sems), "%d of %d have a releaser" % (len(released), len(sems)))
    own = [e for e in sems if e["releaser_tid"] == e["tid"] or e["owner_tid"] is not None]
    check(not own, "threads wait for themselves, or for one that is not known: %s" % own[:3])


def check_gil(kontend, out):
    if not (3, 11) <= sys.version_info[:2] <= (3, 14):
        return
    run(kontend, "report", "-q", *LOCKS, *ALL, "-o", out, "--", sys.executable, "-c", GIL)
    with open(out, encoding="utf-8") as f:
        rows = rows_of(f.read())
    found = [r for r in rows if r["type"] == "lock(u)" and r["name"].startswith("GIL ")]
    check(len(found) == 1, "GIL: %s" % [(r["type"], r["name"]) for r in rows])
    # One of the threads runs, the others wait: less only while they begin and end.
    least, most = (THREADS - 1) * SECONDS * 0.6, (THREADS - 1) * SECONDS * 1.1
    total = found[0]["total_ns"] / 1e9
    check(least <= total <= most, "GIL: %.2f s, of %.2f to %.2f" % (total, least, most))


def main():
    kontend, program = sys.argv[1:]
    if os.geteuid():
        skip("needs root")
    with tempfile.TemporaryDirectory(prefix="kontend-user-places-") as folder:
        out = os.path.join(folder, "report.json")
        said = run(kontend, "report", "-q", *LOCKS, *ALL, "-o", out, "--", program, ROUNDS)
        with open(out, encoding="utf-8") as f:
            compare("live", f.read(), truth(said, 2))
        file = os.path.join(folder, "kontend.data")
        said = run(kontend, "record", "-q", *ALL, "-o", file, "--", program, ROUNDS)
        compare("recorded", run(kontend, "report", *LOCKS, "-i", file), truth(said, 2))
        check_releasers(run(kontend, "script", "--format", "json", "-i", file), 100)
        check_gil(kontend, out)
    done()


main()
