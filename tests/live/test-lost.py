#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The part of waits in which a CPU was idle: of waits for a file and for a lock of a program it is
known, no longer than the waits, and the same from a recording each time; of tasks that may use one CPU
only it is not known.

    test-lost.py KONTEND"""
import json
import os
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
    return rows[0] if rows else {"wait_lost_ns": None}


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
    done()


main()
