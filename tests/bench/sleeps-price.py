#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""sleeps-price.py [-l FILE] [-r FILE] [-a NAME=OPTIONS]... KONTEND [ROUNDS [LOAD...]]

What every switch and wakeup of a machine pays while kontend measures, with and without `--sleeps`.
Each load is a fixed piece of work in a cgroup of its own, and its price is CPU time of that cgroup
for each operation: in it is what BPF programs take in its tasks, and not the time that it waits for
a CPU that others have. In each round the ways take their turn in random order: nothing, `kontend
report` as it is without options, and with --sleeps; -a adds one with other options. Figures are the
median of differences within a round and, by the sign test, an interval that has it with a certainty
of 95 % at least.

A switch is one to a task of the load, as the kernel counts switches of its tasks; a wakeup goes with
each. The time of programs at a switch to the idle task is in no cgroup, so a last session of each
way has the kernel's statistics of BPF: ns of each run of each program, and its runs.

Loads: pipe and messaging (`perf bench sched`), pipe1 and messaging1 (the same on one CPU, where no
task migrates, so their time varies least), pgbench (a cluster of PostgreSQL of its own, server
and clients in the cgroup), compile (cc of a preprocessed file), idle (nothing: kontend's own CPU
time, and that of the machine). -l locks FILE while a round of pgbench runs, for others who also
make load; -r adds each round to FILE as JSON, and with ROUNDS 0 the rounds of FILE are the result.
"""
import argparse
import contextlib
import fcntl
import glob
import json
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from price import fail, interval, skip, programs, statistics_of_bpf

SETTLE_S = 0.5
IDLE_S = 3
ONE_CPU = ("taskset", "-c", "0")
LEAST = 1e-4  # of a CPU: programs that take less are left out
SERVER = {"fsync": "on", "autovacuum": "off", "checkpoint_timeout": "1h", "max_wal_size": "4GB",
          "listen_addresses": "''"}


class Cgroup:
    """What runs in it, and their CPU time."""

    def __init__(self, stack):
        with open("/proc/mounts") as f:
            mounted = [m[1] for m in map(str.split, f) if m[2] == "cgroup2"]
        if not mounted:
            skip("needs a mounted cgroup v2 hierarchy")
        self.path = os.path.join(mounted[0], "kontend-price-%d" % os.getpid())
        os.mkdir(self.path)
        stack.callback(self.remove)
        # Opened by root: users other than root may enter by it.
        self.door = os.open(os.path.join(self.path, "cgroup.procs"), os.O_WRONLY | os.O_CLOEXEC)
        stack.callback(os.close, self.door)

    def remove(self):
        for _ in range(100):
            with open(os.path.join(self.path, "cgroup.procs")) as f:
                if not f.read():
                    break
            time.sleep(0.05)
        os.rmdir(self.path)

    def enter(self):
        os.write(self.door, b"0")

    def used_ns(self):
        with open(os.path.join(self.path, "cpu.stat")) as f:
            return 1000 * int(re.search(r"^usage_usec (\d+)", f.read(), re.M).group(1))

    def run(self, command, **how):
        """Its output, and the switches of its tasks that it has waited for."""
        with tempfile.TemporaryFile("w+") as out:
            p = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT,
                                 stdin=subprocess.DEVNULL, preexec_fn=self.enter, **how)
            _, status, used = os.wait4(p.pid, 0)
            p.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            said = out.read()
        if status:
            fail("%s: status %d\n%s" % (" ".join(command), p.returncode, said))
        return said, used.ru_nvcsw + used.ru_nivcsw


def postgres_programs():
    """Folders, the latest version last."""
    return sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda at: int(at.split("/")[4]))


def has_programs(load):
    if load == "pgbench":
        return bool(postgres_programs())
    return load == "idle" or bool(shutil.which("cc" if load == "compile" else "perf"))


class Postgres:
    """A cluster in a temporary directory."""

    def __init__(self, group, directory, stack):
        self.bin, self.group = postgres_programs()[-1], group
        self.at = os.path.join(directory, "pg")
        os.mkdir(self.at)
        os.chmod(directory, 0o755)
        shutil.chown(self.at, "postgres", "postgres")
        self.run("initdb", "-D", self.at + "/data", "-A", "trust")
        with open(self.at + "/data/postgresql.conf", "a") as f:
            f.write("unix_socket_directories = '%s'\n" % self.at)
            f.writelines("%s = %s\n" % of for of in SERVER.items())
        self.run("pg_ctl", "-w", "-l", self.at + "/log", "-D", self.at + "/data", "start")
        stack.callback(self.run, "pg_ctl", "-w", "-m", "fast", "-D", self.at + "/data", "stop")
        self.run("pgbench", "-q", "-i", "-s", "10", "-h", self.at, "postgres")

    def run(self, program, *args):
        return self.group.run([os.path.join(self.bin, program), *args], user="postgres",
                              group="postgres", extra_groups=[], cwd=self.at)

    def bench(self):
        """Transactions; its switches are mostly those of the server, which has not ended."""
        said, _ = self.run("pgbench", "-n", "-c", "4", "-j", "2", "-t", "500", "-h", self.at,
                           "postgres")
        return int(re.search(r"actually processed: (\d+)", said).group(1)), 0


class Loads:
    """Each returns its operations, and the switches to its tasks if they are counted."""

    UNITS = {"pipe": "round trip", "pipe1": "round trip", "messaging": "message",
             "messaging1": "message", "pgbench": "transaction", "compile": "compile", "idle": "s"}

    def __init__(self, chosen, directory, stack):
        self.group = Cgroup(stack)
        if "pgbench" in chosen:
            self.postgres = Postgres(self.group, directory, stack)
        self.source = os.path.join(directory, "compiled.i")
        with open(self.source, "w") as f:
            for i in range(60):
                f.write("int f%d(int n)\n{\n\tint s = 0;\n\tfor (int i = 0; i < n; i++)\n"
                        "\t\ts += i * %d;\n\treturn s;\n}\n" % (i, i))

    def sched(self, operations, *args, on=()):
        return operations, self.group.run([*on, "perf", "bench", "sched", *args])[1]

    def pipe(self):
        return self.sched(200000, "pipe", "-l", "200000")

    def pipe1(self):
        return self.sched(200000, "pipe", "-l", "200000", on=ONE_CPU)

    def messaging(self):
        return self.sched(120000, "messaging", "-g", "1", "-l", "300")

    def messaging1(self):
        return self.sched(120000, "messaging", "-g", "1", "-l", "300", on=ONE_CPU)

    def pgbench(self):
        return self.postgres.bench()

    def compile(self):
        return 1, self.group.run(["cc", "-O2", "-c", self.source, "-o", "/dev/null"],
                                 env=dict(os.environ, CCACHE_DISABLE="1"))[1]

    def idle(self):
        time.sleep(IDLE_S)
        return IDLE_S, 0


def machine_ns():
    """CPU time of all but the idle tasks, in ticks: user, nice, system, irq, softirq."""
    with open("/proc/stat") as f:
        v = [int(n) for n in f.readline().split()[1:]]
    return sum(v[i] for i in (0, 1, 2, 5, 6)) * 10**9 // os.sysconf("SC_CLK_TCK")


class Observer:
    """kontend, while it measures; without one its time is none."""

    def __init__(self, kontend, options, out):
        self.out, self.options = out, options
        self.command = None if options is None else [
            kontend, "report", "-v", "--no-config", "--format", "json", "--view",
            "overview,locks", "-o", out, *options]

    def __enter__(self):
        time.sleep(SETTLE_S)
        if not self.command:
            return self
        self.p = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, text=True,
                                  stderr=subprocess.PIPE)
        for line in self.p.stderr:
            if "measuring" in line:
                break
        else:
            fail("%s: status %s" % (" ".join(self.command), self.p.wait()))
        time.sleep(SETTLE_S)
        return self

    def used_ns(self):
        """CPU time of all its threads."""
        return time.clock_gettime_ns((~self.p.pid << 3) | 2) if self.command else 0

    def __exit__(self, *_):
        if not self.command:
            return
        self.p.send_signal(signal.SIGINT)
        self.p.stderr.read()
        if self.p.wait():
            fail("%s: status %d" % (" ".join(self.command), self.p.returncode))
        with open(self.out) as f:
            self.report = json.load(f)


def measure(loads, name, observer):
    machine, own, load = machine_ns(), observer.used_ns(), loads.group.used_ns()
    operations, switches = getattr(loads, name)()
    return {"ns": loads.group.used_ns() - load, "own_ns": observer.used_ns() - own,
            "machine_ns": machine_ns() - machine, "operations": operations, "switches": switches}


def run_round(loads, chosen, ways, lock):
    """Results by load and way. The order of both changes."""
    found = {name: {} for name in chosen}
    for name in random.sample(chosen, len(chosen)):
        with contextlib.ExitStack() as stack:
            if lock and name == "pgbench":
                f = stack.enter_context(open(lock, "w"))
                fcntl.flock(f, fcntl.LOCK_EX)
            for way in random.sample(list(ways), len(ways)):
                with ways[way] as observer:
                    found[name][way] = measure(loads, name, observer)
    return found


def say_difference(name, what, unit, values, off):
    low, high = interval(values)
    middle = statistics.median(values)
    print("%-10s %-26s %10.4g %-12s [%.4g %.4g] %s%s n = %d" % (
        name, what, middle, unit, low, high,
        "%+.2f %% [%+.2f %+.2f]" % tuple(100 * v / off for v in (middle, low, high)) if off else "",
        ", has 0" if low <= 0 <= high else "", len(values)), flush=True)


def by(key, of):
    return lambda r: r[key] / r[of]


def say_load(name, rounds, ways):
    """The price of each way over nothing and over kontend without options."""
    figures = [("ns a " + Loads.UNITS[name], by("ns", "operations"))]
    if all(r["none"]["switches"] for r in rounds) and name != "compile":
        # By the switches without kontend: a few of them vary, the work does not.
        figures.append(("ns a switch", lambda r: r["ns"] / r["operations"] * scale))
    if name == "idle":
        figures = [("own ns a s", by("own_ns", "operations")),
                   ("all ns a s", by("machine_ns", "operations"))]
    scale = statistics.median(r["none"]["operations"] / (r["none"]["switches"] or 1) for r in rounds)
    for unit, figure in figures:
        off = statistics.median(figure(r["none"]) for r in rounds)
        print("%-10s %-26s %10.4g %s" % (name, "none", off, unit))
        for way in ways:
            for other in [o for o in ("none", "kontend") if o in ways and o != way]:
                if way == "none" or (way, other) == ("kontend", "kontend"):
                    continue
                say_difference(name, "%s over %s" % (way, other), unit,
                               [figure(r[way]) - figure(r[other]) for r in rounds], off)
    for way in ways:
        if way != "none" and name != "idle":
            own = statistics.median(100 * r[way]["own_ns"] / r[way]["ns"] for r in rounds)
            print("%-10s %-26s %10.2f %% of the load's CPU time" % (name, way + " itself", own))


def say_programs(loads, name, ways):
    """By the kernel's statistics of BPF, which take time themselves: apart from the rounds."""
    for way, observer in ways.items():
        if observer.command is None:
            continue
        with observer, statistics_of_bpf():
            before = programs(observer.p.pid)
            begin = time.monotonic_ns()
            operations, _ = getattr(loads, name)()
            took = time.monotonic_ns() - begin
            after = programs(observer.p.pid)
        runs = {p: (n - before.get(p, (0, 0))[0], ns - before.get(p, (0, 0))[1])
                for p, (n, ns) in after.items()}
        for program, (n, ns) in sorted(runs.items(), key=lambda r: -r[1][1]):
            if ns > LEAST * took:
                print("%-10s %-10s %-16s %8.1f ns a run, %10d runs, %10.4g ns a %s, %.3f %% of a CPU" % (
                    name, way, program, ns / n, n, ns / operations, Loads.UNITS[name],
                    100 * ns / took), flush=True)


