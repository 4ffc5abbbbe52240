#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""vs-start.py KONTEND [RUNS [BASE]]

How long kontend takes to start, next to perf, htop and BASE, another build of it: medians of runs in
turns, and the ratios. Of screens: the first bytes of a frame, kontend's first frame with figures,
the moment when its program of waits is attached, and resident memory at the end of a run. Of
commands that measure for 10 ms: their time, and CPU time. This program and those that it runs are
in sessions that go before all others (autogroup), so that other work on the machine matters less.
"""
import contextlib
import os
import select
import shutil
import signal
import statistics
import subprocess
import sys
import time

from frames import terminal

SKIP, RUNS, MOST_S, AFTER_S = 77, 7, 10, 1
FRAME = 400  # bytes of a frame; a terminal is set up with fewer
FIRST = ["sh", "-c", "echo -20 2>/dev/null >/proc/self/autogroup; exec \"$@\"", "sh"]
OPENING = b"Loading BPF programs"
SCREENS = {"perf top": ["perf", "top"], "htop": ["htop"]}
COMMANDS = {"perf record": ["perf", "record", "-a", "-g", "-o", "/dev/null", "--", "sleep", "0.01"]}
COLUMNS = ["frame ms", "attached ms", "figures ms", "memory kB", "time ms", "CPU ms"]


def is_attached(pid, seen):
    """Whether the program of waits is attached; @seen are descriptors that are no links."""
    with contextlib.suppress(OSError):
        for fd in set(os.listdir(f"/proc/{pid}/fd")) - seen:
            if "bpf" in os.readlink(f"/proc/{pid}/fd/{fd}"):
                with open(f"/proc/{pid}/fdinfo/{fd}", encoding="utf-8") as lines:
                    if "contention_begin" in lines.read():
                        return True
            seen.add(fd)
    return False


def memory_kb(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))


def start_screen(argv, is_kontend):
    begin = time.monotonic()
    pid, fd = terminal([shutil.which("sh"), *FIRST[1:], *argv], 160, 50)
    drawn, seen, found = b"", set(), {}
    end = begin + MOST_S
    wanted = {"frame ms", "attached ms", "figures ms"} if is_kontend else {"frame ms"}
    try:
        while time.monotonic() < end:
            got = os.read(fd, 1 << 20) if select.select([fd], [], [], 0.002)[0] else b""
            ms = (time.monotonic() - begin) * 1e3
            drawn += got
            if len(drawn) >= FRAME:
                found.setdefault("frame ms", ms)
            opening = drawn.rfind(OPENING)
            if opening >= 0 and b"wait/s" in drawn[opening:]:
                found.setdefault("figures ms", ms)
            if is_kontend and "attached ms" not in found and is_attached(pid, seen):
                found["attached ms"] = ms
            if wanted <= set(found):
                wanted, end = {"none"}, min(end, time.monotonic() + AFTER_S)
        found["memory kB"] = memory_kb(pid)
    except OSError as why:
        print(f"{argv[0]} ended: {why}")
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
        with contextlib.suppress(OSError):  # until the other side has gone
            while os.read(fd, 1 << 20):
                pass
        os.waitpid(pid, 0)
        os.close(fd)
    return found


def run_command(argv):
    begin = time.monotonic()
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as p:
        _, status, used = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
    if p.returncode:
        return {}
    return {"time ms": (time.monotonic() - begin) * 1e3, "CPU ms": (used.ru_utime + used.ru_stime) * 1e3}


def programs(kontend, base):
    """Name -> (function that runs it once, name of the one that it is compared with)."""
    found = {}
    for name, binary in {"kontend": kontend, "base": base}.items():
        if binary:
            found[name] = lambda b=binary: start_screen([b, "live"], True)
            found[f"{name} report"] = lambda b=binary: run_command([b, "report", "--duration", "10ms"])
    for name, argv in (SCREENS | COMMANDS).items():
        if not shutil.which(argv[0]):
            print(f"without {name}: {argv[0]} is not installed")
        elif name in SCREENS:
            found[name] = lambda a=argv: start_screen(a, False)
        else:
            found[name] = lambda a=argv: run_command(a)
    return found


def table(figures):
    middle = {name: {c: statistics.median(of[c]) for c in COLUMNS if of[c]} for name, of in figures.items()}
    print(f"{'':16}" + "".join(f"{c:>20}" for c in COLUMNS) + "   (kontend / this)")
    for name, of in middle.items():
        mine = middle["kontend report" if "time ms" in of else "kontend"]
        line = f"{name:16}"
        for c in COLUMNS:
            ratio = f" ({mine[c] / of[c]:.2f})" if c in of and c in mine and of[c] else ""
            line += f"{format(of[c], '.0f') + ratio if c in of else '-':>20}"
        print(line, flush=True)


def go_first():
    """Goes on in a session of its own, of which this process reports the end."""
    pid = os.fork()
    if pid:
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    os.setsid()
    with contextlib.suppress(OSError), open("/proc/self/autogroup", "w", encoding="utf-8") as f:
        f.write("-20")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if os.geteuid() != 0:
        print("skipped: needs root")
        sys.exit(SKIP)
    go_first()
    kontend = os.path.realpath(sys.argv[1])
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else RUNS
    found = programs(kontend, os.path.realpath(sys.argv[3]) if len(sys.argv) > 3 else None)
    figures = {name: {c: [] for c in COLUMNS} for name in found}
    for turn in range(runs):
        order = list(found) if turn % 2 == 0 else list(found)[::-1]
        for name in order:
            for column, value in found[name]().items():
                figures[name][column].append(value)
    print(f"medians of {runs} runs in turns; load {os.getloadavg()[0]:.1f}")
    table(figures)
    if not figures["kontend"]["figures ms"]:
        print("FAIL the screen of kontend had no figures")
        sys.exit(1)


main()
