#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Three cases of users. Two hundred tasks in state D, of four kinds: the view of blocked tasks adds up to
what /proc shows. A process whose mmap_lock is kept by a task that waits for the lock of a VMA: no task can
read its mappings, and a recording with a profile begins and ends all the same. Asynchronous writes that
wait for a kworker: the lock has the name of the file, the kworker that of its function.

    test-cases.py KONTEND"""
import json
import mmap
import os
import shutil
import signal
import struct
import subprocess
import sys
import time

import causes
import heldfs
from causes import Task
from checks import check, failed
from heldfs import libc, must
from namespaces import main

EACH = 50
KINDS = {"reads": "FUSE daemon", "direct": "disk read", "creates": "kernel lock", "vfork": "child of vfork"}
RECLAIM, XFS_DISK = "try_to_free_mem_cgroup_pages", 320 << 20
IOCB_CMD_PWRITE = 1


def run(kontend, *args):
    p = subprocess.run([kontend, *args], capture_output=True, text=True)
    if p.returncode:
        raise AssertionError(f"{' '.join(args)}: {p.stderr.strip()}")
    return p.stdout


def report(kontend, *args):
    return json.loads(run(kontend, "report", "-q", "--format", "json", "--rows", "0", *args))["views"]


def states():
    """Of all threads, by id."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            found.update((int(t), causes.state(t)) for t in os.listdir(f"/proc/{pid}/task"))
        except OSError:
            pass  # it has ended
    return found


def make_crowd(c):
    """FUSE requests are in state D once the daemon has said that it takes no interrupts. One task reads
    the page, the others wait for it when they open the file."""
    data = c.folder("fuse")
    for name in ("asked", "read"):
        causes.make_file(os.path.join(data, name), 1 << 20)
    fs, at = c.held_fs("fuse")
    path = lambda name: os.path.join(at, name)
    fs.hold("asked", heldfs.SETATTR)
    fs.hold("read", heldfs.READ)
    fs.hold("new", heldfs.CREATE)
    for name in ("asked", "read"):
        os.stat(path(name))  # else they are looked up in a folder that is locked
    asks = c.add(Task("asks", "", "request_wait_answer", "S"), lambda: causes.ask_despite_signals(path("asked")))
    asks.states = "D"
    os.kill(asks.tid, signal.SIGUSR1)
    asks.settle()
    disk, number, _ = causes.disk_of(c, "disk", 1 << 20)
    direct = os.open(f"/dev/loop{number}", os.O_RDONLY | os.O_DIRECT | os.O_CLOEXEC)
    c.undo.callback(os.close, direct)
    disk.hold("disk", heldfs.READ, heldfs.FSYNC)
    c.add(Task("holder", "", "fuse_create_open"), lambda: causes.make_file(path("new"), 1))
    do = {"reads": lambda: causes.read_first(path("read")), "direct": lambda: causes.read_direct(direct),
          "creates": lambda: causes.make_file(path("other"), 1), "vfork": causes.begin_child}
    where = {"reads": "", "direct": "", "creates": "^path_openat", "vfork": "kernel_clone"}
    crowd = [c.begin(Task(name, KINDS[name], where[name]), do[name]) for name in KINDS for _ in range(EACH)]
    for t in crowd:
        t.settle()
    return crowd


def check_crowd(kontend, c):
    crowd = make_crowd(c)
    before = states()
    views = {by: report(kontend, "--view", "blocked", *how, "--duration", "1s")["blocked"]
             for by, how in (("task", ("--by", "task")), ("cause", ()))}
    after = states()
    stable = {t for t, s in before.items() if s == "D" and after.get(t) == "D"}
    mine = {t.tid: t for t in crowd}
    check(set(mine) <= stable, f"{len(set(mine) - stable)} are not in state D")
    for by, v in views.items():
        in_d = sum(r["in_d"] or 0 for r in v["rows"]) if by == "cause" else sum(
            r["task_state"] == "D" for r in v["rows"])
        print(f"by {by}: {v['in_d']} in state D, rows have {in_d}; /proc has {len(stable)} all the time")
        check(v["in_d"] == in_d, f"by {by}: {v['in_d']} in state D, rows add up to {in_d}")
        check(in_d >= len(stable & set(mine)), f"by {by}: {in_d} of at least {len(mine)}")
    rows = {r["tid"]: r for r in views["task"]["rows"]}
    check(stable - set(rows) == set(), f"in state D, and no row: {stable - set(rows)}")
    for tid, t in mine.items():
        cause = rows[tid]["cause"] if tid in rows else None
        check(cause and cause.startswith(t.cause), f"{t.name}: '{cause}', not '{t.cause}'")
    for cause in KINDS.values():
        n = sum(r["blocked"] for r in views["cause"]["rows"] if r["cause"].startswith(cause))
        check(n >= EACH, f"{cause}: {n} tasks of at least {EACH}")


def make_stuck(c):
    fs, root, _ = causes.make_ext4(c)
    fs.hold("disk", heldfs.READ, heldfs.WRITE)
    causes.memory(c, lambda *names: os.path.join(root, *names))
    stuck = c.tasks[-2]
    return stuck, c.begin(Task("cat", "", "__access_remote_vm"),
                          lambda: causes.read(f"/proc/{stuck.tid}/cmdline")).settle()


