#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Recordings of perf without build ids (-z, -B, pipes), read on the host and in the boot that made
them: functions have the shares that perf shows. A program that was replaced since has no names,
unless its path is trusted.

    test-names-here.py KONTEND PROGRAM"""
import collections
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from checks import check, done, skip

kontend, program = sys.argv[1:3]
CHANGED = "the file has changed since it was recorded"
ELSEWHERE = "recorded elsewhere, without a build id"


def run(*args, stdin=None):
    return subprocess.run(args, capture_output=True, stdin=stdin, check=False)


def work(binary):
    """The program, and beside it one with several objects."""
    return ("sh", "-c", "'%s' & '%s' -c 'for i in range(300000): str(i).encode()'; wait" % (binary, sys.executable))


def record(path, binary, *how):
    """True if this perf can record in that way."""
    args = ("perf", "record", "-q", "-e", "cpu-clock", "-F", "499") + how
    if "-" in how:
        with open(path, "wb") as out:
            p = subprocess.run(args + ("--",) + work(binary), stdout=out, stderr=subprocess.PIPE, check=False)
    else:
        p = run(*args, "-o", path, "--", *work(binary))
    if p.returncode and b"zstd" in p.stderr.lower():
        return False
    check(p.returncode == 0, "%s: %s" % (how, p.stderr))
    return True


def shares_of_perf(path, name):
    text = run("perf", "report", "-i", path, "--stdio", "--no-inline", "-F", "overhead,dso,sym").stdout.decode()
    found = re.findall(r"^\s*([0-9.]+)%%\s+%s\s+\[\.\] (\w+)" % re.escape(name), text, re.M)
    return {symbol: float(pct) for pct, symbol in found if not symbol.startswith("0x")}


def rows_of_kontend(path, *more, stdin=None):
    p = run(kontend, "report", "-q", "--no-config", "-i", path, "--view", "hot", "--rows", "0", "--format", "csv",
            *more, stdin=stdin)
    check(p.returncode == 0, "report of %s: status %d: %s" % (path, p.returncode, p.stderr))
    return list(csv.DictReader(io.StringIO(p.stdout.decode())))


def shares(rows, binary):
    return {r["symbol"]: float(r["pct"]) for r in rows if r["object"] == binary and "+0x" not in r["symbol"]}


def notes(rows, binary):
    return {r["note"] for r in rows if r["object"] == binary}


def check_shares(path, how, binary):
    theirs, ours = shares_of_perf(path, os.path.basename(binary)), shares(rows_of_kontend(path), binary)
    check(theirs and sum(theirs.values()) > 20, "perf %s: %s" % (how, theirs))
    for symbol in set(theirs) | set(ours):
        check(abs(theirs.get(symbol, 0) - ours.get(symbol, 0)) < 0.1,
              "%s: %s: perf %s, kontend %s" % (how, symbol, theirs.get(symbol), ours.get(symbol)))


def check_objects(path, how):
    """Shares by object, those of the kernel and its modules as one."""
    theirs, ours = collections.Counter(), collections.Counter()
    text = run("perf", "report", "-i", path, "--stdio", "-F", "overhead,dso").stdout.decode()
    for pct, name in re.findall(r"^\s*([0-9.]+)%\s+(\S+)", text, re.M):
        theirs["[kernel]" if name.startswith("[") else name] += float(pct)
    p = run(kontend, "report", "-q", "--no-config", "-i", path, "--view", "hot", "--by", "object", "--rows", "0",
            "--format", "csv")
    for row in csv.DictReader(io.StringIO(p.stdout.decode())):
        name = row["object"]
        ours["[kernel]" if name.startswith("[") else os.path.basename(name)] += float(row["pct"])
    check(len(theirs) > 2, "perf %s: objects %s" % (how, theirs))
    for name in set(theirs) | set(ours):
        check(abs(theirs[name] - ours[name]) < 0.1,
              "%s: %s: perf %s, kontend %s" % (how, name, theirs[name], ours[name]))


def check_replaced(path, binary):
    shutil.copy(binary, binary + ".new")
    os.rename(binary + ".new", binary)
    rows = rows_of_kontend(path)
    check(notes(rows, binary) == {CHANGED}, "replaced: notes %s" % notes(rows, binary))
    check(not shares(rows, binary), "replaced: named all the same")
    rows = rows_of_kontend(path, "--trust-paths")
    check(shares(rows, binary), "--trust-paths: no names")
    check(notes(rows, binary) == {"from the file at that path, trusted by the path alone"},
          "--trust-paths: notes %s" % notes(rows, binary))
    p = run(kontend, "report", "-i", path, "--view", "hot", "--trust-paths", "--format", "json")
    check(binary in json.loads(p.stdout)["source"].get("trusted", []), "JSON does not say what was trusted")
    check(b"trusted by the path alone" in p.stderr, "nothing on the error output: %s" % p.stderr)
    p = run(kontend, "report", "-i", path, "--view", "hot", "--trust-paths", "-q")
    check(b"# names trusted by their paths alone: " in p.stdout, "the head does not say what was trusted")


def compared(path, before, binary, *more):
    """Functions, as merge has them, and what merge and both sides of diff count as trusted."""
    args = ("--no-config", "--tables", "hot", "--format", "json", *more)
    p = run(kontend, "merge", *args, path)
    check(p.returncode == 0, "merge %s: status %d: %s" % (more, p.returncode, p.stderr))
    one = json.loads(p.stdout)
    p = run(kontend, "diff", *args, before, path)
    check(p.returncode == 0, "diff %s: status %d: %s" % (more, p.returncode, p.stderr))
    two = json.loads(p.stdout)
    names = {r["symbol"] for r in one["tables"]["hot"]["rows"] if r["object"] == binary}
    check(names and names <= {r["symbol"] for r in two["tables"]["hot"]["rows"] if r["object"] == binary},
          "diff %s lacks functions of %s" % (more, names))
    return names, [s["trusted"] for s in (one, two["before"], two["after"])]


def check_compared(path, before, binary, symfs):
    """merge and diff take programs by their paths as well, and count them: @binary was replaced."""
    names, trusted = compared(path, before, binary)
    check(all("+0x" in name for name in names) and trusted == [0, 0, 0], "replaced: merge has %s, %s" % (names, trusted))
    for more in (("--trust-paths",), ("--symfs", symfs)):
        names, trusted = compared(path, before, binary, *more)
        check(not any("+0x" in name for name in names) and min(trusted) > 0, "%s: merge has %s, %s" % (more, names, trusted))
        text = run(kontend, "merge", "--no-config", "--tables", "hot", *more, path).stdout.decode()
        check("# files whose names are trusted by their paths alone: %d\n" % trusted[0] in text, "%s: head %s" % (more, text))


def check_symfs(path, binary, folder):
    there = os.path.join(folder, "symfs")
    os.makedirs(os.path.dirname(there + binary))
    shutil.copy(binary, there + binary)
    check(shares(rows_of_kontend(path, "--symfs", there), binary), "--symfs: no names")
    check(not shares(rows_of_kontend(path, "--symfs", folder), binary), "--symfs of a wrong folder: names")
    p = run(kontend, "report", "-q", "-i", path, "--symfs", folder + "/none")
    check(p.returncode == 1 and p.stderr.decode() == "kontend: Cannot open the folder '%s/none' of --symfs: "
          "No such file or directory\n" % folder, "--symfs of no folder: %s" % p.stderr)


def check_pipe(path, binary):
    """While it is recorded it is from this boot; later a pipe does not say when it was written."""
    perf = ["perf", "record", "-q", "-e", "cpu-clock", "-F", "499", "-o", "-", "--", binary]
    with subprocess.Popen(perf, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as p:
        check(shares(rows_of_kontend("-", stdin=p.stdout), binary), "a pipe of perf: no names")


if not shutil.which("perf"):
    skip("perf is not installed")
with tempfile.TemporaryDirectory() as top:
    mine = os.path.join(os.path.realpath(top), "measured")
    shutil.copy(program, mine)
    data, earlier = os.path.join(top, "perf.data"), os.path.join(top, "earlier.data")
    for way in ((), ("-z",), ("-B",), ("-o", "-")):
        if record(data, mine, *way):
            check_shares(data, way, mine)
            check_objects(data, way)
        if way == ("-B",):
            shutil.copy(data, earlier)
    check_pipe(data, mine)
    check_symfs(data, mine, top)
    check_replaced(data, mine)
    check_compared(data, earlier, mine, os.path.join(top, "symfs"))
done()
