#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Files that live for milliseconds, whose inodes the kernel puts into the memory of deleted ones: each
is a lock of its own, with its own name and its own wait, live and recorded.
Called as: test-short-files.py KONTEND SHORT-FILES"""
import collections
import json
import os
import subprocess
import sys
import tempfile

from checks import check, done

kontend, short_files = sys.argv[1:3]
FILES = 60
SPARED = 2  # waits that did not begin asleep, on a machine that is busy


def run(*command):
    p = subprocess.run(command, capture_output=True, text=True)
    if p.returncode and "userfaultfd" in p.stderr:
        print("skipped: no userfaultfd for the kernel's faults")
        sys.exit(77)
    check(p.returncode == 0, "%s: status %d, %s" % (command[1], p.returncode, p.stderr))
    return p.stdout


def rows_of(report, folder):
    """Names of locks of files in the folder, with their waits."""
    with open(report, encoding="utf-8") as f:
        rows = json.load(f)["views"]["locks"]["rows"]
    return {r["name"]: r for r in rows if (r["name"] or "").startswith("i_rwsem " + folder + "/f")}


def check_rows(how, rows, folder):
    wanted = {"i_rwsem %s/f%d" % (folder, i) for i in range(FILES)}
    names = {n.removesuffix(" (deleted)") for n in rows}
    check(names <= wanted, "%s: locks of no file: %s" % (how, sorted(names - wanted)))
    check(len(wanted - names) <= SPARED, "%s: files without a row: %s" % (how, sorted(wanted - names)))
    check(len(rows) == len(names), "%s: files with several rows: %s" % (how, sorted(rows)))
    many = {n: r["contended"] for n, r in rows.items() if r["contended"] != 1}
    check(not many, "%s: a file's lock has the waits of others: %s" % (how, many))


with tempfile.TemporaryDirectory(dir=os.getcwd()) as d:
    folder, out, data = d, os.path.join(d, "out"), os.path.join(d, "data")
    run(kontend, "report", "-q", "--view", "locks", "--format", "json", "-n", "1000", "-o", out, "--", short_files,
        folder, str(FILES))
    check_rows("live", rows_of(out, folder), folder)
    run(kontend, "record", "-q", "-o", data, "--", short_files, folder, str(FILES))
    run(kontend, "report", "-q", "--view", "locks", "--format", "json", "-n", "1000", "-o", out, "-i", data)
    check_rows("recorded", rows_of(out, folder), folder)
    # The waiter of file N is named fN: its lock is that file's.
    addresses = collections.defaultdict(set)
    for line in run(kontend, "script", "-i", data).splitlines():
        words = line.split()
        if len(words) > 5 and words[3] == "end" and words[2][0] == "f" and words[2][1:].split("/")[0].isdigit():
            addresses[words[5]].add(words[2].split("/")[0])
    again = sum(len(files) - 1 for files in addresses.values())
    check(again > 0, "no address was used for a second file: this proves nothing")
    print("%d of %d files had the address of another one" % (again, FILES))
done()
