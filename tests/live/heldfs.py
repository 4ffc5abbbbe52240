# SPDX-License-Identifier: GPL-2.0-only
"""A FUSE file system whose daemon leaves requests without an answer for as long as a test wants. Its
files are those of one folder, and their data is there. A loop device on such a file is a disk that does
not answer. The daemon ends when the file system is unmounted; when its test is gone or hangs, it
answers all."""
import ctypes
import errno
import os
import select
import socket
import stat
import struct
import time
import traceback

(LOOKUP, FORGET, GETATTR, SETATTR, OPEN, READ, WRITE, STATFS, RELEASE, FSYNC, FLUSH, INIT, OPENDIR,
 INTERRUPT, RELEASEDIR, CREATE, BATCH_FORGET, DESTROY) = (
     1, 2, 3, 4, 14, 15, 16, 17, 18, 20, 25, 26, 27, 36, 29, 35, 42, 38)
ROOT = 1
ASYNC_READ, BIG_WRITES, ASYNC_DIO, MAX_PAGES = 1 << 0, 1 << 5, 1 << 15, 1 << 22
FLAGS = ASYNC_READ | BIG_WRITES | ASYNC_DIO | MAX_PAGES
MAX_WRITE = 1 << 20
CLONE_NEWNS, MNT_DETACH = 0x20000, 2
FOREVER = 3600  # seconds for which the kernel may keep names and attributes
AT_MOST = 60  # seconds for which requests wait, even if the test itself waits for one

libc = ctypes.CDLL(None, use_errno=True)


def must(got, what):
    if got < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return got


def mount(source, folder, kind, flags, options=""):
    must(libc.mount(source.encode(), folder.encode(), kind.encode(), ctypes.c_ulong(flags),
                    options.encode()), f"mount {folder}")


class Daemon:
    def __init__(self, dev, control, folder):
        self.dev, self.control, self.folder = dev, control, folder
        self.nodes = {ROOT: folder}
        self.held = {}  # operation: names
        self.waiting = []

    def answer(self, unique, data=b"", error=0):
        try:
            os.write(self.dev, struct.pack("<IiQ", 16 + len(data), -error, unique) + data)
        except FileNotFoundError:
            pass  # the request was interrupted and is gone

    def attributes(self, node):
        s = os.stat(self.nodes[node])
        return struct.pack("<6Q10I", node, s.st_size, s.st_blocks, 0, 0, 0, 0, 0, 0, s.st_mode, 1, 0, 0,
                           0, 4096, 0)

    def entry(self, name):
        path = os.path.join(self.folder, name)
        node = os.stat(path).st_ino
        self.nodes[node] = path
        return struct.pack("<4Q2I", node, 0, FOREVER, FOREVER, 0, 0) + self.attributes(node)

    def data(self, node, how):
        return os.open(self.nodes[node], how | os.O_CLOEXEC)

    def do(self, op, node, body):
        """The data of the answer."""
        if op == INIT:
            return struct.pack("<4I2H2I2H2I12H", 7, 31, MAX_WRITE, FLAGS,
                               512, 384, MAX_WRITE, 1, MAX_WRITE // 4096, 0, 0, 0, *[0] * 12)
        if op == LOOKUP:
            return self.entry(body[:-1].decode())
        if op == CREATE:
            name = body[16:-1].decode()
            os.close(os.open(os.path.join(self.folder, name), os.O_CREAT | os.O_RDWR, 0o600))
            return self.entry(name) + struct.pack("<QII", 0, 0, 0)
        if op in (GETATTR, SETATTR):
            return struct.pack("<QII", FOREVER, 0, 0) + self.attributes(node)
        if op in (OPEN, OPENDIR):
            return struct.pack("<QII", 0, 0, 0)
        if op == READ:
            _, offset, size = struct.unpack_from("<QQI", body)
            fd = self.data(node, os.O_RDONLY)
            data = os.pread(fd, size, offset)
            os.close(fd)
            return data
        if op == WRITE:
            _, offset, size = struct.unpack_from("<QQI", body)
            fd = self.data(node, os.O_WRONLY)
            done = os.pwrite(fd, body[40:40 + size], offset)
            os.close(fd)
            return struct.pack("<II", done, 0)
        if op == STATFS:
            return struct.pack("<5Q4I24x", 1 << 20, 1 << 19, 1 << 19, 1 << 20, 1 << 19, 4096, 255, 4096, 0)
        if op in (RELEASE, RELEASEDIR, FSYNC, DESTROY):
            return b""
        raise OSError(errno.ENOSYS, "not done here")

    def name(self, op, node, body):
        if op == CREATE:
            return body[16:-1].decode()
        if op == LOOKUP:
            return body[:-1].decode()
        return os.path.basename(self.nodes.get(node, ""))

    def serve(self, request):
        _, op, unique, node = struct.unpack_from("<IIQQ", request)
        body = request[40:]
        if op in (FORGET, BATCH_FORGET):
            return
        if self.name(op, node, body) in self.held.get(op, ()):
            self.waiting.append(request)
            return
        try:
            self.answer(unique, self.do(op, node, body))
        except OSError as why:
            self.answer(unique, b"", why.errno)

    def obey(self):
        words = self.control.recv(4096).decode().split()
        if words[0] == "hold":
            for op in words[2:]:
                self.held.setdefault(int(op), set()).add(words[1])
        else:
            self.let_go(words[1:])
        self.control.send(b"done")

    def let_go(self, names):
        for held in self.held.values():
            held.difference_update(names or set(held))
        requests, self.waiting = self.waiting, []
        for r in requests:
            self.serve(r)

    def run(self, test):
        poll = select.poll()
        for fd in (self.dev, self.control, test):
            poll.register(fd, select.POLLIN)
        end = time.monotonic() + AT_MOST
        while True:
            if time.monotonic() > end:
                self.let_go([])
            for fd, _ in poll.poll(1000):
                if fd == test:
                    poll.unregister(test)
                    poll.unregister(self.control)
                    self.let_go([])
                    break
                if fd == self.control.fileno():
                    self.obey()
                    continue
                try:
                    self.serve(os.read(self.dev, MAX_WRITE + 4096))
                except OSError as why:
                    if why.errno == errno.ENODEV:
                        return  # unmounted
                    if why.errno not in (errno.ENOENT, errno.EINTR, errno.EAGAIN):
                        raise


class HeldFs:
    """The files of `folder` at `at`. The daemon is not in the mount namespace of the test, but in that
    outside: else the last to leave the one inside would have to wait for itself."""

    def __init__(self, folder, at, outside, daemon=Daemon):
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        dev = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        mount("held", at, "fuse", 0, f"fd={dev},rootmode={stat.S_IFDIR:o},user_id=0,group_id=0,allow_other")
        test = os.pidfd_open(os.getpid())
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.setsid()  # a signal for the test's group is not for it
                must(libc.setns(outside, CLONE_NEWNS), "setns")
                daemon(dev, theirs, folder).run(test)
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(0)
        os.close(dev)
        os.close(test)
        theirs.close()

    def ask(self, *words):
        self.control.send(" ".join(map(str, words)).encode())
        if self.control.recv(16) != b"done":
            raise AssertionError("the FUSE daemon is gone")

    def hold(self, name, *ops):
        """Requests of these operations for the file get no answer from now on."""
        self.ask("hold", name, *ops)

    def let_go(self, name=""):
        """Of one file, or of all: answers what waits, and holds no more."""
        self.ask("go", name)

    def unmount(self, at):
        must(libc.umount2(at.encode(), MNT_DETACH), f"umount {at}")
        os.waitpid(self.pid, 0)
