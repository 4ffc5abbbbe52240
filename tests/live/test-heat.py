#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The heat map of real waits: live it has all that the other tables count; of a recording it is what its events say,
one by one, and the same in report, export and on the screen."""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

from checks import check, done, skip

kontend = sys.argv[1]


def run(*args):
    p = subprocess.run([kontend, *args], capture_output=True, text=True, check=False)
    if p.returncode:
        if "Run as root" in p.stderr or "Permission denied" in p.stderr:
            skip(p.stderr.strip().splitlines()[-1])
        print(p.stderr)
        check(False, "%s: status %d" % (args[0], p.returncode))
        done()
    return p.stdout


def report(*args):
    return json.loads(run("report", "-q", "--no-config", "-j", "--view", "overview,heat", *args))


def check_sums(when, r):
    heat, overview = r["views"]["heat"], r["views"]["overview"]
    rows = heat["rows"]
    check(heat["known"] and heat["missing_waits"] == 0 and heat["kept_from_ns"] is None, "%s: %s" % (when, heat))
    check(heat["waits"] == overview["contended"] and heat["waits"] > 0, "%s: %d waits in the map, %d in all" %
          (when, heat["waits"], overview["contended"]))
    check(heat["wait_ns"] == overview["total_ns"], "%s: %d ns in the map, %d in all" %
          (when, heat["wait_ns"], overview["total_ns"]))
    check(sum(x["contended"] for x in rows) == heat["waits"], "%s: waits of the cells" % when)
    check(sum(x["total_ns"] for x in rows) == heat["wait_ns"], "%s: time of the cells" % when)
    check(heat["columns"] <= 128, "%s: %d columns" % (when, heat["columns"]))
    for x in rows:
        # The last bucket has all that is longer.
        fits = x["from_ns"] * x["contended"] <= x["total_ns"] < max(x["to_ns"], 1 << 60) * max(x["contended"], 1)
        check(fits, "%s: %s" % (when, x))
    return heat


def octave(ns):
    return 0 if ns < 4 else 1 << (ns.bit_length() - 1)


def from_events(file, heat):
    """What ended when, and how long it was, by the lines of the script."""
    cells = collections.Counter()
    for line in run("script", "-q", "--no-config", "-j", "-i", file).splitlines():
        e = json.loads(line)
        if e.get("event") == "end" and e["wait_ns"] is not None and not e["doubtful"] and e["ret"] == 0:
            column = (e["time_ns"] - heat["begin_ns"]) // heat["column_ns"]
            cells[max(0, min(column, heat["columns"] - 1)), octave(e["wait_ns"])] += 1
    return cells


def main():
    check_sums("live", report("-a", "--demo", "--duration", "2"))
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "demo.data")
        # Sums of sleeps for locks of programs have no event for each.
        run("record", "-q", "-a", "--user-locks", "off", "--demo", "--duration", "2", "-o", file)
        heat = check_sums("recording", report("-i", file))
        shown = collections.Counter()
        for x in heat["rows"]:
            if x["contended"]:
                shown[x["offset_ns"] // heat["column_ns"], octave(x["from_ns"])] += x["contended"]
        wanted = from_events(file, heat)
        check(shown == wanted, "cells differ from the events: %s, %s" % (shown - wanted, wanted - shown))
        svg = run("export", "-q", "-i", file, "--format", "heatmap")
        drawn = sum(int(n) for n in re.findall(r"<title>[^<]*: (\d+) waits of", svg))
        check(drawn == heat["waits"], "%d waits are drawn, of %d" % (drawn, heat["waits"]))
        # On the screen at its end, of all time: units round, so three digits are compared.
        screen = run("screenshot", file, "--size", "120x40", "--keys", "wwM", "--format", "text")
        said = re.search(r"by number \[c\]  ([0-9.]+)(k?) waits", screen)
        check(said is not None, "no map on the screen: %s" % screen)
        if said:
            waits = float(said[1]) * (1000 if said[2] else 1)
            check(abs(waits - heat["waits"]) <= 0.01 * heat["waits"], "%s on the screen, of %d" % (said[0], heat["waits"]))
    print("%d waits in %d cells" % (heat["waits"], len(heat["rows"])))
    done()


main()
