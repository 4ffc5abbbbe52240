#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Samples of tasks after their EXIT: in a storm of short processes recorded by perf, each task that
perf script names has its name in kontend, and all of its samples.

    test-exited.py KONTEND"""
import collections
import csv
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile

from checks import check, done, skip

kontend = sys.argv[1]
STORM = "i=0; while [ $i -lt 400 ]; do /bin/true; i=$((i + 1)); done"


def run(*args):
    return subprocess.run(args, capture_output=True, text=True, check=False)


def by_perf(path):
    """{tid: names}, {tid: samples}, {tid: names} of samples after an EXIT, and the number of these."""
    names, samples, last = collections.defaultdict(set), collections.Counter(), collections.defaultdict(set)
    gone, after = set(), 0
    for line in run("perf", "script", "-i", path, "--show-task-events", "-F", "comm,tid,time,event").stdout.splitlines():
        task = re.search(r"PERF_RECORD_(FORK|EXIT)\(\d+:(\d+)\)", line)
        if task:
            (gone.add if task[1] == "EXIT" else gone.discard)(int(task[2]))
            continue
        m = re.match(r"\s*(.*?)\s+(-?\d+)\s+\d+\.\d+:\s+cpu-clock", line)
        if m and int(m[2]) > 0:
            names[int(m[2])].add(m[1])
            samples[int(m[2])] += 1
            if int(m[2]) in gone:
                after += 1
                last[int(m[2])].add(m[1])
    return names, samples, last, after


def by_kontend(path):
    """{tid: [(name, samples)]}"""
    p = run(kontend, "report", "-q", "-i", path, "--view", "hot", "--by", "task", "--rows", "0", "--format", "csv")
    check(p.returncode == 0, "report: status %d: %s" % (p.returncode, p.stderr))
    ret = collections.defaultdict(list)
    for row in csv.DictReader(io.StringIO(p.stdout)):
        if int(row["tid"]) > 0:
            ret[int(row["tid"])].append((row["task"], int(row["samples"])))
    return ret


if not shutil.which("perf"):
    skip("perf is not installed")
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "storm.data")
    run("perf", "record", "-q", "-a", "-F", "4999", "-e", "cpu-clock", "-o", path, "--", "sh", "-c", STORM)
    names, samples, last, after = by_perf(path)
    ours = by_kontend(path)
    print("%d samples of %d tasks, %d of them after EXIT" % (sum(samples.values()), len(samples), after))
    if after < 20:
        skip("only %d samples after EXIT" % after)
    nameless = sum(n for rows in ours.values() for name, n in rows if not name)
    theirs = sum(samples[tid] for tid, known in names.items() if all(n.startswith(":") for n in known))
    print("%d samples without a name, %d by perf" % (nameless, theirs))
    check(nameless <= theirs, "%d samples without a name, %d by perf" % (nameless, theirs))
    for tid, n in samples.items():
        mine = sum(count for _, count in ours[tid])
        check(mine == n, "task %d: %d samples, perf has %d" % (tid, mine, n))
    # A task has one name in a report, the last one, which perf has for its samples after the EXIT. Newer versions of
    # perf have a number there, and names only before: the last one is among these.
    for tid, known in last.items():
        mine = {name for name, _ in ours[tid]}
        after = {n for n in known if not n.startswith(":")}
        before = {n for n in names[tid] if not n.startswith(":")}
        check(after <= mine, "task %d: %s, perf says %s" % (tid, sorted(mine), sorted(after)))
        check(not before or before & mine, "task %d: %s, perf said %s" % (tid, sorted(mine), sorted(before)))
done()
