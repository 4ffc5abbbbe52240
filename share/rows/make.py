#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Makes the JSON Schema of rows and the lists of kontend-rows(5) of the program's own tables, by which it
writes rows, too. Called as: make.py KONTEND PAGE SCHEMA-OUT PAGE-OUT; PAGE has a line "@TABLES@"."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "json"))
import make  # noqa: E402

OWN = {
    "[mark]": "list of texts",
    "{text}": "object of texts",
    "{count}": "object of counts",
    "[count]": "list of counts",
}


class Rows:
    """What `kontend dump rows` prints: the front, what may follow it, and each table."""

    def __init__(self, kontend):
        out = subprocess.run([kontend, "dump", "rows"], check=True, stdout=subprocess.PIPE).stdout
        self.front, self.notes, self.marks, self.tables = [], [], [], {}
        for line in out.decode().splitlines():
            kind, key, json_type, text = line.split("\t")
            self.take(kind, key, json_type, text)

    def take(self, kind, key, json_type, text):
        if kind == "schema":
            self.schema = key
        elif kind == "marks":
            self.marks.append(key)
        elif kind == "table":
            self.tables[key] = (text, [])
        elif kind in ("front", "notes"):
            getattr(self, kind).append((key, json_type, text))
        else:
            self.tables[kind][1].append((key, json_type, text))

    def value(self, json_type, text):
        if json_type == "[mark]":
            made, unit = {"type": "array", "items": {"enum": self.marks}}, None
        elif json_type.startswith("{"):
            made, unit = make.schema_of(json_type[1:-1])
            made = {"type": "object", "additionalProperties": made}
        else:
            made, unit = make.schema_of(json_type)
        made = {"description": make.sentence(text), **made}
        if unit:
            made["x-unit"] = unit
        return made

    def table_schema(self, name):
        title, columns = self.tables[name]
        properties = {k: self.value(t, h) for k, t, h in self.front + self.notes + columns}
        properties["schema"] = {**properties["schema"], "const": self.schema}
        properties["table"] = {**properties["table"], "const": name}
        return {
            "title": "A row: " + title,
            "type": "object",
            "properties": properties,
            "required": [key for key, _, _ in self.front],
            "additionalProperties": False,
        }

    def json_schema(self):
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Rows of kontend",
            "description": f"Each line of `kontend export --format ndjson`, {self.schema}; kontend-rows(5) "
            "explains it. What is not known is not there.",
            "anyOf": [{"$ref": "#/$defs/" + name} for name in self.tables],
            "$defs": {name: self.table_schema(name) for name in self.tables},
        }


def member(key, json_type, text):
    words = OWN.get(json_type) or make.kind_words(json_type)
    yield f".It Va {key} Pq {words}"
    yield make.escape(make.sentence(text))


def items(members):
    yield ".Bl -tag -width Ds -compact"
    for m in members:
        yield from member(*m)
    yield ".El"


def lists(rows):
    yield ".Sh THE FRONT"
    yield "Every row begins with these, and has all of them:"
    yield from items(rows.front)
    yield ".Pp"
    yield "These may follow:"
    yield from items(rows.notes)
    yield ".Sh TABLES"
    for name, (title, columns) in rows.tables.items():
        yield f".Ss {name}"
        yield f"A row is {title}."
        yield from items(columns)


def main():
    kontend, page_in, schema_out, page_out = sys.argv[1:]
    rows = Rows(kontend)
    with open(schema_out, "w", encoding="utf-8") as out:
        json.dump(rows.json_schema(), out, indent=1, ensure_ascii=False)
        out.write("\n")
    with open(page_in, encoding="utf-8") as page:
        text = page.read().replace("@TABLES@\n", "\n".join(make.wrapped(lists(rows))) + "\n")
    with open(page_out, "w", encoding="utf-8") as out:
        out.write(text)


main()
