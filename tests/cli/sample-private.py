#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Private data in a recording of the machine where it was made: its names, those of users' folders, of tasks
that were not the sample's. Prints each; called as sample-private.py RECORDING."""
import re
import struct
import subprocess
import sys

COMPRESSED, COMPRESSED2, HOSTNAME = 81, 83, 3
PRIVATE = re.compile(rb"/(?:home|root|work|tmp|build|mnt)/[ -~]*|[ -~]*(?:process_api|memfd)[ -~]*")

with open(sys.argv[1], "rb") as f:
    data = f.read()
at, size = struct.unpack_from("<QQ", data, 40)
features, packed = at + size, b""
while at < features:
    kind, _, n = struct.unpack_from("<IHH", data, at)
    if kind == COMPRESSED:
        packed += data[at + 8:at + n]
    elif kind == COMPRESSED2:
        packed += data[at + 16:at + 16 + struct.unpack_from("<Q", data, at + 8)[0]]
    at += n
try:
    events = subprocess.run(["zstd", "-dc"], input=packed, capture_output=True, check=True).stdout
except FileNotFoundError:
    print("zstd is not installed: compressed records are not looked at", file=sys.stderr)
    events = b""
for text in sorted(set(PRIVATE.findall(data) + PRIVATE.findall(events))):
    print(text.decode("ascii"))
bits = [i for i in range(256) if data[72 + i // 8] >> i % 8 & 1]
at, size = struct.unpack_from("<QQ", data, features + 16 * bits.index(HOSTNAME))
name = data[at + 4:at + size].rstrip(b"\0").decode("ascii")
if name != "example":
    print("host name " + name)
