# SPDX-License-Identifier: GPL-2.0-only
"""Programs that measure their own waits for locks, and what kontend says of these."""
import json
import subprocess

from checks import check

ROUNDS = "600"  # for some seconds: a snapshot names locks while the program runs
ALL = ("--max-overhead", "off")  # no sleep is only summed up because it costs too much
LOCKS = ("--view", "locks", "--rows", "0", "--format", "json")


def run(*args):
    p = subprocess.run(args, capture_output=True, text=True, check=False)
    check(p.returncode == 0, "%s: status %d: %s" % (args, p.returncode, p.stderr))
    return p.stdout


def truth(text, locks=9):
    """(type, variable): waits, their time, threads; of @locks."""
    ret = {}
    for line in text.splitlines():
        kind, variable, n, ns, *tids = line.split()
        ret[kind, variable] = int(n), int(ns), {int(t) for t in tids}
    check(len(ret) == locks, "the program prints %s" % text)
    return ret


def rows_of(text):
    views = json.loads(text)["views"]
    return [r for r in views["locks"]["rows"] if r["type"].endswith("(u)")]


def kind_of(row):
    return row["type"] + (":" + row["mode"] if row.get("mode") else "")


def is_of(row, variable):
    name = row["name"]
    return name.startswith("shared memory") if variable == "-" else name.startswith(variable + " ")


def compare(where, text, program):
    """A program is late to read the clock where its CPU is taken from it, so it measures more, never less."""
    rows = rows_of(text)
    for (kind, variable), (n, ns, _) in program.items():
        found = [r for r in rows if kind_of(r) == kind and is_of(r, variable)]
        check(len(found) == 1, "%s: %s %s: %s" % (where, kind, variable, [r["name"] for r in rows]))
        seen, total = found[0]["contended"], found[0]["total_ns"]
        check(seen >= n * 0.995 - 1, "%s: %s %s: %d of %d waits" % (where, kind, variable, seen, n))
        check(0.8 * ns <= total <= 1.02 * ns, "%s: %s %s: %d of %d ns" % (where, kind, variable, total, ns))
    names = {v for _, v in program}
    others = [r["name"] for r in rows if not any(is_of(r, v) for v in names) and not r["name"].startswith("guard ")]
    check(not others, "%s: no locks: %s" % (where, others))


def sleeps_of(text):
    events = [json.loads(line) for line in text.splitlines()]
    return [e for e in events if e.get("event") == "futex"]


def check_threads(text, program):
    """Each wait for a mutex has a releaser; it and the owner use the lock."""
    futex = sleeps_of(text)
    for (kind, variable), (n, _, tids) in program.items():
        if kind.startswith("rwlock") or variable == "-":
            continue
        own = [e for e in futex if e["type"] == kind and e["tid"] in tids]
        check(len(own) >= n * 0.995 - 1, "%s: %d lines of %d waits" % (variable, len(own), n))
        released = [e for e in own if e["releaser_tid"] is not None]
        check(len(released) >= 0.99 * len(own), "%s: %d of %d have a releaser" % (variable, len(released), len(own)))
        wrong = [e for e in own for k in ("owner_tid", "releaser_tid") if e[k] is not None and e[k] not in tids]
        check(not wrong, "%s: threads that do not use it: %s" % (variable, wrong[:3]))
        own = [e for e in own if e["owner_tid"] == e["tid"] or e["releaser_tid"] == e["tid"]]
        check(not own, "%s: threads wait for themselves: %s" % (variable, own[:3]))
