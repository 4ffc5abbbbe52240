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
TRACEPOINT = 2  # PERF_TYPE_TRACEPOINT
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


def write_line(path, line):
    """Appended, or all other probes would go. Python's mode "a" seeks, which the file does not take."""
    fd = os.open(path, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(fd, line.encode())
    finally:
        os.close(fd)


def place_by_tracefs(path, offset):
    """The name of a probe in uprobe_events, and a descriptor of its event in this process."""
    top = next((d for d in ("/sys/kernel/tracing", "/sys/kernel/debug/tracing") if os.path.exists(d + "/uprobe_events")), None)
    if not top:
        return None, None
    name = "kontend_replaced_%d" % os.getpid()
    write_line(top + "/uprobe_events", "p:kontend/%s %s:0x%x\n" % (name, path, offset))
    with open("%s/events/kontend/%s/id" % (top, name), encoding="ascii") as f:
        number = int(f.read())
    attr = bytearray(128)
    struct.pack_into("IIQQ", attr, 0, TRACEPOINT, 128, number, 1)
    fd = ctypes.CDLL(None).syscall(OPEN, ctypes.c_char_p(bytes(attr)), os.getpid(), -1, -1, 8)
    check(fd >= 0, "no event of the probe in uprobe_events")
    return top + "/uprobe_events", fd


def check_tracefs(target):
    """The same of a probe in uprobe_events that an event of perf uses."""
    shutil.copy(program, target)
    events, fd = place_by_tracefs(target, offset_of(target, "up_load"))
    if not events:
        return
    try:
        row = shown(target)
        check(row and row["symbol"] == "up_load", "uprobe_events, placed: %s" % row)
        shutil.copy(kontend, target + ".new")
        os.rename(target + ".new", target)
        row = shown(target)
        check(row and not row["symbol"] and "was replaced" in json.dumps(row), "uprobe_events, replaced: %s" % row)
    finally:
        os.close(fd)
        write_line(events, "-:kontend/kontend_replaced_%d\n" % os.getpid())


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
    check_tracefs(os.path.join(folder, "traced"))
done()
