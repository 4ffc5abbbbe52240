#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""vs-screens.py KONTEND [TURNS [SECONDS [COLUMNSxROWS...]]]

The cost of a live screen next to others that people leave running, in the same minutes and in turns:
CPU time of all threads as a share of one CPU, bytes and write()s to the terminal in each refresh of
a second, medians of the turns, and the ratios of CPU time. All of them watch the same machine, with
the demo workload of kontend on it. Programs that are not installed are left out, with a message; writes
are counted by strace in a pass of their own, as that costs time.
"""
import collections
import contextlib
import os
import re
import select
import shutil
import signal
import statistics
import subprocess
import sys
import time

from frames import terminal

SIZES = ["80x24", "200x60"]
SKIP, WARM, STRACED = 77, 4, 3
OTHERS = {"htop": ["htop", "-d", "10"], "perf top": ["perf", "top", "-d", "1"]}
VIEWS = {"overview": b"", "locks": b":view locks\r", "flame": b":view locks\rf", "hot": b":view hot\r"}
Program = collections.namedtuple("Program", "name argv keys")


class Screen:
    """A program on a terminal of its own; `seen` are the bytes that it wrote."""

    def __init__(self, argv, keys, columns, rows):
        path = shutil.which(argv[0]) or argv[0]
        self.pid, self.fd = terminal([path, *argv[1:]], columns, rows)
        self.clock = (~self.pid << 3) | 2  # CPU time of that process
        self.seen = 0
        self.read(WARM / 2)
        for key in re.findall(rb":[^\r]*\r|.", keys):
            os.write(self.fd, key)
            self.read(0.3)
        self.read(WARM / 2)

    def read(self, seconds):
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if select.select([self.fd], [], [], left)[0]:
                self.seen += len(os.read(self.fd, 1 << 20))

    def cost(self, seconds):
        """Per cent of a CPU, and bytes a second."""
        cpu, seen, begin = time.clock_gettime(self.clock), self.seen, time.monotonic()
        self.read(seconds)
        wall = time.monotonic() - begin
        return (time.clock_gettime(self.clock) - cpu) / wall * 100, (self.seen - seen) / wall

    def writes(self, seconds):
        """To terminals, a second; None: they are not counted."""
        if not shutil.which("strace"):
            return None
        command = ["strace", "-f", "-y", "-e", "trace=write,writev", "-p", str(self.pid)]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as p:
            self.read(seconds)
            p.terminate()
            return len(re.findall(r"writev?\(\d+</dev/(?:pts/|tty)", p.stderr.read())) / seconds

    def end(self):
        os.kill(self.pid, signal.SIGTERM)
        with contextlib.suppress(OSError):  # the other side has gone
            self.read(1)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def programs(kontend):
    found = [Program(f"kontend {view}", [kontend, "live", "-d", "1s"], keys) for view, keys in VIEWS.items()]
    for name, argv in OTHERS.items():
        if shutil.which(argv[0]):
            found.append(Program(name, argv, b""))
        else:
            print(f"without {name}: {argv[0]} is not installed")
    return found


def measure(program, columns, rows, seconds, is_last):
    screen = Screen(program.argv, program.keys, columns, rows)
    try:
        cpu, drawn = screen.cost(seconds)
        return cpu, drawn, screen.writes(STRACED) if is_last else None
    except OSError:
        return None  # it ended by itself
    finally:
        screen.end()


def median(values):
    known = [v for v in values if v is not None]
    return statistics.median(known) if known else None


def text(value, form):
    return "-" if value is None else format(value, form)


def table(found, figures):
    others = [p.name for p in found if p.name in OTHERS]
    print(f"{'':18} {'CPU %':>7} {'bytes':>7} {'writes':>7}" + "".join(f"{'/ ' + o:>12}" for o in others))
    cpu = {name: median(f[0] for f in of) for name, of in figures.items()}
    for p in found:
        of = figures[p.name]
        line = f"{p.name:18} {text(cpu[p.name], '7.2f'):>7} {text(median(f[1] for f in of), '7.0f'):>7}"
        line += f" {text(median(f[2] for f in of), '7.1f'):>7}"
        for o in others:
            both = cpu[p.name] is not None and cpu[o]
            line += f"{text(cpu[p.name] / cpu[o] if both else None, '.2f'):>12}"
        print(line, flush=True)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if os.geteuid() != 0:
        print("skipped: needs root")
        sys.exit(SKIP)
    kontend = os.path.realpath(sys.argv[1])
    turns, seconds = (int(a) for a in (sys.argv[2:4] + ["3", "5"][len(sys.argv[2:4]) :]))
    found = programs(kontend)
    with subprocess.Popen([kontend, "demo"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as demo:
        for size in sys.argv[4:] or SIZES:
            columns, rows = map(int, size.split("x"))
            figures = {p.name: [] for p in found}
            for turn in range(turns):
                for p in found:
                    one = measure(p, columns, rows, seconds, turn == turns - 1)
                    figures[p.name] += [one] if one else []
            print(f"{size}, medians of {turns} turns of {seconds} s")
            table(found, figures)
        demo.terminate()


if __name__ == "__main__":
    main()
