#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The views of the whole machine, from within a namespace of each kind and from outside at the same
time: slots and their owners, perf events and contexts, uprobes and their slots, and the waiters of
each queue. Nothing changes while both look, outside or inside: the figures are equal, and each side
has its own ids of tasks. In a user namespace nothing is measured, and a message reports that.

    test-namespaces-views.py KONTEND TRUTH BP-HOLDER UP-WORK"""
import os
import shutil
import subprocess
import sys
import tempfile
import time

from namespaces import Checks, Observer, Skip, can, main

PID = ["unshare", "-pf", "--mount-proc", "--kill-child"]
# How to make one, and how to enter it.
SPACES = {
    "pid": (PID, ["-p", "-m"]),
    "mount": (["unshare", "-m"], ["-m"]),
    "cgroup": (["unshare", "-C"], ["-C"]),
    "net": (["unshare", "-n"], ["-n"]),
}
VIEWS = ["--view", "slots,holders,contexts,events,uprobes,xol,waiters,locks", "--rows", "0"]
KINDS = ["task", "fork", "ptrace", "stat", "tracepoint", "exited"]
TRIES = 2  # others open and close events of their own meanwhile


class Work:
    """A program that reads commands from its standard input and ends with it."""

    def __init__(self, lead, *words):
        self.process = subprocess.Popen([*lead, *words], stdin=subprocess.PIPE, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=1)

    def until(self, word):
        seen = ""
        for line in self.process.stdout:
            seen += line
            if line.startswith(word):
                return line.split()
        if self.process.wait() == 77:
            raise Skip(seen.strip())
        raise AssertionError(f"{self.process.args}: {seen}")

    def tell(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def end(self):
        self.process.stdin.close()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()


def threads():
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            yield from map(int, os.listdir(f"/proc/{pid}/task"))
        except OSError:
            pass  # gone meanwhile


class Numbers:
    """Tasks' numbers as the observer has them that is in the namespace of `pid`: of those that there
    are now. One that is in our own has for all of them, also those of others' namespaces, our numbers."""

    def __init__(self, pid):
        space = os.stat(f"/proc/{pid}/ns/pid").st_ino
        is_ours = space == os.stat("/proc/self/ns/pid").st_ino
        self.known = {}
        for tid in threads():
            try:
                is_inside = os.stat(f"/proc/{tid}/ns/pid").st_ino == space
                with open(f"/proc/{tid}/status") as f:
                    words = [line.split() for line in f if line.startswith("NSpid:")]
                self.known[tid] = tid if is_ours else int(words[0][-1]) if is_inside else -tid
            except OSError:
                pass

    def of(self, host):
        return self.known.get(host) if host else host


def translated(row, numbers, keys):
    """What the observer inside should have; None: a task of it is gone."""
    row = dict(row)
    for key in keys:
        was = row.get(key)
        row[key] = [numbers.of(n) for n in was] if isinstance(was, list) else numbers.of(was)
        if row[key] is None and was is not None:
            return None
        if isinstance(row[key], list) and None in row[key]:
            return None
    return row


IDS = ["pid", "tid", "holder_pids", "target_tid", "owner_pid", "owner_tid", "waiters"]
# view: the columns that identify its rows, and those that are compared.
EQUAL = {
    "holders": (["id"], ["kind", "pid", "comm", "holder_pids", "fd", "addr", "len", "bp_type", "cpu",
                         "target_tid", "target", "owner_pid"]),
    "events": (["id"], ["event", "kind", "owner_pid", "pid", "holder_pids", "fd", "target_tid", "cpu",
                        "pinned", "pmu", "type", "config"]),
    "contexts": (["tid", "comm"], ["pid", "comm", "events", "pinned"]),
    "xol": (["pid"], ["comm", "slots", "used"]),
    "uptasks": (["tid"], ["state", "slot", "depth", "offset"]),
    "waiters": (["tid", "lock"], ["pid", "kind", "comm", "mode", "owner_pid", "owner_tid",
                                  "owner_comm", "owner_certainty"]),
}
LEAST = {"holders": 8, "events": 2, "contexts": 8, "xol": 2, "uptasks": 6, "waiters": 6}
COMMS = ("bp-holder", "up-work", "truth")


def rows(report, view):
    return [row for row in report["views"][view]["rows"]
            if not (view == "waiters" and row["ended"]) and
            (row.get("comm") in COMMS or row.get("target") in COMMS or
             view == "uptasks" and row["task"].startswith("up-work/") or
             view == "events" and row.get("target_tid"))]


def compare(c, view, inside, outside, numbers):
    keys, fields = EQUAL[view]
    c.check(not inside["views"][view]["missing"],
            f"{view}: inside {inside['views'][view]['missing']} is missing")
    seen = {tuple(row[k] for k in keys): row for row in inside["views"][view]["rows"]
            if not (view == "waiters" and row["ended"])}
    n = 0
    for row in rows(outside, view):
        want = translated(row, numbers, [k for k in IDS if k in row])
        if not want:
            continue
        got = seen.get(tuple(want[k] for k in keys))
        what = f"{view}, {want.get('comm')} {[want[k] for k in keys]}"
        c.check(got is not None, f"{what}: not there inside")
        for field in fields if got else []:
            c.check(got[field] == want[field],
                    f"{what}: {field} is {got[field]!r} inside, {want[field]!r} outside")
        n += 1
    c.check(n >= LEAST[view], f"{view}: {n} rows of what is held outside and inside")
    return n


