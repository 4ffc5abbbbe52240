# SPDX-License-Identifier: GPL-2.0-only
"""Writes perf.data as perf does, from a list of events and records: files, streams, compressed data.

The format is tools/perf/Documentation/perf.data-file-format.txt of the kernel. A Recording counts
what it writes (samples of each event, records that report losses), so that its truth comes from the
same calls as its bytes."""
import ctypes
import ctypes.util
import struct

HARDWARE, SOFTWARE, TRACEPOINT, HW_CACHE, RAW, BREAKPOINT = range(6)
CYCLES, INSTRUCTIONS = 0, 1
CPU_CLOCK, TASK_CLOCK, PAGE_FAULTS = 0, 1, 2

# perf_event_sample_format
IP, TID, TIME, ADDR, READ, CALLCHAIN, ID, CPU, PERIOD, STREAM_ID, RAW_DATA = (1 << i for i in range(11))
IDENTIFIER = 1 << 16

# perf_event_attr: bits of the flags
DISABLED, INHERIT, FREQ, MMAP_BIT, COMM_BIT, TASK_BIT, SAMPLE_ID_ALL = (
    1 << 0, 1 << 1, 1 << 10, 1 << 8, 1 << 9, 1 << 13, 1 << 18)

# perf_event_header.type
MMAP, LOST, COMM, EXIT, THROTTLE, UNTHROTTLE, FORK, READ_EVENT, SAMPLE, MMAP2 = range(1, 11)
LOST_SAMPLES, KSYMBOL, CALLCHAIN_DEFERRED = 13, 17, 22
HEADER_ATTR, HEADER_TRACING_DATA, FINISHED_ROUND, HEADER_FEATURE = 64, 66, 68, 80
COMPRESSED, FINISHED_INIT = 81, 82
KERNEL, USER = 1, 2

# Features of the header
TRACING_DATA = 1
HOSTNAME, OSRELEASE, VERSION, ARCH, NRCPUS = 3, 4, 5, 6, 7
CMDLINE, EVENT_DESC, PMU_MAPPINGS, GROUP_DESC = 11, 12, 16, 17
SAMPLE_TIME, CLOCKID, DIR_FORMAT, COMPRESSION = 21, 23, 24, 27
LAST_FEATURE = 32
META_INFO = 129  # of simpleperf

ATTR_SIZES = (64, 72, 80, 96, 104, 112, 120, 128, 136, 144)
# PERF_CONTEXT_KERNEL, PERF_CONTEXT_USER, PERF_CONTEXT_USER_DEFERRED
CONTEXT_KERNEL, CONTEXT_USER = (1 << 64) - 128, (1 << 64) - 512
CONTEXT_USER_DEFERRED = (1 << 64) - 640


def zstd(data):
    """A frame of zstd with @data."""
    lib = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    lib.ZSTD_compressBound.restype = lib.ZSTD_compress.restype = ctypes.c_size_t
    lib.ZSTD_compressBound.argtypes = [ctypes.c_size_t]
    lib.ZSTD_compress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t,
                                  ctypes.c_int]
    room = ctypes.create_string_buffer(lib.ZSTD_compressBound(len(data)))
    n = lib.ZSTD_compress(room, len(room), data, len(data), 3)
    return room.raw[:n]


def tracepoint_format(name, number, fields):
    """The kernel's description of a tracepoint; @fields: (declaration, offset, size, signed) after the common ones."""
    common = [("unsigned short common_type", 0, 2, 0), ("unsigned char common_flags", 2, 1, 0),
              ("unsigned char common_preempt_count", 3, 1, 0), ("int common_pid", 4, 4, 1)]

    def lines(some):
        return "".join("\tfield:%s;\toffset:%d;\tsize:%d;\tsigned:%d;\n" % f for f in some)

    return ("name: %s\nID: %d\nformat:\n%s\n%s\nprint fmt: \"\"\n" % (name, number, lines(common), lines(fields))).encode()


