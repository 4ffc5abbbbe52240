#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Makes the JSON Schema and the lists of kontend-json(7) of `members` and of the program's tables.
Called as: make.py KONTEND MEMBERS PAGE SCHEMA-OUT PAGE-OUT; PAGE has a line "@MEMBERS@"."""
import json
import re
import subprocess
import sys

HEX = "^0x[0-9a-f]+$"
# The type in JSON Schema, and in words.
TYPES = {
    "text": ({"type": "string"}, "text"),
    "count": ({"type": "integer", "minimum": 0}, "count"),
    "int": ({"type": "integer"}, "number"),
    "ns": ({"type": "integer", "minimum": 0}, "ns"),
    "time": ({"type": "integer", "minimum": 0}, "ns of the clock of the session"),
    "wall": ({"type": "integer", "minimum": 0}, "ns since 1970"),
    "rate": ({"type": "number"}, "per second"),
    "nsrate": ({"type": "number"}, "ns per second"),
    "pct": ({"type": "number"}, "percent"),
    "addr": ({"type": "string", "pattern": HEX}, "address"),
    "bool": ({"type": "boolean"}, "true or false"),
    "bytes": ({"type": "integer", "minimum": 0}, "bytes"),
    "number": ({"type": "number"}, "number"),
    "real_ns": ({"type": "number"}, "ns"),
    "any": ({}, "what that format says"),
}
UNITS = ("count", "ns", "time", "wall", "rate", "nsrate", "pct", "bytes", "real_ns")


class Bad(Exception):
    pass


class Thing:
    """An object, or the rows of a table."""

    def __init__(self, kind, name, title, section):
        self.kind, self.name, self.title, self.section = kind, name, title, section
        self.intro, self.parts, self.examples = [], [], {}


def read_members(path):
    things, section = [], None
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            line = line.rstrip("\n")
            try:
                if line.startswith("section "):
                    section = line[8:]
                elif line and not line.startswith("#"):
                    section = read_line(things, section, line)
            except (ValueError, IndexError) as e:
                sys.exit(f"{path}:{number}: {e}")
    return things


def read_line(things, section, line):
    begin = re.fullmatch(r"(document|object|line|open) (\w+) \| (.+)|(rows) (\w+)", line)
    if begin:
        kind, name = begin[1] or begin[4], begin[2] or begin[5]
        things.append(Thing(kind, name, begin[3], section))
        return None
    thing = things[-1]
    if line.startswith(": "):
        thing.intro.append(line[2:])
    elif line.startswith("+"):
        thing.parts.append(("also", line.split()[1], line.startswith("+?")))
    elif " | " in line:
        key, kind, example, text = line.split(" | ", 3)
        thing.parts.append(("member", key, kind, json.loads(example), text))
    else:
        key, example = line.split(" = ", 1)
        thing.examples[key] = json.loads(example)
    return section


def read_tables(kontend):
    out = subprocess.run([kontend, "dump", "json"], check=True, stdout=subprocess.PIPE).stdout
    tables = {}
    for line in out.decode().splitlines():
        table, key, kind, text = line.split("\t")
        tables.setdefault(table, []).append((key, kind, text))
    return tables


def sentence(text):
    """Help of a column as one."""
    first = text.split()[0]
    begin = text[0].upper() if first.isalpha() and first.islower() else text[0]
    return begin + text[1:].rstrip(".") + "."


def add_columns(things, tables):
    """The rows of a table are its columns; other members of them are in the file `members`."""
    for t in things:
        if t.kind != "rows":
            continue
        own, t.parts, t.title = t.parts, [], "Rows of " + t.name
        for key, kind, text in tables[t.name]:
            if key not in t.examples:
                raise Bad(f"rows {t.name}: give an example of column {key}, as in '{key} = 12'")
            example = t.examples.pop(key)
            t.parts.append(("member", key + "?", kind + "~", example, sentence(text)))
        if t.examples:
            raise Bad(f"rows {t.name}: there are no columns {', '.join(t.examples)}")
        t.parts += own


def schema_of(kind):
    null = kind.endswith("~")
    kind = kind.rstrip("~")
    unit = None
    if kind.startswith("["):
        inner, unit = schema_of(kind[1:-1])
        made = {"type": "array", "items": inner}
    elif kind.startswith("{"):
        made = {"$ref": "#/$defs/" + kind[1:-1]}
    elif kind.startswith("rows "):
        made = {"$ref": "#/$defs/rows_" + kind[5:]}
    elif kind.startswith("= "):
        made = {"const": int(kind[2:]) if kind[2:].isdigit() else kind[2:]}
    elif kind.startswith("one of "):
        made = {"enum": kind[7:].split(", ")}
    else:
        made = dict(TYPES[kind][0])
        unit = TYPES[kind][1] if kind in UNITS else None
    return (with_null(made) if null else made), unit


def with_null(made):
    if "$ref" in made:
        return {"anyOf": [made, {"type": "null"}]}
    if "const" in made:
        return {"enum": [made["const"], None]}
    if "enum" in made:
        return {"enum": made["enum"] + [None]}
    return {**made, "type": [made["type"], "null"]}


def members_of(thing, by_name):
    """All of them: (key, kind, example, text, is it optional)."""
    for part in thing.parts:
        if part[0] == "member":
            yield part[1].rstrip("?"), part[2], part[3], part[4], part[1].endswith("?")
        else:
            for key, kind, example, text, optional in members_of(by_name[part[1]], by_name):
                yield key, kind, example, text, optional or part[2]


def plain(lines):
    return re.sub(r" ([.,])", r"\1", " ".join(re.sub(r"^\.\w+ ", "", line) for line in lines))


def object_schema(thing, by_name):
    made = {"title": thing.title}
    if thing.intro:
        made["description"] = plain(thing.intro)
    made["type"] = "object"
    made["properties"], required = {}, []
    for key, kind, example, text, optional in members_of(thing, by_name):
        value, unit = schema_of(kind)
        value = {"description": text, **value, "examples": [example]}
        if unit:
            value["x-unit"] = unit
        if thing.kind == "open":
            made["additionalProperties"] = value
            continue
        if key in made["properties"]:
            raise Bad(f"{thing.name}: there are two members {key}")
        made["properties"][key] = value
        if not optional:
            required.append(key)
    made.setdefault("additionalProperties", False)
    if required:
        made["required"] = required
    return made


def is_document(thing):
    """Something that is printed as it is: a document, or a line of one."""
    return thing.kind in ("document", "line")


def references(value):
    return re.findall(r'"#/\$defs/(\w+)"', json.dumps(value))


def make_schema(things, by_name):
    defs = {}
    for t in things:
        defs[("rows_" if t.kind == "rows" else "") + t.name] = object_schema(t, by_name)
    documents = [t.name for t in things if is_document(t)]
    wanted = list(documents)
    for name in wanted:
        wanted += dict.fromkeys(n for n in references(defs[name]) if n not in wanted)
    parts = {p[1] for t in things for p in t.parts if p[0] == "also"}
    unused = [n for n in defs if n not in wanted and n not in parts]
    if unused:
        raise Bad("nothing has " + ", ".join(unused))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "JSON of kontend",
        "description": "Every document that kontend prints; kontend-json(7) explains it. "
        "Of kontend script each line is one.",
        "anyOf": [{"$ref": "#/$defs/" + n} for n in documents],
        "$defs": {n: d for n, d in defs.items() if n in wanted},
    }


def escape(text):
    """A line that mdoc takes as text; of a macro's line, see quoted()."""
    text = text.replace("\\", "\\e").replace("()", "\\&()")
    return "\\&" + text if text[:1] in (".", "'") else text


