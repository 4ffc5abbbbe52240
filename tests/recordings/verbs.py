#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Every verb that reads recordings, over all recordings of cases.py: none crashes or hangs, each ends with the status
that the truth of the recording asks for, and with a reason, and what is written can be read again.

    verbs.py KONTEND"""
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../live"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
import cases
from checks import check, done

kontend = sys.argv[1]
FINE, FAILED, NOTHING = 0, 1, 3  # 3: a recording without lock events, and the verb writes no other
FORMATS = ["folded", "flamegraph", "heatmap", "perfetto", "firefox", "openmetrics", "pprof", "otlp-development", "ndjson"]
WITH_SAMPLES = ["folded", "flamegraph", "pprof", "otlp-development"]
LOCKS, PROFILE, BOTH = "lock-waits-stream", "two-layouts", "lock-waits"  # recordings to compare others with


def run(*args):
    """Status, standard output, standard error."""
    p = subprocess.run([kontend, *args], stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False)
    return p.returncode, p.stdout.decode(errors="replace"), p.stderr.decode(errors="replace")


def check_run(what, args, status):
    rc, out, err = run(*args)
    check(rc == status, "%s: status %d, not %d: %s" % (what, rc, status, err[-500:]))
    check(rc == 0 or "kontend: " in err, "%s: status %d without a reason: %s" % (what, rc, err[-500:]))
    check("Sanitizer" not in err and "runtime error" not in err, "%s: %s" % (what, err[-2000:]))
    return out, err


class Expected:
    """The statuses of the verbs. @truth: None if the file cannot be read."""

    def __init__(self, truth):
        self.read = bool(truth)
        self.locks = self.read and truth["waits"] > 0
        self.profile = self.read and truth["profile_samples"] > 0
        # Rows of several recordings are not read by a user: the status reports what is missing.
        self.whole = self.read and not truth["damage"] and not truth["unknown"]

    def status(self, has):
        return FAILED if not self.read else FINE if has else NOTHING

    def shows(self):
        return FINE if self.read else FAILED

    def export(self, form, samples):
        if form == "ndjson" and not self.whole:
            return FAILED
        if samples:
            return FINE if self.profile else FAILED
        return self.status(self.locks or form == "flamegraph" and self.profile)

    def several(self, has):
        return self.status(has) if self.whole else FAILED


def check_one(name, path, truth, folder):
    general = ["--no-config"]
    e = Expected(truth)

    for view in ("overview", "locks", "hot", "flame", "heat", "all"):
        out, _ = check_run("%s: report --view %s" % (name, view),
                           ["report", *general, "-i", path, "--view", view, "--format", "json"], e.shows())
        if e.read:
            j = json.loads(out)
            check(j["schema"] == "kontend.report/2", "%s: report --view %s" % (name, view))
            check(j["source"].get("no_locks", False) != e.locks, "%s: no_locks is wrong" % name)
            if view == "overview":
                check(j["views"]["overview"]["contended"] == truth["waits"], "%s: %d waits, written %d" %
                      (name, j["views"]["overview"]["contended"], truth["waits"]))
                check(j["views"]["overview"]["total_ns"] == truth["waited_ns"], "%s: waited %d ns, written %d" %
                      (name, j["views"]["overview"]["total_ns"], truth["waited_ns"]))
    check_run(name + ": report", ["report", *general, "-i", path], e.shows())
    check_run(name + ": csv", ["report", *general, "-i", path, "--view", "hot", "--format", "csv"], e.shows())
    check_run(name + ": script", ["script", *general, "-i", path], e.status(e.locks))
    for size in ("80x24", "200x60"):
        check_run("%s: screenshot %s" % (name, size),
                  ["screenshot", *general, "--format", "text", "--size", size, path], e.shows())
    for form in FORMATS:
        for weight in [[], ["--weight", "samples"]] if form in WITH_SAMPLES else [[]]:
            to = os.path.join(folder, "%s.%s.%d" % (name, form, len(weight)))
            check_run("%s: export %s %s" % (name, form, weight),
                      ["export", *general, "-i", path, "--format", form, *weight, "-o", to], e.export(form, weight))
    cut = os.path.join(folder, name + ".cut")
    check_run(name + ": cut", ["cut", path, "-o", cut], e.shows())
    if e.read:
        check_run(name + ": report of the cut", ["report", *general, "-i", cut], FINE)


def check_several(name, made):
    """merge and diff of one recording, and of it with others."""
    path, truth = made[name]
    e = Expected(truth)

    def merges(status, *args):
        return check_run("%s: merge %s" % (name, args), ["merge", "--no-config", *args], status)

    def compares(status, *args):
        return check_run("%s: diff %s" % (name, args), ["diff", "--no-config", *args], status)

    merges(e.several(e.locks or e.profile), path)
    merges(e.several(e.locks), "--tables", "locks,callers", path)
    _, err = compares(e.status(e.locks), path, path)
    for form in ("flamegraph", "folded"):
        compares(e.status(e.locks), "--format", form, path, path)
    if e.read and not e.locks:
        check("no lock events" in err or "lock events of this file cannot be decoded" in err,
              "%s: diff does not say that there are no lock events: %s" % (name, err))
        check(("a profile of " in err) == e.profile and ("--tables hot" in err) == e.profile,
              "%s: diff does not say what there is: %s" % (name, err))
    for other in (LOCKS, PROFILE, BOTH):
        if name == other:
            continue
        o = Expected(made[other][1])
        merges(FINE if e.whole else FAILED, path, made[other][0])
        compares(e.status(e.locks and o.locks), path, made[other][0])
        compares(e.status(e.locks and o.locks), made[other][0], path)
        compares(e.several((e.locks or e.profile) and (o.locks or o.profile)), path, "--", made[other][0])
        compares(e.several(e.profile and o.profile), "--tables", "hot", path, made[other][0])
        compares(e.several(e.locks and o.locks), "--by", "type", made[other][0], "--", path)


with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(2) as pool:
    made = cases.make(temporary)
    made = {case: (path, truth if case not in cases.NOT_READ else None) for case, (path, truth) in made.items()}
    jobs = [pool.submit(check_one, case, path, truth, temporary) for case, (path, truth) in made.items()]
    jobs += [pool.submit(check_several, case, made) for case in made]
    for job in jobs:
        job.result()
done()
