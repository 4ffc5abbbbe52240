#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Makes of the program's own tables, by which it writes rows, too: the JSON Schema of rows, the lists of
kontend-rows(5), and for each engine the SQL that reads them. PAGE has a line "@TABLES@".
Called as: make.py KONTEND PAGE SCHEMA-OUT PAGE-OUT [FLEET-OUT]"""
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

# An engine: how it quotes a name, and its types.
ENGINES = {
    "duckdb": ('"', {"text": "VARCHAR", "int": "BIGINT", "real": "DOUBLE", "bool": "BOOLEAN",
                     "list": "{}[]", "map": "MAP(VARCHAR, {})"}),
    "clickhouse": ("`", {"text": "Nullable(String)", "int": "Nullable(Int64)", "real": "Nullable(Float64)",
                         "bool": "Nullable(Bool)", "list": "Array({})", "map": "Map(String, {})"}),
    "spark": ("`", {"text": "STRING", "int": "BIGINT", "real": "DOUBLE", "bool": "BOOLEAN",
                    "list": "ARRAY<{}>", "map": "MAP<STRING, {}>"}),
}
LOADS = {
    "duckdb": """-- Where are the rows? This loads files rows/*.ndjson, packed or not, for the queries beside it.
CREATE OR REPLACE TABLE kontend_rows AS
SELECT * FROM read_json('rows/*.ndjson*', format = 'newline_delimited', columns = {{
{columns}
}})
WHERE NOT coalesce(list_contains(marks, 'overlap'), false);
""",
    "clickhouse": """-- Where are the rows? This loads files rows/*.ndjson, packed or not, for the queries beside it.
CREATE OR REPLACE TABLE kontend_rows ENGINE = MergeTree ORDER BY tuple() AS
SELECT * FROM file('rows/*.ndjson*', 'JSONEachRow', '
{columns}
')
WHERE NOT has(marks, 'overlap');
""",
    "spark": """-- Where are the rows? This loads files rows/*.ndjson for the queries beside it.
CREATE OR REPLACE TEMPORARY VIEW kontend_files (
{columns}
) USING json OPTIONS (path 'rows/*.ndjson');
CACHE TABLE kontend_rows AS
SELECT * FROM kontend_files
WHERE NOT coalesce(array_contains(marks, 'overlap'), false);
""",
}


def sql_type(types, json_type):
    json_type = json_type.rstrip("~")
    if json_type[0] in "[{":
        inner = sql_type(types, json_type[1:-1])
        if json_type[0] == "[" and inner.startswith("Nullable("):
            inner = inner[9:-1]
        return types["list" if json_type[0] == "[" else "map"].format(inner)
    if json_type in ("text", "addr", "mark"):
        return types["text"]
    if json_type == "bool":
        return types["bool"]
    return types["real" if json_type in ("rate", "nsrate", "pct") else "int"]


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

    def columns(self):
        """Those of all tables, as engines have one for them: a name is of one type in all."""
        found = {}
        for key, json_type, _ in self.front + self.notes + sum((t[1] for t in self.tables.values()), []):
            known = found.setdefault(key, json_type)
            if sql_type(ENGINES["spark"][1], known) != sql_type(ENGINES["spark"][1], json_type):
                sys.exit(f"{key} is {known} in one table and {json_type} in another")
        return found

    def sql(self, engine):
        quote, types = ENGINES[engine]
        made = []
        for key, json_type in self.columns().items():
            name, kind = f"{quote}{key}{quote}", sql_type(types, json_type)
            made.append(f"  {name}: '{kind}'" if engine == "duckdb" else f"  {name} {kind}")
        return LOADS[engine].format(columns=",\n".join(made))

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
    kontend, page_in, schema_out, page_out, *fleet_out = sys.argv[1:]
    rows = Rows(kontend)
    with open(schema_out, "w", encoding="utf-8") as out:
        json.dump(rows.json_schema(), out, indent=1, ensure_ascii=False)
        out.write("\n")
    with open(page_in, encoding="utf-8") as page:
        text = page.read().replace("@TABLES@\n", "\n".join(make.wrapped(lists(rows))) + "\n")
    with open(page_out, "w", encoding="utf-8") as out:
        out.write(text)
    for engine in ENGINES if fleet_out else ():
        os.makedirs(os.path.join(fleet_out[0], engine), exist_ok=True)
        with open(os.path.join(fleet_out[0], engine, "rows.sql"), "w", encoding="utf-8") as out:
            out.write(rows.sql(engine))


main()
