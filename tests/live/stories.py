# SPDX-License-Identifier: GPL-2.0-only
"""Shared by the tests of the stories: programs that print what they did (workloads/story-*.c), run beside
kontend, live and recorded, and the comparison of both."""
import collections
import json
import os
import subprocess
import sys

from checks import check, done, skip

NOT_FOLLOWED = 0.5  # of what is charged to a task, at most
NEAR = 0.02  # what kontend says is to be as near as this to what the program says

Line = collections.namedtuple("Line", "word of")


class Told:
    """Output of a program: lines by their first word, with their values as numbers."""

    def __init__(self, text):
        self.lines = []
        for line in text.splitlines():
            word, *rest = line.split()
            values = dict(pair.split("=", 1) for pair in rest)
            self.lines.append(Line(word, {k: int(v) if v.isdigit() else v
                                          for k, v in values.items()}))

    def all(self, word):
        return [line.of for line in self.lines if line.word == word]

    def one(self, word):
        found = self.all(word)
        if len(found) != 1:
            print("FAIL the program tells %d times of %s" % (len(found), word))
            sys.exit(1)
        return found[0]


def run(*args):
    p = subprocess.run([str(a) for a in args], capture_output=True, text=True)
    if p.returncode == 77:
        skip(p.stderr.strip())
    if p.returncode:
        print(p.stdout, p.stderr)
        print("FAIL %s: status %d" % (" ".join(map(str, args[:3])), p.returncode))
        sys.exit(1)
    return p.stdout


class Story:
    """A program, as kontend sees it beside it, live; and recorded, as often as one likes."""

    def __init__(self, kontend, directory, *command, options=("--owner",)):
        self.kontend, self.command, self.options = kontend, command, options
        self.out = os.path.join(directory, "out.json")
        self.data = os.path.join(directory, "perf.data")

    def live(self, views, *args):
        """Prints the lines of the program, and the report's views."""
        text = run(self.kontend, "report", "-q", *self.options, "--view", views, *args, "--format",
                   "json", "-o", self.out, "--", *self.command)
        with open(self.out) as f:
            return Told(text), json.load(f)["views"]

    def record(self):
        return Told(run(self.kontend, "record", "-q", *self.options, "-o", self.data, "--",
                        *self.command))

    def replay(self, views, *args):
        return self.replay_whole(views, *args)["views"]

    def replay_whole(self, views, *args):
        return json.loads(run(self.kontend, "report", "-i", self.data, "--view", views, "--rows",
                              "0", *args, "--format", "json"))


def between(what, ns, least, most, near=0.0):
    """Not less than @least and not more than @most, each but for a part of it."""
    print("%s: %.3f ms, by its own account %.3f to %.3f ms" % (
        what, ns / 1e6, least / 1e6, most / 1e6))
    return check(least * (1 - near) <= ns <= most * (1 + near), what)


def rows(view, **values):
    return [r for r in view["rows"] if all(r.get(k) == v for k, v in values.items())]


def total(view, field="total_ns", **values):
    return sum(r[field] for r in rows(view, **values))


def compare_blame(when, view, root, kind, waited, did):
    """Time charged to a task for the locks of one kind that it held: @waited, and the part of it for
    each thing that the task did meanwhile, each as minimum and maximum. kontend follows a lock from
    its first long wait on: the time before is reported as not followed, and is at most a part."""
    found = rows(view, row="task", tid=root, kind=kind)
    if not check(found, "%s: nothing is charged to %d" % (when, root)):
        return
    ns = {name: sum(r[name + "_ns"] for r in found) for name in
          ("waited", "running", "runnable", "asleep", "io", "not_followed")}
    between("%s: waited because of %d" % (when, root), ns["waited"], *waited, NEAR)
    print("%s: not followed: %.3f ms" % (when, ns["not_followed"] / 1e6))
    check(ns["not_followed"] <= NOT_FOLLOWED * ns["waited"], "%s: not followed: %s" % (when, ns))
    room = NEAR * ns["waited"]
    for name, (least, most) in did.items():
        between("%s: while it was %s" % (when, name), ns[name],
                max(least - ns["not_followed"] - room, 0), most + room)
    states = sum(ns.values()) - ns["waited"]
    check(abs(states - ns["waited"]) <= room, "%s: states of %d: %s" % (when, root, ns))


def compare_sum(when, view):
    """Each ns of waiting is charged to a task, or reported as charged to none."""
    charged = sum(r["waited_ns"] for r in view["rows"]) + view["lost_ns"]
    check(charged == view["waited_ns"], "%s: charged %d of %d ns" % (
        when, charged, view["waited_ns"]))


def compare_both(story, compare, compare_root, only):
    """The waits that are meant, and whom they are charged to: live and recorded."""
    compare("live", *story.live("locks,held", "--by", "task", *only))
    compare_root("live", *story.live("blame"))
    told = story.record()
    compare("recorded", told, story.replay("locks,held", "--by", "task", *only))
    views = story.replay("blame")
    compare_root("recorded", told, views)
    compare_sum("recorded", views["blame"])
    return told
