#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A writer that readers pass over, against a program that knows how often: live, and in a recording.
The invariants of every queue are checked for all other locks that had waiters meanwhile, too."""
import json
import os
import subprocess
import sys
import tempfile

from checks import check, done

kontend, passed = sys.argv[1:3]


def run(*args):
    p = subprocess.run(args, capture_output=True, text=True)
    for line in p.stderr.splitlines():
        if line.startswith("skipped:"):
            print(line)
            sys.exit(77)
    if p.returncode:
        print(p.stderr)
        check(False, "%s: status %d" % (args[1], p.returncode))
    return p.stdout


def holds_always(when, r):
    what = "%s: %s" % (when, r)
    check(r["passed_most"] <= r["passed"] and r["passed_waits"] <= r["passed"], what)
    check((r["passed_waits"] == 0) == (r["passed"] == 0), what)
    check(r["longest"] >= 2 or r["handed"] == 0, what)
    check(r["convoy_longest_ns"] <= r["convoy_ns"], what)
    check(r["convoy_longest_ns"] > 10e6 if r["convoys"] else r["convoy_ns"] == 0, what)
    check(r["starved_most"] > 16 if r["starved"] else r["starved_most"] == 0, what)
    check(r["hand_p50_ns"] is None or r["hand_p50_ns"] <= r["hand_p99_ns"], what)
    if r["phases"] is not None:
        check(r["phases"] <= r["handed"], what)


def compare(when, text, queues):
    handed, over, worst, tid, longest, readers, least, most = map(int, text.split())
    rows = [r for r in queues["rows"] if r["type"] == "rwsem" and r["worst_tid"] == tid]
    for r in queues["rows"]:
        holds_always(when, r)
    check(len(rows) == 1, "%s: %d rows where %d is the worst" % (when, len(rows), tid))
    for r in rows:
        print("%s: handed %d (%d), passed %d (%d), worst %d (%d), longest %d (%d), convoys %.3f ms, by "
              "its own account %.3f to %.3f ms" % (
                  when, r["handed"], handed, r["passed"], over, r["passed_most"], worst,
                  r["longest"], longest, r["convoy_ns"] / 1e6, least / 1e6, most / 1e6))
        rounds = handed // longest
        check((r["handed"], r["passed"], r["passed_most"]) == (handed, over, worst), "the order")
        check(r["passed_waits"] == rounds, "%d waits were passed over" % r["passed_waits"])
        check(r["longest"] == longest, "at most %d waited" % r["longest"])
        check(r["phases"] == 2 * rounds, "%d runs" % r["phases"])
        check(r["readers_avg"] == readers and r["readers_most"] == readers, "readers of a run")
        check(r["convoys"] == rounds, "%d convoys" % r["convoys"])
        check(least <= r["convoy_ns"] <= most, "how long they were")
        check(r["convoy_now_ns"] == 0 and r["starved"] == 0, "what there was not")


if os.geteuid() != 0:
    print("skipped: needs root")
    sys.exit(77)
with tempfile.TemporaryDirectory(prefix="kontend-queues-") as d:
    path, out = os.path.join(d, "file"), os.path.join(d, "out")
    text = run(kontend, "report", "-q", "--view", "queues", "--format", "json", "-o", out, "--",
               passed, path)
    with open(out) as f:
        compare("live", text, json.load(f)["views"]["queues"])
    text = run(kontend, "record", "-q", "-o", out, "--", passed, path)
    report = run(kontend, "report", "-i", out, "--view", "queues", "--format", "json",
                 "--filter", "type=rwsem passed>0")
    compare("recorded", text, json.loads(report)["views"]["queues"])
done()
