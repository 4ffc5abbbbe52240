#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""holders-price.py KONTEND OTHER LOCK_LOAD [PAIRS [LOAD...]]

What it costs to read who holds a lock where waits begin: ns per wait that the BPF program at the
begin runs more in KONTEND than in OTHER, a build that does not read it, by the kernel's run-time
statistics of BPF. Both observe the same waits at once, so that other load falls on both alike:
KONTEND before OTHER in one session, and after it in the other, and a pair is the mean of both. Then
KONTEND alone, with holders followed: ns of each run of its programs. Figures are medians of PAIRS
pieces of work, and the interval in which that lies with a certainty of 95 %. Loads: mmap (`kontend
bench mmap`), flock and rename (lock-load.c).
"""
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from price import programs, skip, statistics_of_bpf

SAMPLES = 2000
SETTLE_S = 0.5
FOLLOWING = ("see_begin", "see_end", "see_switch", "see_waking", "say_follow")


def start(kontend, options, out):
    p = subprocess.Popen([kontend, "report", "-q", "--no-config", "--duration", "3600", "--format",
                          "json", "--view", "locks", "-o", out, *options],
                         stdout=subprocess.DEVNULL)
    while "see_begin" not in programs(p.pid):
        if p.poll() is not None:
            sys.exit("FAIL %s: status %d" % (kontend, p.returncode))
        time.sleep(0.05)
    time.sleep(SETTLE_S)
    return p


def per_run(before, after):
    """ns of a run and the number of runs, by program."""
    found = {}
    for name, (n, ns) in after.items():
        n0, ns0 = before.get(name, (0, 0))
        if n > n0:
            found[name] = ((ns - ns0) / (n - n0), n - n0)
    return found


def session(kontends, options, load, pieces, directory):
    """For each piece of work, what each one's programs took; they are attached in that order."""
    found, running = [], []
    try:
        for i, kontend in enumerate(kontends):
            running.append(start(kontend, options, os.path.join(directory, str(i))))
        for _ in range(pieces):
            before = [programs(p.pid) for p in running]
            subprocess.run(load, stdout=subprocess.DEVNULL, check=True)
            found.append([per_run(b, programs(p.pid)) for b, p in zip(before, running)])
    finally:
        for p in running:
            p.send_signal(signal.SIGINT)
        for p in running:
            p.wait()
    return found


def middle(values):
    rng = random.Random(1)
    medians = sorted(statistics.median(rng.choices(values, k=len(values)))
                     for _ in range(SAMPLES))
    return "%.1f [%.1f %.1f]" % (statistics.median(values), medians[SAMPLES // 40],
                                 medians[-1 - SAMPLES // 40])


def compare(name, kontends, load, pairs, directory):
    first = [[r["see_begin"] for r in piece]
             for piece in session(kontends, ["--no-follow"], load, pairs, directory)]
    last = [[r["see_begin"] for r in piece[::-1]]
            for piece in session(kontends[::-1], ["--no-follow"], load, pairs, directory)]
    more = [(a[0][0] - a[1][0] + b[0][0] - b[1][0]) / 2 for a, b in zip(first, last)]
    print("%s: %s ns a wait more than %.1f, in %d pairs of %d waits" % (
        name, middle(more), statistics.median(p[1][0] for p in first + last), pairs,
        sum(p[0][1] for p in first + last)), flush=True)
    pieces = [p[0] for p in session(kontends[:1], [], load, pairs, directory)]
    for program in FOLLOWING:
        runs = [p[program] for p in pieces if program in p]
        if len(runs) > 1:
            print("%s: %s takes %s ns in %d runs" % (
                name, program, middle([ns for ns, _ in runs]), sum(n for _, n in runs)), flush=True)


def main():
    kontend, other, lock_load = sys.argv[1:4]
    pairs = int(sys.argv[4]) if len(sys.argv) > 4 else 12
    loads = {"mmap": [kontend, "bench", "-q", "mmap", "-t", "8", "-n", "400"],
             "flock": [lock_load, "flock", "8", "15000"],
             "rename": [lock_load, "rename", "8", "8000"]}
    if os.geteuid() != 0:
        skip("needs root")
    with tempfile.TemporaryDirectory(prefix="kontend-price-") as d, statistics_of_bpf():
        for name in [a for a in sys.argv[5:] if a in loads] or loads:
            compare(name, (kontend, other), loads[name], pairs, d)


main()
