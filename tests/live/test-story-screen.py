#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Stories on a terminal of 80x24: the live screen with its callouts, the figures after it, and an end by q or Ctrl-C at any
moment that leaves no process, no file, no cgroup and no probe. Called as test-story-screen.py KONTEND."""
import fcntl
import glob
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

from checks import check, done, skip

kontend = os.path.realpath(sys.argv[1])
PATIENCE = 120


class Screen:
    """kontend on a pseudo terminal; `seen` is all that it has written."""

    def __init__(self, *args):
        self.seen = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8", NO_COLOR="1")
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
            os.execv(kontend, [kontend, "story", *args])

    def read(self):
        """False: it has ended."""
        if not select.select([self.fd], [], [], 0.2)[0]:
            return True
        try:
            self.seen += os.read(self.fd, 65536).decode("utf-8", "replace")
        except OSError:
            return False
        return True

    def until(self, pattern):
        end = time.monotonic() + PATIENCE
        while not re.search(pattern, self.seen):
            if not self.read() or time.monotonic() > end:
                check(False, "never: %s in %r" % (pattern, self.seen[-2000:]))
                return
        self.seen = ""

    def send(self, keys):
        os.write(self.fd, keys.encode())

    def end(self):
        while self.read():
            pass
        status = os.waitpid(self.pid, 0)[1]
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)


def children(pid):
    """Of one process, with their command lines."""
    found = {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path, encoding="utf-8", errors="replace") as f:
                parent = int(f.read().rsplit(")", 1)[1].split()[1])
            with open(path[:-4] + "cmdline", "rb") as f:
                if parent == pid:
                    found[int(path.split("/")[2])] = f.read()
        except (OSError, ValueError):
            continue
    return found


def workload(screen):
    """The process of this round, which the guard has started."""
    guards = [pid for pid, words in children(screen.pid).items() if b"--work" in words]
    return sorted(p for g in guards for p in children(g))


def wait_for_round(screen):
    """Until the workload has begun again."""
    first, end = [], time.monotonic() + PATIENCE
    while time.monotonic() < end:
        screen.read()
        now = workload(screen)
        first = first or now
        if now and now != first:
            return
    check(False, "no round has ended")


def left():
    """Processes of workloads, their files, cgroups and probes."""
    found = glob.glob("/dev/shm/kontend-story-*") + glob.glob("/sys/fs/cgroup/**/kontend-story-*", recursive=True)
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as f:
                if re.search(rb"story\0[a-z]+\0--work", f.read()):
                    found.append(path)
        except OSError:
            continue
    try:
        with open("/sys/kernel/tracing/uprobe_events", encoding="utf-8") as f:
            found += f.read().splitlines()
    except OSError:
        pass
    return sorted(found)


def nothing_new(before, when):
    for _ in range(100):
        new = [x for x in left() if x not in before]
        if not new:
            return
        time.sleep(0.1)
    check(False, "%s: left %s" % (when, new))


if os.geteuid() != 0:
    skip("needs root")
probe = subprocess.run([kontend, "report", "-q", "--duration", "50ms"], capture_output=True, text=True, check=False)
if probe.returncode:
    skip(probe.stderr.strip())
start = left()

# All callouts, then the figures of the rounds that are over by then.
s = Screen("flock", "--no-config")
s.until(r"story flock 1/3")
s.until(r"cron\.lock")
wait_for_round(s)
s.send("\r")
s.until(r"story flock 2/3|2/3")
s.send("\r")
s.until(r"3/3")
s.send("\r")
check(s.end() == 0, "after the last callout: not 0")
check("the longest wait" in s.seen, "no figures after the screen: %r" % s.seen[-1500:])
nothing_new(start, "after the last callout")

# Before anything was measured, and while the workload runs.
for name in ("flock", "cgroup", "slots", "uprobes", "fork"):
    for keys in ("\003", "q"):
        s = Screen(name, "--no-config")
        s.until("story " + name + r" 1/")
        s.send(keys)
        status = s.end()
        check(status in ((130,) if keys == "\003" else (0, 1)), "%s, %r: status %s: %r" % (name, keys, status, s.seen[-500:]))
        nothing_new(start, "%s, %r" % (name, keys))

# Killed: the kernel ends the rest; what it cannot remove is an empty cgroup.
s = Screen("flock", "--no-config")
s.until("story flock 1/")
os.kill(s.pid, signal.SIGKILL)
check(s.end() == -signal.SIGKILL, "not killed")
nothing_new(start, "SIGKILL")

# A recording: no workload, no rights needed.
s = Screen("java", "--recorded", "--no-config")
s.until(r"story java 1/4")
s.send("q")
check(s.end() == 0 and "requests that waited" in s.seen, "the recording's figures: %r" % s.seen[-800:])
done()
