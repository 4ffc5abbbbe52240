#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Share of the waiting time whose lock has a name of words, without an address, on workloads that people run.
Prints a line for each workload and each KONTEND: names of the kernel's locks, and of all, those of programs too.
Workloads whose programs are not installed are left out.

    named.py BUILD-FOLDER KONTEND... [--only TEXT]... [--rows]

--only: workloads with that text in their names; --rows: with all locks that have no such name."""
import argparse
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from named_workloads import workloads

HEX = re.compile(r"\u2026|(?<!:)0x[0-9a-f]+|\.\.[0-9a-f]{4,}|\+0x")

def measure(kontend, command, folder, out):
    p = subprocess.run([kontend, "report", "-q", "--no-config", "--view", "locks", "--format", "json", "-n", "100000",
                        "-o", out, "--", *command], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                       text=True, check=False)
    if not os.path.exists(out):
        return None, p.stderr
    with open(out, encoding="utf-8") as f:
        rows = json.load(f)["views"]["locks"]["rows"]
    os.unlink(out)
    return rows, p.stderr


def share(rows):
    """Of the time, and what has the most of the rest."""
    total = sum(r["total_ns"] or 0 for r in rows)
    rest = collections.Counter()
    for r in rows:
        if not r["name"] or HEX.search(r["name"]):
            rest[(r["kind"], r["name"])] += r["total_ns"] or 0
    return total, 100 * (1 - sum(rest.values()) / total) if total else 100, rest.most_common()


def try_workload(name, build, kontends, top, with_rows):
    folder, out = os.path.join(top, "work"), os.path.join(top, "out")
    os.mkdir(folder)
    needs, make = workloads(build, folder)[name]
    command = make() if shutil.which(needs) else []
    if not command:
        print("%-24s not tried: no %s" % (name, needs))
        return
    for kontend in kontends:
        rows, said = measure(kontend, command, folder, out)
        if rows is None:
            print("%-24s failed: %s" % (name, said.strip()))
            continue
        kernel = [r for r in rows if not r["kind"].split(":")[0].endswith("(u)")]
        total, named, rest = share(kernel)
        print("%-24s %9.3f s  kernel %5.1f%%  all %5.1f%%  %s" % (name, total / 1e9, named, share(rows)[1], rest[:3]),
              flush=True)
        if with_rows:
            print("".join("%30s%9.3f%% %s %s\n" % ("", 100 * ns / total, *r) for r, ns in rest[:40]), end="")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("build")
    p.add_argument("kontends", nargs="+")
    p.add_argument("--only", action="append")
    p.add_argument("--rows", action="store_true")
    o = p.parse_args()
    build, kontends = os.path.abspath(o.build), [os.path.abspath(k) for k in o.kontends]
    for name in workloads("", ""):
        if o.only and not any(text in name for text in o.only):
            continue
        with tempfile.TemporaryDirectory(dir=os.getcwd()) as top:
            os.chmod(top, 0o755)
            try_workload(name, build, kontends, top, o.rows)


main()
