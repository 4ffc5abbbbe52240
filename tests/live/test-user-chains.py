#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Chains of waits through locks of programs and of the kernel, against tasks that this test has put there: from a mutex
to the i_rwsem of a file and the disk, and from a kernel lock through a FUSE daemon to a mutex. And programs that hang
since before kontend began: what they hang at, with BPF, without, in a container, and with no more rights than to look at
processes of the same user.

    test-user-chains.py KONTEND PROGRAM"""
import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading

import causes
import heldfs
from causes import Task
from checks import check, failed
from namespaces import main, wait_for

MUTEX = 40  # bytes; all zero: not locked
THREADS = 4  # lines that the program prints
RIGHTS = "-all,+perfmon,+dac_read_search"  # to read events: none to read memory of other users
libc = ctypes.CDLL(None)


def run(*args):
    p = subprocess.run(args, capture_output=True, text=True)
    if p.returncode:
        raise AssertionError(f"{args}: status {p.returncode}: {p.stderr.strip()}")
    return p.stdout


def views(*args):
    return json.loads(run(sys.argv[1], "report", "-q", "--view", "overview,chains", "--format", "json", *args))["views"]


def looks(where):
    """When, and the rows of chains: live, without events of these locks, and from a recording."""
    for when, args in (("live", ()), ("snapshots", ("--user-locks", "snapshot"))):
        yield when, rows_of(views("--duration", "1.5s", *args))
    run(sys.argv[1], "record", "-q", "--duration", "1.5s", "-o", where)
    yield "recorded", rows_of(views("-i", where))


def rows_of(found):
    return {r["node"]: r for r in found["chains"]["rows"] if not r["ended"]}


def way(rows, is_first):
    """From a row of waiters to the root."""
    ret = [r for r in rows.values() if r["row"] == "waiter" and is_first(r)][:1]
    while ret and ret[-1]["parent"] is not None:
        ret.append(rows[ret[-1]["parent"]])
    return ret


def compare(when, rows, wanted):
    """Each row is of that kind, and has that task, or that text in its lock or object."""
    words = " -> ".join(f"{r['row']} {r['kind'] or ''} {r['sleeps_for'] or r['name'] or ''} {r['comm'] or ''}/"
                        f"{r['tid'] or ''}" for r in rows)
    print(f"{when}: {words}")
    if not check([r["row"] for r in rows] == [kind for kind, _ in wanted], f"{when}: {words}, not {wanted}"):
        return False
    for r, (kind, what) in zip(rows, wanted):
        text = f"{r['kind']} {r['sleeps_for'] or r['name'] or ''}"
        is_it = r["tid"] == what if isinstance(what, int) else what in text
        check(is_it, f"{when}: {kind} {r['tid']} {text}, not {what}")
    return True


def in_futex(pid):
    """The threads of a process that wait there."""
    return [t for t in map(int, os.listdir(f"/proc/{pid}/task"))
            if any(f.startswith("futex_wait") or f.startswith("futex_do_wait") for f in causes.chain(t))]


# A thread that has a mutex waits to write a file, which another process writes: that one waits for the disk.

def lock_and_write(path):
    fd = os.open(path, os.O_WRONLY)
    mutex = ctypes.create_string_buffer(MUTEX)
    libc.pthread_mutex_lock(mutex)
    for _ in range(2):
        threading.Thread(target=lambda: libc.pthread_mutex_lock(mutex), daemon=True).start()
    wait_for(lambda: len(in_futex(os.getpid())) >= 2, "the threads that wait for the mutex")
    os.pwrite(fd, b"y", 0)


def disk(c):
    fs, root, number = causes.make_ext4(c)
    path = os.path.join(root, "part")
    fs.hold("disk", heldfs.READ)
    c.add(Task("writes", "disk read", "ext4_block_write_begin"), lambda: causes.write_part(path))
    c.add(Task("locks", "kernel lock", "ext4_buffered_write_iter"), lambda: lock_and_write(path))
    c.add(Task("waits", "kernel lock", "ext4_buffered_write_iter"), lambda: causes.overwrite(path))
    c.device = f"loop{number}"


def check_disk(when, rows, c):
    writes, locks, waits = c.tasks
    mutex = [("lock", "mutex"), ("waiter", locks.tid)]
    to_disk = [("lock", "rwsem i_rwsem"), ("waiter", writes.tid), ("root", "disk read")]
    ours = way(rows, lambda r: r["pid"] == locks.tid and r["tid"] != locks.tid)
    if compare(f"{when}: mutex", ours, [("waiter", ""), *mutex, *to_disk]):
        check(c.device in ours[-1]["sleeps_for"], f"{when}: in the end {ours[-1]['sleeps_for']}")
        check(ours[1]["behind"] == 2, f"{when}: {ours[1]['behind']} wait for the mutex")
    compare(f"{when}: i_rwsem", way(rows, lambda r: r["tid"] == waits.tid), [("waiter", waits.tid), *to_disk])


# A FUSE daemon whose worker waits for a mutex that another of its threads has, while a client keeps a folder.

class LockingDaemon(heldfs.Daemon):
    def __init__(self, *args):
        super().__init__(*args)
        self.mutex = ctypes.create_string_buffer(MUTEX)
        self.told, self.tell = os.pipe()
        has = threading.Event()
        threading.Thread(target=self.keep, args=(has,), daemon=True).start()
        has.wait()

    def keep(self, has):
        libc.pthread_mutex_lock(self.mutex)
        has.set()
        os.read(self.told, 1)
        libc.pthread_mutex_unlock(self.mutex)

    def serve(self, request):
        n = len(self.waiting)
        super().serve(request)
        if len(self.waiting) > n:
            threading.Thread(target=self.work, args=(self.waiting.pop(),), daemon=True).start()

    def work(self, request):
        libc.pthread_mutex_lock(self.mutex)
        libc.pthread_mutex_unlock(self.mutex)
        super().serve(request)

    def let_go(self, names):
        super().let_go(names)
        os.write(self.tell, b"x")


def make(path):
    os.open(path, os.O_CREAT | os.O_WRONLY, 0o600)


def fuse(c):
    c.folder("behind")
    fs, at = c.held_fs("behind", LockingDaemon)
    fs.hold("made", heldfs.CREATE)
    c.add(Task("makes", "FUSE daemon", "request_wait_answer", "SD"), lambda: make(os.path.join(at, "made")))
    c.add(Task("waits", "kernel lock", "^path_openat"), lambda: make(os.path.join(at, "other")))
    c.daemon = fs.pid
    wait_for(lambda: in_futex(fs.pid), "the thread that serves")


def check_fuse(when, rows, c):
    makes, waits = c.tasks
    rows = way(rows, lambda r: r["tid"] == waits.tid)
    if not compare(f"{when}: FUSE", rows, [("waiter", waits.tid), ("lock", "rwsem"), ("waiter", makes.tid),
                                           ("object", "FUSE daemon"), ("waiter", ""), ("lock", "mutex(u)"),
                                           ("root", "")]):
        return
    worker, owner = rows[4], rows[6]
    check(worker["pid"] == c.daemon and owner["pid"] == c.daemon, f"{when}: {worker['pid']}, {owner['pid']}")
    check(worker["tid"] in in_futex(c.daemon), f"{when}: {worker['tid']} does not wait for the mutex")
    check(rows[3]["certainty"] == "evidence", f"{when}: the server's thread is {rows[3]['certainty']}")
    check("pipe_read" in (owner["function"] or ""), f"{when}: the owner is in {owner['function']}")
    check(owner["asleep_for"] == "pipe is empty", f"{when}: the owner is asleep: {owner['asleep_for']}")


def with_causes(produce, check_rows):
    c = causes.produce(produce)
    try:
        for when, rows in looks(c.path("p.data")):
            check_rows(when, rows, c)
    finally:
        c.end()


# Programs that hang.

class Hang:
    """It hangs until the end of the block; @prefix: how it is started."""

    def __init__(self, program, *prefix):
        self.process = subprocess.Popen((*prefix, program), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.has = {}
        for _ in range(THREADS):
            tid, has, wants = self.process.stdout.readline().split()
            self.has[int(tid)] = has, wants

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def tid_with(self, has):
        return [tid for tid, (name, _) in self.has.items() if name == has][0]


def check_hang(when, found, program, is_inner=False):
    verdicts = [f for f in found["overview"]["verdict"]["findings"] if f["rule"] == "deadlock"]
    first = verdicts[0] if verdicts else {"text": "", "because": ""}
    print(f"{when}: {first['text']}; {first['because']}")
    for name in ("hang_a", "hang_b"):
        check(name in first["because"], f"{when}: no {name} in {first}")
        who = f"user-hang/{program.tid_with(name)} has {name}"
        check(is_inner or who in first["because"], f"{when}: not {who}: {first}")
    rows = rows_of(found)
    asleep = way(rows, lambda r: r["name"] and r["name"].startswith("slept_in"))
    if check([r["row"] for r in asleep] == ["waiter", "lock", "root"], f"{when}: slept_in: {asleep}"):
        check(is_inner or asleep[2]["tid"] == program.tid_with("slept_in"), f"{when}: {asleep[2]['tid']} has slept_in")
        check(asleep[2]["state"] == "asleep", f"{when}: it is {asleep[2]['state']}")
    return asleep[-1]["function"] if asleep else None


def hang(program, folder):
    with Hang(program) as p:
        for args in ((), ("--no-bpf",), ("--user-locks", "snapshot")):
            does = check_hang(f"hang {' '.join(args)}", views("--duration", "1s", *args), p)
            check("nanosleep" in (does or ""), f"{args}: the owner is in {does}")
    out = os.path.join(folder, "command.json")
    with Hang(program, sys.argv[1], "report", "-q", "--view", "overview,chains", "--format", "json", "-o", out,
              "--duration", "1.5s", "--") as p:
        p.process.wait()
        with open(out, encoding="utf-8") as f:
            check_hang("measured alone", json.load(f)["views"], p)
    with Hang(program, "unshare", "-pf", "--mount-proc") as p:
        check_hang("in a container", views("--duration", "1s"), p, True)
    if not shutil.which("setpriv"):
        print("no setpriv: rights were not taken away")
        return
    os.chmod(folder, 0o755)
    own = shutil.copy(program, folder)
    user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    rights = [f"--inh-caps={RIGHTS}", f"--ambient-caps={RIGHTS}", f"--bounding-set={RIGHTS}"]
    with Hang(own, *user) as p:
        text = run(*user, *rights, sys.argv[1], "report", "-q", "--no-bpf", "--view", "overview,chains", "--format",
                   "json", "--duration", "1s")
        check_hang("with ptrace rights only", json.loads(text)["views"], p)


def test():
    program = os.path.abspath(sys.argv[2])
    with tempfile.TemporaryDirectory(prefix="kontend-user-chains-") as folder:
        hang(program, folder)
    with_causes(fuse, check_fuse)
    with_causes(disk, check_disk)
    return failed() != 0


main(test)
