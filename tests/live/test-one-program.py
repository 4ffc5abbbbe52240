#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Programs of kontend at the scheduler's tracepoints: one at each, however many features need it,
also while holders are followed; and none as long as no feature does. The measured command counts
them in the kernel's own list of kontend's descriptors, before it has a long wait and after that."""
import json
import os
import subprocess
import sys
import tempfile

from checks import check, done, skip

kontend, turns = sys.argv[1:3]
TRACEPOINTS = ("sched_switch", "sched_waking")

# Prints the time and what its parent has attached, before and after long waits.
COMMAND = """
import glob, json, os, subprocess, sys, time
def attached():
    names = []
    for path in glob.glob('/proc/%d/fdinfo/*' % os.getppid()):
        try:
            with open(path) as f:
                names += [line.split()[1] for line in f if line.startswith('tp_name:')]
        except OSError:
            pass
    return names
before = attached()
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(json.dumps([before, time.monotonic_ns(), attached(), time.monotonic_ns()]))
"""


def shares():
    """Before about 6.9 a kernel refuses to follow holders in the programs of sleeps."""
    major, minor = os.uname().release.split("-")[0].split(".")[:2]
    return (int(major), int(minor)) >= (6, 9)


def measured(d, *options):
    out = os.path.join(d, "out")
    p = subprocess.run((kontend, "record", "-q", "--no-config", *options, "-o", out, "--", sys.executable,
                        "-c", COMMAND, turns, os.path.join(d, "file")), capture_output=True, text=True)
    if p.returncode:
        for word in ("userfaultfd", "schedstat", "Cannot follow"):
            if word in p.stderr:
                skip(p.stderr.strip())
        check(False, "record: status %d: %s" % (p.returncode, p.stderr))
        done()
    return json.loads(p.stdout)


def follows(d, begin, end):
    """Were holders followed all the time from @begin to @end?"""
    lines = subprocess.run((kontend, "script", "-i", os.path.join(d, "out"), "--format", "json"),
                           capture_output=True, text=True).stdout.splitlines()
    marks = [e for e in map(json.loads, lines[1:]) if e["event"] == "follow"]
    earlier = [e["begins"] for e in marks if e["time_ns"] < begin]
    return bool(earlier) and earlier[-1] and not any(begin <= e["time_ns"] <= end for e in marks)


def count(names, least, most, when):
    for name in TRACEPOINTS:
        n = names.count(name)
        check(least <= n <= most, "%s: %d programs at %s" % (when, n, name))
    return "/".join(str(names.count(name)) for name in TRACEPOINTS)


def compare(d, before, after, is_followed, *options):
    first, begin, then, end = measured(d, *options)
    when = " ".join(options)
    most = after if shares() or not is_followed or "snapshot" in options else after + 1
    print("%s: %s, then %s" % (when, count(first, before, before, when + ", at first"),
                               count(then, after, most, when + ", then")))
    check(follows(d, begin, end) == is_followed, "%s: holders %s followed" % (
        when, "are not" if is_followed else "are"))


if os.geteuid() != 0:
    skip("needs root")
with tempfile.TemporaryDirectory(prefix="kontend-one-program-") as d:
    compare(d, 0, 1, True, "--follow", "1ms", "--user-locks", "snapshot")
    compare(d, 0, 0, False, "--no-follow", "--user-locks", "snapshot")
    compare(d, 1, 1, True, "--follow", "1ms", "--user-locks", "events")
    compare(d, 1, 1, False, "--no-follow", "--user-locks", "events")
    compare(d, 1, 1, True, "--follow", "1ms", "--sleeps")
    compare(d, 1, 1, True, "--follow", "1ms", "--sleeps", "--owner")
    compare(d, 1, 1, True, "--follow", "1ms", "--sleeps", "--min-wait", "1us")
    compare(d, 1, 1, False, "--no-follow", "--sleeps")
done()
