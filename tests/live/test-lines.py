#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Cases of users: the lock, the line that waits for it and, where it is known, the line where its holder
is; in reports, and on the first screen of a recording at 80x24. The lines are those with comments in the
source of the program.

    test-lines.py KONTEND PROGRAM SOURCE CASE"""
import json
import os
import re
import subprocess
import sys
import tempfile

from checks import check, done, skip

kontend, program, source, case = sys.argv[1:]
TRIES = 4
SECONDS = "3s"
MEASURED = ("-F", "997", "--duration", SECONDS)


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
    return json.loads(run("report", "-q", "--format", "json", "--view", "overview,locks,waiters,blame",
                          *MEASURED, "-p", str(pid)))["views"]


def screen(pid):
    """What a user sees first, without a key."""
    with tempfile.TemporaryDirectory(prefix="kontend-lines-") as folder:
        path = os.path.join(folder, "k.data")
        run("record", "-q", "-o", path, *MEASURED, "-p", str(pid))
        return run("screenshot", "-q", "--no-config", "-i", path, "--size", "80x24")


def rows(views, view, **of):
    return [r for r in views[view]["rows"] if all(r[k] == v for k, v in of.items())]


def at(found, comment):
    return [r for r in found if (r["at"] or "").startswith(lines(comment))]


def finding(views, *rules):
    return [f for f in views["overview"]["verdict"]["findings"] if f["rule"] in rules]


def is_at(f, key, *comments):
    return (f[key] or "").startswith(tuple(a for c in comments for a in lines(c)))


def shows(shot, head, *comments):
    """A line of the screen has that, and one of the lines of the source after it."""
    places = "|".join(re.escape(a) for c in comments for a in lines(c))
    return any(re.search(f"{head}({places})", line) for line in shot.splitlines())


def convoy(views, shot, tids):
    both = "reader waits", "writer waits"
    for call, comment in ("mincore", both[0]), ("madvise", both[1]):
        found = rows(views, "locks", type="rwsem", syscall=call)
        yield f"a row of {call}", [r for r in found if r["name"].startswith("mmap_lock lines")]
        yield f"the line of {call}", at(found, comment)
    found = finding(views, "wait", "longest")
    yield "the line in the verdict", [f for f in found if is_at(f, "at", *both)]
    yield "that of holders, too", [f for f in found if is_at(f, "owner_at", *both)]
    yield "on the screen", shows(shot, "waited at ", *both)
    yield "both", shows(shot, "holder at ", *both)


def owned(views, shot, lock, waiter, owner, comment, waits_at):
    found = [r for r in views["waiters"]["rows"] if r["name"].startswith(lock + " ")]
    yield "waiters", found
    yield "the line that waits", at(found, waits_at)
    yield "only those that wait", all(r["tid"] in tids_of(waiter) for r in found)
    yield "the owner", all(r["owner_tid"] in tids_of(owner) for r in found if r["owner_tid"])
    yield "the line of the owner", [r for r in found if (r["owner_at"] or "").startswith(lines(comment))]
    yield "its stack", [r for r in found if r["owner_stack"]]
    yield "both in the verdict", [f for f in finding(views, "user", "longest", "inversion")
                                  if is_at(f, "at", waits_at) and is_at(f, "owner_at", comment)]
    yield "the one that waits on the screen", shows(shot, "waited at ", waits_at)
    yield "the owner's on the screen", shows(shot, "holder at ", comment)


def mutex(views, shot, tids):
    yield from owned(views, shot, "table", "reader", "writer", "holder sleeps", "waits for the mutex")


def unnamed(views, shot, tids):
    found = [r for r in rows(views, "locks", type="futex(u)") if r["caller"] == "log_line"]
    yield "a row by the place", [r for r in found if "stdio in log_line" in r["name"]]
    yield "its line", at(found, "unnamed")
    waits = rows(views, "waiters", type="futex(u)")
    now = [r for r in waits if not r["ended"]]
    yield "its waiters", now
    yield "the line of each", len(at(now, "unnamed")) == len(now)
    yield "the line of those before, or why not", all(at([r], "unnamed") or r["at_reason"] == NOT_READ for r in waits)
    yield "its owner is not made up", not any(r["owner_certainty"] == "sure" for r in waits)
    yield "the line in the verdict", [f for f in finding(views, "user", "longest") if is_at(f, "at", "unnamed")]
    yield "on the screen", shows(shot, "waited at ", "unnamed")


def inversion(views, shot, tids):
    low, high, middle = tids["sdo"][0], tids["pdo"][0], tids["camera"][0]
    text = (f"priority inversion: FIFO 80 pdo/{high} waits for NORMAL sdo/{low}, "
            f"kept off by FIFO 50 camera/{middle}; not inherited")
    yield text, [f for f in finding(views, "inversion") if f["text"] == text]
    yield "it is on the screen", "priority inversion: FIFO 80 pdo/" in shot
    yield from owned(views, shot, "bus", "pdo", "sdo", "holder is kept off", "important waits")


def spin(views, shot, tids):
    found = finding(views, "spin")
    yield "a finding", found
    yield "the line that spins", [f for f in found if f["text"].startswith(lines("spins"))]
    yield "the process", [f for f in found if re.search(r" threads of lines/\d+$", f["text"])]
    yield "the line that is kept off", [f for f in found if any(" in " + a in f["because"] for a in lines("works"))]
    yield "only its threads", all(int(re.search(r"kept backend/(\d+) off", f["because"])[1]) in tids["backend"]
                                  for f in found)
    yield "the one that spins on the screen", shows(shot, "LOOK ", "spins")
    yield "the one that is kept off, too", shows(shot, "evidence: .* in ", "works")


def compute(views, shot, tids):
    yield "no finding", not finding(views, "spin")
    yield "none on the screen", "evidence: " not in shot


CASES = {"convoy": convoy, "mutex": mutex, "unnamed": unnamed, "inversion": inversion, "spin": spin,
         "compute": compute}
THREADS = {"convoy": 9, "mutex": 4, "unnamed": 4, "inversion": 3, "spin": 3, "compute": 3}


NOT_READ = "[caller not read yet]"  # at first


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
    threads = read_threads(p.stdout, THREADS[case])
    for _ in range(TRIES):  # what of it is in flight when a look is taken is chance
        shot = screen(p.pid)
        found = list(CASES[case](look(p.pid), shot, threads))
        if all(good for _, good in found):
            break
    for what, good in found:
        print(what, "yes" if good else "no")
        check(good, f"{case}: {what}")
    if not all(good for _, good in found):
        print(shot)
finally:
    p.kill()
    p.wait()
done()
