# SPDX-License-Identifier: GPL-2.0-only
"""Further cases for cases.py: what readers have to note."""
import perffile as pf
from cases import START, case, some, usual
from perffile import Event


def begun(n):
    """@n samples of one event, and its recording."""
    cycles = Event("cycles")
    rec = usual(cycles)
    some(rec, cycles, n)
    return rec, cycles


def unread(rec, event, n):
    """Samples that no reader can find."""
    some(rec, event, n, begin=START + 1_000_000_000)
    event.samples -= n
    rec.truth["tasks"]["1000"]["samples"] -= n


@case
def throttled():
    # The event stopped for a while: samples are missing, and nothing is damaged.
    rec, cycles = begun(10)
    time = START + 10_000_000
    rec.record(pf.THROTTLE, 0, rec.pack("QQQ", time, cycles.ids[0], cycles.ids[0]) +
               rec.trailer(cycles, 1000, 1000, time))
    some(rec, cycles, 5, begin=time + 1_000_000)
    return rec, rec.as_stream()


@case
def zero_size_then_more_in_stream():
    rec, cycles = begun(20)
    rec.data += rec.pack("IHH", pf.SAMPLE, 0, 0)
    rec.damage("record")
    unread(rec, cycles, 228)
    return rec, rec.as_stream()


@case
def zero_size_then_more():
    rec, cycles = begun(20)
    rec.data += rec.pack("IHH", pf.SAMPLE, 0, 0)
    rec.damage("record")
    unread(rec, cycles, 3)
    return rec, rec.as_file()


@case
def broken_zstd_in_stream():
    rec, cycles = begun(20)
    rec.record(pf.COMPRESSED, 0, b"no frame of zstd" * 2)
    rec.damage("compression")
    unread(rec, cycles, 3)
    return rec, rec.as_stream()
