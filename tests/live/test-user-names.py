#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Names of locks of programs, against a program that says where its locks are: members of variables by debug
information, and memory that it allocated by the function that waits. Live, in a recording, and in the same recording
where neither the program nor its symbols are any more.

    test-user-names.py KONTEND PROGRAM"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from checks import check, done, skip

LOCKS = ("--view", "locks,overview", "--rows", "0", "--format", "json")
SECONDS = "4"  # a snapshot names locks while the program runs


def run(*args):
    p = subprocess.run(args, capture_output=True, text=True, check=False)
    check(p.returncode == 0, "%s: status %d: %s" % (args, p.returncode, p.stderr))
    return p.stdout


def names_of(text, comm):
    """Without the process; an address in the heap by the digits that do not depend on where the heap begins."""
    rows = json.loads(text)["views"]["locks"]["rows"]
    names = [r["name"] for r in rows if r["type"].endswith("(u)") and re.search(r" %s/\d+$" % comm, r["name"])]
    return {re.sub(r" \.\..(...)$", r" ..\1", n.rsplit(" ", 1)[0]): n for n in names}


def compare(where, text, comm, expected):
    names = names_of(text, comm)
    check(set(names) >= expected, "%s: %s, written %s" % (where, sorted(names), sorted(expected)))
    unknown = {u["type"] for u in json.loads(text)["views"]["locks"]["unknown"]}
    check(unknown >= {"rwlock(u)"}, "%s: not known of %s" % (where, unknown))
    bare = [n for n in names.values() if "0x7" in n]
    check(not bare, "%s: addresses: %s" % (where, bare))


def main():
    kontend, program = (os.path.abspath(a) for a in sys.argv[1:])
    if os.geteuid() != 0:
        skip("the memory of other processes is read as root")
    with tempfile.TemporaryDirectory(prefix="kontend-user-names-") as folder:
        os.chdir(folder)
        said = run(kontend, "report", "-q", *LOCKS, "-o", "live.json", "--", program, SECONDS)
        expected = set(said.splitlines())
        check(len(expected) == 10, "the program prints %s" % said)
        with open("live.json", encoding="utf-8") as f:
            compare("live", f.read(), "user-names", expected)
        shutil.copy(program, "./gone")
        said = run(kontend, "record", "-q", "-o", "kontend.data", "--", "./gone", SECONDS)
        compare("recorded", run(kontend, "report", "-q", *LOCKS, "-i", "kontend.data"), "gone", set(said.splitlines()))
        os.unlink("gone")
        compare("without the program", run(kontend, "report", "-q", *LOCKS, "-i", "kontend.data"), "gone",
                set(said.splitlines()))
    done()


main()
