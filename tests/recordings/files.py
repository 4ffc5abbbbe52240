#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Files of every layout: each cut has the samples that were written, for kontend and for perf, and each file that
cannot be read is named for what it is.

    files.py KONTEND"""
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../live"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
import cases
from checks import check, done

kontend = sys.argv[1]
REFUSED = {"version-1": "version 1 (PERFFILE)", "big-endian": "the other byte order"}
# perf 6.1 refuses later records, damaged ones, tracepoints without formats, and programs of BPF that it did not see
# begin. It counts samples of a group for its members, too.
PERF_COUNTS_OTHERWISE = {"deferred-chains", "deferred-of-several", "deferred-damaged", "unknown-record", "formats-missing",
                         "group-with-values", "ksymbol-reused", "ksymbol-damaged", "simpleperf-names",
                         "simpleperf-stream", "simpleperf-lines-of-nonsense", "simpleperf-without-end",
                         "simpleperf-key-alone", "simpleperf-many"}


def run(*args):
    p = subprocess.run(args, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
    return p.returncode, p.stdout, p.stderr


def report(path, *more):
    rc, out, err = run(kontend, "report", "-q", "--no-config", "-i", path, "--view", "hot", "--format", "json", *more)
    return json.loads(out) if check(rc == 0, "%s: status %d: %s" % (path, rc, err)) else None


def check_cut(name, path, truth, folder):
    cut = os.path.join(folder, name + ".cut")
    rc, _, err = run(kontend, "cut", "-q", path, "-o", cut)
    if not check(rc == 0, "%s: cut: status %d: %s" % (name, rc, err)):
        return
    j = report(cut)
    if not j:
        return
    mine = [(e["name"], e["samples"], e["decoded"]) for e in j["events"]]
    wanted = [(e["name"], e["samples"], e["decoded"]) for e in truth["events"]]
    check(mine == wanted, "%s: the cut has %s, written %s" % (name, mine, wanted))
    if not shutil.which("perf") or name in PERF_COUNTS_OTHERWISE:
        return
    _, out, err = run("perf", "report", "--stdio", "-i", cut)
    found = re.findall(r"^# Samples: (\d+) +of event '([^']*)'", out, re.M)
    perf = sum(int(n) for n, event in found if event != "kontend")
    check(perf == sum(e["samples"] for e in truth["events"]),
          "%s: perf finds %d samples in the cut: %s" % (name, perf, err))


def check_shares(name, path, truth):
    """Shares by address against perf's samples: both leave out names, since perf takes those of the running kernel."""
    if not shutil.which("perf") or truth["damage"] or name in PERF_COUNTS_OTHERWISE:
        return 0
    j = report(path)
    shown = {e["name"] for e in j["events"] if e["shown"]} if j else set()
    _, out, _ = run("perf", "script", "-F", "event,ip,period", "-i", path)
    sums = {}
    for period, event, ip in re.findall(r"^ *(\d+) +(\S+?):[A-Za-z]*:? +([0-9a-f]+)", out, re.M):
        if event in shown:
            sums["0x" + ip] = sums.get("0x" + ip, 0) + int(period)
    rows = {row["symbol"]: row["pct"] for row in j["views"]["hot"]["rows"]} if sums else {}
    if not rows or not all(symbol.startswith("0x") for symbol in rows):
        return 0
    for ip in rows.keys() | sums.keys():
        mine, perf = rows.get(ip, 0), sums.get(ip, 0) / sum(sums.values()) * 100
        check(abs(mine - perf) <= 0.1, "%s: %s has %.2f %%, perf %.2f %%" % (name, ip, mine, perf))
    return 1


def check_formats(path):
    """Events without a format lose their fields, not the file."""
    rc, out, err = run(kontend, "report", "--no-config", "-i", path)
    sentence = "5 samples of lock:contention_begin cannot be decoded: the recording has no format of this event"
    check(rc == 0 and sentence in err and "# damage: " + sentence in out and "it is cut" not in err,
          "formats-missing: status %d: %s%s" % (rc, out, err))
    check("lock:contention_begin 5 (not decoded: no format)" in out and "31 samples of cycles" in out
          and "the lock events of this file cannot be decoded" in out, "formats-missing: %s" % out)


def check_refused(name, path):
    rc, _, err = run(kontend, "report", "--no-config", "-i", path)
    check(rc == 1 and REFUSED[name] in err, "%s: status %d: %s" % (name, rc, err))
    with open(path, "rb") as f:
        p = subprocess.run([kontend, "replay", "--no-config", "-"], stdin=f, capture_output=True, text=True, timeout=60,
                           check=False)
    check(p.returncode != 0, "%s: replay reads it" % name)
    rc, _, err = run(kontend, "recover", path, "-o", path + ".new")
    check(rc != 0 and REFUSED[name] in err, "%s: recover: status %d: %s" % (name, rc, err))


def check_kcore(path):
    """Instructions of the recorded kernel, from the copy of its memory."""
    j = report(path, "--annotate", "spin_somewhere")
    code = j["views"]["annotate"] if j else {}
    texts = [line["text"].split() for line in code.get("lines", [])]
    if not code or "No disassembler" in (code["reason"] or ""):
        return
    check(texts == [["pause"], ["jmp", "+0x0"]] and not code["live"] and code["source"] == "kcore of the recording" and
          code["samples"] == 4, "kcore: %s" % code)
    shot = run(kontend, "screenshot", "-q", "--no-config", "--size", "100x24", "--format", "text", "--view", "hot",
               "--keys", "/ s p i n Enter a", path)[1]
    check("pause" in shot and "kcore of the recording" in shot, "kcore: no code on the screen: %s" % shot)
    j = report(path, "--annotate", "wait_elsewhere")
    check(j and "kcore of the recording: " in j["views"]["annotate"]["reason"], "kcore: code beyond its end: %s" % j)
    kcore = os.path.join(path, "kcore_dir/kcore")
    with open(kcore, "r+b") as f:
        f.truncate(100)
    j = report(path, "--annotate", "spin_somewhere")
    check(j and j["views"]["annotate"]["reason"] and j["views"]["annotate"]["samples"] == 4, "a damaged kcore: %s" % j)


