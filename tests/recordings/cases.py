# SPDX-License-Identifier: GPL-2.0-only
"""Recordings of every layout that perf has written, each with what is in it.

make(FOLDER) writes them, with NAME.json beside each: events with their numbers of samples, records
that report losses, kinds of damage, the name and samples of each task."""
import gzip
import importlib
import json
import os

import perffile as pf
from perffile import Event, Recording

K = 0xffffffff81000000  # where kernels of x86-64 have their code
CPU_ATOM, CPU_CORE = 10, 4  # numbers of PMUs
START = 5_000_000_000  # ns

CASES = {}
MORE = ("cases_ksym", "cases_names", "cases_notes", "cases_tasks")  # modules with further cases
# Refused: recordings of the other byte order.
NOT_READ = {"big-endian"}


def case(function):
    """A recording: @function returns (Recording, what to write), bytes or {path: bytes}."""
    name = function.__name__.replace("_", "-")
    assert name not in CASES, name
    CASES[name] = function
    return function


def some(rec, event, n, **more):
    """@n samples of @event, 1 ms apart, of task 1000 'worker' unless said otherwise."""
    begin = more.pop("begin", START)
    ips = more.pop("ips", (K + 0x1000, K + 0x2000, K + 0x2010))
    for i in range(n):
        rec.sample(event, begin + i * 1_000_000, ips[i % len(ips)], **more)


def named(rec, pid=1000, name="worker"):
    rec.comm(pid, pid, name, START - 1000)


def kernel_map(rec, at=K, size=0x1000000):
    rec.mmap(-1, at, size, at, "[kernel.kallsyms]_text", START - 2000, kernel=True)


def usual(*events, **more):
    rec = Recording(*events, **more)
    kernel_map(rec)
    named(rec)
    return rec


@case
def one_event():
    cycles = Event("cycles")
    rec = usual(cycles)
    some(rec, cycles, 30)
    return rec, rec.as_file()


@case
def no_ids():
    # perf writes no ids where there is one event.
    cycles = Event("cycles", sample_type=pf.IP | pf.TID | pf.TIME | pf.PERIOD)
    rec = usual(cycles, ids=False)
    some(rec, cycles, 20)
    return rec, rec.as_file()


@case
def two_events_by_id():
    # The id is after the time, at one place in all samples.
    st = pf.IP | pf.TID | pf.TIME | pf.ID | pf.CPU | pf.PERIOD
    cycles = Event("cycles", sample_type=st)
    instructions = Event("instructions", config=pf.INSTRUCTIONS, sample_type=st)
    rec = usual(cycles, instructions)
    some(rec, cycles, 11)
    some(rec, instructions, 29, begin=START + 500)
    return rec, rec.as_file()


@case
def two_layouts():
    # Each event has fields of its own: the identifier is the first field.
    cycles = Event("cycles")
    faults = Event("page-faults", pf.SOFTWARE, pf.PAGE_FAULTS, period=1, flags=pf.SAMPLE_ID_ALL,
                   sample_type=pf.IP | pf.TID | pf.TIME | pf.ADDR | pf.IDENTIFIER)
    rec = usual(cycles, faults)
    some(rec, cycles, 40)
    some(rec, faults, 7, begin=START + 500)
    return rec, rec.as_file()


def hybrid(n_atom, n_core):
    more = {"pmus": {CPU_CORE: "cpu_core", CPU_ATOM: "cpu_atom"}}
    atom = Event("cpu_atom/cycles/", config=CPU_ATOM << 32 | pf.CYCLES, n_ids=2)
    core = Event("cpu_core/cycles/", config=CPU_CORE << 32 | pf.CYCLES, n_ids=2)
    rec = usual(atom, core, **more)
    some(rec, atom, n_atom)
    some(rec, core, n_core, begin=START + 500, which=1)
    return rec, rec.as_file()


@case
def hybrid_both():
    return hybrid(12, 34)


@case
def hybrid_atom_empty():
    return hybrid(0, 21)


@case
def empty_first_event():
    instructions = Event("instructions", config=pf.INSTRUCTIONS)
    clock = Event("cpu-clock", pf.SOFTWARE, pf.CPU_CLOCK)
    rec = usual(instructions, clock)
    some(rec, clock, 25)
    return rec, rec.as_file()


