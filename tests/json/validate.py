#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""JSON that kontend printed, held against its schema: no member that is not in there, none missing, types
and values as it says, no member twice.
Called as: validate.py SCHEMA [--unseen LIST | --live LIST] FILE...; files hold documents, or lines of them; "-" is
standard input. LIST has patterns of members, each with where they are seen. With --unseen, members of the schema that
no file had have to be those in LIST; with --live, those that LIST says are seen live have to be there."""
import fnmatch
import json
import sys

from jsonschema import Draft202012Validator, RefResolver

MOST = 20  # findings that are told
FIXED = ("unit", "pmu", "none")  # what is seen here does not depend on the machine


def no_member_twice(pairs):
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [k for k, _ in pairs]
        raise ValueError("members twice: " + ", ".join(k for k in found if keys.count(k) > 1))
    return found


def documents(text):
    """Those in a file, one after the other; a text may lie before the first one, and between them."""
    decoder = json.JSONDecoder(object_pairs_hook=no_member_twice)
    at = text.find("{")
    while at >= 0:
        value, at = decoder.raw_decode(text, at)
        yield value
        at = text.find("{", at)


class Schema:
    def __init__(self, path):
        with open(path, encoding="utf-8") as f:
            self.all = json.load(f)
        Draft202012Validator.check_schema(self.all)
        self.defs = self.all["$defs"]
        self.seen = set()
        self.resolver = RefResolver.from_schema(self.all)
        self.names = [r["$ref"].split("/")[-1] for r in self.all["anyOf"]]

    def name_of(self, value):
        """The definition whose `schema`, or `event` of lines, has this value."""
        schema = value.get("schema")
        if "kontend" in value and "threads" in value:
            return ["firefox"]
        if not schema and "event" not in value:
            return ["views"]  # of a report: a golden text may be a part of one
        names = []
        for name in self.names:
            member = "schema" if schema else "event"
            wanted = self.defs[name]["properties"].get(member)
            if wanted and value.get(member) in wanted.get("enum", [wanted.get("const")]):
                names.append(name)
        return names

    def errors(self, name, value):
        """Why a value is not what a definition says; "where: what"."""
        v = Draft202012Validator(self.defs[name], resolver=self.resolver)
        return [deepest(e) for e in v.iter_errors(value)]

    def note(self, node, value):
        """Which members of which objects are there."""
        name = None
        if "$ref" in node:
            name = node["$ref"].split("/")[-1]
            node = self.defs[name]
        for other in node.get("anyOf", []):
            if value is not None:
                self.note(other, value)
        if isinstance(value, list):
            for item in value:
                self.note(node.get("items", {}), item)
        elif isinstance(value, dict) and "properties" in node:
            for key, member in value.items():
                self.seen.add((name, key if key in node["properties"] else "*"))
                self.note(node["properties"].get(key, {}), member)

    def unseen(self):
        every = {(n, k) for n, d in self.defs.items() for k in d["properties"]}
        return sorted(f"{n}.{k}" for n, k in every - self.seen)


def deepest(e):
    """Of what fits no alternative, what is nearest: what is wrong farthest down."""
    while e.context:
        e = max(e.context, key=lambda c: len(c.absolute_path))
    where = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in e.absolute_path)
    return f"{where or '.'}: {e.message[:300]}"


def check(schema, path, value):
    names = schema.name_of(value)
    if not names:
        return [f"{path}: the schema has no such document: {json.dumps(value)[:200]}"]
    findings = []
    for name in names:
        wrong = schema.errors(name, value)
        if not wrong:
            schema.note({"$ref": "#/$defs/" + name}, value)
            return []
        findings += [f"{path}: {name}{w}" for w in wrong]
    return findings


def read_list(path):
    """Patterns to where their members are seen."""
    with open(path, encoding="utf-8") as f:
        lines = [line.split() for line in f if line.strip() and not line.startswith("#")]
    return {words[0]: words[1] for words in lines}


def check_unseen(schema, path):
    patterns, unseen = read_list(path), schema.unseen()
    stale = [p for p, where in patterns.items() if where in FIXED and not fnmatch.filter(unseen, p)]
    missed = [m for m in unseen if not any(fnmatch.fnmatchcase(m, p) for p in patterns)]
    findings = [f"{path}: {p} is printed, so it has no place in here" for p in stale]
    return findings + [f"nothing that is printed has {m}, and {path} does not list it" for m in missed]


def check_live(schema, path):
    live = [p for p, where in read_list(path).items() if where == "live"]
    return [f"nothing that was measured has {m}" for p in live for m in fnmatch.filter(schema.unseen(), p)]


def read(path):
    if path == "-":
        return sys.stdin.buffer.read().decode()
    with open(path, encoding="utf-8") as f:
        return f.read()


def main():
    args = sys.argv[1:]
    schema = Schema(args.pop(0))
    check_list = {"--unseen": check_unseen, "--live": check_live}.get(args[0])
    files = args[2:] if check_list else args
    findings, n = [], 0
    for path in files:
        before = n
        try:
            for value in documents(read(path)):
                findings += check(schema, path, value)
                n += 1
        except ValueError as e:
            findings.append(f"{path}: {e}")
        if n == before:
            findings.append(f"{path}: no document")
    if check_list:
        findings += check_list(schema, args[1])
    for finding in findings[:MOST]:
        print(finding)
    if len(findings) > MOST:
        print(f"and {len(findings) - MOST} more")
    print(f"{n} documents, {len(schema.seen)} members seen, {len(schema.unseen())} not")
    sys.exit(bool(findings))


main()
