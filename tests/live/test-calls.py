#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""On what the system calls of waits are, and where they are in the program: a file, a pipe, a socket, a mapping of a
file, a process and the lock of a file; in a report, in a recording and in `script`. Each is compared with what the program
is known to do. Page faults are on nothing: the kernel keeps no address of them, and that is the reason that is shown.

    test-calls.py KONTEND PROGRAM"""
import json
import os
import re
import subprocess
import sys
import tempfile

from checks import check, done, skip

SECONDS = "3"
HOW = ("--user-frames", "fp", "--no-config")
# System call: on what, which function. Of a pipe what /proc shows.
TRUTH = {
    "pwrite64": ("%s/written", "write_file"),
    "munmap": ("%s/mapped", "touch_mapping"),
    "flock": ("%s/locked", "take_lock"),
    "read": (r"pipe:\[\d+\]", "from_pipe"),
    "write": (r"(pipe|socket):\[\d+\]", "to_"),
    "recvfrom": (r"socket:\[\d+\]", "from_socket"),
    "process_vm_readv": (r"(calls/|process )\d+", "read_process"),
}
ALWAYS = ("pwrite64", "flock")  # others may not have to wait on a slow machine


def run(*words):
    p = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if p.returncode:
        sys.exit("FAIL %s: status %d: %s" % (words, p.returncode, p.stderr))
    return p.stdout


def is_true(folder, call, on):
    want = TRUTH[call][0]
    return re.fullmatch(want % re.escape(folder) if "%s" in want else want, on) is not None


def check_rows(what, folder, rows):
    seen = {}
    for r in rows:
        call = r["syscall"]
        if call == "page fault":
            ons = (None, folder + "/mapped", folder + "/written")  # with the lock of a file, that file
            check(r["on"] in ons and (r["on"] or r["on_reason"]), "%s: a page fault is on %s" % (what, r))
        if call not in TRUTH or r["on"] is None:
            continue
        seen[call] = r["on"]
        check(is_true(folder, call, r["on"]), "%s: %s is on %s" % (what, call, r["on"]))
        at = r.get("at")
        check(not at or "libc" in at or TRUTH[call][1] in at, "%s: %s is at %s" % (what, call, at))
    print("%s: %s" % (what, seen))
    for call in ALWAYS:
        check(call in seen, "%s: no wait in %s is on anything: %s" % (what, call, rows))


def check_script(folder, lines):
    n = 0
    for text in lines:
        line = json.loads(text)
        if line.get("event") != "end" or line["syscall"] not in TRUTH or not line["on"]:
            continue
        n += 1
        check(is_true(folder, line["syscall"], line["on"]), "script: %s" % text)
    check(n, "no line of script is on anything")


def main():
    kontend, program = sys.argv[1:]
    if os.geteuid():
        skip("needs root")
    with tempfile.TemporaryDirectory(prefix="kontend-calls-") as folder:
        work = (program, folder, SECONDS)
        views = ("--format", "json", "--by", "caller", "-n", "100")
        out = json.loads(run(kontend, "report", *HOW, *views, "--view", "locks,waiters,blame", "--", *work))
        check_rows("locks", folder, out["views"]["locks"]["rows"])
        waiters = [r for r in out["views"]["waiters"]["rows"] if r["on"]]
        check(waiters, "no waiter is on anything")
        for r in waiters:
            if r["syscall"] in TRUTH:
                check(is_true(folder, r["syscall"], r["on"]), "waiters: %s" % r)
        check("on" in out["views"]["blame"]["rows"][0], "blame has no ON")
        data = os.path.join(folder, "data")
        run(kontend, "record", "-q", *HOW, "-o", data, "--", *work)
        out = json.loads(run(kontend, "report", "--no-config", *views, "--view", "locks", "-i", data))
        check_rows("recorded", folder, out["views"]["locks"]["rows"])
        check_script(folder, run(kontend, "script", "--no-config", "-j", "-i", data).splitlines())
    done()


main()
