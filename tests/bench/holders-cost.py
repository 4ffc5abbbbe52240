#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""holders-cost.py KONTEND LOCK_LOAD [PAIRS [LOAD...]]

The cost for a load when kontend finds the tasks that others wait for. Each load is a fixed piece of
work: mmap (`kontend bench mmap`), futex and flock (lock-load.c), and messaging (`perf bench sched
messaging`). It is done without kontend and beside it in turns, in the order off, on, on, off, all
loads and ways to measure one after the other, PAIRS times; after a signal the results so far
are printed, too. Figures are of CPU time, user's and system's, of the load's own processes: the median
of the pairs' ratios in percent, the interval in which that lies with a certainty of 95 %, and the
middle half of the pairs. kontend's own time is beside it, in percent of the load's: on a machine
without an idle CPU the load pays for it, too.

Ways: `waits` is a report of locks that follows no holders; `follow` follows them, as reports do
without options; `holders` has all views of holders; `owners` also records the owner of each lock when
each wait began.
"""
import collections
import os
import random
import shutil
import signal
import statistics
import sys
import tempfile

from price import Observer, skip, used_by

SAMPLES = 2000
HOLDERS = "chains,held,blame,did,queues"
SETTLE_S = 0.4


class Outcome:
    def __init__(self):
        self.ratios, self.own, self.off = [], [], []

    def add(self, off, on, own):
        self.ratios.append(100 * (on / off - 1))
        self.own.append(100 * own / off)
        self.off.append(off)

    def say(self, load, way):
        rng = random.Random(1)
        medians = sorted(statistics.median(rng.choices(self.ratios, k=len(self.ratios)))
                         for _ in range(SAMPLES))
        low, high = medians[SAMPLES // 40], medians[-1 - SAMPLES // 40]
        quarters = statistics.quantiles(self.ratios, n=4)
        median, own = statistics.median(self.ratios), statistics.median(self.own)
        print("%-10s %-8s %4d %7.3f %+7.2f [%+7.2f %+7.2f] [%+7.2f %+7.2f] %6.2f %+7.2f" % (
            load, way, len(self.ratios), statistics.median(self.off), median, low, high,
            quarters[0], quarters[2], own, median + own), flush=True)


def turn(load, command, outcome):
    """Two pairs."""
    first = used_by(load)
    with Observer(command, ("perf_event",), SETTLE_S) as o:
        on = []
        for _ in range(2):
            before = o.used()
            on.append((used_by(load), o.used() - before))
    last = used_by(load)
    outcome.add(first, *on[0])
    outcome.add(last, *on[1])


def ways(kontend, out):
    report = [kontend, "report", "-q", "--no-config", "--duration", "3600", "--format", "json",
              "-o", out]
    return {"waits": report + ["--view", "locks", "--no-follow"],
            "follow": report + ["--view", "locks"],
            "holders": report + ["--view", "locks," + HOLDERS],
            "owners": report + ["--view", "locks," + HOLDERS, "--owner"]}


def loads(kontend, lock_load):
    found = {"mmap": [kontend, "bench", "-q", "mmap", "-t", "8", "-n", "3000"],
             "futex": [lock_load, "futex", "8", "150000"],
             "flock": [lock_load, "flock", "8", "250000"]}
    if shutil.which("perf"):
        found["messaging"] = ["perf", "bench", "-f", "simple", "sched", "messaging", "-g", "4",
                              "-l", "800"]
    else:
        print("# no perf: without messaging")
    return found


def end(*_):
    raise KeyboardInterrupt


def main():
    kontend, lock_load = sys.argv[1:3]
    pairs = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    if os.geteuid() != 0:
        skip("needs root")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    outcomes = collections.defaultdict(Outcome)
    with tempfile.TemporaryDirectory(prefix="kontend-cost-") as d:
        of = loads(kontend, lock_load)
        chosen = sys.argv[4:] or list(of)
        how = ways(kontend, os.path.join(d, "out"))
        for load in chosen:
            used_by(of[load])
        try:
            for _ in range((pairs + 1) // 2):
                for load in chosen:
                    for way in how:
                        turn(of[load], how[way], outcomes[load, way])
        except KeyboardInterrupt:
            print("# ended early")
    print("%-10s %-8s %4s %7s %7s %-17s %-17s %6s %7s" % (
        "load", "way", "n", "cpu s", "cpu %", "95 %", "middle half", "own %", "sum %"))
    for (load, way), outcome in outcomes.items():
        if len(outcome.ratios) > 1:
            outcome.say(load, way)


main()
