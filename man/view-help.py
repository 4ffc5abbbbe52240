#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""view-help.py PAGE OUTPUT: kontend-views(7) as plain text, for `kontend help VIEW`. Each view, section and
subsection is a part: a line "\f" with its title, then its text in 80 columns, then lines "\v" with the titles of the
sections that the entry of a view refers to. Of mdoc it knows what that page has; another macro is an error."""
import re
import sys
import textwrap

WIDTH = 80
ESCAPES = {r"\(>=": "≥", r"\(pc": "·", r"\(br": "│", r"\(da": "↓", r"\(fo": "‹", r"\(fc": "›", r"\(ti": "~", r"\e": "\\",
           r"\-": "-", r"\&": ""}
PLAIN = {"Ic", "Cm", "Ar", "Pa", "Va", "Li", "Sy", "Em", "Sx", "No", "Ql", "Dv", "Ta"}
CLOSING = set(".,:;)!?")


def unescape(text):
    return re.sub(r"\\(\(..|.)", lambda m: ESCAPES[m[0]] if m[0] in ESCAPES else fail(m[0]), text)


def fail(what):
    sys.exit(f"{sys.argv[1]}: {what} is not known to view-help.py")


def tokens(line):
    return [(m[1] if m[1] is not None else m[2], m[1] is not None)
            for m in re.finditer(r'"((?:[^"]|"")*)"|(\S+)', line)]


def inline(line):
    """A line of macros as text."""
    out, glue, flag, close, words = "", True, "", "", tokens(line)
    i = 0

    def put(word):
        nonlocal out, glue
        if word in CLOSING or glue or not out:
            out += word
        else:
            out += " " + word
        glue = word.endswith("(")

    while i < len(words):
        word, quoted = words[i]
        i += 1
        if quoted or word not in PLAIN | {"Fl", "Xr", "Nm", "Ns", "Pq", "Po", "Pc", "Dq", "Fn", "Nd"}:
            if flag and unescape(word) not in CLOSING:
                word, flag = "-" + word, ""
            put(unescape(word))
        elif word == "Nm":
            put("kontend")
            i += words[i:i + 1] == [("kontend", False)]
        elif word == "Ns":
            glue = True
        elif word == "Xr":
            put(f"{words[i][0]}({words[i + 1][0]})")
            i += 2
        elif word == "Fn":
            put(words[i][0] + "()")
            i += 1
        elif word in ("Pq", "Po", "Dq"):
            put("(" if word != "Dq" else '"')
            glue = True
            close = {"Pq": ")", "Dq": '"', "Po": ""}[word] or close
        elif word == "Pc":
            out += ")"
        flag = "-" if word == "Fl" and not quoted else flag if word in PLAIN and not quoted else ""
    if close:
        tail = re.search(r"[.,:;]*$", out).start()
        out = out[:tail] + close + out[tail:]
    return out


class Text:
    """What is written into a part: paragraphs at their indentation."""

    def __init__(self):
        self.lines, self.words, self.depth, self.literal = [], [], 0, False

    def flush(self):
        if self.words:
            pad = "  " * self.depth
            self.lines += textwrap.wrap(" ".join(self.words), WIDTH, initial_indent=pad, subsequent_indent=pad,
                                        break_long_words=False, break_on_hyphens=False)
        self.words = []

    def blank(self):
        self.flush()
        if self.lines and self.lines[-1]:
            self.lines.append("")

    def put(self, text):
        if self.literal:
            self.lines.append("  " * (self.depth + 1) + text)
        elif self.words and text and (text[0] in CLOSING or self.words[-1].endswith("(")):
            self.words[-1] += text
        elif text:
            self.words.append(text)

    def item(self, text):
        self.flush()
        self.depth -= 1
        self.put(text)
        self.flush()
        self.depth += 1


def parts(lines):
    """(title, text, references) of each view and section."""
    part, title, refers, found, section = Text(), None, [], [], ""

    def end():
        part.flush()
        if title:
            while part.lines and not part.lines[-1]:
                part.lines.pop()
            found.append((title, part.lines, refers))

    for number, line in enumerate(lines, 1):
        macro, _, rest = line[1:].partition(" ") if line.startswith(".") else ("", "", line)
        view = re.match(r"\.It Ic \S+ Cm (\S+)", line) if section == "VIEWS" else None
        if line.startswith('.\\"'):
            continue
        if macro in ("Sh", "Ss") or view:
            end()
            part, refers = Text(), []
            title = "view " + view[1] if view else unescape(rest)
            section = rest if macro == "Sh" else section
            if macro == "Ss":
                section = ""
        elif macro == "It":
            part.item(inline(rest))
        elif macro == "Bl":
            part.flush()
            part.depth += 1
        elif macro == "El":
            part.flush()
            if title and title.startswith("view "):
                end()
                part, title, refers = Text(), None, []
            part.depth = max(0, part.depth - 1)
        elif macro in ("Bd", "Ed"):
            part.flush()
            part.literal = macro == "Bd"
        elif macro == "Pp":
            part.blank()
        elif macro == "Dl":
            part.flush()
            part.lines.append("  " * (part.depth + 1) + inline(rest))
        elif macro in ("Dd", "Dt", "Os", "Nd"):
            pass
        elif line.startswith("."):
            if macro not in PLAIN | {"Fl", "Xr", "Nm", "Pq", "Po", "Pc", "Dq", "Fn"}:
                fail(f"line {number}: the macro {macro}")
            if macro == "Sx":
                refers.append(unescape(re.sub(r" [.,:;]$", "", rest)).replace('"', ""))
            part.put(inline(line[1:]))
        else:
            part.put(unescape(line))
    end()
    return found


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        found = parts(f.read().splitlines())
    with open(sys.argv[2], "w", encoding="utf-8") as f:
        for title, lines, refers in found:
            f.write("\f" + title + "\n" + "".join(line + "\n" for line in lines))
            if title.startswith("view "):
                f.write("".join("\v" + name + "\n" for name in refers))


main()
