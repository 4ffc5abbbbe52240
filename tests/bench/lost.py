#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""lost.py KONTEND [SECONDS [LOAD...]]

How much of what happens is lost on a busy machine: kontend's live screen, with and without
--realtime, and `perf record -a -g` of the same two events, for SECONDS each, one after the other,
beside each LOAD: flock (48 processes of stress-ng that lock one file), mmap (64 threads that map
memory) and compile (flock beside two compilers). Events are both
ends of waits. CPU time is the observer's own.
"""
import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

EVENTS = "lock:contention_begin,lock:contention_end"
COLUMNS, ROWS = 300, 50
UNITS = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}


def number(text):
    """What the screen wrote: 12, 5.37k, or a dot for nothing."""
    m = re.fullmatch(r"([0-9.]+)([kMG]?)", text)
    return float(m.group(1)) * UNITS[m.group(2)] if m else 0


def begins_on(lines):
    """The sum of a column of the table by type, whose values end below the end of their heading."""
    top = next(i for i, line in enumerate(lines) if line.startswith(" TYPE "))
    end = lines[top].index(" CONTENDED") + len(" CONTENDED")
    total = 0
    for line in lines[top + 1:]:
        if not line[:end].strip() or line.startswith("─"):
            break
        total += number(line[:end].split()[-1])
    return total


class Screen:
    """kontend live on a terminal of its own, which is read all the time."""

    def __init__(self, command):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "xterm-256color"
            os.execvp(command[0], command)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))

    def read(self, seconds, until=lambda: False):
        end = time.monotonic() + seconds
        while time.monotonic() < end and not until():
            if select.select([self.fd], [], [], 0.1)[0]:
                try:
                    if not os.read(self.fd, 1 << 16):
                        return
                except OSError:
                    return

    def end(self):
        os.write(self.fd, b"q")
        self.read(10)
        _, status, used = os.wait4(self.pid, 0)
        if status:
            sys.exit(f"FAIL kontend live ended with {status}")
        return used.ru_utime + used.ru_stime


def live(options, seconds, folder):
    path = os.path.join(folder, "screen.txt")
    screen = Screen(options)
    screen.read(2)
    os.write(screen.fd, b":window all\r")
    screen.read(seconds - 2)
    os.write(screen.fd, f":save {path}\r".encode())
    screen.read(30, lambda: os.path.exists(path) and os.path.getsize(path))
    cpu = screen.end()
    with open(path, encoding="utf-8") as f:
        lines = f.read().splitlines()
    os.unlink(path)
    lost = re.search(r" lost (\S+)", lines[0])
    dropped = re.search(r" dropped (\S+)", lines[0])
    missing = number(lost.group(1)) + (number(dropped.group(1)) if dropped else 0)
    return 2 * begins_on(lines), missing, cpu


def perf(kontend, seconds, folder):
    path = os.path.join(folder, "perf.data")
    with subprocess.Popen(["perf", "record", "-q", "-a", "-g", "-e", EVENTS, "-o", path],
                          stderr=subprocess.DEVNULL) as recorder:
        time.sleep(seconds)
        recorder.send_signal(signal.SIGINT)
        _, _, used = os.wait4(recorder.pid, 0)
        recorder.returncode = 0
    report = subprocess.run([kontend, "report", "-i", path, "--format", "json", "--rows", "1", "--view", "overview"],
                            stdout=subprocess.PIPE, check=True)
    os.unlink(path)
    source = json.loads(report.stdout)["source"]
    return source["events"], source["lost"], used.ru_utime + used.ru_stime


def write_source(folder):
    path = os.path.join(folder, "large.c")
    with open(path, "w", encoding="ascii") as f:
        for i in range(3000):
            f.write(f"int f{i}(int *a, int n) {{ int s = {i}; for (int i = 0; i < n; i++) s += a[i] * s; return s; }}\n")
    return path


def commands(load, kontend, folder):
    flock = ["stress-ng", "--quiet", "--flock", "48", "--temp-path", folder]
    if load == "mmap":
        return [[kontend, "bench", "mmap", "-t", "64", "-n", "1000000000"]]
    if load == "compile":
        loop = f"while :; do cc -O2 -c -o {folder}/$0.o {write_source(folder)}; done"
        return [flock, ["sh", "-c", loop, "1"], ["sh", "-c", loop, "2"]]
    return [flock]


def beside(load, kontend, folder, measure):
    running = [subprocess.Popen(c, stdout=subprocess.DEVNULL, start_new_session=True)
               for c in commands(load, kontend, folder)]
    try:
        time.sleep(1)
        return measure()
    finally:
        for p in running:
            os.killpg(p.pid, signal.SIGTERM)
        for p in running:
            p.wait()


def main():
    kontend = sys.argv[1]
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 60
    loads = sys.argv[3:] or ["flock", "mmap", "compile"]
    for needed in ("perf", "stress-ng", "cc"):
        if os.geteuid() != 0 or not shutil.which(needed):
            print(f"skipped: needs root and {needed}")
            return 77
    observers = {
        "kontend": lambda folder: live([kontend, "live"], seconds, folder),
        "--realtime": lambda folder: live([kontend, "live", "--realtime"], seconds, folder),
        "perf": lambda folder: perf(kontend, seconds, folder),
    }
    print(f"{'load':8} {'observer':10} {'events/s':>10} {'lost/s':>10} {'lost %':>8} {'cpu s':>7}")
    for load in loads:
        for name, measure in observers.items():
            with tempfile.TemporaryDirectory() as folder:
                events, lost, cpu = beside(load, kontend, folder, lambda: measure(folder))
            share = 100 * lost / (events + lost) if events + lost else 0
            print(f"{load:8} {name:10} {events / seconds:10.0f} {lost / seconds:10.0f} {share:8.3f} {cpu:7.2f}",
                  flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
