#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Whatever ends the screen is on standard error afterwards, a line for each way: signals, the end of
the terminal, a fault, the time that was asked for, a fatal error. A key that asks for the end needs
none. Standard error is a file, so that it is there when the terminal is gone.

    test-ends.py KONTEND ARGUMENT..."""
import os
import pty
import select
import signal
import sys
import tempfile
import time

PATIENCE_S = 60
failures = 0


class Screen:
    def __init__(self, command, user=None):
        self.error = tempfile.TemporaryFile()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.dup2(self.error.fileno(), 2)
            os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8", NO_COLOR="1")
            signal.signal(signal.SIGHUP, signal.SIG_DFL)
            if user:
                os.setgroups([])
                os.setgid(user)
                os.setuid(user)
            os.execv(command[0], command)
        self.out = b""

    def read(self, seconds):
        while self.fd >= 0 and select.select([self.fd], [], [], seconds)[0]:
            try:
                some = os.read(self.fd, 65536)
            except OSError:
                some = b""
            if not some:
                return False
            self.out += some
        return True

    def expect(self, text):
        until = time.monotonic() + PATIENCE_S
        while text not in self.out:
            if time.monotonic() > until:
                sys.exit(f"waited in vain for {text}: {self.out}")
            self.read(0.05)

    def hang_up(self):
        os.close(self.fd)
        self.fd = -1

    def end(self):
        """The status, and what standard error has."""
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                break
            self.read(0.05)
            time.sleep(0.01)
        self.read(0)
        if self.fd >= 0:
            os.close(self.fd)
        self.error.seek(0)
        return os.waitstatus_to_exitcode(status), self.error.read().decode()


def check(name, got, status, line):
    global failures
    said = got[1].splitlines()
    good = got[0] == status and (said[-1:] == [line] if line else not said)
    if not good:
        failures += 1
        print(f"FAIL {name}: {got}, not {status} and {line!r}")


def begin(command):
    screen = Screen(command)
    screen.expect(b"help")
    return screen


def check_signal(command, sig, line, status=None):
    screen = begin(command)
    os.kill(screen.pid, sig)
    check(sig.name, screen.end(), 128 + sig if status is None else status, line)


def main(command):
    check_signal(command, signal.SIGTERM, "kontend: ended by SIGTERM")
    check_signal(command, signal.SIGINT, "kontend: ended by SIGINT, as Ctrl-C sends it")
    check_signal(command, signal.SIGQUIT, "kontend: ended by SIGQUIT")
    check_signal(command, signal.SIGHUP, "kontend: ended by SIGHUP: the terminal is gone")
    for sig in (signal.SIGSEGV, signal.SIGABRT):
        line = f"kontend: ended by signal {int(sig)}, a fault of kontend itself"
        check_signal(command, sig, line, -sig)
    check_signal(command, signal.SIGUSR1, "kontend: ended by signal 10", -signal.SIGUSR1)

    screen = begin(command)
    screen.hang_up()
    check("hang-up", screen.end(), 129, "kontend: ended by SIGHUP: the terminal is gone")

    screen = begin(command)
    os.write(screen.fd, b"\003")
    check("Ctrl-C", screen.end(), 130, "kontend: ended by SIGINT, as Ctrl-C sends it")

    screen = begin(command)
    os.write(screen.fd, b"q")
    check("q", screen.end(), 0, None)

    if "live" in command:
        screen = Screen(command + ["--duration", "1"])
        check("--duration", screen.end(), 0, "kontend: the time of --duration is over")
        status, said = Screen(command, user=65534).end()
        check("an error", (status, said[:9]), 1, "kontend: ")
    sys.exit(failures != 0)


if "live" in sys.argv and os.geteuid() != 0:
    print("skipped: needs root")
    sys.exit(77)
main(sys.argv[1:])
