#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Recordings of synthetic machines are merged: sums are the truth that was put in, and what their rows for
engines add up to; text, CSV and JSON say the same; what is wrong with a recording is named and counted, and the
others are done. Called as: merge.py KONTEND SYNTHETIC"""
import collections
import csv
import io
import json
import os
import subprocess
import sys
import tempfile

import synthetics
from synthetics import expect, wrong


class Test(synthetics.Test):
    def merge(self, *args, **how):
        return json.loads(self.run("merge", "--json", *args, **how))

    def rows(self, *args):
        lines = self.run("export", "--format", "ndjson", *args).splitlines()
        return [json.loads(line) for line in lines]


def buckets(row):
    return list(zip(row["hist_from_ns"] or [], row["hist_to_ns"] or [], row["hist_n"] or []))


def check_truth(t, paths, truths):
    """By function that waits, which chains are, by task and in all."""
    all_of = t.merge(*paths)
    callers, tasks = collections.Counter(), collections.Counter()
    for truth in truths:
        for chain in truth["chains"]:
            number = (int(chain["address"], 16) - 0xFFFFFFFF81800000) // 16
            callers[f"call_{number}"] += chain["wait_ns"]
        for task in truth["tasks"]:
            tasks[task["comm"]] += task["wait_ns"]
    tables = all_of["tables"]
    expect("callers are not the truth", {r["caller"]: r["total_ns"] for r in tables["callers"]["rows"]} == callers)
    expect("tasks are not the truth", {r["comm"]: r["total_ns"] for r in tables["tasks"]["rows"]} == tasks)
    waits = sorted(ns for truth in truths for ns in truth["durations"])
    one = tables["types"]["rows"][0]
    expect("types are not the truth", (one["contended"], one["total_ns"]) == (len(waits), sum(waits)))
    expect("extremes are not the truth", (one["min_ns"], one["max_ns"]) == (waits[0], waits[-1]))
    for low, high, n in buckets(one):
        expect(f"waits from {low} to {high}", sum(low <= ns < high for ns in waits) == n)
    p99 = waits[len(waits) * 99 // 100 - 1]
    expect(f"P99 is {one['p99_ns']}, not {p99}", abs(one["p99_ns"] - p99) <= p99 / 8)
    return all_of


def check_parts(all_of):
    """Columns add up to their rows, and rows to the whole."""
    for name, table in all_of["tables"].items():
        for row in table["rows"]:
            first = next(iter(row.values()))
            expect(f"{name}: {row} does not add up", sum(row["of"]) == first)
            expect(f"{name}: columns", len(row["of"]) == len(all_of["columns"]))
        if name in ("locks", "callers", "types", "tasks"):
            expect(f"{name} do not add up", sum(r["total_ns"] for r in table["rows"]) == all_of["total_ns"])
    expect("groups do not add up", sum(r["total_ns"] for r in all_of["groups"]["rows"]) == all_of["total_ns"])


def check_rows(t, paths, all_of):
    """What engines make of the rows of each recording."""
    want = collections.defaultdict(lambda: [0, 0, collections.Counter()])
    for path in paths:
        for row in t.rows(path):
            if row["table"] not in ("callers", "locks"):
                continue
            # kontend-rows(5): where a lock has no object its caller says which it is.
            name = row.get("object") or row["caller"]
            sums = want[row["table"], name]
            sums[0] += row["contended"]
            sums[1] += row["total_ns"]
            for low, high, n in zip(row["hist_from_ns"], row["hist_to_ns"], row["hist_n"]):
                sums[2][low, high] += n
    for table, key in (("callers", "caller"), ("locks", "name")):
        got = {}
        for r in all_of["tables"][table]["rows"]:
            bars = collections.Counter({(low, high): n for low, high, n in buckets(r)})
            got[table, r[key].strip("()")] = [r["contended"], r["total_ns"], bars]
        expect(f"{table} are not what rows add up to", got == {k: v for k, v in want.items() if k[0] == table})


def check_groups(t, paths, truths):
    hosts = t.merge("--tables", "types", *paths)
    expect("hosts", {r["name"] for r in hosts["groups"]["rows"]} == {x["host"] for x in truths})
    expect("ids", {r["machine_id"] for r in hosts["groups"]["rows"]} == {x["machine_id"] for x in truths})
    want = collections.Counter()
    for truth in truths:
        want[truth["kernel"]] += sum(truth["durations"])
    kernels = t.merge("--by", "kernel", "--tables", "types", *paths)
    expect("kernels", {r["name"]: r["total_ns"] for r in kernels["groups"]["rows"]} == want)
    of = dict(zip(kernels["columns"], kernels["tables"]["types"]["rows"][0]["of"]))
    expect("columns of kernels", of == {**want, "(others)": 0})
    services = t.merge("--by", "service", "--tables", "types", *paths)
    expect("services of none", services["without_cgroups"] == len(paths))
    expect("not available is not said", "services are not available for" in t.run("merge", "--by", "service", *paths))
    expect("sums by service", services["total_ns"] == hosts["total_ns"])


def check_formats(t, paths):
    made = t.merge("--tables", "callers", *paths)
    lines = list(csv.DictReader(io.StringIO(t.run("merge", "--tables", "callers", "--format", "csv", *paths))))
    rows = made["tables"]["callers"]["rows"]
    expect("CSV and JSON differ", [(x["caller"], int(x["total_ns"]), int(x["p99_ns"])) for x in lines]
           == [(r["caller"], r["total_ns"], r["p99_ns"]) for r in rows])
    expect("columns of CSV", all(int(x[name] or 0) == n for x, r in zip(lines, rows)
                                 for name, n in zip(made["columns"], r["of"])))
    text = t.run("merge", "--rows", "0", "--tables", "callers", *paths)
    names = [line.split()[7] for line in text.splitlines() if "call_" in line]
    expect(f"text has {names[:3]}", names == [r["caller"] for r in rows])
    expect("the rule is not said", "# the same by: type, mode and function that waits" in text)
    got = t.run("merge", "--format", "csv", "--tables", "locks,types", *paths, status=129, says=["CSV is of one table"])
    expect("CSV of two tables", got == "")
    t.run("merge", status=129, says=["Give the recordings"])
    t.run("merge", "--tables", "none", paths[0], status=129, says=["There is no table 'none'"])


def check_bad(t, paths):
    """Each is named by one sentence, wherever it is in the list; the others are done."""
    whole = t.merge("--tables", "types", *paths)
    cut, none, hostile = (os.path.join(t.folder, f"{n}.data") for n in ("cut", "none", "hostile"))
    with open(t.recording("long", "host=90")[0], "rb") as f:
        data = f.read()
    with open(cut, "wb") as f:
        f.write(data[: len(data) * 2 // 3])
    with open(none, "wb") as f:
        f.write(b"PERFILE2" + bytes(64))
    with open(hostile, "wb") as f:
        f.write(data[:104] + b"\xff" * (len(data) - 104))
    foreign = t.recording("foreign", "host=91", "foreign=1")[0]
    late = t.recording("late", "host=92", "day=40")[0]
    bad = [none, paths[1], cut, foreign, late, os.path.join(t.folder, "gone.data")]
    says = ["none.data", "it is left out", "it ends early or is damaged", "does not understand all",
            "it began 40 days after most others", "gone.data"]
    got = t.merge("--tables", "types", none, *paths, *bad[1:], status=1, says=says)
    faults = {k: got[k] for k in ("not_read", "overlap", "cut_off", "other_version", "clock_apart")}
    expect(f"faults are {faults}", list(faults.values()) == [2, 1, 1, 1, 1])
    expect("not all are counted", (got["given"], got["added"]) == (len(paths) + 6, len(paths) + 3))
    extra = [t.merge("--tables", "types", p, status=s, says=w)["total_ns"]
             for p, s, w in ((cut, 1, says[2:3]), (foreign, 1, says[3:4]), (late, 0, []))]
    expect("what is added is not what is there", got["total_ns"] == whole["total_ns"] + sum(extra))
    text = t.run("merge", "--tables", "types", none, *paths, status=1, says=["none.data"])
    expect("the header does not count", "# recordings not added, as they cannot be read: 1" in text)
    run = subprocess.run([t.kontend, "merge", "-j", "--tables", "types", hostile, *paths], capture_output=True)
    expect(f"hostile: {run.returncode} {run.stderr}", run.returncode == 1 and b"hostile.data" in run.stderr)
    expect("hostile spoils others", json.loads(run.stdout)["added"] >= len(paths))


def check_may_overlap(t):
    """Without machine and boot, host name and wall clock must do: a message reports the doubt."""
    named = t.recording("named", "host=94")[0]
    one, again, later, other = (t.recording(n, "nameless=1", *k)[0] for n, k in (
        ("one", ["host=94"]), ("again", ["host=94", "seed=7"]), ("later", ["host=94", "ahead=3600"]),
        ("other", ["host=95"])))
    each = {p: t.merge("--tables", "types", p)["total_ns"] for p in (named, one, again, later, other)}
    for paths, says in (((one, again), [f"{again}: may overlap"]), ((named, one), [f"{one}: may overlap"]),
                        ((one, named), [f"{named}: may overlap"]), ((one, later), []), ((one, other), []),
                        ((one, again, later, other), [f"and {one} has its host name"])):
        got = t.merge("--tables", "types", *paths, says=says)
        expect(f"{paths}: {got['may_overlap']} may overlap", got["may_overlap"] == len(says))
        expect(f"{paths}: not all are added", got["total_ns"] == sum(each[p] for p in paths) and not got["overlap"])
    link = os.path.join(t.folder, "link.data")
    os.symlink(one, link)
    got = t.merge("--tables", "types", one, link, later, status=1, says=["is the same file: it is left out"])
    expect("one file is read by two names", (got["overlap"], got["may_overlap"], got["added"]) == (1, 0, 2))
    expect("one file counts twice", got["total_ns"] == each[one] + each[later])
    text = t.run("merge", "--tables", "types", one, again, says=["waits may count twice"])
    expect("the header does not doubt",
           "# recordings that may overlap with another one, so that waits may count twice: 1" in text)


def check_clock_set(t):
    """Of one boot the session clock decides, whatever hour the clock of the wall was set to meanwhile."""
    early, ahead = t.recording("early", "host=96")[0], t.recording("ahead", "host=96", "ahead=3600", "seed=3")[0]
    got = t.merge("--tables", "types", early, ahead, status=1, says=["it is left out"])
    expect("a clock that was set hides an overlap", (got["overlap"], got["may_overlap"], got["added"]) == (1, 0, 1))
    after = t.recording("after", "host=96", "start=100000000000", "ahead=3600")[0]
    got = t.merge("--tables", "types", early, after)
    expect("a clock that was set makes an overlap", (got["overlap"], got["clock_apart"], got["added"]) == (0, 0, 2))


def check_odd(t):
    path = t.recording("odd", "host=93", "odd=1")[0]
    rows = t.merge("--tables", "tasks", path)["tables"]["tasks"]["rows"]
    expect("odd names", len(rows) == 40 and all(r["comm"].startswith('"\n\ufffd\\\t') for r in rows))
    expect("odd names in text", "\n\t" not in t.run("merge", "--tables", "tasks", path))


def main():
    args = [os.path.abspath(a) for a in sys.argv[1:]]
    with tempfile.TemporaryDirectory() as folder:
        t = Test(*args, folder)
        made = [t.recording(f"m{i}", f"host={i}", f"kernel={i % 3}", f"seed={i}") for i in range(1, 9)]
        paths, truths = [m[0] for m in made], [m[1] for m in made]
        all_of = check_truth(t, paths, truths)
        check_parts(all_of)
        check_rows(t, paths, all_of)
        check_groups(t, paths, truths)
        check_formats(t, paths)
        check_bad(t, paths)
        check_may_overlap(t)
        check_clock_set(t)
        check_odd(t)
    print("\n".join(str(w)[:400] for w in wrong[:20]))
    sys.exit(bool(wrong))


main()
