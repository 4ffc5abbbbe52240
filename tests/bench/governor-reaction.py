#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""governor-reaction.py KONTEND LOCK_LOAD [RUNS [LOAD...]]

How long --max-overhead 1% lets a storm through. kontend records while all is calm, then a storm of futexes or
flocks (lock-load.c) begins. The recording shows it: of the storm's tasks it has each begin and end of a wait
until the governor steps, and few or none after. Ten milliseconds with STORM events, which take some four times
of what is allowed, are storm. A line a run: how many events there were in the ten milliseconds with the most, and
how long it was from the first to the last ten that were storm, before there was none for a tenth of a second.
(Later the governor tries whether it is over.)"""
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

BIN_S, QUIET_BINS, STORM = 0.01, 10, 600
CALM_S, STORM_S = 2.5, 1.5
LOADS = {"futex": ["futex", "8", "3000000"], "flock": ["flock", "8", "3000000"]}
EVENT = re.compile(r"^ *(\d+\.\d+) \[\d+\] lock-load/\d+ +(?:begin|end) ")


def times_of_storm(kontend, lock_load, load, path):
    p = subprocess.Popen([kontend, "record", "-v", "--no-config", "--no-follow", "--max-overhead", "1%", "-o", path],
                         text=True, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    for line in p.stderr:
        if "recording" in line:
            break
    time.sleep(CALM_S)
    storm = subprocess.Popen([lock_load, *LOADS[load]], stdout=subprocess.DEVNULL)
    time.sleep(STORM_S)
    storm.kill()
    storm.wait()
    p.send_signal(signal.SIGINT)
    said = p.stderr.read()
    if p.wait():
        sys.exit(f"kontend record: status {p.returncode}: {said}")
    lines = subprocess.run([kontend, "script", "-i", path], check=True, capture_output=True, text=True).stdout
    return sorted(float(m[1]) for m in map(EVENT.match, lines.splitlines()) if m)


def reaction(times):
    bins = [0] * (int((times[-1] - times[0]) / BIN_S) + 1)
    for t in times:
        bins[int((t - times[0]) / BIN_S)] += 1
    storm = [i for i, n in enumerate(bins) if n >= STORM]
    if not storm:
        return max(bins), 0
    end = next(a for a, b in zip(storm, storm[1:] + [len(bins) + QUIET_BINS]) if b - a > QUIET_BINS)
    return max(bins), (end + 1 - storm[0]) * BIN_S * 1000


def main():
    kontend, lock_load = sys.argv[1:3]
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    if os.geteuid() != 0:
        print("skipped: needs root")
        sys.exit(77)
    for load in sys.argv[4:] or LOADS:
        took = []
        for _ in range(runs):
            with tempfile.TemporaryDirectory(prefix="kontend-reaction-") as d:
                times = times_of_storm(kontend, lock_load, load, os.path.join(d, "data"))
            if not times:
                sys.exit(f"{load}: nobody waited")
            most, ms = reaction(times)
            took.append(ms)
            print(f"{load}: {most} events in 10 ms at most, let through for {ms:.0f} ms; {len(times)} in all")
        print(f"{load}: median of {runs}: {statistics.median(took):.0f} ms, at most {max(took):.0f} ms")


main()
