#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A directory whose inode is in the memory that a memfd gave back, and a memfd in that of a directory: the
lock of each has the name of that object, live and recorded.
Called as: test-other-objects.py KONTEND OTHER-OBJECTS"""
import collections
import json
import os
import subprocess
import sys
import tempfile

from checks import check, done, skip

kontend, other_objects = sys.argv[1:3]
ROUNDS = 30
SPARED = 2  # waits that did not begin asleep, on a machine that is busy


def run(*command):
    p = subprocess.run(command, capture_output=True, text=True)
    if p.returncode and "userfaultfd" in p.stderr:
        skip("no userfaultfd for the kernel's faults")
    check(p.returncode == 0, "%s: status %d, %s" % (command[1], p.returncode, p.stderr))
    return p.stdout


def name_of(kind, number, folder):
    return "i_rwsem %s/d%d" % (folder, number) if kind == "d" else "i_rwsem /memfd:m%d" % number


def check_rows(how, out, folder):
    with open(out, encoding="utf-8") as f:
        rows = json.load(f)["views"]["locks"]["rows"]
    wanted = {name_of(k, i, folder) for k in "dm" for i in range(ROUNDS)}
    ours = [(r["name"].removesuffix(" (deleted)"), r["contended"]) for r in rows
            if r["name"] and (folder in r["name"] or "/memfd:m" in r["name"])]
    names = {n for n, _ in ours}
    check(names <= wanted, "%s: locks of none of the objects: %s" % (how, sorted(names - wanted)))
    check(len(wanted - names) <= SPARED, "%s: objects without a row: %s" % (how, sorted(wanted - names)))
    check(len(ours) == len(names), "%s: objects with several rows: %s" % (how, sorted(ours)))
    many = [(n, c) for n, c in ours if c != 1]
    check(not many, "%s: a lock has the waits of other objects: %s" % (how, many))


if not os.path.isdir("/dev/shm"):
    skip("no tmpfs at /dev/shm, where directories and memfds have the same memory")
with tempfile.TemporaryDirectory(dir="/dev/shm") as folder, tempfile.TemporaryDirectory(dir=os.getcwd()) as d:
    out, data = os.path.join(d, "out"), os.path.join(d, "data")
    as_json = ["-q", "--view", "locks", "--format", "json", "-n", "1000", "-o", out]
    run(kontend, "report", *as_json, "--", other_objects, folder, str(ROUNDS))
    check_rows("live", out, folder)
    run(kontend, "record", "-q", "-o", data, "--", other_objects, folder, str(ROUNDS))
    run(kontend, "report", *as_json, "-i", data)
    check_rows("recorded", out, folder)
    # The waiter at each object has its name.
    kinds = collections.defaultdict(set)
    for line in run(kontend, "script", "-i", data).splitlines():
        words = line.split()
        if len(words) > 5 and words[3] == "end" and words[2][0] in "dm" and words[2][1:].split("/")[0].isdigit():
            kinds[words[5]].add(words[2][0])
    both = sum(len(k) == 2 for k in kinds.values())
    check(both > 0, "no address was used for a memfd and for a directory: this proves nothing")
    print("%d of %d addresses were a memfd's and a directory's" % (both, len(kinds)))
done()
