#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Standard output that does not wait, as node.js and ssh give it: a pipe or a socket that is slow to be read gets every
byte, and the pipe's flag stays as it was, as it is of an opening that others have, too.
Called as: nonblock.py KONTEND RECORDING
"""
import fcntl
import os
import socket
import subprocess
import sys
import time

kontend, recording = (os.path.realpath(p) for p in sys.argv[1:3])
bad = []


def is_nonblocking(fd):
    return bool(fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_NONBLOCK)


def read_slowly(fd, n=1 << 15):
    """With pauses at the beginning: by then what may lie in between is full."""
    got = []
    while True:
        part = os.read(fd, n)
        if not part:
            return b"".join(got)
        got.append(part)
        if len(got) < 20:
            time.sleep(0.02)


def through(command, kind):
    if kind == "pipe":
        reader, writer = os.pipe()
    else:
        pair = socket.socketpair()
        reader, writer = (s.detach() for s in pair)
    os.set_blocking(writer, False)
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=writer, stderr=subprocess.PIPE)
    kept = os.dup(writer)
    os.close(writer)
    if kind == "pipe" and not is_nonblocking(kept):
        bad.append(f"{command}: the pipe waits now for others, too")
    time.sleep(0.2)
    still = is_nonblocking(kept)
    os.close(kept)
    got = read_slowly(reader)
    said = child.stderr.read().decode()
    status = child.wait()
    os.close(reader)
    if kind == "pipe" and not still:
        bad.append(f"{command}: the pipe waits now for others, too")
    return status, got, said


def main():
    longest = 0
    for words in ("script", "-q", "-i"), ("script", "-q", "-j", "-i"), ("export", "-q", "--format", "firefox", "-i"):
        command = [kontend, words[0], "--no-config", *words[1:], recording]
        whole = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True).stdout
        longest = max(longest, len(whole))
        for kind in "pipe", "socket":
            status, got, said = through(command, kind)
            print(f"{' '.join(words)} through a {kind}: exit {status}, {len(got)} of {len(whole)} bytes")
            if status != 0 or got != whole or said:
                bad.append(f"{words} through a {kind}: exit {status}, {len(got)} of {len(whole)} bytes, said {said}")
    if longest < 1 << 18:
        bad.append(f"all outputs are short: {longest} bytes")
    for line in bad:
        print(line)
    return 1 if bad else 0


sys.exit(main())
