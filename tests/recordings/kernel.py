#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Kernel symbols from a file that was given: the kernel ran at another address than in the file.

    kernel.py KONTEND"""
import collections
import csv
import io
import os
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../live"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
import perffile as pf
from cases import K, START, named, some
from checks import check, done

kontend = sys.argv[1]
MOVED = 0x2400000
SYMBOLS = ((0, "_text"), (0, "startup"), (0x200, "_stext"), (0x1000, "first"), (0x2000, "second"), (0x3000, "third"))
ID = bytes(range(20))
MODULE = 0xffffffffc0000000


def run(*args):
    return subprocess.run((kontend,) + args, capture_output=True, text=True, check=False)


class WithId(pf.Recording):
    """A recording that says the build id of its kernel."""

    def feature_sections(self):
        name = b"[kernel.kallsyms]\0".ljust(24, b"\0")
        one = struct.pack("<IHHi", 67, 1 | 1 << 15, 36 + len(name), -1) + ID + bytes((20, 0, 0, 0)) + name
        return sorted(super().feature_sections() + [(2, one)])


def recording(path, name="_text", at=K, kind=pf.Recording):
    cycles = pf.Event("cycles")
    rec = kind(cycles)
    if name:
        rec.mmap(-1, at, 0x1000000, at, "[kernel.kallsyms]" + name, START - 2000, kernel=True)
    named(rec)
    some(rec, cycles, 9)  # three in first, six in second
    some(rec, cycles, 4, begin=START + 20_000_000, ips=(MODULE + 0x10,))
    with open(path, "wb") as f:
        f.write(rec.as_file())
    return path


def kallsyms(path, base, symbols=SYMBOLS):
    with open(path, "w", encoding="ascii") as f:
        f.write("0000000000000000 A fixed_percpu_data\n")
        for at, name in symbols:
            f.write("%016x T %s\n" % (base + at, name))
        f.write("%016x t in_module\t[module]\n" % MODULE)
    return path


def elf(path, base, symbols=SYMBOLS, build_id=ID):
    """An ELF file with one section of code, and a symbol table if there are @symbols."""
    names = b"\0" + b"".join(name.encode() + b"\0" for _, name in symbols)
    table = bytes(24)
    for at, name in symbols:
        table += struct.pack("<IBBHQQ", names.index(b"\0" + name.encode() + b"\0") + 1, 0x12, 0, 1, base + at, 0)
    words = b"\0.text\0.symtab\0.strtab\0.shstrtab\0.note.gnu.build-id\0"
    note = struct.pack("<III", 4, len(build_id), 3) + b"GNU\0" + build_id
    at = 64
    heads = bytes(64) + struct.pack("<IIQQQQIIQQ", 1, 1, 6, base, 64, 0, 0, 0, 16, 0)
    bodies = b""
    for name, kind, body, link, info, size in ((".symtab", 2, table, 3, 1, 24), (".strtab", 3, names, 0, 0, 0),
                                               (".shstrtab", 3, words, 0, 0, 0),
                                               (".note.gnu.build-id", 7, note, 0, 0, 0)):
        if not symbols and kind == 2:
            kind = 1
        heads += struct.pack("<IIQQQQIIQQ", words.index(name.encode()), kind, 0, 0, at + len(bodies), len(body), link,
                             info, 8, size)
        bodies += body
    with open(path, "wb") as f:
        f.write(b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, base, 0, at + len(bodies), 0,
                                                          64, 0, 0, 64, 6, 4) + bodies + heads)
    return path


def hot(path, *more):
    p = run("report", "--no-config", "-i", path, "--view", "hot", "--rows", "0", "--format", "csv", *more)
    check(p.returncode == 0, "%s: status %d: %s" % (more, p.returncode, p.stderr))
    return list(csv.DictReader(io.StringIO(p.stdout))), p.stderr


def check_names(path, expected, say, *more):
    rows, err = hot(path, *more)
    found = {r["symbol"]: int(r["samples"]) for r in rows}
    check(found == expected, "%s: %s, expected %s" % (more, found, expected))
    check(say in err, "%s: '%s' is not in '%s'" % (more, say, err))


def check_refused(say, *args):
    p = run("report", "--no-config", *args)
    check(p.returncode != 0 and say in p.stderr, "%s: status %d: %s" % (args, p.returncode, p.stderr))


def check_made(folder):
    at = lambda name: os.path.join(folder, name)
    plain = recording(at("plain.data"))
    same, other = kallsyms(at("same"), K), kallsyms(at("other"), K + MOVED)
    known = {"first": 3, "second": 6}
    unknown = {"0x%x" % (MODULE + 0x10): 4}
    check_names(plain, {**known, "in_module": 4}, "those of '%s'\n" % same, "--kallsyms", same)
    moved = dict(known, **unknown)
    check_names(plain, moved, "moved by -0x2400000, and of no module", "--kallsyms", other)
    check_names(plain, moved, "moved by 0x2400000,", "--kallsyms", kallsyms(at("below"), K - MOVED))
    check_names(plain, moved, "moved by -0x2400000,", "--vmlinux", elf(at("vmlinux"), K + MOVED))
    check_names(plain, moved, "moved by -0x2400000,", "--no-sandbox", "--kallsyms", other)
    built = recording(at("built.data"), kind=WithId)
    check_names(built, moved, "moved by -0x2400000,", "--vmlinux", at("vmlinux"))
    other_build = elf(at("other-build"), K + MOVED, build_id=ID[::-1])
    check_names(built, hot_without_names(built), "'%s' is another build of the kernel" % other_build,
                "--vmlinux", other_build)
    # of _stext, 0x200 after _text; and without either
    check_names(recording(at("stext.data"), "_stext", K + 0x200), moved, "moved by -0x2400000", "--kallsyms", other)
    check_names(recording(at("nowhere.data"), None), {**known, "in_module": 4}, "does not say where its kernel ran",
                "--kallsyms", same)
    part = kallsyms(at("part"), K, [s for s in SYMBOLS if s[1] != "_text"])
    check_names(plain, hot_without_names(plain), "No kernel symbols: '%s' has no _text" % part, "--kallsyms", part)
    with open(at("text"), "w", encoding="ascii") as f:
        f.write("no symbols\0 _text\n0 T\0 _text")
    check_refused("the file has no address of _text", "-i", plain, "--kallsyms", at("text"))
    check_refused("is not stripped", "-i", plain, "--vmlinux", elf(at("stripped"), K, ()))
    check_refused("Cannot open the kernel symbols", "-i", plain, "--vmlinux", at("missing"))
    check_refused("exclude each other", "-i", plain, "--vmlinux", same, "--kallsyms", same)
    check_refused("is for reading a recording", "--kallsyms", same)


def hot_without_names(path):
    return {r["symbol"]: int(r["samples"]) for r in hot(path)[0]}


def of_perf(path, symbols):
    """Samples of each kernel function."""
    p = subprocess.run(("perf", "report", "-i", path, "--kallsyms", symbols, "--stdio", "--no-children", "-g", "none",
                        "--sort", "dso,sym", "-F", "overhead,sample,dso,sym", "-t", ",", "--percent-limit", "0"),
                       capture_output=True, text=True, check=False)
    ret = collections.Counter()
    for line in p.stdout.splitlines():
        words = [w.strip() for w in line.split(",")]
        if len(words) == 4 and words[2].startswith("[kernel.kallsyms]") and words[3].startswith("[k] "):
            ret[words[3][4:]] += int(words[1])
    return ret


def merged(counts, symbols):
    """The same with one name for each address: perf may choose another of several."""
    first, ret = {}, collections.Counter()
    names = collections.defaultdict(set)
    with open(symbols, encoding="ascii") as f:
        for line in f:
            addr, _, name = line.split()[:3]
            names[name].add(first.setdefault(addr, name))
    for name, n in counts.items():
        of = names.get(name, {name})
        ret[next(iter(of)) if len(of) == 1 else name] += n
    return ret


def check_with_perf(folder):
    """A recording of this machine, as if the kernel of the file had been at another address."""
    path, symbols = os.path.join(folder, "perf.data"), os.path.join(folder, "moved")
    p = subprocess.run(("perf", "record", "-q", "-e", "cpu-clock:k", "-o", path, "--", "dd", "if=/dev/zero",
                        "of=/dev/null", "bs=512", "count=1000000"), capture_output=True, text=True, check=False)
    if p.returncode:
        print("perf records nothing here: %s" % p.stderr)
        return
    with open("/proc/kallsyms", encoding="ascii") as f, open(symbols, "w", encoding="ascii") as to:
        for line in f:
            addr, rest = line.split(" ", 1)
            v = int(addr, 16)
            if "[" not in rest:
                to.write("%016x %s" % (v + MOVED if v >> 63 else v, rest))
    theirs = of_perf(path, symbols)
    if not theirs:
        print("perf names no function here")
        return
    rows, err = hot(path, "--kallsyms", symbols)
    check("moved by -0x2400000" in err, err)
    ours = {r["symbol"]: int(r["samples"]) for r in rows if r["object"] == "[kernel]"}
    ours, theirs = merged(ours, symbols), merged(theirs, symbols)
    whole = sum(theirs.values())
    check(whole > 50, "perf has only %d samples" % whole)
    for name, n in theirs.items():
        check(abs(ours.get(name, 0) - n) * 1000 <= whole or name.startswith("0x"),
              "%s: %d samples, perf has %d of %d" % (name, ours.get(name, 0), n, whole))


with tempfile.TemporaryDirectory() as made:
    check_made(made)
    if shutil.which("perf"):
        check_with_perf(made)
done()
