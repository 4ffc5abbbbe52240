#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The view of blocked tasks, against some forty tasks that cannot run, each because of something else:
cause, how long, and because of which task. All that /proc shows in state D is there.

    test-blocked.py KONTEND"""
import json
import os
import signal
import subprocess
import sys
import time

import causes
from checks import check, failed
from namespaces import main

LOOKS = 5  # for a look that sees tasks asleep that sleep again and again


def in_d():
    """Threads in state D."""
    found = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            tids = os.listdir(f"/proc/{pid}/task")
        except OSError:
            continue  # it has ended
        found.update(int(t) for t in tids if causes.state(t) == "D")
    return found


def look(kontend):
    """The view, when it was asked for, and what was in state D before and after."""
    begin = time.monotonic_ns()
    before = in_d()
    p = subprocess.run([kontend, "report", "-q", "--view", "blocked", "--by", "task", "--format", "json",
                        "--duration", "1s"], capture_output=True, text=True)
    after = in_d()
    if p.returncode:
        raise AssertionError(f"report: {p.stderr.strip()}")
    return json.loads(p.stdout)["views"]["blocked"], begin, before & after


def compare_task(t, rows, begin):
    mine = [r for r in rows if r["tid"] == t.tid]
    if not check(len(mine) == 1, f"{t.name}: {len(mine)} rows"):
        return
    r, now = mine[0], time.monotonic_ns()
    asleep = r["longest_now_ns"] or 0
    print(f"{t.name} {t.tid} {r['task_state']}: {r['cause']}, {asleep / 1e9:.3f} s, because of "
          f"{r['because_of']}, in {r['sleeps_in']}")
    if t.device:
        check(r["device"] == t.device, f"{t.name}: device {r['device']}, not {t.device}")
    words = t.cause if not r["device"] else f"{t.cause} {r['device']}"
    check(r["cause"] in (t.cause, words), f"{t.name}: '{r['cause']}', not '{t.cause}'")
    check(r["comm"] == t.name, f"{t.name}: it has the name '{r['comm']}'")
    check(t.because in (r["because_of"] or ""),
          f"{t.name}: because of '{r['because_of']}', not '{t.because}'")
    check(asleep <= now - t.began, f"{t.name}: asleep before it began")
    if t.steady:
        check(r["task_state"] in t.states, f"{t.name}: in state {r['task_state']}")
        check(asleep >= begin - t.settled, f"{t.name}: asleep for {asleep} ns of at least "
              f"{begin - t.settled}")


def compare(kontend, c):
    seen = {}
    for n in range(LOOKS):
        view, begin, stable = look(kontend)
        tids = {r["tid"] for r in view["rows"]}
        for t in c.tasks + c.others:
            if t.tid in tids or (t.steady and not n):
                seen.setdefault(t, (view["rows"], begin))
        compare_sums(view, stable, {t.tid for t in c.tasks if t.steady})
        if len(seen) == len(c.tasks + c.others):
            break
    for t in c.tasks + c.others:
        if check(t in seen, f"{t.name}: never there"):
            compare_task(t, *seen[t])


def compare_sums(view, stable, steady):
    """Tasks that were in state D before and after may have run in between, but not steady ones."""
    rows = {r["tid"]: r for r in view["rows"]}
    d_rows = {t for t, r in rows.items() if r["task_state"] == "D"}
    print(f"{len(stable)} tasks in state D before and after, {len(d_rows)} in the view; "
          f"{view['in_d']} counted")
    check(view["known"], f"not known: {view.get('reason')}")
    check(view["total_rows"] == len(rows), f"{view['total_rows']} rows, {len(rows)} tasks")
    check(stable & steady <= d_rows, f"in state D, but not there: {stable & steady - d_rows}")
    check(len(stable & steady) <= view["in_d"] == len(d_rows),
          f"{view['in_d']} in state D, {len(d_rows)} rows")


def end(*_):
    raise AssertionError("ended by a signal")


def run():
    signal.signal(signal.SIGTERM, end)
    c = causes.blocked()
    try:
        compare(sys.argv[1], c)
    finally:
        c.end()
    return failed() != 0


main(run)
