#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""test-holders.py KONTEND HELD

Of nearly all waits of more than 1 ms for mutexes and write-held rwsems the task is named that holds
the lock, or that it is handed over to; and chains have such a root in nearly all frames: while a
process forks, while threads fault, map and unmap memory, and while processes rename files in one
directory; and of a recording.
The bench `holders-share` prints the shares in more conditions."""
import json
import os
import subprocess
import sys
import tempfile

from checks import check, done, skip
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
import holders

FRAMES = 8
LEAST = 20    # waits that make a share
GOAL = 95     # percent that name a task
FRAMES_LEAST = 5
kontend, held = sys.argv[1:3]


def method(kontend, directory):
    return holders.frame(kontend, os.path.join(directory, "method.json"))["source"]["method"]


def live(kind, directory):
    share = holders.count(kontend, [held, kind, "60", directory], directory, FRAMES)
    print("%s: sure %d, readers %d, handed %d, free %d, none %d: %s %%; %d of %d frames with a root"
          % (kind, share.sure, share.readers, share.handed, share.free, share.none, share.named(),
             share.rooted, share.frames))
    if share.all() >= LEAST:
        check(share.named() >= GOAL, "%s: a task named of %.1f %%: %s" % (
            kind, share.named(), share.missing))
    # Of so few frames one is more than the rest to 100 %.
    if share.frames >= FRAMES_LEAST:
        check(share.rooted >= share.frames - 1, "%s: a root in %d of %d frames" % (
            kind, share.rooted, share.frames))
    return share.all()


def without_bpf(directory):
    out = os.path.join(directory, "frame.json")
    views = holders.frame(kontend, out, "--no-bpf")["views"]
    for w in views["waiters"]["rows"]:
        check(w["owner_state"] is None, "--no-bpf: what the holder does: %s" % w["owner_state"])


def recorded(directory):
    out = os.path.join(directory, "perf.data")
    p = subprocess.run([kontend, "record", "-q", "--no-config", "-o", out, "--", held, "fault",
                        "3"], capture_output=True, text=True)
    check(p.returncode == 0, "record: %s" % p.stderr)
    p = subprocess.run([kontend, "report", "-q", "-i", out, "--view", "blame", "--format", "json"],
                       capture_output=True, text=True)
    blame = json.loads(p.stdout)["views"]["blame"]
    named = sum(r["waited_ns"] for r in blame["rows"] if r["tid"])
    all_ns = sum(r["waited_ns"] for r in blame["rows"])
    print("recorded: %.1f %% of %.3f s waited is because of a known task" % (
        100 * named / max(all_ns, 1), all_ns / 1e9))
    check(all_ns > 0 and named >= all_ns / 2, "recorded: %d of %d ns" % (named, all_ns))


if os.geteuid() != 0:
    skip("needs root")
with tempfile.TemporaryDirectory(prefix="kontend-holders-",
                                 ignore_cleanup_errors=True) as d:
    if method(kontend, d) != "BPF ring":
        skip("waits are not reported by BPF here")
    n = [live(kind, d) for kind in ("fork", "fault", "rename")]
    check(sum(n) >= LEAST, "too few waits: %s" % n)
    without_bpf(d)
    recorded(d)
done()
