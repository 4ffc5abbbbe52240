#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Every verb that reads recordings, over all recordings of cases.py: none crashes, hangs or fails without a reason, and
what is written can be read again.

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
NOTHING = 3  # a recording without lock events, and the verb writes no other
FORMATS = ["folded", "flamegraph", "perfetto", "firefox", "openmetrics", "pprof", "otlp-development", "ndjson"]
WITH_SAMPLES = ["folded", "flamegraph", "pprof", "otlp-development"]


def run(*args):
    """Status, standard output, standard error."""
    p = subprocess.run([kontend, *args], stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False)
    return p.returncode, p.stdout.decode(errors="replace"), p.stderr.decode(errors="replace")


def check_run(what, args, statuses):
    rc, out, err = run(*args)
    check(rc in statuses, "%s: status %d, not %s: %s" % (what, rc, statuses, err[-500:]))
    check(rc == 0 or "kontend: " in err, "%s: status %d without a reason: %s" % (what, rc, err[-500:]))
    check("Sanitizer" not in err and "runtime error" not in err, "%s: %s" % (what, err[-2000:]))
    return rc, out


def check_one(name, path, truth, folder):
    """@truth: None if the file cannot be read."""
    fine = (0,) if truth else (1,)
    few = (0, 1, NOTHING) if truth else (1,)
    general = ["--no-config"]

    for view in ("overview", "locks", "hot", "flame", "all"):
        rc, out = check_run("%s: report --view %s" % (name, view),
                            ["report", *general, "-i", path, "--view", view, "--format", "json"], fine)
        if rc == 0:
            check(json.loads(out)["schema"] == "kontend.report/2", "%s: report --view %s" % (name, view))
    check_run(name + ": report", ["report", *general, "-i", path], fine)
    check_run(name + ": csv", ["report", *general, "-i", path, "--view", "hot", "--format", "csv"], fine)
    check_run(name + ": script", ["script", *general, "-i", path], few)
    for size in ("80x24", "200x60"):
        check_run("%s: screenshot %s" % (name, size),
                  ["screenshot", *general, "--format", "text", "--size", size, path], fine)
    for form in FORMATS:
        for weight in [[], ["--weight", "samples"]] if form in WITH_SAMPLES else [[]]:
            to = os.path.join(folder, "%s.%s.%d" % (name, form, len(weight)))
            check_run("%s: export %s %s" % (name, form, weight),
                      ["export", *general, "-i", path, "--format", form, *weight, "-o", to], few)
    check_run(name + ": merge", ["merge", *general, path], few)
    check_run(name + ": diff", ["diff", *general, path, path], few)
    cut = os.path.join(folder, name + ".cut")
    rc, _ = check_run(name + ": cut", ["cut", path, "-o", cut], few)
    if rc == 0:
        check_run(name + ": report of the cut", ["report", *general, "-i", cut], fine)


with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(2) as pool:
    made = cases.make(temporary)
    jobs = [pool.submit(check_one, case, path, case not in cases.NOT_READ and truth, temporary) for case, (path, truth) in made.items()]
    for job in jobs:
        job.result()
done()
