#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A holder that cpu.max keeps off its CPU: a task in a cgroup with 10 of each 100 ms has the lock of a
file, and one outside waits for it. Live, recorded, and in a namespace of PIDs.

    test-throttled.py KONTEND"""
import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

from checks import check, done, skip

kontend = sys.argv[1]
inner = sys.argv[2:] == ["inner"]
MOST_S = 60
QUOTA_US, PERIOD_US = 10000, 100000
TRIES = 12  # it is throttled 90 ms of 100 at most: on a busy machine others keep it off as well


def write(path, text):
    with open(path, "w") as f:
        f.write(text)


def groups():
    """Folders where a cgroup with a limit can be made, and how it is set: v2, then v1."""
    with open("/proc/self/mounts") as f:
        mounts = [line.split() for line in f]
    for _, at, kind, options, *_ in mounts:
        if kind == "cgroup2":
            yield at, lambda d: write(d + "/cpu.max", "%d %d" % (QUOTA_US, PERIOD_US))
    for _, at, kind, options, *_ in mounts:
        if kind == "cgroup" and "cpu" in options.split(","):
            def set_v1(d):
                write(d + "/cpu.cfs_period_us", str(PERIOD_US))
                write(d + "/cpu.cfs_quota_us", str(QUOTA_US))
            yield at, set_v1


def make_group():
    name = "kontend-test-%d%s" % (os.getpid(), "-inner" if inner else "")
    why = "no cgroup file system with limits of CPU time"
    for at, limit in groups():
        folder = os.path.join(at, name)
        try:
            os.mkdir(folder)
        except OSError as e:
            why = str(e)
            continue
        try:
            limit(folder)
            return folder, name
        except OSError as e:
            why = str(e)
            os.rmdir(folder)
    skip("no cgroup with a limit of CPU time can be made: %s" % why)


def start(do):
    """A process that has set itself up when this returns."""
    r, w = os.pipe()
    pid = os.fork()
    if pid:
        os.close(w)
        ok = os.read(r, 1) == b"y"
        os.close(r)
        check(ok, "a process of the test has failed")
        return pid
    try:
        signal.alarm(MOST_S)
        os.close(r)
        do(lambda: os.write(w, b"y"))
    finally:
        os._exit(0)


def hold(path, folder):
    def do(ready):
        f = open(path, "r+b")
        fcntl.flock(f, fcntl.LOCK_EX)
        write(folder + "/cgroup.procs", "0")
        ready()
        until = time.monotonic() + MOST_S
        while time.monotonic() < until:
            pass
    return do


def wait_for(path):
    def do(ready):
        f = open(path, "r+b")
        ready()
        fcntl.flock(f, fcntl.LOCK_EX)
    return do


def run(*words):
    p = subprocess.run([kontend, *words], capture_output=True, text=True)
    if p.returncode:
        raise AssertionError("%s: %s" % (words[0], p.stderr.strip()))
    return p.stdout


def report(*words):
    doc = run("report", "-q", "--format", "json", "--view", "overview,waiters", *words)
    return json.loads(doc)["views"]


def recorded(path):
    run("record", "-q", "-a", "-o", path, "--duration", "1s")
    return report("-i", path)


def row_of(views, tid):
    return next((r for r in views["waiters"]["rows"] if r["tid"] == tid and not r["ended"]), None)


def look(when, pid, tid, words, produce):
    """Until a snapshot was taken while it was throttled, and the verdict has that as well."""
    because = said = ""
    for _ in range(TRIES):
        views = produce()
        row = row_of(views, tid)
        if not check(row, "%s: %d does not wait" % (when, tid)):
            return
        said = row["owner_throttled"] or ""
        because = " ".join(f["because"] or "" for f in views["overview"]["verdict"]["findings"]
                           if str(pid) in (f["because"] or ""))
        if words in said and words in because:
            break
    print(when, said, "|", because)
    check(said.startswith(words), "%s: '%s' does not begin with '%s'" % (when, said, words))
    check(re.search(r" for >=[\d.]+(us|ms|s)$", said), "%s: not for how long: %s" % (when, said))
    check(row["owner_state"] == "runnable", "%s: the holder is %s" % (when, row["owner_state"]))
    check(words in because, "%s: the verdict says '%s'" % (when, because))


def look_without_bpf(when, pid, tid, words):
    """From the files of cgroups: how long since the look before, which takes two looks."""
    row = row_of(report("--no-bpf", "-a", "--duration", "3s"), tid)
    if not check(row, "%sno BPF: %d does not wait" % (when, tid)):
        return
    said = row["owner_throttled"] or ""
    print(when + "no BPF", said)
    check(said.startswith(words) and re.search(r" for [\d.]+m?s of the last [\d.]+m?s$", said),
          "%sno BPF: '%s'" % (when, said))
    check(row["owner_policy"] == "NORMAL", "%sno BPF: policy %s" % (when, row["owner_policy"]))
    check(row["kept_off_tid"] is None, "%sno BPF: kept off by %s" % (when, row["kept_off_tid"]))


if os.geteuid() != 0:
    skip("needs root")
folder, name = make_group()
pids = []
try:
    with tempfile.TemporaryDirectory(prefix="kontend-throttled-") as d:
        path = os.path.join(d, "lock")
        open(path, "w").close()
        pids.append(start(hold(path, folder)))
        pids.append(start(wait_for(path)))
        words = "throttled by cpu.max of /%s (10 of 100ms)" % name
        when = "in a namespace, " if inner else ""
        look(when + "live", *pids, words, lambda: report("-a", "--duration", "1s"))
        look_without_bpf(when, *pids, words)
        look(when + "recorded", *pids, words, lambda: recorded(os.path.join(d, "k.data")))
finally:
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    os.rmdir(folder)
if not inner:
    p = subprocess.run(["unshare", "-pf", "--mount-proc", sys.executable, __file__, kontend, "inner"])
    check(p.returncode in (0, 77), "in a namespace of PIDs: status %d" % p.returncode)
done()
