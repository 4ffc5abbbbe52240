#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""bpf-strip.py [--no-lines] IN OUT: a BPF object without what only debuggers read, which is more than half of it, packed
by zlib after its length (eight bytes, little-endian): bpf-unpack.c unpacks it.

clang makes BTF of debug information and leaves both. The sections stay, empty: libbpf passes over
these by their names, and all numbers of sections hold. --no-lines leaves out lines of source as well,
by which the kernel explains why it refuses a program. strip(1) knows nothing of BPF, and
llvm-strip is not on each machine that has clang.
"""
import struct
import sys
import zlib

HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SECTION = struct.Struct("<IIQQQQIIQQ")
UNREAD = (b".debug_", b".rel.debug_", b".rel.BTF", b".llvm_addrsig")


# .BTF.ext: magic, version, flags, length of the header; then places and lengths: of functions, of lines,
# of fields that are found when a program is loaded.
EXT = struct.Struct("<HBBIIIIIII")


def without_lines(ext):
    magic, version, flags, length, funcs, funcs_size, _, _, core, core_size = EXT.unpack_from(ext)
    assert magic == 0xEB9F and length >= EXT.size, "no .BTF.ext as libbpf knows it"
    kept = ext[length + funcs :][:funcs_size] + ext[length + core :][:core_size]
    header = EXT.pack(magic, version, flags, EXT.size, 0, funcs_size, funcs_size, 0, funcs_size, core_size)
    return header + kept


def name_of(names, at):
    return names[at : names.index(b"\0", at)]


def stripped(elf, lines):
    header = list(HEADER.unpack_from(elf))
    table, entry, count, strings = header[6], header[11], header[12], header[13]
    assert header[0][:6] == b"\x7fELF\2\1" and entry == SECTION.size, "no little-endian ELF of 64 bits"
    sections = [list(SECTION.unpack_from(elf, table + i * entry)) for i in range(count)]
    names = elf[sections[strings][4] : sections[strings][4] + sections[strings][5]]
    out = bytearray(HEADER.size)
    for s in sections[1:]:
        align = max(s[8], 1)
        out += bytes(-len(out) % align)
        content = elf[s[4] : s[4] + s[5]]
        name = name_of(names, s[0])
        if name.startswith(UNREAD):
            content = b""
        elif name == b".BTF.ext" and not lines:
            content = without_lines(content)
        s[4], s[5] = len(out), len(content)
        out += content
    out += bytes(-len(out) % 8)
    header[6] = len(out)
    for s in sections:
        out += SECTION.pack(*s)
    HEADER.pack_into(out, 0, *header)
    return out


with open(sys.argv[-2], "rb") as source:
    result = stripped(source.read(), "--no-lines" not in sys.argv)
with open(sys.argv[-1], "wb") as target:
    target.write(struct.pack("<Q", len(result)) + zlib.compress(result, 9))
