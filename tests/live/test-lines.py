#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Cases of users: the lock, the line that waits for it and, where it is known, the line where its holder
is. The lines are those with comments in the source of the program.

    test-lines.py KONTEND PROGRAM SOURCE CASE"""
import json
import os
import subprocess
import sys

from checks import check, done, skip

kontend, program, source, case = sys.argv[1:]
TRIES = 4


def lines(comment):
    """As kontend has them, but for the function: "lines.c:12"; of a loop there are several."""
    with open(source) as f:
        at = [n for n, text in enumerate(f, 1) if f"/* {comment} */" in text]
    return tuple(f"{os.path.basename(source)}:{n} " for n in at)


def run(*words):
    p = subprocess.run([kontend, *words], capture_output=True, text=True)
    if p.returncode:
        raise AssertionError(f"{words[0]}: {p.stderr.strip()}")
    return p.stdout


def look(pid):
    return json.loads(run("report", "-q", "--format", "json", "--view", "overview,locks,waiters",
                          "--duration", "3s", "-p", str(pid)))["views"]


def rows(views, view, **of):
    return [r for r in views[view]["rows"] if all(r[k] == v for k, v in of.items())]


def at(found, comment):
    return [r for r in found if (r["at"] or "").startswith(lines(comment))]


def convoy(views, tids):
    for call, comment in ("mincore", "reader waits"), ("madvise", "writer waits"):
        found = rows(views, "locks", type="rwsem", syscall=call)
        yield f"a row of {call}", [r for r in found if r["name"].startswith("mmap_lock lines")]
        yield f"the line of {call}", at(found, comment)


def owned(views, lock, waiter, owner, comment, waits_at):
    found = [r for r in views["waiters"]["rows"] if r["name"].startswith(lock + " ")]
    yield "waiters", found
    yield "the line that waits", at(found, waits_at)
    yield "only those that wait", all(r["tid"] in tids_of(waiter) for r in found)
    yield "the owner", all(r["owner_tid"] in tids_of(owner) for r in found if r["owner_tid"])
    yield "the line of the owner", [r for r in found if (r["owner_at"] or "").startswith(lines(comment))]
    yield "its stack", [r for r in found if r["owner_stack"]]


def mutex(views, tids):
    yield from owned(views, "table", "reader", "writer", "holder sleeps", "waits for the mutex")


def unnamed(views, tids):
    """Its waits were seen by looks only, or have call chains."""
    found = [r for r in rows(views, "locks", type="futex(u)") if r["caller"] == "log_line"]
    yield "a row by the place", [r for r in found if "stdio in log_line" in r["name"]]
    yield "its line, or why not", found and all(r["at"].startswith(lines("unnamed")) if r["at"]
                                                else r["at_reason"] for r in found)
    yield "its owner is not made up", not any(r["owner_certainty"] == "sure"
                                              for r in rows(views, "waiters", type="futex(u)"))


def inversion(views, tids):
    low, high, middle = tids["sdo"][0], tids["pdo"][0], tids["camera"][0]
    text = (f"priority inversion: FIFO 80 pdo/{high} waits for NORMAL sdo/{low}, "
            f"kept off by FIFO 50 camera/{middle}; not inherited")
    yield text, [f for f in views["overview"]["verdict"]["findings"]
                 if f["rule"] == "inversion" and f["text"] == text]
    yield from owned(views, "bus", "pdo", "sdo", "holder is kept off", "important waits")


CASES = {"convoy": convoy, "mutex": mutex, "unnamed": unnamed, "inversion": inversion}

def tids_of(name):
    return threads.get(name, [])


def read_threads(out, n):
    found = {}
    for _ in range(n):
        name, tid = out.readline().split()
        found.setdefault(name, []).append(int(tid))
    return found


if os.geteuid() != 0:
    skip("needs root")
if len(os.sched_getaffinity(0)) < 2:
    skip("needs a second CPU, for kontend")
p = subprocess.Popen([program, case], stdout=subprocess.PIPE, text=True)
try:
    threads = read_threads(p.stdout, {"convoy": 9, "inversion": 3}.get(case, 4))
    for _ in range(TRIES):  # what of it is in flight when a look is taken is chance
        found = list(CASES[case](look(p.pid), threads))
        if all(good for _, good in found):
            break
    for what, good in found:
        print(what, "yes" if good else "no")
        check(good, f"{case}: {what}")
finally:
    p.kill()
    p.wait()
done()
