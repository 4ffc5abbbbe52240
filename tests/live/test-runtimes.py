#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Locks of PostgreSQL, of the Python interpreter, of Java and of the C library, against what these programs say themselves: which backend
waits for which lock, and which one has it (pg_stat_activity, pg_blocking_pids()); which threads wait for the GIL; for
which monitor, lock, stream or arena a thread waits, by its name. With BPF and without, and from a recording. All
servers, interpreters and machines that are installed are tried.

    test-runtimes.py KONTEND postgres|python|java|libc PROGRAM"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import jvm
import postgres
from checks import check, done, skip

TRIES = 6
HERE = os.path.dirname(os.path.abspath(__file__))
VIEWS = ("--view", "waiters,chains", "--rows", "0", "--format", "json")


def run(*args):
    p = subprocess.run(args, capture_output=True, text=True, check=False)
    check(p.returncode == 0, "%s: status %d: %s" % (args, p.returncode, p.stderr))
    return p.stdout


def until(condition, what):
    """Waits until it is true."""
    for _ in range(300):
        if condition():
            return
        time.sleep(0.1)
    check(False, "never: " + what)
    sys.exit(1)


def waits(text, comm):
    rows = json.loads(text)["views"]["waiters"]["rows"]
    return [w for w in rows if w["type"] == "lock(u)" and w["comm"].startswith(comm) and not w["ended_ns"]]


def reports(kontend):
    """The same by all ways. Two snapshots at least: the first may see a waiter before its owner."""
    yield "with BPF", run(kontend, "report", "-q", "--duration", "2.5", *VIEWS)
    yield "without BPF", run(kontend, "report", "-q", "--no-bpf", "--duration", "2.5", *VIEWS)
    run(kontend, "record", "-q", "-o", "a.data", "--duration", "2.5")
    yield "recording", run(kontend, "report", "-q", "-i", "a.data", *VIEWS)


def asleep(pid, tid):
    with open("/proc/%d/task/%d/wchan" % (pid, tid), encoding="utf-8") as f:
        return "nanosleep" in f.read()


class Server(postgres.Server):
    """Each query has a client of its own, which waits until the end."""

    def __init__(self, programs, folder):
        super().__init__(programs, folder, "fsync=off")
        self.clients = []

    def __exit__(self, *args):
        super().__exit__(*args)
        for c in self.clients:
            c.stdin.close()
            c.wait()

    def ask(self, query):
        return run(*self.query_program(), "-c", query).split("\n")[:-1]

    def client(self, *queries):
        """Its queries, the last of which may wait."""
        c = subprocess.Popen(self.query_program(), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, text=True)
        c.stdin.write("".join(q + ";\n" for q in queries))
        c.stdin.flush()
        self.clients.append(c)

    def said(self):
        """(backend, lock, a backend that has it) of all that wait; the first one that blocks."""
        rows = self.ask("SELECT pid, wait_event_type || ':' || wait_event, pg_blocking_pids(pid) FROM pg_stat_activity "
                        "WHERE wait_event_type IN ('Lock', 'LWLock') ORDER BY pid")
        return [(int(pid), event, [int(p) for p in re.findall(r"\d+", blocking)])
                for pid, event, blocking in (row.split("|") for row in rows)]


def compare(what, text, said, numbers):
    found = waits(text, "postgres")
    check(sorted(w["tid"] for w in found) == [pid for pid, _, _ in said],
          "%s: %s wait, said of %s" % (what, sorted((w["tid"], w["name"]) for w in found), said))
    for pid, event, blocking in said:
        for w in (w for w in found if w["tid"] == pid):
            check(w["name"].split()[0] == event, "%s: %d waits for %s, said %s" % (what, pid, w["name"], event))
            check(w["owner_tid"] in blocking and w["owner_certainty"] == "evidence",
                  "%s: %s has %s (%s), said %s" % (what, w["owner_tid"], w["name"], w["owner_certainty"], blocking))
            number = numbers.get(event)
            check(not number or w["name"].split()[1] == number, "%s: %s, said %s" % (what, w["name"], number))


