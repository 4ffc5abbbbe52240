# SPDX-License-Identifier: GPL-2.0-only
"""Observers of the same work, in the initial namespaces and in others: kontend is the measuring child
of a gate, so that all observers begin before the work and end after it. Used by test-namespaces.py."""
import json
import os
import subprocess
import sys
import time

PATIENCE = 240  # seconds, for what takes one on an idle machine
OTHERS = ["kontend", "unshare"]  # programs with the words of the gate behind their own


class Skip(Exception):
    pass


def wait_for(condition, what):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        got = condition()
        if got:
            return got
        time.sleep(0.02)
    raise AssertionError(f"{what}: not within {PATIENCE} s")


class Observer:
    """kontend report or record, with `lead` before it; its command says that all is open."""

    count = 0

    def __init__(self, kontend, folder, lead, verb, *options):
        Observer.count += 1
        self.base = f"{folder}/observer{Observer.count}"
        self.verb = verb
        os.mkfifo(self.base + ".gate")
        out = ["-o", self.base + ".out"] + (["--format", "json"] if verb == "report" else [])
        gate = ["sh", "-c", 'echo "$$" >"$0.new"; mv "$0.new" "$0.ready"; read x <"$0.gate"', self.base]
        with open(self.base + ".err", "w") as err:
            self.process = subprocess.Popen(
                [*lead, kontend, verb, "-q", "-a", *options, *out, "--", *gate],
                stdin=subprocess.DEVNULL, stdout=err, stderr=err)

    def error(self):
        with open(self.base + ".err") as f:
            return f.read().strip()

    def ready(self):
        def is_open():
            if self.process.poll() is not None:
                raise AssertionError(f"an observer ended: {self.error()}")
            return os.path.exists(self.base + ".ready")
        wait_for(is_open, "an observer")
        return self

    def pid(self):
        """Of a process that is within its namespaces: the one that opens the gate."""
        for name in os.listdir("/proc"):
            try:
                with open(f"/proc/{name}/cmdline") as f:
                    if name.isdigit() and f.read().endswith(f"\0{self.base}\0") and \
                            os.readlink(f"/proc/{name}/exe").rsplit("/", 1)[-1] not in OTHERS:
                        return int(name)
            except OSError:
                pass
        raise AssertionError("the observer's command is gone")

    def enter(self, *what):
        """The words before a command that is to run where the observer does."""
        return ["nsenter", "-t", str(self.pid()), *what, "--"]

    def end(self):
        with open(self.base + ".gate", "w") as f:
            f.write("end\n")
        if self.process.wait(PATIENCE):
            raise AssertionError(f"an observer failed: {self.error()}")
        return self

    def report(self, kontend, *options, lead=()):
        """What it saw; of a recording as a report makes it of that, with `lead` before it."""
        if self.verb == "report":
            with open(self.base + ".out") as f:
                return json.load(f)
        done = subprocess.run([*lead, kontend, "report", "-q", "-i", self.base + ".out", "--format",
                               "json", *options], capture_output=True, text=True)
        if done.returncode:
            raise AssertionError(f"report -i: {done.stderr.strip()}")
        return json.loads(done.stdout)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Checks:
    def __init__(self):
        self.complaints = []

    def check(self, good, message):
        if not good:
            self.complaints.append(f"FAIL {message}")

    def equal(self, what, inside, outside):
        self.check(inside == outside, f"{what}: {inside} inside, {outside} outside")


def can(*lead):
    return subprocess.run([*lead, "true"], capture_output=True).returncode == 0


def main(run):
    if os.geteuid():
        print("skipped: needs root")
        sys.exit(77)
    try:
        sys.exit(run())
    except Skip as why:
        print("skipped:", why)
        sys.exit(77)
    except AssertionError as why:
        print("FAIL", why)
        sys.exit(1)
