#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The estimate of the most that a change can gain, against programs whose bottleneck is known: the
share of a lock is the one that the program itself measures, and where that lock is held for half as
long, or hardly at all, no more waiting goes away than the estimate promised."""
import json
import os
import subprocess
import sys
import tempfile

from checks import check, done

kontend, knots = sys.argv[1:3]
SLACK_PCT = 5  # of all waiting: what else runs here keeps threads off their CPUs
HOLD_US = 30000


class Run:
    """One run of the program, and what was measured of that very run."""

    def __init__(self, d, hold_us, extra=()):
        self.hold_us = hold_us
        out = os.path.join(d, "out")
        p = subprocess.run((kontend, "report", "-q", "--view", "blame", "--format", "json", "-o",
                            out, *extra, "--", knots, d, str(hold_us)), capture_output=True, text=True)
        if p.returncode:
            print(p.stderr)
            if "userfaultfd" in p.stderr:
                print("skipped: no userfaultfd for the kernel's faults")
                sys.exit(77)
            check(False, "status %d" % p.returncode)
            sys.exit(1)
        with open(out) as f:
            self.blame = json.load(f)["views"]["blame"]
        self.strongest = self.blame["knots"]["strongest"]
        self.truth = {}
        self.rate = {}
        for line in p.stdout.splitlines():
            name, written, held, rate = line.split()
            self.truth[name] = int(written) - int(held)
            self.rate[name] = float(rate)
        self.waited = sum(self.truth.values())

    def at_most(self, name):
        """The estimate for the threads of that name, in percent of all waiting."""
        return sum(k["at_most_pct"] for k in self.strongest
                   if any(n.startswith(name + "/") for n in k["names"]))

    def tell(self):
        print("held for %d us: %.0f writes/s of alpha; waited %.1f ms, by kontend %.1f ms; alpha "
              "%.1f %%" % (self.hold_us, self.rate["alpha"], self.waited / 1e6,
                           self.blame["waited_ns"] / 1e6, 100 * self.truth["alpha"] / self.waited))
        for k in self.strongest:
            print("  " + k["sentence"])


if os.geteuid() != 0:
    print("skipped: needs root")
    sys.exit(77)
with tempfile.TemporaryDirectory(prefix="kontend-knots-") as d:
    before = Run(d, HOLD_US)
    before.tell()
    share = 100 * before.truth["alpha"] / before.waited
    check(before.blame["known"], "nobody is blamed")
    check(abs(before.blame["waited_ns"] - before.waited) <= before.waited * SLACK_PCT / 100,
          "waited %d ns, by the program's clock %d ns" % (before.blame["waited_ns"], before.waited))
    check(len(before.strongest) >= 2, "%d knots" % len(before.strongest))
    if len(before.strongest) >= 2:
        for k, name in zip(before.strongest, ("alpha", "beta")):
            check(all(n.startswith(name + "/") for n in k["names"]), "%s: %s" % (name, k["names"]))
            check(k["tasks"] == 4 and k["circle"], "%s: %d tasks" % (name, k["tasks"]))
            check(k["kind"] == "rwsem:W" and name in (k["name"] or name), "%s: %s" % (name, k["name"]))
            check(k["sentence"].startswith("at most "), k["sentence"])
    said = before.at_most("alpha")
    check(abs(said - share) <= SLACK_PCT, "%.1f %% said, %.1f %% by the program" % (said, share))
    for part in (2, 20):
        after = Run(d, HOLD_US // part)
        after.tell()
        gain = 100 * (before.waited - after.waited) / before.waited
        by_kontend = 100 * (1 - after.blame["waited_ns"] / before.blame["waited_ns"])
        print("held 1/%d as long: %.1f %% of the waiting went away, by kontend %.1f %%; said were "
              "at most %.1f %%" % (part, gain, by_kontend, said))
        check(gain <= said + SLACK_PCT, "more went away than was said")
        check(by_kontend <= said + SLACK_PCT, "more went away than was said, by kontend")
        # It is no bound if nothing comes near it.
        check(gain >= said * (1 - 1 / part) - 2 * SLACK_PCT, "hardly anything went away")
done()
