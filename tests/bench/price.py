# SPDX-License-Identifier: GPL-2.0-only
"""The scripts that measure prices share this: CPU time of commands, and of programs that measure
meanwhile, programs of BPF by the kernel's statistics, and intervals of medians."""
import contextlib
import ctypes
import math
import os
import re
import signal
import struct
import subprocess
import sys
import time

STATS = "/proc/sys/kernel/bpf_stats_enabled"
SYS_BPF = {"x86_64": 321, "aarch64": 280}.get(os.uname().machine)
PROG_GET_FD_BY_ID, OBJ_GET_INFO_BY_FD, INFO_BYTES, NAME_AT, ATTR_BYTES = 13, 15, 232, 64, 128
libc = ctypes.CDLL(None)
names = {}


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def fail(what):
    print("FAIL", what)
    sys.exit(1)


def used_by(command):
    """CPU time in s of a command and what it has waited for."""
    pid = os.posix_spawnp(command[0], command, os.environ, file_actions=[
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
    _, status, used = os.wait4(pid, 0)
    if status:
        fail("%s: status %d" % (" ".join(command), os.waitstatus_to_exitcode(status)))
    return used.ru_utime + used.ru_stime


class Observer:
    """A program while it measures: from its first file of a kind in @opens on, and some time to settle. @out: a file for
    all that it prints."""

    def __init__(self, command, opens, settle_s, out=None):
        self.command, self.opens, self.settle_s, self.out, self.p = command, opens, settle_s, out, None

    def __enter__(self):
        self.p = subprocess.Popen(self.command, stdout=self.out or subprocess.DEVNULL, stderr=self.out)
        while not self.has_opened():
            if self.p.poll() is not None:
                fail("%s: status %d%s" % (" ".join(self.command), self.p.returncode, self.printed()))
            time.sleep(0.02)
        time.sleep(self.settle_s)
        return self

    def printed(self):
        if not self.out:
            return ""
        self.out.seek(0)
        return ": " + self.out.read()[-300:]

    def has_opened(self):
        at = "/proc/%d/fd" % self.p.pid
        for fd in os.listdir(at):
            try:
                if any(kind in os.readlink(os.path.join(at, fd)) for kind in self.opens):
                    return True
            except FileNotFoundError:
                pass
        return False

    def used(self):
        """CPU time in s, of all its threads."""
        return time.clock_gettime((~self.p.pid << 3) | 2)

    def __exit__(self, *_):
        self.p.send_signal(signal.SIGINT)
        self.p.wait()


def bpf(command, attr):
    return libc.syscall(SYS_BPF, command, ctypes.create_string_buffer(attr, ATTR_BYTES),
                        ATTR_BYTES)


def name_of(number):
    fd = bpf(PROG_GET_FD_BY_ID, struct.pack("=IIII", number, 0, 0, 0))
    if fd < 0:
        return "?"
    info = ctypes.create_string_buffer(INFO_BYTES)
    bpf(OBJ_GET_INFO_BY_FD, struct.pack("=IIQ", fd, INFO_BYTES, ctypes.addressof(info)))
    os.close(fd)
    return info.raw[NAME_AT:NAME_AT + 16].split(b"\0")[0].decode()


def programs(pid):
    """By name, of each program of that process: how often it ran, and ns."""
    found = {}
    at = "/proc/%d/fdinfo" % pid
    for fd in os.listdir(at):
        try:
            with open(os.path.join(at, fd)) as f:
                text = f.read()
        except OSError:
            continue
        of = dict(re.findall(r"^(prog_id|run_time_ns|run_cnt):\s*(\d+)$", text, re.M))
        if len(of) == 3:
            number = int(of["prog_id"])
            names[number] = names.get(number) or name_of(number)
            found[names[number]] = (int(of["run_cnt"]), int(of["run_time_ns"]))
    return found


@contextlib.contextmanager
def statistics_of_bpf():
    """The kernel measures each run of a program, and pays for that."""
    if not os.path.exists(STATS) or not SYS_BPF:
        skip("needs statistics of BPF")
    with open(STATS) as f:
        was = f.read()
    try:
        with open(STATS, "w") as f:
            f.write("1")
        yield
    finally:
        with open(STATS, "w") as f:
            f.write(was)


def interval(values):
    """What has the median with a certainty of 95 % at least, by the sign test: -inf and inf for
    less than six values."""
    ordered, n = sorted(values), len(values)
    tail, k = 0.0, 0
    while k < n:
        tail += math.comb(n, k) / 2**n
        if tail > 0.025:
            break
        k += 1
    return (ordered[k - 1], ordered[n - k]) if k else (-math.inf, math.inf)
