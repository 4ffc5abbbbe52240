# SPDX-License-Identifier: GPL-2.0-only
"""Further cases for cases.py: code that the kernel makes while it runs (PERF_RECORD_KSYMBOL)."""
import perffile as pf
from cases import START, case, some, usual
from perffile import Event

BPF, OOL, GONE = 1, 2, 1
AT = 0xffffffffc0001000
OLD, NEW = "bpf_prog_0123456789abcdef_old", "bpf_prog_fedcba9876543210_new"


def ksymbol(rec, event, time, name, at, size, kind=BPF, flags=0, stale=0, ends=True):
    """@stale: trailers' worth of bytes after the true one, as the kernel leaves them."""
    trailer = rec.trailer(event, 0, 0, time)
    text = pf.padded(name) if ends else name.encode()
    rec.record(pf.KSYMBOL, 0, rec.pack("QIHH", at, size, kind, flags) + text + trailer +
               b"\x5a" * (stale * len(trailer)))


@case
def ksymbol_reused():
    # One program after the other at the same place: each sample is of the one of its time.
    cycles, clock = Event("cycles"), Event("cpu-clock", pf.SOFTWARE, pf.CPU_CLOCK)
    rec = usual(cycles, clock)
    ksymbol(rec, cycles, START - 500, OLD, AT, 0x200, stale=1)
    some(rec, cycles, 5, ips=(AT + 0x10,))
    ksymbol(rec, cycles, START + 10_000_000, OLD, AT, 0x200, flags=GONE, stale=1)
    some(rec, cycles, 3, begin=START + 11_000_000, ips=(AT + 0x10,))
    ksymbol(rec, cycles, START + 20_000_000, NEW, AT, 0x100, stale=1)
    some(rec, cycles, 7, begin=START + 21_000_000, ips=(AT + 0x10,))
    ksymbol(rec, cycles, START + 30_000_000, "kprobe_insn_page", AT + 0x1000, 4096, kind=OOL)
    some(rec, cycles, 2, begin=START + 31_000_000, ips=(AT + 0x1004,))
    return rec, rec.as_file()


@case
def ksymbol_pages():
    # perf says a page for a trampoline that is shorter: what begins in it keeps its name.
    cycles = Event("cycles")
    rec = usual(cycles)
    ksymbol(rec, cycles, 0, NEW, AT + 0x100, 0x80)
    ksymbol(rec, cycles, 0, "bpf_trampoline_6442", AT, 4096)
    some(rec, cycles, 4, ips=(AT + 0x20,))
    some(rec, cycles, 6, begin=START + 10_000_000, ips=(AT + 0x120,))
    return rec, rec.as_file()


@case
def ksymbol_damaged():
    cycles = Event("cycles")
    rec = usual(cycles)
    ksymbol(rec, cycles, START - 500, "bpf_prog_empty", AT, 0)
    ksymbol(rec, cycles, START - 400, "bpf_prog_wraps", (1 << 64) - 16, 32)
    rec.record(pf.KSYMBOL, 0, rec.pack("QIHH", AT, 64, BPF, 0) + b"A" * 8)
    for _ in range(3):
        rec.damage("records")
    ksymbol(rec, cycles, START - 300, "bpf_prog_huge", 0xffffffff80000000, 0xffffffff >> 1)
    ksymbol(rec, cycles, START - 200, "type_of_later", AT, 64, kind=9)
    some(rec, cycles, 9, ips=(AT + 0x10,))
    return rec, rec.as_file()


@case
def ksymbol_many():
    # More than are kept: the first ones have names.
    cycles = Event("cycles")
    rec = usual(cycles)
    for i in range(20000):
        ksymbol(rec, cycles, START - 50000 + i, "bpf_prog_%d" % i, AT + i * 64, 64)
    some(rec, cycles, 3, ips=(AT + 0x10,))
    some(rec, cycles, 4, begin=START + 10_000_000, ips=(AT + 19999 * 64,))
    return rec, rec.as_file()


@case
def ksymbol_in_seconds():
    # As ksymbol_reused, 2 s each: a reader that goes back in time has the names of then again.
    cycles = Event("cycles")
    rec = usual(cycles)
    for i, (name, flags, n) in enumerate(((OLD, 0, 5), (OLD, GONE, 3), (NEW, 0, 7))):
        begin = START + i * 2_000_000_000
        ksymbol(rec, cycles, begin, name, AT, 0x200, flags=flags)
        some(rec, cycles, n, begin=begin + 1_000_000, ips=(AT + 0x10,))
        rec.round()
    rec.round()
    return rec, rec.as_file()
