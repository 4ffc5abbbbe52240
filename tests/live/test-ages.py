#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A session with a screen ages within a minute: beside thousands of short processes, each with a
program, code or a lock of its own, and compilers, its views are switched all the while. So does a
recorder that waits for incidents and serves metrics. Their tables are bounded: the memory of each
process stays below 120 MB, and it ends as a young one does.

    test-ages.py KONTEND MORTALS"""
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

from checks import check, done, skip

PROCESSES, PER_SECOND, MOST_S, MOST_MB = 3000, 400, 150, 120
KEYS = [b"1", b"2", b"3", b"\r", b"\033", b"4", b"5", b"6", b"7", b"8", b"9", b"j", b"\r", b"\033",
        b"0", b"W", b"Q", b"U", b"M", b"1"]


def resident_mb(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) / 1024


def started():
    """Processes and threads since boot."""
    with open("/proc/stat", encoding="utf-8") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("processes "))


def drain(fd, seconds):
    out = b""
    while select.select([fd], [], [], seconds)[0]:
        some = os.read(fd, 65536)
        out += some
        if len(out) > 1 << 20:
            break
    return out


def compile_some():
    source = "\n".join(f"int f{i}(int a) {{ return a * {i}; }}" for i in range(200))
    subprocess.run(["cc", "-O2", "-x", "c", "-c", "-o", "/dev/null", "-"], input=source, text=True,
                   check=False)


def age(fd, record, mortals, folder):
    """Returns the peaks, in MB, and how many processes there were."""
    before, until, peaks, at = started(), time.monotonic() + MOST_S, [0, 0], 0
    with subprocess.Popen([mortals, folder, str(PER_SECOND)], stdin=subprocess.PIPE,
                          stdout=subprocess.DEVNULL) as load:
        while started() - before < PROCESSES and time.monotonic() < until:
            os.write(fd, KEYS[at % len(KEYS)])
            at += 1
            drain(fd, 0.1)
            compile_some()
            peaks = [max(peak, resident_mb(pid)) for peak, pid in zip(peaks, (SCREEN, record.pid))]
        load.stdin.close()
    return peaks, started() - before


def start_record(kontend, folder):
    p = subprocess.Popen([kontend, "record", "--no-config", "-o", folder, "--metrics", "0", "--trigger", "wait>20ms",
                          "--max-files", "3"], stderr=subprocess.PIPE, text=True)
    for line in p.stderr:
        if "watching" in line:
            break
    # Its messages about incidents are read, or it would wait for that.
    threading.Thread(target=p.stderr.read, daemon=True).start()
    return p


def end_record(p):
    p.send_signal(signal.SIGINT)
    return p.wait()


def main(kontend, mortals):
    global SCREEN
    SCREEN, fd = pty.fork()
    if SCREEN == 0:
        os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8")
        os.execv(kontend, [kontend, "live"])
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 60, 200, 0, 0))
    out, until = b"", time.monotonic() + 60
    while b"ev/s" not in out and time.monotonic() < until:
        out += drain(fd, 0.1)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as incidents:
        record = start_record(kontend, incidents)
        (peak, recorder), n = age(fd, record, mortals, folder)
        recorded = end_record(record)
    os.write(fd, b"\033\033q")
    while True:
        pid, status = os.waitpid(SCREEN, os.WNOHANG)
        if pid:
            break
        try:
            drain(fd, 0.1)
        except OSError:
            time.sleep(0.1)
    print(f"{n} processes: at most {peak:.0f} MB resident, {recorder:.0f} MB of the recorder")
    check(n >= PROCESSES / 10, f"only {n} processes")
    check(peak <= MOST_MB, f"{peak:.0f} MB resident, more than {MOST_MB}")
    check(recorder <= MOST_MB, f"{recorder:.0f} MB resident of the recorder, more than {MOST_MB}")
    check(os.waitstatus_to_exitcode(status) == 0, f"it ended with {status:#x}")
    check(recorded == 0, f"the recorder ended with {recorded}")
    done()


SCREEN = 0
if os.geteuid() != 0:
    skip("needs root")
main(*sys.argv[1:])
