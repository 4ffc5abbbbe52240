#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Fairness of use: one of four threads has a mutex ten times as long as each of the others; live and
recorded.

    test-use.py KONTEND PROGRAM"""
import json
import os
import re
import subprocess
import sys
import tempfile

from checks import check, done, skip

kontend, program = sys.argv[1:3]
SECONDS = "4s"
# 20, 2, 2 and 2 ms by turns: 26^2 / (4 * (20^2 + 3 * 2^2)) = 0.41, but for late timers.
LEAST, MOST = 0.3, 0.6


def run(*words):
    p = subprocess.run([kontend, *words], capture_output=True, text=True)
    if p.returncode:
        raise AssertionError("%s: %s" % (words[0], p.stderr.strip()))
    return p.stdout


def rows(*words):
    doc = json.loads(run("report", "-q", "--format", "json", "--view", "queues", "--rows", "0", *words))
    return doc["views"]["queues"]["rows"]


def look_at(when, found, pid, has_cpu):
    mine = [r for r in found if r["name"] == "wanted uses/%d" % pid]
    if not check(len(mine) == 1, "%s: %d rows of the mutex" % (when, len(mine))):
        return
    r = mine[0]
    print(when, r["use_jain"], r["use_tasks"], r["use"])
    if not check(r["use_jain"] is not None, "%s: no index" % when):
        return
    check(LEAST < r["use_jain"] < MOST, "%s: index %s" % (when, r["use_jain"]))
    check(r["use_tasks"] == 4, "%s: %s tasks" % (when, r["use_tasks"]))
    parts = [re.fullmatch(r"(\S+)/\d+ ([\d.<]+)%(, CPU [\d.<]+%)?", u) for u in r["use"]]
    if not check(all(parts), "%s: %s" % (when, r["use"])):
        return
    check(parts[0].group(1) == "kt-long" and float(parts[0].group(2)) > 60,
          "%s: first is %s" % (when, r["use"][0]))
    check(all(bool(p.group(3)) == has_cpu for p in parts), "%s: shares of CPU time" % when)


if os.geteuid() != 0:
    skip("needs root")
p = subprocess.Popen([program, "unfair"])
try:
    with tempfile.TemporaryDirectory(prefix="kontend-use-") as d:
        path = os.path.join(d, "k.data")
        look_at("live", rows("-a", "-F", "997", "--duration", SECONDS), p.pid, True)
        run("record", "-q", "-a", "-o", path, "--duration", SECONDS)
        look_at("recorded", rows("-i", path), p.pid, False)
finally:
    p.kill()
    p.wait()
done()
