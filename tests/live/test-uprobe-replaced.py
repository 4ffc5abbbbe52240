#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A uprobe is in the file in which it was placed: when another file has its path, kontend does not
name a function of that one.

    test-uprobe-replaced.py KONTEND PROGRAM"""
import ctypes
import json
import os
import platform
import shutil
import struct
import subprocess
import sys
import tempfile

from checks import check, done, skip

kontend, program = sys.argv[1:]
OPEN = {"x86_64": 298, "aarch64": 241}.get(platform.machine())


def place(path, offset):
    """A descriptor of a uprobe in this process, by perf's PMU."""
    try:
        with open("/sys/bus/event_source/devices/uprobe/type", encoding="ascii") as f:
            kind = int(f.read())
    except OSError:
        skip("this kernel has no PMU for uprobes")
    text = ctypes.create_string_buffer(path.encode())
    attr = bytearray(128)
    struct.pack_into("II", attr, 0, kind, 128)
    struct.pack_into("QQ", attr, 56, ctypes.addressof(text), offset)
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.syscall(OPEN, ctypes.c_char_p(bytes(attr)), os.getpid(), -1, -1, 8)
    if fd < 0:
        skip("no uprobe can be placed: %s" % os.strerror(ctypes.get_errno()))
    return fd


def offset_of(path, function):
    """The place of a function in the file."""
    out = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
    addr = next(int(line.split()[0], 16) for line in out.splitlines() if line.endswith(" T " + function))
    out = subprocess.run(["readelf", "-lW", path], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        words = line.split()
        if words[:1] == ["LOAD"] and int(words[2], 16) <= addr < int(words[2], 16) + int(words[4], 16):
            return addr - int(words[2], 16) + int(words[1], 16)
    raise ValueError(function)


def shown(path):
    """The probe's row."""
    p = subprocess.run([kontend, "report", "-q", "--no-config", "--duration", "1", "--view", "uprobes", "--rows", "0",
                        "--format", "json"], capture_output=True, text=True, check=False)
    check(p.returncode == 0, "report: status %d: %s" % (p.returncode, p.stderr))
    j = json.loads(p.stdout)
    rows = [r for r in j["views"]["uprobes"]["rows"] if r["binary"] == path]
    if j["views"]["uprobes"].get("method") == "probe":
        skip("uprobes of others are found by BPF only")
    return rows[0] if check(len(rows) == 1, "%d probes in %s" % (len(rows), path)) else None


with tempfile.TemporaryDirectory() as folder:
    target = os.path.join(folder, "target")
    shutil.copy(program, target)
    event = place(target, offset_of(target, "up_load"))
    row = shown(target)
    check(row and row["symbol"] == "up_load", "placed: %s" % row)
    shutil.copy(kontend, target + ".new")
    os.rename(target + ".new", target)
    row = shown(target)
    check(row and not row["symbol"] and "was replaced" in json.dumps(row), "replaced: %s" % row)
    os.close(event)
done()
