#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""`kontend record --metrics` counts the hits of a uprobe that exists when it begins, and of one that is placed while it
runs, as often as the program with the probes was called; and it continues when they are removed.
Called as: test-probe-metrics.py KONTEND HIT"""
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from checks import check, done, failed, skip

kontend, hit = sys.argv[1:3]
EVENTS = "/sys/kernel/tracing/uprobe_events"
names = {"before": f"kontend_metrics_{os.getpid()}/before", "later": f"kontend_metrics_{os.getpid()}/later"}
placed = []


def tell_kernel(line):
    """Appended: who only writes takes all others away. (open() of Python would look for the end, which there is not.)"""
    fd = os.open(EVENTS, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(fd, f"{line}\n".encode())
    finally:
        os.close(fd)


def place(which, what):
    tell_kernel(what)
    placed.append(which)
    enable(which, 1)


def enable(which, on):
    with open(f"/sys/kernel/tracing/events/{names[which]}/enable", "w", encoding="ascii") as f:
        f.write(f"{on}\n")


def remove(which):
    enable(which, 0)
    tell_kernel(f"-:{names[which]}")
    placed.remove(which)


def calls(p, n):
    p.stdin.write(f"{n}\n")
    p.stdin.flush()
    assert p.stdout.readline() == "done\n"


def hits(url):
    """Counts by the part after the path in `probe`."""
    try:
        with urllib.request.urlopen(url, timeout=10) as r:
            text = r.read().decode()
    except (urllib.error.URLError, OSError):
        return {}
    said = re.findall(r'^kontend_uprobe_hits_total\{probe="([^"]*)"\} (\d+)', text, re.M)
    return {name.rpartition(":")[2]: int(n) for name, n in said if name.startswith(os.path.realpath(hit) + ":")}


def becomes(url, want, what):
    """A look may be some seconds away; nothing but the deadline is wrong with that."""
    end = time.monotonic() + 120
    have = None
    while time.monotonic() < end:
        have = hits(url)
        if have == want:
            print(f"{what}: {have}")
            return
        time.sleep(0.3)
    check(False, f"{what}: {have}, not {want}")


def run(d):
    p = subprocess.Popen([hit], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    where = p.stdout.readline().strip()
    place("before", f"p:{names['before']} {where}")
    calls(p, 5)
    err = os.path.join(d, "err")
    with open(err, "w", encoding="utf-8") as f:
        k = subprocess.Popen([kontend, "record", "--metrics", "0"],
                             stdin=subprocess.DEVNULL, stdout=f, stderr=f)
    try:
        url = None
        while not url and k.poll() is None:
            with open(err, encoding="utf-8") as f:
                words = f.read().split("metrics are at ")
            url = words[1].split("\n")[0] if len(words) > 1 else None
            time.sleep(0.1)
        if not url:
            with open(err, encoding="utf-8") as f:
                skip(f.read().strip())
        becomes(url, {"hit_here": 0}, "a probe that was hit before")
        calls(p, 1000)
        becomes(url, {"hit_here": 1000}, "after 1000 calls")
        place("later", f"r:{names['later']} {where}")
        calls(p, 70)
        becomes(url, {"hit_here": 1070, "hit_here%return": 70}, "with another one at the return")
        remove("before")
        calls(p, 5)
        becomes(url, {"hit_here": 1070, "hit_here%return": 75}, "without the first one")
    finally:
        k.terminate()
        k.wait()
        p.stdin.close()
        p.wait()


if os.geteuid() or not os.access(EVENTS, os.W_OK):
    skip("uprobe_events cannot be written")
try:
    with tempfile.TemporaryDirectory() as folder:
        run(folder)
finally:
    for one in list(placed):
        remove(one)
print(f"{4 - failed()} of 4 counts are right")
done()
