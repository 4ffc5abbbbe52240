#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The part of waits in which a CPU was idle: of waits for a file and for a lock of a program it is
known, no longer than the waits, and the same from a recording each time; of tasks that may use one CPU
only it is not known. And how many other threads of the process ran meanwhile: none of processes with
one; of one whose others compute, as many as its own clocks show.

    test-lost.py KONTEND"""
import json
import os
import re
import subprocess
import sys
import tempfile

from checks import check, done, skip

THREADS = """
import threading, time
lock, ends = threading.Lock(), time.monotonic() + 2
def turn():
    while time.monotonic() < ends:
        with lock:
            time.sleep(0.005)
        time.sleep(0.002)
for i in range(3):
    threading.Thread(target=turn).start()
"""
LOAD = """
import fcntl, os, sys, time
path, ends = sys.argv[1], time.monotonic() + 2
for i in range(3):
    if not os.fork():
        break
with open(path, "r+") as f:
    while time.monotonic() < ends:
        fcntl.flock(f, fcntl.LOCK_EX)
        time.sleep(0.005)
        fcntl.flock(f, fcntl.LOCK_UN)
        time.sleep(0.002)
os._exit(0)
"""
# A thread waits for a file that another process has, while others compute without Python's lock. It
# prints how many of them ran meanwhile.
PARALLEL = """
import fcntl, hashlib, os, sys, threading, time
path, ends = sys.argv[1], time.monotonic() + 3
def has():
    while time.monotonic() < ends + 1:
        fcntl.flock(f, fcntl.LOCK_EX)
        time.sleep(0.08)
        fcntl.flock(f, fcntl.LOCK_UN)
        time.sleep(0.004)
def compute():
    while time.monotonic() < ends:
        hashlib.pbkdf2_hmac("sha256", b"a", b"b", 100000)
def now():
    return time.monotonic(), time.process_time() - time.thread_time()
f = open(path, "r+")
child = os.fork()
if not child:
    f = open(path, "r+")
    has()
    os._exit(0)
for i in range(2):
    threading.Thread(target=compute).start()
waited = ran = 0
while time.monotonic() < ends:
    a = now()
    fcntl.flock(f, fcntl.LOCK_EX)
    b = now()
    fcntl.flock(f, fcntl.LOCK_UN)
    waited += b[0] - a[0]
    ran += b[1] - a[1]
    time.sleep(0.006)
os.kill(child, 9)
os.waitpid(child, 0)
print("PAR", ran / waited, file=sys.stderr)
"""


def run(*command):
    got = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return got.returncode, got.stdout.decode(), got.stderr.decode()


def rows_of(report):
    return json.loads(report)["views"]["locks"]["rows"]


def fits(row):
    lost = row["wait_lost_ns"]
    return lost is None or lost <= row["total_ns"] and row["wait_lost_pct"] <= 100


def live(kontend, folder, pins):
    """The row of the file."""
    path = os.path.join(folder, "file")
    with open(path, "w") as f:
        f.write("x")
    code, out, err = run(kontend, "report", "-a", "-j", "--view", "locks", "-n", "1000", "--", *pins,
                         sys.executable, "-c", LOAD, path)
    if code:
        skip("cannot measure: " + err)
    if all(r["wait_lost_ns"] is None for r in rows_of(out)):
        skip("there is no clock of idle CPUs here")
    check(all(fits(r) for r in rows_of(out)), "LOST is longer than waits: %s" % out)
    rows = [r for r in rows_of(out) if r["name"] == path]
    check(rows and rows[0]["contended"] > 10, "waits for the file are not there")
    if not rows:
        return {"wait_lost_ns": None}
    par = rows[0]["wait_par"]
    check(par is not None and par <= 0.01, "in processes of one thread %s others ran" % par)
    return rows[0]


def parallel(kontend, folder):
    path = os.path.join(folder, "parallel")
    with open(path, "w") as f:
        f.write("x")
    code, out, err = run(kontend, "report", "-a", "-j", "--view", "locks", "-n", "1000", "--", sys.executable,
                         "-c", PARALLEL, path)
    found = re.search("^PAR ([0-9.]+)$", err, re.M)
    check(code == 0 and found, "cannot measure threads that compute: " + err)
    rows = [r for r in rows_of(out) if r["name"] == path]
    check(rows, "waits beside threads that compute are not there")
    if found and rows:
        truth, par = float(found[1]), rows[0]["wait_par"]
        print("PAR %s, by the program's clocks %.3f" % (par, truth))
        check(par is not None and abs(par - truth) <= 0.05 + 0.1 * truth,
              "%s other threads ran during waits, not %.3f" % (par, truth))


def recorded(kontend, folder):
    data = os.path.join(folder, "data")
    code, _, err = run(kontend, "record", "-a", "-q", "-o", data, "--", sys.executable, "-c", THREADS)
    check(code == 0, "cannot record: " + err)
    reports = [run(kontend, "report", "-j", "-i", data, "--view", "locks", "-n", "1000")[1]
               for _ in range(2)]
    check(reports[0] == reports[1], "a recording does not replay the same")
    rows = [r for r in rows_of(reports[0]) if r["kind"].endswith("(u)")]
    check(any(r["wait_lost_ns"] is not None for r in rows), "no LOST is recorded: %s" % rows)
    check(all(fits(r) for r in rows), "LOST is longer than recorded waits: %s" % rows)


def main():
    kontend = sys.argv[1]
    if os.geteuid():
        skip("needs root")
    online = sorted(os.sched_getaffinity(0))
    if len(online) < 2:
        skip("needs two CPUs")
    with tempfile.TemporaryDirectory() as folder:
        if live(kontend, folder, [])["wait_lost_ns"] is None:
            check(False, "LOST is not known of a file")
        pinned = live(kontend, folder, ["taskset", "-c", str(online[0])])
        check(pinned["wait_lost_ns"] is None, "LOST is known of tasks that may use one CPU only")
        recorded(kontend, folder)
        parallel(kontend, folder)
    done()


main()
