#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Waits for locks of files, against programs that measure them: their lengths, holders and paths, live,
from a recording of kontend, and from one of perf.

    test-file-locks.py KONTEND"""
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from checks import check, done, skip

SLACK_NS = 30_000_000  # a program measures around its system call, and may be kept off its CPU
HOLD_S = 0.4


def lock_flock(f, how):
    fcntl.flock(f, how)


def lock_posix(f, how):
    fcntl.lockf(f, how)


def hold(path, lock, how):
    """A process that has the lock for a while; returns when it has it."""
    told, tell = os.pipe()
    pid = os.fork()
    if pid == 0:
        with open(path, "r+") as f:
            lock(f, how)
            os.write(tell, b"x")
            time.sleep(HOLD_S)
        os._exit(0)
    os.read(told, 1)
    os.close(told)
    os.close(tell)
    return pid


def hold_parts(path, starts):
    return [hold(path, lambda f, how, at=at: fcntl.lockf(f, how, 10, at), fcntl.LOCK_EX) for at in starts]


def wait_for(path, lock, how):
    with open(path, "r+") as f:
        begin = time.monotonic_ns()
        lock(f, how)
        return time.monotonic_ns() - begin


class Interrupted(Exception):
    pass


def interrupt(*_):
    raise Interrupted


def work(folder):
    """As a program of its own: prints what it did, a line for each wait."""
    rows = []

    def path(name):
        with open(os.path.join(folder, name), "w"):
            pass
        return os.path.join(folder, name)

    for name, lock, first, then, kind in (("ww", lock_flock, fcntl.LOCK_EX, fcntl.LOCK_EX, "flock:W"),
                                          ("rw", lock_flock, fcntl.LOCK_EX, fcntl.LOCK_SH, "flock:R"),
                                          ("pw", lock_posix, fcntl.LOCK_EX, fcntl.LOCK_EX, "posix:W"),
                                          ("pr", lock_posix, fcntl.LOCK_EX, fcntl.LOCK_SH, "posix:R")):
        holder = hold(path(name), lock, first)
        ns = wait_for(os.path.join(folder, name), lock, then)
        os.waitpid(holder, 0)
        rows.append({"kind": kind, "path": os.path.join(folder, name), "ns": ns, "holder": holder, "failed": False})
    # Another part is another lock; the part that is waited for and one that the task has already become one.
    with open(path("part"), "r+", encoding="utf-8") as f:
        fcntl.lockf(f, fcntl.LOCK_EX, 10, 10)
        others = hold_parts(os.path.join(folder, "part"), (0, 20))
        begin = time.monotonic_ns()
        fcntl.lockf(f, fcntl.LOCK_EX, 10, 0)
        ns = time.monotonic_ns() - begin
        for pid in others:
            os.waitpid(pid, 0)
    rows.append({"kind": "posix:W", "path": os.path.join(folder, "part") + " 0-9", "ns": ns, "holder": others[0],
                 "failed": False})
    # A signal ends it.
    holder = hold(path("sig"), lock_flock, fcntl.LOCK_EX)
    signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, HOLD_S / 2)
    begin = time.monotonic_ns()
    try:
        wait_for(os.path.join(folder, "sig"), lock_flock, fcntl.LOCK_EX)
    except Interrupted:
        pass
    rows.append({"kind": "flock:W", "path": os.path.join(folder, "sig"), "ns": time.monotonic_ns() - begin,
                 "holder": holder, "failed": True})
    os.waitpid(holder, 0)
    # The other tries need not wait.
    for _ in range(100):
        with open(os.path.join(folder, "ww"), "r+") as f:
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.flock(f, fcntl.LOCK_UN)
    print(json.dumps({"pid": os.getpid(), "rows": rows}), flush=True)


def run(*args):
    p = subprocess.run(args, capture_output=True, text=True, check=False)
    check(p.returncode == 0, "%s: status %d: %s" % (args, p.returncode, p.stderr))
    return p.stdout


def events(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def check_waits(what, truth, found, signals):
    """@found: ends of waits, of script."""
    ends = [e for e in found if e.get("event") in ("end", "failed") and e["tid"] == truth["pid"] and
            e["type"] in ("flock", "posix", "lease")]
    wanted = [r for r in truth["rows"] if signals or not r["failed"]]
    check(len(ends) == len(wanted), "%s: %d waits, %d written: %s" % (what, len(ends), len(wanted), ends))
    for row, e in zip(wanted, ends):
        kind = "%s:%s" % (e["type"], e["mode"])
        check(kind == row["kind"], "%s: type %s, written %s" % (what, kind, row["kind"]))
        check((e["ret"] != 0) == row["failed"], "%s: %s: result %d" % (what, row["path"], e["ret"]))
        check(e["wait_ns"] <= row["ns"] <= e["wait_ns"] + SLACK_NS,
              "%s: %s: %d ns, written %d" % (what, row["path"], e["wait_ns"], row["ns"]))


def check_rows(what, truth, views):
    names = {r["name"] for r in views["locks"]["rows"] if r["type"] in ("flock", "posix")}
    paths = {r["path"] for r in truth["rows"]}
    check(names >= paths, "%s: locks %s, written %s" % (what, sorted(names), sorted(paths)))
    held = {(w["name"], w["owner_pid"]) for w in views["waiters"]["rows"] if w["type"] in ("flock", "posix")}
    for row in truth["rows"]:
        if not row["failed"]:
            check((row["path"], row["holder"]) in held,
                  "%s: %s is held by %d, waiters have %s" % (what, row["path"], row["holder"], sorted(held)))


class Circle:
    """Two processes with a file each, that wait for the other's."""

    def __init__(self, folder):
        self.paths = [os.path.join(folder, name) for name in ("A", "B")]
        self.pids = []
        for p in self.paths:
            with open(p, "w", encoding="utf-8"):
                pass
        for first, second in (self.paths, self.paths[::-1]):
            pid = os.fork()
            if pid == 0:
                with open(first, "r+", encoding="utf-8") as a, open(second, "r+", encoding="utf-8") as b:
                    fcntl.flock(a, fcntl.LOCK_EX)
                    time.sleep(0.2)
                    fcntl.flock(b, fcntl.LOCK_EX)
                os._exit(0)
            self.pids.append(pid)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pid in self.pids:
            os.kill(pid, signal.SIGKILL)
        for pid in self.pids:
            os.waitpid(pid, 0)

    def check(self, what, text):
        views = json.loads(text)["views"]
        rows = views["chains"]["rows"]
        circles = [r["node"] for r in rows if r["row"] == "deadlock"]
        check(views["chains"]["deadlocks"] >= 1, "%s: %d deadlocks are proved" % (what, views["chains"]["deadlocks"]))
        held = {(r["name"], r["pid"]) for r in rows if r["row"] == "lock" and r["parent"] in circles}
        waits = {(w["pid"], w["name"]) for w in views["waiters"]["rows"] if not w["ended"] and w["type"] == "flock"}
        check(held >= set(zip(self.paths, self.pids)), "%s: the circle has %s" % (what, sorted(held)))
        check(waits >= set(zip(self.pids, self.paths[::-1])), "%s: %s wait" % (what, sorted(waits)))


