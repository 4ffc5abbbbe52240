#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A chain of waits that is made again and again: how long each of its tasks waited and held, and,
in a recording, the chain itself in the midst of each of these times."""
import os
import sys
import tempfile

from stories import Story, between, check, compare_blame, compare_both, done, rows, skip, total

kontend, program = sys.argv[1:3]
ROUNDS, HOLD_MS = 4, 200
LONG = ("--min-wait", "1ms")  # others are not told of


def sums(told):
    """Of each that waits: how long, at least and at most."""
    of = {}
    for w in told.all("wait"):
        least, most = of.get(w["tid"], (0, 0))
        of[w["tid"]] = (least + w["to_least"] - w["from_most"], most + w["to_most"] - w["from_least"])
    return of


def compare(when, told, views):
    holds, waits = told.all("hold"), told.all("wait")
    check(len(holds) == ROUNDS and len(waits) == 3 * ROUNDS, "%s: %s" % (when, told.lines))
    for tid, (least, most) in sums(told).items():
        between("%s: waits of %d" % (when, tid), total(views["locks"], tid=tid), least, most)
    # B is the first to wait for A, and C for B.
    for holder, waiter, kind in ((holds[0]["tid"], "B", "rwsem:W"), (waits[0]["tid"], "C", "mutex")):
        tid = next(w["tid"] for w in waits if w["name"] == waiter)
        held = rows(views["blame"], tid=holder, held_kind=kind)
        if not check(len(held) == 1, "%s: what %d held: %s" % (when, holder, held)):
            continue
        check(held[0]["held"] == ROUNDS, "%s: held %d times" % (when, held[0]["held"]))
        between("%s: %d held while others waited" % (when, holder), held[0]["held_total_ns"],
                *sums(told)[tid])


def compare_root(when, told, views):
    """All of it is because of A, who sleeps."""
    waited = [sum(ns) for ns in zip(*sums(told).values())]
    compare_blame(when, views["blame"], told.all("hold")[0]["tid"], "rwsem:W", waited,
                  {"asleep": waited})


def below(view, row):
    return [r for r in view["rows"] if r["parent"] == row["node"]]


def compare_chain(when, view, told, n):
    """Checks the view while A holds for the nth time."""
    a, (b, c, d) = told.all("hold")[n]["tid"], [w["tid"] for w in told.all("wait")[3 * n:3 * n + 3]]
    roots = [r for r in view["rows"] if r["row"] == "root" and not r["ended"]]
    if not check([r["tid"] for r in roots] == [a], "%s: roots %s" % (when, roots)):
        return
    check(roots[0]["behind"] == 3, "%s: %s behind A" % (when, roots[0]["behind"]))
    at = roots[0]
    for kind, tids in (("rwsem", {b}), ("mutex", {c, d})):
        locks = below(view, at)
        if not check([r["kind"] for r in locks] == [kind], "%s: locks %s" % (when, locks)):
            return
        waits = below(view, locks[0])
        check(sum(r["tasks"] or 1 for r in waits) == len(tids), "%s: waits %s" % (when, waits))
        check({r["tid"] for r in waits} <= tids | {None}, "%s: waits %s" % (when, waits))
        at = waits[0]


def replay_chains(story, told):
    start = story.replay_whole("chains")["source"]["time_from_ns"]
    for n, hold in enumerate(told.all("hold")):
        at = (hold["from"] + (hold["to"] - hold["from"]) // 2 - start) / 1e9
        view = story.replay("chains", "--time", "0,%.6f" % at)["chains"]
        compare_chain("at %.6f s" % at, view, told, n)


if os.geteuid() != 0:
    skip("needs root")
with tempfile.TemporaryDirectory(prefix="kontend-story-") as d:
    story = Story(kontend, d, program, os.path.join(d, "file"), ROUNDS, HOLD_MS)
    told = compare_both(story, compare, compare_root, LONG)
    replay_chains(story, told)
done()
