#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""picture.py PICTURE TEXT: the picture is well-formed and holds the text, row by row, with nothing
that could do or fetch something; each run is where its columns are. Prints what is wrong."""
import sys
import xml.etree.ElementTree as tree

SVG = "{http://www.w3.org/2000/svg}"
KNOWN = {SVG + tag for tag in ("svg", "title", "style", "rect", "g", "path", "text", "tspan")}
CELL = 9


def width(row):
    """Columns of a row; those that kontend draws in two are ideographs here."""
    return sum(2 if "\u1100" <= c <= "\u115f" or "\u2e80" <= c <= "\uffdc" else 1 for c in row)


def wrong(picture, text):
    root = tree.parse(picture).getroot()
    for node in root.iter():
        if node.tag not in KNOWN:
            yield f"an element {node.tag}"
        for name, value in node.attrib.items():
            if name.startswith("on") or "href" in name or "url(" in value:
                yield f"an attribute {name}={value}"
    style = "".join(root.find(SVG + "style").itertext())
    if "url(" in style or "@" in style:
        yield "a style that fetches something"
    with open(text, encoding="utf-8") as f:
        rows = f.read().split("\n")[:-1]
    seen = ["".join(t.itertext()) for t in root.iter(SVG + "text")]
    if len(rows) != len(seen):
        yield f"{len(seen)} rows, and not {len(rows)}"
    for number, (row, drawn) in enumerate(zip(rows, seen)):
        if row != drawn:
            yield f"row {number}: {drawn!r}, and not {row!r}"
    for line in root.iter(SVG + "text"):
        column = 0
        for run in line:
            columns = width(run.text)
            if int(run.get("x")) != column * CELL or int(run.get("textLength")) != columns * CELL:
                yield f"{run.text!r} is at {run.attrib}, and not at column {column}"
            column += columns


faults = list(wrong(*sys.argv[1:3]))
if faults:
    print("\n".join(faults))
sys.exit(bool(faults))
