#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Files of an earlier release. A recording that it has made has the tables that it printed of it: all its
columns, in their order, and for each of its rows one with equal values, but for what `differs()` has. New
columns may be between them. A configuration with all its settings is accepted by every verb without a word, and
counts.

    earlier.py KONTEND RECORDING FOLDER VERSION [--write]

In FOLDER: VERSION.conf, and VERSION.tables, which has "# VIEW KEY" and what the release's `report --view VIEW --by KEY
--format csv -n 40` printed, table by table. --write: writes that, with its KONTEND."""
import csv
import io
import os
import re
import subprocess
import sys
import tempfile

kontend, recording = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
files = os.path.join(os.path.abspath(sys.argv[3]), sys.argv[4])
tables, conf = files + ".tables", files + ".conf"
# Columns by which a row is known. Views about holders (chains, held, blame, did) have other figures in each
# release that finds more of them: CHANGELOG.md has these changes.
VIEWS = {
    "overview": ("key",), "locks lock": ("lock", "kind"), "locks type": ("kind",), "locks cpu": ("cpu",),
    "waiters": ("tid", "lock", "kind", "ended_ns", "since_ns", "waited_ns"), "queues": ("lock",), "mmap": ("pid", "mode"),
    "slots": ("cpu", "type"), "holders": ("kind", "pid", "fd", "addr", "cpu", "target_tid", "id"), "creations": ("pid",),
    "contexts": ("context", "cpu", "tid", "pid"), "events": ("event", "id", "cpu", "fd", "owner_pid", "pid"),
    "rotation": ("cpu", "pmu"), "uprobes": ("probe", "return", "owner_pid", "pid"), "xol": ("pid",),
    "hot": ("object", "symbol", "group"), "hist": ("lower_ns",)}
IN_FLIGHT = ("total_ns", "wait_ns_per_s", "wait_pct", "avg_ns", "p50_ns", "p90_ns", "p99_ns", "max_ns", "min_ns")
bad = 0


def complain(text):
    global bad
    bad = 1
    print(text)


def run(*words, cwd=None):
    return subprocess.run([kontend, *words], capture_output=True, text=True, cwd=cwd, stdin=subprocess.DEVNULL,
                          check=False)


def table(what, rows="0"):
    """Of a view, or of locks by a key."""
    view, *by = what.split()
    p = run("report", "-q", "--no-config", "-i", recording, "--view", view, *(w for k in by for w in ("--by", k)),
            "--format", "csv", "-n", rows)
    if p.returncode:
        complain(f"{what}: exit {p.returncode}: {p.stderr}")
    return p.stdout


def write():
    with open(tables, "w", encoding="utf-8") as f:
        for what in VIEWS:
            f.write(f"# {what}\n{table(what, '40')}")


def differs(what, column, old, new):
    """Is that value another one on purpose?"""
    a, b = old[column], new[column]
    if a == b:
        return False
    known = not a  # what was not known before
    named = "name" in column and "\u2026" in a or column == "object" and "\u2026" in old["name"]
    more = what.startswith("locks") and column in IN_FLIGHT and new["waiting"] not in ("", "0")  # waits in flight count
    text = column == "note" or what == "overview" and not re.fullmatch(r"[0-9.]*", a)
    quoted = b == "'" + a  # no formula
    counted = what == "queues" and column == "handed" and int(b) > int(a)  # before two tasks waited, too
    return not (known or named or more or text or quoted or counted)


def compare(what, old, new):
    lost = [c for c in old.fieldnames if c not in new.fieldnames]
    if lost:
        complain(f"{what}: no column {', '.join(lost)}")
        return
    if [c for c in new.fieldnames if c in old.fieldnames] != list(old.fieldnames):
        complain(f"{what}: the columns have another order")
    keys = [k for k in VIEWS[what] if k in old.fieldnames]
    rows = {}
    for r in new:
        rows.setdefault(tuple(r[k] for k in keys), []).append(r)
    for r in old:
        same = rows.get(tuple(r[k] for k in keys))
        if not same:
            complain(f"{what}: no row {[r[k] for k in keys]}")
            continue
        now = same.pop(0)
        for c in old.fieldnames:
            if differs(what, c, r, now):
                complain(f"{what}, {[r[k] for k in keys]}, {c}: '{now[c]}', not '{r[c]}'")


def check_tables():
    with open(tables, encoding="utf-8") as f:
        parts = re.split(r"^# (.+)\n", f.read(), flags=re.M)[1:]
    for what, text in zip(parts[::2], parts[1::2]):
        compare(what, csv.DictReader(io.StringIO(text)), csv.DictReader(io.StringIO(table(what))))
    if sorted(parts[::2]) != sorted(VIEWS):
        complain(f"tables of {', '.join(parts[::2])} only")


def check_configuration():
    verbs = (("report", "-i", recording), ("script", "-i", recording), ("export", "-i", recording, "--format", "folded"),
             ("diff", recording, recording), ("merge", recording), ("screenshot", "-i", recording), ("doctor",))
    for words in verbs:
        p = run(*words, "--config", conf)
        if p.returncode or "config" in p.stderr or conf in p.stderr:
            complain(f"{words[0]} --config: exit {p.returncode}: {p.stderr}")
    p = run("report", "-i", recording, "--config", conf, "--format", "csv")
    if len(p.stdout.splitlines()) != 1 + 5 or not p.stdout.splitlines()[0].count("caller"):
        complain(f"rows and by of the configuration do not count: {p.stdout}")
    p = run("screenshot", "-i", recording, "--config", conf)
    if not p.stdout.isascii():
        complain(f"ascii of the configuration does not count: {p.stdout}")
    check_recorder()


def check_recorder():
    """Without the right to measure it fails for that reason alone."""
    with tempfile.TemporaryDirectory(prefix="kontend-earlier-") as folder:
        os.mkdir(os.path.join(folder, "earlier"))
        p = run("record", "--config", conf, "--duration", "100ms", cwd=folder)
        if p.returncode not in (0, 1) or conf in p.stderr:
            complain(f"record --config: exit {p.returncode}: {p.stderr}")


if sys.argv[5:] == ["--write"]:
    write()
else:
    check_tables()
    check_configuration()
sys.exit(bad)
