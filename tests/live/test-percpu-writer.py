#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tasks that wait for a percpu-rwsem because of tasks that write, by a program that knows which are
which: no reader is blamed, and nearly all of the waiting is charged to writers, which write in
locks_start; live, and recorded. A writer is reported at most once for each time that it wrote."""
import collections
import json
import os
import subprocess
import sys
import tempfile

from checks import check, done, skip

kontend, workload = sys.argv[1:3]
WHAT = ("--view", "blame", "--by", "task", "--format", "json")
ENOUGH_NS = 2000000000  # holders are followed from 50 ms after the first long wait on
LEAST_PCT = 90  # of the waiting that is charged to writers; 98 and more were measured


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
    callers = collections.Counter()
    for r in rows:
        check(r["comm"] != "reads", "%s: a task that only reads is blamed: %s" % (when, r))
        check(r["mostly_in"] != "do_task_dead", "%s: a task that has exited is blamed: %s" % (
            when, r))
        if r["comm"] == "writes":
            callers[r["caller"]] += r["waited_ns"]
    for caller in callers:
        check(caller in (None, "locks_start"), "%s: a writer got it in %s" % (when, caller))
    if all_ns >= ENOUGH_NS:
        check(by_writers >= all_ns * LEAST_PCT / 100, "%s: writers are known of %.1f %%" % (
            when, 100 * by_writers / all_ns))
    return writes, all_ns, callers


def count_released(path):
    text = run(kontend, "script", "-q", "-i", path, "--format", "json")
    events = (json.loads(line) for line in text.splitlines())
    return sum(e.get("event") == "released" and e.get("comm") == "writes" for e in events)


if os.geteuid() != 0:
    skip("needs root")
with tempfile.TemporaryDirectory(prefix="kontend-percpu-") as d:
    out = os.path.join(d, "out")
    text = run(kontend, "report", "-q", "--follow", "1ms", *WHAT, "-o", out, "--", workload, d)
    with open(out) as f:
        _, all_ns, callers = compare("live", text, json.load(f)["views"])
    text = run(kontend, "record", "-q", "--follow", "1ms", "-o", out, "--", workload, d)
    views = json.loads(run(kontend, "report", "-i", out, *WHAT))["views"]
    writes, more_ns, more = compare("recorded", text, views)
    released = count_released(out)
    print("recorded: released %d times, of %d times that it was written" % (released, writes))
    check(released <= writes, "released %d times, written %d times" % (released, writes))
    if max(all_ns, more_ns) < ENOUGH_NS:
        skip("too little was waited to say more")
    check("locks_start" in callers + more, "it is not known where writers got it: %s" % callers)
done()
