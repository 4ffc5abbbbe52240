#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Who holds an mmap_lock for reading, by evidence: one that sleeps in a read of another process's
memory, from looks alone and in a recording of them, and one that runs through its maps. Tasks that
only could be readers are not named."""
import json
import os
import subprocess
import sys
import tempfile
import time

from checks import check, done, skip

kontend, reading = sys.argv[1:3]


class Reading:
    """The program, until it is let go."""

    def __init__(self, *mode):
        self.p = subprocess.Popen([reading, *mode], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  text=True)
        self.tids = {}
        for _ in range(5):
            line = self.p.stdout.readline().split()
            if len(line) != 2:
                skip("the program cannot be made: no FUSE?")
            self.tids[line[0]] = int(line[1])

    def end(self):
        self.p.stdin.close()
        check(self.p.wait() == 0, "the program that reads")
        self.p.stdout.close()


def report(*args):
    run = subprocess.run([kontend, "report", "--view", "chains,waiters", "--format", "json", *args],
                         capture_output=True, text=True)
    if run.returncode:
        print(run.stderr)
        check(False, "report: status %d" % run.returncode)
        return None
    return json.loads(run.stdout)["views"]


def named(rows, r, name):
    """The rows by evidence of that lock, in which no others are among the readers."""
    name = name or "mmap_lock target/%d" % r.tids["target"]
    found = [w for w in rows if w["name"] == name and (
        w.get("certainty") == "evidence" or w.get("owner_certainty") == "evidence")]
    # A wait that has ended keeps its holder, but no look.
    for w in [f for f in found if not f["ended"]]:
        for text in w["readers_evident"]:
            for who in ("idle", "onlooker", "mapper", "target"):
                check("%s/%d," % (who, r.tids[who]) not in text, "%s is named: %s" % (who, text))
    return found


def compare(when, views, r, by, states, name=None):
    """True: the reader is named; its figures are checked."""
    chains = named(views["chains"]["rows"], r, name) if views else []
    waiters = named(views["waiters"]["rows"], r, name) if views else []
    if not chains or not waiters:
        for w in (views or {"chains": {"rows": []}})["chains"]["rows"]:
            print("%s:" % when, w["row"], w["name"], w["certainty"], w["comm"], w["tid"])
        return False
    lock, wait = chains[0], waiters[0]
    reader = r.tids["reader"]
    check(lock["tid"] == reader, "%s: the holder is %s" % (when, lock["tid"]))
    check(wait["owner_tid"] == reader, "%s: the owner is %s" % (when, wait["owner_tid"]))
    check(wait["tid"] == r.tids["mapper"], "%s: %s waits" % (when, wait["tid"]))
    check(lock["state"] in states, "%s: it is %s" % (when, lock["state"]))
    check(by in lock["stack"], "%s: its calls are %s" % (when, lock["stack"]))
    check(len(lock["readers_evident"]) == 1 and
          lock["readers_evident"][0].startswith("reader/%d, %s" % (reader, lock["state"])) and
          lock["readers_evident"][0].endswith("by " + by),
          "%s: readers %s" % (when, lock["readers_evident"]))
    print("%s: %s" % (when, lock["readers_evident"][0]))
    return True


def until(is_good):
    """The first of a few reports that is good: on a busy machine a short one may end before the
    second snapshot, without which a wait from before is not reported."""
    for _ in range(4):
        views = report("--duration", "1.5")
        if is_good(views):
            return True, views
    return False, views


def asleep(where):
    r = Reading("mem")
    time.sleep(0.3)
    found, live = until(lambda v: compare("live", v, r, "mem_rw", ["asleep"]))
    check(found, "live: no reader is named")
    file = "/proc/%d/mem" % r.tids["target"]
    rows = [w for w in (live or {"chains": {"rows": []}})["chains"]["rows"] if not w["ended"]]
    sleep = [w for w in rows if w["row"] == "waiter" and w["tid"] == r.tids["reader"]]
    check(len(sleep) == 1 and sleep[0]["asleep_for"] == "FUSE daemon", "the reader's row is %s" % sleep)
    check(sleep and sleep[0]["asleep_file"] == file, "its file is not %s: %s" % (file, sleep))
    # The program itself serves that file.
    roots = [w["tid"] for w in rows if w["row"] == "root"]
    check(r.p.pid in roots, "the daemon %d is none of the roots %s" % (r.p.pid, roots))
    record = subprocess.run([kontend, "record", "-q", "--duration", "2", "-o", where],
                            stdout=subprocess.DEVNULL)
    check(record.returncode == 0, "record: status")
    r.end()
    check(compare("replayed", report("-i", where), r, "mem_rw", ["asleep"]),
          "replayed: no reader is named")


def running():
    """It holds the lock most of the time, but not always."""
    r = Reading("smaps")
    found = any(compare("runs", report("--duration", "0.7"), r, "show_smap",
                        ["running", "runnable"]) for _ in range(15))
    check(found, "a reader that runs is never named")
    r.end()


def lists(path):
    os.mkdir(path)
    r = Reading("dir", path)
    time.sleep(0.3)
    found, live = until(lambda v: compare("lists", v, r, "iterate_dir", ["asleep"],
                                          "i_rwsem " + path))
    check(found, "who lists a directory is not named")
    for w in live["chains"]["rows"] if live else []:
        if w["row"] == "root" and not w["ended"] and w["tid"] == r.tids["reader"]:
            check(w["asleep_file"] == path, "it lists %s" % w["asleep_file"])
    r.end()


if os.geteuid() != 0:
    skip("needs root")
with tempfile.TemporaryDirectory(prefix="kontend-readers-") as d:
    asleep(os.path.join(d, "perf.data"))
    lists(os.path.join(d, "listed"))
running()
done()
