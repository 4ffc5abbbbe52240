#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Notes about damaged recordings of cases.py, and about those without lock events: notes, figures, the verdict, and
the messages of verbs that write nothing.

    notes.py KONTEND"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../live"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
import cases
from checks import check, done

kontend = sys.argv[1]
# Kinds of notes beside names, text of the first
EXPECTED = {
    "stream": ([], ""),
    "throttled": ([], ""),
    "zero-size-record": (["damage"], "there is no record"),
    "zero-size-then-more": (["damage"], "there is no record"),
    "zero-size-then-more-in-stream": (["damage"], "there is no record"),
    "cut-stream": (["damage"], "ends within a record"),
    "cut-file": (["damage"], "is cut at byte"),
    "broken-zstd-in-stream": (["damage"], "readable up to byte"),
    "unknown-features": (["unknown"], "40, 63, 200"),
    "unknown-record": (["unknown"], "types not known"),
}


def run(*args):
    p = subprocess.run((kontend,) + args, capture_output=True, text=True, check=False)
    return p.returncode, p.stdout, p.stderr


def check_notes(name, path, j, err):
    kinds, text = EXPECTED[name]
    notes = [n for n in j["notes"] if n["kind"] != "names"]
    check(sorted({n["kind"] for n in notes}) == kinds, "%s: notes %s" % (name, notes))
    check(not kinds or text in notes[0]["text"], "%s: first note %s" % (name, notes[:1]))
    check(kinds != ["damage"] or j["notes"][:len(notes)] == notes, "%s: names come before %s" % (name, notes))
    for line in err.splitlines():
        check(line.count(path) == 1, "%s: a message has the path %d times: %s" % (name, line.count(path), line))
    for n in j["notes"]:
        check(n["text"] in err, "%s: not on standard error: %s" % (name, n["text"]))


def check_figures(name, truth, j):
    damaged = EXPECTED[name][0] == ["damage"]
    check(damaged == bool(truth["damage"]), "%s: written with damage %s" % (name, truth["damage"]))
    source, verdict = j["source"], j["views"]["overview"]["verdict"]
    check((source["bad"] > 0) == damaged, "%s: bad %d" % (name, source["bad"]))
    check(source["at_least"] == (damaged or name == "throttled"), "%s: at_least %s" % (name, source["at_least"]))
    check(source["missing_most"] is None, "%s: waits are missing: %s" % (name, source["missing_most"]))
    check(source["no_locks"] is True, "%s: no_locks" % name)
    check(verdict["level"] == ("lost" if damaged else "none"), "%s: verdict %s" % (name, verdict))
    n = sum(row["samples"] for row in j["views"]["hot"]["rows"])
    check(n == truth["profile_samples"], "%s: %d samples, not %d" % (name, n, truth["profile_samples"]))


def check_text(name, path, samples):
    kinds = EXPECTED[name][0]
    rc, out, _ = run("report", "--no-config", "-i", path)
    check(rc == 0 and "# no lock events: this file has no lock events; it has a profile of %d samples" % samples in out,
          "%s: report says %s" % (name, out))
    check("# hot: %d samples" % samples in out, "%s: no profile in %s" % (name, out))
    check("OK " not in out and "waits are missing" not in out, "%s: report says %s" % (name, out))
    for kind in kinds:
        check("\n# %s: " % kind in out, "%s: no %s in %s" % (name, kind, out))
    rc, out, _ = run("screenshot", "--no-config", "-i", path)
    check(rc == 0 and "in lock paths" in out, "%s: the screen has no profile: %s" % (name, out))
    check(("damaged" if kinds == ["damage"] else "NONE this file has no lock events") in out,
          "%s: the screen says %s" % (name, out))


def check_messages(name, path, samples):
    """The statuses are those of verbs.py."""
    for args in (("script",), ("export", "--format", "folded"), ("export", "--format", "openmetrics")):
        rc, _, err = run(*args, "--no-config", "-i", path)
        check(rc == 3 and "--weight samples" in err, "%s: %s: status %d, %s" % (name, args, rc, err))
    _, out, err = run("export", "--no-config", "-i", path, "--format", "ndjson")
    check("--weight samples" in err and out.count("\n") == 1 and '"table":"parts"' in out,
          "%s: ndjson: %s, %s" % (name, out, err))
    rc, out, err = run("export", "--no-config", "-i", path, "--format", "folded", "--weight", "samples")
    n = sum(int(line.rsplit(" ", 1)[1]) for line in out.splitlines())
    check(rc == 0 and n == samples, "%s: samples: status %d, %d, %s" % (name, rc, n, err))


with tempfile.TemporaryDirectory() as work:
    made = cases.make(work)
    for case in EXPECTED:
        where, written = made[case]
        status, text, errors = run("report", "--no-config", "-i", where, "--format", "json")
        if check(status == 0, "%s: status %d: %s" % (case, status, errors)):
            document = json.loads(text)
            check_notes(case, where, document, errors)
            check_figures(case, written, document)
            check_text(case, where, written["profile_samples"])
            check_messages(case, where, written["profile_samples"])
done()
