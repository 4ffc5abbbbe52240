#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What holders of locks do while others wait, against programs that know it: how long they sleep,
and how long others keep them off their CPU; live, and recorded."""
import json
import os
import re
import subprocess
import sys
import tempfile

from checks import attempt, check, done, skip

kontend, turns, preempted, storm = sys.argv[1:5]
TRIES = 3
SLACK_NS = 1000000  # of a sum; a program reads its clock some time before or after it sleeps


def run(*args):
    p = subprocess.run(args, capture_output=True, text=True)
    if p.returncode:
        print(p.stderr)
        for word in ("userfaultfd", "schedstat", "real-time", "Cannot follow"):
            if word in p.stderr:
                skip(p.stderr.strip())
        check(False, "%s: status %d" % (args[1], p.returncode))
    return p.stdout


class Holder:
    """Times of a task by state, within [since, until), from events of holders."""

    def __init__(self, events, tid, since, until):
        self.ns, self.by = {}, {}
        self.functions = set()
        state, at, other = None, 0, None
        for e in events:
            if e.get("tid") != tid or e["event"] not in ("holder", "off", "woken", "on"):
                continue
            self.add(state, other, max(at, since), min(e["time_ns"], until))
            state, at = e["state"], e["time_ns"]
            other = e["other_tid"] if e["event"] in ("off", "holder") else None
            if e["asleep_in"]:
                self.functions.add(e["asleep_in"])

    def add(self, state, other, begin, end):
        if end > begin:
            self.ns[state] = self.ns.get(state, 0) + end - begin
            if state == "runnable":
                self.by[other] = self.by.get(other, 0) + end - begin


def is_about(ns, least, most):
    return least * 0.98 - SLACK_NS <= ns <= most * 1.02 + SLACK_NS


def begun(events, when):
    first = [e["time_ns"] for e in events if e["event"] == "follow" and e["begins"]]
    check(len(first) == 1, "%s: following has begun %d times" % (when, len(first)))
    return first[0] if first else sys.maxsize


def compare_sleep(when, text, events):
    truth = [tuple(map(int, line.split())) for line in text.splitlines()]
    check(len(truth) == 4, "%s: the program says %s" % (when, text))
    since = begun(events, when)
    n = 0
    for tid, least, most in truth:
        off = [e["time_ns"] for e in events if e["event"] == "off" and e["tid"] == tid]
        if not off:  # it slept before holders were followed, or nobody followed it
            continue
        n += 1
        h = Holder(events, tid, since, sys.maxsize)
        ns = h.ns.get("asleep", 0)
        print("%s: %d asleep %.3f ms, by its own account %.3f to %.3f ms; in %s" % (
            when, tid, ns / 1e6, least / 1e6, most / 1e6, ", ".join(h.functions)))
        check(is_about(ns, least, most), "%s: %d slept %d ns" % (when, tid, ns))
        check("handle_userfault" in h.functions, "%s: it slept in %s" % (when, h.functions))
    check(n >= 2, "%s: %d of 4 were followed" % (when, n))


def compare_preempted(when, text, events):
    truth = [tuple(map(int, line.split())) for line in text.splitlines()]
    check(len(truth) == 4, "%s: the program says %s" % (when, text))
    since = begun(events, when)
    n, wrong = 0, []
    for tid, hog, t0, t1, delay, before in truth:
        if t0 < since:
            continue
        n += 1
        h = Holder(events, tid, t0, t1)
        ns = h.ns.get("runnable", 0)
        print("%s: %d runnable %.3f of %.3f ms, by its schedstat %.3f to %.3f; by %s" % (
            when, tid, ns / 1e6, (t1 - t0) / 1e6, (delay - before) / 1e6, delay / 1e6, h.by))
        if not is_about(ns, delay - before, delay):
            wrong.append("%d ns, not %d to %d" % (ns, delay - before, delay))
        check(h.by.get(hog, 0) > 0.6 * ns, "%s: by %s, not %d" % (when, h.by, hog))
    check(n >= 2, "%s: %d rounds of 4 were followed" % (when, n))
    # Kernels of some virtual machines do not report each switch.
    check(len(wrong) <= 1 and n - len(wrong) >= 2, "%s: %s" % (when, "; ".join(wrong)))


def live(what, compare, d, *command):
    out = os.path.join(d, "out")
    text = run(kontend, "script", "-q", "--follow", "1ms", "--format", "json", "-o", out, "--",
               *command)
    with open(out) as f:
        compare(what + ", live", text, [json.loads(line) for line in f][1:])


def recorded(what, compare, d, command, options):
    out = os.path.join(d, "recorded")
    text = run(kontend, "record", "-q", "--follow", "1ms", *options, "-o", out, "--", *command)
    lines = run(kontend, "script", "-i", out, "--format", "json").splitlines()
    compare(" ".join([what + ", recorded", *options]), text, [json.loads(line) for line in lines][1:])


def missed():
    """Records of a storm of hand-overs that were not written."""
    text = run(kontend, "report", "-q", "--no-config", "--duration", "2", "--follow", "10us", "--view",
               "blame", "--format", "json", "--", storm, "32", "200000")
    found = re.search('"follow_missed": ([0-9]+)', text)
    return int(found.group(1)) if found else 0


def storms():
    """More locks are handed over than there may be records."""
    counts = []
    while len(counts) < 5 and not any(counts):
        counts.append(missed())
    print("hand-overs that were not reported: %s" % counts)
    check(any(counts), "no record that was left out is counted")


if os.geteuid() != 0:
    skip("needs root")
with tempfile.TemporaryDirectory(prefix="kontend-follow-") as d:
    live("turns", compare_sleep, d, turns, os.path.join(d, "file"))
    attempt(TRIES, live, "preempted", compare_preempted, d, preempted)
    # With sleeps, following is a part of their programs.
    for options in ([], ["--sleeps"], ["--sleeps", "--min-wait", "1us"]):
        recorded("turns", compare_sleep, d, (turns, os.path.join(d, "file")), options)
        attempt(TRIES, recorded, "preempted", compare_preempted, d, (preempted,), options)
    storms()
done()
