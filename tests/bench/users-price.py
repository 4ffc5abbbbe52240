#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""users-price.py KONTEND [ROUNDS [LOAD...]] [-- OPTION...]

What each switch and wakeup of a load pays for the programs by which `kontend` reports locks of
programs, so exactly that 2 % show on a machine whose speed drifts by 20 %: the programs of a
running kontend are attached a second time and detached again, some ten times a second, and the CPU
time of the load by switch is compared within each round of slices, in random order. The second
attachment finds code and data in the caches, as the only one would at such rates. So is a pair of
empty programs: what the kernel takes to call any. OPTIONs are those of kontend, as --sleeps.

Loads: pipe and messaging (`perf bench sched`, until the rounds are done), pipe1 (on one CPU), futex
(threads that hand a mutex to each other). A figure is the median of the differences, and by the
sign test the interval that has it with a certainty of 95 % at least.
"""
import contextlib
import ctypes
import glob
import os
import random
import signal
import statistics
import struct
import subprocess
import sys
import time

from price import PROG_GET_FD_BY_ID, bpf, fail, interval, name_of, programs, skip

SLICE_S, SETTLE_S = 0.08, 0.015
PROG_LOAD, RAW_TRACEPOINT_OPEN = 5, 17
RAW_TRACEPOINT = 17
EXIT_0 = struct.pack("=BBhiBBhi", 0xb7, 0, 0, 0, 0x95, 0, 0, 0)  # r0 = 0; exit
NAMES = {"on_waking", "on_switch", "on_typed_waking", "on_typed_switch"}
FUTEX = """
import threading, time
locks = [threading.Lock(), threading.Lock()]
locks[1].acquire()
def turn(mine, other):
    while True:
        mine.acquire()
        other.release()
for i in range(2):
    threading.Thread(target=turn, args=(locks[i], locks[1 - i]), daemon=True).start()
time.sleep(3600)
"""
LOADS = {"pipe": ("perf", "bench", "sched", "pipe", "-l", "2000000000"),
         "pipe1": ("taskset", "-c", "0", "perf", "bench", "sched", "pipe", "-l", "2000000000"),
         "messaging": ("perf", "bench", "sched", "messaging", "-g", "4", "-l", "20000000"),
         "futex": (sys.executable, "-c", FUTEX)}


def program_ids(pid):
    ids = []
    for fd in os.listdir("/proc/%d/fdinfo" % pid):
        with contextlib.suppress(OSError):
            with open("/proc/%d/fdinfo/%s" % (pid, fd)) as f:
                ids += [int(line.split()[1]) for line in f if line.startswith("prog_id:")]
    return set(ids)


def descriptors(pid):
    """Of the programs at the scheduler's tracepoints that are attached."""
    found = []
    for number in sorted(program_ids(pid)):
        fd = bpf(PROG_GET_FD_BY_ID, struct.pack("=IIII", number, 0, 0, 0))
        if fd >= 0 and name_of(number) in NAMES:
            found.append((None, fd))
    return found


def empty_program():
    code, text = ctypes.create_string_buffer(EXIT_0), ctypes.create_string_buffer(b"GPL")
    fd = bpf(PROG_LOAD, struct.pack("=IIQQ", RAW_TRACEPOINT, 2, ctypes.addressof(code),
                                    ctypes.addressof(text)))
    if fd < 0:
        skip("cannot load a program")
    return fd


def attach(fds):
    """@fds: pairs of a tracepoint, or None where the program knows it, and a program."""
    links = []
    for name, fd in fds:
        text = ctypes.create_string_buffer(name) if name else None
        at = ctypes.addressof(text) if text else 0
        links.append(bpf(RAW_TRACEPOINT_OPEN, struct.pack("=QQ", at, fd)))
    if any(link < 0 for link in links):
        fail("a program cannot be attached a second time")
    return links


def tasks_of(pid):
    pids, found = [pid], []
    while pids:
        at = pids.pop()
        for task in glob.glob("/proc/%d/task/*" % at):
            found.append(task)
            try:
                with open(task + "/children") as f:
                    pids += map(int, f.read().split())
            except OSError:
                pass
    return found


def read(tasks):
    """CPU time of these tasks, and how often they have left a CPU by themselves."""
    ns = switches = 0
    for task in tasks:
        with open(task + "/schedstat") as f:
            ns += int(f.read().split()[0])
        with open(task + "/status") as f:
            switches += next(int(line.split()[1]) for line in f if line.startswith("voluntary"))
    return ns, switches


def measure(tasks):
    time.sleep(SETTLE_S)
    before = read(tasks)
    time.sleep(SLICE_S)
    ns, switches = (b - a for a, b in zip(before, read(tasks)))
    return ns / switches if switches else None


def one_round(tasks, ways):
    """CPU time by switch, by the name of the way."""
    ret = {}
    for way in random.sample(list(ways), len(ways)):
        links = attach(ways[way])
        ret[way] = measure(tasks)
        for link in links:
            os.close(link)
    return ret


def run(load, rounds, ways):
    p = subprocess.Popen(LOADS[load], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                         start_new_session=True)
    try:
        time.sleep(1)
        tasks = tasks_of(p.pid)
        found = [one_round(tasks, ways) for _ in range(rounds)]
    finally:
        os.killpg(p.pid, signal.SIGKILL)
        p.wait()
    found = [x for x in found if None not in x.values()]
    if not found:
        fail("%s does not switch" % load)
    print("%-10s %.0f ns a switch" % (load, statistics.median(x["none"] for x in found)))
    for way in ways:
        if way == "none":
            continue
        more = [x[way] - x["none"] for x in found]
        part = [(x[way] / x["none"] - 1) * 100 for x in found]
        print("%-10s %-8s %+.1f ns [%+.1f %+.1f], %+.2f %% [%+.2f %+.2f], n = %d"
              % (load, way, statistics.median(more), *interval(more), statistics.median(part),
                 *interval(part), len(found)), flush=True)


def main():
    args, options = sys.argv[1:], []
    if "--" in args:
        options = args[args.index("--") + 1:]
        args = args[:args.index("--")]
    if os.geteuid():
        skip("needs root")
    kontend, rounds = args[0], int(args[1]) if len(args) > 1 else 300
    p = subprocess.Popen([kontend, "record", "-a", "-q", "--no-config", "-o", "/dev/null",
                          *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 20
        while not NAMES & set(programs(p.pid)):
            if p.poll() is not None or time.monotonic() > until:
                skip("kontend attaches no programs at switches here")
            time.sleep(0.1)
        time.sleep(1)
        fd = empty_program()
        ways = {"none": [], "empty": [(b"sched_switch", fd), (b"sched_waking", fd)],
                "kontend": descriptors(p.pid)}
        for load in args[2:] or LOADS:
            run(load, rounds, ways)
    finally:
        p.terminate()
        p.wait()


main()
