#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""test-mmap-paths.py KONTEND

Page faults that take the mmap_lock, by the count of the kernel's own event, and by what kontend sees of
them: how often the lock was held that was got by a fault of the kernel's access is the number of pages.
The same recording by call path, by process and as OpenMetrics has the same sums.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

from checks import check, done, failed, skip

kontend = sys.argv[1]
PAGES, COUNTED = 2048, 2048  # touched by the run; by that in which the lock is counted
SLACK = 0.02                 # this kernel may drop a record in a hundred, unseen
TRIES = 5


def run(*args):
    p = subprocess.run([kontend, *args], text=True, capture_output=True)
    if p.returncode:
        print("FAIL", args, p.returncode, p.stderr)
        sys.exit(1)
    return p.stdout


def fault(mode):
    return ["bench", "page-fault", "--mode", mode, "-t", "1", "-n", "1",
            "--size", str(PAGES * os.sysconf("SC_PAGESIZE"))]


def taken(mode):
    figures = json.loads(run(*fault(mode), "-j"))["figures"]
    return [f["value"] for f in figures if f["metric"] in ("mmap_lock_read", "mmap_lock_write")]


def modes():
    """What each mode takes for a page; the first page of a mapping that grows is there already."""
    least = 1 - 1 / PAGES - 1e-9
    # Before, a stack grew while its lock was had for reading.
    grows = least if tuple(map(int, re.findall(r"\d+", os.uname().release)[:2])) >= (6, 5) else 0
    for mode, reads, writes in (("kernel", least, 0), ("fresh", least, 0), ("growsdown", least, grows)):
        got = taken(mode)
        if None in got:
            skip("acquisitions of mmap_locks cannot be counted here")
        print(mode, "takes it", got, "times a page")
        check(got[0] >= reads and got[1] >= writes, "%s takes it %s times a page" % (mode, got))
        check(got[0] < 2.1 and got[1] < 1.1, "%s takes it %s times a page" % (mode, got))


def rows(path, by):
    report = json.loads(run("report", "-i", path, "--view", "mmap", "--by", by, "-n", "0",
                            "--format", "json"))
    lost = report["source"]["lost"] + report["source"]["dropped"]
    return report["views"]["mmap"], lost


def held(view):
    return (sum(r["held"] or 0 for r in view["rows"]),
            sum(r["hold_total_ns"] or 0 for r in view["rows"]))


def metrics(path):
    text = run("export", "-i", path, "--format", "openmetrics")
    found = re.findall(r"^kontend_mmap_lock_hold_seconds_(count|sum)\{[^}]*\} (\S+)$", text, re.M)
    return (sum(int(v) for k, v in found if k == "count"),
            round(sum(float(v) for k, v in found if k == "sum") * 1e9))


def compare(path):
    """False: records were lost, or the kernel does not report acquisitions."""
    paths, lost = rows(path, "stack")
    if paths["level"]["missing"]:
        skip(paths["level"]["missing"])
    if lost:
        return False
    check(paths["level"]["paths"], "call paths were not measured")
    # A fault of the kernel's own access: outside of it is the system call that writes.
    faults = sum(r["held"] for r in paths["rows"]
                 if r["mode"] == "R" and re.search(r"getcpu", r["stack"] or ""))
    truth = PAGES + COUNTED
    print("faults that held it:", faults, "of", truth)
    # One more per page if the trylock is repeated, which depends on the machine.
    check(any(t * (1 - SLACK) <= faults <= t * (1 + SLACK) for t in (truth, truth + PAGES)),
          "%d faults of system calls held it, of %d" % (faults, truth))
    by_process, _ = rows(path, "process")
    check(held(paths) == held(by_process), "by call path %s, by process %s" %
          (held(paths), held(by_process)))
    by_memcg, _ = rows(path, "memcg")
    check(held(by_memcg) == held(by_process), "by memcg %s, by process %s" %
          (held(by_memcg), held(by_process)))
    of_bars = sum(b["waits"] for h in by_memcg["histograms"] for b in h["held"]["bars"])
    check(of_bars == held(by_memcg)[0], "bars have %d, the table %s" % (of_bars, held(by_memcg)))
    check(metrics(path) == held(by_process), "OpenMetrics has %s, the table %s" %
          (metrics(path), held(by_process)))
    return True


def main():
    if os.geteuid() != 0:
        skip("needs root")
    modes()
    with tempfile.TemporaryDirectory(prefix="kontend-paths-") as d:
        path = os.path.join(d, "data")
        for _ in range(TRIES):
            run("record", "-q", "-m", "2048", "--mmap", "all,paths", "-o", path, "--", kontend,
                *fault("kernel"))
            if compare(path):
                break
        else:
            skip("records were lost in each of %d runs" % TRIES)
    print(failed(), "failures")
    done()


main()
