# SPDX-License-Identifier: GPL-2.0-only
"""The wire format of protocol buffers, read by names and numbers that a test says itself."""
import struct

VARINT, FIXED64, BYTES = 0, 1, 2


def varint(data, at):
    n = shift = 0
    while True:
        n |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return n, at


def varints(data):
    at, ret = 0, []
    while at < len(data):
        n, at = varint(data, at)
        ret.append(n)
    return ret


def message(fields, kind, data):
    """Fields that are there as lists, by name. One that has no name is an error.
    fields: kinds of messages: names by number, that are kinds as well; "*": numbers in one piece, "=": a text."""
    ret, at = {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        name = fields[kind][tag >> 3]
        if tag & 7 == FIXED64:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        else:
            value, at = varint(data, at)
        if tag & 7 == BYTES:
            at, value = at + value, data[at:at + value]
            if name[0] == "*":
                ret.setdefault(name[1:], []).extend(varints(value))
                continue
            value = value.decode() if name[0] == "=" else message(fields, name, value)
        ret.setdefault(name.lstrip("="), []).append(value)
    assert at == len(data)
    return ret


def one(m, name, instead=0):
    return m.get(name, [instead])[0]
