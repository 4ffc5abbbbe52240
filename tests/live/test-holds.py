#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Holds of locks for which no task waits (--holds): known ones are there, or, where the kernel refuses
programs at its functions, the report has one sentence about that, and nothing else fails."""
import json
import os
import subprocess
import sys
import tempfile

from checks import check, done, skip

kontend, known_holds = sys.argv[1:3]
N, MS = 3, 50


def run(*args):
    return subprocess.run((kontend, "report", "-q", "--no-config", *args), capture_output=True, text=True)


if os.geteuid() != 0:
    skip("needs root")
if subprocess.run((kontend, "report", "-q", "--duration", "0.01"), capture_output=True).returncode:
    skip("kontend cannot measure here")

with tempfile.TemporaryDirectory() as d:
    out = os.path.join(d, "report.json")
    p = run("-j", "-o", out, "--holds", "mutex", "--", known_holds, str(N), str(MS), d)
    if p.returncode == 77:
        skip(p.stderr.strip())
    check(p.returncode == 0, "status %d: %s" % (p.returncode, p.stderr))
    with open(out) as f:
        views = json.load(f)["views"]
holds = views["holds"]
check(holds["of"] == "mutex", "of is %s" % holds["of"])
if holds["none"]:
    why = holds["none"]
    print("refused: %s" % why)
    check("fentry" in why and "\n" not in why and ". " not in why, "not one sentence: %s" % why)
    check(holds["kinds"] == [] and holds["rows"] == [], "figures, and it was refused")
    check(holds["level"] is None and holds["cost_pct"] is None, "a price of nothing")
    text = run("--duration", "0.1", "--holds", "rwsem:R")
    lines = [l for l in text.stdout.splitlines() if "holds of" in l]
    check(text.returncode == 0, "text: status %d" % text.returncode)
    check(len(lines) == 1 and "not measured: " + why in lines[0], "text: %s" % lines)
else:
    truth = dict((l.split()[0], l.split()[1:]) for l in p.stdout.splitlines() + p.stderr.splitlines()
                 if l.count(" ") == 3)["mutex"]
    rows = [r for r in views["holdchains"]["rows"] if "pipe_write" in r["taken_in"]]
    check(rows and rows[0]["holds"] >= N, "holds in pipe_write: %s" % rows)
    check(rows and rows[0]["held_total_ns"] >= int(truth[1]), "%s ns at least: %s" % (truth[1], rows))
    check(holds["kinds"][0]["acquisitions"] >= 2 * N, "acquisitions: %s" % holds["kinds"])

# A type that can be measured nowhere is an error of usage, before anything is measured.
p = run("--holds", "spinlock")
check(p.returncode == 129 and "rwsem:R" in p.stderr, "spinlock: status %d, %s" % (p.returncode, p.stderr))
p = run("--duration", "0.1", "--view", "holds")
check(p.returncode == 0 and "not asked for: --holds" in p.stdout, "without --holds: %s" % p.stdout)
done()