def try_server(kontend, programs):
    version = os.path.basename(os.path.dirname(programs))
    with tempfile.TemporaryDirectory(prefix="kontend-postgres-") as folder, Server(programs, folder) as s:
        s.ask("CREATE TABLE t (i int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 0), (2, 0)")
        # The first has a row, two wait for it; one has a key, another waits; a table waits for all.
        s.client("BEGIN", "UPDATE t SET v = 1 WHERE i = 1")
        until(lambda: s.ask("SELECT count(*) FROM pg_locks WHERE locktype = 'transactionid'") == ["1"], "a row is taken")
        s.client("UPDATE t SET v = 2 WHERE i = 1")
        until(lambda: len(s.said()) == 1, "one waits for the row")
        s.client("UPDATE t SET v = 3 WHERE i = 1")
        s.client("SELECT pg_advisory_lock(4711)")
        until(lambda: len(s.said()) == 2 and s.ask("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == ["1"],
              "two wait for the row, and one has the key")
        s.client("SELECT pg_advisory_lock(4711)")
        s.client("BEGIN", "LOCK TABLE t")
        until(lambda: len(s.said()) == 4, "all wait")
        said = s.said()
        check({event for _, event, _ in said} == {"Lock:transactionid", "Lock:tuple", "Lock:advisory", "Lock:relation"},
              "version %s: waits %s" % (version, said))
        numbers = {"Lock:advisory": "4711"}
        for kind, column in (("transactionid", "transactionid"), ("relation", "database || '/' || relation")):
            numbers["Lock:" + kind] = s.ask("SELECT %s FROM pg_locks WHERE locktype = '%s' AND NOT granted"
                                            % (column, kind))[0]
        for what, text in reports(kontend):
            compare("version %s, %s" % (version, what), text, said, numbers)


def try_servers(kontend):
    servers = postgres.installed()
    if not servers:
        skip("no server of PostgreSQL is installed")
    for programs in servers:
        try_server(kontend, programs)


def compare_gil(what, text, pid, waiting, owner):
    """Are all of them there? Threads wait for 200 ms each time, and may run for a moment when they are looked at: then
    one is missing, or the owner if all are. None may be wrong."""
    found = [w for w in waits(text, "python") if w["pid"] == pid]
    for w in found:
        check(w["name"].startswith("GIL "), "%s: waits for %s" % (what, w["name"]))
        check(w["tid"] in waiting, "%s: %d waits, said %s" % (what, w["tid"], waiting))
        check(w["owner_tid"] in (owner, None), "%s: %s has it, said %d" % (what, w["owner_tid"], owner))
    return sorted(w["tid"] for w in found) == waiting and all(w["owner_tid"] == owner for w in found)


def try_python(kontend, program):
    """False: no version whose places are known."""
    version = run(program, "-c", "import sys; print('%d.%d' % sys.version_info[:2])").strip()
    if not (3, 11) <= tuple(int(n) for n in version.split(".")) <= (3, 14):
        return False
    with subprocess.Popen((program, os.path.join(HERE, "workloads/gil.py"), "600"), stdout=subprocess.PIPE,
                          text=True) as p:
        said = [p.stdout.readline().split() for _ in range(4)]
        waiting = sorted(int(tid) for word, tid in said if word == "waits")
        owner = [int(tid) for word, tid in said if word == "has"][0]
        until(lambda: asleep(p.pid, owner), "the thread that has it sleeps")
        missing = {"with BPF", "without BPF", "recording"}
        for _ in range(TRIES):
            for what, text in reports(kontend):
                if compare_gil("%s, %s" % (version, what), text, p.pid, waiting, owner):
                    missing.discard(what)
            if not missing:
                break
        check(not missing, "%s: all waits and the owner were never seen: %s" % (version, sorted(missing)))
        p.terminate()
    return True


def python(kontend):
    programs = {os.path.realpath(p) for p in [sys.executable, "/usr/bin/python3"] if os.path.exists(p)}
    programs |= {os.path.realpath(p) for p in glob.glob("/usr/bin/python3.1[0-9]")}
    if not any([try_python(kontend, p) for p in sorted(programs)]):
        skip("no Python from 3.11 to 3.14 is installed")


# Of the workload, by the names of its threads.
JAVA_LOCKS = {"plain": "java.lang.Object monitor", "one": "JavaLocks$Account monitor", "two": "JavaLocks$Account monitor",
              "lock": "ReentrantLock", "rwlock": "ReentrantReadWriteLock"}
JAVA_WAITS = {("wait", "Java condition"), ("wait", "Java wait"), ("wait", "Java park on CountDownLatch$Sync"),
              ("wait", "Java park on FutureTask"), ("wait", "Java park on CompletableFuture$Signaller"),
              ("unknown", "Java semaphore"), ("unknown", "Java park")}


def threads(pid):
    """Their numbers by name; of several with one name, the last."""
    ret = {}
    for path in glob.glob("/proc/%d/task/*/comm" % pid):
        with open(path, encoding="utf-8") as f:
            ret[f.read().strip()] = int(path.split("/")[4])
    return ret


def compare_java(what, text, pid):
    """Is all of it there? Each row has to be right."""
    rows = [w for w in json.loads(text)["views"]["waiters"]["rows"]
            if w["pid"] == pid and w["type"].endswith("(u)") and not w["ended_ns"]]
    numbers, locks = threads(pid), {}
    for w in rows:
        of = w["comm"].split("-")[1] if w["comm"].startswith("for-") else None
        if not check(of in JAVA_LOCKS, "%s: %s waits for %s" % (what, w["comm"], w["name"])):
            continue
        check(w["name"].split(" java/")[0] == JAVA_LOCKS[of] and w["type"] == "lock(u)",
              "%s: %s waits for %s %s" % (what, w["comm"], w["type"], w["name"]))
        check(w["owner_tid"] == numbers["has-" + of] and w["owner_certainty"] == "evidence",
              "%s: %s has what %s waits for" % (what, w["owner_comm"], w["comm"]))
        locks.setdefault(w["lock"], set()).add(of)
    check(all(len(names) == 1 for names in locks.values()), "%s: one row for several locks: %s" % (what, locks))
    return sorted(w["comm"] for w in rows) == sorted(["for-plain", "for-plain", "for-one", "for-two", "for-lock",
                                                      "for-rwlock"]) and len(locks) == len(JAVA_LOCKS)


def compare_java_waits(what, text, pid):
    futexes = json.loads(text)["views"]["overview"]["elsewhere"]["futexes"]
    found = {(f["class"], f["what"]) for f in futexes if f["pid"] == pid}
    check(not any(c == "lock" for c, _ in found), "%s: %s" % (what, found))
    return JAVA_WAITS <= found


def try_java(kontend, program, options=()):
    what = " ".join((program, *options))
    with subprocess.Popen((program, "-Xmx64m", *options, "-cp", ".", "JavaLocks", "600"), stdout=subprocess.PIPE,
                          text=True) as p:
        check(p.stdout.readline() == "ready\n", "%s does not begin" % what)
        missing = {"with BPF", "without BPF", "recording", "waits"}
        for _ in range(TRIES):
            for way, text in reports(kontend):
                if compare_java("%s, %s" % (what, way), text, p.pid):
                    missing.discard(way)
            if compare_java_waits(what, run(kontend, "report", "-q", "--duration", "2.5", "--view", "overview",
                                            "--format", "json"), p.pid):
                missing.discard("waits")
            if not missing:
                break
        check(not missing, "%s: never seen as they are: %s" % (what, sorted(missing)))
        p.terminate()


def java(kontend):
    homes = jvm.installed()
    if not homes:
        skip("no compiler of Java is installed")
    if not jvm.compile_into(".", "JavaLocks"):
        done()
    for program in homes:
        try_java(kontend, program)
    try_java(kontend, homes[0], ("-XX:-UseCompressedOops", "-XX:+UseSerialGC"))


def compare_library(what, text, pid, names):
    """Of each thread whose lock has one of the names; True: all are there."""
    numbers = threads(pid)
    rows = [w for w in json.loads(text)["views"]["waiters"]["rows"] if w["pid"] == pid and not w["ended_ns"]]
    for w in rows:
        of = w["comm"].split("-")[1] if w["comm"].startswith("for-") else None
        if not check(of in names, "%s: %s waits for %s" % (what, w["comm"], w["name"])):
            continue
        check(w["name"] == "%s has-main/%d" % (names[of], pid) and w["type"] == "futex(u)",
              "%s: %s waits for %s %s" % (what, w["comm"], w["type"], w["name"]))
        # A stream has an owner, an arena has none.
        owner = numbers["has-" + of] if names[of].startswith("FILE") else None
        check(w["owner_tid"] == owner, "%s: %s has what %s waits for" % (what, w["owner_comm"], w["comm"]))
    return sorted(w["comm"] for w in rows) == sorted("for-" + of for of in names)


def libc(kontend):
    path = os.path.join(os.getcwd(), "stream")
    names = {"stdout": "FILE stdout", "file": "FILE " + path, "arena": "malloc arena 1", "main": "malloc main arena"}
    with subprocess.Popen((sys.argv[3], path), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True) as p:
        if p.stderr.readline() != "ready\n":
            p.kill()
            skip("this program cannot trap its own calls (seccomp), or has another C library")
        missing = {"with BPF", "without BPF", "recording"}
        for _ in range(TRIES):
            for what, text in reports(kontend):
                if compare_library(what, text, p.pid, names):
                    missing.discard(what)
            if not missing:
                break
        check(not missing, "never seen as they are: %s" % sorted(missing))
        p.stdin.close()


def main():
    kontend = os.path.abspath(sys.argv[1])
    sys.argv[3:] = [os.path.abspath(p) for p in sys.argv[3:]]
    if os.geteuid() != 0:
        skip("the memory of other processes is read as root")
    with tempfile.TemporaryDirectory(prefix="kontend-runtimes-") as folder:
        os.chdir(folder)
        {"postgres": try_servers, "python": python, "java": java, "libc": libc}[sys.argv[2]](kontend)
        os.chdir("/")
    done()


main()
