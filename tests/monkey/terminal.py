# SPDX-License-Identifier: GPL-2.0-only
"""
A pseudo terminal with a session, as tests/pty/session.c has it: a small shell leads it, puts the
program in the foreground, and reports each stop and end of it, so that SIGTSTP stops it as a user
would. The output is read and dropped, but for the modes that it switches.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

from rounds import environment

MODE = re.compile(rb"\033\[\?([0-9;]+)([hl])")
SCREEN, MICE, PASTE, FRAME = 1049, (1000, 1002, 1003, 1006), 2004, 2026
TAIL = 64
TIOCGPTN = 0x80045430


class Terminal:
    def __init__(self, command, folder, home, size, env, err, limits=()):
        self.modes, self.tail, self.n_read, self.is_read = {}, b"", 0, True
        self.status, self.sent = None, []
        status, self.theirs_status = os.pipe()
        self.theirs_control, control = os.pipe()
        self.leader, self.master = pty.fork()
        if self.leader == 0:
            try:
                os.close(status)
                os.close(control)
                self._lead(command, folder, {**environment(home), **env}, err, limits)
            finally:
                os._exit(126)
        os.close(self.theirs_status)
        os.close(self.theirs_control)
        self.status_fd, self.control_fd = status, control
        self.slave = os.open(f"/dev/pts/{self._number()}", os.O_RDWR | os.O_NOCTTY)
        self.resize(*size)
        self.before = termios.tcgetattr(self.slave)
        os.write(self.control_fd, b"c")
        self.pid = struct.unpack("i", self._read_exactly(4))[0]
        os.set_blocking(self.master, False)

    def _number(self):
        return struct.unpack("i", fcntl.ioctl(self.master, TIOCGPTN, b"\0\0\0\0"))[0]

    def _read_exactly(self, n):
        got = b""
        while len(got) < n:
            part = os.read(self.status_fd, n - len(got))
            if not part:
                raise RuntimeError("the shell ended")
            got += part
        return got

    def _lead(self, command, folder, env, err, limits):
        """In the child, which leads the session."""
        import resource
        for s in (signal.SIGTTOU, signal.SIGHUP):
            signal.signal(s, signal.SIG_IGN)
        os.read(self.theirs_control, 1)
        began, begins = os.pipe()  # both are closed by execve()
        pid = os.fork()
        if pid == 0:
            os.setpgid(0, 0)
            os.tcsetpgrp(0, os.getpid())
            for s in (signal.SIGTTOU, signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
                signal.signal(s, signal.SIG_DFL)
            os.chdir(folder)
            fd = os.open(err, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.dup2(fd, 2)
            os.closerange(3, begins)
            os.closerange(begins + 1, 1024)
            for which, most in limits:
                resource.setrlimit(which, (most, most))
            os.execve(command[0], command, env)
        try:
            os.setpgid(pid, pid)
        except OSError:
            pass
        self._foreground(pid)
        # Before the program is there, SIGHUP is ignored and Python keeps SIGINT for itself.
        os.close(begins)
        os.read(began, 1)
        os.write(self.theirs_status, struct.pack("i", pid))
        while True:
            _, status = os.waitpid(pid, os.WUNTRACED)
            self._foreground(os.getpgrp())
            os.write(self.theirs_status, struct.pack("i", status))
            if not os.WIFSTOPPED(status):
                break
            os.read(self.theirs_control, 1)
            self._foreground(pid)
            os.killpg(pid, signal.SIGCONT)
        os.read(self.theirs_control, 1)

    @staticmethod
    def _foreground(group):
        try:
            os.tcsetpgrp(0, group)
        except OSError:
            pass  # the terminal was closed

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def send(self, keys):
        """False if it takes none now."""
        try:
            return os.write(self.master, keys) > 0
        except (BlockingIOError, OSError):
            return False

    def kill(self, sig):
        self.sent.append(sig)
        try:
            os.kill(self.pid, sig)
        except ProcessLookupError:
            pass

    def carry_on(self):
        os.write(self.control_fd, b"c")

    def _take(self):
        try:
            data = os.read(self.master, 65536)
        except (BlockingIOError, OSError):
            return False
        if not data:
            return False
        self.n_read += len(data)
        data = self.tail + data
        for numbers, letter in MODE.findall(data):
            for number in numbers.split(b";"):
                self.modes[int(number)] = letter == b"h"
        # The beginning of a sequence that is not there as a whole is looked at again.
        self.tail = data[-TAIL:]
        return True

    def pump(self, seconds):
        """Reads for a while. True if it has stopped, or ended: then self.status says how."""
        until = time.monotonic() + seconds
        while self.status is None:
            left = until - time.monotonic()
            fds = [self.status_fd] + ([self.master] if self.is_read else [])
            ready, _, _ = select.select(fds, [], [], max(left, 0))
            if self.master in ready and not self._take():
                time.sleep(0.001)
            if self.status_fd in ready:
                status = struct.unpack("i", self._read_exactly(4))[0]
                if os.WIFSTOPPED(status):
                    return True
                self.status = os.waitstatus_to_exitcode(status)
            if left <= 0:
                return False
        return True

    def drain(self):
        while self._take():
            pass

    def faults(self, whole):
        """What is not as it was. @whole: all that was written could be read."""
        bad = []
        now = termios.tcgetattr(self.slave)
        if now[:6] != self.before[:6]:
            bad.append("the modes of the terminal are others than before")
        if not now[3] & termios.ECHO:
            bad.append("the terminal does not echo")
        if whole:
            on = [m for m in (SCREEN, *MICE, PASTE, FRAME) if self.modes.get(m)]
            if on:
                bad.append(f"modes of the screen stay on: {on}")
            if self.modes.get(25) is False:
                bad.append("the cursor stays hidden")
        return bad

    def close(self):
        for fd in (self.control_fd, self.status_fd, self.slave, self.master):
            try:
                os.close(fd)
            except OSError:
                pass
        try:
            os.waitpid(self.leader, 0)
        except ChildProcessError:
            pass
