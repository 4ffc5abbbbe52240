#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tasks, times and call chains of recordings of cases.py: the names of samples after an EXIT, the
time that was measured, and the parts of a chain that come in a record of their own.

    tasks.py KONTEND"""
import csv
import io
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../live"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
import cases
from checks import check, done

kontend = sys.argv[1]
NAMED = 1000  # ns before the first sample: the name of the task, which begins the measurement


def output(*args):
    p = subprocess.run((kontend,) + args, capture_output=True, text=True, check=False)
    check(p.returncode == 0, "%s: status %d: %s" % (args, p.returncode, p.stderr))
    return p.stdout


def hot(path, *more):
    text = output("report", "-q", "--no-config", "-i", path, "--view", "hot", "--rows", "0", "--format", "csv", *more)
    return list(csv.DictReader(io.StringIO(text)))


def check_tasks(path, expected):
    rows = sorted((int(r["tid"]), r["task"], int(r["samples"])) for r in hot(path, "--by", "task"))
    check(rows == sorted(expected), "%s: tasks %s, written %s" % (path, rows, sorted(expected)))


def check_measured(path, expected_ns):
    j = json.loads(output("report", "-q", "--no-config", "-i", path, "--view", "hot", "--format", "json"))
    ns = j["source"]["duration_ns"]
    check(ns == expected_ns, "%s: measured %s ns, written %s" % (path, ns, expected_ns))


def check_folded(path, expected):
    text = output("export", "-q", "--no-config", "-i", path, "--format", "folded", "--weight", "samples")
    lines = dict(line.rsplit(" ", 1) for line in text.splitlines())
    got = {chain: int(n) for chain, n in lines.items()}
    check(got == expected, "%s: chains %s, written %s" % (path, got, expected))
    # Each view has the same sums, and no row for the chains without their user parts.
    for by in ("stack", "task"):
        rows = hot(path, "--by", by)
        check(sum(int(r["samples"]) for r in rows) == sum(expected.values()) and all(int(r["samples"]) for r in rows),
              "%s: by %s: %s" % (path, by, rows))


with tempfile.TemporaryDirectory() as folder:
    made = cases.make(folder)
    check_tasks(made["samples-after-exit"][0], [(1000, "worker", 9)])
    check_tasks(made["reused-number"][0], [(1000, "worker", 5), (1000, "later", 8)])
    objects = sorted((r["object"], int(r["samples"])) for r in hot(made["leader-exits-first"][0], "--by", "object"))
    check(objects == [("/opt/none/app", 8), ("[unknown]", 1)], "leader-exits-first: objects %s" % objects)
    check_tasks(made["another-process-has-it"][0], [(1000, "worker", 7), (1000, "", 2)])
    for name, (path, truth) in made.items():
        if truth and "folded" in truth:
            check_folded(path, truth["folded"])
    for name, ns in (("old-jit-maps", 5_000_000 + NAMED), ("old-jit-maps-in-rounds", 5_000_000 + NAMED),
                     ("one-event", 29_000_000 + NAMED), ("begins-with-exec", 7_000_000)):
        check_measured(made[name][0], ns)
done()
