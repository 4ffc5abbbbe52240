#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The same filter means the same waits in every verb: so many, so long together. Asked of a recording whose names
become known when all waits have ended, and of the one that comes with kontend.
Called as: filters.py KONTEND MAKE-RECORDING STORM"""
import json
import os
import re
import subprocess
import sys
import tempfile

kontend, make, storm = (os.path.realpath(a) for a in sys.argv[1:4])
here = os.path.dirname(os.path.realpath(__file__))
wrong = 0


def run(*args, reader=None, text=True):
    p = subprocess.run([reader or kontend, *args], capture_output=True, text=text, check=False)
    if p.returncode:
        raise SystemExit(f"{args}: exit {p.returncode}: {p.stderr}")
    return p.stdout


def verb(name, *args):
    return run(name, "-q", "--no-config", *args)


def of_report(file, only, view="overview"):
    """Waits that have ended: tables of locks have those in flight, too."""
    shown = view if view == "overview" else "overview," + view
    views = json.loads(verb("report", "-j", "--view", shown, "-n", "0", "-i", file, *only))["views"]
    overview = views["overview"]
    if view == "overview":
        return overview["contended"], overview["total_ns"]
    rows = views[view]["rows"]
    return sum(r["contended"] for r in rows), sum(r["total_ns"] for r in rows) - overview["inflight_ns"]


def of_script(file, only):
    lines = [json.loads(line) for line in verb("script", "--format", "json", "-i", file, *only).splitlines()]
    ends = [e for e in lines if e.get("event") == "end" and not e["doubtful"] and e["ret"] == 0]
    return len(ends), sum(e["wait_ns"] for e in ends)


def of_heat(file, only):
    heat = json.loads(verb("report", "-j", "--view", "heat", "-i", file, *only))["views"]["heat"]
    assert sum(r["contended"] for r in heat["rows"]) == heat["waits"] and heat["missing_waits"] == 0
    return heat["waits"], heat["wait_ns"]


def of_cut(file, only):
    if os.path.exists("cut"):
        os.unlink("cut")
    run("cut", "-q", file, "-o", "cut", *only)
    again, alone = of_report("cut", only), of_report("cut", [])
    assert again == alone, f"{only}: of what was cut {alone}, and with the filter again {again}"
    return alone


def of_trace(form):
    def of(file, only):
        verb("export", "--format", form, "-o", "trace", "-i", file, *only)
        said = dict(line.split(" ", 1) for line in run(f"{here}/traces.py", form, "trace", reader=sys.executable)
                    .splitlines() if not line.startswith(("lock", "thread")))
        return int(said["waits"]), int(said["ns"])
    return of


def of_folded(file, only):
    lines = verb("export", "--format", "folded", "--weight", "wait", "-i", file, *only).splitlines()
    return None, sum(int(line.rsplit(" ", 1)[1]) for line in lines if "still waiting]" not in line)


def of_pprof(file, only):
    verb("export", "--format", "pprof", "--weight", "wait", "-o", "profile", "-i", file, *only)
    said = run(f"{here}/pprof.py", "profile", "contentions/count", "delay/nanoseconds", reader=sys.executable)
    return tuple(int(line.split()[1]) for line in said.splitlines()[:2])


def of_openmetrics(file, only):
    text = verb("export", "--format", "openmetrics", "-i", file, *only)
    return sum(int(n) for n in re.findall(r"^kontend_lock_wait_seconds_count\{.*\} (\d+)", text, re.M)), None


def of_rows(file, only):
    rows = [json.loads(line) for line in verb("export", "--format", "ndjson", "-i", file, *only).splitlines()]
    parts = [r for r in rows if r["table"] == "parts"]
    return sum(r["contended"] for r in parts), sum(r["total_ns"] for r in parts)


def of_merge(file, only):
    if {"-p", "-t", "-C"} & set(only):
        return None, None  # numbers of one machine say nothing about others: it has no such option
    m = json.loads(verb("merge", "--format", "json", file, *only))
    return m["contended"], m["total_ns"]


def of_diff(file, only):
    d = json.loads(verb("diff", "--format", "json", file, file, *only))
    assert d["a"]["contended"] == d["b"]["contended"]
    return d["b"]["contended"], d["b"]["total_ns"]


def of_screen(file, only):
    verb("screenshot", file, "-o", "screen.txt", "--size", "200x30", "--keys", "1", *only)
    with open("screen.txt", encoding="utf-8") as f:
        shown = re.search(r"(?:only|filter)? ?(\d+) of (\d+) waits", f.read())
    return (int(shown[1]), None) if shown else None


verbs = {"report by lock": lambda f, o: of_report(f, o, "locks"), "heat map": of_heat, "script": of_script, "cut": of_cut,
         "perfetto": of_trace("perfetto"), "firefox": of_trace("firefox"), "folded": of_folded,
         "pprof": of_pprof, "openmetrics": of_openmetrics, "ndjson": of_rows, "merge": of_merge, "diff": of_diff}
no_proto = subprocess.run([kontend, "export", "-q", storm, "--format", "perfetto", "-o", "/dev/null"],
                          capture_output=True, text=True, check=False)
if "built without libprotobuf-c" in no_proto.stderr:
    del verbs["perfetto"], verbs["pprof"]

# Filters, and so many waits as there are by how the recording is made (None: some, and not all).
LATE = [(["--lock", "/srv/late"], 80), (["--lock", "pipe->mutex"], 40), (["--lock", "pipe_write"], 80),
        (["--lock", "0xffff888000001000"], 80), (["--lock", "spinlock"], 40), (["--caller", "pipe_read"], None),
        (["--stack", "vfs_write"], None), (["-p", "70"], 200), (["-t", "71,73"], 100), (["-C", "0,2"], 100),
        (["-G", "/late.slice"], 200), (["--min-wait", "300us"], None),
        (["--lock", "/srv/late", "--caller", "pipe_write", "-t", "71", "--min-wait", "200us"], None)]
STORM = [(["--lock", name], None) for name in ("mmap_lock", "/demo", "pipe", "i_rwsem", "shmem_file_write")]
STORM += [(["--caller", "pipe_write"], None), (["--stack", "ksys_write"], None), (["-C", "0"], None),
          (["--lock", "pipe", "--min-wait", "3us"], None)]

with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    subprocess.run([make, work], check=True)
    for file, filters in (("late.data", LATE), (storm, STORM)):
        whole = of_report(file, [])
        for only, there in filters:
            want = of_report(file, only)
            if want[0] != there if there else not 0 < want[0] < whole[0]:
                print(f"{file} {only}: {want[0]} of {whole[0]} waits, wanted {there or 'some'}")
                wrong = 1
            for name, of in verbs.items():
                n, ns = of(file, only)
                if n not in (None, want[0]) or ns not in (None, want[1]):
                    print(f"{file} {only}: {name} has {n} waits of {ns} ns, report {want[0]} of {want[1]} ns")
                    wrong = 1
sys.exit(wrong)
