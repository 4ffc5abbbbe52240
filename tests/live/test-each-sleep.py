#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Sleeps in state D, each, against a program that knows when it slept and which child woke it, while
other tasks want all CPUs: the sums have all of them, and those that are long have a record, in a
recording, in a part of it, and in a report."""
import contextlib
import json
import os
import subprocess
import sys
import tempfile

from checks import check, done, skip

kontend, naps = sys.argv[1:3]
LONG_MS, SHORT_MS, TIMES = 60, 3, 8
MIN_NS = 40000000
LENGTHS = [str(ms) for ms in [LONG_MS, SHORT_MS] * TIMES]


def run(*args):
    p = subprocess.run((kontend,) + args, capture_output=True, text=True)
    if p.returncode:
        print(p.stderr)
        check(False, "%s: status %d" % (args[0], p.returncode))
    return p.stdout


def measured(verb, out, *args):
    """What the program says of its naps while they are measured."""
    text = run(verb, "-q", "--sleeps", "--min-sleep", "40ms", *args, "-o", out, "--", naps, *LENGTHS)
    slept = [tuple(map(int, line.split())) for line in text.splitlines()]
    check(len(slept) == len(LENGTHS), "%s: %d naps" % (verb, len(slept)))
    return slept


def nap_of(slept, begin, length):
    """The nap in which a sleep was, if it was none of the program's other ones, as for its pages."""
    return next((n for n in slept if n[4] <= begin <= n[2] and begin + length >= n[3]), None)


def check_one(when, nap, tid, begin, length, waker):
    _, child, asleep, woken, start, end = nap
    check(tid == nap[0] and start <= begin <= asleep, "%s: begins at %d: %s" % (when, begin, nap))
    check(woken <= begin + length <= end, "%s: ends at %d: %s" % (when, begin + length, nap))
    check(waker == child, "%s: %d has woken it: %s" % (when, waker, nap))


def check_lines(when, path, slept):
    """Each long nap is a line of script, and no other."""
    lines = [json.loads(line) for line in run("script", "-i", path, "--format", "json").splitlines()]
    lines = [line for line in lines if line.get("event") == "slept" and line["tid"] == slept[0][0]]
    naps_of = {}
    for line in lines:
        nap = nap_of(slept, line["begin_ns"], line["wait_ns"])
        check(line["wait_ns"] >= MIN_NS, "%s: a short one: %s" % (when, line))
        if nap and nap[3] - nap[2] >= MIN_NS:
            naps_of[nap] = line
            check_one(when, nap, line["tid"], line["begin_ns"], line["wait_ns"], line["other_tid"])
            check(line["type"] == "disk", "%s: %s" % (when, line))
    long = [n for n in slept if n[3] - n[2] >= MIN_NS]
    check(len(long) >= TIMES and len(naps_of) == len(long),
          "%s: %d of %d have a line" % (when, len(naps_of), len(long)))


def check_sums(when, text, slept):
    view = json.loads(text)["views"]["blocked"]
    row = [r for r in view["rows"] if r["cause"] == "child of vfork"]
    each = view["each_sleep"]
    least = sum(n[3] - n[2] for n in slept)
    most = sum(n[5] - n[4] for n in slept)
    longest = max(n[5] - n[4] for n in slept)
    check(len(row) == 1 and each["level"] == "all" and each["min_ns"] == MIN_NS, "%s: %s" % (when, view))
    check(each["dropped"] == each["missed"] == 0, "%s: %s" % (when, each))
    row = row[0]
    print("%s: %d sleeps of %.3f ms; the program: %d of %.3f to %.3f ms" % (
        when, row["sleeps"], row["slept_ns"] / 1e6, len(slept), least / 1e6, most / 1e6))
    check(row["sleeps"] == len(slept), "%s: %d sleeps" % (when, row["sleeps"]))
    check(least <= row["slept_ns"] <= most, "%s: %d ns" % (when, row["slept_ns"]))
    check(row["slept_max_ns"] <= longest, "%s: one of %d ns" % (when, row["slept_max_ns"]))
    for one in each["longest"]:
        nap = nap_of(slept, one["begin_ns"], one["length_ns"])
        if nap and one["cause"] == "child of vfork":
            check_one(when, nap, one["tid"], one["begin_ns"], one["length_ns"], one["waker_tid"])
    vforks = [one for one in each["longest"] if one["cause"] == "child of vfork"]
    check(len(vforks) >= TIMES, "%s: %d of the longest" % (when, len(vforks)))
    check(vforks[0]["length_ns"] == row["slept_max_ns"], "%s: %s" % (when, vforks[0]))


@contextlib.contextmanager
def load():
    busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(2 * os.cpu_count())]
    try:
        yield
    finally:
        for p in busy:
            p.kill()
            p.wait()


if os.geteuid() != 0:
    skip("needs root")
blocked = ("--view", "blocked", "--format", "json")
with tempfile.TemporaryDirectory(prefix="kontend-each-sleep-") as d, load():
    out, part, text = (os.path.join(d, name) for name in ("out", "part", "text"))
    slept = measured("record", out)
    said = run("report", "-i", out, *blocked)
    if "each_sleep" not in said:
        skip("sleeps are not measured here: " + said[-400:])
    check_sums("recorded", said, slept)
    check_lines("recorded", out, slept)
    run("cut", out, "-o", part)
    check_lines("cut", part, slept)
    slept = measured("report", text, *blocked)
    with open(text) as f:
        check_sums("live", f.read(), slept)
done()
