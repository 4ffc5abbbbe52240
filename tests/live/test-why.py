#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The activity of chosen tasks against a program that has a log of its own: it reads from a pipe for
a helper that sleeps, sleeps itself, and computes; live, from a recording, and in a PID namespace.
Against one whose threads read a device, and wait for a mutex, the lock of a file and a timer. And a
task that another one keeps off their CPU.

    test-why.py KONTEND SLEEPS"""
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

import causes
from checks import attempt, check, done, skip
from namespaces import Skip

kontend, sleeps = sys.argv[1:3]
ROUNDS, HELPER_S, OWN_S, RUN_S = 20, 0.04, 0.02, 0.01
SLEEP_S = 0.02  # in SLEEPS
MS = 1000000
THREADS = 60
TRIES = 3  # each sleep is compared
MOST_S = 20  # a hog ends then, whatever happens


def name(comm):
    with open("/proc/self/comm", "w") as f:
        f.write(comm)


def spin(seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass


def truth():
    """The measured program: prints its log."""
    asked, ready = os.pipe(), os.pipe()
    log = {"pid": os.getpid(), "pipe": 0, "own": 0, "helper": 0}
    log["helper_pid"] = os.fork()
    if not log["helper_pid"]:
        name("kt-helper")
        os.close(asked[1])
        while os.read(asked[0], 1):
            time.sleep(HELPER_S)
            os.write(ready[1], b"x")
        os._exit(0)
    name("kt-app")
    for _ in range(ROUNDS):
        spin(RUN_S)
        begin = time.monotonic_ns()
        os.write(asked[1], b"x")
        os.read(ready[0], 1)
        middle = time.monotonic_ns()
        time.sleep(OWN_S)
        log["pipe"] += middle - begin
        log["own"] += time.monotonic_ns() - middle
    os.close(asked[1])
    os.waitpid(log["helper_pid"], 0)
    print(json.dumps(log))


def run(*words, before=()):
    p = subprocess.run([*before, kontend, *words], capture_output=True, text=True)
    if p.returncode and "Cannot follow" in p.stderr:
        skip(p.stderr.strip())
    if p.returncode:
        raise AssertionError(f"{words[0]}: {p.stderr.strip()}")
    return p.stdout


def of_thread(path, tid):
    return json.loads(run("why", "-q", "-j", "-i", path, "-t", str(tid)))["views"]["why"]


def spent(why, does, cause):
    return sum(r["spent_ns"] for r in why["rows"] if r["does"] == does and r["why"] == cause)


def check_within(when, got, least, most):
    check(least <= got <= most, f"{when}: {got / MS:.1f} ms, not {least / MS:.1f} to {most / MS:.1f}")


def check_app(when, why, log):
    """A sleep ends when its task is woken, and the log has the time until it ran again, too."""
    check_within(f"{when}: pipe", spent(why, "blocked", "pipe is empty"),
                 0.98 * ROUNDS * HELPER_S * 1e9, log["pipe"])
    check_within(f"{when}: own sleeps", spent(why, "blocked", "sleeps by itself"),
                 ROUNDS * OWN_S * 1e9, log["own"])
    parts = why["sum"]
    check(parts["tasks"] == 1, f"{when}: tasks: {parts}")
    check(parts["not_known_ns"] == 0, f"{when}: {parts}")
    check(parts["running_ns"] + parts["runnable_ns"] + parts["blocked_ns"] == parts["all_ns"],
          f"{when}: parts: {parts}")
    check(parts["running_ns"] > 0, f"{when}: it ran: {parts}")


def check_chain(when, why, log):
    block = next((b for b in why["longest"]
                  if b["tid"] == log["pid"] and b["cause"] == "pipe is empty" and b["chain"]), None)
    if not check(block, f"{when}: no chain: {why['longest']}"):
        return
    check(block["waker_tid"] == log["helper_pid"] and block["waker_comm"] == "kt-helper",
          f"{when}: woken by {block['ended_by']}")
    link = block["chain"][0]
    check(link["tid"] == log["helper_pid"] and link["cause"] == "sleeps by itself", f"{when}: {link}")
    check(link["longest_ns"] >= 0.98 * HELPER_S * 1e9 and link["ended_by"] == "a timer",
          f"{when}: {link}")
    check(link["blocked_ns"] + link["runnable_ns"] + link["running_ns"] == link["all_ns"],
          f"{when}: parts: {link}")


def measured(when, work, before=()):
    path = os.path.join(work, "why.data")
    log = json.loads(run("record", "-q", "--why", "-o", path, "--", sys.executable, __file__, kontend,
                         sleeps, "truth", before=before))
    why = of_thread(path, log["pid"])
    check_app(when, why, log)
    check_chain(when, why, log)
    return log


def live(when, work):
    path = os.path.join(work, "why.json")
    log = json.loads(run("why", "-q", "-j", "-o", path, "--", sys.executable, __file__, kontend,
                         sleeps, "truth"))
    with open(path) as f:
        why = json.load(f)["views"]["why"]
    check(why["sum"]["tasks"] == 2, f"{when}: the program and its helper: {why['sum']}")
    check_chain(when, why, log)
    check(spent(why, "blocked", "pipe is empty") > 0, f"{when}: {why['rows']}")
    check(not spent(why, "blocked", "socket"), f"{when}: before it began: {why['rows']}")
    check(any(r["ended_by"] == "a timer" and r["why"] == "sleeps by itself" for r in why["rows"]),
          f"{when}: {why['rows']}")


# By thread: its cause, call and function, and who ended most of it.
SLEEPS = {
    "kt-mutex": ("mutex(u)", "futex", "wait_for_mutex", "kt-holds/"),
    "kt-flock": ("file lock", "flock", "wait_for_file", "kt-has/"),
    "kt-naps": ("sleeps by itself", "clock_nanosleep", "nap", "a timer"),
}


def row_of(why, cause):
    """Its greatest row, as the barriers of the program are futexes, too."""
    rows = [r for r in why["rows"] if r["does"] == "blocked" and r["why"].startswith(cause)]
    return max(rows, key=lambda r: r["spent_ns"], default=None)


def check_sleep(path, comm, log):
    cause, call, function, ended_by = SLEEPS[comm]
    why = of_thread(path, log["tid"])
    row = row_of(why, cause)
    if not check(row, f"{comm}: {why['rows']}"):
        return
    check_within(comm, row["spent_ns"], 0.9 * ROUNDS * SLEEP_S * 1e9, log["ns"])
    check(row["syscall"] == call, f"{comm}: call: {row}")
    check(row["ended_by"].startswith(ended_by), f"{comm}: end: {row}")
    check(function in (row["at"] or ""), f"{comm}: line: {row}")
    if comm == "kt-naps":
        return
    block = next((b for b in why["longest"] if b["chain"] and b["lock"]), None)
    if not check(block, f"{comm}: no chain: {why['longest']}"):
        return
    check(block["lock"] == row["for_lock"], f"{comm}: lock: {block}")
    check(block["ended_by"].startswith(ended_by), f"{comm}: {block}")
    check(block["holder"] and (comm == "kt-flock" or block["holder"] == block["ended_by"]),
          f"{comm}: holder: {block}")
    link = block["chain"][0]
    check(f"{link['comm']}/" == ended_by and link["cause"] == "sleeps by itself", f"{comm}: {link}")
    check(link["ended_by"] == "a timer", f"{comm}: {link}")


def check_disk(path, log):
    """The log has the time until it ran again, and that of reads that did not sleep."""
    why = of_thread(path, log["tid"])
    row = row_of(why, "disk read")
    if check(row, f"disk: {why['rows']}"):
        check_within("disk", row["spent_ns"], 1, log["ns"])
        check(row["syscall"] == "pread64" and row["on"].startswith("loop"), f"disk: {row}")
        check("read_blocks" in (row["at"] or ""), f"disk: line: {row}")


def by_cause(work):
    """Each sleep has its cause, its place in the program, its lock and the one who ended it."""
    disk, file, path = (os.path.join(work, n) for n in ("disk", "file", "sleeps.data"))
    for name, size in (disk, 1 << 20), (file, 0):
        with open(name, "wb") as f:
            f.truncate(size)
    try:
        number, device = causes.loop(None, disk)
    except (OSError, Skip) as e:
        print(f"no sleeps for a disk: {e}")
        return
    with contextlib.ExitStack() as undo:
        undo.callback(os.close, device)
        log = json.loads(run("record", "-q", "--why", "-o", path, "--", sleeps,
                             f"/dev/loop{number}", file, str(ROUNDS)))
    for comm in SLEEPS:
        check_sleep(path, comm, log[comm])
    check_disk(path, log["kt-disk"])


def busy(comm, cpu):
    pid = os.fork()
    if pid:
        return pid
    try:
        signal.alarm(MOST_S)
        name(comm)
        os.sched_setaffinity(0, {cpu})
        spin(MOST_S)
    finally:
        os._exit(0)


def kept_off():
    """Two that want one CPU: each is kept off by the other, or by what else is there."""
    cpu = max(os.sched_getaffinity(0))
    pids = [busy("kt-busy", cpu), busy("kt-hog", cpu)]
    try:
        why = json.loads(run("why", "-q", "-j", "-n", "0", "-p", str(pids[0]), "--duration", "2"))
        why = why["views"]["why"]
        check(why["sum"]["blocked_ns"] < 0.1 * why["sum"]["all_ns"], f"kept off: {why['sum']}")
        check(why["sum"]["runnable_ns"] > 0, f"kept off: {why['sum']}")
        check(spent(why, "runnable", f"kt-hog/{pids[1]}") > 0, f"kept off: {why['rows']}")
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def many():
    """The measured program: threads that end at about the same time, each of which it waits for."""
    threads = [threading.Thread(target=lambda: [time.sleep(0.005) for _ in range(ROUNDS)])
               for _ in range(THREADS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def ends(work, before):
    """A task that ends loses its number in the namespace before it leaves its CPU for the last time."""
    path = os.path.join(work, "many.data")
    run("record", "-q", "--why", "-o", path, "--", sys.executable, __file__, kontend, sleeps, "many",
        before=before)
    parts = json.loads(run("why", "-q", "-j", "-i", path))["views"]["why"]["sum"]
    check(parts["tasks"] == THREADS + 1, f"threads in a namespace: {parts}")
    check(parts["dropped"] == 0, f"threads in a namespace: {parts}")


def no_record(work):
    """Why there is nothing, of a recording and of a measurement."""
    path = os.path.join(work, "none.data")
    run("record", "-q", "-o", path, "--duration", "100ms")
    why = json.loads(run("why", "-q", "-j", "-i", path))["views"]["why"]
    check(why["none"] == "no task was followed: measure or record with --why and --pid, --tid or a "
          "command", f"none: {why['none']}")
    check(not why["rows"], f"none: {why['rows']}")


def main():
    if os.geteuid():
        skip("needs root")
    with tempfile.TemporaryDirectory() as work:
        attempt(TRIES, measured, "recording", work)
        attempt(TRIES, live, "live", work)
        attempt(TRIES, by_cause, work)
        kept_off()
        inside = ("unshare", "-pf", "--mount-proc")
        if subprocess.run([*inside, "true"], capture_output=True).returncode == 0:
            attempt(TRIES, measured, "namespace", work, inside)
            ends(work, inside)
        no_record(work)
    done()


if sys.argv[3:] == ["truth"]:
    truth()
elif sys.argv[3:] == ["many"]:
    many()
else:
    main()
