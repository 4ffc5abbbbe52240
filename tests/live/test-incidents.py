#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Stalls of 20 ms at random, by a program that logs them: each has a file with its begin in it and
the time before, and there is no other. Then what happens when the directory goes away and comes
back, and while a file is written that is never finished."""
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from checks import check, done, skip

kontend, stalls = sys.argv[1:3]
STALLS, PRE, POST = 5, 2.0, 0.5
S = 1000000000


class Record:
    def __init__(self, folder, *args):
        self.p = subprocess.Popen([kontend, "record", "--no-config", "-o", folder, "--pre", "%ss" % PRE,
                                   "--post", "%ss" % POST, *args], stderr=subprocess.PIPE, text=True)
        self.said = []
        self.wait_for("watching ")

    def wait_for(self, words):
        """A line with these words; the text before it is kept."""
        for line in self.p.stderr:
            self.said.append(line)
            if words in line:
                return line
        skip("it cannot be measured here: " + "".join(self.said))

    def end(self, status=0):
        self.p.send_signal(signal.SIGINT)
        rest = self.p.communicate()[1]
        check(self.p.returncode == status, "status %d: %s" % (self.p.returncode, rest))
        return rest


def run(*args):
    r = subprocess.run([kontend, *args], capture_output=True, text=True)
    check(r.returncode == 0, "%s: %s" % (" ".join(args), r.stderr))
    return r.stdout


def listed(folder):
    return json.loads(run("incidents", "--json", folder))["incidents"]


def made(n):
    """What the program says of so many: begin, end, waiter, holder."""
    r = subprocess.run([stalls, os.path.join(top, "stalled"), str(n)], capture_output=True,
                       text=True)
    if r.returncode:
        skip("stalls cannot be made: no userfaultfd for the kernel's faults? " + r.stderr)
    return [tuple(int(w) for w in line.split()) for line in r.stdout.splitlines()]


def check_file(folder, i, stall):
    begin, end, waiter, holder = stall
    path = os.path.join(folder, i["file"])
    check(i["waiter"] and i["waiter"]["tid"] == waiter, "%s: waiter %s" % (path, i["waiter"]))
    check(i["begin_ns"] <= begin and i["begin_ns"] > begin - 2 * S, "%s: begin" % path)
    check(i["from_ns"] <= begin - (PRE - 0.1) * S and not i["short"], "%s: what is before" % path)
    check(i["to_ns"] >= end + (POST - 0.1) * S, "%s: what is after" % path)
    check(i["worst_ns"] >= 15000000, "%s: worst %s" % (path, i["worst_ns"]))
    check("stalled" in (i["lock_name"] or ""), "%s: lock %s" % (path, i["lock_name"]))
    events = [json.loads(l) for l in run("script", "-i", path, "--format", "json").splitlines()]
    waits = [e for e in events if e.get("tid") == waiter and e["event"] == "end"
             and e.get("wait_ns", 0) and e["wait_ns"] > 15000000]
    check(len(waits) == 1, "%s: %d waits of the stall" % (path, len(waits)))
    for w in waits:
        check(w["comm"] == "stall-waiter" and w["begin_ns"] == i["begin_ns"],
              "%s: the wait is not what fired" % path)
    report = json.loads(run("report", "-i", path, "--format", "json"))
    check(report["incident"]["fired_ns"] == i["fired_ns"], "%s: its report" % path)
    text = run("report", "-i", path).splitlines()
    check(text[0].startswith("# incident: wait>15ms"), "%s: text begins with %s" % (path, text[0]))


def test_stalls():
    folder = os.path.join(top, "stalls")
    os.mkdir(folder)
    r = Record(folder, "--trigger", "wait>15ms task:stall-waiter")
    began = made(STALLS)
    time.sleep(POST + 2)
    r.end()
    files = listed(folder)
    check(len(files) == STALLS, "%d files of %d stalls" % (len(files), STALLS))
    for i, stall in zip(files, began):
        check_file(folder, i, stall)


def test_folder_goes_away():
    folder = os.path.join(top, "away")
    os.mkdir(folder)
    r = Record(folder, "--trigger", "hand")
    shutil.rmtree(folder)
    r.p.send_signal(signal.SIGUSR1)
    line = r.wait_for("incident is lost")
    check(folder in line, "what is said: " + line)
    os.mkdir(folder)
    r.p.send_signal(signal.SIGUSR1)
    r.wait_for("caught by hand")
    rest = r.end(status=1)
    check("1 incident is in" in rest, "at the end: " + rest)
    check("1 could not be written" in rest, "at the end: " + rest)
    check(len(listed(folder)) == 1, "one file")


def test_full():
    """As on a full disk: nothing of it stays, and the next one may have room."""
    folder = os.path.join(top, "full")
    os.mkdir(folder)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", folder]).returncode:
        return
    try:
        r = Record(folder, "--trigger", "hand")
        r.p.send_signal(signal.SIGUSR1)
        line = r.wait_for("incident is lost")
        check("No space left" in line, "what is said: " + line)
        check(not os.listdir(folder), "what stays: %s" % os.listdir(folder))
        subprocess.run(["mount", "-o", "remount,size=64m", folder], check=True)
        r.p.send_signal(signal.SIGUSR1)
        r.wait_for("caught by hand")
        r.end(status=1)
        check(len(listed(folder)) == 1, "one file")
    finally:
        subprocess.run(["umount", folder])


def test_killed():
    """Long before its end: what had come when it fired is there, and is a recording."""
    folder = os.path.join(top, "killed")
    os.mkdir(folder)
    r = Record(folder, "--trigger", "wait>15ms task:stall-waiter", "--post", "60s")
    stall = made(1)[0]
    for _ in range(500):
        entries = listed(folder)
        if entries and entries[0]["bytes"]:
            break
        time.sleep(0.02)
    # Until it is whole its reader refuses it.
    while subprocess.run([kontend, "report", "-i", os.path.join(folder, entries[0]["file"])],
                         capture_output=True).returncode:
        time.sleep(0.05)
    check(entries[0]["state"] == "written", "while it goes on: %s" % entries)
    r.p.kill()
    r.p.communicate()
    entries = listed(folder)
    check([e["state"] for e in entries] == ["left"], "what was left: %s" % entries)
    left, whole = os.path.join(folder, entries[0]["file"]), os.path.join(top, "recovered.data")
    run("recover", left, "-o", whole)
    report = json.loads(run("report", "-i", whole, "--format", "json"))
    check(report["incident"]["waiter"]["tid"] == stall[2], "the trigger is in it: %s"
          % report.get("incident"))
    r = Record(folder, "--trigger", "hand")
    check(any("kontend recover" in s for s in r.said), "the next one says so: %s" % r.said)
    r.end()


def test_samples():
    """Names of functions are written at the end; a search finds what fired without them."""
    folder = os.path.join(top, "samples")
    os.mkdir(folder)
    r = Record(folder, "--trigger", "hand", "-F", "199", "--demo")
    time.sleep(2)
    r.p.send_signal(signal.SIGUSR1)
    r.wait_for("caught by hand")
    r.end()
    path = os.path.join(folder, listed(folder)[0]["file"])
    report = json.loads(run("report", "-i", path, "--format", "json"))
    check(report["source"]["snapshots"]["functions"] == 1, "functions are in the file")
    check(report.get("incident", {}).get("by_hand"), "what fired is in the file")


def test_retention():
    folder = os.path.join(top, "kept")
    os.mkdir(folder)
    foreign = os.path.join(folder, "kontend-20000101-000000-mine.data")
    with open(foreign, "w") as f:
        f.write("not what it is called")
    part = "kontend-20000101-000001-wait.data.part"
    with open(os.path.join(folder, part), "w") as f:
        f.write("left by who was killed")
    r = Record(folder, "--trigger", "hand", "--max-files", "2")
    check(any(part in s and "kontend recover" in s for s in r.said), "what was left: %s" % r.said)
    names = []
    for i in range(4):
        r.p.send_signal(signal.SIGUSR1)
        names.append(r.wait_for("caught by hand").split(": ")[2].split(",")[0])
        if i == 1:
            check(len(glob.glob(os.path.join(folder, "*hand*"))) == 2, "two files")
    r.end()
    left = [i["file"] for i in listed(folder) if i["state"] == "whole"]
    check(left == [os.path.basename(n) for n in names[2:]], "left are %s of %s" % (left, names))
    check(os.path.exists(foreign), "a file of somebody else is gone")


if os.geteuid():
    skip("needs root")
with tempfile.TemporaryDirectory(prefix="kontend-") as top:
    test_folder_goes_away()
    test_full()
    test_retention()
    test_samples()
    test_killed()
    test_stalls()
done()
