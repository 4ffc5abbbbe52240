# SPDX-License-Identifier: GPL-2.0-only
"""How often kontend names the holder of a lock: counted over frames, each of which asks the queries
that the screen asks, of waits that go on and of those that have just ended."""
import json
import os
import subprocess

LONG_NS = 1000000
SLEEPING = ("mutex", "rwsem:R", "rwsem:W")


class Share:
    """sure: a task that surely holds it. readers: readers hold it, and one is named. handed: no task
    holds it, and the one is named that is to take it. free: the same, and none is named. none:
    nothing is known. early: those that began before kontend ran are none of these."""

    def __init__(self):
        self.sure = self.readers = self.handed = self.free = self.none = self.early = 0
        self.frames = self.rooted = 0
        self.missing, self.rootless = [], []

    def add(self, views):
        waits = [w for w in views["waiters"]["rows"] if w["kind"] in SLEEPING]
        for w in waits:
            if w["since_ns"] >= LONG_NS:
                self.count(w)
        if not any(not w["ended"] for w in waits):
            return
        self.frames += 1
        if any(is_rooted(r) for r in views["chains"]["rows"]):
            self.rooted += 1
        else:
            self.rootless.append(views)

    def count(self, w):
        certainty = w["owner_certainty"]
        if w["early"]:
            self.early += 1
        elif certainty == "sure":
            self.sure += 1
        elif certainty in ("hint", "evidence"):
            self.readers += 1
        elif certainty == "free" and w["next_tid"]:
            self.handed += 1
        elif certainty == "free":
            self.free += 1
            self.missing.append(w)
        else:
            self.none += 1
            self.missing.append(w)

    def all(self):
        """Waits that readers do not hold up."""
        return self.sure + self.handed + self.free + self.none

    def known(self):
        """Of these, those of which a holder is named, in percent; None: there were none."""
        return 100 * self.sure / self.all() if self.all() else None

    def named(self):
        """The same, and those of which the task is named that the lock is handed to."""
        return 100 * (self.sure + self.handed) / self.all() if self.all() else None

    def roots(self):
        return 100 * self.rooted / self.frames if self.frames else None


def is_rooted(row):
    """Does the row of a chain that has not ended name the task that the others wait for?"""
    if row["ended"] or row["row"] not in ("root", "deadlock"):
        return False
    return bool(row["row"] == "deadlock" or row["tid"] or row["next_tid"])


def frame(kontend, out, *options, seconds="0.5"):
    p = subprocess.run([kontend, "report", "-q", "--no-config", "--duration", seconds, "--format",
                        "json", "--view", "waiters,chains", "-o", out, *options],
                       capture_output=True, text=True)
    if p.returncode:
        raise RuntimeError("kontend report: status %d: %s" % (p.returncode, p.stderr))
    with open(out) as f:
        return json.load(f)


def count(kontend, load, directory, frames, within=(), options=()):
    """Beside the command @load, which has to last; @within: how kontend is to be run."""
    share, out = Share(), os.path.join(directory, "frame.json")
    p = subprocess.Popen(load, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for i in range(frames):
            if p.poll() is not None:
                break
            views = frame(kontend, out, *options)["views"]
            if i:
                share.add(views)
    finally:
        p.terminate()
        p.wait()
    return share
