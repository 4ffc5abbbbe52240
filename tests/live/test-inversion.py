#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A priority inversion on one CPU: a task of normal priority has the lock of a file, a real-time task
keeps it off the CPU, and a more important one waits for the lock. Each of them ends by itself after
some seconds.

    test-inversion.py KONTEND"""
import fcntl
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

from checks import check, done, skip

kontend = sys.argv[1]
CPU = max(os.sched_getaffinity(0))
MOST_S = 20  # longer than any look takes; a hog ends then, whatever happens
LOW, MIDDLE, HIGH = "kt-low", "kt-middle", "kt-high"


def name(comm):
    with open("/proc/self/comm", "w") as f:
        f.write(comm)


def start(comm, policy, priority, do):
    """A process of that name on the CPU; it has set itself up when this returns."""
    r, w = os.pipe()
    pid = os.fork()
    if pid:
        os.close(w)
        ok = os.read(r, 1) == b"y"
        os.close(r)
        if not ok:
            os.waitpid(pid, 0)
            skip(f"the kernel refuses priority {priority}")
        return pid
    try:
        signal.alarm(MOST_S)
        os.close(r)
        name(comm)
        os.sched_setaffinity(0, {CPU})
        ready = do(w)
        if policy:
            os.sched_setscheduler(0, policy, os.sched_param(priority))
        os.write(w, b"y")
        ready()
    finally:
        os._exit(0)


def spin():
    until = time.monotonic() + MOST_S
    while time.monotonic() < until:
        pass


def hold(path):
    def do(_):
        f = open(path, "r+b")
        fcntl.flock(f, fcntl.LOCK_EX)
        return lambda keep=f: spin()
    return do


def wait_for(path):
    def do(_):
        f = open(path, "r+b")
        return lambda: fcntl.flock(f, fcntl.LOCK_EX)
    return do


def run(*words):
    p = subprocess.run([kontend, *words], capture_output=True, text=True)
    if p.returncode:
        raise AssertionError(f"{words[0]}: {p.stderr.strip()}")
    return p.stdout


def report(*words):
    return json.loads(run("report", "-q", "--format", "json", "--view", "overview,waiters", *words))


def row_of(doc, tid):
    return next((r for r in doc["views"]["waiters"]["rows"] if r["tid"] == tid), None)


def is_kept_off(doc, tid):
    """The kernel lets tasks run beside real-time ones for a twentieth of the time: then it is not."""
    row = row_of(doc, tid)
    return row and row["owner_state"] == "runnable"


def look(tid, produce):
    """Until a snapshot of the locks was taken while it waits for a task that does not run."""
    for seconds in 1, 2, 3, 2:
        doc = produce(f"{seconds}s")
        if is_kept_off(doc, tid):
            break
    return doc


def record(path, duration):
    run("record", "-q", "-o", path, "--duration", duration)
    return report("-i", path)


def look_at(when, doc, tids):
    words = (f"priority inversion: FIFO 80 {HIGH}/{tids[HIGH]} waits for NORMAL {LOW}/{tids[LOW]}, "
             f"kept off by FIFO 50 {MIDDLE}/{tids[MIDDLE]}; not inherited")
    r = row_of(doc, tids[HIGH])
    if not check(r, f"{when}: no row of {HIGH}"):
        return
    print(when, {k: r[k] for k in ("policy", "owner_policy", "kept_off_comm", "kept_off_policy",
                                   "owner_state", "inversion")})
    check(r["inversion"] == words, f"{when}: '{r['inversion']}', not '{words}'")
    check(r["owner_state"] == "runnable", f"{when}: the holder is {r['owner_state']}")
    check(r["kept_off_tid"] == tids[MIDDLE], f"{when}: kept off by {r['kept_off_tid']}")
    found = [f for f in doc["views"]["overview"]["verdict"]["findings"] if f["rule"] == "inversion"]
    if check(len(found) == 1, f"{when}: no such finding"):
        check(found[0]["text"] == words, f"{when}: the verdict: {found[0]['text']}")
        print(when, found[0]["because"])


if os.geteuid() != 0:
    skip("needs root")
if len(os.sched_getaffinity(0)) < 2:
    skip("needs a second CPU, for kontend")
os.sched_setaffinity(0, os.sched_getaffinity(0) - {CPU})
with tempfile.TemporaryDirectory(prefix="kontend-inversion-") as d:
    path = os.path.join(d, "lock")
    open(path, "w").close()
    tids = {LOW: start(LOW, None, 0, hold(path))}
    try:
        tids[HIGH] = start(HIGH, os.SCHED_FIFO, 80, wait_for(path))
        tids[MIDDLE] = start(MIDDLE, os.SCHED_FIFO, 50, lambda _: spin)
        live = look(tids[HIGH], lambda duration: report("--duration", duration))
        recorded = look(tids[HIGH], lambda duration: record(os.path.join(d, "k.data"), duration))
    finally:
        for pid in tids.values():
            os.kill(pid, signal.SIGKILL)
        for pid in tids.values():
            os.waitpid(pid, 0)
    look_at("live", live, tids)
    look_at("recorded", recorded, tids)
done()
