#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""frames.py KONTEND RECORDING [COLUMNSxROWS...]

What the screen of `kontend replay` costs over a large recording: when it first shows something, when
all of the recording is read, and what a frame takes for each kind of key at its end, in CPU time of
the process (a busy machine does not change it) and in time until the frame is on the terminal.
For a recording that is large enough: synthetic big.data events=4e6 cpus=1024 tasks=1e5 locks=1e5
chains=2e4.
"""
import fcntl
import os
import pty
import re
import select
import signal
import statistics
import struct
import sys
import termios
import time

SIZES = ["80x24", "200x60"]
DOWN, PAGE_DOWN, END, ESC, TAB = b"\033OB", b"\033[6~", b"\033OF", b"\033", b"\t"
LOCKS, WAITERS = b":view locks\r", b":view waiters\r"

# The keys that are pressed once before, and those that are timed one by one.
STEPS = {
    "locks: down": (LOCKS, [DOWN] * 100),
    "locks: page down": (LOCKS, [PAGE_DOWN] * 60),
    "locks: last row, first row": (LOCKS, [END, b"\033OH"] * 10),
    "locks: another order": (LOCKS, [b">"] * 12),
    "locks: reverse": (LOCKS, [b"S"] * 6),
    "locks: filter, letter by letter": (LOCKS + b"/", [b"t", b"y", b"p", b"e", b"=", b"r", b"w"]),
    "locks: down when filtered": (b"\r", [DOWN] * 40),
    "locks: by task, stack, ...": (LOCKS + b"\x0c", [b":by-next\r"] * 7),
    "locks: detail and back": (LOCKS + b":by lock\r", [b"\r", ESC] * 6),
    "waiters: down": (WAITERS, [DOWN] * 40),
    "next view": (b":view overview\r", [TAB] * 20),
}


def terminal(argv, columns, rows):
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8")
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.execv(argv[0], argv)
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    return pid, fd


class Session:
    def __init__(self, kontend, recording, columns, rows):
        self.began = time.monotonic()
        self.pid, self.fd = terminal([kontend, "replay", recording], columns, rows)
        self.clock = (~self.pid << 3) | 2  # CPU time of that process
        self.seen = b""

    def cpu(self):
        return time.clock_gettime(self.clock)

    def read(self, seconds):
        if not select.select([self.fd], [], [], seconds)[0]:
            return False
        self.seen += os.read(self.fd, 1 << 20)
        return True

    def expect(self, pattern, seconds=600):
        """Seconds since the start when it was there."""
        until = time.monotonic() + seconds
        while not re.search(pattern, self.seen):
            if not self.read(until - time.monotonic()):
                sys.exit(f"frames.py: no {pattern} within {seconds} s: {self.seen[-2000:]}")
        return time.monotonic() - self.began

    def quiet(self, seconds=0.3):
        """Until nothing comes and nothing is worked on."""
        while True:
            before = self.cpu()
            if not self.read(seconds) and self.cpu() - before < seconds / 20:
                return

    def key(self, key):
        """CPU time and time until the terminal had the frame."""
        self.seen = b""
        cpu, begin = self.cpu(), time.monotonic()
        os.write(self.fd, key)
        seen = begin
        while True:
            before = self.cpu()
            if self.read(0.05):
                seen = time.monotonic()
            elif self.cpu() - before < 0.002:
                return self.cpu() - cpu, seen - begin

    def end(self):
        os.write(self.fd, b"q")
        while self.read(5):
            if b"\033[?1049l" in self.seen:
                break
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def line(what, values):
    ms = sorted(v * 1e3 for v in values)
    return f"{statistics.median(ms):8.1f} {ms[-1]:8.1f} {what}"


def measure(kontend, recording, columns, rows):
    s = Session(kontend, recording, columns, rows)
    print(f"{columns}x{rows}")
    s.expect(rb"\033\[\?1049h")
    print(f"  first screen after      {s.expect(rb'kontend.*(?s:.)(wait|lock)'):6.2f} s")
    os.write(s.fd, b"Z")
    print(f"  the end is shown after  {s.expect(rb'END(?!ED)'):6.2f} s, {s.cpu():.2f} s of CPU time")
    s.quiet()
    cpu = s.cpu()
    time.sleep(3)
    print(f"  idle: {(s.cpu() - cpu) / 3 * 100:.2f} % of a CPU")
    print("  CPU ms/frame (worst)    ms to the terminal (worst)")
    for what, (before, keys) in STEPS.items():
        os.write(s.fd, before)
        s.quiet()
        both = [s.key(k) for k in keys]
        print("  " + line("", [b[0] for b in both]) + "     " + line(what, [b[1] for b in both]), flush=True)
    s.end()


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    for size in sys.argv[3:] or SIZES:
        columns, rows = map(int, size.split("x"))
        measure(os.path.realpath(sys.argv[1]), sys.argv[2], columns, rows)


if __name__ == "__main__":
    main()
