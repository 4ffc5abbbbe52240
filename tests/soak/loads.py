# SPDX-License-Identifier: GPL-2.0-only
"""What runs beside a measurement that is to age: short processes, locks of files, PostgreSQL with pgbench, a virtual
machine of Java. Each ends with the context that started it; of what is not installed, `left_out` has the reason."""
import contextlib
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../live"))
import jvm  # noqa: E402
import postgres  # noqa: E402

LOCKERS, CLIENTS, RATE = "8", "8", "200"


class Ended(Exception):
    """A load has ended before it was to."""


class Load:
    """A program that says "ready", and ends with its standard input."""

    def __init__(self, name, *args, cwd=None):
        self.name = name
        self.p = subprocess.Popen(args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=cwd)
        if self.p.stdout.readline() != "ready\n":
            raise Ended("%s does not begin" % name)

    def check(self):
        if self.p.poll() is not None:
            raise Ended("%s has ended: status %d" % (self.name, self.p.returncode))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.p.stdin.close()
        self.p.stdout.read()
        self.p.wait()


class Pgbench:
    """Its clients, at a fixed rate: how much there is to measure does not depend on the machine."""

    name = "pgbench"

    def __init__(self, server, seconds):
        server.do("pgbench", "-h", server.folder, "-U", "postgres", "-i", "-q", "-s", "2", "postgres")
        self.p = subprocess.Popen(server.as_client("pgbench", "-n", "-c", CLIENTS, "-j", "2", "-R", RATE, "-T",
                                                   str(seconds), "postgres"),
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def check(self):
        if self.p.poll() is not None:
            raise Ended("pgbench has ended: status %d" % self.p.returncode)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.p.terminate()
        self.p.wait()


class Loads(contextlib.ExitStack):
    """All loads that can run here, with files in @folder, for at most @seconds."""

    def __init__(self, folder, mortals, flocks, per_s, seconds):
        super().__init__()
        self.folder, self.programs = folder, {"mortals": mortals, "flocks": flocks}
        self.per_s, self.seconds, self.running, self.left_out = per_s, seconds, [], []

    def subfolder(self, name):
        path = os.path.join(self.folder, name)
        os.mkdir(path)
        return path

    def add(self, load):
        self.running.append(self.enter_context(load))

    def add_postgres(self):
        versions = postgres.installed()
        if not versions:
            self.left_out.append("PostgreSQL is not installed")
            return
        # Its server is of another user, who has to reach the folder.
        os.chmod(self.folder, 0o755)
        server = self.enter_context(postgres.Server(versions[-1], self.subfolder("pg"), "fsync=off"))
        self.add(Pgbench(server, self.seconds))

    def add_java(self):
        machines = jvm.installed()
        if not machines:
            self.left_out.append("no compiler of Java is installed")
            return
        classes = self.subfolder("java")
        if not jvm.compile_into(classes, "JavaStorm"):
            raise Ended("JavaStorm cannot be compiled")
        self.add(Load("java", machines[-1], "-Xmx64m", "-cp", classes, "JavaStorm"))

    def start(self):
        self.add_postgres()
        self.add_java()
        self.add(Load("mortals", self.programs["mortals"], self.subfolder("mortals"), str(self.per_s)))
        self.add(Load("flocks", self.programs["flocks"], self.subfolder("flocks"), LOCKERS))
        return self

    def check(self):
        for load in self.running:
            load.check()
