#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Files of every layout: each cut has the samples that were written, for kontend and for perf, and each file that
cannot be read is named for what it is.

    files.py KONTEND"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../live"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
import cases
from checks import check, done

kontend = sys.argv[1]
REFUSED = {"version-1": "version 1 (PERFFILE)", "big-endian": "the other byte order"}
# perf 6.1 refuses later records, and tracepoints without formats. It counts samples of a group for its members, too.
PERF_COUNTS_OTHERWISE = {"deferred-chains", "unknown-record", "formats-missing", "group-with-values"}


def run(*args):
    p = subprocess.run(args, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
    return p.returncode, p.stdout, p.stderr


def report(path):
    rc, out, err = run(kontend, "report", "-q", "--no-config", "-i", path, "--view", "hot", "--format", "json")
    return json.loads(out) if check(rc == 0, "%s: status %d: %s" % (path, rc, err)) else None


def check_cut(name, path, truth, folder):
    cut = os.path.join(folder, name + ".cut")
    rc, _, err = run(kontend, "cut", "-q", path, "-o", cut)
    if not check(rc == 0, "%s: cut: status %d: %s" % (name, rc, err)):
        return
    j = report(cut)
    if not j:
        return
    mine = [(e["samples"], e["decoded"]) for e in j["events"]]
    wanted = [(e["samples"], name != "formats-missing" or e["name"] == "cycles") for e in truth["events"]]
    check(mine == wanted, "%s: the cut has %s, written %s" % (name, mine, wanted))
    if not shutil.which("perf") or name in PERF_COUNTS_OTHERWISE:
        return
    _, out, err = run("perf", "report", "--stdio", "-i", cut)
    found = re.findall(r"^# Samples: (\d+) +of event '([^']*)'", out, re.M)
    perf = sum(int(n) for n, event in found if event != "kontend")
    check(perf == sum(e["samples"] for e in truth["events"]),
          "%s: perf finds %d samples in the cut: %s" % (name, perf, err))


def check_formats(path):
    """Events without a format lose their fields, not the file."""
    rc, out, err = run(kontend, "report", "--no-config", "-i", path)
    sentence = "5 samples of lock:contention_begin cannot be decoded: the recording has no format of this event"
    check(rc == 0 and sentence in err and "# damage: " + sentence in out and "it is cut" not in err,
          "formats-missing: status %d: %s%s" % (rc, out, err))
    check("lock:contention_begin 5 (not decoded: no format)" in out and "31 samples of cycles" in out
          and "the lock events of this file cannot be decoded" in out, "formats-missing: %s" % out)


def check_refused(name, path):
    rc, _, err = run(kontend, "report", "--no-config", "-i", path)
    check(rc == 1 and REFUSED[name] in err, "%s: status %d: %s" % (name, rc, err))
    with open(path, "rb") as f:
        p = subprocess.run([kontend, "replay", "--no-config", "-"], stdin=f, capture_output=True, text=True, timeout=60,
                           check=False)
    check(p.returncode != 0, "%s: replay reads it" % name)
    rc, _, err = run(kontend, "recover", path, "-o", path + ".new")
    check(rc != 0 and REFUSED[name] in err, "%s: recover: status %d: %s" % (name, rc, err))


with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(2) as pool:
    made = cases.make(temporary)
    jobs = [pool.submit(check_cut, case, path, truth, temporary) for case, (path, truth) in made.items()
            if truth and case not in cases.NOT_READ]
    for job in jobs:
        job.result()
    check_formats(made["formats-missing"][0])
    for case in REFUSED:
        check_refused(case, made[case][0])
done()