# events/header_page of tracefs, without which perf reads no formats.
HEADER_PAGE = b"".join(b"\tfield: %s;\toffset:%d;\tsize:%d;\tsigned:%d;\n" % field for field in (
    (b"u64 timestamp", 0, 8, 0), (b"local_t commit", 8, 8, 1), (b"int overwrite", 8, 1, 1), (b"char data", 16, 4080, 0)))


def core(address, memory):
    """An ELF core file of x86-64 with one segment of memory, as /proc/kcore is."""
    head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 4, 62, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    return head + struct.pack("<IIQQQQQQ", 1, 7, 120, address, 0, len(memory), len(memory), 4096) + memory


def padded(text, size=8):
    """@text with at least one NUL, up to a multiple of @size."""
    data = text.encode() + b"\0"
    return data + bytes(-len(data) % size)


class Event:
    """An event as it was opened; `ids` are made by the Recording."""

    def __init__(self, name, kind=HARDWARE, config=CYCLES, **more):
        self.name, self.kind, self.config = name, kind, config
        self.sample_type = more.get("sample_type", IP | TID | TIME | PERIOD | IDENTIFIER)
        self.period = more.get("period", 4000)
        self.flags = more.get("flags", FREQ | SAMPLE_ID_ALL)
        self.size = more.get("size", 128)
        self.n_ids = more.get("n_ids", 1)
        self.read_format = more.get("read_format", 0)
        self.pmu = more.get("pmu")  # name of the PMU, in `name` of the report
        self.fields = more.get("fields")  # of a tracepoint: see tracepoint_format(); None: the format is not recorded
        self.ids = []
        self.samples = 0

    def is_profile(self):
        """Does it sample where CPUs spend their time?"""
        clock = self.kind == SOFTWARE and self.config in (CPU_CLOCK, TASK_CLOCK)
        return self.period > 0 and (self.kind in (HARDWARE, HW_CACHE, RAW) or clock)

    def is_decoded(self):
        return self.kind != TRACEPOINT or bool(self.fields)

    def attr(self, order):
        """perf_event_attr, cut or filled to its size."""
        head = struct.pack(order + "IIQQQQQ", self.kind, self.size, self.config, self.period,
                           self.sample_type, self.read_format, self.flags)
        return (head + bytes(self.size))[:self.size]


