#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Locks of programs in which threads sleep, against a program that says who waits for which of its locks, and which
thread owns it: without a probe, with BPF and without, from a recording, and through PID namespaces. Its threads that
sleep in futex(2) for other things must not be there, but be counted by these things.

    test-user-locks.py KONTEND PROGRAM"""
import json
import os
import subprocess
import sys
import tempfile

from checks import check, done, skip

THREADS = 18  # lines that the program prints
WAITS = {"barrier": 1, "condition variable": 1, "join": 1, "once": 1}  # and one for a semaphore
VIEWS = ("--view", "overview,waiters,chains", "--rows", "0", "--format", "json")


class Program:
    """It runs until the end of the block; @prefix: how it is started."""

    def __init__(self, program, *prefix):
        self.process = subprocess.Popen((*prefix, program), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.threads = [self.process.stdout.readline().split() for _ in range(THREADS)]
        check(all(self.threads), "threads: %s" % self.threads)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def waits(self):
        """(thread, type, variable, owner): as the program numbers its threads."""
        return sorted((int(t), kind, variable, int(owner)) for t, kind, variable, owner in self.threads if kind != "-")


def run(*args):
    p = subprocess.run(args, capture_output=True, text=True, check=False)
    check(p.returncode == 0, "%s: status %d: %s" % (args, p.returncode, p.stderr))
    return p.stdout


def number(tid):
    return tid


def inner(tid):
    """The number of a thread in its own PID namespace."""
    with open("/proc/%d/status" % tid, encoding="utf-8") as f:
        for line in f:
            if line.startswith("NSpid:"):
                return int(line.split()[-1])
    return 0


def compare(what, text, program, to=number):
    views = json.loads(text)["views"]
    name = os.path.basename(program.process.args[-1])
    rows = [w for w in views["waiters"]["rows"] if w["type"].endswith("(u)") and w["comm"] == name[:15]]
    found = []
    for w in rows:
        kind = "%s:%s" % (w["type"], w["mode"]) if w["mode"] else w["type"]
        variable = w["name"].split()[0]
        found.append((to(w["tid"]), kind, "-" if variable == "shared" else variable,
                      to(w["owner_tid"]) if w["owner_tid"] else 0))
    check(sorted(found) == program.waits(), "%s: %s, written %s" % (what, sorted(found), program.waits()))
    sites = {w["caller"] for w in rows}
    check(all(s and s.split("_")[0] in ("wait", "write", "read", "lock") for s in sites), "%s: calls %s" % (what, sites))
    futexes = [f for f in views["overview"]["elsewhere"]["futexes"] if f["comm"] == name[:15]]
    waits = {f["what"]: f["tasks"] for f in futexes if f["class"] == "wait"}
    check(waits == WAITS, "%s: no locks, but %s" % (what, waits))
    others = [(f["class"], f["tasks"]) for f in futexes if f["class"] != "wait"]
    check(others == [("unknown", 1)], "%s: not known: %s" % (what, others))
    sure = {w["name"].split()[0] for w in rows if w["owner_certainty"] == "sure"}
    check(sure == {"robust", "inheriting"}, "%s: owners of %s are sure" % (what, sorted(sure)))
    chains = views["chains"]["rows"]
    circles = [r["node"] for r in chains if r["row"] == "deadlock"]
    locks = {r["name"].split()[0] for r in chains if r["row"] == "lock" and r["parent"] in circles}
    check(views["chains"]["deadlocks"] >= 1 and locks >= {"mutex_a", "mutex_b"},
          "%s: %s deadlocks of %s" % (what, views["chains"]["deadlocks"], sorted(locks)))


def main():
    kontend, program = (os.path.abspath(a) for a in sys.argv[1:])
    if os.geteuid() != 0:
        skip("the memory of other processes is read as root")
    with tempfile.TemporaryDirectory(prefix="kontend-user-locks-") as folder:
        os.chdir(folder)
        with Program(program) as p:
            compare("begun before", run(kontend, "report", "-q", "--duration", "1", *VIEWS), p)
            compare("without BPF", run(kontend, "report", "-q", "--no-bpf", "--duration", "1", *VIEWS), p)
            run(kontend, "record", "-q", "-o", "a.data", "--duration", "1")
            compare("recording", run(kontend, "report", "-q", "-i", "a.data", *VIEWS), p)
            off = json.loads(run(kontend, "report", "-q", "--user-locks", "off", "--duration", "1", *VIEWS))
            found = [w for w in off["views"]["waiters"]["rows"] if w["type"].endswith("(u)")]
            check(not found, "--user-locks off: %s" % found)
        with Program(program, "unshare", "-pf", "--mount-proc") as p:
            compare("in a container, from outside", run(kontend, "report", "-q", "--duration", "1", *VIEWS), p, inner)
        shell = "%s <&3 & sleep 2; exec %s report -q --duration 1 %s" % (program, kontend, " ".join(VIEWS))
        told, tell = os.pipe()
        text = subprocess.run(("unshare", "-pf", "--mount-proc", "sh", "-c", "exec 3<&%d; %s" % (told, shell)),
                              capture_output=True, text=True, check=True, pass_fds=(told,)).stdout
        os.close(tell)
        os.close(told)
        lines = text.splitlines()
        inside = Program.__new__(Program)
        inside.process = subprocess.Popen(("true", program))
        inside.process.wait()
        inside.threads = [line.split() for line in lines if line.count(" ") == 3 and line[0].isdigit()]
        compare("within a container", text[text.index("{"):], inside)
    done()


main()
