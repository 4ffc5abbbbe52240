#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Names of functions in recordings of cases.py: code without names stays apart, kernels of 32 bits
are kernels, code that the kernel made has the name of its time, and the reasons why there are no names agree.

    names.py KONTEND"""
import csv
import io
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../live"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
import cases
import cases_ksym
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


def check_ksymbols(made, folder):
    path, old, new = made["ksymbol-reused"][0], cases_ksym.OLD, cases_ksym.NEW
    address = "0x%x" % (cases_ksym.AT + 0x10)
    rows = [(old, 5), (address, 3), (new, 7), ("kprobe_insn_page", 2)]
    check_rows(path, "symbol", rows)
    check_rows(path, "object", [("[bpf]", 12), ("[kernel]", 5)], "--by", "object")
    check_folded(path, ["worker;%s %d" % row for row in rows])
    # The cut begins after the second program came, and has its name.
    cut = os.path.join(folder, "cut.data")
    run("cut", "-q", "-i", path, "-o", cut, "--time", "@5.0225,@5.033")
    check_rows(cut, "symbol", [(new, 5), ("kprobe_insn_page", 2)])
    check_rows(made["ksymbol-pages"][0], "symbol", [("bpf_trampoline_6442", 4), (new, 6)])
    path = made["ksymbol-damaged"][0]
    check_rows(path, "symbol", [(address, 9)])
    text = run("report", "-q", "--no-config", "-i", path, "--view", "hot")[0]
    check("# 1 piece of code that the kernel made has no name" in text, "%s: no note in %s" % (path, text))
    path = made["ksymbol-many"][0]
    check_rows(path, "symbol", [("bpf_prog_0", 3), ("0x%x" % (cases_ksym.AT + 19999 * 64), 4)])
    text = run("report", "-q", "--no-config", "-i", path, "--view", "hot")[0]
    check("# 3616 pieces of code that the kernel made have no name" in text, "%s: no note in %s" % (path, text))


def check_names_in_time(path):
    """The screen at a time, and after going back, has the names of then; merge has all of them."""
    old, gap, new = cases_ksym.OLD, "0x%x" % (cases_ksym.AT + 0x10), cases_ksym.NEW
    expected = {"0:01": {old: 5}, "0:03": {old: 5, gap: 3}, "100%": {old: 5, gap: 3, new: 7}}

    def shown(*args):
        text = run("screenshot", "-q", "--no-config", "--view", "hot", "--size", "100x24", "--format", "text", *args, path)[0]
        return {name: int(n) for n, name in re.findall(r"^.{7} +(\d+) .*\] +(\S+) *$", text, re.M)}

    for at, rows in expected.items():
        check(shown("--at", at) == rows, "%s: at %s: %s, written %s" % (path, at, shown("--at", at), rows))
        for keys in ("@ %s Enter" % at, "@ 0:01 Enter @ 100%% Enter @ %s Enter" % at):
            check(shown("--keys", keys) == rows, "%s: keys %s: %s, written %s" % (path, keys, shown("--keys", keys), rows))
    text = run("merge", "-q", "--no-config", "--tables", "hot", "--format", "csv", path)[0]
    rows = sorted((r["symbol"], int(r["samples"])) for r in csv.DictReader(io.StringIO(text)))
    check(rows == sorted([(old, 5), ("(no symbol)", 3), (new, 7)]), "%s: merge has %s" % (path, rows))


with tempfile.TemporaryDirectory() as folder:
    made = cases.make(folder)
    check_32_bits(made["kernel-of-32-bits-with-chains"][0])
    check_libraries(made["libraries-without-symbols"][0])
    check_ksymbols(made, folder)
    check_names_in_time(made["ksymbol-in-seconds"][0])
done()
