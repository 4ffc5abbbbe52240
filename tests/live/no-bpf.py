# SPDX-License-Identifier: GPL-2.0-only
"""no-bpf.py REPORT WORD: all views of a report that was made without BPF say what they lack, and
why, in a sentence with WORD in it. With the word mmap: one of all acquisitions of mmap_locks."""
import json
import sys

# These are measured by BPF only; a view may lack more.
LACKS = {
    "locks": ["names", "holders"],
    "waiters": ["names", "holders", "places"],
    "slots": ["registers"],
    "holders": ["events"],
    "contexts": ["contexts"],
    "events": ["events"],
    "uprobes": ["perf", "links"],
    "xol": ["used", "tasks"],
    "uptasks": ["tasks"],
}
VIEWS = ["overview", "mmap", "rotation", "upprocs", "upwaits", "hot", "tree", "hist", *LACKS]
FILES = ["flock", "posix", "lease"]
failures = 0


def in_proc(row):
    """/proc has locks of files and of programs, with their names and owners."""
    return row["type"] in FILES or row["type"].endswith("(u)")


def check(good, message):
    global failures
    if not good:
        print("FAIL", message)
        failures += 1


def check_lack(name, view, word):
    lost = [key for key in LACKS[name] if key not in view["missing"]]
    check(not lost, f"{name} does not say that it lacks {lost}")
    check(word in (view["reason"] or ""), f"{name} has the reason {view['reason']!r}")


def check_locks(views):
    rows = views["locks"]["rows"]
    check(any(row["kind"] == "rwsem:W" for row in rows), "no reader-writer semaphore is in locks")
    check(all(row["name"] for row in rows), "a lock has not even an address")
    check(any(row["object"] == "file" for row in rows), "no lock of a file, from /proc/locks, is in locks")
    named = [row for row in rows if row["object"] is not None and not in_proc(row)]
    check(not named, f"locks say what they belong to: {named[:1]}")
    held = [row for row in views["waiters"]["rows"] if row["owner_tid"] is not None and not in_proc(row)]
    check(not held, f"waiters say who holds locks: {held[:1]}")
    check(views["tree"]["nodes"], "the call tree is empty")
    check(views["hist"]["waits"] > 0, "the histogram is empty")
    check(views["overview"]["contended"] > 0, "the overview has no contention")


def check_all(views, word):
    gone = [name for name in VIEWS if name not in views]
    check(not gone, f"views {gone} are not in the report")
    if gone:
        return
    for name in LACKS:
        check_lack(name, views[name], word)
    check(word in (views["mmap"]["none"] or ""), f"mmap says {views['mmap']['none']!r}")
    turns = views["rotation"]
    check(turns["rows"] or turns["rotation"]["none"], "rotation does not say why it is empty")
    check(views["slots"]["rows"], "no CPU is in slots: probing tells how many there are")
    check(views["hot"]["samples"] > 0, "hot has no samples")
    check_locks(views)


def check_mmap(view):
    if view["level"]["missing"]:
        print("not tried: --mmap all:", view["level"]["missing"])
        return
    check(view["none"] is None, f"mmap says {view['none']!r} with all acquisitions")
    check(any(row["pid"] and row["acquired"] for row in view["rows"]), "no process is in mmap")


report = json.load(open(sys.argv[1], encoding="utf-8"))
if sys.argv[2] == "mmap":
    check_mmap(report["views"]["mmap"])
else:
    check_all(report["views"], sys.argv[2])
sys.exit(failures > 0)
