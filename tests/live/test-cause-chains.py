#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Chains of waits that continue through causes of sleep, to the task, file or device at their end, against
tasks that this test has put there: live, and from a recording.

    test-cause-chains.py KONTEND"""
import fcntl
import json
import mmap
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

import causes
import heldfs
from causes import Task
from checks import check, failed
from namespaces import main, wait_for

WAITERS = 50


def run(*args):
    p = subprocess.run(args, capture_output=True, text=True)
    if p.returncode:
        raise AssertionError(f"{args}: status {p.returncode}: {p.stderr.strip()}")
    return p.stdout


def report(*args):
    view = json.loads(run(sys.argv[1], "report", "-q", "--view", "chains", "--format", "json", *args))["views"]["chains"]
    return {r["node"]: r for r in view["rows"] if not r["ended"]}


def looks(where):
    """When, and the chains: live, and from a recording."""
    yield "live", report("--duration", "1.2s")
    run(sys.argv[1], "record", "-q", "--duration", "1.5s", "-o", where)
    yield "recorded", report("-i", where)


def way(rows, tid):
    """From the row in which that task waits to the root."""
    at = [r for r in rows.values() if r["row"] == "waiter" and r["tid"] == tid]
    if not at:
        return []
    ret = at[:1]
    while ret[-1]["parent"] is not None:
        ret.append(rows[ret[-1]["parent"]])
    return ret


def in_words(rows):
    return " -> ".join(f"{r['row']} {r['sleeps_for'] or r['name'] or ''} {r['comm'] or ''}/{r['tid'] or ''}"
                       for r in rows)


def is_like(when, rows, wanted):
    """Each row is of that kind, and has that task, or that text in its lock or object."""
    print(f"{when}: {in_words(rows)}")
    kinds = [kind for kind, _ in wanted]
    if not check([r["row"] for r in rows] == kinds, f"{when}: {in_words(rows)}, not {kinds}"):
        return
    for r, (kind, what) in zip(rows, wanted):
        has = r["tid"] == what if isinstance(what, int) else what in (r["sleeps_for"] or r["name"] or "")
        check(has, f"{when}: {kind} {r['tid']} {r['sleeps_for'] or r['name']}, not {what}")


# cat /proc/PID/cmdline, as a thread of PID reads a page of a file of FUSE with the mmap_lock.

def read_by_mem(path):
    """Reads its own memory by /proc, which keeps the mmap_lock; then a thread wants to change it."""
    fd = os.open(path, os.O_RDONLY)
    causes.libc.mmap.restype = causes.ctypes.c_void_p
    at = causes.libc.mmap(None, causes.ctypes.c_size_t(causes.PAGE), mmap.PROT_READ, mmap.MAP_SHARED, fd,
                          causes.ctypes.c_long(0))
    mem, tid = os.open("/proc/self/mem", os.O_RDONLY), os.getpid()

    def change():
        while "filemap_fault" not in causes.chain(tid):
            time.sleep(0.002)
        causes.map_private(causes.PAGE)

    threading.Thread(target=change, daemon=True).start()
    os.pread(mem, 1, at)


def fuse(c):
    data = c.folder("behind")
    causes.make_file(os.path.join(data, "mapped"), causes.PAGE)
    fs, at = c.held_fs("behind")
    fs.hold("mapped", heldfs.READ)
    reads = c.add(Task("reads", "page fault in a file", "filemap_fault"),
                  lambda: read_by_mem(os.path.join(at, "mapped")))
    # Another reader gets the lock as long as no writer waits.
    writes = f"/proc/{reads.tid}/task"
    wait_for(lambda: any("vm_mmap_pgoff" in causes.chain(t) for t in os.listdir(writes)), "the writer")
    c.add(Task("cat", "kernel lock", "__access_remote_vm"), lambda: causes.read(f"/proc/{reads.tid}/cmdline"))


def check_fuse(when, rows, c):
    reads, cat = c.tasks
    rows = way(rows, cat.tid)
    is_like(f"{when}: FUSE", rows[:3], [("waiter", cat.tid), ("lock", "mmap_lock"), ("waiter", reads.tid)])
    # Then the page, and where the kernel shows that the daemon, or another task, are to bring it.
    check(len(rows) > 3 and "page fault" in (rows[3]["sleeps_for"] or ""), f"{when}: then {in_words(rows[3:])}")
    check(rows and rows[-1]["row"] == "root", f"{when}: no root: {in_words(rows)}")


# The log of a disk that does not answer.

def log(c):
    fs, root, number = causes.make_ext4(c)
    path = lambda *names: os.path.join(root, *names)
    os.stat(path("folder", "x"))
    fs.hold("disk", heldfs.WRITE)
    c.add(Task("overwrites", "writeback", "folio_wait_writeback"), lambda: causes.overwrite(path("overwritten")))
    c.add(Task("commit", "jbd2 commit", "jbd2_log_wait_commit"), lambda: causes.touch(path("touched")))
    c.device = f"loop{number}"


def check_log(when, rows, c):
    commit = c.tasks[1]
    rows = way(rows, commit.tid)
    print(f"{when}: {in_words(rows)}")
    kinds = [r["row"] for r in rows]
    if check(kinds == ["waiter", "object", "waiter", "root"], f"{when}: log: {kinds}"):
        check(rows[1]["sleeps_for"] == f"jbd2 commit {c.device}", f"{when}: {rows[1]['sleeps_for']}")
        check(rows[2]["comm"] == f"jbd2/{c.device}-8", f"{when}: the log's thread is {rows[2]['comm']}")
        check(c.device in rows[3]["sleeps_for"], f"{when}: in the end {rows[3]['sleeps_for']}")


# Triggers about tasks in state D: one incident for each, with its chain.

def check_incident(c, trigger, task, *parts):
    view = json.loads(run(sys.argv[1], "report", "-q", "--trigger", trigger, "--view", "incidents", "--format", "json",
                          "--duration", "4s"))["views"]["incidents"]
    found = [(r["tid"], r["chain"]) for r in view["rows"]]
    print(f"{trigger}: {found}")
    if not check(len(found) == 1 and found[0][0] == task.tid, f"{trigger}: not one incident of {task.tid}: {found}"):
        return
    words = found[0][1].split(" -> ")
    check(len(words) >= len(parts) and all(p in w for p, w in zip(parts, words)),
          f"{trigger}: the chain is {words}, not {parts}")


def fuse_incident(c):
    reads, cat = c.tasks
    check_incident(c, f"hung>1s pid={cat.tid}", cat, f"cat/{cat.tid}", "mmap_lock", f"reads/{reads.tid}", "page fault")


def log_incident(c):
    commit = c.tasks[1]
    check_incident(c, f"blocked:jbd2>1s comm:commit pid={commit.tid}", commit, f"commit/{commit.tid}",
                   f"jbd2 commit {c.device}", f"jbd2/{c.device}-8/", f"{c.device}")


def with_causes(produce, check_rows, check_triggers):
    c = causes.produce(produce)
    try:
        for when, rows in looks(c.path("p.data")):
            check_rows(when, rows, c)
        check_triggers(c)
    finally:
        c.end()


# Locks of files.

class Processes:
    """Each a function in a process of its own, until the end."""

    def __init__(self):
        self.pids = []

    def add(self, do):
        pid = os.fork()
        if pid == 0:
            do()
            os._exit(0)
        self.pids.append(pid)
        return pid

    def end(self):
        for pid in self.pids:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def lock(path):
    fcntl.flock(os.open(path, os.O_RDWR), fcntl.LOCK_EX)


def waiting():
    """Those that wait for a lock of a file, and which processes."""
    with open("/proc/locks") as f:
        return [int(line.split()[5]) for line in f if line.split()[1] == "->"]


def wait_until(pids):
    end = time.monotonic() + causes.PATIENCE
    while not set(pids) <= set(waiting()):
        if time.monotonic() > end:
            raise AssertionError("the processes do not wait for their locks")
        time.sleep(0.01)


def lock_and_tell(path, tell):
    lock(path)
    os.write(tell, b"x")
    signal.pause()


def many_waiters(p, folder):
    path = os.path.join(folder, "many")
    causes.make_file(path, 1)
    told, tell = os.pipe()
    began = time.monotonic_ns()
    holder = p.add(lambda: lock_and_tell(path, tell))
    os.read(told, 1)
    waiters = [p.add(lambda: lock(path)) for _ in range(WAITERS)]
    wait_until(waiters)
    for when, rows in looks(os.path.join(folder, "p.data")):
        roots = [r for r in rows.values() if r["row"] == "root" and r["tid"] == holder]
        if not check(len(roots) == 1, f"{when}: {len(roots)} rows of the holder"):
            continue
        files = [r for r in rows.values() if r["parent"] == roots[0]["node"]]
        most = time.monotonic_ns() - began
        print(f"{when}: {roots[0]['behind']} behind {holder}: {files[0]['name']}, descriptor {files[0]['fd']}, held "
              f"{files[0]['held_ns']} to {files[0]['held_most_ns']} ns")
        check(roots[0]["behind"] == WAITERS, f"{when}: {roots[0]['behind']} behind the holder")
        check([r["name"] for r in files] == [path], f"{when}: {[r['name'] for r in files]}")
        check(files[0]["fd"] is not None, f"{when}: no descriptor")
        check(0 < (files[0]["held_ns"] or 0) <= most, f"{when}: held {files[0]['held_ns']} ns of {most}")


def lock_both(first, then, told, tell):
    lock(first)
    os.write(tell, b"x")
    os.read(told, 1)
    lock(then)


def crossed(p, folder):
    paths = [os.path.join(folder, name) for name in "ab"]
    for path in paths:
        causes.make_file(path, 1)
    told, tell = os.pipe()
    begin, let_begin = os.pipe()
    both = [p.add(lambda x=x: lock_both(paths[x], paths[1 - x], begin, tell)) for x in (0, 1)]
    for _ in both:
        os.read(told, 1)
    os.write(let_begin, b"xx")
    wait_until(both)
    data = os.path.join(folder, "p.data")
    looked = list(looks(data)) + [("without BPF", report("--no-bpf", "--duration", "1.2s"))]
    run(sys.argv[1], "record", "-q", "--no-bpf", "--duration", "1.5s", "-o", data)
    looked.append(("recorded without BPF", report("-i", data)))
    for when, rows in looked:
        dead = [r for r in rows.values() if r["row"] == "deadlock"]
        names = {r["name"] for r in rows.values() if r["row"] == "lock" and r["parent"] in {d["node"] for d in dead}}
        print(f"{when}: {len(dead)} deadlocks, {sorted(names)}")
        check(set(paths) <= names, f"{when}: no deadlock of both files: {sorted(names)}")


def with_processes(do):
    p = Processes()
    with tempfile.TemporaryDirectory(prefix="kontend-chains-") as folder:
        try:
            do(p, folder)
        finally:
            p.end()


def test():
    with_processes(many_waiters)
    with_processes(crossed)
    with_causes(fuse, check_fuse, fuse_incident)
    with_causes(log, check_log, log_incident)
    return failed() != 0


main(test)
