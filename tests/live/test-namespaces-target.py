#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Measures one process, and one thread, by their numbers inside of a PID namespace, and at the same
time from outside by those of the host: both see the same waits, and those of no other task.

    test-namespaces-target.py KONTEND TRUTH"""
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from namespaces import Checks, Skip, can, main, wait_for

PID = ["unshare", "-pf", "--mount-proc", "--kill-child"]
WAYS = {"by BPF": [], "by perf": ["--no-bpf"]}
VIEWS = ["--view", "locks,waiters", "--by", "task", "--rows", "0"]
LOST = ["lost", "dropped", "doubtful", "unmatched_begin"]
TRIES = 2  # who measures at the same time may make us lose some


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as f:
            return [int(word) for word in f.read().split()]
    except OSError:
        return []


def inner_number(pid):
    with open(f"/proc/{pid}/status") as f:
        return int([line.split()[-1] for line in f if line.startswith("NSpid:")][0])


class Space:
    """A PID namespace that lasts, and how to enter it."""

    def __init__(self):
        self.process = subprocess.Popen([*PID, "sleep", "100000"])
        first = wait_for(lambda: children(self.process.pid), "a namespace")[0]
        self.lead = ["nsenter", "-t", str(first), "-p", "-m", "--"]
        # Its /proc is mounted when the command runs.
        wait_for(lambda: os.readlink(f"/proc/{first}/exe").endswith("sleep"), "its first process")

    def end(self):
        self.process.kill()
        self.process.wait()


class Gated:
    """A command within a namespace that waits until it may begin."""

    def __init__(self, folder, lead, *words):
        self.gate = f"{folder}/work"
        os.mkfifo(self.gate)
        self.process = subprocess.Popen(
            [*lead, "sh", "-c", 'read x <"$0"; exec "$@"', self.gate, *words],
            stdout=subprocess.DEVNULL)
        self.pid = wait_for(lambda: children(self.process.pid), "the work")[0]
        wait_for(lambda: os.readlink(f"/proc/{self.pid}/exe").rsplit("/", 1)[-1] != "nsenter",
                 "the work's program")

    def run(self):
        with open(self.gate, "w") as f:
            f.write("go\n")
        if self.process.wait(240) == 77:
            raise Skip("the work cannot be done here")
        if self.process.returncode:
            raise AssertionError(f"the work ended with {self.process.returncode}")

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Watcher:
    """kontend report of a running process: it ends on a signal."""

    def __init__(self, folder, kontend, lead, *options):
        self.out = f"{folder}/{'inside' if lead else 'outside'}"
        with open(self.out, "w") as out, open(self.out + ".err", "w") as err:
            self.process = subprocess.Popen(
                [*lead, kontend, "report", "-v", "--format", "json", *VIEWS, *options],
                stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        self.pid = self.process.pid
        if lead:
            self.pid = wait_for(lambda: children(self.process.pid), "a watcher")[0]

    def ready(self):
        """With -v it prints "measuring" when all is open and attached."""
        def measures():
            with open(self.out + ".err") as f:
                said = f.read()
            if self.process.poll() is not None:
                raise AssertionError(f"a watcher ended: {said.strip()}")
            return "measuring " in said
        wait_for(measures, "a watcher")

    def report(self):
        # It has ended already where its task has.
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGINT)
        self.process.wait(240)
        with open(self.out) as f:
            return json.load(f)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def observe(folder, kontend, space, option, pid, way, work):
    """Inside and outside, of the task that is `pid` outside."""
    watchers = []
    try:
        for lead, number in (([], pid), (space.lead, inner_number(pid))):
            watchers.append(Watcher(folder, kontend, lead, *WAYS[way], option, str(number)))
        for w in watchers:
            w.ready()
        time.sleep(0.3)  # they begin to measure
        work()
        return [w.report() for w in watchers]
    finally:
        for w in watchers:
            w.kill()


def tasks(report):
    """Without waits for spinlocks: release_task() takes some after the task has lost its number, which
    is the moment from when a PID namespace does not know it."""
    return [row for row in report["views"]["locks"]["rows"]
            if row["contended"] and row["type"] != "spinlock"]


def spun(report):
    return sum(row["contended"] for row in report["views"]["locks"]["rows"]
               if row["type"] == "spinlock")


def sums(report):
    return sorted((row["comm"] or "", row["contended"]) for row in tasks(report))


def look_at_process(c, what, folder, kontend, truth, space, way):
    work = Gated(folder, space.lead, truth, "dir", "-h", "60", "-r", "3", "-w", "2", "-o",
                 f"{folder}/truth")
    try:
        outside, inside = observe(folder, kontend, space, "-p", work.pid, way, work.run)
    finally:
        work.kill()
    if any(report["source"][key] for report in (outside, inside) for key in LOST):
        return False
    with open(f"{folder}/truth") as f:
        waits = json.load(f)["waits"]
    rows = tasks(inside)
    c.check(len(rows) >= len(waits), f"{what}: {len(rows)} tasks inside, {len(waits)} have waited")
    c.check(all(row["tid"] > 0 for row in rows), f"{what}: tasks outside are measured")
    c.equal(what, sums(inside), sums(outside))
    print(f"{what}: {len(rows)} tasks, {sum(n for _, n in sums(inside))} waits inside and outside")
    return True


def who_waits_in_a_pipe(pid):
    for tid in map(int, os.listdir(f"/proc/{pid}/task")):
        with open(f"/proc/{tid}/wchan") as f:
            if "pipe" in f.read():
                return tid
    return 0


def look_at_thread(c, what, folder, kontend, truth, space, way):
    """One that waits since before: the end of that is an event, and it has no others. A snapshot of BPF
    has the begin of that wait; perf has none."""
    step = f"{folder}/step"
    with open(step, "w") as f:
        f.write("x")
    work = subprocess.Popen([*space.lead, truth, "pipe", "-s", step, "-r", "0", "-w", "3"],
                            stdout=subprocess.PIPE, text=True)

    def go_on():
        with open(step, "a") as f:
            f.write("x")
        work.wait(240)

    try:
        if not any(line.startswith("waiting") for line in work.stdout):
            raise Skip("the work cannot be done here")
        pid = children(work.pid)[0]
        tid = wait_for(lambda: who_waits_in_a_pipe(pid), "a thread that waits")
        reports = observe(folder, kontend, space, "-t", tid, way, go_on)
    finally:
        if work.poll() is None:
            go_on()
    outside, inside = [dict(report["source"]) for report in reports]
    for source, report in zip((outside, inside), reports):
        source["events"] -= 2 * spun(report)
    print(f"{what}: {inside['events']} events inside, {outside['events']} outside")
    for key in ("events", "unmatched_end", "lost"):
        c.equal(f"{what}, {key}", inside[key], outside[key])
    ends = inside["unmatched_end"]
    c.check(ends == (1 if WAYS[way] else 0), f"{what}: {ends} ends without begin")
    for report in reports:
        waits = sum(n for _, n in sums(report))
        c.check(WAYS[way] or waits >= 1, f"{what}: the wait from before is none of {waits} waits")
    return True


def refuses_who_is_outside(kontend, space):
    """No number of ours means them."""
    done = subprocess.run([*space.lead, kontend, "report", "-p", str(os.getpid()), "--duration", "1"],
                          capture_output=True, text=True)
    if done.returncode and str(os.getpid()) in done.stderr:
        return True
    print(f"FAIL -p of a process outside ends with {done.returncode}: {done.stderr}")
    return False


def holds(what, look, *words):
    for _ in range(TRIES):
        c = Checks()
        with tempfile.TemporaryDirectory(prefix="kontend-") as folder:
            if look(c, what, folder, *words) and not c.complaints:
                return True
        print("\n".join(c.complaints or [f"{what}: something was lost"]))
    return False


def run():
    kontend, truth = [os.path.realpath(path) for path in sys.argv[1:3]]
    if not can(*PID) or not shutil.which("nsenter"):
        raise Skip("unshare makes no PID namespace here, as in a chroot, whose / is no mount point")
    space = Space()
    try:
        failures = not refuses_who_is_outside(kontend, space)
        for way in WAYS:
            for option, look in {"-p": look_at_process, "-t": look_at_thread}.items():
                failures += not holds(f"{option}, {way}", look, kontend, truth, space, way)
    finally:
        space.end()
    return 1 if failures else 0


main(run)
