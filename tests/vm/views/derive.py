#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What works on a kernel, from the reports that guest/views.sh made there of known work: a line a view, with "works",
"part" or "no", and what is missing or why. Compares it with the lines that are kept of this kernel in this folder, or
with UPDATE=1 keeps them. Called as: derive.py FOLDER"""
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
BREAKPOINT = 5  # PERF_TYPE_BREAKPOINT


class Reports:
    """Those of a folder. A report that was not made has no views."""

    def __init__(self, folder):
        self.folder, self.read = folder, {}

    def text(self, name):
        try:
            with open(os.path.join(self.folder, name), encoding="utf-8", errors="replace") as f:
                return f.read().strip()
        except FileNotFoundError:
            return ""

    def report(self, name):
        if name not in self.read:
            text = self.text(name + ".json")
            self.read[name] = json.loads(text) if text else {"views": {}}
        return self.read[name]

    def view(self, name, view):
        return self.report(name)["views"].get(view, {})

    def rows(self, report, view, **wanted):
        return [r for r in self.view(report, view).get("rows", ()) if all(r.get(k) == v for k, v in wanted.items())]

    def elsewhere(self, report, key):
        """A figure of what has no events of locks."""
        return self.view(report, "overview").get("elsewhere", {}).get(key)

    def why_none(self, name, view):
        """In the words of the report, or of the program that did not make it."""
        v = self.view(name, view)
        more = v.get(view) if isinstance(v.get(view), dict) else {}
        for where in (v, more):
            for key in ("none", "reason"):
                if isinstance(where.get(key), str):
                    return where[key]
        return self.text(name + ".error").split("\n")[0] or "the report has none of it"

    def kernel(self):
        source = self.report("work")["source"]
        version = re.match(r"\d+\.\d+", source["kernel"])[0]
        realtime = "-rt" if re.search(r"\brt\b|-rt", source["kernel"]) else ""
        return "%s%s-%s" % (version, realtime, source["machine"])


def parts(found, wanted):
    """Of several things, those that are missing."""
    missing = [w for w in wanted if w not in found]
    if not missing:
        return "works", ""
    return ("no" if len(missing) == len(wanted) else "part"), "without " + ", ".join(missing)


def one(rows, r, name, view):
    return ("works", "") if rows else ("no", r.why_none(name, view))


def kinds(r, name):
    found = {row["kind"] for row in r.rows(name, "locks")}
    # On PREEMPT_RT they are of other types (live_is_rt()); a writer who finds another one there waits for an rt-mutex.
    same = {"rt-mutex": {"mutex", "rwsem:W"}, "rwlock-rt:W": {"rwsem:W"}, "rwlock-rt:R": {"rwsem:R"}}
    return found.union(*[same[k] for k in found if k in same])


def waits(r):
    return parts(kinds(r, "work"), ("mutex", "rwsem:R", "rwsem:W"))


def waits_bare(r):
    return parts(kinds(r, "bare"), ("mutex", "rwsem:R", "rwsem:W"))


def waiters(r):
    found = set()
    for row in r.rows("turns", "waiters", comm="turns", kind=row_kind(r)):
        found |= {k for k in ("stack", "syscall", "on") if row[k]}
    return parts(found, ("stack", "syscall", "on"))


def row_kind(r):
    """Of the lock of a file, that a writer waits for: on PREEMPT_RT an rt-mutex."""
    kinds = [row["kind"] for row in r.rows("turns", "waiters", comm="turns") if "file" in (row["name"] or "")]
    return kinds[0] if kinds else "rwsem:W"


def holders(r):
    rows = r.rows("turns", "waiters", comm="turns", owner_comm="turns", kind=row_kind(r))
    sure = [row for row in rows if row["owner_certainty"] == "sure"]
    if len(sure) >= 3:
        return "works", ""
    return "part" if rows else "no", "%d of 5 waits have a sure one" % len(sure)


def places(r):
    return one([row for row in r.rows("work", "locks") if re.match(r"storm[+]|gate\.c:|story\.c:", row["at"] or "")], r,
               "work", "locks")


def names(r):
    found, wanted = [], []
    for kind in ("folder", "closed", "epoll", "pipe", "position"):
        patterns = r.text("name-%s.wanted" % kind).split("\n")
        wanted.append(kind)
        if patterns[0] and any(re.search(patterns[0], row["name"] or "") for row in r.rows("name-" + kind, "locks")):
            found.append(kind)
    return parts(found, wanted)


def chains(r):
    rows = [row for row in r.rows("turns", "chains", comm="turns", row="root") if row["behind"] >= 3]
    return one(rows, r, "turns", "chains")


def blame(r):
    return one([row for row in r.rows("turns", "blame", comm="turns") if row["waited_ns"] > 0], r, "turns", "blame")


def did(r):
    rows = [row for row in r.rows("turns", "blame", comm="turns") if row["mostly_what"] == "userfaultfd"]
    return one(rows, r, "turns", "blame")


def held(r):
    v = r.view("turns", "blame").get("held", {})
    if not v.get("known"):
        return "no", r.why_none("turns", "blame")
    if v["exact"]:
        return "works", ""
    return "part", "hold times are upper bounds, as the kernel reports no releases"


def queues(r):
    rows = [row for row in r.rows("turns", "queues") if row["convoys"] and row["handed"] >= 3]
    return one(rows, r, "turns", "queues")


def heat(r):
    return one(r.rows("work", "heat"), r, "work", "heat")


def mmap(r):
    level = r.view("work", "mmap").get("level", {})
    if level.get("missing"):
        return "part", level["missing"]
    return one([row for row in r.rows("work", "mmap", comm="storm") if row["hold_p50_ns"]], r, "work", "mmap")


def user_locks(r):
    reason = r.elsewhere("work", "futex_reason")
    if reason:
        return "no", reason
    rows = [row for row in r.rows("work", "locks") if row["kind"].split(":")[0].endswith("(u)")]
    found = {row["kind"] for row in rows}
    if any(row["mostly_held_by"] for row in rows):
        found.add("holders")
    return parts(found, ("mutex(u)", "pi(u)", "rwlock(u):W", "holders"))


def file_locks(r):
    rows = [row for row in r.rows("work", "locks", kind="flock:W") if "/locked/lock-" in (row["path"] or "")]
    found = {"waits"} if rows else set()
    if any((row["mostly_held_by"] or "").startswith("flock-") for row in rows):
        found.add("holders")
    return parts(found, ("waits", "holders"))


def holds(name, comm, taken_in):
    """Of the task, or of the lock, and with the function that called for it."""
    def of(r):
        if not r.view(name, "holds") or r.view(name, "holds").get("none"):
            return "no", r.why_none(name, "holds")
        rows = r.rows(name, "holdtasks", comm=comm) if comm else r.rows(name, "holds", name="cgroup_mutex")
        found = {"holds"} if any(row["holds"] >= 3 for row in rows) else set()
        if any(re.search(taken_in, row["taken_in"]) for row in r.rows(name, "holdchains")):
            found.add("the caller")
        return parts(found, ("holds", "the caller"))
    return of


def blocked(r):
    rows = [row for row in r.rows("blocked", "blocked") if (row["cause"] or "").startswith("userfault")]
    found = {"cause"} if rows else set()
    found |= {key for key in ("on", "stack") if any(row[key] for row in rows)}
    return parts(found, ("cause", "on", "stack"))


def sleeps(r):
    reason = r.elsewhere("sleeps", "sleeps_reason")
    if reason:
        return "no", reason
    return one([row for row in r.rows("sleeps", "blocked") if row["sleeps"]], r, "sleeps", "blocked")


def why(r):
    return one([row for row in r.rows("why", "why", does="blocked") if (row["why"] or "").startswith("userfault") and
                (row["ended_by"] or "").startswith("turns/")], r, "why", "why")


def slots(r):
    found = {"counts"} if any(row["used"] for row in r.rows("slots", "slots")) else set()
    if r.rows("slots", "holders", comm="bp-holder"):
        found.add("holders")
    return parts(found, ("counts", "holders"))


def creations(r):
    rows = [row for row in r.rows("creations", "creations", comm="bp-create") if row["opened"] and row["opened"] >= 20]
    found = {"creations"} if rows else set()
    if any(row["refused"] == 1 for row in rows):
        found.add("refused ones")
    return parts(found, ("creations", "refused ones"))


def contexts(r):
    return one(r.rows("slots", "contexts"), r, "slots", "contexts")


def events(r):
    return one([row for row in r.rows("slots", "events") if row["type"] == BREAKPOINT], r, "slots", "events")


def rotation(r):
    return one([row for row in r.rows("rotation", "rotation") if row.get("rotations")], r, "rotation", "rotation")


def uprobes(r):
    return one([row for row in r.rows("probes", "uprobes") if row.get("hits") == 100], r, "probes", "uprobes")


def xol(r):
    return one([row for row in r.rows("probes", "xol", comm="up-work") if row["max_used"] == 3], r, "probes", "xol")


def hot(r):
    return one([row for row in r.rows("hot", "hot") if row["symbol"]], r, "hot", "hot")


VIEWS = (
    ("locks", waits),
    ("locks, by perf's events", waits_bare),
    ("waiters", waiters),
    ("names of locks", names),
    ("places in programs", places),
    ("holders of locks", holders),
    ("chains", chains),
    ("blame", blame),
    ("did", did),
    ("held", held),
    ("queues", queues),
    ("heat", heat),
    ("mmap", mmap),
    ("locks of programs", user_locks),
    ("locks of files", file_locks),
    ("--holds mutex", holds("holds-type", "known-holds", "^(anon_)?pipe_(write|prefill_and_lock)$")),
    ("--holds rwsem:W", holds("holds-write", "known-holds", "file_write_iter$")),
    ("--holds rwsem:R", holds("holds-read", "known-holds", "^iterate_dir$")),
    ("--holds NAME", holds("holds-name", None, "^cgroup_")),
    ("blocked", blocked),
    ("--sleeps", sleeps),
    ("why", why),
    ("slots", slots),
    ("--creations", creations),
    ("contexts", contexts),
    ("events", events),
    ("rotation", rotation),
    ("uprobes", uprobes),
    ("xol", xol),
    ("hot", hot),
)


def main(folder):
    r = Reports(folder)
    kernel = r.kernel()
    rows = ["\t".join((name, *of(r))).rstrip() for name, of in VIEWS]
    path = os.path.join(HERE, kernel + ".rows")
    if os.environ.get("UPDATE"):
        with open(path, "w", encoding="utf-8") as f:
            f.write("".join(row + "\n" for row in rows))
    try:
        with open(path, encoding="utf-8") as f:
            kept = f.read().splitlines()
    except FileNotFoundError:
        print("\n".join(rows))
        print("FAIL nothing is kept of %s: run this with UPDATE=1, then tests/man/kernels.py" % kernel)
        return 1
    differ = [(a, b) for a, b in zip(kept, rows) if a != b] or ([(kept, rows)] if len(kept) != len(rows) else [])
    for a, b in differ:
        print("FAIL kept of %s: %s, measured: %s" % (kernel, a, b))
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