def quoted(text):
    text = text.replace("\\", "\\e").replace('"', '""')
    return f'"{text}"'


def kind_words(kind):
    null = kind.endswith("~")
    kind = kind.rstrip("~")
    if kind.startswith("["):
        words = "list of " + kind_words(kind[1:-1])
    elif kind.startswith("{"):
        words = "object"
    elif kind.startswith("rows "):
        words = "rows"
    elif kind.startswith("= "):
        words = "always this"
    elif kind.startswith("one of "):
        words = "one of " + kind[7:]
    else:
        words = TYPES[kind][1]
    return words + (", or null" if null else "")


def member_lines(key, kind, example, text):
    optional = ", not always there" if key.endswith("?") else ""
    words = kind_words(kind) + optional
    yield f".It Va {key.rstrip('?')} Pq " + re.sub(r" ([?.:;!])(?=[ ,]|$)", r" \\&\1", words)
    for line in re.split(r"(?<=[.;:]) (?=[A-Z0-9])", text):
        yield escape(line)
    if example in ([], {}) or "rows" in kind:
        return
    yield "Example:"
    yield f".Li {quoted(json.dumps(example, ensure_ascii=False))}"


def see(kind, by_name):
    inner = re.search(r"\{(\w+)\}|rows (\w+)", kind)
    if inner:
        yield "See"
        yield f".Sx {by_name[inner[1]].title if inner[1] else 'Rows of ' + inner[2]} ."


def thing_lines(thing, by_name):
    yield f".Ss {thing.title}"
    yield from thing.intro
    also = [by_name[p[1]].title for p in thing.parts if p[0] == "also"]
    own = [p for p in thing.parts if p[0] == "member"]
    if also:
        yield "Has the members of"
    for i, title in enumerate(also):
        last = i + 1 == len(also)
        yield (f".Sx {title} " + ("" if last and own else "." if last else ",")).rstrip()
        if i + 2 == len(also):
            yield "and of"
    if also and own:
        yield "and:"
    if own:
        yield ".Bl -tag -width Ds -compact"
    for part in own:
        yield from member_lines(*part[1:])
        yield from see(part[2], by_name)
    if own:
        yield ".El"


def wrapped(lines):
    """Lines of text of at most 80 bytes, none of which becomes a macro."""
    for line in lines:
        if line.startswith("."):
            yield line
            continue
        parts = [""]
        for word in line.split(" "):
            more = 2 if word[-1:] in (".", "!", "?") else 0
            if parts[-1] and len(f"{parts[-1]} {word}".encode()) + more > 80 and word[:1] not in (".", "'"):
                # At the end of a line a full stop, or its like, would end a sentence.
                parts[-1] += "\\&" if parts[-1][-1] in ".!?" else ""
                parts.append(word)
            else:
                parts[-1] = (parts[-1] + " " + word) if parts[-1] else word
        yield from parts


def make_page(things, by_name, path):
    made = []
    for t in things:
        if t.section:
            made.append(f".Sh {t.section}")
        made += thing_lines(t, by_name)
    with open(path, encoding="utf-8") as page:
        return page.read().replace("@MEMBERS@\n", "\n".join(wrapped(made)) + "\n")


def main():
    kontend, members, page_in, schema_out, page_out = sys.argv[1:]
    things = read_members(members)
    by_name = {t.name: t for t in things if t.kind != "rows"}
    try:
        add_columns(things, read_tables(kontend))
        schema = make_schema(things, by_name)
        page = make_page(things, by_name, page_in)
    except (Bad, KeyError) as e:
        sys.exit(f"{members}: {e}")
    with open(schema_out, "w", encoding="utf-8") as out:
        json.dump(schema, out, indent=1, ensure_ascii=False)
        out.write("\n")
    with open(page_out, "w", encoding="utf-8") as out:
        out.write(page)


if __name__ == "__main__":
    main()
