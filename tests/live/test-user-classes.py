#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Do snapshots distinguish threads that wait for a lock from those that sleep in futex(2) for anything else? Programs
in C, C++, Rust, Go, Java and Python, as far as their compilers are installed, name each of their threads by what it
waits for: "L-" a lock, "W-" something else. Prints a table of these classes and the reported ones, by program. No wait
may be reported as a lock, and each lock has to be, but for those that nothing on their stacks shows to be one.

    test-user-classes.py KONTEND PROGRAM SOURCES"""
import collections
import glob
import json
import os
import platform
import subprocess
import sys
import tempfile
import time

import mariadb
from checks import check, done, failed, skip
from compilers import environment, is_usable

FUTEX = {"x86_64": "202", "aarch64": "98"}
THREADS = 3  # of a case, that have its name
VIEWS = ("--view", "overview,waiters", "--rows", "0", "--format", "json")
REPORTED = ("lock", "unknown", "wait", "unseen")

# A semaphore may be a lock or a queue, and the functions around these say no more. Python's locks are semaphores, of
# which it makes its conditions; Java's locks and conditions park in the same function; a futex of a program itself is
# a lock if it looks like one of the C library.
MAY_BE_UNKNOWN = {"C": {"L-semaphore", "L-own"}, "C++": {"L-semaphore"}, "Rust": set(), "Go": set(),
                  "Java": {"L-reentrant", "L-write", "L-semaphore"},
                  "Python": {"L-lock", "L-rlock", "L-semaphore", "L-shared"}, "MariaDB": set()}
NO_THREADS = {"W-mutex", "W-rwlock", "W-channel", "W-cond"}  # of Go: goroutines sleep without a system call
BRIEF = {"L-gil"}  # they wait again and again, so that a snapshot may miss one


def run(*args, **more):
    p = subprocess.run(args, capture_output=True, text=True, check=False, **more)
    if not check(p.returncode == 0, "%s: status %d: %s" % (args, p.returncode, p.stderr)):
        done()
    return p.stdout


def read(path):
    try:
        with open(path, encoding="utf-8") as f:
            return f.read().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


class Case:
    """A process of the program @command whose threads sleep for what @name says, until it is ended."""

    def __init__(self, command, name):
        self.name = name
        self.process = subprocess.Popen((*command, name), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)

    def end(self):
        self.process.kill()  # it may be unable to end by itself: a thread keeps Python's lock
        self.process.wait()

    def tasks(self):
        """(number, name, does it sleep in futex(2)?) of all threads."""
        for path in glob.glob("/proc/%d/task/*" % self.process.pid):
            call = read(path + "/syscall").split(" ")[0]
            yield int(os.path.basename(path)), read(path + "/comm"), call == FUTEX[platform.machine()]

    def named(self):
        return {tid for tid, name, _ in self.tasks() if name == self.name[:15]}

    def others(self):
        """The number of those that the runtime of the language has, and that wait for work."""
        return sum(asleep for _, name, asleep in self.tasks() if name != self.name[:15])

    def is_asleep(self):
        asleep = [asleep for _, name, asleep in self.tasks() if name == self.name[:15]]
        return self.name in NO_THREADS or (len(asleep) >= THREADS and (all(asleep) or self.name in BRIEF))


class Database(Case):
    """A server whose clients wait for locks, as it says itself."""

    def __init__(self):
        self.name = "L-clients"
        self.server = mariadb.Server(os.getcwd())
        self.process = self.server.process
        self.waiting = self.server.waiting()

    def end(self):
        self.server.end()

    def named(self):
        return self.waiting

    def others(self):
        return sum(asleep for tid, _, asleep in self.tasks() if tid not in self.waiting)

    def is_asleep(self):
        return all(asleep for tid, _, asleep in self.tasks() if tid in self.waiting)


def until(condition, what):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.1)
    check(False, "never: " + what)
    done()


def reported(report, case):
    """Threads that are reported to wait for a lock; how many others there are of each class."""
    pid = case.process.pid
    locks = {w["tid"] for w in report["waiters"]["rows"]
             if w["pid"] == pid and w["type"].endswith("(u)") and not w["ended_ns"]}
    rows = [f for f in report["overview"]["elsewhere"]["futexes"]
            if f["pid"] == pid and f["what"] != "symbols are being read"]
    others = collections.Counter()
    for f in rows:
        others[f["class"]] += f["tasks"]
    return locks, others, sorted({f["what"] for f in rows})


def of_case(views, case):
    """Threads of the case by what is reported of them. The report says which threads wait for locks, and how many others
    there are: of these, those that are not known are taken for threads of the case."""
    named = case.named()
    locks, others, _ = reported(views, case)
    ret = collections.Counter(lock=len(named & locks))
    ret["unknown"] = min(len(named - locks), others["unknown"])
    ret["wait"] = min(len(named) - sum(ret.values()), max(0, sum(others.values()) - ret["unknown"] - case.others()))
    ret["unseen"] = len(named) - sum(ret.values())
    return ret


seen = collections.Counter()  # by case: threads that are reported to wait for a lock


class Matrix:
    """Of one program and one way to take snapshots."""

    def __init__(self, language, way):
        self.language, self.way = language, way
        self.n = collections.Counter()  # (class, reported): threads
        self.details = []

    def add(self, views, case):
        named = case.named()
        locks, others, what = reported(views, case)
        here = of_case(views, case)
        for r, n in here.items():
            self.n["lock" if case.name.startswith("L") else "wait", r] += n
            self.n["wait", r] += others[r] - (n if r in others else 0)
        self.n["wait", "lock"] += len(locks - named)
        self.details.append("%s: %d locks of %d threads, others %s: %s"
                            % (case.name, len(locks), len(named), dict(others), ", ".join(what)))
        self.check(case, locks, named, here)

    def check(self, case, locks, named, here):
        where = "%s, %s, %s" % (self.language, self.way, case.name)
        wrong = locks if case.name.startswith("W") else locks - named
        check(not wrong, "%s: no locks: %s" % (where, sorted(wrong)))
        if not case.name.startswith("L"):
            return
        check(not here["unseen"] or case.name in BRIEF, "%s: %d threads are not seen" % (where, here["unseen"]))
        if case.name not in MAY_BE_UNKNOWN[self.language]:
            least = 0 if case.name in BRIEF else len(named)
            seen[case.name] += here["lock"]
            check(here["lock"] >= least and not here["unknown"] and not here["wait"],
                  "%s: %s are locks, reported %s" % (where, sorted(named), dict(here)))

    def print(self):
        for truth in ("lock", "wait"):
            print("%-12s %-12s %-5s" % (self.language, self.way, truth),
                  *("%7d" % self.n[truth, r] for r in REPORTED))


def compile_all(program, sources):
    """(language, command) of what is installed; the others are said to be missing."""
    def source(name):
        return os.path.join(sources, name)

    yield "C", (program,)
    for language, tool, name, command in (
            ("C++", "g++", "user-classes.cpp", ("g++", "-std=c++20", "-O2", "-pthread", "-o", "cpp")),
            ("Rust", "rustc", "user-classes.rs", ("rustc", "--edition", "2021", "-O", "-o", "rust")),
            ("Go", "go", "user-classes.go", ("go", "build", "-o", "go")),
            ("Java", "javac", "UserClasses.java", ("javac", "-d", "."))):
        if not is_usable(tool):
            print("%s: no %s is installed" % (language, tool))
            continue
        run(*command, source(name), env=environment())
        yield language, ("java", "-Xmx32m", "-XX:+UseSerialGC", "-cp", ".", "UserClasses") \
            if language == "Java" else (os.path.abspath(command[-1]),)
    yield "Python", (sys.executable, source("user-classes.py"))


def is_complete(views, cases):
    """Are all threads there? They are not until their functions have names."""
    return not any(of_case(views, c)["unseen"] for c in cases if c.name.startswith("L") and c.name not in BRIEF)


def reports(kontend, cases):
    """Each way to see the threads. Large programs take some seconds to get the names of their functions."""
    for way, options in (("BPF", ()), ("no BPF", ("--no-bpf",)), ("recording", None)):
        for seconds in ("4", "8", "20"):
            if options is None:
                run(kontend, "record", "-q", "-o", "a.data", "--duration", seconds)
                text = run(kontend, "report", "-q", "-i", "a.data", *VIEWS)
            else:
                text = run(kontend, "report", "-q", *options, "--duration", seconds, *VIEWS)
            views = json.loads(text)["views"]
            if is_complete(views, cases):
                break
        yield way, views


def try_programs(kontend, programs):
    """A matrix for each language and way; @programs: (language, command)."""
    cases = []
    try:
        for language, command in programs:
            cases += [(language, Case(command, name)) for name in run(*command).split()]
        if mariadb.is_installed():
            cases.append(("MariaDB", Database()))
        for language, c in cases:
            until(c.is_asleep, "%s: all threads of %s sleep" % (language, c.name))
        for way, views in reports(kontend, [c for _, c in cases]):
            for language in dict.fromkeys(language for language, _ in cases):
                m = Matrix(language, way)
                for c in (c for name, c in cases if name == language):
                    m.add(views, c)
                yield m
    finally:
        for _, c in cases:
            c.end()


def main():
    kontend, program, sources = (os.path.abspath(a) for a in sys.argv[1:])
    if os.geteuid() != 0:
        skip("the memory of other processes is read as root")
    with tempfile.TemporaryDirectory(prefix="kontend-user-classes-") as folder:
        os.chdir(folder)
        found = list(try_programs(kontend, list(compile_all(program, sources))))
        print("%-12s %-12s %-5s" % ("PROGRAM", "SNAPSHOTS", "TRUTH"), *("%7s" % r.upper() for r in REPORTED))
        for m in found:
            m.print()
        for name in BRIEF:
            check(seen[name], "no thread of %s was ever seen" % name)
        if failed():
            for m in found:
                print("%s, %s:" % (m.language, m.way), *m.details, sep="\n    ")
        os.chdir("/")
    done()


main()
