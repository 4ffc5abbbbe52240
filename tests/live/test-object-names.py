#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Locks of the kernel have the names of their objects: a workload wants one lock, and prints its name.
Called as: test-object-names.py KONTEND OBJECT-NAMES [KIND]..."""
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from checks import check, done

kontend, program = sys.argv[1:3]
KINDS = ("folder wait dentry closed library pages task signals descriptors memory zone lru super log pipe epoll flock "
         "anon tasks netlink network device unix udp kernfs cgroup machine map works futex position uprobe disk events "
         "storage").split()
# Of waits that sleep, whatever the machine.
RECORDED = ["recorded-" + kind for kind in ("closed", "epoll", "position")]
TRIES = 4
HEX = re.compile(r"\u2026|(?<!:)0x[0-9a-f]+|\.\.[0-9a-f]{4,}")


def rows(kind, folder, out):
    """The locks that were waited for, and the name that one of them is to have; None: not on this machine."""
    p = subprocess.run([kontend, "report", "-q", "--no-config", "--view", "locks", "--format", "json", "-n", "10000",
                        "-o", out, "--", program, kind, "3", folder], capture_output=True, text=True, check=False)
    lines = p.stdout.splitlines()
    if p.returncode == 77:
        print("not tried: %s: %s" % (kind, " ".join(lines)))
        return None, None
    check(p.returncode == 0 and lines, "%s: status %d: %s" % (kind, p.returncode, p.stderr))
    with open(out, encoding="utf-8") as f:
        return json.load(f)["views"]["locks"]["rows"], lines[0] if lines else "$^"


def try_kind(kind, top):
    """Spinlocks are waited for only where two CPUs want them in the same moment."""
    seen = {}
    for attempt in range(TRIES):
        folder = os.path.join(top, "%s%d" % (kind, attempt))
        os.mkdir(folder)
        found, name = rows(kind, folder, os.path.join(top, "out"))
        if found is None:
            return
        match = [r for r in found if r["name"] and re.fullmatch(name, r["name"]) and r["contended"]]
        if match:
            print("%-12s %s" % (kind, match[0]["name"]))
            check(not HEX.search(match[0]["name"]), "%s: hex: %s" % (kind, match[0]["name"]))
            return
        seen.update({(r["kind"], r["name"]): r["contended"] for r in found})
    check(False, "%s: no lock %s, but %s" % (kind, name, sorted(seen.items(), key=lambda s: -s[1])[:12]))


def try_recorded(kind, top):
    """A recording has the name that is shown live."""
    folder, out, data = (os.path.join(top, n) for n in ("recorded-" + kind, "out", "data"))
    os.mkdir(folder)
    p = subprocess.run([kontend, "record", "-q", "--no-config", "-o", data, "--", program, kind, "3", folder],
                       capture_output=True, text=True, check=False)
    if p.returncode == 77:
        print("not tried: recorded %s: %s" % (kind, p.stdout))
        return
    check(p.returncode == 0 and p.stdout, "recorded %s: status %d: %s" % (kind, p.returncode, p.stderr))
    subprocess.run([kontend, "report", "-q", "--no-config", "-i", data, "--view", "locks", "--format", "json", "-n",
                    "10000", "-o", out], check=True)
    os.unlink(data)
    with open(out, encoding="utf-8") as f:
        found = json.load(f)["views"]["locks"]["rows"]
    name = p.stdout.splitlines()[0]
    match = [r["name"] for r in found if r["name"] and re.fullmatch(name, r["name"]) and r["contended"]]
    print("recorded     %s" % match[:1])
    check(match, "recorded %s: no lock %s, but %s" % (kind, name, [(r["kind"], r["name"]) for r in found[:12]]))


@contextlib.contextmanager
def with_log(top):
    """A folder on a file system that has a log; None: there is none."""
    image, at = os.path.join(top, "image"), os.path.join(top, "mounted")
    os.mkdir(at)
    with open(image, "wb") as f:
        f.truncate(64 << 20)
    made = [subprocess.run(c, capture_output=True, check=False).returncode == 0
            for c in (["mkfs.ext4", "-q", "-F", image], ["mount", "-o", "loop", image, at]) if shutil.which(c[0])]
    try:
        yield at if made == [True, True] else None
    finally:
        if made == [True, True]:
            subprocess.run(["umount", at], check=True)


def try_log(top):
    """The log of an ext4, which the file system of the test may not have."""
    with with_log(top) as folder:
        try_kind("log", folder or top)


def try_message(top):
    """The message for which a task has the rtnl_mutex, of those that wait behind it."""
    out = os.path.join(top, "out")
    with subprocess.Popen([program, "netlink", "60", top], stdout=subprocess.PIPE, text=True) as p:
        try:
            if p.stdout.readline() != "rtnl_mutex\n":
                print("not tried: messages: no network namespace")
                return
            said = set()
            for _ in range(40):
                subprocess.run([kontend, "report", "-q", "--no-config", "-p", str(p.pid), "--view", "waiters", "--format",
                                "json", "--duration", "0.5", "-o", out], check=True)
                with open(out, encoding="utf-8") as f:
                    rows = json.load(f)["views"]["waiters"]["rows"]
                said |= {r["owner_message"] for r in rows if r["name"] == "rtnl_mutex" and r["owner_message"]}
                if said:
                    break
            check(said and said <= {"RTM_NEWLINK", "RTM_DELLINK"}, "messages of holders: %s" % said)
            print("message      %s" % said)
        finally:
            p.kill()


with tempfile.TemporaryDirectory(dir=os.getcwd()) as name:
    base = os.path.realpath(name)
    for each in sys.argv[3:] or KINDS + RECORDED + ["message"]:
        if each == "log":
            try_log(base)
        elif each in RECORDED:
            try_recorded(each[len("recorded-"):], base)
        elif each == "message":
            try_message(base)
        else:
            try_kind(each, base)
done()
