#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Plays with the screen as a monkey would: replay, live and tour on a terminal of any size, with keys,
commands, mouse, new sizes and signals drawn from a seed, and a terminal that is not read for a
while. In the end it leaves by a key, a signal or a terminal that is closed. Keys and commands are
those of `kontend dump keys`.

A round is called by its seed: the same is sent again, though not at the same moments.
"""
import os
import random
import signal
import subprocess
import sys

from rounds import Counts, Folder, Patience, arguments, end_all, family, judge, read, stays
from terminal import Terminal

NAMED = {"Up": b"\033OA", "Down": b"\033OB", "Right": b"\033OC", "Left": b"\033OD", "Home": b"\033OH", "End": b"\033OF",
         "PgUp": b"\033[5~", "PgDn": b"\033[6~", "Enter": b"\r", "Esc": b"\033", "Tab": b"\t", "S-Tab": b"\033[Z",
         "Backspace": b"\x7f", "Space": b" ", "S-Left": b"\033[1;2D", "S-Right": b"\033[1;2C", "F1": b"\033OP",
         "F3": b"\033OR", "F4": b"\033OS", "F5": b"\033[15~", "F6": b"\033[17~", "F10": b"\033[21~"}
TERMS = ["xterm-256color"] * 5 + ["xterm", "tmux-256color", "screen", "linux", "vt100", "xterm-direct"]
LOCALES = ["C.UTF-8"] * 4 + ["C", "POSIX", "en_US.UTF-8", "tr_TR.UTF-8", ""]
WORDS = ["rwsem", "mutex", "pcpu", "lock", "wait", "wait>1ms", "max>=5ms", "name:rwsem", "!name:mutex", "type=spin", "a|b",
         "comm~^k", "(", ")", "~[", "\\", "1s", "10s", "50%", "1:23", "-10s", "+5m", "@0", "0", "-1", "99999999999999999999",
         "all", "off", "a", "b", "task", "lock", "caller", "stack", "process", "cgroup", "owner", "cpu", "type", "period",
         "percent", "samples", "light", "mono", "cvd", "default", "waiters", "hot", "flame", "chains", "mmap", "ü", "漢字",
         "\u202e", "%s%n", "x" * 300, "100ms", "60s", "1d", "picture", "picture.svg", "picture.txt", "picture.ansi", "part.data",
         "/dev/full", "/nonexistent/x", "../part", "pid=1", "comm=sh", "object=kernel"]
VIEWS = ["overview", "locks", "waiters", "slots", "contexts", "rotation", "uprobes", "mmap", "hot", "chains", "blame", "held",
         "queues", "callers", "tasks", "types", "cpus"]
LIVE = [[], [], ["-d", "100ms"], ["-d", "200ms", "-F", "4000"], ["--mmap", "all"], ["--mmap", "all,paths"], ["--no-bpf"],
        ["--owner"], ["--creations"], ["--phases"], ["--sleeps"], ["--tick"], ["--min-wait", "10us"], ["--no-stack"],
        ["--call-graph", "dwarf"], ["--max-overhead", "1"], ["--demo"], ["--memory", "8M"], ["--follow", "1ms"], ["--metrics", "0"]]


def table(kontend):
    """Keys and commands of this very program."""
    keys, commands = [], []
    for line in subprocess.run([kontend, "dump", "keys"], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines():
        name, argument, names = (line.split("\t") + [""])[:3]
        if not names and "\t" not in line.partition("\t")[2]:  # a view: its name and its key, if it has one
            commands.append(("view " + name, ""))
            names = argument if len(argument) == 1 else ""
        else:
            commands.append((name, argument))
        for k in names.split():
            keys.append(NAMED[k] if k in NAMED else bytes([ord(k[1]) & 31]) if len(k) == 2 and k[0] == "^" else k.encode())
    return keys, commands


class Monkey:
    def __init__(self, options, counts):
        self.options, self.counts = options, counts
        self.keys, self.commands = table(options.kontend)
        self.can_measure = os.geteuid() == 0

    def verb(self, r):
        """The command line, without the program."""
        kind = self.options.kind or r.choices(["replay", "live", "tour"], [6, 4 if self.can_measure else 0, 2])[0]
        file = r.choice(self.options.recordings)
        view = ["--view", r.choice(VIEWS)] if r.random() < 0.4 else []
        if kind == "replay":
            more = r.choice([[], ["-d", "100ms"], ["--threads", "1"], ["--min-wait", "100us"], ["--no-sandbox"]])
            return ["replay", *view, *more, file]
        if kind == "tour":
            return ["tour"] + ([file] if r.random() < 0.6 or not self.can_measure else [])
        load = ["--", self.options.kontend, "demo", "--duration", f"{r.randint(1, 6)}s"] if r.random() < 0.5 else []
        return ["live", *view, *r.choice(LIVE), *load]

    def size(self, r):
        return r.choice([(24, 80), (24, 80), (40, 120), (1, 1), (2, 500), (200, 3), (r.randint(1, 200), r.randint(1, 500)),
                         (r.randint(1, 30), r.randint(1, 100))])

    def command(self, r):
        name, argument = r.choice(self.commands)
        words = " ".join(r.choice(WORDS) for _ in range(r.randint(0, 3))) if argument or r.random() < 0.1 else ""
        return f":{name} {words}".rstrip().encode() + r.choice([b"\r", b"\r", b"\r", b"\t\r", b"\033", b"\t\t\r"])

    def prompt(self, r):
        """Keys that open a line to type in, then text."""
        return r.choice([b"/", b"s", b"@", b"b", b">", b"w", b"m", b"x", b"P", b"o", b"d"]) + r.choice(WORDS).encode() + \
            r.choice([b"\r", b"\033", b" \r", b"\t"])

    def mouse(self, r):
        x, y = r.randint(0, 510), r.randint(0, 210)
        button = r.choice([0, 0, 0, 1, 2, 32, 35, 64, 65, 3, 255])
        return f"\033[<{button};{x};{y}{r.choice('Mm')}".encode()

    def noise(self, r):
        return bytes(r.choice([r.randint(0, 255), r.randint(32, 126), 27]) for _ in range(r.randint(1, 12))) \
            .replace(b"\x1c", b"").replace(b"\x03", b"")  # those two are signals

    def input(self, r):
        draw = r.random()
        if draw < 0.62:
            return r.choice(self.keys)
        if draw < 0.76:
            return self.command(r)
        if draw < 0.84:
            return self.prompt(r)
        if draw < 0.94:
            return self.mouse(r)
        if draw < 0.97:
            return b"\033[200~" + r.choice(WORDS).encode() + b"\033[201~"
        return self.noise(r)

    def act(self, t, r, quits):
        draw, pause = r.random(), r.choice([0, 0.002, 0.005, 0.02, 0.06])
        if draw < 0.90:
            keys = b"".join(self.input(r) for _ in range(r.randint(1, 4)))
            # Keys that leave would end most rounds at once.
            if quits or not any(k in keys for k in (b"q", b"\033[21~")):
                self.counts.add("inputs", 1 if t.send(keys) else 0)
        elif draw < 0.94:
            t.resize(*self.size(r))
        elif draw < 0.96:
            t.kill(r.choice([signal.SIGWINCH, signal.SIGCONT]))
        elif draw < 0.98:
            t.kill(signal.SIGTSTP)
            pause = 0.1
        else:
            t.is_read = not t.is_read
        if t.pump(pause) and t.status is None:
            t.pump(r.choice([0, 0.02]))
            t.carry_on()

    def leave(self, t, r):
        """What ends it, in words; True if all that it writes can be read."""
        how = r.choice(["key", "key", "TERM", "TERM", "INT", "HUP", "unread", "close", "stopped", "twice"])
        t.is_read = how != "unread" and t.is_read
        if how == "key":
            t.is_read = True
        elif how == "close":
            t.drain()
            os.close(t.master)
            t.master = os.open(os.devnull, os.O_RDWR)
            t.is_read = False
        elif how == "stopped":
            t.kill(signal.SIGTSTP)
            if t.pump(0.3) and t.status is None:
                t.kill(signal.SIGTERM)
                t.carry_on()
            t.kill(signal.SIGTERM)
        else:
            t.kill(getattr(signal, "SIG" + how, signal.SIGTERM))
            if how == "twice":
                t.kill(signal.SIGTERM)
        return how

    def wait(self, t, how):
        patience, bad = Patience(t.pid), []
        while t.status is None:
            if how == "key":
                t.send(b"\033\033\033q")
            if t.pump(0.3) and t.status is None:
                t.carry_on()
            if t.status is None and patience.is_over():
                bad = [f"it does not end by {how}"] + patience.where()
                end_all(family(t.pid))
                t.pump(5)
                break
        return bad

    def one(self, seed):
        r = random.Random(seed)
        verb, size = self.verb(r), self.size(r)
        env = {"TERM": r.choice(TERMS), "LC_ALL": r.choice(LOCALES)}
        if r.random() < 0.1:
            env["NO_COLOR"] = "1"
        with Folder() as f:
            err = os.path.join(f.top, "stderr")
            t = Terminal([self.options.kontend, *verb], f.here, f.home, size, env, err)
            t.pump(r.choice([0, 0.05, 0.5, 1.5]))
            quits = r.random() < 0.1
            for _ in range(r.choice([0, 5, 40, 100, 200])):
                if t.status is not None:
                    break
                self.act(t, r, quits)
            how = self.leave(t, r) if t.status is None else "itself"
            bad = self.wait(t, how)
            was_read = t.is_read
            t.drain()
            said = read(err)
            if how != "close":
                bad += t.faults(was_read)
            bad += judge(t.status if t.status is not None else -9, said, t.sent + [signal.SIGHUP] * (how == "close"))
            t.close()
            bad += stays(t.leader) + f.left()
            name = verb[0]
            self.counts.add(f"of {name}")
            self.counts.add("KiB drawn", t.n_read >> 10)
            what = f"{' '.join(verb)} at {size[1]}x{size[0]}, {env}, left by {how}: status {t.status}"
            self.counts.note(seed, what, bad, said)


def main():
    options = arguments(__doc__)
    counts = Counts("monkey", options)
    return counts.run(Monkey(options, counts).one)


sys.exit(main())
