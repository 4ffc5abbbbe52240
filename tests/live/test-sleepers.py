#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Readers that hold a lock together and sleep, against a program that knows for how long, and how
long they ran by the scheduler's count: live, and recorded. Time of unknown state is not followed."""
import json
import os
import subprocess
import sys
import tempfile

from checks import check, done, skip

kontend, sleepers = sys.argv[1:3]
SLACK_NS = 2000000
STATES = ("running_ns", "runnable_ns", "asleep_ns", "io_ns", "lock_ns", "not_followed_ns")


def run(*args):
    p = subprocess.run(args, capture_output=True, text=True)
    for line in p.stderr.splitlines():
        if line.startswith("skipped:") or "Cannot follow" in line:
            skip(line)
    if p.returncode:
        print(p.stderr)
        check(False, "%s: status %d" % (args[1], p.returncode))
    return p.stdout


def compare(when, text, did):
    truth = [tuple(map(int, line.split())) for line in text.splitlines()]
    rows = {r["tid"]: r for r in did["rows"] if r["did_kind"] == "rwsem:R"}
    followed = 0
    check(len(truth) == 5, "%s: the program says %s" % (when, text))
    for tid, least, most, ran in truth:
        r = rows.get(tid)
        if not r:  # it is one of many then, and not followed
            continue
        print("%s: %d asleep %.3f to %.3f ms, ran %.3f; had it %.3f ms: %s" % (
            when, tid, least / 1e6, most / 1e6, ran / 1e6, r["did_time_ns"] / 1e6,
            ", ".join("%s %.3f" % (s[:-3], r["did_" + s] / 1e6) for s in STATES)))
        check(r["did_running_ns"] <= ran + SLACK_NS, "%s: %d did not run so long" % (when, tid))
        check(r["did_running_ns"] <= r["did_time_ns"] * 0.05 + SLACK_NS, "%s: %d slept" % (when, tid))
        check(r["did_asleep_ns"] <= most + SLACK_NS, "%s: %d slept less" % (when, tid))
        # The first one sleeps on in user space, while others have the lock.
        check(r["did_time_ns"] <= most + SLACK_NS, "%s: %d had left by then" % (when, tid))
        followed += r["did_asleep_ns"] >= least * 0.95 - SLACK_NS
    check(followed >= 3, "%s: %d of 5 readers are asleep" % (when, followed))


if os.geteuid() != 0:
    skip("needs root")
with tempfile.TemporaryDirectory(prefix="kontend-sleepers-") as d:
    out = os.path.join(d, "out")
    what = ("--view", "did", "--by", "task", "--format", "json")
    text = run(kontend, "report", "-q", "--follow", "1ms", *what, "-o", out, "--", sleepers, d)
    with open(out) as f:
        compare("live", text, json.load(f)["views"]["blame"])
    text = run(kontend, "record", "-q", "--follow", "1ms", "-o", out, "--", sleepers, d)
    compare("recorded", text, json.loads(run(kontend, "report", "-i", out, *what))["views"]["blame"])
done()
