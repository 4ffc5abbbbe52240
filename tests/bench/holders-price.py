#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""holders-price.py KONTEND OTHER LOCK_LOAD [PAIRS [LOAD...] [WAY...]]

What it costs to read who holds a lock where waits begin: ns per wait that the BPF program at the begin runs
more in KONTEND than in OTHER, a build that does not read it (the release before), by the kernel's
run-time statistics of BPF, and the difference in CPU time of the load. Both observe the same fixed piece of work
in turns, in the order A, B, B, A, so that what changes slowly cancels out; figures are medians of
the pairs, and the middle half of these. Loads: mmap (`kontend bench mmap`) and flock (lock-load.c).

Ways: `waits` follows no holders, so the difference is the price of the reading; `default` is what
reports do without options; `owner` is --owner.
"""
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

SETTLE_S = 0.4
STATS = "/proc/sys/kernel/bpf_stats_enabled"
WAYS = {"waits": ["--no-follow"], "default": [], "owner": ["--no-follow", "--owner"]}


def programs(pid):
    """Of each program of that process: how often it ran, and ns."""
    found = {}
    at = "/proc/%d/fdinfo" % pid
    for fd in os.listdir(at):
        try:
            with open(os.path.join(at, fd)) as f:
                text = f.read()
        except OSError:
            continue
        of = dict(re.findall(r"^(prog_id|run_time_ns|run_cnt):\s*(\d+)$", text, re.M))
        if len(of) == 3:
            found[of["prog_id"]] = (int(of["run_cnt"]), int(of["run_time_ns"]))
    return found


def used_by(command):
    pid = os.posix_spawnp(command[0], command, os.environ, file_actions=[
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
    _, status, used = os.wait4(pid, 0)
    if status:
        sys.exit("FAIL %s: status %d" % (" ".join(command), status))
    return used.ru_utime + used.ru_stime


def observe(kontend, options, load, out):
    """(ns of the program at the begin of a wait, waits, CPU time of the load in s)."""
    p = subprocess.Popen([kontend, "report", "-q", "--no-config", "--duration", "3600", "--format",
                          "json", "--view", "locks", "-o", out, *options],
                         stdout=subprocess.DEVNULL)
    try:
        while not programs(p.pid):
            if p.poll() is not None:
                sys.exit("FAIL %s: status %d" % (kontend, p.returncode))
            time.sleep(0.05)
        time.sleep(SETTLE_S)
        before = programs(p.pid)
        cpu = used_by(load)
        after = programs(p.pid)
    finally:
        p.send_signal(signal.SIGINT)
        p.wait()
    runs = {i: (after[i][0] - before.get(i, (0, 0))[0], after[i][1] - before.get(i, (0, 0))[1])
            for i in after}
    # Two programs stand at the begin of each wait and two at its end, so all four run as often; of
    # these the one that finds the call chain takes longest by far: the first one at the begin.
    waits = max(n for n, _ in runs.values())
    begin = max(ns / n for n, ns in runs.values() if n >= waits * 0.9)
    return begin, waits, cpu


def middle(values):
    q = statistics.quantiles(values, n=4)
    return "%+8.1f [%+8.1f %+8.1f]" % (statistics.median(values), q[0], q[2])


def compare(name, way, kontends, load, pairs, out):
    price, cpu, waits, base = [], [], [], []
    for _ in range((pairs + 1) // 2):
        a1, b1, b2, a2 = (observe(kontends[k], WAYS[way], load, out) for k in (0, 1, 1, 0))
        for a, b in ((a1, b1), (a2, b2)):
            price.append(a[0] - b[0])
            cpu.append(1e9 * (a[2] - b[2]) / max(a[1], 1))
            waits.append(a[1])
            base.append(b[0])
    print("%-6s %-8s %4d %9d %8.1f %s %s" % (name, way, len(price), statistics.median(waits),
                                           statistics.median(base), middle(price), middle(cpu)),
          flush=True)


def main():
    kontend, other, lock_load = sys.argv[1:4]
    pairs = int(sys.argv[4]) if len(sys.argv) > 4 else 12
    loads = {"mmap": [kontend, "bench", "-q", "mmap", "-t", "8", "-n", "4000"],
             "flock": [lock_load, "flock", "8", "250000"]}
    if os.geteuid() != 0 or not os.path.exists(STATS):
        print("skipped: needs root, and statistics of BPF")
        sys.exit(77)
    with open(STATS) as f:
        was = f.read()
    print("%-6s %-8s %4s %9s %8s %-28s %-28s" % ("load", "way", "n", "waits", "other ns",
                                               "BPF, ns a wait more", "load's CPU, ns a wait more"))
    with tempfile.TemporaryDirectory(prefix="kontend-price-") as d:
        try:
            with open(STATS, "w") as f:
                f.write("1")
            for name in [a for a in sys.argv[5:] if a in loads] or loads:
                for way in [a for a in sys.argv[5:] if a in WAYS] or WAYS:
                    compare(name, way, (kontend, other), loads[name], pairs,
                            os.path.join(d, "out"))
        finally:
            with open(STATS, "w") as f:
                f.write(was)


main()
