#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Names of functions in recordings of cases.py: code without names stays apart, kernels of 32 bits
are kernels, and the reasons why there are no names agree.

    names.py KONTEND"""
import csv
import io
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../live"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
import cases
import cases_names  # pylint: disable=unused-import
from checks import check, done

kontend = sys.argv[1]
NO_FILE = "recorded elsewhere, without a build id"


def run(*args):
    p = subprocess.run((kontend,) + args, capture_output=True, text=True, check=False)
    check(p.returncode == 0, "%s: status %d: %s" % (args, p.returncode, p.stderr))
    return p.stdout, p.stderr


def hot(path, *more):
    text = run("report", "-q", "--no-config", "-i", path, "--view", "hot", "--rows", "0", "--format", "csv", *more)[0]
    return list(csv.DictReader(io.StringIO(text)))


def check_rows(path, column, expected, *more):
    rows = sorted((r[column], int(r["samples"])) for r in hot(path, *more))
    check(rows == sorted(expected), "%s: %s are %s, written %s" % (path, column, rows, sorted(expected)))


def check_folded(path, expected):
    text = run("export", "-q", "--no-config", "-i", path, "--format", "folded", "--weight", "samples")[0]
    check(sorted(text.splitlines()) == sorted(expected), "%s: folded %s, written %s" % (path, text, expected))


def check_32_bits(path):
    check_rows(path, "object", [("[kernel]", 10), ("/opt/none/program", 4)], "--by", "object")
    check_rows(path, "symbol", [("0xc0100000", 5), ("0xc0100040", 5), ("program+0x200", 4)])
    check_folded(path, ["worker;program+0x100;0xc0101000;0xc0100000 5",
                        "worker;program+0x100;0xc0101000;0xc0100040 5", "worker;program+0x200 4"])


def check_libraries(path):
    places = ["%s+0x%x" % (lib, 0x1000 + at) for lib in ("liba.so", "libb.so") for at in (0x100, 0x200)]
    check_rows(path, "symbol", [(p, 3) for p in places] + [("0xffffffff81001000", 3)])
    notes = {r["note"] for r in hot(path) if "lib" in r["symbol"]}
    check(notes == {NO_FILE}, "%s: notes %s" % (path, notes))
    check_folded(path, ["worker;%s 3" % p for p in places] + ["worker;0xffffffff81001000 3"])
    text = run("report", "-q", "--no-config", "-i", path, "--view", "hot")[0]
    check("# 4 rows without the name of a function: %s\n" % NO_FILE in text, "%s: no reason in %s" % (path, text))


with tempfile.TemporaryDirectory() as folder:
    made = cases.make(folder)
    check_32_bits(made["kernel-of-32-bits"][0])
    check_libraries(made["libraries-without-symbols"][0])
done()
