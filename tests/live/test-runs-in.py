#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""In which function a holder runs while others wait: of the kernel, with its system call, and of a
program; live and recorded, by samples of the profile. Without them no function is named.

    test-runs-in.py KONTEND PROGRAM"""
import json
import os
import subprocess
import sys
import tempfile

from checks import check, done, skip

kontend, program = sys.argv[1:3]
VIEWS = "blame,waiters,chains"
SECONDS = "3s"
TRIES = 4


def run(*words):
    p = subprocess.run([kontend, *words], capture_output=True, text=True)
    if p.returncode:
        raise AssertionError("%s: %s" % (words[0], p.stderr.strip()))
    return p.stdout


def report(*words):
    return json.loads(run("report", "-q", "--format", "json", "--view", VIEWS, *words))


def recorded(path, *words):
    run("record", "-q", "-a", "-o", path, "--duration", SECONDS, *words)
    return json.loads(run("report", "-q", "-i", path, "--format", "json", "--view", VIEWS))


def heaviest(doc, pid):
    """The row of the holder in the process to which most is charged."""
    rows = [r for r in doc["views"]["blame"]["rows"] if r["pid"] == pid and r["waited_ns"]]
    return max(rows, key=lambda r: r["waited_ns"], default=None)


def look_at(when, produce, pid, is_in, call):
    """On a busy machine it is kept off its CPU for most of the time: then it is looked at again."""
    for _ in range(TRIES):
        r = heaviest(produce(), pid)
        if r and r["mostly_state"] == "running":
            break
    if r and r["mostly_state"] in ("runnable", "not_followed"):
        skip("the CPUs are too busy: the holder was mostly " + r["mostly_state"])
    if not check(r, "%s: nothing is charged to %d" % (when, pid)):
        return
    print(when, r["tid"], r["mostly"])
    check(r["mostly_state"] == "running", "%s: it was %s" % (when, r["mostly_state"]))
    check(r["mostly_in"] and (not is_in or r["mostly_in"].split(".")[0] == is_in),
          "%s: runs in %s, not %s" % (when, r["mostly_in"], is_in))
    words = "in %s%s" % (r["mostly_in"], " (%s)" % call if call else "")
    check(r["mostly"].endswith(words), "%s: '%s' does not end in '%s'" % (when, r["mostly"], words))


def try_with(mode, is_in, call, d):
    p = subprocess.Popen([program, mode])
    try:
        look_at(mode + ", live", lambda: report("-a", "-F", "499", "--duration", SECONDS), p.pid,
                is_in, call)
        look_at(mode + ", recorded", lambda: recorded(os.path.join(d, mode), "-F", "499"), p.pid,
                is_in, call)
        r = heaviest(report("-a", "-F", "0", "--duration", "1s"), p.pid)
        check(r and not r["mostly_in"], "%s, without samples: %s" % (mode, r and r["mostly"]))
    finally:
        p.kill()
        p.wait()


if os.geteuid() != 0:
    skip("needs root")
with tempfile.TemporaryDirectory(prefix="kontend-runs-") as d:
    try_with("fork", None, "clone", d)
    try_with("crunch", "crunch", None, d)
done()
