#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tasks that wait for a percpu-rwsem because of tasks that write, by a program that knows which are
which: no reader is blamed, and writers are, where they were seen; live, and recorded."""
import json
import os
import subprocess
import sys
import tempfile

from checks import check, done, skip

kontend, workload = sys.argv[1:3]
WHAT = ("--view", "blame", "--by", "task", "--format", "json")


def run(*args):
    p = subprocess.run(args, capture_output=True, text=True)
    for line in p.stderr.splitlines():
        if "Cannot follow" in line:
            skip(line)
    if p.returncode:
        print(p.stderr)
        check(False, "%s: status %d" % (args[1], p.returncode))
    return p.stdout


def compare(when, text, views):
    reads, writes, _, _ = map(int, text.split())
    rows = [r for r in views["blame"]["rows"] if r["kind"].startswith("pcpu-sem")]
    all_ns = sum(r["waited_ns"] for r in rows)
    by_writers = sum(r["waited_ns"] for r in rows if r["comm"] == "writes")
    by_readers = sum(r["waited_ns"] for r in rows if r["kind"] == "pcpu-sem:R" and r["tid"])
    print("%s: read %d times, written %d times; waited %.3f ms, %.3f because of writers" % (
        when, reads, writes, all_ns / 1e6, by_writers / 1e6))
    check(by_readers == 0, "%s: readers are blamed for %d ns" % (when, by_readers))
    for r in rows:
        check(r["comm"] != "reads", "%s: a task that only reads is blamed: %s" % (when, r))
    return all_ns, by_writers


if os.geteuid() != 0:
    skip("needs root")
with tempfile.TemporaryDirectory(prefix="kontend-percpu-") as d:
    out = os.path.join(d, "out")
    text = run(kontend, "report", "-q", "--follow", "1ms", *WHAT, "-o", out, "--", workload, d)
    with open(out) as f:
        all_ns, by_writers = compare("live", text, json.load(f)["views"])
    text = run(kontend, "record", "-q", "--follow", "1ms", "-o", out, "--", workload, d)
    views = json.loads(run(kontend, "report", "-i", out, *WHAT))["views"]
    more_ns, more_by = compare("recorded", text, views)
    if all_ns + more_ns < 50e6:
        skip("too little was waited to say more")
    check(by_writers + more_by > 0, "no writer is known in either")
done()
