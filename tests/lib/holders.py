# SPDX-License-Identifier: GPL-2.0-only
"""How often kontend names the holder of a lock: counted over frames, each of which asks the queries
that the screen asks, of waits that go on and of those that have just ended."""
import json
import os
import subprocess

LONG_NS = 1000000
SLEEPING = ("mutex", "rwsem:R", "rwsem:W")


class Share:
    """sure: a task that surely holds it. readers: readers hold it, and one is named. free: it is
    being handed over. none: no holder is named."""

    def __init__(self):
        self.sure = self.readers = self.free = self.none = 0
        self.frames = self.rooted = 0
        self.missing = []

    def add(self, views):
        waits = [w for w in views["waiters"]["rows"] if w["kind"] in SLEEPING]
        for w in waits:
            if w["since_ns"] >= LONG_NS:
                self.count(w)
        if not any(not w["ended"] for w in waits):
            return
        # A lock that is being handed over has no holder, and its chain no root.
        if all(w["owner_certainty"] == "free" for w in waits if not w["ended"]):
            return
        self.frames += 1
        rows = views["chains"]["rows"]
        self.rooted += any(not r["ended"] and (r["row"] == "deadlock" or (r["row"] == "root" and r["tid"]))
                           for r in rows)

    def count(self, w):
        certainty = w["owner_certainty"]
        if certainty == "sure":
            self.sure += 1
        elif certainty in ("hint", "evidence"):
            self.readers += 1
        elif certainty == "free":
            self.free += 1
        else:
            self.none += 1
            self.missing.append(w)

    def known(self):
        """Of the waits that readers do not hold up, in percent; None: there were none."""
        n = self.sure + self.free + self.none
        return 100 * self.sure / n if n else None

    def answered(self):
        """The same, where a lock that is being handed over counts as known."""
        n = self.sure + self.free + self.none
        return 100 * (self.sure + self.free) / n if n else None

    def roots(self):
        return 100 * self.rooted / self.frames if self.frames else None


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
