#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""All events of all recordings of cases.py, in every output: numbers of samples against what was
written, and against perf where it is installed and reads the file.

    events.py KONTEND"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../live"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
import cases
from checks import check, done

kontend = sys.argv[1]
# perf 6.1 counts the samples of a group's leader for its members as well. perf 7.3 has no names of simpleperf.
PERF_COUNTS_OTHERWISE = {"group-with-values", "simpleperf-stream"}


def run(*args):
    p = subprocess.run(args, capture_output=True, text=True, check=False)
    return p.returncode, p.stdout, p.stderr


def report(path, *args):
    rc, out, err = run(kontend, "report", "-q", "--no-config", "-i", path, "--format", "json", *args)
    if not check(rc == 0, "%s: report %s: status %d: %s" % (path, args, rc, err)):
        return None
    return json.loads(out)


def perf_samples(path):
    """{name: samples} as perf counts them; None: perf is missing or does not read the file."""
    if not shutil.which("perf"):
        return None
    _, out, _ = run("perf", "report", "--stdio", "-i", path)
    found = re.findall(r"^# Samples: (\d+) +of event '([^']*)'", out, re.M)
    return {name: int(n) for n, name in found} or None


def sampled(j):
    return sum(row["samples"] for row in j["views"]["hot"]["rows"])


def check_events(name, path, truth):
    j = report(path, "--view", "hot", "--rows", "0")
    if not j:
        return
    listed = [{key: e[key] for key in ("name", "samples", "decoded")} for e in j["events"]]
    check(listed == truth["events"], "%s: events %s, written %s" % (name, listed, truth["events"]))
    perf = None if name in PERF_COUNTS_OTHERWISE or truth["damage"] else perf_samples(path)
    if perf:
        mine = {e["name"]: e["samples"] for e in listed if e["samples"]}
        check(perf == mine, "%s: events %s, perf has %s" % (name, mine, perf))
    shown = sum(e["samples"] for e in j["events"] if e["shown"])
    check(sampled(j) == shown, "%s: %d samples in rows, %d of events shown" % (name, sampled(j), shown))
    profile = truth["profile_samples"] > 0
    check((shown > 0) == profile, "%s: %d samples are shown" % (name, shown))
    for number, e in enumerate(truth["events"], 1):
        if not e["samples"] or e["name"].startswith("lock:"):
            continue
        for asked in (str(number), e["name"]):
            one = report(path, "--view", "hot", "--rows", "0", "-e", asked)
            if one:
                check(sampled(one) == e["samples"],
                      "%s: -e %s: %d samples, written %d" % (name, asked, sampled(one), e["samples"]))
    folded = run(kontend, "export", "-q", "--no-config", "-i", path, "--format", "folded", "--weight", "samples")
    total = sum(int(line.rsplit(" ", 1)[1]) for line in folded[1].splitlines())
    check(folded[0] == (0 if profile else 1) and total == shown,
          "%s: export: status %d, %d samples of %d: %s" % (name, folded[0], total, shown, folded[2]))


def check_choice(path):
    """Key V lists the events, and takes one of them."""
    def shot(keys):
        return run(kontend, "screenshot", "-q", "--no-config", "--size", "100x30", "--format", "text", "--view", "hot",
                   "--keys", keys, path)

    rc, out, err = shot("V")
    check(rc == 0 and re.search(r"cycles +-e 1 +11 samples", out) and re.search(r"instructions +-e 2 +29 samples", out),
          "key V: status %d\n%s%s" % (rc, out, err))
    rc, out, err = shot("V i Enter")
    check(rc == 0 and re.search(r"instructions\b.* 29 samples, 11 of other events", out),
          "key V, instructions: status %d\n%s%s" % (rc, out, err))
    both = report(path, "--view", "hot", "-e", "all")["views"]["hot"]["rows"]
    sums = [sum(row[key] for row in both) for key in ("pct", "event1_pct", "event2_pct")]
    check(all(abs(s - 100) < 0.01 for s in sums), "-e all: shares add up to %s" % sums)
    for row in both:
        check(abs(row["pct"] - (row["event1_pct"] + row["event2_pct"]) / 2) < 0.01 and row["event3_pct"] is None,
              "-e all: %s" % row)
    rc, _, err = run(kontend, "report", "-q", "--no-config", "-i", path, "-e", "branches")
    check(rc == 1 and "No event of the recording is 'branches': it has cycles, instructions" in err,
          "-e branches: status %d: %s" % (rc, err))


def check_compared(made):
    """diff and merge count the samples of the events that -e selects."""
    old, new = (made[name][0] for name in ("two-events-by-id", "stream-two-events"))
    for event, before, after in (("cycles", 11, 6), ("2", 29, 19), ("all", 40, 25)):
        for files in ((old, new), (old, "--", new)):
            rc, out, err = run(kontend, "diff", "-q", "--no-config", "-j", "--tables", "hot", "-e", event, *files)
            if not check(rc == 0, "diff -e %s %s: status %d: %s" % (event, files, rc, err)):
                continue
            j = json.loads(out)
            sums = [round(sum(row[side] for row in j["tables"]["hot"]["rows"]) * j[group]["measured_ns"] / 1e9)
                    for side, group in (("a", "before"), ("b", "after"))]
            check(sums == [before, after], "diff -e %s %s: %s samples" % (event, files, sums))
        rc, out, err = run(kontend, "merge", "-q", "--no-config", "-j", "--tables", "hot", "-e", event, old, new)
        n = sum(row["samples"] for row in json.loads(out)["tables"]["hot"]["rows"]) if rc == 0 else None
        check(n == before + after, "merge -e %s: status %d, %s samples: %s" % (event, rc, n, err))
    rc, _, err = run(kontend, "diff", "-q", "--no-config", "--tables", "hot", "-e", "instructions", old, new)
    check(rc == 1 and new + ": No event of the recording is 'instructions': it has cycles, task-clock" in err,
          "diff -e instructions: status %d: %s" % (rc, err))


def check_clean(path):
    """Names from a file are printed without control characters."""
    for args in (("report", "-i", path), ("script", "-i", path), ("screenshot", "--format", "text", path)):
        _, out, err = run(kontend, *args, "--no-config")
        check("\x1b" not in out + err, "%s: a name of the file has control characters: %r" % (args, out + err))
        check(args[0] != "report" or "good" in out, "the name is not shown: %s" % out)


with tempfile.TemporaryDirectory() as folder:
    made = cases.make(folder)
    for case_name, (case_path, case_truth) in made.items():
        if case_truth and case_name not in cases.NOT_READ:
            check_events(case_name, case_path, case_truth)
    check_choice(made["two-events-by-id"][0])
    check_compared(made)
    check_clean(made["simpleperf-lines-of-nonsense"][0])
done()