@case
def group_with_values():
    # A leader that is sampled, and a member that is counted in its samples.
    st = pf.IP | pf.TID | pf.TIME | pf.READ | pf.PERIOD | pf.IDENTIFIER
    leader = Event("cycles", sample_type=st, read_format=4 | 8)
    member = Event("instructions", config=pf.INSTRUCTIONS, sample_type=st, read_format=4 | 8, period=0,
                   flags=pf.SAMPLE_ID_ALL)
    rec = usual(leader, member)
    for i in range(16):
        rec.sample(leader, START + i * 1000, K + 0x1000, group=[(leader, 4000), (member, 900 + i)])
    return rec, rec.as_file()


@case
def stream():
    cycles = Event("cycles")
    rec = usual(cycles)
    some(rec, cycles, 17)
    rec.round()
    return rec, rec.as_stream()


@case
def stream_two_events():
    cycles = Event("cycles")
    clock = Event("task-clock", pf.SOFTWARE, pf.TASK_CLOCK)
    rec = usual(cycles, clock)
    some(rec, cycles, 6)
    some(rec, clock, 19, begin=START + 500)
    rec.round()
    return rec, rec.as_stream()


@case
def file_zstd():
    cycles = Event("cycles")
    rec = usual(cycles)
    rec.compressed(lambda: some(rec, cycles, 50))
    return rec, rec.as_file(compressed=True)


@case
def stream_zstd():
    cycles = Event("cycles")
    rec = usual(cycles)
    rec.compressed(lambda: some(rec, cycles, 50))
    return rec, rec.as_stream(compressed=True)


@case
def big_endian():
    cycles = Event("cycles")
    rec = usual(cycles, big_endian=True, host={pf.ARCH: "ppc64"})
    some(rec, cycles, 13)
    return rec, rec.as_file()


@case
def kernel_of_32_bits():
    cycles = Event("cycles")
    rec = Recording(cycles, host={pf.ARCH: "armv7l", pf.OSRELEASE: "3.8.11"})
    kernel_map(rec, 0xc0008000, 0x800000)
    named(rec)
    some(rec, cycles, 22, ips=(0xc0012340, 0xc0056780))
    some(rec, cycles, 9, begin=START + 500, ips=(0x8123,), user=True)
    return rec, rec.as_file()


@case
def old_jit_maps():
    # JIT compilers wrote mappings with times of long before.
    cycles = Event("cycles")
    rec = usual(cycles)
    rec.mmap(1000, 0x40000000, 0x1000, 0, "/tmp/perf-1000.map", 1_000_000)
    some(rec, cycles, 6)
    return rec, rec.as_file()


@case
def samples_after_exit():
    # An exiting task's last samples come after its EXIT record.
    cycles = Event("cycles")
    rec = usual(cycles)
    some(rec, cycles, 5)
    rec.task(pf.EXIT, 1000, 1000, 1, START + 10_000_000)
    some(rec, cycles, 4, begin=START + 11_000_000)
    return rec, rec.as_file()


@case
def reused_number():
    # The same number is another task's after a fork.
    cycles = Event("cycles")
    rec = usual(cycles)
    some(rec, cycles, 5)
    rec.task(pf.EXIT, 1000, 1000, 1, START + 10_000_000)
    rec.task(pf.FORK, 1000, 1000, 1, START + 20_000_000)
    rec.comm(1000, 1000, "later", START + 20_000_001)
    some(rec, cycles, 8, begin=START + 21_000_000)
    return rec, rec.as_file()


@case
def formats_missing():
    # Tracepoints without their formats: their samples cannot be read, those of cycles can.
    cycles = Event("cycles")
    begin = Event("lock:contention_begin", pf.TRACEPOINT, 123, period=1, flags=pf.SAMPLE_ID_ALL,
                  sample_type=pf.IP | pf.TID | pf.TIME | pf.RAW_DATA | pf.IDENTIFIER)
    rec = usual(cycles, begin)
    some(rec, cycles, 31)
    some(rec, begin, 5, begin=START + 500)
    return rec, rec.as_file()


