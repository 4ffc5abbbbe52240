# SPDX-License-Identifier: GPL-2.0-only
"""Tasks that cannot run, each because of something else, for as long as a test wants: blocked() makes
them. They are in a mount namespace of their own, with loop devices that go with their last user. A test
that is killed leaves no more than empty cgroups and a folder."""
import contextlib
import ctypes
import errno
import fcntl
import mmap
import os
import resource
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import time

import heldfs
from heldfs import libc, must
from namespaces import Skip, wait_for

CLONE_VFORK = 0x4000
MS_REC, MS_PRIVATE = 1 << 14, 1 << 18
PR_SET_PDEATHSIG, PR_SET_NAME = 1, 15
SYS_CLONE, SYS_USERFAULTFD, SYS_MEMBARRIER, SYS_PIDFD_GETFD = 56, 323, 324, 438
SYS_IO_SETUP, SYS_IO_DESTROY, SYS_IO_SUBMIT = 206, 207, 209
MEMBARRIER_CMD_GLOBAL = 1
UFFDIO_API, UFFDIO_REGISTER = 0xC018AA3F, 0xC020AA00
UFFD_API, UFFD_MISSING = 0xAA, 1
PTRACE_SEIZE, PTRACE_INTERRUPT = 0x4206, 0x4207
LOOP_CTL_GET_FREE, LOOP_CONFIGURE, LOOP_SET_DIRECT_IO = 0x4C82, 0x4C0A, 0x4C08
LO_FLAGS_AUTOCLEAR, LO_FLAGS_DIRECT_IO = 4, 16
FIFREEZE, FITHAW = 0xC0045877, 0xC0045878
SYNC_FILE_RANGE_WRITE = 2
PAGE = 4096
PATIENCE = 60  # seconds, for what takes milliseconds on an idle machine
CGROUPS = "/sys/fs/cgroup"
NEEDED = ("/dev/fuse", "/dev/loop-control", f"{CGROUPS}/memory/memory.oom_control",
          f"{CGROUPS}/freezer/cgroup.procs")


def read(path):
    with open(path) as f:
        return f.read()


def write(path, text):
    with open(path, "w") as f:
        f.write(str(text))


def state(tid):
    """R, S, D and so on; nothing when it is gone."""
    try:
        return read(f"/proc/{tid}/stat").rpartition(")")[2].split()[0]
    except OSError:
        return ""


def name_of(tid):
    try:
        return read(f"/proc/{tid}/comm").strip()
    except OSError:
        return ""


def chain(tid):
    """The functions in which it sleeps, the innermost first; without those of the scheduler, and of
    locks."""
    try:
        return [line.split()[1].partition("+")[0] for line in read(f"/proc/{tid}/stack").splitlines()]
    except OSError:
        return []


class Task:
    """One that sleeps because of `cause`, and in `function`: with a ^ that is the innermost one. It
    does so all the time, or, if not `steady`, again and again. `because` is part of what the view says
    of it, `device` the whole."""

    def __init__(self, name, cause, function, states="D", because="", steady=True, device=None):
        self.name, self.cause, self.function, self.states = name, cause, function, states
        self.because, self.steady, self.device = because, steady, device
        self.tid = None
        self.is_killed = True
        self.began = self.settled = None

    def is_there(self):
        functions = chain(self.tid)
        if self.function.startswith("^"):
            functions = ["^" + f for f in functions[:1]]
        return state(self.tid) in self.states and any(f.startswith(self.function) for f in functions)

    def settle(self):
        end = time.monotonic() + PATIENCE
        while not self.is_there():
            if time.monotonic() > end:
                raise AssertionError(f"{self.name}: {self.tid} is not in {self.function}, but in state "
                                     f"{state(self.tid)}, {chain(self.tid)}")
            time.sleep(0.002)
        self.settled = time.monotonic_ns()
        return self


