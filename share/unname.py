#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A compressed recording, without compression and without some names of tasks: names that looks at
the machine have, though these tasks had nothing to do with what was recorded. Each becomes "other"
and dashes. Called as unname.py FROM NAMES TO [--no-code]; NAMES has them with a NUL after each. With --no-code the
code of the kernel's locking functions is left out, too: nothing but annotating needs it. The result
is for `kontend cut --compress` to write again."""
import ctypes
import struct
import sys

ATTRS, DATA, FEATURES = 24, 40, 72
COMPRESSED, COMPRESSED2 = 81, 83
SAMPLE, MARK, SNAPSHOT, TEXT = 9, b"KONTEND1", 13, 7
SHORT = 5  # names as short as that say nothing, and may be part of others

with open(sys.argv[1], "rb") as f:
    data = bytearray(f.read())
with open(sys.argv[2], "rb") as f:
    names = {n for n in f.read().split(b"\0") if len(n) > SHORT}


def pair(at):
    return struct.unpack_from("<QQ", data, at)


class Buffer(ctypes.Structure):
    _fields_ = [("at", ctypes.c_void_p), ("size", ctypes.c_size_t), ("pos", ctypes.c_size_t)]


zstd = ctypes.CDLL("libzstd.so.1")
zstd.ZSTD_createDStream.restype = ctypes.c_void_p
zstd.ZSTD_decompressStream.restype = ctypes.c_size_t
zstd.ZSTD_isError.argtypes = [ctypes.c_size_t]
zstd.ZSTD_decompressStream.argtypes = [ctypes.c_void_p, ctypes.POINTER(Buffer), ctypes.POINTER(Buffer)]
stream = zstd.ZSTD_createDStream()


def unpacked(piece):
    """One stream goes through all records."""
    room, result = ctypes.create_string_buffer(1 << 20), b""
    source = ctypes.create_string_buffer(bytes(piece), len(piece))
    from_, to = Buffer(ctypes.addressof(source), len(piece), 0), Buffer(0, 0, 0)
    while from_.pos < from_.size or to.pos == to.size != 0:
        to = Buffer(ctypes.addressof(room), len(room), 0)
        if zstd.ZSTD_isError(zstd.ZSTD_decompressStream(stream, to, from_)):
            sys.exit("a record cannot be unpacked")
        result += room.raw[:to.pos]
    return result


def without_code(events):
    """Without the records that carry the snapshot of that code, in pieces: kontend-data(5)."""
    kept, at, left = b"", 0, 0
    while at < len(events):
        kind, _, n = struct.unpack_from("<IHH", events, at)
        record, at = events[at:at + n], at + n
        mark = record.find(MARK, 0, 100) if kind == SAMPLE else -1
        if mark >= 0 and struct.unpack_from("<H", record, mark + 10)[0] == SNAPSHOT:
            length, = struct.unpack_from("<I", record, mark + 14)
            offset, total = struct.unpack_from("<II", record, mark + 20)
            if offset == 0 and struct.unpack_from("<H", record, mark + 32)[0] == TEXT:
                left = total
            if left:
                left -= length
                continue
        kept += record
    return kept


begin, size = pair(DATA)
at, end, plain = begin, begin + size, b""
while at < end:
    kind, _, n = struct.unpack_from("<IHH", data, at)
    if kind == COMPRESSED:
        plain += unpacked(data[at + 8:at + n])
    elif kind == COMPRESSED2:
        plain += unpacked(data[at + 16:at + 16 + pair(at + 8)[0]])
    else:
        plain += data[at:at + n]
    at += n
if "--no-code" in sys.argv:
    plain = without_code(plain)
for name in names:
    plain = plain.replace(name + b"\0", b"other".ljust(len(name), b"-") + b"\0")

# Everything after the data moves.
moves = len(plain) - size
places = [ATTRS]
attrs, n = pair(ATTRS)
entry = struct.unpack_from("<Q", data, 16)[0]
places += range(attrs + entry - 16, attrs + n, entry)
places += [end + 16 * k for k in range(sum(bin(b).count("1") for b in data[FEATURES:FEATURES + 32]))]
for place in places:
    offset, n = pair(place)
    if offset >= end:
        struct.pack_into("<Q", data, place, offset + moves)
struct.pack_into("<Q", data, DATA + 8, len(plain))
with open(sys.argv[3], "wb") as f:
    f.write(data[:begin] + plain + data[end:])
