#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""coverage.py [--least PERCENT] [--files] BUILD SOURCE: of a build with -Db_coverage=true, the lines of
src and ui that were run since it was made, a line a folder, the lowest first, and all of them in the
last one. With --files those below 85 % one by one. Exit status 1 where all are less than PERCENT.

A line that is in several objects counts once, and was run if it was run in any. Lines that were compiled and
never run count; lines without code in any object, such as comments, do not."""
import argparse
import collections
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

LOW = 85.0
FOLDERS = ("src/", "ui/")
NOT_OURS = ("src/external/",)


def notes(build):
    """What the compiler has left beside each object of ours: one may be there without having run."""
    for top, _, names in os.walk(os.path.join(build)):
        if "/subprojects" in top or "/external" in top:
            continue
        yield from (os.path.abspath(os.path.join(top, n)) for n in names if n.endswith(".gcno"))


def run_gcov(paths):
    """The counts of some objects: a list of (source, line, times)."""
    found = []
    with tempfile.TemporaryDirectory() as d:
        p = subprocess.run([os.environ.get("GCOV", "gcov"), "--json-format", "--stdout", *paths], cwd=d,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if p.returncode:
            sys.exit("coverage: gcov ended with status %d" % p.returncode)
    for text in p.stdout.splitlines():
        if not text.startswith("{"):
            continue
        data = json.loads(text)
        where = data["current_working_directory"]
        for f in data["files"]:
            path = os.path.join(where, f["file"])
            found += [(path, line["line_number"], line["count"]) for line in f["lines"]]
    return found


def read(build, source):
    """Lines of each source of ours: by number whether it was run."""
    lines = collections.defaultdict(dict)
    paths = sorted(notes(build))
    if not paths:
        sys.exit("coverage: %s was built without -Db_coverage=true" % build)
    parts = [paths[i:i + 20] for i in range(0, len(paths), 20)]
    names = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(run_gcov, parts):
            for path, number, times in found:
                if path not in names:
                    names[path] = os.path.relpath(os.path.realpath(path), source)
                name = names[path]
                if name.startswith(FOLDERS) and not name.startswith(NOT_OURS):
                    lines[name][number] = lines[name].get(number, False) or times > 0
    return lines


def percent(part, whole):
    return 100.0 * part / whole if whole else 100.0


def show(rows):
    for name, (part, whole) in sorted(rows.items(), key=lambda r: percent(*r[1])):
        print("%6.1f %%  %6d of %6d lines  %s" % (percent(part, whole), part, whole, name))


parser = argparse.ArgumentParser()
parser.add_argument("--least", type=float, default=0)
parser.add_argument("--files", action="store_true")
parser.add_argument("build")
parser.add_argument("source")
options = parser.parse_args()
counts = {name: (sum(of.values()), len(of))
          for name, of in read(options.build, os.path.realpath(options.source)).items()}
folders = {}
for name, (part, whole) in counts.items():
    parts = name.split("/")
    folder = "/".join(parts[:2]) if len(parts) > 2 else parts[0]
    before = folders.get(folder, (0, 0))
    folders[folder] = before[0] + part, before[1] + whole
if options.files:
    show({n: c for n, c in counts.items() if percent(*c) < LOW})
    print()
show(folders)
ran, there = sum(c[0] for c in counts.values()), sum(c[1] for c in counts.values())
print("coverage: %.1f %% of the lines of src and ui, %d of %d" % (percent(ran, there), ran, there))
sys.exit(not there or percent(ran, there) < options.least)
