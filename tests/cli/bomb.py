#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
A small recording that takes much memory to read. Every verb that reads it stays within a bound,
whatever the number of threads, and a signal ends it while it reads. Memory is the peak that the
kernel counted, and of time only the CPU's own is compared: with the same run to its end.
Called as: bomb.py KONTEND MAKE-BOMB
"""
import os
import signal
import subprocess
import sys
import tempfile

MOST_MB = 240  # the read-ahead's 64, the engine's 32, and the program; 131 were measured
SANITIZER_MB = 1000  # beside these: what it keeps of freed memory
LOCKS = 5  # SNAPSHOT_LOCKS
OF_EACH = 18  # of each kind: 288 MB when all are held
SNAPSHOTS = 40  # of 16 MB: 640 MB when all are held


def finished(command, folder, send=None):
    """Its status, the peak of its memory in MB, its CPU time in seconds."""
    out = open(os.path.join(folder, "out"), "w+")
    child = subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL, cwd=folder)
    if send:
        send(child.pid)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    out.close()
    return child.returncode, used.ru_maxrss / 1024, used.ru_utime + used.ru_stime


def cpu(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def term_when_it_reads(least):
    """A signal after so much CPU time: by then it reads."""
    def send(pid):
        try:
            while cpu(pid) < least:
                pass
            os.kill(pid, signal.SIGTERM)
        except (FileNotFoundError, ProcessLookupError):
            pass
    return send


def each_kind(kontend, make, folder, most, bad):
    """Snapshots of each kind have a bound of memory, too."""
    path = os.path.join(folder, "kind.data")
    for kind in range(1, 100):
        if subprocess.run([make, path, str(OF_EACH), str(kind)]).returncode == 77:
            return kind
        status, mb, seconds = finished([kontend, "report", "-q", "-i", path], folder)
        print(f"kind {kind:<7} exit {status}, {mb:.0f} MB, {seconds:.2f} s of CPU")
        if status != 0 or mb > most:
            bad.append(f"snapshots of kind {kind}: exit {status}, {mb:.0f} MB, at most {most}")
    return 0


def main():
    kontend, make = (os.path.realpath(p) for p in sys.argv[1:3])
    bad = []
    most = MOST_MB + (SANITIZER_MB if b"__asan_init" in open(kontend, "rb").read() else 0)
    with tempfile.TemporaryDirectory() as folder:
        bomb = os.path.join(folder, "bomb.data")
        subprocess.run([make, bomb, str(SNAPSHOTS), str(LOCKS)], check=True)
        size = os.path.getsize(bomb)
        print(f"{SNAPSHOTS} snapshots: {size} bytes")
        if size > 2 << 20:
            bad.append("it is no bomb: it is as long as what is in it")
        verbs = [
            ["report", "-q", "-i", bomb],
            ["script", "-q", "-i", bomb],
            ["merge", "-q", "-j", bomb],
            ["screenshot", bomb],
            ["cut", "-q", bomb, "-o", "part.data"],
        ]
        whole = {}
        for verb in verbs:
            status, mb, seconds = finished([kontend, *verb], folder)
            whole[verb[0]] = seconds
            said = open(os.path.join(folder, "out")).read()[:200]
            print(f"{verb[0]:<12} exit {status}, {mb:.0f} MB, {seconds:.2f} s of CPU")
            if status != 0:
                bad.append(f"{verb}: exit {status}: {said}")
            if mb > most:
                bad.append(f"{verb}: {mb:.0f} MB of memory, more than {most}")
        for verb in verbs[0], verbs[3]:
            send = term_when_it_reads(whole[verb[0]] / 8)
            status, _, seconds = finished([kontend, *verb], folder, send)
            print(f"{verb[0]:<12} TERM: exit {status}, {seconds:.2f} s of CPU")
            if status not in (128 + signal.SIGTERM, -signal.SIGTERM):
                bad.append(f"{verb}: TERM did not end it: exit {status}")
            if seconds > whole[verb[0]] * 3 / 4:
                bad.append(f"{verb}: after TERM it went on: {seconds:.2f} s")
        if each_kind(kontend, make, folder, most, bad) < LOCKS:
            bad.append("there are too few kinds")
        left = set(os.listdir(folder)) - {"out", "bomb.data", "part.data", "kind.data"}
        if left:
            bad.append(f"files are left: {left}")
    for line in bad:
        print(line)
    return 1 if bad else 0


sys.exit(main())