def lock_events():
    """contention_begin and contention_end as Linux has had them since 5.19, with formats."""
    def tracepoint(name, number, last):
        return Event("lock:" + name, pf.TRACEPOINT, number, period=1, flags=pf.SAMPLE_ID_ALL,
                     sample_type=pf.IP | pf.TID | pf.TIME | pf.CPU | pf.PERIOD | pf.CALLCHAIN | pf.RAW_DATA | pf.IDENTIFIER,
                     fields=[("void * lock_addr", 8, 8, 0), last])

    return (tracepoint("contention_begin", 401, ("unsigned int flags", 16, 4, 0)),
            tracepoint("contention_end", 402, ("int ret", 16, 4, 1)))


MUTEX = 1 << 5


def wait(rec, events, begin, length, **more):
    """A task waits for a mutex."""
    tid = more.get("tid", 1000)
    lock = more.get("lock", 0xffff888100000000)
    for event, time, last in zip(events, (begin, begin + length), (MUTEX, 0)):
        raw = rec.pack("HBBiQI", event.config, 0, 0, tid, lock, last)
        rec.sample(event, time, K + 0x1000, tid=tid, raw=raw, chain=[pf.CONTEXT_KERNEL, K + 0x1000, K + 0x3000])
    rec.truth["waits"] += 1
    rec.truth["waited_ns"] += length


@case
def lock_waits():
    # perf record -e lock:contention_begin,lock:contention_end,cycles
    locks, cycles = lock_events(), Event("cycles", sample_type=pf.IP | pf.TID | pf.TIME | pf.CPU | pf.PERIOD | pf.IDENTIFIER)
    rec = usual(*locks, cycles)
    for i in range(12):
        wait(rec, locks, START + i * 2_000_000, 300_000 + 1000 * i)
    some(rec, cycles, 20, begin=START + 500)
    return rec, rec.as_file()


@case
def lock_waits_stream():
    # perf lock record: no profile.
    locks = lock_events()
    rec = usual(*locks)
    for i in range(7):
        wait(rec, locks, START + i * 3_000_000, 1_000_000, lock=0xffff888100000040)
    rec.round()
    return rec, rec.as_stream()


@case
def lost_records():
    cycles = Event("cycles")
    rec = usual(cycles)
    some(rec, cycles, 10)
    rec.lost(cycles, 7, START + 10_500_000)
    some(rec, cycles, 10, begin=START + 11_000_000)
    return rec, rec.as_file()


# --- damage ---------------------------------------------------------------------------------------


@case
def zero_size_record():
    cycles = Event("cycles")
    rec = usual(cycles)
    some(rec, cycles, 10)
    rec.data += rec.pack("IHH", pf.SAMPLE, 0, 0)
    # Nothing after it can be found.
    whole = rec.as_file()
    rec.damage("record")
    return rec, whole


@case
def zero_size_record_in_stream():
    cycles = Event("cycles")
    rec = usual(cycles)
    some(rec, cycles, 10)
    rec.data += rec.pack("IHH", pf.SAMPLE, 0, 0)
    rec.damage("record")
    return rec, rec.as_stream()


@case
def cut_stream():
    cycles = Event("cycles")
    rec = usual(cycles)
    some(rec, cycles, 10)
    rec.damage("cut")
    whole = rec.as_stream()
    cycles.samples -= 1
    return rec, whole[:-5]


@case
def cut_file():
    cycles = Event("cycles")
    rec = usual(cycles)
    some(rec, cycles, 10)
    size = len(rec.data)
    rec.damage("cut")
    whole = rec.as_file(data_size=size)
    cycles.samples -= 1
    return rec, whole[:whole.index(rec.data) + size - 5]


@case
def broken_zstd():
    cycles = Event("cycles")
    rec = usual(cycles)
    some(rec, cycles, 10)
    rec.record(pf.COMPRESSED, 0, b"no frame of zstd" * 2)
    rec.damage("compression")
    return rec, rec.as_file(compressed=True)


@case
def unknown_features():
    cycles = Event("cycles")
    rec = usual(cycles, unknown_features=(34, 40, 63, 200))
    some(rec, cycles, 10)
    return rec, rec.as_file()


@case
def unknown_record():
    cycles = Event("cycles")
    rec = usual(cycles)
    some(rec, cycles, 5)
    rec.record(90, 0, bytes(16))
    rec.record(30, 0, bytes(24) + rec.trailer(cycles, 0, 0, START))
    rec.truth["unknown"] += 1  # those of the kernel are skipped by design
    some(rec, cycles, 5, begin=START + 6_000_000)
    return rec, rec.as_file()


