# SPDX-License-Identifier: GPL-2.0-only
"""Further cases for cases.py: code whose functions have no names here."""
import perffile as pf
from cases import K, START, case, named, some, usual
from perffile import Event, Recording

CHAINS = pf.IP | pf.TID | pf.TIME | pf.CALLCHAIN | pf.PERIOD
K32 = 0xc0100000  # where kernels of 32 bits have their code


@case
def kernel_of_32_bits_with_chains():
    # The mode of the CPU and the marker in the chain say that it is the kernel.
    cycles = Event("cycles", sample_type=CHAINS)
    rec = Recording(cycles, host={pf.ARCH: "armv7l", pf.OSRELEASE: "3.8.11"})
    named(rec)
    rec.mmap(1000, 0x10000, 0x3000, 0, "/opt/none/program", START - 1000)
    for i in range(10):
        ip = K32 + 0x40 * (i % 2)
        chain = [pf.CONTEXT_KERNEL, ip, K32 + 0x1000, pf.CONTEXT_USER, 0x10100]
        rec.sample(cycles, START + i * 1_000_000, ip, chain=chain)
    some(rec, cycles, 4, begin=START + 20_000_000, ips=(0x10200,), user=True,
         chain=[pf.CONTEXT_USER, 0x10200])
    return rec, rec.as_file()


@case
def libraries_without_symbols():
    cycles = Event("cycles", sample_type=CHAINS)
    rec = usual(cycles)
    for i, name in enumerate(("liba.so", "libb.so")):
        rec.mmap(1000, 0x10000 * (i + 1), 0x3000, 0x1000, "/opt/none/" + name, START - 1000)
    for i in range(12):
        ip = 0x10000 * (1 + i % 2) + 0x100 * (1 + i // 6)
        rec.sample(cycles, START + i * 1_000_000, ip, user=True, chain=[pf.CONTEXT_USER, ip])
    some(rec, cycles, 3, begin=START + 20_000_000, ips=(K + 0x1000,), chain=[pf.CONTEXT_KERNEL, K + 0x1000])
    return rec, rec.as_file()


def simpleperf(meta_info, *names):
    """As simpleperf writes it: tracepoints 1195 and on, no names of events but those in META_INFO, no formats."""
    st = pf.IP | pf.TID | pf.TIME | pf.CPU | pf.PERIOD | pf.IDENTIFIER
    events = [Event(name, pf.TRACEPOINT, 1195 + i, period=1, flags=pf.SAMPLE_ID_ALL, sample_type=st)
              for i, name in enumerate(names)]
    rec = Recording(*events, no_features=True, meta_info=meta_info)
    named(rec)
    for i, event in enumerate(events):
        some(rec, event, 4 + i, begin=START + i)
    return rec


def meta(*pairs):
    return b"".join(key + b"\0" + value + b"\0" for key, value in pairs)


TYPES = b"event_type_info"


@case
def simpleperf_names():
    rec = simpleperf(meta((b"clockid", b"monotonic"), (TYPES, b"kprobes:myopen,2,1195\nsched:sched_switch,2,1196"),
                          (b"android_version", b"S")), "kprobes:myopen", "sched:sched_switch", "tracepoint:1197")
    return rec, rec.as_file()


@case
def simpleperf_stream():
    rec = simpleperf(meta((TYPES, b"kprobes:myopen,2,1195")), "kprobes:myopen")
    return rec, rec.as_stream()


@case
def simpleperf_lines_of_nonsense():
    # Numbers that are none, or too large; no name; a name that is too long. The last line is good.
    lines = [b"a,2", b",2,1195", b"b,2,", b"c,,1195", b"d,-2,1195", b"e,2,0x4ab", b"f,4294967298,1195", b"",
             b"g,2,18446744073709552811", b"h" * 300 + b",2,1195", b"i,2,1195,1", b"good\x1b[31m,2,1196"]
    rec = simpleperf(meta((TYPES, b"\n".join(lines))), "tracepoint:1195", "good\x1b[31m")
    return rec, rec.as_file()


@case
def simpleperf_without_end():
    # The value is cut before its NUL: it is not known to be whole.
    rec = simpleperf(meta((TYPES, b"kprobes:myopen,2,1195"))[:-1], "tracepoint:1195")
    return rec, rec.as_file()


@case
def simpleperf_key_alone():
    rec = simpleperf(TYPES, "tracepoint:1195")
    return rec, rec.as_file()


@case
def simpleperf_many():
    # More names than are kept: the first ones count.
    lines = b"\n".join(b"one:n%d,2,%d" % (i, 1195 + 500 - i) for i in range(501))
    rec = simpleperf(meta((TYPES, lines)), "tracepoint:1195")
    return rec, rec.as_file()


@case
def simpleperf_with_names():
    # A name in EVENT_DESC is of one event, and comes before that of its kind.
    cycles = Event("cycles")
    rec = usual(cycles, meta_info=meta((TYPES, b"cpu-cycles,0,0")))
    some(rec, cycles, 10)
    return rec, rec.as_file()
