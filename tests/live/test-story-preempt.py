#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A holder that is kept off its CPU while another task waits for it: how long, as both say and as
kontend says."""
import os
import sys
import tempfile

from stories import (NEAR, Story, between, check, compare_blame, compare_both, done, rows, skip,
                     total)

kontend, program = sys.argv[1:3]
ROUNDS, BURST_MS, SIZE_MB = 5, 50, 128
LONG = ("--min-wait", "1ms")  # others are not told of


def bounds(rounds):
    """How long F waited: until it sees that E does not run it may spin, which is in no event."""
    return (sum(r["hold_to"] - r["hog_from"] for r in rounds),
            sum(r["wait_to"] - r["wait_from"] for r in rounds))


def compare(when, told, views):
    rounds = told.all("round")
    check(len(rounds) == ROUNDS, "%s: %d rounds" % (when, len(rounds)))
    for r in rounds:
        check(r["runnable"] >= BURST_MS * 1000000, "%s: E was kept off: %s" % (when, r))
        check(r["hog_from"] >= r["wait_from"], "%s: F came too late: %s" % (when, r))
    e, f = rounds[0]["holder"], rounds[0]["waiter"]
    least, most = bounds(rounds)
    waited = total(views["locks"], tid=f, kind="rwsem:W")
    between("%s: F waited" % when, waited, least, most, NEAR)
    held = rows(views["blame"], tid=e, held_kind="rwsem:W")
    if check(len(held) == 1, "%s: what E held: %s" % (when, held)):
        check(held[0]["held"] >= total(views["locks"], "contended", tid=f, kind="rwsem:W"),
              "%s: held %d times" % (when, held[0]["held"]))
        between("%s: E held while F waited" % when, held[0]["held_total_ns"], least, most, NEAR)


def compare_root(when, told, views):
    """At the latest from when E was kept off its CPU F waited for it."""
    of = told.all("round")
    # F may have to wait for a CPU when E has let go, which E is not known to have done.
    late = sum(max(r["wait_to"] - r["hold_to"], 0) for r in of)
    did = {name: (sum(max(r[word] - (r["hog_from"] - r["hold_from"]), 0) for r in of),
                  sum(r[word] for r in of) + late)
           for name, word in (("running", "ran"), ("runnable", "runnable"))}
    compare_blame(when, views["blame"], of[0]["holder"], "rwsem:W", bounds(of), did)


if os.geteuid() != 0:
    skip("needs root")
with tempfile.TemporaryDirectory(prefix="kontend-story-") as d:
    story = Story(kontend, d, program, ROUNDS, BURST_MS, SIZE_MB)
    compare_both(story, compare, compare_root, LONG)
done()
