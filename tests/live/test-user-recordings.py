#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Waits for locks of programs in all that is made of a recording: parts, comparisons, sums, exports and lines have them,
triggers fire for them, perf reads the file all the same, and a recording without them has none.

    test-user-recordings.py KONTEND PROGRAM"""
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile

from checks import check, done, skip
from usertruth import LOCKS, rows_of, run, sleeps_of

ROUNDS = "200"
# How each format says that a wait is one for a lock of a program.
EXPORTS = {"folded": b"mutex(u)", "flamegraph": b"mutex(u)", "perfetto": b"mutex(u)", "firefox": b"mutex(u)",
           "openmetrics": b'world="user"', "pprof": b"mutex(u)", "otlp-development": b"mutex(u)", "ndjson": b"mutex(u)"}


def seen(kontend, file):
    return sum(r["contended"] for r in rows_of(run(kontend, "report", *LOCKS, "-i", file)))


def check_parts(kontend, n):
    run(kontend, "cut", "-q", "-i", "a.data", "-o", "user.data", "--filter", "world:user")
    check(seen(kontend, "user.data") == n, "a cut with world:user has %d of %d" % (seen(kontend, "user.data"), n))
    kernel = seen_records(kontend, "world:kernel")
    check(kernel == 0, "a cut with world:kernel has %d records of sleeps" % kernel)
    run(kontend, "cut", "-q", "-i", "a.data", "-o", "part.data", "--time", "0:00.2,0:00.7")
    part = seen(kontend, "part.data")
    check(0 < part < n, "a part of the time has %d of %d" % (part, n))


def seen_records(kontend, terms):
    run(kontend, "cut", "-q", "-i", "a.data", "-o", "terms.data", "--filter", terms)
    return len(sleeps_of(run(kontend, "script", "--format", "json", "-i", "terms.data")))


def check_exports(kontend):
    for form, said in EXPORTS.items():
        if form in ("pprof", "otlp-development") and form not in run(kontend, "export", "--help"):
            continue
        out = "out." + form
        run(kontend, "export", "-q", "-i", "a.data", "--format", form, "-o", out)
        with open(out, "rb") as f:
            data = f.read()
        data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        check(said in data, "%s has no lock of a program" % form)


def main():
    kontend, program = (os.path.abspath(a) for a in sys.argv[1:])
    if os.geteuid():
        skip("needs root")
    with tempfile.TemporaryDirectory(prefix="kontend-user-recordings-") as folder:
        os.chdir(folder)
        for name in ("a.data", "b.data"):
            run(kontend, "record", "-q", "-o", name, "--", program, ROUNDS)
        n = seen(kontend, "a.data")
        check(n > 1000, "%d waits for locks of programs" % n)
        check_parts(kontend, n)
        check_exports(kontend)
        check("mutex(u)" in run(kontend, "diff", "a.data", "b.data"), "a comparison has no mutex(u)")
        check("mutex(u)" in run(kontend, "merge", "-q", "a.data", "b.data"), "a merge has no mutex(u)")
        csv = run(kontend, "report", "-i", "a.data", "--view", "locks", "--format", "csv")
        check("mutex(u)" in csv, "CSV has no mutex(u)")
        fired = json.loads(run(kontend, "report", "-i", "a.data", "--format", "json", "--trigger",
                               "wait>1ms world:user"))["views"]["incidents"]["rows"]
        named = [i for i in fired if i["comm"] == "user-contend" and i["holder_tid"]]
        check(fired and len(named) >= 0.9 * len(fired), "incidents: %s" % [i for i in fired if i not in named][:2])
        if shutil.which("perf"):
            p = subprocess.run(("perf", "script", "-i", "a.data"), capture_output=True, check=False)
            check(p.returncode == 0 and p.stdout, "perf script: %d %s" % (p.returncode, p.stderr))
        for how in ("snapshot", "off"):
            run(kontend, "record", "-q", "--user-locks", how, "-o", "c.data", "--", program, "20")
            sleeps = sleeps_of(run(kontend, "script", "--format", "json", "-i", "c.data"))
            check(not sleeps, "--user-locks %s has %d records of sleeps" % (how, len(sleeps)))
        check(seen(kontend, "c.data") == 0, "--user-locks off has waits for locks of programs")
    done()


main()
