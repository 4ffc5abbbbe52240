#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Events of waits for locks of programs against a program that logs what it does with its locks: how many of its
sleeps are seen, with what time, and whether owners and releasers are right. Prints a line for each lock.

    user-truth.py KONTEND PROGRAM SECONDS [here|inside|outside|storm...]

PROGRAM: user-log, or a source in Rust. here: as it is. inside: both in a PID namespace. outside: the program alone is in
one. storm: beside `stress-ng --cpu 60`.
The status is 0 if all figures are at least: 99 % of sleeps over 50 us seen (kernels of some virtual machines do not
report each switch), time within 1 % and 5 us a sleep, sure owners right in 99 %, other owners in 97 %, releasers in all.

WAITS: acquisitions in which a thread slept. BEFORE: of these, before the first that was reported. KEPT: that were also
preempted. LONG: the others, with a sleep over 50 us for certain. SEEN: of these. TIME: that is reported, as against the
time off the CPU. OWNERS: that were reported; RIGHT: of these; SURE: of these, where the log says for certain which thread
had the lock, or released it. MORE: waits whose reported time is longer than the whole call of lock().

The program is late to read a clock where its CPU is taken from it, so each time that it logs is a bound: a lock had an
owner for certain between the return of lock() and the call of unlock(), and was released within the call of unlock(). A
wait is compared if the kernel did not preempt the thread in it: then its time off the CPU is that of its sleeps.
"""
import bisect
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile

from checks import check, done, skip
from compilers import environment, is_usable
from usertruth import ALL

LEAST_NS = 50000  # shorter sleeps have no record
SWITCH_NS = 5000  # the kernel counts its search for the next task as CPU time of that task
READ_NS = 50000   # an owner is read before the sleep has its time
SITUATIONS = ("here", "inside", "outside", "storm")
SURE = {"robust", "inheriting"}
LEARNT = {"sem(u)", "futex(u)"}
CONTAINER = ("unshare", "-pf", "--mount-proc")
STORM = ("stress-ng", "--cpu", "60", "--quiet", "--timeout")

Acquired = collections.namedtuple("Acquired", "variable reads tid call got free freed off sleeps preempted")


def read_log(text):
    """Acquisitions by variable, in the order in which they ended; threads that wait for no lock."""
    ret, waits = collections.defaultdict(list), {}
    for line in text.splitlines():
        kind, variable, tid, *numbers = line.split()
        if kind == "-":
            waits[int(tid)] = variable
        else:
            ret[kind, variable].append(Acquired(variable, kind.endswith(":R"), int(tid), *(int(n) for n in numbers)))
    return ret, waits


class Events:
    """Sleeps by thread, with numbers as the program has them: each thread has its own in its name."""

    def __init__(self, text):
        events = [json.loads(line) for line in text.splitlines()]
        events = [e for e in events if e.get("event") == "futex" and e["type"] and e["comm"].startswith("u-")]
        numbers = {e["tid"]: int(e["comm"][2:]) for e in events}
        self.by_tid = collections.defaultdict(list)
        for e in sorted(events, key=lambda e: e["begin_ns"]):
            for key in ("tid", "owner_tid", "releaser_tid"):
                # A thread that never slept is none of the program's, and has no number there.
                e[key] = numbers.get(e[key], -1) if e[key] is not None else None
            self.by_tid[e["tid"]].append(e)
        self.begins = {tid: [e["begin_ns"] for e in events] for tid, events in self.by_tid.items()}

    def within(self, a):
        begins = self.begins.get(a.tid, [])
        return self.by_tid[a.tid][bisect.bisect_left(begins, a.call):bisect.bisect_right(begins, a.got)]


def owners(held, at):
    """Of a lock at that time: the thread that had it for certain, or None; those that may have had it."""
    certain = [a.tid for a in held if a.got <= at - READ_NS and at <= a.free]
    return certain, {a.tid for a in held if a.call <= at and at - READ_NS <= a.freed}


class Figures:
    def __init__(self):
        self.n = collections.Counter()

    def add(self, a, events, held):
        n = self.n
        n["waits"] += a.sleeps > 0
        found = events.within(a)
        for e in found:
            self.add_event(a, e, held)
        total = sum(e["wait_ns"] for e in found)
        n["more"] += total > a.got - a.call
        if a.preempted:
            n["preempted"] += a.sleeps > 0
            return
        # Of so many sleeps one at least is so long.
        if a.sleeps and a.off > LEAST_NS * a.sleeps:
            n["long"] += 1
            n["seen"] += bool(found)
        # With one of them all time is in it; where some were shorter, their sum is in the totals alone.
        if a.sleeps == len(found):
            n["off"] += a.off
            n["sleeps"] += a.sleeps
            n["measured"] += total

    def add_event(self, a, e, held):
        n = self.n
        certain, possible = owners([h for h in held if not h.reads and h.tid != a.tid], e["begin_ns"])
        n["events"] += 1
        if e["owner_tid"] is not None:
            n["owned"] += 1
            n["owner_right"] += e["owner_tid"] in (certain or possible)
            n["owner_certain"] += bool(certain)
        if e["releaser_tid"] is not None:
            released = {h.tid for h in held if h.free <= e["woken_ns"] <= h.freed}
            n["released"] += 1
            n["releaser_right"] += e["releaser_tid"] in released
            n["releaser_alone"] += len(released) == 1


def share(part, of):
    return 100 * part / of if of else 100


class Near:
    """Acquisitions of a lock near a time."""

    def __init__(self, held):
        self.held = sorted(held, key=lambda a: a.call)
        self.calls = [a.call for a in self.held]
        self.longest = max(a.freed - a.call for a in held)

    def of(self, a):
        first = bisect.bisect_left(self.calls, a.call - self.longest - READ_NS)
        return self.held[first:bisect.bisect_right(self.calls, a.got)]


def known_from(kind, acquired, events):
    """From then on each wait is reported: that it is for a lock follows from the calls of a sleep before, and of a
    semaphore from what threads do with it."""
    begins = [e["begin_ns"] for a in acquired for e in events.within(a)] if kind in LEARNT else []
    return min(begins, default=0)


def report(situation, log, events):
    ret = []
    by_variable = collections.defaultdict(list)
    for (_, variable), acquired in log.items():
        by_variable[variable] += acquired
    near = {variable: Near(held) for variable, held in by_variable.items()}
    for (kind, variable), acquired in sorted(log.items()):
        f = Figures()
        known = known_from(kind, acquired, events)
        for a in acquired:
            if a.call >= known:
                f.add(a, events, near[variable].of(a))
            else:
                f.n["before"] += a.sleeps > 0
        ret.append((situation, kind, variable, f.n))
    return ret


def line_of(situation, kind, variable, n):
    return "%-8s %-12s %-11s %6d %6d %6d %6d %7.2f %+7.2f %6d %7.2f %7.2f %6d %7.2f %7.2f %5d" % (
        situation, kind, variable, n["waits"], n["before"], n["preempted"], n["long"], share(n["seen"], n["long"]),
        share(n["measured"], n["off"]) - 100, n["owned"], share(n["owner_right"], n["owned"]),
        share(n["owner_certain"], n["owned"]), n["released"], share(n["releaser_right"], n["released"]),
        share(n["releaser_alone"], n["released"]), n["more"])


HEADING = "%-8s %-12s %-11s %6s %6s %6s %6s %7s %7s %6s %7s %7s %6s %7s %7s %5s" % (
    "WHERE", "TYPE", "LOCK", "WAITS", "BEFORE", "KEPT", "LONG", "SEEN%", "TIME%", "OWNERS", "RIGHT%", "SURE%", "RELEAS",
    "RIGHT%", "SURE%", "MORE")


def verify(situation, kind, variable, n):
    where = "%s: %s %s: " % (situation, kind, variable)
    check(n["long"] and n["events"] and n["released"], where + "no waits were compared")
    check(share(n["seen"], n["long"]) >= 99, where + "%d of %d seen" % (n["seen"], n["long"]))
    spared = 0.01 * n["off"] + SWITCH_NS * n["sleeps"]
    check(abs(n["measured"] - n["off"]) <= spared, where + "%d of %d ns" % (n["measured"], n["off"]))
    least = 99 if variable in SURE else 97
    check(share(n["owner_right"], n["owned"]) >= least, where + "%d of %d owners" % (n["owner_right"], n["owned"]))
    check(n["more"] <= 0.005 * n["waits"], where + "%d of %d are longer" % (n["more"], n["waits"]))
    check(n["releaser_right"] == n["released"], where + "%d of %d releasers" % (n["releaser_right"], n["released"]))


def run(args, **more):
    p = subprocess.run(args, capture_output=True, text=True, check=False, **more)
    if not check(p.returncode == 0, "%s: status %d: %s" % (args, p.returncode, p.stderr)):
        done()
    return p.stdout


def measure(kontend, program, seconds, situation):
    """What the program logged, and what kontend recorded meanwhile."""
    command = [kontend, "record", "-q", *ALL, "-o", "a.data", "--"]
    inner = [program, seconds]
    storm = None
    if situation == "storm":
        storm = subprocess.Popen((*STORM, str(int(seconds) + 5)))
    if situation == "inside":
        command = [*CONTAINER, *command]
    if situation == "outside":
        inner = [*CONTAINER, *inner]
    try:
        said = run(command + inner)
    finally:
        if storm:
            storm.terminate()
            storm.wait()
    script = [kontend, "script", "--format", "json", "-i", "a.data"]
    return said, run(script)


def try_one(kontend, program, seconds, situation):
    said, text = measure(kontend, program, seconds, situation)
    log, waits = read_log(said)
    events = Events(text)
    rows = report(situation, log, events)
    for row in rows:
        print(line_of(*row))
        verify(*row)
    wrong = {(waits[tid], e["type"]) for tid in waits for e in events.by_tid[tid]}
    check(not wrong, "%s: no locks: %s" % (situation, sorted(wrong)))


def main():
    if len(sys.argv) < 4 or not set(sys.argv[4:]) <= set(SITUATIONS):
        sys.exit(__doc__)
    kontend, program = (os.path.abspath(a) for a in sys.argv[1:3])
    if os.geteuid() != 0:
        skip("needs root")
    if program.endswith(".rs") and not is_usable("rustc"):
        skip("no rustc is installed")
    print(HEADING)
    with tempfile.TemporaryDirectory(prefix="kontend-user-truth-") as folder:
        os.chdir(folder)
        if program.endswith(".rs"):
            run(("rustc", "--edition", "2021", "-O", "-o", "program", program), env=environment())
            program = os.path.abspath("program")
        for situation in sys.argv[4:] or ("here",):
            if situation == "storm" and not shutil.which(STORM[0]):
                print("%s: no %s is installed" % (situation, STORM[0]))
                continue
            try_one(kontend, program, sys.argv[3], situation)
        os.chdir("/")
    done()


main()