class Recording:
    """Records and header of a perf.data; methods that write a record return nothing."""

    def __init__(self, *events, **more):
        self.events = events
        self.order = ">" if more.get("big_endian") else "<"
        self.ids = more.get("ids", True)
        self.host = {HOSTNAME: "elsewhere", OSRELEASE: "5.4.1", VERSION: "5.4", ARCH: "x86_64"}
        self.host.update(more.get("host", {}))
        self.pmus = more.get("pmus", {})
        self.unknown_features = more.get("unknown_features", ())
        self.no_features = more.get("no_features", False)
        self.meta_info = more.get("meta_info")  # bytes
        self.data = b""
        self.truth = {"lost": 0, "damage": [], "unknown": 0, "waits": 0, "waited_ns": 0, "tasks": {}}
        for i, e in enumerate(events):
            e.ids = [100 + 10 * i + k for k in range(e.n_ids)] if self.ids else []

    def pack(self, form, *values):
        return struct.pack(self.order + form, *values)

    def record(self, kind, misc, body):
        """Any record: its header and @body."""
        self.data += self.pack("IHH", kind, misc, 8 + len(body)) + body

    def trailer(self, event, pid, tid, time, cpu=0):
        """The sample_id after the body of a record that is no sample."""
        if not event.flags & SAMPLE_ID_ALL:
            return b""
        out = b""
        st = event.sample_type
        if st & TID:
            out += self.pack("II", pid, tid)
        if st & TIME:
            out += self.pack("Q", time)
        if st & ID:
            out += self.pack("Q", event.ids[0])
        if st & CPU:
            out += self.pack("II", cpu, 0)
        if st & IDENTIFIER:
            out += self.pack("Q", event.ids[0])
        return out

    def sample(self, event, time, ip, **more):
        """A sample of @event; in the kernel, unless user=True."""
        pid, tid, cpu = more.get("pid", 1000), more.get("tid", more.get("pid", 1000)), more.get("cpu", 0)
        one = event.ids[more.get("which", 0)] if event.ids else 0
        st = event.sample_type
        body = b""
        for bit, form, values in ((IDENTIFIER, "Q", (one,)), (IP, "Q", (ip,)), (TID, "II", (pid, tid)),
                                  (TIME, "Q", (time,)), (ADDR, "Q", (more.get("addr", 0),)),
                                  (ID, "Q", (one,)), (STREAM_ID, "Q", (one,)), (CPU, "II", (cpu, 0)),
                                  (PERIOD, "Q", (more.get("period", event.period),))):
            if st & bit:
                body += self.pack(form, *values)
        if st & READ:
            # PERF_FORMAT_GROUP | PERF_FORMAT_ID: number, (value, id) each
            group = more.get("group", [(event, 1)])
            body += self.pack("Q", len(group))
            for member, value in group:
                body += self.pack("QQ", value, member.ids[0])
        if st & CALLCHAIN:
            chain = more.get("chain", [CONTEXT_KERNEL, ip])
            body += self.pack("Q%dQ" % len(chain), len(chain), *chain)
        if st & RAW_DATA:
            raw = more.get("raw", bytes(4))
            raw += bytes(-(len(raw) + 4) % 8)
            body += self.pack("I", len(raw)) + raw
        self.record(SAMPLE, USER if more.get("user") else KERNEL, body)
        event.samples += 1
        name = self.truth["tasks"].setdefault(str(tid), {"comm": None, "samples": 0})
        name["samples"] += 1

    def comm(self, pid, tid, name, time):
        self.record(COMM, 0, self.pack("II", pid, tid) + padded(name) +
                    self.trailer(self.events[0], pid, tid, time))
        self.truth["tasks"].setdefault(str(tid), {"comm": None, "samples": 0})["comm"] = name

    def task(self, kind, pid, tid, parent, time):
        """FORK or EXIT."""
        self.record(kind, 0, self.pack("IIIIQ", pid, parent, tid, parent, time) +
                    self.trailer(self.events[0], pid, tid, time))

    def mmap(self, pid, start, size, offset, path, time, **more):
        """MMAP of a file that is mapped executable; of the kernel: pid -1."""
        self.record(MMAP, KERNEL if more.get("kernel") else USER,
                    self.pack("IIQQQ", pid & 0xffffffff, more.get("tid", pid) & 0xffffffff, start, size,
                              offset) + padded(path) +
                    self.trailer(self.events[0], more.get("pid", 0), 0, time))

    def lost(self, event, n, time):
        """LOST: so many records of the event's ring."""
        self.record(LOST, 0, self.pack("QQ", event.ids[0] if event.ids else 0, n) +
                    self.trailer(event, 0, 0, time))
        self.truth["lost"] += n

    def round(self):
        self.record(FINISHED_ROUND, 0, b"")

    def damage(self, kind):
        """Says that a reader must report damage of that kind."""
        self.truth["damage"].append(kind)

    def compressed(self, records):
        """What @records() writes, as one COMPRESSED record."""
        before, self.data = self.data, b""
        records()
        inner, self.data = self.data, before
        self.record(COMPRESSED, 0, zstd(inner))

    # --- features ------------------------------------------------------------------------------

    def text(self, value):
        data = padded(value, 64)
        return self.pack("I", len(data)) + data

    def feature_sections(self):
        """(number, bytes) of each feature, by number."""
        ret = {} if self.no_features else {k: self.text(v) for k, v in self.host.items()}
        if not self.no_features:
            ret[NRCPUS] = self.pack("II", 2, 2)
            args = ["perf", "record", "-a"]
            ret[CMDLINE] = self.pack("I", len(args)) + b"".join(self.text(a) for a in args)
            ret[EVENT_DESC] = self.event_desc()
        if self.pmus:
            ret[PMU_MAPPINGS] = self.pack("I", len(self.pmus)) + b"".join(
                self.pack("I", number) + self.text(name) for number, name in self.pmus.items())
        if any(e.fields for e in self.events):
            ret[TRACING_DATA] = self.tracing_data()
        if self.meta_info:
            ret[META_INFO] = self.meta_info
        for number in self.unknown_features:
            ret[number] = b"whatever a later perf writes here"
        return sorted(ret.items())

    def tracing_data(self):
        """The formats of all tracepoints, which are of one system."""
        formats = [tracepoint_format(e.name.split(":")[1], e.config, e.fields) for e in self.events if e.fields]
        system = next(e.name.split(":")[0] for e in self.events if e.fields)
        head = b"\x17\x08\x44tracing0.6\0" + bytes([self.order == ">", 8]) + self.pack("I", 4096)
        blobs = b"".join(self.pack("Q", len(f)) + f for f in formats)
        return (head + b"header_page\0" + self.pack("Q", len(HEADER_PAGE)) + HEADER_PAGE + b"header_event\0" + self.pack("QII", 0, 0, 1) +
                system.encode() + b"\0" + self.pack("I", len(formats)) + blobs + self.pack("IIQ", 0, 0, 0))

    def event_desc(self):
        out = self.pack("II", len(self.events), max(e.size for e in self.events))
        size = max(e.size for e in self.events)
        for e in self.events:
            out += (e.attr(self.order) + bytes(size))[:size]
            out += self.pack("I", len(e.ids)) + self.text(e.name)
            out += self.pack("%dQ" % len(e.ids), *e.ids)
        return out

    # --- layouts ---------------------------------------------------------------------------------

    def magic(self):
        return b"PERFILE2" if self.order == "<" else b"2ELIFREP"

    def as_file(self, **more):
        """The whole file; data_size=... states another size of the data than there is."""
        size = max(e.size for e in self.events)
        n = len(self.events)
        ids_at = 104
        ids = b""
        table = b""
        for e in self.events:
            data = self.pack("%dQ" % len(e.ids), *e.ids)
            table += (e.attr(self.order) + bytes(size))[:size]
            table += self.pack("QQ", ids_at + len(ids), len(data))
            ids += data
        attrs_at = ids_at + len(ids)
        data_at = attrs_at + len(table)
        sections = self.feature_sections()
        compressed = more.get("compressed")
        if compressed:
            sections = sorted(sections + [(COMPRESSION, self.pack("IIIII", 1, 1, 3, 4, 1 << 20))])
        if "dir_format" in more:
            sections = sorted(sections + [(DIR_FORMAT, self.pack("Q", more["dir_format"]))])
        bits = bytearray(32)
        for number, _ in sections:
            bits[number // 8] |= 1 << number % 8
        if self.order == ">":
            bits = b"".join(bytes(bits[i:i + 8][::-1]) for i in range(0, 32, 8))
        stated = more.get("data_size", len(self.data))
        head = self.magic() + self.pack("QQQQQQQQ", 104, size + 16, attrs_at, n * (size + 16), data_at,
                                        stated, 0, 0) + bytes(bits)
        body = head + ids + table + self.data
        at = len(body) + 16 * len(sections)
        index = tail = b""
        for _, data in sections:
            index += self.pack("QQ", at + len(tail), len(data))
            tail += data
        return body + index + tail

    def as_stream(self, **more):
        """As perf record -o - writes it."""
        rec = Recording.__new__(Recording)
        rec.order, rec.data = self.order, b""
        for e in self.events:
            rec.record(HEADER_ATTR, 0, e.attr(self.order) + self.pack("%dQ" % len(e.ids), *e.ids))
        sections = self.feature_sections()
        if more.get("compressed"):
            sections = sorted(sections + [(COMPRESSION, self.pack("IIIII", 1, 1, 3, 4, 1 << 20))])
        for number, data in sections:
            if number == TRACING_DATA:
                data += bytes(-len(data) % 8)
                rec.record(HEADER_TRACING_DATA, 0, self.pack("II", len(data), 0))
                rec.data += data
            else:
                rec.record(HEADER_FEATURE, 0, self.pack("Q", number) + data)
        return self.magic() + self.pack("Q", 16) + rec.data + self.data

    def written(self):
        """The truth of all that was written."""
        return {"events": [{"name": e.name, "samples": e.samples, "decoded": e.is_decoded()} for e in self.events],
                "profile_samples": sum(e.samples for e in self.events if e.is_profile()), **self.truth}
