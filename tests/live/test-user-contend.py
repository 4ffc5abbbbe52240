#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Waits for locks of programs that events report, against a program that measures its own: all of them are seen, with
their time, live and from a recording; owner and releaser are threads that use the lock; waits for conditions and
semaphores are no locks; and without events there are none of these.

    test-user-contend.py KONTEND PROGRAM"""
import os
import sys
import tempfile

from checks import check, done, skip
from usertruth import ALL, LOCKS, ROUNDS, check_threads, compare, rows_of, run, truth


def main():
    kontend, program = sys.argv[1:]
    if os.geteuid():
        skip("needs root")
    with tempfile.TemporaryDirectory(prefix="kontend-user-contend-") as folder:
        out = os.path.join(folder, "report.json")
        said = run(kontend, "report", "-q", *LOCKS, *ALL, "-o", out, "--", program, ROUNDS)
        with open(out, encoding="utf-8") as f:
            compare("live", f.read(), truth(said))
        file = os.path.join(folder, "kontend.data")
        said = truth(run(kontend, "record", "-q", *ALL, "-o", file, "--", program, ROUNDS))
        compare("recorded", run(kontend, "report", *LOCKS, "-i", file), said)
        check_threads(run(kontend, "script", "--format", "json", "-i", file), said)
        run(kontend, "report", "-q", *LOCKS, "--user-locks", "off", "-o", out, "--", program, "5")
        with open(out, encoding="utf-8") as f:
            check(not rows_of(f.read()), "--user-locks off has locks of programs")
    done()


main()
