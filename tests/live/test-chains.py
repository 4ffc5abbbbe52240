#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A chain of waits that a program makes, as kontend sees it: on a machine that is stuck before
kontend starts (only snapshots show it), while the machine gets stuck (events show it), and in a
recording of it."""
import json
import os
import subprocess
import sys
import tempfile
import time

from checks import check, done, skip

kontend, blocked = sys.argv[1:3]


class Blocked:
    """The program, until it is let go."""

    def __init__(self, path):
        self.p = subprocess.Popen([blocked, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  text=True)
        self.tids = {}
        self.since = 0
        for line in self.p.stdout:
            if line == "ready\n":
                self.since = time.monotonic()
                return
            name, tid = line.split()
            self.tids[name] = int(tid)
        skip("the chain cannot be made: no userfaultfd for the kernel's faults?")

    def end(self):
        self.p.stdin.close()
        check(self.p.wait() == 0, "the program that waits")
        self.p.stdout.close()


def report(*args, view="chains"):
    run = subprocess.run([kontend, "report", "--view", view, "--format", "json", *args],
                         capture_output=True, text=True)
    if run.returncode:
        print(run.stderr)
        check(False, "report: status %d" % run.returncode)
        return None
    return json.loads(run.stdout)["views"][view]


def below(rows, row):
    return [r for r in rows if r["parent"] == row["node"]]


def device_of(path):
    """The block device of the file system that the file is in; None: it has none."""
    dev = os.stat(os.path.dirname(path)).st_dev
    try:
        return os.path.basename(os.readlink("/sys/dev/block/%d:%d" % (os.major(dev), os.minor(dev))))
    except OSError:
        return None


def compare(when, chains, b, path, early):
    rows = chains["rows"] if chains else []
    # It sleeps for userfaultfd, which is the root.
    roots = [r for r in rows if r["row"] == "waiter" and not r["ended"] and r["tid"] == b.tids["A"]]
    check(len(roots) == 1, "%s: A is in %d rows" % (when, len(roots)))
    if not roots:
        print(json.dumps(rows, indent=1))
        return
    root = roots[0]
    check(root["behind"] == 3, "%s: behind A: %s" % (when, root["behind"]))
    check(root["state"] == "asleep", "%s: A is %s" % (when, root["state"]))
    check(root["sleeps_for"].startswith("userfaultfd"), "%s: A sleeps for %s" % (when, root["sleeps_for"]))
    check(root["asleep_file"] == path, "%s: A sleeps at %s" % (when, root["asleep_file"]))
    device = device_of(path)
    check(root["asleep_dev"] == device, "%s: device %s, not %s" % (when, root["asleep_dev"], device))
    locks = below(rows, root)
    check([r["kind"] for r in locks] == ["rwsem"], "%s: locks of A %s" % (when, locks))
    check(locks[0]["certainty"] == "sure", "%s: A is %s" % (when, locks[0]["certainty"]))
    check(path in locks[0]["name"], "%s: the lock of A is %s" % (when, locks[0]["name"]))
    waits = below(rows, locks[0])
    check([r["tid"] for r in waits] == [b.tids["B"]], "%s: wait for A: %s" % (when, waits))
    held = below(rows, waits[0])
    check([r["kind"] for r in held] == ["mutex"], "%s: locks of B %s" % (when, held))
    check(held and held[0]["behind"] == 2, "%s: behind B: %s" % (when, held))
    last = below(rows, held[0])
    check(sum(r["tasks"] for r in last) == 2, "%s: wait for B: %s" % (when, last))
    check(chains["deadlocks"] == 0, "%s: deadlocks" % when)
    print("%s: A/%d, %s, %s: %s <- B/%d: %s <- %d tasks; longest %.0f ms%s" % (
        when, root["tid"], root["state"], root["function"], locks[0]["name"], b.tids["B"],
        held[0]["name"], held[0]["behind"], root["longest_ns"] / 1e6,
        ", some from before" if early else ""))


def share(row, part):
    return row[part] / row["waited_ns"] if row and row["waited_ns"] else 0


def blamed(where, b):
    """What B, C and D lose is because of A, two thirds of it through B; rows add up to all."""
    blame = report("-i", where, view="blame")
    rows = {r["tid"]: r for r in blame["rows"]} if blame else {}
    a = rows.get(b.tids["A"])
    check(a is not None, "blame: A is to blame for nothing: %s" % list(rows))
    if not a:
        return
    theirs = sum(r["waited_ns"] for r in blame["rows"])
    check(abs(theirs - blame["waited_ns"]) <= 1000, "blame: rows have %d of %d ns" % (
        theirs, blame["waited_ns"]))
    print("blame: A %.0f ms of %.0f, %.0f%% of it through B; %s" % (
        a["waited_ns"] / 1e6, blame["waited_ns"] / 1e6, 100 * share(a, "chained_ns"), a["mostly"]))
    check(share(a, "chained_ns") > 0.5, "blame: through the chain: %s" % share(a, "chained_ns"))


def cgroup_mount():
    """Where the hierarchy is by which perf knows cgroups; None: not mounted."""
    mounts = [line.split() for line in open("/proc/self/mounts", encoding="utf-8")]
    perf = [m[1] for m in mounts if m[2] == "cgroup" and "perf_event" in m[3].split(",")]
    return (perf + [m[1] for m in mounts if m[2] == "cgroup2"] + [None])[0]


class Cgroups:
    """Two cgroups of our own, one of them with one below it."""

    def __init__(self):
        mount = cgroup_mount()
        self.name = "kontend-chains-%d" % os.getpid()
        self.top = mount and os.path.join(mount, self.name)
        self.made = []
        for path in ["", "task", "task/inner", "other"] if mount else []:
            try:
                os.mkdir(os.path.join(self.top, path))
            except OSError as e:
                print("not tried: a cgroup:", e)
                break
            self.made.insert(0, os.path.join(self.top, path))

    def __bool__(self):
        return len(self.made) == 4

    def enter(self, name, pid):
        path = os.path.join(self.top, name) if name else os.path.dirname(self.top)
        with open(os.path.join(path, "cgroup.procs"), "w", encoding="utf-8") as f:
            f.write(str(pid))

    def end(self):
        for path in self.made:
            os.rmdir(path)


def nothing_of(when, chains, b):
    """No task of the chain is in it: it is not measured."""
    tids = set(b.tids.values())
    seen = [r for r in (chains["rows"] if chains else []) if r["tid"] in tids]
    check(chains is not None and not seen, "%s: %s" % (when, seen))


def stuck_before(path):
    b = Blocked(path)
    time.sleep(0.3)
    compare("stuck before", report("--duration", "1.5"), b, path, True)
    compare("stuck before, of the process", report("--duration", "1.5", "--pid", str(b.p.pid)), b, path, True)
    tids = ",".join(str(t) for t in b.tids.values())
    compare("stuck before, of the threads", report("--duration", "1.5", "--tid", tids), b, path, True)
    b.end()


def stuck_on_cpu(path):
    """Each CPU measures the waits of the tasks that ran on it last."""
    cpus = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, cpus[-1:])
    b = Blocked(path)
    os.sched_setaffinity(0, cpus)
    time.sleep(0.3)
    compare("stuck before, on a CPU", report("--duration", "1.5", "-C", str(cpus[-1])), b, path, True)
    if len(cpus) > 1:
        nothing_of("on another CPU", report("--duration", "1.5", "-C", str(cpus[0])), b)
    b.end()


def ended(when, b, *args):
    """A wait from before that ends while it is measured is counted, with its time from before."""
    run = subprocess.Popen([kontend, "report", "-v", "--view", "waiters", "--format", "json", "--duration", "3", *args],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    # It says when it measures; the first look is taken then.
    for line in run.stderr:
        if "measuring " in line:
            break
    time.sleep(1.2)
    until = time.monotonic()
    b.end()
    rows = json.loads(run.communicate()[0])["views"]["waiters"]["rows"]
    check(run.returncode == 0, "%s: status %d" % (when, run.returncode))
    theirs = [r for r in rows if r["kind"] in ("mutex", "rwsem:W") and r["tid"] in b.tids.values()]
    check(len(theirs) == 3, "%s: %d of the three waits are there" % (when, len(theirs)))
    check(all(r["ended_ns"] is not None for r in theirs), "%s: not ended: %s" % (when, theirs))
    least = 1e9 * (until - b.since)
    check(all(r["since_ns"] > 0.9 * least for r in theirs),
          "%s: shorter than %.0f ms: %s" % (when, least / 1e6, [r["since_ns"] for r in theirs]))
    print("%s: %s ms" % (when, ["%.0f" % (r["since_ns"] / 1e6) for r in theirs]))


def stuck_in_cgroup(path):
    g = Cgroups()
    if not g:
        print("not tried: cgroups of our own")
        g.end()
        return
    b = Blocked(path)
    for name in ["task", "task/inner"]:
        g.enter(name, b.p.pid)
        time.sleep(0.3)
        compare("stuck before, in " + name, report("--duration", "1.5", "-G", g.name + "/task"), b, path, True)
    nothing_of("in another cgroup", report("--duration", "1.5", "-G", g.name + "/other"), b)
    ended("ended, of a cgroup", b, "-G", g.name + "/task")
    for kind in ["--pid", "-C"]:
        b = Blocked(path)
        of = str(b.p.pid) if kind == "--pid" else ",".join(str(c) for c in os.sched_getaffinity(0))
        ended("ended, with " + kind, b, kind, of)
    g.end()


def recorded(path, where):
    record = subprocess.Popen([kontend, "record", "-q", "--duration", "4", "-o", where],
                              stdout=subprocess.DEVNULL)
    time.sleep(1.5)
    b = Blocked(path)
    check(record.wait() == 0, "record: status")
    b.end()
    compare("recorded", report("-i", where), b, path, False)
    blamed(where, b)


if os.geteuid() != 0:
    skip("needs root")
with tempfile.TemporaryDirectory(prefix="kontend-chains-") as d:
    stuck_before(os.path.join(d, "file"))
    stuck_on_cpu(os.path.join(d, "file"))
    stuck_in_cgroup(os.path.join(d, "file"))
    recorded(os.path.join(d, "file"), os.path.join(d, "perf.data"))
done()
