#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Locks that a task takes without waiting while others wait, against a program that knows how often:
STOLEN is a lower bound of it, and 0 where all tasks wait their turn. The kernel reports that a mutex
is taken so as a short wait, so PASSED counts both waits that the task passes over."""
import json
import os
import subprocess
import sys
import tempfile

from checks import check, done, skip

kontend, stealer = sys.argv[1:3]


def measure(where, kind, mode):
    """What the program did, and the queue of its lock."""
    file, out = os.path.join(where, "stolen-file"), os.path.join(where, "out")
    p = subprocess.run([kontend, "report", "-q", "-a", "--view", "queues", "--format", "json", "-o", out, "--",
                        stealer, file, kind, mode], capture_output=True, text=True)
    for line in p.stderr.splitlines():
        if line.startswith("skipped:"):
            skip(line[len("skipped: "):])
    if not check(p.returncode == 0, "%s %s: status %d: %s" % (kind, mode, p.returncode, p.stderr)):
        return 0, None
    known = int(p.stdout)
    with open(out, encoding="utf-8") as f:
        rows = json.load(f)["views"]["queues"]["rows"]
    rows = [r for r in rows if is_of(r, kind, file)]
    if not check(len(rows) == 1, "%s %s: %d queues of its lock" % (kind, mode, len(rows))):
        return known, None
    print("%s, %s: stolen %s of %d, passed %d, handed %d, at most %d waited" % (
        kind, mode, rows[0]["stolen"], known, rows[0]["passed"], rows[0]["handed"], rows[0]["longest"]))
    return known, rows[0]


def is_of(row, kind, file):
    """A pipe has no name any more. Three tasks wait in each of eight rounds, and T may do so briefly."""
    if kind == "file":
        return row["type"] == "rwsem" and file in row["name"]
    return row["type"] == "mutex" and "pipe" in row["name"] and row["handed"] in (24, 32)


if os.geteuid() != 0:
    skip("needs root")
with tempfile.TemporaryDirectory(prefix="kontend-stolen-") as d:
    for kind in "file", "pipe":
        known, r = measure(d, kind, "steal")
        check(known > 0, "%s: no round in which the lock was stolen" % kind)
        if r and kind == "file":
            check(r["stolen"] is not None and 0 < r["stolen"] <= known, "file: stolen %s of %d" % (r["stolen"], known))
            check(r["passed"] == 0, "file: %d passed over, but all began to wait in turn" % r["passed"])
        elif r:
            check(0 < r["stolen"] + r["passed"] / 2 <= known, "pipe: stolen %s, passed %s of %d" % (
                r["stolen"], r["passed"], known))
        known, r = measure(d, kind, "wait")
        check(known == 0, "%s: %d stolen, where each task waits its turn" % (kind, known))
        if r:
            check(r["stolen"] == 0 and r["passed"] == 0, "%s: stolen %s, passed %s, of none" % (
                kind, r["stolen"], r["passed"]))
            check(r["longest"] == 2, "%s: %d waited, not 2" % (kind, r["longest"]))
done()