def check_stuck(kontend, c):
    """Also that it is there during all of the measurement."""
    stuck, reader = make_stuck(c)
    data = c.path("stuck.data")
    run(kontend, "record", "-q", "-F", "99", "-o", data, "--duration", "1")
    run(kontend, "report", "-q", "-F", "99", "--view", "hot", "--duration", "1")
    check(reader.is_there(), "its command line can be read")
    text = run(kontend, "report", "-i", data, "--view", "overview")
    check("left out when mappings were read" in text, f"no note: {text[:400]}")
    rows = report(kontend, "--view", "waiters", "--duration", "1s")["waiters"]["rows"]
    waits = [r for r in rows if r["tid"] == reader.tid and not r["ended"]]
    check(len(waits) == 1 and waits[0]["name"] == f"mmap_lock {stuck.name}/{stuck.tid}" and
          waits[0]["owner_comm"] == "vma", f"{reader.name} waits: {waits}")


def write_aio(path, offset):
    fd = os.open(path, os.O_RDWR | os.O_DIRECT)
    context = causes.ctypes.c_ulong()
    memory = mmap.mmap(-1, causes.PAGE)
    address = causes.ctypes.addressof(causes.ctypes.c_char.from_buffer(memory))
    request = causes.ctypes.create_string_buffer(
        struct.pack("<QIIHhIQQqQII", 0, 0, 0, IOCB_CMD_PWRITE, 0, fd, address, causes.PAGE, offset, 0, 0, 0))
    requests = (causes.ctypes.c_void_p * 1)(causes.ctypes.addressof(request))
    must(libc.syscall(causes.SYS_IO_SETUP, 1, causes.ctypes.byref(context)), "io_setup")
    must(libc.syscall(causes.SYS_IO_SUBMIT, context, causes.ctypes.c_long(1), requests), "io_submit")


def write_and_sync(path, root):
    os.pwrite(os.open(path, os.O_RDWR), b"x" * (1 << 20), 8 << 20)
    causes.sync_fs(root)


def make_xfs(c):
    """A file of which some blocks are there, on a disk of which no block is in memory."""
    fs, number, _ = causes.disk_of(c, "xfs", XFS_DISK)
    device, root = f"/dev/loop{number}", c.folder("xfs-root")
    path = os.path.join(root, "commitlog.log")
    causes.run("mkfs.xfs", "-q", "-f", "-K", device)
    heldfs.mount(device, root, "xfs", 0)
    with open(path, "wb") as f:
        f.write(b"x" * (1 << 20))
        f.flush()
        os.fsync(f.fileno())
    must(libc.umount2(root.encode(), 0), "umount")
    heldfs.mount(device, root, "xfs", 0)
    c.undo.callback(lambda: must(libc.umount2(root.encode(), 0), "umount"))
    with open(path, "rb") as f:
        f.read(1)
    return fs, root, path


def check_aio(kontend, c):
    """The kworker of writeback allocates blocks: it has the ILOCK, and reads a free list of the disk."""
    if not shutil.which("mkfs.xfs") or "\txfs\n" not in causes.read("/proc/filesystems"):
        print("no asynchronous writes: no XFS, or no mkfs.xfs")
        return
    fs, root, path = make_xfs(c)
    fs.hold("disk", heldfs.READ)
    syncs = c.add(Task("syncs", "", "wb_wait_for_completion"), lambda: write_and_sync(path, root))
    time.sleep(0.5)
    reactors = [c.begin(Task(f"reactor-{n}", "", ""), lambda n=n: write_aio(path, n * causes.PAGE)) for n in range(2)]
    for t in reactors:
        t.settle()
    before = [causes.chain(t.tid)[0] for t in reactors]
    views = report(kontend, "--view", "waiters,overview", "--duration", "1s")
    check([causes.chain(t.tid)[0] for t in reactors] == before and syncs.is_there(), "they write")
    for t in reactors:
        rows = [r for r in views["waiters"]["rows"] if r["tid"] == t.tid and not r["ended"]]
        name = rows[0]["name"] if rows else ""
        print(f"{t.name}: {before}, waits for {name}")
        check(len(rows) == 1 and name.endswith(" " + path), f"{t.name} waits for '{name}', not for a lock of {path}")
        if rows and name.startswith("i_lock "):
            check(rows[0]["owner_comm"].startswith("kworker/"), f"{t.name}: the holder is {rows[0]['owner_comm']}")
            check("wb_workfn" in rows[0]["owner_stack"], f"{t.name}: {rows[0]['owner_stack']}")
    for f in views["overview"]["verdict"]["findings"]:
        if os.path.basename(path) in f["text"]:  # others may wait longer
            print(f"verdict: {f['text']}; {f['because']}")
            check("does wb_workfn" in f["because"], f"because of '{f['because']}'")
    check(any(r["name"].startswith("i_lock ") for r in views["waiters"]["rows"]), "none waits for an ILOCK")


def end(*_):
    raise AssertionError("ended by a signal")


def check_all():
    signal.signal(signal.SIGTERM, end)
    if os.uname().machine != "x86_64" or any(not os.path.exists(p) for p in causes.NEEDED):
        raise causes.Skip("not x86-64, or no FUSE, no loop devices, or no cgroups v1")
    if not shutil.which("mkfs.ext4"):
        raise causes.Skip("no mkfs.ext4")
    for check_one in (check_crowd, check_stuck, check_aio):
        c = causes.Causes()
        try:
            check_one(sys.argv[1], c)
        finally:
            c.end()
    return failed() != 0


main(check_all)
