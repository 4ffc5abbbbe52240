#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Gives damaged copies of recordings (tests/fuzz/mutate.h) to the program itself: all views and formats
of report, each format of export, script, cut, merge, diff, recover, incidents, screenshot, and replay
on a terminal. Each run completes or ends with a sentence; no sanitizer reports anything, nothing is
left, and memory stays within MEMORY_MOST.

A round is called by its seed: one damaged copy, and the runs that are drawn for it.
"""
import os
import random
import resource
import shutil
import subprocess
import sys

from rounds import Counts, Folder, Patience, arguments, end_all, export_formats, family, judge, read, run, sentences, stays
from terminal import Terminal

NO_DATA = 3  # exit status
MEMORY_MOST = 4 << 30  # of a process, with the shadow of a sanitizer
SHOTS = ["1", "2 Down Enter", "3 Enter", "4 Right Enter", "5 Enter", "6", "7 Enter", "8 Enter", "9 a", "9 f", "0 Enter", "W", "O", "D",
         "Q", "I", "2 f", "! !", "m m", "9 b s t a c k Enter"]
KEYS = [b"1", b"2", b"3", b"4", b"5", b"6", b"7", b"8", b"9", b"0", b"W", b"O", b"D", b"Q", b"I", b"\r", b"\r", b"\033", b"h", b"l", b" ", b">",
        b"<", b"s", b"a", b"f", b"!", b"j", b"j", b"t", b"T", b"Z", b"r", b"[", b"]", b"@50%\r", b"b", b"m", b"w", b"\t", b"E", b"/lock\r"]


class Mutants:
    def __init__(self, options, counts):
        self.options, self.counts = options, counts
        views = subprocess.run([options.kontend, "dump", "views"], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.formats = export_formats(options.kontend)
        self.views = [line.split()[0] for line in views.splitlines() if line.strip()] + ["all"]

    def commands(self, r, m):
        whole = r.choice(self.options.recordings)
        view, other = r.choice(self.views), r.choice(self.views)
        a, b = r.choice(((m, whole), (whole, m)))
        return [["report", "-q", "--view", view, "-i", m], ["report", "-q", "-j", "--view", "all", "-i", m],
                ["report", "-q", "--format", "csv", "--view", other, "-i", m],
                ["report", "-q", "--by", r.choice(["task", "stack", "owner", "cgroup", "cpu"]), "-i", m],
                ["script", "-q", "-i", m], ["script", "-q", "-j", "-i", m],
                *[["export", "-q", "--format", f, "-i", m, "-o", "made"] for f in r.sample(self.formats, 3)],
                ["cut", "-q", m, "-o", "made", "--time", "25%,75%"], ["cut", "-q", "-z", m, "-o", "made", "--min-wait", "10us"],
                ["merge", "-q", a, b, "-o", "made"], ["merge", "-q", "-j", m], ["diff", "-q", a, b],
                ["diff", "-q", "--format", "json", a, b], ["recover", "-q", m, "-o", "made"],
                ["screenshot", m, "-o", "made.svg", "--keys", r.choice(SHOTS), "--size", r.choice(["80x24", "120x40", "20x5"])],
                ["screenshot", m, "-o", "made.txt", "--keys", r.choice(SHOTS), "--at", "50%"],
                ["incidents", "-q", os.path.dirname(m)], ["replay"], ["tour"]]

    def damage(self, seed, folder):
        subprocess.run([self.options.mutant, "--runs", "1", "--seed", str(seed), "--write", folder, *self.options.recordings],
                       stdout=subprocess.DEVNULL, check=True)
        return os.path.join(folder, os.listdir(folder)[0])

    def on_screen(self, verb, m, r, f):
        err = os.path.join(f.top, "screen-stderr")
        t = Terminal([self.options.kontend, verb, m], f.here, f.home, (r.randint(10, 50), r.randint(30, 160)), {}, err)
        t.pump(0.3)
        for _ in range(40):
            t.send(r.choice(KEYS))
            if t.pump(0.01) and t.status is None:
                t.carry_on()
        patience, bad = Patience(t.pid), []
        while t.status is None:
            t.send(b"\033\033q")
            t.pump(0.2)
            if t.status is None and patience.is_over():
                bad = ["it does not end by q"] + patience.where()
                end_all(family(t.pid))
        t.drain()
        said = read(err)
        bad += t.faults(True) + judge(t.status, said)
        t.close()
        return bad + stays(t.leader), said

    def check(self, words, m, r, f):
        if len(words) == 1:
            return self.on_screen(words[0], m, r, f)
        got = run([self.options.kontend, *words], f.here, f.home)
        bad = list(got.bad)
        if got.status != 0:
            # Without lock events the output is empty, which is no error: -q leaves that sentence out.
            bad += [] if got.status == NO_DATA and "-q" in words else sentences(got.status, got.said)
            # Rows of a damaged recording are written and marked; the status says that some are.
            marked = words[0] == "export" and "ndjson" in words and "in marks" in got.said
            if any(n.startswith("made") for n in os.listdir(f.here)) and words[0] not in ("merge", "recover") and not marked:
                bad.append(f"status {got.status}, and a file is there")
        return bad, got.said

    def one(self, seed):
        r = random.Random(seed)
        with Folder() as f:
            mutants = os.path.join(f.top, "mutants")
            os.mkdir(mutants)
            m = self.damage(seed, mutants)
            commands = self.commands(r, m)
            self.counts.add("files")
            for words in r.sample(commands, 5):
                bad, said = self.check(words, m, r, f)
                bad += f.left()
                self.counts.add(words[0])
                if bad and self.options.keep:
                    shutil.copy(m, os.path.join(self.options.keep, f"mutant-{seed}.data"))
                self.counts.note(seed, " ".join(words), bad, said)
                for name in os.listdir(f.here):
                    os.unlink(os.path.join(f.here, name))
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
        if peak > MEMORY_MOST and not self.told:
            self.told = True
            self.counts.note(seed, "memory", [f"a process took {peak >> 20} MiB"])

    told = False


def main():
    options = arguments(__doc__)
    counts = Counts("mutants", options)
    return counts.run(Mutants(options, counts).one)


sys.exit(main())
