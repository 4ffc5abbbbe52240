#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What the Firefox Profiler's own command line finds in a profile. Called as: read-firefox.py PROFILE prints the waits that
have ended and their time, that of those in flight, what all samples weigh, in ns, and how many waits show who had the
lock, and in a stack where they wait."""
import json
import subprocess
import sys
import time

LATE = "did not become ready"


def run(*words):
    return subprocess.run(["profiler-cli", *words, "--session", "kontend"], capture_output=True, text=True, check=False)


def ask(*words):
    p = run(*words)
    if p.returncode:
        sys.exit(f"{' '.join(words)}: {p.stdout}{p.stderr}")
    return p.stdout


def load(path):
    """Its daemon has half a second to start, which is too little on a busy machine."""
    for _ in range(60):
        p = run("load", path)
        if p.returncode == 0 or LATE not in p.stdout + p.stderr:
            break
        time.sleep(1)
    if p.returncode:
        run("stop")
        sys.exit(f"load {path}: {p.stdout}{p.stderr}")


def threads():
    info = json.loads(ask("profile", "info", "--all", "--json"))
    return [t["threadHandle"] for p in info["processes"] for t in p["threads"] if p["pid"] != "locks"]


def waits_of(thread):
    said = json.loads(ask("thread", "markers", "--thread", thread, "--list", "--limit", "0", "--json"))
    return [m for m in said["flatMarkers"] if m["markerType"] == "LockWait"]


def sampled_ms(thread):
    """Of the call tree: what its root weighs."""
    said = json.loads(ask("thread", "samples-top-down", "--thread", thread, "--include-idle", "--json"))
    return said["regularCallTree"]["totalSamples"]


load(sys.argv[1])
try:
    handles = threads()
    waits = [w for handle in handles for w in waits_of(handle)]
    done = [w["duration"] for w in waits if "state" not in w["data"]]
    print("waits", len(done))
    print("ns", round(sum(done) * 1e6))
    print("waiting_ns", round(sum(w["duration"] for w in waits if "state" in w["data"]) * 1e6))
    print("sampled_ns", round(sum(sampled_ms(handle) for handle in handles) * 1e6))
    print("held", sum("hold" in w["data"] for w in waits))
    print("stacks", sum(w["hasStack"] for w in waits))
finally:
    ask("stop")
