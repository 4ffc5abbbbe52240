#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What a manual page says of a column begins with that column's help, word by word; more may follow.
"Reports only" and "Not in reports" are true.
Called as: columns.py PAGE SECTION, the lines of `kontend dump columns` of one table as input."""
import re
import sys


def is_inside(line, section):
    return re.fullmatch(r"\.S[hs] " + re.escape(section), line)


def words(line):
    """A line of text, or of a macro with its arguments as text."""
    line = line.replace("\\(pc", "·").replace("\\&", "").replace("\\e", "\\")
    if not line.startswith("."):
        return line
    macro, _, rest = line[1:].partition(" ")
    if macro in ("Bl", "El", "Pp", "It"):
        return ""
    if macro in ("Pq", "Po", "Pc"):
        rest = rest.replace("Sx ", "").replace("Ic ", "").replace("Sy ", "")
        return "(" + rest + ")"
    rest = re.sub(r"\b(Fl|Ar|Sy|Va|Ql|Xr|Ic|Li|Ns|Sx|Pa|Cm) ", lambda m: "-" if m[1] == "Fl" else "", rest)
    text = ("-" if macro == "Fl" else "") + rest
    return re.sub(r" ([.,:;)])", r"\1", text).replace('"', "")


def items(page, section):
    inside, key, found = False, None, {}
    with open(page, encoding="utf-8") as lines:
        for line in lines.read().splitlines():
            if re.match(r"\.S[hs] ", line):
                inside, key = is_inside(line, section), None
            elif inside and line.startswith(".It Va "):
                key = line.split()[2]
                found[key] = []
            elif inside and line.startswith(".El"):
                key = None
            elif key:
                found[key].append(words(line))
    return {k: re.sub(r"\s+", " ", " ".join(v)).strip() for k, v in found.items()}


def say(section, key, what):
    print(f"the manual, {section}, column {key}: {what}")
    return 1


def plain(text):
    """Words without their punctuation: a colon may be a full stop."""
    return [w for w in (re.sub(r"^[(.,:;]+|[).,:;]+$", "", w).lower() for w in text.split()) if w]


def check(section, text, row):
    _, key, title, report, help_text = row
    wanted, found = plain(help_text), plain(text)
    if found[:1] == ["the"] and wanted[:1] != ["the"]:
        found = found[1:]
    bad = 0
    if found[: len(wanted)] != wanted:
        bad += say(section, key, f"\n  the program: {help_text}\n  the manual:  {text}")
    if "Reports only." in text and (title or not report):
        bad += say(section, key, "is not in reports only")
    if "Not in reports." in text and report:
        bad += say(section, key, "is in reports")
    return bad


def main():
    page, section = sys.argv[1:]
    texts = items(page, section)
    rows = [line.split("\t") for line in sys.stdin.buffer.read().decode().splitlines()]
    bad = sum(check(section, texts.get(row[1], ""), row) for row in rows)
    sys.exit(bad > 0)


main()