def compare_slots(c, inside, outside):
    fields = ["cpu", "slots", "used", "cpu_pinned", "task_pinned_max", "free_cpu", "free_task"]
    mine, theirs = [[{k: row[k] for k in fields} for row in report["views"]["slots"]["rows"]]
                    for report in (inside, outside)]
    c.equal("slots", mine, theirs)
    c.check(theirs and theirs[0]["used"] >= 1, f"slots: {theirs} outside, though some are held")


def compare_probes(c, inside, outside, keeper):
    mine, theirs = [[row for row in report["views"]["uprobes"]["rows"]
                     if "up_load" in (row.get("symbol") or row.get("where") or str(row))]
                    for report in (inside, outside)]
    c.check(len(theirs) == 1, f"uprobes: {theirs} outside")
    c.check(len(mine) == 1, f"uprobes: {mine} inside")
    if len(mine) == 1 and len(theirs) == 1:
        c.check(mine[0]["owner_pid"] == keeper,
                f"uprobes: owner {mine[0]['owner_pid']} inside, {keeper} as seen from outside")
    return len(mine)


def look(c, folder, space, kontend, truth, holder, program):
    make, enter = SPACES[space]
    works, observers = [], []
    try:
        inner = Observer(kontend, folder, make, "report", *VIEWS)
        observers.append(inner)
        inner.ready()
        step = f"{folder}/step{Observer.count}"
        for lead in ([], inner.enter(*enter)):
            name = step + ("i" if lead else "o")
            with open(name, "w") as f:
                f.write("x")
            works += [Work(lead, holder, *KINDS), Work(lead, program),
                      Work(lead, truth, "pipe", "-s", name, "-r", "0", "-w", "3")]
            works[-3].until("ready")
        outer = Observer(kontend, folder, [], "report", *VIEWS, "--probe", f"{program}:up_load")
        observers.append(outer)
        outer.ready()
        for k in (1, 4):
            works[k].tell("block 3")
            works[k].until("blocked")
            works[k + 1].until("waiting")
        numbers = Numbers(inner.pid())
        keeper = numbers.of(outer.process.pid)
        time.sleep(1.2)  # a look at everything is taken once a second
        outside = inside = None
        with open(outer.base + ".gate", "w") as a, open(inner.base + ".gate", "w") as b:
            a.write("end\n")
            b.write("end\n")
        for o in (outer, inner):
            if o.process.wait(240):
                raise AssertionError(f"an observer failed: {o.error()}")
        outside, inside = outer.report(kontend), inner.report(kontend)
        counts = {}
        compare_slots(c, inside, outside)
        for view in EQUAL:
            counts[view] = compare(c, view, inside, outside, numbers)
        counts["uprobes"] = compare_probes(c, inside, outside, keeper)
        print(f"{space}:", ", ".join(f"{view} {n}" for view, n in counts.items()), "rows compared")
    finally:
        for name in os.listdir(folder):
            if name.startswith("step"):
                with open(f"{folder}/{name}", "a") as f:
                    f.write("x")
        for o in observers:
            o.kill()
        for work in works:
            work.end()


def is_equal(space, programs):
    for _ in range(TRIES):
        c = Checks()
        with tempfile.TemporaryDirectory(prefix="kontend-") as folder:
            look(c, folder, space, *programs)
        if not c.complaints:
            return True
        print(f"{space}:", "\n".join(c.complaints))
    return False


def says_why_not(kontend):
    """Root of a user namespace has all capabilities, and none that the kernel asks for."""
    lead = ["unshare", "-Ur"]
    if not can(*lead):
        print("no user namespace can be made here")
        return True
    c = Checks()
    for words in (["report", "--duration", "1"], ["record", "-o", "/dev/null", "--duration", "1"]):
        done = subprocess.run([*lead, kontend, *words], capture_output=True, text=True)
        c.check(done.returncode and "user namespace" in done.stderr,
                f"user: {words[0]} ends with {done.returncode}: {done.stderr}")
    done = subprocess.run([*lead, kontend, "doctor"], capture_output=True, text=True)
    fixes = [line.split("fix: ")[1] for line in done.stdout.splitlines() if "fix: " in line]
    c.check(done.returncode and fixes, f"user: the doctor ends with {done.returncode}")
    for fix in fixes:
        c.check("user namespace" in fix, f"user: the doctor's fix is: {fix}")
    print("\n".join(c.complaints))
    return not c.complaints


def run():
    programs = [os.path.realpath(path) for path in sys.argv[1:5]]
    if not can(*PID) or not shutil.which("nsenter"):
        raise Skip("unshare makes no PID namespace here, as in a chroot, whose / is no mount point")
    failures = not says_why_not(programs[0])
    for space in SPACES:
        failures += not is_equal(space, programs)
    return 1 if failures else 0


main(run)
