#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""test-drown.py KONTEND DROWN

On a machine whose CPUs are all busy, with thousands of tasks to take snapshots of, the rings are
drained in time: snapshots do not delay that, and the rings have room for the time when the collector
gets no CPU. Next to nothing is lost: the limit of a thousandth allows for other guests of the
machine; once it was a third.
"""
import json
import os
import subprocess
import sys
import tempfile

PROCESSES, SLEEPERS, SECONDS, FEW = 48, 16000, 5, 1000


def measure(kontend, options):
    run = subprocess.run([kontend, "report", "--duration", str(SECONDS), "--format", "json", *options],
                         stdout=subprocess.PIPE, timeout=120, check=True)
    return json.loads(run.stdout)


def check(kontend, options):
    report = measure(kontend, options)
    source = report["source"]
    events = source["events"]
    missing = source["lost"] + source["dropped"]
    name = " ".join(options) or "by BPF"
    looks = source["method"]
    print(f"{name}: {events} events, {missing} missing, {looks}")
    if events < 200 * SECONDS:
        print(f"FAIL {name}: too few events to tell")
        return 1
    if missing * FEW > events:
        print(f"FAIL {name}: {missing} of {events} events are missing")
        return 1
    return 0


def main():
    kontend, drown = sys.argv[1:]
    if os.geteuid() != 0:
        print("SKIP: measuring needs root")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        load = subprocess.Popen([drown, os.path.join(folder, "file"), str(PROCESSES), str(SLEEPERS)],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            if load.stdout.readline() != b"ready\n":
                print("FAIL the load does not start")
                return 1
            return check(kontend, [])
        finally:
            load.stdin.close()
            load.wait()


if __name__ == "__main__":
    sys.exit(main())
