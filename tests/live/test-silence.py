#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Rings that lose records and have none after them to report the loss: kontend is stopped while tasks
wait thousands of times, and measuring ends before they do so again. The waits that it saw and those
that it reports as lost are together at least the kernel's events, by BPF, by perf, and in a recording.

    test-silence.py KONTEND PIPE-STORM"""
import os
import signal
import subprocess
import sys
import tempfile

from namespaces import Checks, Observer, main

THREADS, EVENTS = 8, 40000
WAYS = {
    "by BPF": ["report", "-m", "16"],
    "by perf": ["report", "--no-bpf", "-m", "16"],
    "recorded": ["record", "-m", "16"],
}


class Busy:
    """No CPU idles: of an idle one perf counts events and, on some kernels, writes no sample."""

    def __enter__(self):
        self.loops = [subprocess.Popen(["taskset", "-c", str(cpu), "nice", "-n", "19", "sh", "-c",
                                        "while :; do :; done"])
                      for cpu in os.sched_getaffinity(0)]

    def __exit__(self, *_):
        for loop in self.loops:
            loop.kill()
            loop.wait()


def look(c, what, folder, kontend, storm, verb, *options):
    o = Observer(kontend, folder, [], verb, *options)
    try:
        o.ready()
        os.kill(o.process.pid, signal.SIGSTOP)
        done = subprocess.run([storm, str(THREADS), str(EVENTS)], capture_output=True, text=True)
        os.kill(o.process.pid, signal.SIGCONT)
        seen = o.end().report(kontend)["source"]
    finally:
        o.kill()
    if done.returncode:
        raise AssertionError(f"pipe-storm: {done.stdout} {done.stderr}")
    counted = int(done.stdout.split()[0])
    print(f"{what}: {counted} events, {seen['events']} seen, {seen['lost']} lost, "
          f"{seen['doubtful']} waits doubtful, {seen['dropped']} dropped")
    c.check(seen["lost"] > 0, f"{what}: nothing is lost")
    c.check(seen["events"] + seen["lost"] + seen["dropped"] >= counted,
            f"{what}: {seen['events']} seen and {seen['lost']} lost, of {counted} events")


def run():
    kontend, storm = [os.path.realpath(path) for path in sys.argv[1:3]]
    c = Checks()
    with tempfile.TemporaryDirectory(prefix="kontend-") as folder, Busy():
        for what, words in WAYS.items():
            look(c, what, folder, kontend, storm, *words)
    print("\n".join(c.complaints))
    return 1 if c.complaints else 0


main(run)
