#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A writer that readers of smaps keep from its own mmap_lock: how often and how long it waited, as
it says and as kontend says."""
import os
import sys
import tempfile

from stories import NEAR, Story, between, check, compare_sum, done, rows, skip

kontend, program = sys.argv[1:3]
WRITES, READERS, SIZE_MB = 30, 4, 512
LONG_NS = 1000000  # shorter waits are not told of


def compare(when, told, views):
    writes, readers = told.all("write"), told.all("reads")
    check(WRITES <= len(writes) <= WRITES + 1, "%s: %d writes waited" % (when, len(writes)))
    check(len(readers) == READERS and all(r["count"] for r in readers), "%s: readers" % when)
    found = rows(views["locks"], tid=told.one("writes")["tid"], kind="rwsem:W")
    if not check(len(found) == 1, "%s: rows of the writer: %s" % (when, found)):
        return
    # A wait that is reported began no later than the task slept, and was over before the call was back.
    most, least = [w["to"] - w["from"] for w in writes], [w["asleep"] for w in writes]
    sure = sum(ns > LONG_NS for ns in least)
    print("%s: it waited %d times, by its own account %d to %d times; passed by %d reads" % (
        when, found[0]["contended"], sure, len(most), sum(r["passed"] for r in readers)))
    check(sure <= found[0]["contended"] <= len(most), "%s: how often" % when)
    between("%s: in all" % when, found[0]["total_ns"], sum(n for n in least if n > LONG_NS),
            sum(most), NEAR)
    between("%s: the longest" % when, found[0]["max_ns"], max(least), max(most), NEAR)
    held = [r for r in views["blame"]["rows"] if r["held"] and r["tid"] in {r["tid"] for r in readers}]
    check({r["held_kind"] for r in held} == {"rwsem:R"}, "%s: what the readers held: %s" % (when, held))


if os.geteuid() != 0:
    skip("needs root")
with tempfile.TemporaryDirectory(prefix="kontend-story-") as d:
    story = Story(kontend, d, program, WRITES, READERS, SIZE_MB)
    compare("live", *story.live("locks,held", "--by", "task", "--min-wait", "1ms"))
    told = story.record()
    compare("recorded", told, story.replay("locks,held", "--by", "task", "--min-wait", "1ms"))
    blame = story.replay("blame")["blame"]
    compare_sum("recorded", blame)
    # A reader that comes again while the writer waits has released the lock.
    check(not any(r["circle_ns"] for r in blame["rows"]), "recorded: a circle")
done()