# --- newest formats -------------------------------------------------------------------------------


def attr_size(size):
    cycles = Event("cycles", size=size)
    rec = usual(cycles)
    some(rec, cycles, 10)
    return rec, rec.as_file()


for bytes_of_attr in pf.ATTR_SIZES:
    CASES["attr-%d" % bytes_of_attr] = lambda size=bytes_of_attr: attr_size(size)


@case
def deferred_chains():
    # Linux 6.19 and later: the user part of a call chain follows in a record of its own.
    cycles = Event("cycles", sample_type=pf.IP | pf.TID | pf.TIME | pf.CALLCHAIN | pf.PERIOD | pf.IDENTIFIER)
    rec = usual(cycles)
    rec.mmap(1000, 0x400000, 0x10000, 0, "/usr/bin/worker", START - 900)
    for i in range(12):
        time, cookie = START + i * 1_000_000, 0x1000 + i
        rec.sample(cycles, time, K + 0x1000, chain=[pf.CONTEXT_KERNEL, K + 0x1000, K + 0x2000,
                                                    pf.CONTEXT_USER_DEFERRED, cookie])
        rec.record(pf.CALLCHAIN_DEFERRED, pf.USER,
                   rec.pack("QQQQQ", cookie, 3, pf.CONTEXT_USER, 0x401000, 0x402000) +
                   rec.trailer(cycles, 1000, 1000, time + 10))
    return rec, rec.as_file()


@case
def ksymbol_ool():
    # Linux 5.8 and later: code that the kernel made out of line (kprobes), type 2.
    cycles = Event("cycles")
    rec = usual(cycles)
    rec.record(pf.KSYMBOL, 0, rec.pack("QIHH", 0xffffffffc0000000, 4096, 2, 0) +
               pf.padded("kprobe_insn_page") + rec.trailer(cycles, 0, 0, START - 500))
    some(rec, cycles, 14, ips=(0xffffffffc0000010,))
    return rec, rec.as_file()


# --- files around files ---------------------------------------------------------------------------


@case
def gzipped():
    cycles = Event("cycles")
    rec = usual(cycles)
    some(rec, cycles, 10)
    return rec, gzip.compress(rec.as_file(), mtime=0)


@case
def folder_of_threads():
    # perf record --threads: a folder with the header's file and a file of records each thread.
    cycles = Event("cycles")
    rec = usual(cycles)
    header = rec.data
    rec.data = b""
    some(rec, cycles, 10)
    first, rec.data = rec.data, b""
    some(rec, cycles, 15, begin=START + 500, cpu=1)
    second, rec.data = rec.data, header
    return rec, {"data": rec.as_file(dir_format=1), "data.0": first, "data.1": second}


# pause; jmp to it; filling
SPIN = b"\xf3\x90\xeb\xfc" + b"\xcc" * 32


@case
def folder_with_kcore():
    cycles = Event("cycles")
    rec = usual(cycles)
    some(rec, cycles, 10)
    symbols = "%x T _text\n%x T spin_somewhere\n%x T wait_elsewhere\n%x T _etext\n" % (
        K, K + 0x1000, K + 0x2000, K + 0x4000)
    # The memory ends within the last function.
    memory = (bytes(0x1000) + SPIN).ljust(0x2800, b"\xcc")
    return rec, {"data": rec.as_file(), "kcore_dir/kallsyms": symbols.encode(), "kcore_dir/modules": b"",
                 "kcore_dir/kcore": pf.core(K, memory)}


@case
def version_1():
    return None, b"PERFFILE" + bytes(200)


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data)


def make(folder):
    """Writes all of them below @folder. Returns {name: (path, truth or None)}."""
    for module in MORE:
        importlib.import_module(module)
    ret = {}
    for name, function in CASES.items():
        rec, data = function()
        path = os.path.join(folder, name + (".gz" if name == "gzipped" else ".data"))
        for part, content in (data.items() if isinstance(data, dict) else [("", data)]):
            write(os.path.join(path, part) if part else path, content)
        truth = rec and rec.written()
        with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as f:
            json.dump(truth, f, indent=1)
        ret[name] = (path, truth)
    return ret
