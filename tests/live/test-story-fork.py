#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A process with much memory that forks: how long its other threads wait for mmap_lock in their
faults, and how long the one that forks has it, as they say and as kontend says."""
import os
import sys
import tempfile

from stories import (NEAR, Story, between, check, compare_blame, compare_both, done, rows, skip,
                     total)

kontend, program = sys.argv[1:3]
SIZE_MB, THREADS, ROUNDS = 3072, 10, 3
# Holds of which the program reports times. A run queue that it had when it was about to sleep, and
# for which another CPU waited, is a hold of its as well.
MEANT = ("--min-wait", "1ms", "--lock", "rwsem")


def rounds(told):
    """Calls of fork() with the faults that they stalled, if any."""
    return [(f, of) for f, of in ((f, [s for s in told.all("stall") if s["from"] < f["to"] and
                                       s["to"] > f["from"]]) for f in told.all("fork")) if of]


def out_of_sight(f, of):
    """For how long a CPU may have kept both from their clocks when the lock was let go of."""
    return f["runnable"] + max(min(s["to"] for s in of) - f["to"], 0)


def compare(when, told, views):
    forks, stalls = told.all("fork"), told.all("stall")
    check(len(forks) == ROUNDS, "%s: %d forks" % (when, len(forks)))
    # A thread whose timer is late, or that shares the CPU of fork(), does not come to its fault.
    check(len(stalls) >= ROUNDS * THREADS / 2, "%s: %d stalls" % (when, len(stalls)))
    root = forks[0]["tid"]
    tids = {s["tid"] for s in stalls}
    of_fork = rounds(told)
    least = sum(s["to"] - max(s["from"], f["from"]) for f, of in of_fork for s in of)
    most = sum(s["to"] - s["from"] for s in stalls)
    waited = sum(total(views["locks"], tid=t, kind="rwsem:R") for t in tids)
    between("%s: faults that waited for fork()" % when, waited, least, most, NEAR)
    held = rows(views["blame"], tid=root, held_kind="rwsem:W")
    if not check(len(held) == 1, "%s: what %d held: %s" % (when, root, held)):
        return
    # In perf's rings one hold may be seen in two parts; their sum is checked below.
    most_held = len(of_fork) + (when == "recorded")
    check(len(of_fork) <= held[0]["held"] <= most_held and held[0]["held_locks"] == 1,
          "%s: held %d times, of %d locks: %s" % (when, held[0]["held"], held[0]["held_locks"],
                                                  held[0]))
    # From when one of the faults was in its queue, to when the first of them had the lock.
    between("%s: held for fork() while others waited" % when, held[0]["held_total_ns"],
            sum(max(min(s["to"] for s in of) - max([f["from"]] + [s["from"] for s in of]) -
                    out_of_sight(f, of), 0) for f, of in of_fork),
            sum(min(s["to"] for s in of) - max(f["from"], min(s["from"] for s in of))
                for f, of in of_fork), NEAR)


def compare_root(when, told, views):
    """To fork() is charged what was waited until the first of a round's faults had the lock. The
    others may have it by then, too, and wait for a CPU."""
    waited, did = [0, 0], {"running": [0, 0], "runnable": [0, 0]}
    for f, of in rounds(told):
        since, until = max([f["from"]] + [s["from"] for s in of]), min(s["to"] for s in of)
        # It may have been kept off its CPU, and they from their clocks, when it had let go.
        waited[0] += sum(max(until - max(s["from"], f["from"]) -
                             out_of_sight(f, of), 0) for s in of)
        waited[1] += sum(s["to"] - s["from"] for s in of)
        late = max(until - f["to"], 0)  # nobody who waited had a CPU
        apart = f["to"] - f["from"] - (until - since)  # not all of them waited
        for name, word in (("running", "ran"), ("runnable", "runnable")):
            did[name][0] += len(of) * max(f[word] - apart, 0)
            did[name][1] += len(of) * (f[word] + late)
    root = told.all("fork")[0]["tid"]
    if when == "live":
        compare_blame(when, views["blame"], root, "rwsem:W", waited, did)
        return
    # On a machine without an idle CPU a return from being kept off may be missing in perf's rings:
    # what it ran and what it was runnable are one figure there.
    compare_blame(when, views["blame"], root, "rwsem:W", waited, {})
    ns = {w: sum(r[w + "_ns"] for r in rows(views["blame"], row="task", tid=root, kind="rwsem:W"))
          for w in ("running", "runnable", "not_followed")}
    room = NEAR * waited[1]
    between("recorded: while it ran, or was kept off", ns["running"] + ns["runnable"],
            max(did["running"][0] + did["runnable"][0] - ns["not_followed"] - room, 0),
            did["running"][1] + did["runnable"][1] + room)


if os.geteuid() != 0:
    skip("needs root")
with tempfile.TemporaryDirectory(prefix="kontend-story-") as d:
    story = Story(kontend, d, program, SIZE_MB, THREADS, ROUNDS)
    compare_both(story, compare, compare_root, MEANT)
done()
