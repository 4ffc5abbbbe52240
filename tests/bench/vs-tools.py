#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""vs-tools.py KONTEND LOCK_LOAD [PAIRS [NAME=COMMAND...]]

kontend beside other tools that show waits for locks, on equal work: processes that lock a file in
turns (flock), rename files in one directory (rename), and map and unmap memory (mmap). The tools are
named with their commands, which end at SIGINT and print a table then; by default it is `perf lock
contention -a -b` where perf has BPF skeletons, and a bpftrace program that sums waits up by call
chain, if there is a bpftrace. Such as

    vs-tools.py kontend lock-load 12 'perf -b=chroot DIR perf lock contention -a -b'

Others must not use the machine: their waits are measured, too, and kontend's share is of all. Each
load is a fixed piece of work. It is done alone and beside an observer in turns. Figures are of CPU time: that
of the load, the change beside the observer as the median of the pairs with the interval in which that
lies with a certainty of 95 %, and the observer's own, both in percent of the load's. After them is what each observer has printed in its last turn.
"""
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile

from price import Observer, interval, skip, used_by

SETTLE_S = 0.6
ROWS = 24
WIDTH = 150


def observed(load, observer, out):
    """CPU time in s of the load, and of the observer meanwhile; its output goes to a file."""
    with open(out, "w+") as f, Observer(observer, ("perf_event", "bpf_link", "bpf-link"), SETTLE_S, f) as o:
        before = o.used()
        used = used_by(load)
        return used, o.used() - before


def show(load, way, out):
    with open(out) as f:
        lines = [line.rstrip()[:WIDTH] for line in f if line.strip()]
    print("\n# %s beside %s" % (load, way))
    print("\n".join(lines[:ROWS]))


def say(load, way, pairs):
    ratios = [100 * (on / off - 1) for off, on, _ in pairs]
    low, high = interval(ratios)
    own = statistics.median(100 * own / off for off, _, own in pairs)
    print("%-8s %-13s %4d %7.3f %+7.2f [%+7.2f %+7.2f] %6.2f" % (
        load, way, len(pairs), statistics.median(off for off, _, _ in pairs),
        statistics.median(ratios), low, high, own), flush=True)


BPFTRACE = """
tracepoint:lock:contention_begin { @begin[tid] = nsecs; @at[tid] = kstack; }
tracepoint:lock:contention_end /@begin[tid]/ {
    @ns[@at[tid]] = sum(nsecs - @begin[tid]);
    @n[@at[tid]] = count();
    delete(@begin, tid); delete(@at, tid);
}
END { clear(@begin); clear(@at); }
"""


def has_skeletons(perf):
    said = subprocess.run(perf + ["version", "--build-options"], capture_output=True, text=True).stdout
    return any("bpf_skeletons" in line and " on " in line for line in said.splitlines())


def ways(kontend, named):
    report = [kontend, "report", "-q", "--no-config", "--duration", "3600"]
    found = {"kontend": report + ["--view", "locks,held"]}
    for one in named:
        name, command = one.split("=", 1)
        found[name] = [BPFTRACE if word == "SCRIPT" else word for word in shlex.split(command)]
    if named:
        return found
    if shutil.which("perf") and has_skeletons(["perf"]):
        found["perf -b"] = ["perf", "lock", "contention", "-a", "-b"]
    if shutil.which("bpftrace"):
        found["bpftrace"] = ["bpftrace", "-e", BPFTRACE]
    if len(found) == 1:
        skip("there is no perf with BPF skeletons, and no bpftrace")
    return found


def main():
    kontend, lock_load = sys.argv[1:3]
    pairs = int(sys.argv[3]) if len(sys.argv) > 3 else 12
    loads = {"flock": [lock_load, "flock", "8", "20000"],
             "rename": [lock_load, "rename", "8", "4000"],
             "mmap": [kontend, "bench", "-q", "mmap", "-t", "8", "-n", "600"]}
    if os.geteuid() != 0:
        skip("needs root")
    how = ways(kontend, sys.argv[4:])
    with tempfile.TemporaryDirectory(prefix="kontend-vs-") as d:
        results = {(load, way): [] for load in loads for way in how}
        try:
            for _ in range(pairs):
                for load, way in results:
                    off = used_by(loads[load])
                    out = os.path.join(d, load + way.replace(" ", "-"))
                    results[load, way].append((off, *observed(loads[load], how[way], out)))
        except KeyboardInterrupt:
            print("# ended early")
        print("%-8s %-13s %4s %7s %7s %-17s %6s" % ("load", "observer", "n", "cpu s", "cpu %", "95 %", "own %"))
        for (load, way), values in results.items():
            if values:
                say(load, way, values)
        for load, way in results:
            out = os.path.join(d, load + way.replace(" ", "-"))
            if os.path.exists(out):
                show(load, way, out)


main()
