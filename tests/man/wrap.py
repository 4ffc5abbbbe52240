#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Breaks lines of text of manual pages that are longer than 80 bytes, where they have blanks. Macros, literal
displays and tables stay. Called as: wrap.py PAGE..."""
import sys

MOST = 80


def wrapped(line):
    out = ""
    for word in line.split(" "):
        # At the begin of a line a dot, or a quote, would begin a macro.
        more = 2 if word[-1:] in (".", "!", "?") else 0
        fits = len((out + " " + word).encode()) + more <= MOST or word[:1] in (".", "'")
        if out and not fits:
            # At its end a full stop, or its like, would end a sentence.
            yield out + ("\\&" if out[-1] in ".!?" else "")
            out = word
        else:
            out = out + " " + word if out else word
    yield out


def main():
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as page:
            lines = page.read().splitlines()
        out, literal = [], False
        for line in lines:
            if line.startswith(".Bd"):
                literal = True
            elif line.startswith(".Ed"):
                literal = False
            is_text = not literal and not line.startswith((".", "'")) and "\t" not in line
            out += wrapped(line) if is_text and len(line.encode()) > MOST else [line]
        with open(path, "w", encoding="utf-8") as page:
            page.write("\n".join(out) + "\n")


main()
