#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""frames-price.py KONTEND LOCK_LOAD [PAIRS [LOAD...]]

What call chains of programs cost: ns that each run of a BPF program takes more with --user-frames
fp (no limit of time) than with off, by the kernel's run-time statistics. Both observe the same
waits at once, so that other load falls on both alike: the one with chains first in one session,
last in the other, and a pair is the mean of both. Figures are medians of PAIRS pieces of work, and
by the sign test the interval that has it with a certainty of 95 % at least; then the part of the
time of all CPUs that this is at the rate of the load.

Loads: mmap (`kontend bench mmap`) and flock (lock-load.c) by the begin of a wait, futex (threads of
Python that hand a lock to each other) and pgbench, if PGHOST names a server, by the switch.
"""
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from price import fail, interval, programs, skip, statistics_of_bpf

SETTLE_S, PIECE_S = 1.0, 1.5
WAYS = (["--user-frames", "fp"], ["--user-frames", "off"])
FUTEX = """
import threading, time
locks = [threading.Lock(), threading.Lock()]
locks[1].acquire()
def turn(mine, other):
    end = time.monotonic() + %f
    while time.monotonic() < end:
        if mine.acquire(timeout=0.1):
            other.release()
for i in range(2):
    threading.Thread(target=turn, args=(locks[i], locks[1 - i])).start()
""" % PIECE_S


def start(kontend, options, out):
    p = subprocess.Popen([kontend, "report", "-a", "-q", "--no-config", "--duration", "3600",
                          "--format", "json", "--view", "locks", "--no-follow", "-o", out, *options],
                         stdout=subprocess.DEVNULL)
    while "see_begin" not in programs(p.pid):
        if p.poll() is not None:
            fail("%s: status %d" % (kontend, p.returncode))
        time.sleep(0.05)
    time.sleep(SETTLE_S)
    return p


def piece(running, load, name):
    """ns of a run, the number of runs, and seconds, for each of both."""
    before, begin = [programs(p.pid) for p in running], time.monotonic()
    subprocess.run(load, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after, length = [programs(p.pid) for p in running], time.monotonic() - begin
    found = []
    for b, a in zip(before, after):
        runs, ns = (y - x for x, y in zip(b.get(name, (0, 0)), a.get(name, (0, 0))))
        found.append((ns / runs if runs else None, runs, length))
    return found


def session(kontend, ways, load, name, pieces, directory):
    running = []
    try:
        for i, options in enumerate(ways):
            running.append(start(kontend, options, os.path.join(directory, str(i))))
        return [piece(running, load, name) for _ in range(pieces)]
    finally:
        for p in running:
            p.send_signal(signal.SIGINT)
        for p in running:
            p.wait()


def compare(kontend, title, load, name, pairs, directory):
    first = session(kontend, WAYS, load, name, pairs, directory)
    last = [p[::-1] for p in session(kontend, WAYS[::-1], load, name, pairs, directory)]
    both = [(a, b) for a, b in zip(first, last) if all(x[0] for x in a + b)]
    if not both:
        print("%s: %s never ran: no answer" % (title, name))
        return
    more = [(a[0][0] - a[1][0] + b[0][0] - b[1][0]) / 2 for a, b in both]
    low, high = interval(more)
    usual = statistics.median(p[1][0] for p in first + last)
    rate = statistics.median(p[1][1] / p[1][2] for p in first + last)
    cpus = os.sysconf("SC_NPROCESSORS_ONLN")
    print("%s: %s takes %+.0f ns [%.0f, %.0f] a run more than %.0f, at %.0f runs/s: %.2f %% of all CPUs, in %d pairs"
          % (title, name, statistics.median(more), low, high, usual, rate,
             statistics.median(more) * rate / 1e7 / cpus, len(both)), flush=True)


def main():
    kontend, lock_load = sys.argv[1:3]
    pairs = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    loads = {"mmap": ([kontend, "bench", "-q", "mmap", "-t", "8", "-n", "400"], "see_begin"),
             "flock": ([lock_load, "flock", "8", "15000"], "see_flock"),
             "futex": ([sys.executable, "-c", FUTEX], "on_typed_switch")}
    if os.environ.get("PGHOST"):
        loads["pgbench"] = (["pgbench", "-n", "-c", "20", "-T", "2", os.environ.get("PGDATABASE", "postgres")],
                            "on_typed_switch")
    if os.geteuid() != 0:
        skip("needs root")
    with tempfile.TemporaryDirectory(prefix="kontend-price-") as d, statistics_of_bpf():
        for title in [a for a in sys.argv[4:] if a in loads] or loads:
            compare(kontend, title, *loads[title], pairs, d)


main()