def check_circles(kontend, folder):
    views = ("--view", "chains,waiters", "--rows", "0", "--format", "json")
    with Circle(folder) as circle:
        time.sleep(0.5)
        circle.check("begun before", run(kontend, "report", "-q", "--duration", "1", *views))
        circle.check("snapshots alone", run(kontend, "report", "-q", "--no-bpf", "--duration", "1", *views))
        run(kontend, "record", "-q", "-o", "circle.data", "--duration", "1")
        circle.check("recording", run(kontend, "report", "-q", "-i", "circle.data", *views))
    p = subprocess.Popen((kontend, "report", "-q", "--duration", "3", *views), stdout=subprocess.PIPE, text=True)
    time.sleep(1)
    with Circle(folder) as circle:
        circle.check("begun meanwhile", p.communicate()[0])


def check_passed_on(kontend, folder):
    """The process that took the lock has ended; a signal ends a wait that began before kontend did."""
    path = os.path.join(folder, "passed")
    holder = subprocess.Popen(("sh", "-c", 'exec 9>"$0"; flock -x 9; exec sleep 60', path))
    time.sleep(0.3)
    waiter = subprocess.Popen(("flock", path, "true"))
    time.sleep(0.3)
    p = subprocess.Popen((kontend, "report", "-q", "--duration", "4", "--view", "waiters", "--rows", "0", "--format",
                          "json"), stdout=subprocess.PIPE, text=True)
    views = json.loads(run(kontend, "report", "-q", "--duration", "1", "--view", "waiters", "--rows", "0", "--format",
                           "json"))["views"]
    rows = [w for w in views["waiters"]["rows"] if w["pid"] == waiter.pid and w["name"] == path]
    check(len(rows) == 1 and rows[0]["owner_pid"] == holder.pid, "passed on to %d: %s" % (holder.pid, rows))
    check(len(rows) == 1 and rows[0]["fd"] == 9 and rows[0]["held_most_ns"] is None, "by descriptor 9: %s" % rows)
    waiter.kill()
    waiter.wait()
    later = json.loads(p.communicate()[0])["views"]["waiters"]["rows"]
    check(not [w for w in later if w["pid"] == waiter.pid and not w["ended"]], "a killed task waits: %s" % later)
    holder.kill()
    holder.wait()


