#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""test-short.py KONTEND LOAD...

Waits that the kernel sums up, against the whole stream of the same run: several kontends measure one
load, which stands still until all of them do. One gets every wait, one those over a threshold, one
records these, and one is throttled to next to nothing. Each has every wait, by type and caller:
reported, summed up, or, where it is throttled, counted. Durations are taken at different places of
the same tracepoint, with the other programs between them, so they differ by the time of these.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile

from checks import check, done, failed, skip

kontend, load = sys.argv[1], sys.argv[2:]
THRESHOLD = "20us"
LOOKED_AT = "pcpu-sem:W"
TRIES = 3  # four of us measure beside the load: one that gets no CPU for long loses records
NOISE_NS = 200000  # of a wait: three programs, and whatever interrupts them; but for a CPU that the host takes away
SPIN_NOISE_NS = 2000  # of a wait, on average: 200 ns were seen


class Observer:
    """A kontend, once it measures."""

    def __init__(self, verb, *args):
        self.p = subprocess.Popen([kontend, verb, "-v", "--user-locks", "off", *args], text=True, stderr=subprocess.PIPE,
                                  stdout=subprocess.DEVNULL)
        said = ""
        for line in self.p.stderr:
            said += line
            if "measuring" in line or "recording" in line:
                return
        if "takes BPF" in said or "BTF" in said:
            skip(said)
        print("FAIL", verb, args, said)
        sys.exit(1)

    def end(self):
        self.p.send_signal(signal.SIGINT)
        said = self.p.stderr.read()
        status = self.p.wait()
        check(status == 0, "%s: status %d: %s" % (self.p.args, status, said))


def read(path):
    with open(path) as f:
        return json.load(f)


def by_caller(report):
    """Without writers of percpu-rwsems: most of their waits are known from snapshots, which differ."""
    return {(r["kind"], r["caller"]): (r["contended"], r["total_ns"])
            for r in report["views"]["locks"]["rows"] if r["contended"] and r["kind"] != LOOKED_AT}


def by_type(report):
    n = {}
    for (kind, _), (contended, _) in by_caller(report).items():
        n[kind] = n.get(kind, 0) + contended
    return n


def whole(name, report):
    """False: records were lost, and nothing can be compared."""
    s = report["source"]
    for key in ("unmatched", "late", "bad", "doubtful"):
        check(s[key] == 0, "%s: %s %d" % (name, key, s[key]))
    return not s["lost"] and not s["dropped"]


def spun(report):
    """Of mutexes: waits, and how long they spun."""
    rows = [r for r in report["views"]["locks"]["rows"] if r["kind"] == "mutex"]
    return sum(r["contended"] for r in rows), sum(r["spin_ns"] or 0 for r in rows)


def compare_spins(name, full, other):
    (n, ns), (_, other_ns) = spun(full), spun(other)
    print("%s: %d waits for mutexes spun for %d ns, and %d" % (name, n, ns, other_ns))
    check(abs(ns - other_ns) <= 2 * NOISE_NS + n * SPIN_NOISE_NS, "%s: mutexes spun for %d ns, not %d" %
          (name, other_ns, ns))


def compare(name, full, other):
    a, b = by_caller(full), by_caller(other)
    for key in sorted(set(a) | set(b)):
        (n, ns), (m, ms) = a.get(key, (0, 0)), b.get(key, (0, 0))
        check(n == m, "%s: %s: %d waits, of which it knows %d" % (name, key, n, m))
    compare_spins(name, full, other)
    short = other["source"]["short"]
    print("%s: %d waits, %d of them only in sums: %d ns; %d rows" % (
        name, sum(n for n, _ in b.values()), short["waits"], short["total_ns"], len(b)))
    check(short["level"] == "threshold" and short["threshold_ns"] == 20000, name + ": threshold")
    check(0 < short["waits"] < sum(n for n, _ in b.values()), "%s: %s" % (name, short))
    check(other["source"]["events"] < full["source"]["events"], name + ": every wait has its events")


def times_off(found):
    """What waits lasted too long for one of the observers, as sentences."""
    full = by_caller(found["full"])
    return ["%s: %s: %d ns, and %d" % (name, key, full[key][1], ns) for name in ("short", "recorded")
            for key, (n, ns) in by_caller(found[name]).items() if key in full and abs(full[key][1] - ns) > n * NOISE_NS]


def counted(full, governed):
    short = governed["source"]["short"]
    a, b = by_type(full), by_type(governed)
    for t in short["types"]:
        if t["kind"] == LOOKED_AT:
            continue
        b[t["kind"]] = b.get(t["kind"], 0) + t["counted_only"]
    check(a == b, "governed: %s, and %s" % (a, b))
    print("governed: level %s after %d changes, %d summed up, %d only counted" % (
        short["level"], short["level_changes"], short["waits"], short["counted_only"]))
    check(abs(short["max_overhead_pct"] - 0.01) < 0.001, "governed: to what?")


def measured(d):
    """The whole stream and what the others have, all of the same run; None: records were lost."""
    out = {name: os.path.join(d, name) for name in ("full", "short", "data", "governed")}
    child = subprocess.Popen(["sh", "-c", 'kill -STOP $$; exec "$@"', "sh", *load],
                             stdout=subprocess.DEVNULL)
    os.waitid(os.P_PID, child.pid, os.WSTOPPED)
    try:
        views = ("--no-config", "-p", str(child.pid), "--view", "locks", "--by", "caller", "-n",
                 "0", "--format", "json", "--no-follow", "-m", "4096", "-o")
        observers = [
            Observer("report", *views, out["full"]),
            Observer("report", *views, out["short"], "--min-wait", THRESHOLD),
            Observer("record", "--no-config", "-p", str(child.pid), "--no-follow", "-m", "4096",
                     "-o", out["data"], "--min-wait", THRESHOLD),
            Observer("report", *views, out["governed"], "--max-overhead", "0.01%"),
        ]
    finally:
        child.send_signal(signal.SIGCONT)
    child.wait()
    for o in observers:
        o.end()
    replayed = subprocess.run(
        [kontend, "report", "-i", out["data"], "--view", "locks", "--by", "caller", "-n", "0",
         "--format", "json"], capture_output=True, text=True, check=True).stdout
    found = {name: read(out[name]) for name in ("full", "short", "governed")}
    found["recorded"] = json.loads(replayed)
    return found if all([whole(name, report) for name, report in found.items()]) else None


if os.geteuid() != 0:
    skip("needs root")
found = None
for _ in range(TRIES):
    with tempfile.TemporaryDirectory(prefix="kontend-short-") as d:
        found = measured(d)
    off = times_off(found) if found else []
    if (found and not off) or failed():
        break
if not found and not failed():
    skip("records were lost in each of %d runs: nothing can be compared" % TRIES)
if found:
    check(not off, "in each of %d runs other times than the whole stream has, now of %s" % (TRIES, off))
    compare("short", found["full"], found["short"])
    compare("recorded", found["full"], found["recorded"])
    counted(found["full"], found["governed"])
if not failed():
    print("ok")
done()
