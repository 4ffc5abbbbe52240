#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Reads traces by the rules of their formats: each number leads to an entry, slices of a track do not
overlap, and that flows lead from one thing to another.
Called as: traces.py perfetto|firefox FILE prints what it found, a line a figure: its name and its value."""
import json
import sys

import wire

FIELDS = {
    "trace": {1: "packet"},
    "packet": {6: "clocks", 8: "time", 10: "sequence", 11: "event", 12: "interned", 13: "flags", 59: "defaults",
               60: "track", 87: "first"},
    "clocks": {1: "clock", 2: "primary"},
    "clock": {1: "id", 2: "time"},
    "defaults": {58: "clock"},
    "interned": {1: "category", 2: "name", 3: "key", 5: "function", 6: "frame", 7: "stack", 29: "string"},
    "category": {1: "iid", 2: "=text"},
    "name": {1: "iid", 2: "=text"},
    "key": {1: "iid", 2: "=text"},
    "function": {1: "iid", 2: "=text"},
    "string": {1: "iid", 2: "=text"},
    "frame": {1: "iid", 2: "function"},
    "stack": {1: "iid", 2: "frames"},
    "event": {3: "category", 4: "note", 9: "type", 10: "name", 11: "track", 30: "counter", 47: "flow", 48: "end",
              56: "stack"},
    "note": {1: "key", 3: "uint", 4: "int", 7: "pointer", 9: "=json", 17: "string"},
    "track": {1: "uuid", 2: "=name", 3: "process", 4: "thread", 5: "parent", 8: "counts", 11: "order", 12: "rank"},
    "process": {1: "pid", 6: "=name"},
    "thread": {1: "pid", 2: "tid", 5: "=name"},
    "counts": {3: "unit"},
}
BEGIN, END, COUNTER = 1, 2, 4


class Perfetto:
    def __init__(self, data):
        self.known = {kind: {} for kind in ("category", "name", "key", "function", "frame", "stack", "string")}
        self.tracks, self.open, self.slices, self.flows, self.joined = {}, {}, [], {}, []
        self.parents = {0}
        packets = wire.message(FIELDS, "trace", data)["packet"]
        first = packets[0]
        assert first["first"] == [1] and first["flags"][0] & 1 and first["clocks"][0]["primary"] == [3]
        assert first["defaults"][0]["clock"] == [3]
        events = []
        for p in packets:
            assert p["sequence"] == [1] and p["flags"][0] & 2
            self.learn(p.get("interned", [{}])[0])
            for t in p.get("track", []):
                assert t["uuid"][0] not in self.tracks and t.get("parent", [0])[0] in self.parents, t
                self.parents.add(t["uuid"][0])
                self.tracks[t["uuid"][0]] = t
            for e in p.get("event", []):
                self.refer(e)
                events.append((p["time"][0], e))
        # As a reader sorts them: by time, those of one time as they came.
        for time, e in sorted(events, key=lambda x: x[0]):
            self.apply(time, e)
        assert not any(self.open.values()), "slices without an end"

    def learn(self, interned):
        for kind, entries in interned.items():
            for e in entries:
                assert e["iid"][0] not in self.known[kind], (kind, e)
                self.known[kind][e["iid"][0]] = e.get("text", [e])[0]
                assert all(f in self.known["function"] for f in e.get("function", []))
                assert all(f in self.known["frame"] for f in e.get("frames", []))

    def refer(self, e):
        assert e["track"][0] in self.tracks, e
        for kind in ("category", "name", "stack"):
            assert all(iid in self.known[kind] for iid in e.get(kind, [])), e
        for n in e.get("note", []):
            assert n["key"][0] in self.known["key"] and all(s in self.known["string"] for s in n.get("string", []))

    def apply(self, time, e):
        track = e["track"][0]
        if e["type"] == [COUNTER]:
            assert "counts" in self.tracks[track] and e["counter"][0] < 1 << 32
            return
        assert "counts" not in self.tracks[track]
        stack = self.open.setdefault(track, [])
        if e["type"] == [BEGIN]:
            assert not stack, f"two slices at a time on {self.tracks[track]}"
            stack.append((time, e))
            return
        begun, begin = stack.pop()
        self.slices.append({"event": begin, "from": begun, "to": time, "track": track})
        for flow in e.get("flow", []):
            assert flow not in self.flows
            self.flows[flow] = len(self.slices) - 1
        for flow in e.get("end", []):
            self.joined.append((self.flows.pop(flow), len(self.slices) - 1))

    def notes(self, s):
        return {self.known["key"][n["key"][0]]: self.known["string"][n["string"][0]] if "string" in n else
                n.get("json", n.get("uint", n.get("int", n.get("pointer"))))[0] for n in s["event"].get("note", [])}

    def category(self, s):
        return self.known["category"][s["event"]["category"][0]] if "category" in s["event"] else ""

    def print(self):
        holds = [i for i, s in enumerate(self.slices) if self.category(s) == "hold"]
        waits = [s for s in self.slices if self.category(s) not in ("hold", "")]
        said = [self.notes(s) for s in waits]
        done = [s["to"] - s["from"] for s, n in zip(waits, said) if "state" not in n and "error" not in n]
        print("waits", len(done))
        print("ns", sum(done))
        print("waiting_ns", sum(s["to"] - s["from"] for s, n in zip(waits, said) if "state" in n))
        print("holds", len(holds))
        holders = set(holds)
        to_waits = [(a, b) for a, b in self.joined if a in holders]
        assert all(self.category(self.slices[b]) not in ("hold", "") for a, b in to_waits)
        for a, b in to_waits:
            hold, wait = self.slices[a], self.slices[b]
            assert wait["from"] < hold["to"] <= wait["to"], "who had a lock had it when nobody waited"
        print("flows", len(to_waits))
        print("chained", len(self.joined) - len(to_waits))
        print("held", len({a for a, b in to_waits}))
        for name in sorted({self.known["name"][s["event"]["name"][0]] for s in waits}):
            print("lock", name)
        for t in self.tracks.values():
            if "thread" in t:
                print("thread", t["thread"][0]["tid"][0], t["thread"][0].get("name", ["?"])[0])
        whole = [s for s in self.slices if not self.category(s)]
        assert len(whole) == 1
        source = json.loads(self.notes(whole[0])["kontend"])["source"]
        print("schema", source["schema"])
        print("source_waits", source["waits"])
        print("left_out", source["left_out"])


def nested(table, *columns):
    for c in columns:
        assert len(table[c]) == table["length"], (c, len(table[c]), table["length"])
    return table["length"]


def firefox(profile):
    shared = profile["shared"]
    texts = shared["stringArray"]
    n_funcs = nested(shared["funcTable"], "name", "isJS", "relevantForJS", "resource", "source", "lineNumber",
                     "columnNumber")
    n_frames = nested(shared["frameTable"], "address", "inlineDepth", "category", "subcategory", "func",
                      "nativeSymbol", "innerWindowID", "line", "column")
    n_stacks = nested(shared["stackTable"], "frame", "prefix")
    assert all(0 <= f < n_frames for f in shared["stackTable"]["frame"])
    assert all(p is None or 0 <= p < i for i, p in enumerate(shared["stackTable"]["prefix"]))
    assert all(0 <= f < n_funcs for f in shared["frameTable"]["func"])
    assert all(0 <= t < len(texts) for t in shared["funcTable"]["name"])
    categories = profile["meta"]["categories"]
    schemas = {s["name"]: {f["key"]: f["format"] for f in s["fields"]} for s in profile["meta"]["markerSchema"]}
    waits, waiting, holds, flows = [], [], [], {}
    for t in profile["threads"]:
        s, m = t["samples"], t["markers"]
        nested(s, "stack", "time", "weight")
        nested(m, "data", "name", "startTime", "endTime", "phase", "category")
        assert s["time"] == sorted(s["time"]) and all(0 <= x < n_stacks for x in s["stack"])
        assert all(0 <= c < len(categories) for c in m["category"])
        for i, d in enumerate(m["data"]):
            fields = schemas[d["type"]]
            assert set(d) - {"type", "cause"} <= set(fields), d
            assert m["endTime"][i] >= m["startTime"][i]
            for key, value in d.items():
                if fields.get(key) in ("unique-string", "flow-id"):
                    assert 0 <= value < len(texts)
                if fields.get(key) == "flow-id":
                    flows.setdefault(texts[value], []).append((d["type"], key))
            if d["type"] == "LockHold":
                holds.append(d)
                continue
            ns = round(s["weight"][i] * 1e6)
            assert s["stack"][i] == d["cause"]["stack"] and s["time"][i] == m["startTime"][i]
            assert abs(m["endTime"][i] - m["startTime"][i] - s["weight"][i]) < 1e-5
            if "state" in d:
                waiting.append(ns)
            elif "ret" not in d:
                waits.append((ns, texts[d["lock"]]))
    print("waits", len(waits))
    print("ns", sum(ns for ns, lock in waits))
    print("waiting_ns", sum(waiting))
    print("holds", len(holds))
    # A flow begins where a task has a lock, or where a holder waits itself; both have two ends.
    assert all(len(ends) > 1 for ends in flows.values()), flows
    print("flows", sum(("LockWait", "hold") == e for ends in flows.values() for e in ends))
    print("chained", sum(("LockHold", "wait") == e for ends in flows.values() for e in ends))
    for lock in sorted({lock for ns, lock in waits}):
        print("lock", lock)
    for t in profile["threads"]:
        if t["pid"] != "locks":
            print("thread", t["tid"], t["name"])
    print("schema", profile["kontend"]["schema"])
    print("source_waits", profile["kontend"]["waits"])
    print("left_out", profile["kontend"]["left_out"])


with open(sys.argv[2], "rb") as f:
    if sys.argv[1] == "perfetto":
        Perfetto(f.read()).print()
    else:
        firefox(json.load(f))
