#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The table of views by kernel in a manual page is what tests in machines have measured (tests/vm/views/*.rows). With
UPDATE=1 it is made from that. Called as: kernels.py PAGE FOLDER"""
import glob
import os
import re
import sys

BEGIN = '.\\" The table of tests/man/kernels.py begins here.\n'
END = '.\\" It ends here.\n'
CELL = {"works": "yes", "part": "part", "no": "no"}
MOST = 78


def order(kernel):
    """x86-64 first, by number."""
    version, machine = kernel.split("-", 1)
    return (not machine.endswith("x86_64"), [int(n) for n in version.split(".")], machine)


def title(kernel):
    return kernel.replace("-x86_64", "").replace("-aarch64", " arm64")


def read(folder):
    kernels, names = {}, []
    for path in glob.glob(os.path.join(folder, "*.rows")):
        with open(path, encoding="utf-8") as f:
            rows = [line.rstrip("\n").split("\t") for line in f]
        kernels[os.path.basename(path)[: -len(".rows")]] = {row[0]: (row[1], "".join(row[2:])) for row in rows}
        names += [row[0] for row in rows if row[0] not in names]
    return sorted(kernels, key=order), names, kernels


def escape(text):
    return re.sub(r"^([.'])", r"\\&\1", text.replace("\\", "\\e").replace("--", "\\-\\-"))


def lines(text):
    """Broken where they have blanks; a sentence has a line of its own."""
    out = []
    for sentence in re.split(r"(?<=[.]) (?=[A-Z])", text):
        line = ""
        for word in sentence.split(" "):
            if line and len(line) + len(word) >= MOST:
                out.append(line)
                line = word
            else:
                line = (line + " " + word).strip()
        out.append(line)
    return [escape(line) for line in out]


def sentence(text):
    text = text[:1].upper() + text[1:]
    return text if text.endswith(".") else text + "."


def table(folder):
    kernels, names, cells = read(folder)
    titles = [title(k) for k in kernels]
    out = [".Bl -column " + " ".join('"%s"' % t for t in ("locks, by perf's events", *["6.12-rt"] * len(titles))),
           ".It Sy view " + " ".join("Ta Sy \"%s\"" % t for t in titles)]
    reasons = {}
    for name in names:
        row = [cells[k].get(name, ("no", "not tried")) for k in kernels]
        out.append(".It %s %s" % (escape(name), " ".join("Ta " + CELL[state] for state, _ in row)))
        for kernel, (_, reason) in zip(titles, row):
            if reason:
                reasons.setdefault((sentence(reason)), {}).setdefault(name, []).append(kernel)
    out += [".El", ".Pp", "Where a cell is not", ".Ql yes :", ".Bl -tag -width Ds"]
    for reason, views in reasons.items():
        by_kernels = {}
        for name, on in views.items():
            by_kernels.setdefault(", ".join(on) if len(on) < len(titles) else "all", []).append(name)
        for on, of in by_kernels.items():
            out += [".It %s, on %s" % (escape(", ".join(of)), on)]
        out += lines(reason)
    out.append(".El")
    return "".join(line + "\n" for line in out)


def main(page, folder):
    with open(page, encoding="utf-8") as f:
        text = f.read()
    head, found, rest = text.partition(BEGIN)
    old, ends, tail = rest.partition(END)
    if not found or not ends:
        print("FAIL %s has no place for the table of kernels" % page)
        return 1
    new = table(folder)
    if old == new:
        return 0
    if os.environ.get("UPDATE"):
        with open(page, "w", encoding="utf-8") as f:
            f.write(head + BEGIN + new + END + tail)
        return 0
    print("FAIL the table of kernels in %s is not what was measured; run this test with UPDATE=1" % page)
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
