#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""test-short-incident.py KONTEND LOAD...

The file of an incident in which short waits come as sums, against a recording of every wait of the
same seconds. The load goes on before and after it. The file begins where measuring begins, and ends
when its time is over, so no sum of it is estimated, and it has the waits of its own time and no
others: sums that were read at another moment than their time says would have many more.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

from checks import check, done, failed, skip

kontend, load = sys.argv[1], sys.argv[2:]
TRIES = 3  # two of us measure beside the load: one that gets no CPU for long loses records
# Both begin and end a moment apart, at a load that changes all the time.
NOISE_PCT = 8
LEAST = 600  # waits of a type, to compare it


def record(*args):
    return subprocess.Popen([kontend, "record", "--no-config", "-q", "--no-follow", "-m", "4096",
                             *args], stderr=subprocess.DEVNULL)


def report(path, *args):
    out = subprocess.run([kontend, "report", "--no-config", "-i", path, "--view", "locks", "--by",
                          "caller", "-n", "0", "--format", "json", *args],
                         capture_output=True, text=True, check=True).stdout
    return json.loads(out)


def by_type(r):
    n = {}
    for row in r["views"]["locks"]["rows"]:
        n[row["kind"]] = n.get(row["kind"], 0) + row["contended"]
    return n


def measured(d):
    """The two reports, of the same time; None: records were lost, or it took too long."""
    whole = os.path.join(d, "whole.data")
    child = subprocess.Popen(load, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    ps = [record("-o", whole),
          record("--min-wait", "1s", "--trigger", "hand", "--pre", "60s", "--post", "1300ms",
                 "-o", d)]
    try:
        time.sleep(3)
        ps[1].send_signal(signal.SIGUSR1)
        time.sleep(3)
    finally:
        for p in ps:
            p.send_signal(signal.SIGINT)
            p.wait()
        child.terminate()
        child.wait()
    files = [f for f in os.listdir(d) if f.startswith("kontend-")]
    if ps[1].returncode or len(files) != 1:
        skip("no incident was caught: it may take BPF")
    found = report(os.path.join(d, files[0]))
    all_of_it = report(whole)
    begin = all_of_it["source"]["time_from_ns"]
    span = [(found["source"][k] - begin) / 1e9 for k in ("time_from_ns", "time_to_ns")]
    if span[0] < 0 or all_of_it["source"]["lost"] or found["source"]["lost"]:
        return None
    return found, report(whole, "--time", "%.6fs,%.6fs" % tuple(span))


if os.geteuid() != 0:
    skip("needs root")
found = None
for _ in range(TRIES):
    with tempfile.TemporaryDirectory(prefix="kontend-short-") as tmp:
        found = measured(tmp)
    if found:
        break
if not found:
    skip("records were lost in each of %d runs: nothing can be compared" % TRIES)
incident, truth = found
short = incident["source"]["short"]
check(short["waits"] > 0, "it has no sums: %s" % short)
check(short["estimated_ns"] == 0, "estimated for %d ns" % short["estimated_ns"])
a, b = by_type(incident), by_type(truth)
compared = 0
for kind in b:
    if b[kind] < LEAST:
        continue
    compared += 1
    off = (a.get(kind, 0) / b[kind] - 1) * 100
    print("%s: %d waits, of which the file has %d: %+.1f %%" % (kind, b[kind], a.get(kind, 0), off))
    check(abs(off) < NOISE_PCT, "%s: %+.1f %%" % (kind, off))
if not compared:
    skip("the load made too few waits: %s" % b)
if not failed():
    print("ok")
done()
