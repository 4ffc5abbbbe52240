#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What readers of the manual stumble over: an option that two pages explain at length in the same words, a paragraph
of hundreds of words, a verb that the synopsis of kontend(1) leaves out.
Called as: wording.py MAN-FOLDER VERB..."""
import glob
import os
import re
import sys

SAME = 40  # words of an option that may stand in two pages
PARAGRAPH = 180


def words(text):
    return len([w for w in text.split() if not re.fullmatch(r"\.[A-Z][a-z]|[.,:;()]", w)])


def repeats(pages):
    seen = {}
    for name, text in pages.items():
        for m in re.finditer(r"^\.It (Fl .*)\n((?:(?!\.It |\.El|\.S[hs] ).*\n)*)", text, re.M):
            if words(m[2]) < SAME:
                continue
            other = seen.setdefault((m[1], m[2]), name)
            if other != name:
                yield f"{name}: {m[1]} is explained in the words of {other}: let one page refer to the other"


def long_paragraphs(name, text):
    n = begin = 0
    literal = False
    for number, line in enumerate(text.splitlines(), 1):
        literal = literal and not line.startswith(".Ed") or line.startswith(".Bd")
        if literal or re.match(r"\.(Pp|S[hs]|It|Bl|El|Ed|D[l1])\b", line):
            if n > PARAGRAPH:
                yield f"{name}:{begin}: a paragraph of {n} words, more than {PARAGRAPH}"
            n, begin = 0, number + 1
        else:
            n += words(line)


def missing_verbs(text, verbs):
    synopsis = text[text.index(".Sh SYNOPSIS"):text.index(".Sh DESCRIPTION")]
    described = text[text.index(".Sh DESCRIPTION"):text.index(".Sh OPTIONS")]
    for verb in verbs:
        if not re.search(rf"\b{verb}\b", synopsis):
            yield f"kontend.1: the synopsis has no {verb}"
        if not re.search(rf"^\.It Cm {verb}\b", described, re.M):
            yield f"kontend.1: the list of verbs has no {verb}"


def main():
    folder, verbs = sys.argv[1], sys.argv[2:]
    pages = {}
    for path in sorted(glob.glob(os.path.join(folder, "*.[1-8]"))):
        with open(path, encoding="utf-8") as page:
            pages[os.path.basename(path)] = page.read()
    findings = list(repeats(pages)) + list(missing_verbs(pages["kontend.1"], verbs))
    for name, text in pages.items():
        findings += long_paragraphs(name, text)
    print("\n".join(findings))
    sys.exit(bool(findings) or not verbs)


main()