def check_age(kontend, folder):
    """Case: many wait for a lock that a shell has. It took the lock before kontend began, or meanwhile."""
    views = ("--duration", "3", "--view", "chains", "--rows", "0", "--format", "json")
    path = os.path.join(folder, "age")
    shell = 'exec 9>"$0"; flock -x 9; sleep 60; :'

    def lock_row(text):
        rows = [r for r in json.loads(text)["views"]["chains"]["rows"]
                if r["row"] == "lock" and r["name"] == path and not r["ended"]]
        check(len(rows) == 1, "%s has %d rows" % (path, len(rows)))
        return rows[0] if rows else {"pid": 0, "fd": 0, "held_ns": 0, "held_most_ns": 0, "behind": 0}

    def check_row(what, row, holder, at_least, at_most_ns):
        check((row["pid"], row["fd"], row["behind"]) == (holder.pid, 9, 50), "%s: %d has it: %s" % (what, holder.pid, row))
        check("held_ns" in row.get("lower_bound", ()) or not at_least, "%s: no lower bound: %s" % (what, row))
        check(row["held_ns"] and row["held_ns"] <= at_most_ns, "%s: held for %d ns at most: %s" % (what, at_most_ns, row))

    kontend_runs = subprocess.Popen((kontend, "report", "-q", *views), stdout=subprocess.PIPE, text=True)
    time.sleep(1)
    since = time.monotonic_ns()
    holder = subprocess.Popen(("bash", "-c", shell, path), start_new_session=True)
    time.sleep(0.3)
    took = time.monotonic_ns()
    waiters = [subprocess.Popen(("flock", path, "true")) for _ in range(50)]
    row = lock_row(kontend_runs.communicate()[0])
    end = time.monotonic_ns()
    check_row("taken meanwhile", row, holder, False, end - since)
    # The report ends with its last tick, at most half a second before kontend does.
    check("lower_bound" not in row and row["held_ns"] >= end - took - 1_500_000_000, "taken meanwhile, exactly: %s" % row)
    row = lock_row(run(kontend, "report", "-q", *views))
    check_row("taken before", row, holder, True, time.monotonic_ns() - since)
    check(row["held_ns"] >= 1_000_000_000, "snapshots of 3 s have seen it: %s" % row)
    run(kontend, "record", "-q", "-o", "age.data", "--duration", "2")
    text = run(kontend, "screenshot", "-i", "age.data", "--size", "80x24", "--keys", "0")
    line = [t for t in text.splitlines() if "flock " + path in t]
    check(line and "fd 9, held " in line[0] and "%s/%d" % ("bash", holder.pid) in text, "80x24: %s" % text)
    for w in waiters:
        w.kill()
        w.wait()
    os.killpg(holder.pid, signal.SIGKILL)
    holder.wait()


