#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Damaged recordings as perf makes them, and recordings without lock events: notes, figures, the
verdict and the exit status of each.

    damage.py KONTEND"""
import json
import os
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../live"))
# pylint: disable=wrong-import-position
from checks import check, done

kontend = sys.argv[1]
IP_TID_TIME = 1 | 2 | 4
# cycles, 128 bytes, 4000 Hz, with the times of all records
ATTR = struct.pack("<IIQQQQQ", 0, 128, 0, 4000, IP_TID_TIME, 0, 1 << 10 | 1 << 18) + bytes(80)
SAMPLE, THROTTLE, HEADER_ATTR, COMPRESSED = 9, 5, 64, 81


def record(kind, body, misc=1):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def samples(n, begin=0):
    return b"".join(record(SAMPLE, struct.pack("<QIIQ", 0xffffffff81000000, 7, 7, 10**9 + (begin + i) * 10**6))
                    for i in range(n))


def stream(data):
    return b"PERFILE2" + struct.pack("<Q", 16) + record(HEADER_ATTR, ATTR + struct.pack("<Q", 1)) + data


def file(data, features=(), stated=None):
    bits = bytearray(32)
    for bit in features:
        bits[bit // 8] |= 1 << bit % 8
    at = 104 + 128 + 16
    head = struct.pack("<QQQQQQQQ", 104, 144, 104, 144, at, stated or len(data), 0, 0)
    end = at + len(data) + 16 * len(features)
    index = b"".join(struct.pack("<QQ", end, 4) for _ in features)
    return b"PERFILE2" + head + bytes(bits) + ATTR + bytes(16) + data + index + b"some"


ZERO = struct.pack("<IHH", SAMPLE, 0, 0)
# name: (bytes, samples that a reader gets, kinds of notes beside names, text of the first)
CASES = {
    "whole": (stream(samples(20)), 20, [], ""),
    "throttled": (stream(samples(10) + record(THROTTLE, struct.pack("<QQQIIQ", 10**9 + 10**7, 1, 1, 7, 7,
                                                                     10**9 + 10**7)) + samples(5, 11)),
                  15, [], ""),
    "size-0": (stream(samples(20) + ZERO + samples(228, 20)), 20, ["damage"], "there is no record"),
    "size-0-file": (file(samples(20) + ZERO + samples(3, 20)), 20, ["damage"], "there is no record"),
    "cut-stream": (stream(samples(20))[:-5], 19, ["damage"], "ends within a record"),
    "cut-file": (file(samples(20), stated=4000)[:-7], 19, ["damage"], "is cut at byte"),
    "zstd": (stream(samples(20) + record(COMPRESSED, b"no frame of zstd" * 2, 0) + samples(3, 20)), 20,
             ["damage"], "readable up to byte"),
    "features": (file(samples(20), (40, 63, 200)), 20, ["unknown"], "40, 63, 200"),
    "record": (stream(samples(10) + record(90, bytes(16), 0) + samples(10, 10)), 20, ["unknown"],
               "types not known"),
}


def run(*args):
    p = subprocess.run((kontend,) + args, capture_output=True, text=True, check=False)
    return p.returncode, p.stdout, p.stderr


def check_notes(name, path, j, err):
    _, _, kinds, text = CASES[name]
    notes = [n for n in j["notes"] if n["kind"] != "names"]
    check(sorted({n["kind"] for n in notes}) == kinds, "%s: notes %s" % (name, notes))
    check(not kinds or text in notes[0]["text"], "%s: first note %s" % (name, notes[:1]))
    check(kinds != ["damage"] or j["notes"][:len(notes)] == notes, "%s: names come before %s" % (name, notes))
    for line in err.splitlines():
        check(line.count(path) == 1, "%s: a message has the path %d times: %s" % (name, line.count(path), line))
    for n in j["notes"]:
        check(n["text"] in err, "%s: not on standard error: %s" % (name, n["text"]))


def check_figures(name, j):
    damaged = CASES[name][2] == ["damage"]
    source, verdict = j["source"], j["views"]["overview"]["verdict"]
    check((source["bad"] > 0) == damaged, "%s: bad %d" % (name, source["bad"]))
    check(source["at_least"] == (damaged or name == "throttled"), "%s: at_least %s" % (name, source["at_least"]))
    check(source["missing_most"] is None, "%s: waits are missing: %s" % (name, source["missing_most"]))
    check(source["no_locks"] is True, "%s: no_locks" % name)
    check(verdict["level"] == ("lost" if damaged else "none"), "%s: verdict %s" % (name, verdict))
    n = sum(row["samples"] for row in j["views"]["hot"]["rows"])
    check(n == CASES[name][1], "%s: %d samples, not %d" % (name, n, CASES[name][1]))


def check_text(name, path):
    rc, out, _ = run("report", "--no-config", "-i", path)
    check(rc == 0 and "# no lock events: this file has no lock events; it has a profile of %d samples" %
          CASES[name][1] in out, "%s: report says %s" % (name, out))
    check("# hot: %d samples" % CASES[name][1] in out, "%s: no profile in %s" % (name, out))
    check("OK " not in out and "waits are missing" not in out, "%s: report says %s" % (name, out))
    for kind in CASES[name][2]:
        check("\n# %s: " % kind in out, "%s: no %s in %s" % (name, kind, out))
    rc, out, _ = run("screenshot", "--no-config", "-i", path)
    check(rc == 0 and "in lock paths" in out, "%s: the screen has no profile: %s" % (name, out))
    check(("damaged" if CASES[name][2] == ["damage"] else "NONE this file has no lock events") in out,
          "%s: the screen says %s" % (name, out))


def check_status(name, path):
    for args in (("script",), ("export", "--format", "folded"), ("export", "--format", "openmetrics")):
        rc, _, err = run(*args, "--no-config", "-i", path)
        check(rc == 3 and "--weight samples" in err, "%s: %s: status %d, %s" % (name, args, rc, err))
    rc, out, err = run("export", "--no-config", "-i", path, "--format", "folded", "--weight", "samples")
    n = sum(int(line.rsplit(" ", 1)[1]) for line in out.splitlines())
    check(rc == 0 and n == CASES[name][1], "%s: samples: status %d, %d, %s" % (name, rc, n, err))


with tempfile.TemporaryDirectory() as work:
    for case, (data, *_) in CASES.items():
        where = os.path.join(work, case + ".data")
        with open(where, "wb") as f:
            f.write(data)
        status, text, errors = run("report", "--no-config", "-i", where, "--format", "json")
        if check(status == 0, "%s: status %d: %s" % (case, status, errors)):
            document = json.loads(text)
            check_notes(case, where, document, errors)
            check_figures(case, document)
            check_text(case, where)
            check_status(case, where)
done()
