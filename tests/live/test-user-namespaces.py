#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Events of locks of programs through PID namespaces, against a program that measures its own waits: the owner of a
mutex is in its word, with the number that the program's namespace gives it. From outside all threads have kontend's
numbers; within they have those that the program prints.

    test-user-namespaces.py KONTEND PROGRAM"""
import os
import sys
import tempfile

from checks import check, done, skip
from usertruth import ALL, LOCKS, ROUNDS, check_threads, compare, run, sleeps_of, truth

INTO = ("unshare", "-pf", "--mount-proc")


def check_outside(text, said):
    """Waiters, owners and releasers of a lock are the same few threads."""
    futex = [e for e in sleeps_of(text) if e["type"]]
    groups = {}
    for e in futex:
        groups.setdefault(e["lock"], []).append(e)
    inner = {t for _, _, tids in said.values() for t in tids}
    own = [es for es in groups.values() if len(es) > 100]
    check(len(own) == 8, "%d locks have more than a hundred waits" % len(own))
    for es in own:
        waiters = {e["tid"] for e in es}
        released = [e for e in es if e["releaser_tid"] is not None]
        owned = [e for e in es if e["owner_tid"] is not None]
        kind = es[0]["type"]
        check(not waiters & inner, "%s: inner numbers: %s" % (kind, sorted(waiters & inner)))
        check(len(released) >= 0.99 * len(es), "%s: %d of %d have a releaser" % (kind, len(released), len(es)))
        check({e["releaser_tid"] for e in released} <= waiters, "%s: releasers are none of its threads" % kind)
        check(kind.startswith("rwlock") or len(owned) >= 0.9 * len(es), "%s: %d of %d have an owner" % (
            kind, len(owned), len(es)))
        check({e["owner_tid"] for e in owned} <= waiters, "%s: owners are none of its threads: %s of %s" % (
            kind, sorted({e["owner_tid"] for e in owned}), sorted(waiters)))
        wrong = [e for e in es if e["tid"] in (e["owner_tid"], e["releaser_tid"])]
        check(not wrong, "%s: threads wait for themselves: %s" % (kind, wrong[:2]))


def main():
    kontend, program = (os.path.abspath(a) for a in sys.argv[1:])
    if os.geteuid():
        skip("needs root")
    with tempfile.TemporaryDirectory(prefix="kontend-user-namespaces-") as folder:
        file = os.path.join(folder, "kontend.data")
        said = truth(run(kontend, "record", "-q", *ALL, "-o", file, "--", *INTO, program, ROUNDS))
        compare("from outside", run(kontend, "report", *LOCKS, "-i", file), said)
        check_outside(run(kontend, "script", "--format", "json", "-i", file), said)
        said = truth(run(*INTO, kontend, "record", "-q", *ALL, "-o", file, "--", program, ROUNDS))
        # From here the paths of a recording are another namespace's.
        compare("within", run(kontend, "report", *LOCKS, "--trust-paths", "-i", file), said)
        check_threads(run(kontend, "script", "--format", "json", "-i", file), said)
    done()


main()