class Guard:
    """What is to be undone outside of the test, even when that is killed."""

    def __init__(self):
        self.told, self.tell = os.pipe()
        test = os.pidfd_open(os.getpid())
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.setsid()
                select.select([test], [], [])
                self.undo()
            finally:
                os._exit(0)
        os.close(test)

    def add(self, *words):
        """Undone in turn, the last first: `write PATH VALUE`, `swapoff PATH`, or `dm NAME`."""
        os.write(self.tell, (" ".join(words) + "\n").encode())

    def undo(self):
        os.set_blocking(self.told, False)
        try:
            lines = os.read(self.told, 4096).decode().splitlines()
        except BlockingIOError:
            lines = []
        for line in reversed(lines):
            what, path, *value = line.split(" ")
            if what == "write":
                write(path, *value)
            elif what == "dm":
                run("dmsetup", "resume", path)
                run("dmsetup", "remove", "--noudevsync", "--retry", path)
            else:
                must(libc.swapoff(path.encode()), f"swapoff {path}")

    def end(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        self.undo()


class Causes:
    """The tasks, and what has to be done for them to end, and afterwards."""

    def __init__(self):
        self.tasks = []
        self.releases, self.undo = contextlib.ExitStack(), contextlib.ExitStack()
        self.guard = Guard()
        self.others = []  # that are not of the test
        self.outside = os.open("/proc/self/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
        must(libc.unshare(heldfs.CLONE_NEWNS), "unshare")
        heldfs.mount("none", "/", "", MS_PRIVATE | MS_REC)
        self.dir = tempfile.mkdtemp(prefix="kontend-causes-")
        self.undo.callback(shutil.rmtree, self.dir)

    def path(self, *names):
        return os.path.join(self.dir, *names)

    def folder(self, name):
        os.mkdir(self.path(name))
        return self.path(name)

    def begin(self, task, do, cgroup=None):
        """Without a wait for it to be asleep."""
        told, tell = os.pipe()
        task.began = time.monotonic_ns()
        task.tid = os.fork()
        if task.tid == 0:
            try:
                if task.is_killed:
                    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
                else:
                    os.setsid()  # a signal for the test's group is not for it
                libc.prctl(PR_SET_NAME, task.name.encode())
                if cgroup:
                    write(cgroup + "/cgroup.procs", os.getpid())
                os.write(tell, b"x")
                do()
            except BaseException as why:
                os.write(2, f"{task.name}: {why!r}\n".encode())
            finally:
                os._exit(0)
        self.tasks.append(task)
        os.close(tell)
        os.read(told, 1)
        os.close(told)
        return task

    def add(self, task, do, cgroup=None):
        return self.begin(task, do, cgroup).settle()

    def other(self, task):
        """One of the kernel."""
        task.began = time.monotonic_ns() - PATIENCE * 10**9
        found = [t for t in map(int, filter(str.isdigit, os.listdir("/proc"))) if name_of(t) == task.name]
        if len(found) != 1:
            raise AssertionError(f"{task.name}: {len(found)} tasks")
        task.tid = found[0]
        self.others.append(task.settle())

    def cgroup(self, controller, name):
        path = f"{CGROUPS}/{controller}/kontend-{name}-{os.getpid()}"
        os.mkdir(path)
        self.undo.callback(lambda: wait_for(lambda: remove_cgroup(path), path))
        return path

    def set(self, path, value):
        self.guard.add("write", path, read(path).strip())
        write(path, value)

    def held_fs(self, name, daemon=heldfs.Daemon):
        """The files of the folder `name`, held, in a folder."""
        at = self.folder(name + "-held")
        fs = heldfs.HeldFs(self.path(name), at, self.outside, daemon)
        self.undo.callback(fs.unmount, at)
        self.releases.callback(fs.let_go)
        return fs, at

    def end(self):
        """Lets all go."""
        with self.undo:
            self.releases.close()
            self.guard.end()
            for t in self.tasks:
                if t.is_killed:
                    os.kill(t.tid, signal.SIGKILL)
            for t in self.tasks:
                os.waitpid(t.tid, 0)


def remove_cgroup(path):
    try:
        os.rmdir(path)
        return True
    except OSError as why:
        if why.errno != errno.EBUSY:
            raise
        return False


def make_file(path, size):
    with open(path, "wb") as f:
        f.write(b"x" * size)


def run(*args):
    done = subprocess.run(args, capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(f"{args[0]}: {done.stderr.strip()}")


def map_private(size):
    libc.mmap.restype = ctypes.c_void_p
    return libc.mmap(None, ctypes.c_size_t(size), mmap.PROT_READ | mmap.PROT_WRITE,
                     mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, ctypes.c_long(0))


def open_uffd():
    fd = must(libc.syscall(SYS_USERFAULTFD, os.O_CLOEXEC), "userfaultfd")
    fcntl.ioctl(fd, UFFDIO_API, struct.pack("<QQQ", UFFD_API, 0, 0))
    return fd


def register(uffd, address, size):
    fcntl.ioctl(uffd, UFFDIO_REGISTER, struct.pack("<QQQQ", address, size, UFFD_MISSING, 0))


def sync_range(fd):
    """Has the kernel begin to write the file, without a wait for that to end."""
    must(libc.sync_file_range(fd, ctypes.c_long(0), ctypes.c_long(0), SYNC_FILE_RANGE_WRITE),
         "sync_file_range")


# Processes.

def begin_child():
    """As vfork(2), but with memory of its own for the child."""
    if must(libc.syscall(SYS_CLONE, CLONE_VFORK | signal.SIGCHLD, 0, 0, 0, 0), "vfork") == 0:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        while True:
            signal.pause()


def begin_child_at_once(policy):
    """The same as a real-time task, which another class of the scheduler keeps; the child is none."""
    os.sched_setscheduler(0, policy | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    begin_child()


def touch_uffd(tell):
    memory, uffd = map_private(PAGE), open_uffd()
    register(uffd, memory, PAGE)
    os.write(tell, struct.pack("<I", uffd))
    ctypes.memset(memory, 1, 1)


def take_fd(pid, fd):
    """The descriptor of another process, for this one as well."""
    return must(libc.syscall(SYS_PIDFD_GETFD, os.pidfd_open(pid), fd, 0), "pidfd_getfd")


def wait_for_rcu():
    while True:
        must(libc.syscall(SYS_MEMBARRIER, MEMBARRIER_CMD_GLOBAL, 0), "membarrier")


def lock_file(path):
    fcntl.flock(os.open(path, os.O_RDONLY), fcntl.LOCK_EX)


def open_leased(path):
    os.open(path, os.O_WRONLY)


def processes(c):
    """Those that need no file system."""
    c.add(Task("vfork", "child of vfork", "kernel_clone", because="vfork/"), begin_child)
    c.add(Task("vfork-fifo", "child of vfork", "kernel_clone", because="vfork-fifo/"),
          lambda: begin_child_at_once(os.SCHED_FIFO))
    told, tell = os.pipe()
    uffd = c.begin(Task("uffd", "userfaultfd", "handle_userfault", "DS", because=f"/{os.getpid()}"),
                   lambda: touch_uffd(tell))
    c.undo.callback(os.close, take_fd(uffd.tid, *struct.unpack("<I", os.read(told, 4))))
    uffd.settle()
    c.add(Task("rcu", "RCU grace period", "synchronize_rcu", steady=False), wait_for_rcu)
    traced = c.begin(Task("traced", "stopped by a debugger", "ptrace_stop", "tT",
                          because=f"/{os.getpid()}"), signal.pause)
    must(libc.ptrace(PTRACE_SEIZE, traced.tid, 0, 0), "PTRACE_SEIZE")
    must(libc.ptrace(PTRACE_INTERRUPT, traced.tid, 0, 0), "PTRACE_INTERRUPT")
    traced.settle()


def files(c):
    """Locks of files."""
    path = c.path("locked")
    make_file(path, 1)
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    fcntl.flock(fd, fcntl.LOCK_EX)
    c.releases.callback(os.close, fd)
    c.add(Task("flock", "file lock", "locks_lock_inode_wait", "S", because="flock"),
          lambda: lock_file(path))
    path = c.path("leased")
    make_file(path, 1)
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    signal.signal(signal.SIGIO, signal.SIG_IGN)
    fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    c.releases.callback(os.close, fd)
    c.add(Task("lease", "file lock", "__break_lease", "S"), lambda: open_leased(path))


def cgroups(c):
    full = c.cgroup("memory", "full")
    write(full + "/memory.limit_in_bytes", 8 << 20)
    write(full + "/memory.oom_control", 1)
    c.add(Task("oom", "memory limit of its cgroup", "mem_cgroup_oom_synchronize",
               because=f"cgroup /{os.path.basename(full)}"),
          lambda: ctypes.memset(map_private(64 << 20), 1, 64 << 20), full)
    freezer = c.cgroup("freezer", "frozen")
    frozen = c.begin(Task("frozen", "frozen", "__refrigerator",
                          because=f"cgroup /{os.path.basename(freezer)}"), signal.pause, freezer)
    c.guard.add("write", freezer + "/freezer.state", "THAWED")
    write(freezer + "/freezer.state", "FROZEN")
    frozen.settle()
    limited(c)
    frozen_v2(c)


def spin():
    while True:
        pass


class Throttled(Task):
    """It does not sleep, but its cgroup has used its time."""

    def __init__(self, name, cgroup):
        super().__init__(name, "throttled by cpu.max", "", "R", f"cgroup /{os.path.basename(cgroup)}", False)
        self.stat = cgroup + "/cpu.stat"

    def is_there(self):
        return int(dict(line.split() for line in read(self.stat).splitlines())["nr_throttled"]) > 1


def limited(c):
    if not os.path.exists(f"{CGROUPS}/cpu/cpu.cfs_quota_us"):
        print("no task that is throttled: no limit for the time of CPUs")
        return
    group = c.cgroup("cpu", "throttled")
    write(group + "/cpu.cfs_period_us", 1000000)
    write(group + "/cpu.cfs_quota_us", 1000)
    # The end of a task that is killed is throttled as well.
    c.releases.callback(write, group + "/cpu.cfs_quota_us", -1)
    c.add(Throttled("spins", group), spin, group)


def frozen_v2(c):
    if not os.path.exists(f"{CGROUPS}/unified/cgroup.procs"):
        print("no frozen cgroup of version 2: it is not mounted")
        return
    group = c.cgroup("unified", "frozen2")
    task = c.begin(Task("frozen2", "frozen cgroup", "get_signal", "S",
                        because=f"cgroup /{os.path.basename(group)}"), spin, group)
    c.guard.add("write", group + "/cgroup.freeze", "0")
    write(group + "/cgroup.freeze", 1)
    task.settle()


# Files whose FUSE daemon does not answer.

def ask_despite_signals(path):
    signal.signal(signal.SIGUSR1, lambda *_: None)
    os.chmod(path, 0o600)


def sync_mapped(path):
    fd = os.open(path, os.O_RDWR)
    memory = mmap.mmap(fd, PAGE)
    memory[0] = 1
    os.fsync(fd)


def fault(path):
    fd = os.open(path, os.O_RDONLY)
    return mmap.mmap(fd, PAGE, prot=mmap.PROT_READ)[0]


def read_first(path):
    os.read(os.open(path, os.O_RDONLY), PAGE)


def dump_core(folder):
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    os.chdir(folder)
    os.kill(os.getpid(), signal.SIGSEGV)


def fuse(c):
    data = c.folder("fuse")
    for name in ("asked", "read", "mapped", "synced"):
        make_file(os.path.join(data, name), 1 << 20)
    fs, at = c.held_fs("fuse")
    fs.hold("asked", heldfs.SETATTR)
    fs.hold("read", heldfs.READ)
    fs.hold("mapped", heldfs.READ)
    fs.hold("synced", heldfs.WRITE)
    fs.hold("new", heldfs.CREATE)
    path = lambda name: os.path.join(at, name)
    os.stat(path("asked"))
    # Until a daemon has said that it takes no interrupts, it is asked in state S.
    daemon = f"/{fs.pid}"
    asks = c.add(Task("asks", "FUSE daemon", "request_wait_answer", "S", because=daemon),
                 lambda: ask_despite_signals(path("asked")))
    asks.states = "D"
    os.kill(asks.tid, signal.SIGUSR1)
    asks.settle()
    # No function of FUSE is in its chain.
    c.add(Task("fuse-read", "FUSE daemon", "filemap_read", because=f"{daemon}, page of {path('read')}"),
          lambda: read_first(path("read")))
    c.add(Task("fuse-fault", "page fault in a file", "filemap_fault",
               because=f"{daemon}, page of {path('mapped')}"), lambda: fault(path("mapped")))
    c.add(Task("fuse-sync", "FUSE daemon", "folio_wait_writeback",
               because=f"{daemon}, page of {path('synced')}"), lambda: sync_mapped(path("synced")))
    c.add(Task("creates", "FUSE daemon", "fuse_create_open", because=daemon),
          lambda: make_file(path("new"), 1))
    c.add(Task("lock", "kernel lock", "^path_openat", because="creates/"),
          lambda: make_file(path("other"), 1))


def core_dump(c):
    if read("/proc/sys/kernel/core_pattern").startswith(("|", "/", "@")):
        print("no core dump: core_pattern names no file in the current folder")
        return
    c.folder("cores")
    fs, at = c.held_fs("cores")
    fs.hold("core", heldfs.WRITE)
    c.add(Task("dumps", "FUSE daemon", "vfs_coredump", "DS", because=f"/{fs.pid}"), lambda: dump_core(at))


# Disks that do not answer.

def loop(c, path):
    """The number of a loop device for the file, and a descriptor of it. Direct I/O, as the page cache
    of the file would answer."""
    with open("/dev/loop-control") as control:
        number = fcntl.ioctl(control, LOOP_CTL_GET_FREE)
    device = os.open(f"/dev/loop{number}", os.O_RDWR | os.O_CLOEXEC)
    data = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    info = struct.pack("<5Q4I192x", 0, 0, 0, 0, 0, 0, 0, 0, LO_FLAGS_AUTOCLEAR | LO_FLAGS_DIRECT_IO)
    fcntl.ioctl(device, LOOP_CONFIGURE, struct.pack("<II", data, 0) + info[:232] + bytes(64))
    os.close(data)
    return number, device


def disk_of(c, name, size):
    """A folder with a file for a disk, held, and a loop device on it."""
    with open(os.path.join(c.folder(name), "disk"), "wb") as f:
        f.truncate(size)
    fs, at = c.held_fs(name)
    number, device = loop(c, os.path.join(at, "disk"))
    c.undo.callback(os.close, device)
    return fs, number, device


def read_direct(fd):
    os.preadv(fd, [mmap.mmap(-1, PAGE)], 0)


def destroy_aio(fd):
    """Reads asynchronously, and waits for the end of that in io_destroy()."""
    context = ctypes.c_ulong()
    memory = mmap.mmap(-1, PAGE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    request = ctypes.create_string_buffer(
        struct.pack("<QIIHhIQQqQII", 0, 0, 0, 0, 0, fd, address, PAGE, 0, 0, 0, 0))
    requests = (ctypes.c_void_p * 1)(ctypes.addressof(request))
    must(libc.syscall(SYS_IO_SETUP, 1, ctypes.byref(context)), "io_setup")
    must(libc.syscall(SYS_IO_SUBMIT, context, ctypes.c_long(1), requests), "io_submit")
    must(libc.syscall(SYS_IO_DESTROY, context), "io_destroy")


def disk(c):
    """Four requests fill its queue, then it is frozen for a change."""
    fs, number, device = disk_of(c, "disk", 1 << 20)
    c.set(f"/sys/block/loop{number}/queue/nr_requests", 4)
    direct = os.open(f"/dev/loop{number}", os.O_RDONLY | os.O_DIRECT | os.O_CLOEXEC)
    c.undo.callback(os.close, direct)
    fs.hold("disk", heldfs.READ, heldfs.FSYNC)
    c.add(Task("direct", "disk read", "submit_bio_wait"), lambda: read_direct(direct))
    c.add(Task("aio", "end of its asynchronous I/O", "__x64_sys_io_destroy"), lambda: destroy_aio(direct))
    c.add(Task("flush", "flush of a disk cache", "blkdev_issue_flush"), lambda: os.fsync(device))
    c.add(Task("direct2", "disk read", "submit_bio_wait"), lambda: read_direct(direct))
    c.add(Task("tag", "request queue is full", "blk_mq_get_tag"), lambda: read_direct(direct))
    c.add(Task("freezes", "request queue is frozen", "blk_mq_freeze_queue_wait"),
          lambda: fcntl.ioctl(device, LOOP_SET_DIRECT_IO, 0))
    c.add(Task("enters", "request queue is frozen", "__bio_queue_enter"), lambda: read_direct(direct))


def write_apart(fd):
    """Pages apart from each other, and so a request each."""
    page = bytes(PAGE)
    for n in range(64):
        os.pwrite(fd, page, 2 * n * PAGE)
    sync_range(fd)


def throttled(c):
    """By the limit for writeback of its disk."""
    fs, number, device = disk_of(c, "slow", 1 << 20)
    if not int(read(f"/sys/block/loop{number}/queue/wbt_lat_usec")):
        print("no throttled writeback: loop devices have no limit for it")
        return
    fs.hold("disk", heldfs.WRITE)
    c.add(Task("throttled", "writeback is throttled", "rq_qos_wait"), lambda: write_apart(device))


def touch_swapped(ready, size):
    memory = map_private(size)
    ctypes.memset(memory, 1, size)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    os.write(ready, b"x")
    signal.sigwait([signal.SIGUSR1])
    ctypes.memset(memory, 2, size)


def swap(c):
    fs, number, _ = disk_of(c, "swap", 4 << 20)
    path = f"/dev/loop{number}"
    run("mkswap", path)
    must(libc.swapon(path.encode(), 0), "swapon")
    c.guard.add("swapoff", path)
    told, tell = os.pipe()
    group = c.cgroup("memory", "swap")
    task = c.begin(Task("swap", "swap-in", "do_swap_page"), lambda: touch_swapped(tell, 1 << 20), group)
    os.read(told, 1)
    write(group + "/memory.force_empty", 0)
    fs.hold("disk", heldfs.READ)
    os.kill(task.tid, signal.SIGUSR1)
    task.settle()


# ext4 on a disk that does not answer.

def write_part(path):
    with open(path, "r+b", buffering=0) as f:
        f.seek(100)
        f.write(b"y")


def overwrite(path):
    fd = os.open(path, os.O_RDWR)
    os.write(fd, bytes(PAGE))
    os.fsync(fd)


def touch(path):
    fd = os.open(path, os.O_RDWR)
    os.utime(fd)
    os.fsync(fd)
    os.close(fd)


def write_much(path):
    os.write(os.open(path, os.O_RDWR), mmap.mmap(-1, 8 << 20))


def sync_fs(path):
    must(libc.syncfs(os.open(path, os.O_RDONLY)), "syncfs")


def freeze(path):
    fd = os.open(path, os.O_RDONLY)
    fcntl.ioctl(fd, FIFREEZE, 0)
    fcntl.ioctl(fd, FITHAW, 0)


RECLAIMED = 64 << 20


def reclaim(path, tell):
    """Needs memory of its cgroup, which is full of pages under writeback."""
    memory = map_private(RECLAIMED)
    os.write(tell, struct.pack("<QI", memory, open_uffd()))
    fd = os.open(path, os.O_RDWR)
    data = mmap.mmap(-1, 1 << 20)  # whole pages, so that none has to be read
    for _ in range(8):
        os.write(fd, data)
    sync_range(fd)
    ctypes.memset(memory, 1, RECLAIMED)


def change_mapping(pid, address, uffd):
    """Of another process, whose own threads would wait for memory, too."""
    register(take_fd(pid, uffd), address, RECLAIMED)


def mount_ext4(c, name, *options):
    fs, number, device = disk_of(c, name, 64 << 20)
    run("mkfs.ext4", "-q", "-b", str(PAGE), "-E", "lazy_itable_init=0,nodiscard", *options,
        f"/dev/loop{number}")
    root = c.folder(name + "-root")
    heldfs.mount(f"/dev/loop{number}", root, "ext4", 0, "no_prefetch_block_bitmaps")
    c.undo.callback(lambda: must(libc.umount2(root.encode(), 0), "umount"))
    return fs, root, number, device


def make_ext4(c):
    """The held file system of its disk, its root, and the number of the disk. Directories and inodes
    for which no task is to wait have been read. Its log is not empty: else the next commit begins with
    the superblock of the log."""
    tree = c.folder("tree")
    os.mkdir(os.path.join(tree, "folder"))
    for name in ("read", "part", "overwritten", "touched", "cut", "late", "folder/x"):
        make_file(os.path.join(tree, name), 1 << 20)
    for name in ("big", "dirty"):
        make_file(os.path.join(tree, name), 8 << 20)
    fs, root, number, device = mount_ext4(c, "ext4", "-d", tree)
    for name in os.listdir(root):
        os.stat(os.path.join(root, name))
    touch(os.path.join(root, "touched"))
    os.fsync(device)
    c.set(f"/sys/block/loop{number}/queue/wbt_lat_usec", 0)
    return fs, root, number


def pages(c, path, disk):
    c.add(Task("disk-read", "disk read", "filemap_read", because=f"{path('read')} ({disk})"),
          lambda: read_first(path("read")))
    c.add(Task("disk-fault", "page fault in a file", "filemap_fault",
               because=f"{path('read')} ({disk})", device=disk), lambda: fault(path("read")))
    c.add(Task("metadata", "disk metadata", "ext4_lookup", device=disk),
          lambda: os.stat(path("folder", "x")))
    c.add(Task("lock2", "kernel lock", "^path_openat", because="metadata/"),
          lambda: make_file(path("folder", "y"), 1))
    c.add(Task("part", "disk read", "ext4_block_write_begin"), lambda: write_part(path("part")))
    c.add(Task("fsync", "writeback", "folio_wait_writeback", because=f"{path('overwritten')} ({disk})"),
          lambda: overwrite(path("overwritten")))


def memory(c, path):
    """A page fault that waits for memory keeps the VMA's lock."""
    group = c.cgroup("memory", "reclaim")
    write(group + "/memory.limit_in_bytes", 16 << 20)
    write(group + "/memory.swappiness", 0)  # its pages are not to be swapped
    told, tell = os.pipe()
    task = c.add(Task("reclaim", "memory limit of its cgroup", "try_to_free_mem_cgroup_pages",
                      because=f"cgroup /{os.path.basename(group)}"),
                 lambda: reclaim(path("big"), tell), group)
    address, uffd = struct.unpack("<QI", os.read(told, 12))
    c.add(Task("vma", "VMA lock", "__vma_start_write"),
          lambda: change_mapping(task.tid, address, uffd))


def log(c, path, number):
    """A task that waits for a bitmap has a handle open, for which the commit waits."""
    c.add(Task("handle", "disk metadata", "ext4_mb_init_cache", device=f"loop{number}"),
          lambda: os.truncate(path("cut"), 0))
    memory(c, path)
    c.set(f"/sys/block/loop{number}/bdi/strict_limit", 1)
    c.set(f"/sys/block/loop{number}/bdi/max_ratio", 0)
    c.add(Task("dirty", "too many dirty pages", "balance_dirty_pages", steady=False),
          lambda: write_much(path("dirty")))
    c.add(Task("commit", "jbd2 commit", "jbd2_log_wait_commit", because=f"jbd2/loop{number}-8/"),
          lambda: touch(path("touched")))
    # Its call names no file.
    c.add(Task("locked", "jbd2 commit", "wait_transaction_locked", device=f"loop{number}",
               because=f"jbd2/loop{number}-8/"), lambda: os.utime(path("overwritten")))
    c.other(Task(f"jbd2/loop{number}-8", "open handles of jbd2", "jbd2_journal_wait_updates",
                 because="handle/"))


def ext4(c):
    fs, root, number = make_ext4(c)
    fs.hold("disk", heldfs.READ, heldfs.WRITE)
    path = lambda *names: os.path.join(root, *names)
    pages(c, path, f"loop{number}")
    log(c, path, number)
    # It waits for the task that writes part of a page. It is not killed, as it would not thaw then.
    freezes = Task("fsfreeze", "readers of a percpu-rwsem", "^freeze_super")
    freezes.is_killed = False
    c.add(freezes, lambda: freeze(root))
    c.add(Task("late", "kernel lock", "percpu_rwsem_wait"), lambda: write_part(path("late")))
    c.add(Task("syncfs", "writeback", "sync_inodes_sb"), lambda: sync_fs(root))


# A device that is suspended, and a worker that gets no CPU.

def mapped(c):
    if not shutil.which("dmsetup") or subprocess.run(["dmsetup", "version"], capture_output=True).returncode:
        print("no suspended device: no dmsetup, or no device-mapper")
        return
    path, name = c.path("mapped"), f"kontend-{os.getpid()}"
    make_file(path, 1 << 20)
    number, device = loop(c, path)
    c.undo.callback(os.close, device)
    run("dmsetup", "create", name, "--noudevsync", "--table", f"0 2048 linear /dev/loop{number} 0")
    c.guard.add("dm", name)
    direct = os.open(f"/dev/mapper/{name}", os.O_RDONLY | os.O_DIRECT | os.O_CLOEXEC)
    c.releases.callback(os.close, direct)
    run("dmsetup", "suspend", "--noudevsync", name)
    c.releases.callback(run, "dmsetup", "resume", "--noudevsync", name)
    c.add(Task("suspended", "disk read", "submit_bio_wait", because=f"{name} is suspended"),
          lambda: read_direct(direct))


def flush_all():
    """Has a worker of each CPU do something, and waits for them."""
    while True:
        read("/proc/sys/vm/stat_refresh")


def keep_busy(cpu):
    os.sched_setaffinity(0, {cpu})
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
    spin()


def work(c):
    """The kernel lets other tasks run on that CPU for a twentieth of the time, so the flush does end."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2 or not os.path.exists("/proc/sys/vm/stat_refresh"):
        print("no work that waits: it takes two CPUs, and stat_refresh")
        return
    os.sched_setaffinity(0, cpus[:-1])
    c.undo.callback(os.sched_setaffinity, 0, cpus)
    hog = c.begin(Task("hog", None, ""), lambda: keep_busy(cpus[-1]))
    c.tasks.remove(hog)
    c.undo.callback(os.waitpid, hog.tid, 0)
    c.undo.callback(os.kill, hog.tid, signal.SIGKILL)
    c.add(Task("flushes", "work of a kworker", "__flush_work", steady=False,
               because=f", kept off by hog/{hog.tid} (real-time 50), for refresh_vm_stats"), flush_all)


def prepared():
    """None of them yet; end() has to be called, whatever happens."""
    if os.uname().machine != "x86_64":
        raise Skip("the numbers of system calls are those of x86-64")
    for path in NEEDED:
        if not os.path.exists(path):
            raise Skip(f"no {path}")
    if not shutil.which("mkfs.ext4") or not shutil.which("mkswap"):
        raise Skip("no mkfs.ext4 or no mkswap")
    return Causes()


def produce(*what):
    """By these functions; end() has to be called, whatever happens."""
    c = prepared()
    try:
        for one in what:
            one(c)
    except BaseException:
        c.end()
        raise
    return c


def blocked():
    """All of them."""
    return produce(processes, files, cgroups, fuse, core_dump, disk, throttled, swap, ext4, mapped, work)
