#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""governor-cost.py KONTEND LOCK_LOAD [PAIRS [LOAD|WAY...]]

What --max-overhead reaches in storms, and what that costs. Each load is a fixed piece of work: mmap
(`kontend bench mmap`), futex and flock (lock-load.c). It is done without kontend and beside it, in the
order off, on, on, off, for each way to measure in turns, PAIRS times. Of each load and way:

  cpu %    CPU time of the load beside kontend against without: the median of the pairs' ratios, and
           the interval in which that lies with a certainty of 95 %;
  own %    kontend's own CPU time, of that of all CPUs while the load ran;
  bpf %    what the kernel says that kontend's BPF programs ran (kernel.bpf_stats_enabled, on for a
           run of its own, which counts for nothing else): own and bpf together are what is bounded;
  all/sum/cnt  percent of the time on each level: all waits, over a threshold, counts alone;
  error    the part of waits not reported one by one: the highest threshold, the part of all waits in sums
           alone, and the part that was only counted.

Ways: `full` reports every wait; `1%` and `0.2%` are governed; `10us` has a threshold of that; `counts`
is governed to next to nothing.
"""
import collections
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

SAMPLES = 2000
SETTLE_S = 0.4
STATS = "/proc/sys/kernel/bpf_stats_enabled"
WAYS = {"full": [], "1%": ["--max-overhead", "1%"], "0.2%": ["--max-overhead", "0.2%"],
        "10us": ["--min-wait", "10us"], "counts": ["--max-overhead", "0.01%"]}


def fail(what):
    print("FAIL", what)
    sys.exit(1)


def used_by(command):
    """CPU time in s of a command and what it has waited for, and how long it took."""
    begin = time.monotonic()
    pid = os.posix_spawnp(command[0], command, os.environ, file_actions=[
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
    _, status, used = os.wait4(pid, 0)
    if status:
        fail("%s: status %d" % (" ".join(command), os.waitstatus_to_exitcode(status)))
    return used.ru_utime + used.ru_stime, time.monotonic() - begin


class Observer:
    """kontend, while it measures; then what it says of itself."""

    def __init__(self, kontend, args, out):
        self.command = [kontend, "report", "-v", "--no-config", "--no-follow", "--format", "json",
                        "-n", "0", "--view", "overview", "-o", out, *args]
        self.out = out

    def __enter__(self):
        self.p = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, text=True,
                                  stderr=subprocess.PIPE)
        for line in self.p.stderr:
            if "measuring" in line:
                break
        else:
            fail("%s: status %s" % (" ".join(self.command), self.p.wait()))
        time.sleep(SETTLE_S)
        return self

    def bpf(self):
        """What its BPF programs have run, in s, while BPF_STATS was on."""
        run_ns = 0
        fdinfo = "/proc/%d/fdinfo" % self.p.pid
        seen = set()
        for fd in os.listdir(fdinfo):
            try:
                with open(os.path.join(fdinfo, fd)) as f:
                    facts = dict(line.split(":", 1) for line in f if ":" in line)
            except FileNotFoundError:
                continue
            if "run_time_ns" in facts and facts["prog_id"] not in seen:
                seen.add(facts["prog_id"])
                run_ns += int(facts["run_time_ns"])
        if not seen:
            fail("no BPF program of kontend is seen in %s" % fdinfo)
        return run_ns / 1e9

    def used(self):
        """CPU time in s, of all its threads."""
        return time.clock_gettime((~self.p.pid << 3) | 2)

    def __exit__(self, *_):
        self.p.send_signal(2)
        self.p.stderr.read()
        if self.p.wait():
            fail("%s: status %d" % (" ".join(self.command), self.p.returncode))
        with open(self.out) as f:
            self.report = json.load(f)


class Outcome:
    def __init__(self):
        self.ratios, self.own, self.bpf, self.reports = [], [], [], []

    def add(self, off, on, own):
        self.ratios.append(100 * (on[0] / off[0] - 1))
        self.own.append(100 * own / on[1] / os.sysconf("SC_NPROCESSORS_ONLN"))

    def add_bpf(self, spent_s, took_s):
        self.bpf.append(100 * spent_s / took_s / os.sysconf("SC_NPROCESSORS_ONLN"))

    def say(self, load, way):
        rng = random.Random(1)
        medians = sorted(statistics.median(rng.choices(self.ratios, k=len(self.ratios)))
                         for _ in range(SAMPLES))
        waits = sum(t["contended"] for r in self.reports
                    for t in r["views"]["overview"]["types"])
        sources = [r["source"] for r in self.reports]
        shorts = [s["short"] for s in sources if "short" in s]
        summed, counted = (sum(s[key] for s in shorts) for key in ("waits", "counted_only"))
        spent = [sum(s[key] for s in shorts) for key in ("all_ns", "summed_ns", "counted_ns")]
        all_ns = sum(spent) or 1
        print("%-6s %-7s %4d %+6.2f [%+6.2f %+6.2f] %6.2f %6.2f %9d  %3.0f/%3.0f/%3.0f  %8s %6.1f %6.1f "
              "%6d" % (
                  load, way, len(self.ratios), statistics.median(self.ratios),
                  medians[SAMPLES // 40], medians[-1 - SAMPLES // 40], statistics.median(self.own),
                  statistics.median(self.bpf), waits + counted, *(100 * n / all_ns for n in spent),
                  "%gus" % (max(s["most_threshold_ns"] for s in shorts) / 1000) if shorts else "-",
                  100 * summed / (waits + counted or 1), 100 * counted / (waits + counted or 1),
                  sum(s["lost"] + s["dropped"] for s in sources)), flush=True)


def turn(load, observer, outcome):
    """Two pairs."""
    first = used_by(load)
    with observer as o:
        on = []
        for _ in range(2):
            before = o.used()
            on.append((used_by(load), o.used() - before))
        with open(STATS, "w") as f:
            f.write("1")
        before = o.bpf()
        took = used_by(load)[1]
        outcome.add_bpf(o.bpf() - before, took)
        with open(STATS, "w") as f:
            f.write("0")
    outcome.reports.append(observer.report)
    last = used_by(load)
    outcome.add(first, *on[0])
    outcome.add(last, *on[1])


def main():
    kontend, lock_load = sys.argv[1:3]
    pairs = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    if os.geteuid() != 0:
        print("skipped: needs root")
        sys.exit(77)
    loads = {"mmap": [kontend, "bench", "-q", "mmap", "-t", "8", "-n", "12000"],
             "futex": [lock_load, "futex", "8", "600000"],
             "flock": [lock_load, "flock", "8", "1000000"]}
    outcomes = collections.defaultdict(Outcome)
    for word in sys.argv[4:]:
        if word not in loads and word not in WAYS:
            fail("%s: no load (%s), no way (%s)" % (word, " ".join(loads), " ".join(WAYS)))
    chosen = [load for load in loads if load in sys.argv[4:]] or list(loads)
    ways = {way: args for way, args in WAYS.items() if way in sys.argv[4:]} or WAYS
    with tempfile.TemporaryDirectory(prefix="kontend-governor-") as d:
        out = os.path.join(d, "out")
        for load in chosen:
            used_by(loads[load])
        try:
            for _ in range((pairs + 1) // 2):
                for load in chosen:
                    for way, args in ways.items():
                        turn(loads[load], Observer(kontend, args, out), outcomes[load, way])
        except KeyboardInterrupt:
            print("# ended early")
        finally:
            with open(STATS, "w") as f:
                f.write("0")
    print("%-6s %-7s %4s %6s %-15s %6s %6s %9s  %-11s  %8s %6s %6s %6s" % (
        "load", "way", "n", "cpu %", "95 %", "own %", "bpf %", "waits", "all/sum/cnt", "error <", "sum %",
        "cnt %", "lost"))
    for (load, way), outcome in outcomes.items():
        if len(outcome.ratios) > 1:
            outcome.say(load, way)


main()
