# SPDX-License-Identifier: GPL-2.0-only
"""Further cases for cases.py: tasks that have exited, times before the measurement."""
import perffile as pf
from cases import K, START, case, some, usual
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
def leader_exits_first():
    # The other thread goes on in the program; when it has exited, too, nothing is mapped any more.
    cycles = Event("cycles")
    rec = usual(cycles)
    rec.mmap(1000, 0x400000, 0x10000, 0, "/opt/none/app", START)
    rec.task(pf.FORK, 1000, 1001, 1000, START + 2)

    def samples(n, begin):
        some(rec, cycles, n, begin=START + begin * 1_000_000, ips=(0x401000,), user=True, tid=1001)

    samples(2, 1)
    rec.task(pf.EXIT, 1000, 1000, 1, START + 5_000_000)
    samples(6, 6)
    rec.task(pf.EXIT, 1000, 1001, 1, START + 20_000_000)
    samples(1, 21)
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


def deferred(rec, event, cookie, time, frames, **more):
    """The user part of the samples with this cookie."""
    pid = more.get("pid", 1000)
    rec.record(pf.CALLCHAIN_DEFERRED, pf.USER,
               rec.pack("QQQ", cookie, 1 + len(frames), pf.CONTEXT_USER) + rec.pack("%dQ" % len(frames), *frames) +
               rec.trailer(event, pid, pid, time))


@case
def deferred_of_several():
    # Two samples since the task has entered the kernel, one in user space, one whose record was lost, one of a
    # task that has not returned, one of another task meanwhile, and one whose chain came at once.
    cycles = Event("cycles", sample_type=pf.IP | pf.TID | pf.TIME | pf.CALLCHAIN | pf.PERIOD | pf.IDENTIFIER)
    rec = usual(cycles)
    rec.comm(2000, 2000, "other", START - 900)
    for pid in (1000, 2000):
        rec.mmap(pid, 0x400000, 0x10000, 0, "/usr/bin/worker", START - 900)

    def sample(ms, cookie, *kernel, **more):
        chain = ([pf.CONTEXT_KERNEL] + list(kernel) if kernel else []) + [pf.CONTEXT_USER_DEFERRED, cookie]
        rec.sample(cycles, START + ms * 1_000_000, more.pop("ip", kernel[0] if kernel else 0), chain=chain, **more)

    for i in range(10):
        at, cookie = 10 * i, 0x100 + i
        sample(at, cookie, K + 0x1000, K + 0x2000)
        sample(at + 1, 0x900 + i, K + 0x1000, pid=2000)
        sample(at + 2, cookie, K + 0x3000)
        deferred(rec, cycles, cookie, START + at * 1_000_000 + 2_500_000, [0x401000, 0x402000])
        deferred(rec, cycles, 0x900 + i, START + at * 1_000_000 + 2_600_000, [0x403000], pid=2000)
        sample(at + 3, 0x200 + i, ip=0x401500, user=True)
        deferred(rec, cycles, 0x200 + i, START + at * 1_000_000 + 3_100_000, [0x401500, 0x402000])
        sample(at + 4, 0x300 + i, K + 0x5000)
        rec.sample(cycles, START + at * 1_000_000 + 5_000_000, K + 0x1000,
                   chain=[pf.CONTEXT_KERNEL, K + 0x1000, pf.CONTEXT_USER, 0x401000])
    sample(200, 0x400, K + 0x6000)
    rec.round()
    rec.truth["folded"] = {
        "worker;worker+0x2000;worker+0x1000;%#x;%#x" % (K + 0x2000, K + 0x1000): 10,
        "other;worker+0x3000;%#x" % (K + 0x1000): 10,
        "worker;worker+0x2000;worker+0x1000;%#x" % (K + 0x3000): 10,
        "worker;worker+0x2000;worker+0x1500": 10,
        "worker;[user part missing];%#x" % (K + 0x5000): 10,
        "worker;worker+0x1000;%#x" % (K + 0x1000): 10,
        "worker;[user part missing];%#x" % (K + 0x6000): 1,
    }
    return rec, rec.as_file()


@case
def deferred_damaged():
    # More frames than the record has room for, and no frame at all.
    cycles = Event("cycles", sample_type=pf.IP | pf.TID | pf.TIME | pf.CALLCHAIN | pf.PERIOD | pf.IDENTIFIER)
    rec = usual(cycles)
    for i in range(4):
        rec.sample(cycles, START + i * 1000, K + 0x1000, chain=[pf.CONTEXT_KERNEL, K + 0x1000,
                                                                pf.CONTEXT_USER_DEFERRED, 7 + i])
        if i % 2:
            rec.record(pf.CALLCHAIN_DEFERRED, pf.USER, rec.pack("QQQ", 7 + i, 1 << 62, pf.CONTEXT_USER) +
                       rec.trailer(cycles, 1000, 1000, START + i * 1000 + 10))
            rec.damage("records")
        else:
            deferred(rec, cycles, 7 + i, START + i * 1000 + 10, [])
    rec.truth["folded"] = {"worker;[user part missing];%#x" % (K + 0x1000): 2, "worker;%#x" % (K + 0x1000): 2}
    return rec, rec.as_file()
