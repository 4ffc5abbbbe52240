#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The live screen costs what it shows: while nothing happens it sleeps from tick to tick, and whatever
it writes is in a frame, of which a key makes one. It is on a terminal of its own that knows
synchronised updates, and measures a process that sleeps. Wake-ups are the main thread's voluntary
switches in the time that really went by. That a frame is one write is tests/unit/test-tty.c's.

    test-quiet.py KONTEND"""
import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time

from namespaces import Checks, main

ASKED, KNOWS = b"\033[?2026$p", b"\033[?2026;2$y"
BEGIN, END = b"\033[?2026h", b"\033[?2026l"
PATIENCE_S, IDLE_S, MOST_WAKEUPS_PER_S = 60, 5, 20
KEYS = "23" * 10


class Screen:
    def __init__(self, *command):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8")
            os.execv(command[0], command)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.out = b""

    def read(self, seconds):
        """What comes until nothing does for so long."""
        while select.select([self.fd], [], [], seconds)[0]:
            self.out += os.read(self.fd, 65536)

    def expect(self, text):
        until = time.monotonic() + PATIENCE_S
        while text not in self.out:
            if time.monotonic() > until:
                raise AssertionError(f"waited in vain for {text}: {self.out}")
            self.read(0.05)

    def send(self, keys):
        os.write(self.fd, keys)

    def switches(self):
        """Of the main thread, which it made by going to sleep."""
        with open(f"/proc/{self.pid}/task/{self.pid}/status", encoding="utf-8") as lines:
            return next(int(line.split()[1]) for line in lines if line.startswith("voluntary_"))

    def frames(self):
        return self.out.count(END)

    def leave(self):
        self.send(b"q")
        status = os.waitpid(self.pid, 0)[1]
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)


def look_at_idle(c, screen):
    began, switches = time.monotonic(), screen.switches()
    while time.monotonic() < began + IDLE_S:
        screen.read(0.2)
    took = time.monotonic() - began
    wakeups = screen.switches() - switches
    print(f"idle: {wakeups} wake-ups of the main thread in {took:.1f} s")
    c.check(wakeups <= MOST_WAKEUPS_PER_S * took, "it wakes up too often")


def look_at_frames(c, screen):
    screen.out = b""
    for key in KEYS:
        seen = screen.frames()
        screen.send(key.encode())
        until = time.monotonic() + PATIENCE_S
        while screen.frames() == seen and time.monotonic() < until:
            screen.read(0.02)
    screen.read(0.2)
    print(f"keys: {screen.frames()} frames for {len(KEYS)} keys")
    c.check(screen.frames() >= len(KEYS), "a key made no frame")
    between = [part.split(END)[-1] for part in screen.out.split(BEGIN)]
    c.check(not any(between), f"something is written between frames: {between}")


def run():
    kontend = os.path.realpath(sys.argv[1])
    c = Checks()
    with subprocess.Popen(["sleep", "1000"]) as sleeper:
        try:
            screen = Screen(kontend, "live", "-p", str(sleeper.pid))
            screen.expect(ASKED)
            screen.send(KNOWS)
            screen.expect(END)
            look_at_idle(c, screen)
            look_at_frames(c, screen)
            c.check(screen.leave() == 0, "it did not leave by q")
        finally:
            sleeper.kill()
    print("\n".join(c.complaints))
    return 1 if c.complaints else 0


main(run)
