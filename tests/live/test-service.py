#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""`kontend record --service` under a service manager, which is this test: the notifications sent to
a path and to an abstract name, the lines in the journal, the changes by a configuration that is read
again, the files that stay, and a service that gives no sign of life."""
import glob
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

from checks import check, done, skip

kontend = sys.argv[1]
WATCHDOG_S = 4
started = []


class Service:
    """The manager's side: its socket, the journal's stream, and the process."""

    def __init__(self, name, conf, watchdog=True, **env):
        self.folder = os.path.join(top, "state")
        os.makedirs(self.folder, exist_ok=True)
        self.conf = os.path.join(top, "conf")
        self.configure(conf)
        self.manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.manager.bind("\0" + name[1:] if name[0] == "@" else name)
        self.journal, theirs = socket.socketpair()
        st = os.fstat(theirs.fileno())
        env = {**os.environ, "NOTIFY_SOCKET": name, "STATE_DIRECTORY": self.folder,
               "JOURNAL_STREAM": "%d:%d" % (st.st_dev, st.st_ino), **env}
        if watchdog:
            env["WATCHDOG_USEC"] = str(WATCHDOG_S * 1000000)
        self.p = subprocess.Popen([kontend, "record", "--service", "--config", self.conf], stderr=theirs, env=env)
        started.append(self.p)
        theirs.close()
        self.lines, self.rest, self.told = [], b"", []

    def configure(self, text):
        with open(self.conf, "w") as f:
            f.write("[record]\n" + text)

    def take(self, seconds):
        """What comes in some time, from both; false when the process has ended."""
        self.manager.settimeout(seconds)
        try:
            for field in self.manager.recv(4096).decode().split("\n"):
                self.told.append(field)
        except (socket.timeout, BlockingIOError):
            pass
        self.journal.setblocking(False)
        try:
            self.rest += self.journal.recv(65536)
        except BlockingIOError:
            pass
        *lines, self.rest = self.rest.split(b"\n")
        self.lines += [l.decode() for l in lines]
        return self.p.poll() is None

    def wait(self, what, where, pattern, since=0):
        """Waits for the text; returns the position after it."""
        while True:
            for i in range(since, len(where)):
                if re.search(pattern, where[i]):
                    return i + 1
            if not self.take(0.1) and not self.take(0.1):
                if any(re.search(pattern, w) for w in where[since:]):
                    continue
                if not self.told:
                    skip("it cannot be measured here: " + " ".join(self.lines))
                check(False, "%s: no '%s' before it ended: %s %s" % (what, pattern, self.told, self.lines))
                return len(where)

    def hears(self, pattern, since=0):
        return self.wait("the manager", self.told, pattern, since)

    def logs(self, pattern, since=0):
        return self.wait("the journal", self.lines, pattern, since)

    def reload(self, text):
        since = len(self.told), len(self.lines)
        self.configure(text)
        before = time.monotonic_ns() // 1000
        self.p.send_signal(signal.SIGHUP)
        i = self.hears("^RELOADING=1$", since[0])
        check(re.match("MONOTONIC_USEC=[0-9]+$", self.told[i]), "after RELOADING: " + self.told[i])
        usec = int(self.told[i].split("=")[1])
        check(before <= usec <= time.monotonic_ns() // 1000, "MONOTONIC_USEC is %d" % usec)
        self.hears("^READY=1$", i)
        return since[1]

    def by_hand(self):
        since = len(self.lines)
        self.p.send_signal(signal.SIGUSR1)
        return self.logs("^<5>caught by hand: ", since)

    def files(self):
        return sorted(glob.glob(os.path.join(self.folder, "kontend-*.data")))

    def end(self):
        since = len(self.told)
        self.p.send_signal(signal.SIGTERM)
        while self.take(0.05):
            pass
        self.take(0.05)
        check("STOPPING=1" in self.told[since:], "no STOPPING: %s" % self.told[since:])
        check(self.p.returncode == 0, "status %s: %s" % (self.p.returncode, self.lines[-3:]))
        self.manager.close()
        self.journal.close()


def test_life():
    s = Service(os.path.join(top, "notify"), "trigger = hand\npost = 200ms\n")
    s.hears("^READY=1$")
    i = s.logs("^<6>watching .* incidents, which are written to " + s.folder)
    check(s.told[0] == "READY=1", "before READY: %s" % s.told)
    s.hears("^STATUS=Watching: 0 incidents, 0 not written; 0 events lost; 0 files, 0B$")
    s.by_hand()
    s.hears("^STATUS=Watching: 1 incidents, the last by hand, 0 not written;")
    check(all(re.match("<[3-6]>", l) for l in s.lines), "lines without a weight: %s" % s.lines)
    alive = s.hears("^WATCHDOG=1$")
    s.hears("^WATCHDOG=1$", alive)
    lines = s.reload("trigger = hand\npost = 100ms\nmmap-pages = 16\n")
    s.logs("^<6>the configuration .* has been read again$", lines)
    s.logs("^<4>changes of mmap-pages take effect after a restart$", lines)
    lines = s.reload("trigger = wait>>5\n")
    s.logs("^<3>.*: all stays as it was$", lines)
    lines = s.reload("post = soon\n")
    s.logs("^<3>.*conf:2: --post 'soon'.*: all stays as it was$", lines)
    os.unlink(s.conf)
    s.p.send_signal(signal.SIGHUP)
    s.logs("^<3>Cannot read the configuration .*: all stays as it was$", lines)
    for odd in os.mkfifo, os.mkdir:  # a FIFO would hold it up: nobody writes to it
        lines = len(s.lines)
        odd(s.conf)
        s.p.send_signal(signal.SIGHUP)
        s.logs("^<3>Cannot read the configuration .*: it is not a regular file: all stays as it was$", lines)
        os.rmdir(s.conf) if os.path.isdir(s.conf) else os.unlink(s.conf)
    s.by_hand()
    s.end()
    check(len(s.files()) == 2, "files: %s" % s.files())


def test_retention_across_runs():
    """The files of the run before count, those of others stay; the socket has an abstract name."""
    before = len(glob.glob(os.path.join(top, "state", "kontend-*.data")))
    check(before == 2, "the run before has left %d files" % before)
    other = os.path.join(top, "state", "kontend-20200101-000000-mine.data")
    with open(other, "w") as f:
        f.write("mine\n")
    os.utime(other, (0, 0))
    s = Service("@kontend/test-service/%d" % os.getpid(), "post = 100ms\nmax-files = 2\n", watchdog=False)
    s.hears("^READY=1$")
    s.hears("^STATUS=Watching: 0 incidents, .*; 3 files, ")  # by their names
    i = s.by_hand()
    s.logs("^<6>removed the oldest 1 files of incidents, .*; 3 stay, ", i)
    check(len(s.files()) == 3 and other in s.files(), "files: %s" % s.files())
    lines = s.reload("post = 100ms\nmax-files = 1\n")
    s.logs("^<6>removed the oldest 1 files of incidents, .*; 2 stay, ", lines)
    check("WATCHDOG=1" not in s.told, "signs of life that nobody wants")
    s.end()
    check(len(s.files()) == 2, "files: %s" % s.files())


def test_no_life():
    """The loop gives the sign of life: while it is stopped there is none; then it continues."""
    s = Service(os.path.join(top, "notify-2"), "post = 100ms\n")
    s.hears("^WATCHDOG=1$")
    s.p.send_signal(signal.SIGSTOP)
    while s.take(0.2) and s.told[-1:] != ["quiet"]:
        s.told.append("quiet")
    since = len(s.told)
    until = time.monotonic() + 1.5 * WATCHDOG_S
    while time.monotonic() < until:
        s.take(0.1)
    check("WATCHDOG=1" not in s.told[since:], "a stopped process gave a sign of life")
    s.p.send_signal(signal.SIGCONT)
    s.hears("^WATCHDOG=1$", since)
    s.end()


def test_what_makes_no_sense():
    for name, value in (("NOTIFY_SOCKET", "vsock:1:2"), ("WATCHDOG_USEC", "soon")):
        env = {**os.environ, "NOTIFY_SOCKET": "/nonexistent", name: value}
        r = subprocess.run([kontend, "record", "--service", "--no-config", "-o", top], capture_output=True, text=True,
                           env=env)
        check(r.returncode == 129 and name in r.stderr, "%s=%s: %d %s" % (name, value, r.returncode, r.stderr))


with tempfile.TemporaryDirectory() as top:
    try:
        test_life()
        test_retention_across_runs()
        test_no_life()
        test_what_makes_no_sense()
    finally:
        for process in started:
            process.kill()
            process.wait()
done()