def check_folders(made):
    """Files of threads are merged, and kcore_dir/kallsyms has the names."""
    j = report(made["folder-with-kcore"][0])
    names = {row["symbol"]: row["samples"] for row in j["views"]["hot"]["rows"]} if j else None
    check(names == {"spin_somewhere": 4, "wait_elsewhere": 6}, "folder-with-kcore: %s" % names)
    check_kcore(made["folder-with-kcore"][0])
    path = made["folder-of-threads"][0]
    rc, _, err = run(kontend, "report", "--no-config", "--no-sandbox", "-i", path)
    check(rc == 0, "folder-of-threads without the sandbox: status %d: %s" % (rc, err))
    with open(os.path.join(path, "data.1"), "r+b") as f:
        f.write(b"\x51\0\0\0")
    rc, _, err = run(kontend, "report", "--no-config", "-i", path)
    check(rc == 1 and "record without -z" in err, "threads with -z: status %d: %s" % (rc, err))
    with open(os.path.join(path, "data.0"), "wb") as f:
        f.truncate(241 << 20)
    rc, _, err = run(kontend, "report", "--no-config", "-i", path)
    check(rc == 1 and "more than 240 MiB" in err, "long files of threads: status %d: %s" % (rc, err))
    os.remove(os.path.join(path, "data.0"))
    os.rename(os.path.join(path, "data.1"), os.path.join(path, "data.0"))
    with open(os.path.join(path, "data"), "r+b") as f:
        f.truncate(1 << 40)
    rc, _, err = run(kontend, "report", "--no-config", "-i", path)
    check(rc == 1 and "more than 240 MiB" in err, "a long 'data' beside files of threads: status %d: %s" % (rc, err))
    os.remove(os.path.join(path, "data"))
    rc, _, err = run(kontend, "report", "--no-config", "-i", path)
    check(rc == 1 and "Is a directory" in err, "a folder: status %d: %s" % (rc, err))


def check_gzip(path, folder):
    with open(path, "rb") as f:
        packed = f.read()

    def refuses(data, sentence):
        broken = os.path.join(folder, "broken.gz")
        with open(broken, "wb") as f:
            f.write(data)
        rc, _, err = run(kontend, "report", "--no-config", "-i", broken)
        check(rc == 1 and sentence in err, "%s: status %d: %s" % (sentence, rc, err))
        p = piped(data)
        check(p.returncode == 1 and sentence in p.stderr.decode(), "%s by a pipe: status %d: %s" %
              (sentence, p.returncode, p.stderr))

    def piped(data, *more):
        """Through a pipe: not from a file, which can be read twice."""
        return subprocess.run((kontend, "report", "--no-config", "--view", "hot", "-i", "-") + more, input=data,
                              capture_output=True, check=False)

    of_file = run(kontend, "report", "--no-config", "--view", "hot", "-i", path)
    for more in ((), ("--no-sandbox",)):
        p = piped(packed, *more)
        text = p.stdout.decode().replace("# sandbox off (--no-sandbox)\n", "")
        check((p.returncode, text) == of_file[:2], "gzip by a pipe %s: status %d, %s" %
              (more, p.returncode, p.stdout))
    refuses(packed[:40] + b"\xff" * 40 + packed[80:], "is damaged")
    zeros = gzip.compress(bytes(1 << 20))
    refuses(zeros * 1025, "more than 1024 MiB")
    refuses(zeros, "first bytes are not those of a perf.data file")
    cut = os.path.join(folder, "short.gz")
    with open(cut, "wb") as f:
        f.write(packed[:-60])
    rc, out, err = run(kontend, "report", "--no-config", "-i", cut)
    check(rc == 0 and "# damage: " in out, "short.gz: status %d: %s" % (rc, err))
    p = piped(packed[:-60])
    check(p.returncode == 0 and b"# damage: " in p.stdout, "short.gz by a pipe: status %d: %s" %
          (p.returncode, p.stderr))
    p = subprocess.run((kontend, "screenshot", "-", "-o", os.path.join(folder, "shot.txt"), "--format", "text"),
                       input=packed, capture_output=True, check=False)
    check(p.returncode == 0, "screenshot of gzip by a pipe: status %d: %s" % (p.returncode, p.stderr))


with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(2) as pool:
    made = cases.make(temporary)
    jobs = [pool.submit(check_cut, case, path, truth, temporary) for case, (path, truth) in made.items()
            if truth and case not in cases.NOT_READ]
    for job in jobs:
        job.result()
    compared = sum(check_shares(case, path, truth) for case, (path, truth) in made.items()
                   if truth and case not in cases.NOT_READ)
    check(not shutil.which("perf") or compared > 10, "shares of only %d recordings were compared" % compared)
    print("shares compared with perf: %d recordings" % compared)
    check_folders(made)
    check_gzip(made["gzipped"][0], temporary)
    check_formats(made["formats-missing"][0])
    for case in REFUSED:
        check_refused(case, made[case][0])
done()
