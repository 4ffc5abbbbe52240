# SPDX-License-Identifier: GPL-2.0-only
"""Further cases for cases.py: tasks that have exited, times before the measurement."""
import perffile as pf
from cases import START, case, some, usual
from perffile import Event

COMM_EXEC = 1 << 13


@case
def another_process_has_it():
    # The FORK of the task that has the number now was lost.
    cycles = Event("cycles")
    rec = usual(cycles)
    some(rec, cycles, 5)
    rec.task(pf.EXIT, 1000, 1000, 1, START + 10_000_000)
    some(rec, cycles, 2, begin=START + 11_000_000)
    some(rec, cycles, 2, begin=START + 20_000_000, pid=2000, tid=1000)
    return rec, rec.as_file()


@case
def old_jit_maps_in_rounds():
    # perf ends its first passes over the rings before there are samples.
    cycles = Event("cycles")
    rec = usual(cycles)
    rec.mmap(1000, 0x40000000, 0x1000, 0, "/tmp/perf-1000.map", 1_000_000)
    rec.round()
    rec.mmap(1000, 0x40001000, 0x1000, 0, "/tmp/perf-1000.map", 3_000_000)
    rec.round()
    rec.round()
    some(rec, cycles, 6)
    rec.round()
    return rec, rec.as_file()


@case
def begins_with_exec():
    # The kernel reports that a program begins: it is measured from then on.
    cycles = Event("cycles")
    rec = usual(cycles)
    rec.record(pf.COMM, COMM_EXEC, rec.pack("II", 1000, 1000) + pf.padded("program") +
               rec.trailer(cycles, 1000, 1000, START - 2_000_000))
    some(rec, cycles, 6)
    return rec, rec.as_file()