def end(*_):
    raise KeyboardInterrupt


def arguments():
    p = argparse.ArgumentParser()
    p.add_argument("-l", dest="lock")
    p.add_argument("-r", dest="raw")
    p.add_argument("-a", dest="ways", action="append", default=[])
    p.add_argument("kontend")
    p.add_argument("rounds", nargs="?", type=int, default=31)
    p.add_argument("loads", nargs="*")
    return p.parse_args()


def main():
    args = arguments()
    chosen = [name for name in args.loads or Loads.UNITS if has_programs(name)]
    if set(args.loads) - set(Loads.UNITS):
        fail("loads are %s" % " ".join(Loads.UNITS))
    for name in set(args.loads or Loads.UNITS) - set(chosen):
        print("# its programs are not installed: without", name)
    if os.geteuid() != 0:
        skip("needs root")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    rounds = []
    if args.raw and os.path.exists(args.raw):
        with open(args.raw) as f:
            rounds = [json.loads(line) for line in f]
    options = {"none": None, "kontend": [], "sleeps": ["--sleeps"]}
    options.update((name, of.split()) for name, of in (way.split("=", 1) for way in args.ways))
    with contextlib.ExitStack() as stack:
        d = stack.enter_context(tempfile.TemporaryDirectory(prefix="kontend-price-"))
        ways = {way: Observer(args.kontend, of, os.path.join(d, "out"))
                for way, of in options.items()}
        loads = Loads(chosen if args.rounds else [], d, stack)
        try:
            for name in chosen if args.rounds else []:
                getattr(loads, name)()
            for _ in range(args.rounds):
                rounds.append(run_round(loads, chosen, ways, args.lock))
                if args.raw:
                    with open(args.raw, "a") as f:
                        print(json.dumps(rounds[-1]), file=f)
        except KeyboardInterrupt:
            print("# ended early")
        for name in chosen:
            of = [r[name] for r in rounds if name in r]
            if len(of) > 5:
                say_load(name, of, [w for w in ways if all(w in r for r in of)])
        for name in chosen if args.rounds else []:
            say_programs(loads, name, ways)


main()
