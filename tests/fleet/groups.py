#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Two groups of recordings of synthetic machines are compared: figures are those of a merge of each group, chance is
what all arrangements of the recordings say, and a call chain that was made to wait longer is found among those that
were not; what is wrong with a recording is named and counted, and the others are done.
Called as: groups.py KONTEND SYNTHETIC"""
import csv
import io
import itertools
import json
import os
import sys
import tempfile

import synthetics
from synthetics import expect, wrong

EACH, WORSE = 5, 3


def near(a, b):
    return abs(a - b) <= max(abs(a), abs(b)) * 1e-6 + 0.01


class Test(synthetics.Test):
    def merged(self, *files):
        """By function: its row; and how long was measured."""
        m = json.loads(self.run("merge", "-j", "--tables", "callers", *files))
        return {r["caller"]: r for r in m["tables"]["callers"]["rows"]}, m["measured_ns"]


def chance(a, b):
    """Of all ways to choose as many, those as far from the middle or farther. There are no equal values."""
    ranks = {v: i for i, v in enumerate(sorted(a + b))}
    middle = len(a) * (len(a) + len(b) - 1) / 2
    far = abs(sum(ranks[v] for v in a) - middle)
    ways = [abs(sum(c) - middle) >= far - 1e-9 for c in itertools.combinations(range(len(a) + len(b)), len(a))]
    return sum(ways) / len(ways)


def check_figures(t, before, after):
    said = json.loads(t.run("diff", "-j", "--by", "caller", *before, "--", *after))
    expect("schema", said["schema"] == "kontend.compared/1" and list(said["tables"]) == ["callers"])
    expect("counts", [said[s]["added"] for s in ("before", "after")] == [EACH, EACH])
    rows = said["tables"]["callers"]["rows"]
    expect("order", [abs(r["delta"]) for r in rows] == sorted((abs(r["delta"]) for r in rows), reverse=True))
    sides = {"a": t.merged(*before), "b": t.merged(*after)}
    each = {"a": [t.merged(f) for f in before], "b": [t.merged(f) for f in after]}
    expect("rows", {r["caller"] for r in rows} == set(sides["a"][0]) | set(sides["b"][0]))
    for row in rows:
        seen = {}
        for side, (merged, measured) in sides.items():
            of, name = merged[row["caller"]], row["caller"]
            expect(f"{name} {side}", near(row[side], of["total_ns"] * 1e9 / measured))
            expect(f"{name} {side} cont", near(row[side + "_cont_per_s"], of["contended"] * 1e9 / measured))
            for member in ("avg_ns", "p99_ns", "max_ns"):
                expect(f"{name} {side} {member}", row[f"{side}_{member}"] == of[member])
            seen[side] = [m[name]["total_ns"] * 1e9 / ns if name in m else 0 for m, ns in each[side]]
            expect(f"{name} {side} in", row[side + "_in"] == sum(v > 0 for v in seen[side]))
            expect(f"{name} {side} least", near(row[side + "_least"], min(seen[side])))
            expect(f"{name} {side} most", near(row[side + "_most"], max(seen[side])))
        expect(f"{row['caller']} delta", near(row["delta"], row["b"] - row["a"]))
        p = chance(seen["a"], seen["b"])
        expect(f"{row['caller']} chance {row['chance_pct']}, not {100 * p}", abs(row["chance_pct"] - 100 * p) < 0.001)
        change = "unsure" if p >= 0.05 else "more" if row["b"] > row["a"] else "less"
        expect(f"{row['caller']} change", row["change"] == change)
    worse = rows[0]
    expect(f"what was made worse: {worse}", worse["caller"] == f"call_{WORSE - 1}" and worse["change"] == "more")
    return rows


def check_forms(t, before, after, rows):
    text = t.run("diff", "--by", "caller", "-n", "3", *before, "--", *after)
    expect(f"text: {text}", f"after (B): {EACH} of {EACH} recordings, machines {EACH}" in text)
    expect(f"three rows: {text}", "callers, 3 of 10 rows" in text)
    lines = list(csv.DictReader(io.StringIO(t.run("diff", "--format", "csv", "--by", "caller", *before, "--", *after))))
    expect("csv", [(x["caller"], float(x["chance_pct"])) for x in lines] ==
           [(r["caller"], r["chance_pct"]) for r in rows])
    all_tables = json.loads(t.run("diff", "-j", *before, "--", *after))["tables"]
    expect(f"tables: {list(all_tables)}", list(all_tables) == ["locks", "callers", "types", "tasks", "hot", "slots",
                                                               "mmap", "uprobes"])
    few = json.loads(t.run("diff", "-j", "--by", "type", *before[:3], "--", *after[:4]))["tables"]["types"]["rows"]
    expect(f"few: {few}", [r["change"] for r in few] == ["few"])
    same = json.loads(t.run("diff", "-j", "--by", "caller", "--caller", "call_2", *before, "--", *after))
    expect("only", [r["caller"] for r in same["tables"]["callers"]["rows"]] == ["call_2"])


def check_chains(t, before, after, rows):
    """The call chains of both groups as one graph: each side has what the rows have, A in the time of B."""
    lines = [line.rsplit(" ", 2) for line in t.run("diff", "--format", "folded", *before, "--", *after).splitlines()]
    _, measured = t.merged(*after)
    for at, side in ((1, "a"), (2, "b")):
        total = sum(int(line[at]) for line in lines)
        wanted = sum(r[side] for r in rows) * measured / 1e9
        expect(f"folded {side}: {total}, not {wanted}", abs(total - wanted) < 1e-6 * wanted + len(lines))
    svg = t.run("diff", "--format", "flamegraph", *before, "--", *after)
    expect("flame graph", svg.startswith("<?xml") and ">more in B<" in svg)


def check_faults(t, before, after):
    cut = t.recording("cut", "host=60", "day=2")[0]
    with open(cut, "r+b") as f:
        f.truncate(os.path.getsize(cut) // 2)
    junk = os.path.join(t.folder, "junk.data")
    with open(junk, "wb") as f:
        f.write(b"PERFILE2" + bytes(range(256)) * 4)
    said = json.loads(t.run("diff", "-j", "--by", "type", *before, junk, "/nonexistent.data", "--", *after, cut,
                            before[0], after[1], status=1,
                            says=("junk.data", "/nonexistent.data", "cut.data: it ends early",
                                  f"{before[0]}: {before[0]} is the same file",
                                  f"{after[1]}: {after[1]} is the same file")))
    expect("before", [said["before"][k] for k in ("given", "added", "not_read", "overlap")] == [EACH + 2, EACH, 2, 0])
    expect("after", [said["after"][k] for k in ("given", "added", "cut_off", "overlap")] == [EACH + 3, EACH + 1, 1, 2])
    t.run("diff", junk, "--", *after, status=1, says=("junk.data", "None of the recordings before '--'"))
    for args, words in ((("--sort", "delta"), "--sort is for two recordings"),
                        (("--by", "cpu"), "two groups are compared by lock"),
                        (("--by", "lock", "--tables", "locks"), "--by and --tables exclude each other"),
                        (("--tables", "locks,cpus"), "There is no table 'cpus'"),
                        (("--format", "csv", "--tables", "locks,types"), "CSV is of one table")):
        t.run("diff", *args, *before, "--", *after, status=129, says=(words,))
    t.run("diff", *before, "--", *after, "--json", status=129, says=("'--json' follows '--'",))
    t.run("diff", *before, "--", status=129, says=("No recordings after '--'",))
    t.run("diff", "--", *after, status=129, says=("No recordings before '--'",))
    t.run("diff", *before, status=129, says=("is a third recording: put '--' between",))
    # Two recordings by tables are two groups of one.
    two, groups = (t.run("diff", "--tables", "locks", *files) for files in (before[:2], (before[0], "--", before[1])))
    expect("two by tables", two == groups and "few" in two)
    t.run("diff", "--tables", "locks", "--sort", "delta", *before[:2], status=129,
          says=("--sort does not go with --tables",))
    t.run("diff", "-e", "cycles", *before[:2], status=129, says=("give --tables hot, too",))


def main():
    with tempfile.TemporaryDirectory() as folder:
        t = Test(sys.argv[1], sys.argv[2], folder)
        before = [t.recording(f"a{i}", f"seed={i}", f"host={i}", "day=1")[0] for i in range(1, EACH + 1)]
        after = [t.recording(f"b{i}", f"seed={10 + i}", f"host={i}", "day=2", f"worse={WORSE}")[0]
                 for i in range(1, EACH + 1)]
        rows = check_figures(t, before, after)
        check_forms(t, before, after, rows)
        check_chains(t, before, after, rows)
        check_faults(t, before, after)
    for what in wrong:
        print("FAIL", what)
    print(f"{len(rows)} rows compared")
    sys.exit(bool(wrong))


main()
