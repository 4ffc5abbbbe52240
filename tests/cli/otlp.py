#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Reads profiles of OTLP by their wire format alone, as the numbers of v1development say, and checks that every index
is in range, and that the first entry of each table is empty.
Called as: otlp.py FILE prints the sums of the values, a line a profile; then of each attribute of samples the key and
the different values; then those of the resource.
otlp.py --serve FOLDER is a collector that gives an answer of each kind, by path, and keeps what it has received:
prints its port, and ends with standard input."""
import gzip
import http.server
import os
import sys
import threading

import wire


# Names and kinds by number; "*": a list of numbers in one piece, "=": a text.
FIELDS = {
    "request": {1: "resource_profiles", 2: "dictionary"},
    "dictionary": {1: "mapping", 2: "location", 3: "function", 4: "link", 5: "=string", 6: "attribute", 7: "stack"},
    "resource_profiles": {1: "resource", 2: "scope_profiles"},
    "resource": {1: "pair"},
    "pair": {1: "=key", 2: "value"},
    "value": {1: "=text", 3: "number"},
    "scope_profiles": {1: "scope", 2: "profile"},
    "scope": {1: "=name", 2: "=version"},
    "profile": {1: "sample_type", 2: "sample", 3: "time", 4: "duration", 5: "period_type", 6: "period",
                11: "*attributes"},
    "sample_type": {1: "type", 2: "unit"},
    "period_type": {1: "type", 2: "unit"},
    "sample": {1: "stack", 2: "*attributes", 3: "link", 4: "*values"},
    "mapping": {1: "start", 2: "limit", 3: "offset", 4: "filename", 5: "*attributes"},
    "location": {1: "mapping", 2: "address", 3: "line"},
    "line": {1: "function", 2: "line"},
    "function": {1: "name", 2: "system_name", 3: "filename"},
    "attribute": {1: "key", 2: "value"},
    "stack": {1: "*locations"},
    "link": {},
}


def check(d, profiles):
    """All indices lead somewhere, and texts are of one line."""
    sizes = {name: len(d[name]) for name in ("mapping", "location", "function", "link", "string", "attribute", "stack")}
    assert d["string"][0] == "" and len(set(d["string"])) == sizes["string"]
    assert all(t.isprintable() for t in d["string"])
    for name in ("mapping", "location", "function", "link", "attribute", "stack"):
        assert not d[name][0], f"{name} 0 is something: {d[name][0]}"

    def inside(name, indices):
        assert all(0 <= i < sizes[name] for i in indices), (name, indices)
    for m in d["mapping"]:
        inside("attribute", m.get("attributes", []))
        inside("string", [wire.one(m, "filename")])
    for l in d["location"][1:]:
        inside("mapping", [wire.one(l, "mapping")])
        assert all(0 < wire.one(line, "function") < sizes["function"] for line in l.get("line", []))
    for f in d["function"]:
        inside("string", [wire.one(f, "name"), wire.one(f, "filename")])
    for s in d["stack"][1:]:
        assert s["locations"] and all(0 < i < sizes["location"] for i in s["locations"])
    for p in profiles:
        for s in p.get("sample", []):
            assert 0 < wire.one(s, "stack") < sizes["stack"] and wire.one(s, "link") == 0 and len(s["values"]) == 1
            keys = [wire.one(d["attribute"][i], "key") for i in s.get("attributes", [])]
            assert len(set(keys)) == len(keys) and all(keys)


def said(value):
    return value["text"][0] if "text" in value else str(wire.one(value, "number"))


def read(path):
    with open(path, "rb") as f:
        request = wire.message(FIELDS, "request", f.read())
    d, resource = request["dictionary"][0], request["resource_profiles"][0]
    profiles = resource["scope_profiles"][0]["profile"]
    check(d, profiles)
    labels = {}
    for p in profiles:
        t = p["sample_type"][0]
        total = sum(s["values"][0] for s in p.get("sample", []))
        print(f"{d['string'][wire.one(t, 'type')]}/{d['string'][wire.one(t, 'unit')]}", total, sep="\t")
        for i in [i for s in p.get("sample", []) for i in s.get("attributes", [])]:
            a = d["attribute"][i]
            labels.setdefault(d["string"][wire.one(a, "key")], set()).add(said(a["value"][0]))
    for key, values in sorted(labels.items()):
        print(key, *sorted(values), sep="\t")
    for pair in resource["resource"][0]["pair"]:
        print("resource", pair["key"][0], said(pair["value"][0]), sep="\t")


def field(number, value):
    size, n = b"", len(value)
    while n > 0x7f:
        size, n = size + bytes([n & 0x7f | 0x80]), n >> 7
    return bytes([number << 3 | wire.BYTES]) + size + bytes([n]) + value


def status_of_sender():
    """Of the process that is at the other end, while it waits for its answer."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/comm") as f:
                if f.read().strip() != "kontend-send":
                    continue
            with open(f"/proc/{pid}/status") as f:
                return f.read()
        except FileNotFoundError:
            pass
    return "no process is called kontend-send"


class Collector(http.server.BaseHTTPRequestHandler):
    ANSWERS = {
        "/taken": (200, b""),
        "/partly": (200, field(1, bytes([1 << 3, 3]) + field(2, b"three have no\nstack"))),
        "/warned": (200, field(1, field(2, b"be quick"))),
        "/odd": (200, b"\xff\xff\xff"),
        "/proxy": (200, b"<html>login first</html>"),
        "/talkative": (200, field(1, bytes([1 << 3, 3]) + field(2, b"x" * 20000))),
        "/busy": (503, b"come back\nlater"),
        "/long": (400, b"x" * 100000),
        "/moved": (302, b""),
    }

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/cut":
            self.connection.close()
            return
        assert self.headers["Content-Type"] == "application/x-protobuf", self.headers
        assert self.headers["Content-Encoding"] == "gzip", self.headers
        with open(os.path.join(sys.argv[2], "received"), "wb") as f:
            f.write(gzip.decompress(body))
        with open(os.path.join(sys.argv[2], "sender"), "w") as f:
            f.write(status_of_sender())
        status, answer = self.ANSWERS[self.path]
        self.send_response(status)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


if sys.argv[1] == "--serve":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    print(server.server_port, flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()
else:
    read(sys.argv[1])
