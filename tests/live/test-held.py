#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""How long holders kept others waiting, against a program that knows it: live, and in a recording
that is filtered."""
import json
import os
import subprocess
import sys
import tempfile

from checks import check, done

kontend, turns = sys.argv[1:3]


def run(*args):
    p = subprocess.run(args, capture_output=True, text=True)
    if p.returncode:
        print(p.stderr)
        if "userfaultfd" in p.stderr:
            print("skipped: no userfaultfd for the kernel's faults")
            sys.exit(77)
        check(False, "%s: status %d" % (args[1], p.returncode))
    return p.stdout


def compare(when, text, held):
    truth = [tuple(map(int, line.split())) for line in text.splitlines()]
    check(len(truth) == 4, "%s: the program says %s" % (when, text))
    for tid, least, most in truth:
        rows = [r for r in held["rows"] if r["tid"] == tid and r["held_kind"] == "rwsem:W"]
        check(len(rows) == 1, "%s: %d rows of %d" % (when, len(rows), tid))
        if not rows:
            continue
        ns = rows[0]["held_max_ns"]
        print("%s: %d: %.3f ms, by its own account %.3f to %.3f ms; got in %s" % (
            when, tid, ns / 1e6, least / 1e6, most / 1e6, rows[0]["held_caller"]))
        check(least <= ns <= most, "%s: %d held it for %d ns" % (when, tid, ns))
        check(rows[0]["held"] >= 1 and rows[0]["held_total_ns"] >= ns, "%s: sums" % when)
    sums = held["held"]
    check(4 <= sums["known"] <= sums["got"], "%s: %d of %d" % (when, sums["known"], sums["got"]))


if os.geteuid() != 0:
    print("skipped: needs root")
    sys.exit(77)
with tempfile.TemporaryDirectory(prefix="kontend-held-") as d:
    path, out = os.path.join(d, "file"), os.path.join(d, "out")
    text = run(kontend, "report", "-q", "--view", "held", "--format", "json", "-o", out, "--",
               turns, path)
    with open(out) as f:
        compare("live", text, json.load(f)["views"]["blame"])
    text = run(kontend, "record", "-q", "-o", out, "--", turns, path)
    report = run(kontend, "report", "-i", out, "--view", "held", "--format", "json",
                 "--filter", "kind=rwsem:W held>0")
    compare("recorded", text, json.loads(report)["views"]["blame"])
done()