def check_inside(kontend, folder):
    """In a PID namespace the holder is a process outside."""
    path = os.path.join(folder, "outside")
    with open(path, "w", encoding="utf-8"):
        pass
    holder = subprocess.Popen(("flock", "-F", path, "sleep", "60"))
    inside = '"$0" report -q --duration 4 --view waiters --rows 0 --format json & sleep 2; timeout 4 flock "$1" true; wait'
    p = subprocess.run(("unshare", "-pf", "--mount-proc", "sh", "-c", inside, kontend, path), capture_output=True,
                       text=True, check=False)
    holder.kill()
    holder.wait()
    if not check(p.stdout.startswith("{"), "in a namespace: status %d: %s" % (p.returncode, p.stderr)):
        return
    rows = [w for w in json.loads(p.stdout)["views"]["waiters"]["rows"] if w["name"] == path]
    check(len(rows) == 1 and rows[0]["owner_comm"] == "sleep" and rows[0]["owner_pid"] == -holder.pid,
          "in a namespace, held by %d outside: %s" % (holder.pid, rows))


def main(kontend):
    if os.geteuid() != 0:
        skip("needs root")
    me = (sys.executable, os.path.abspath(__file__), "--work")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check_circles(kontend, folder)
        check_passed_on(kontend, folder)
        check_age(kontend, folder)
        check_inside(kontend, folder)
        truth = json.loads(run(kontend, "report", "-q", "--format", "json", "-o", "live.json", "--view", "locks,waiters",
                               "--rows", "0", "--", *me, folder))
        with open("live.json", encoding="utf-8") as f:
            check_rows("live", truth, json.load(f)["views"])
        truth = json.loads(run(kontend, "record", "-q", "-o", "k.data", "--", *me, folder))
        check_waits("recording", truth, events(run(kontend, "script", "-i", "k.data", "--format", "json")), True)
        check_rows("recording", truth, json.loads(run(kontend, "report", "-i", "k.data", "--format", "json", "--view",
                                                      "locks,waiters", "--rows", "0"))["views"])
        if not shutil.which("perf") or not os.path.exists("/sys/kernel/tracing/events/filelock"):
            print("perf's recording was not tried: no perf, or no tracefs at /sys/kernel/tracing")
            done()
        truth = json.loads(run("perf", "record", "-q", "-o", "p.data", "-e", "filelock:*", "--", *me, folder))
        check_waits("perf", truth, events(run(kontend, "script", "-i", "p.data", "--format", "json")), False)
        # Its locks have no paths: by the lengths of the waits, of which there are few.
        views = json.loads(run(kontend, "report", "-i", "p.data", "--format", "json", "--view", "waiters,blame",
                               "--rows", "0"))["views"]
        waits = [(w["owner_pid"], w["since_ns"]) for w in views["waiters"]["rows"] if w["pid"] == truth["pid"]]
        held = {r["holder"] for r in truth["rows"] if not r["failed"] and r["kind"].startswith(("flock", "posix"))}
        for row in truth["rows"]:
            if row["holder"] in held:
                found = [ns for pid, ns in waits if pid == row["holder"] and ns <= row["ns"] <= ns + SLACK_NS]
                check(found, "perf: %s is held by %d: %s" % (row["path"], row["holder"], waits))
        blamed = {r["pid"] for r in views["blame"]["rows"] if (r["kind"] or "").startswith(("flock", "posix"))}
        check(blamed >= held, "perf: blamed are %s, holders were %s" % (sorted(blamed), sorted(held)))
    done()


if sys.argv[1] == "--work":
    work(sys.argv[2])
else:
    main(os.path.abspath(sys.argv[1]))
