#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Reads a profile by its wire format alone, as the format of protocol buffers and the numbers of profile.proto say,
and checks that all references lead to an entry.
Called as: pprof.py FILE VALUE... prints the sums of the values, one a line, by these names; then of each label the
key and the different values."""
import gzip
import sys

import wire


FIELDS = {
    "profile": {1: "sample_type", 2: "sample", 3: "mapping", 4: "location", 5: "function", 6: "=string_table",
                9: "time_nanos", 10: "duration_nanos", 11: "period_type", 12: "period", 13: "*comment",
                14: "default_sample_type"},
    "sample_type": {1: "type", 2: "unit"},
    "period_type": {1: "type", 2: "unit"},
    "sample": {1: "*location_id", 2: "*value", 3: "label"},
    "label": {1: "key", 2: "str", 3: "num"},
    "mapping": {1: "id", 3: "memory_limit", 5: "filename", 6: "build_id", 7: "has_functions", 8: "has_filenames",
                9: "has_line_numbers", 10: "has_inline_frames"},
    "location": {1: "id", 2: "mapping_id", 3: "address", 4: "line"},
    "line": {1: "function_id", 2: "line"},
    "function": {1: "id", 2: "name", 3: "system_name", 4: "filename"},
}


def check(p):
    """All numbers lead somewhere, and texts are of one line."""
    assert p["string_table"][0] == "" and len(set(p["string_table"])) == len(p["string_table"])
    assert all(t.isprintable() for t in p["string_table"])
    ids = {kind: [wire.one(m, "id") for m in p.get(kind, [])] for kind in ("mapping", "location", "function")}
    for kind, numbers in ids.items():
        assert numbers == list(range(1, len(numbers) + 1)), kind
    for location in p.get("location", []):
        assert wire.one(location, "mapping_id") in [0, *ids["mapping"]]
        assert all(wire.one(line, "function_id") in ids["function"] for line in location.get("line", []))
    known = set(ids["location"])
    for s in p.get("sample", []):
        assert s["location_id"] and known.issuperset(s["location_id"])
        assert len(s["value"]) == len(p["sample_type"])


with gzip.open(sys.argv[1]) as f:
    profile = wire.message(FIELDS, "profile", f.read())
check(profile)
texts = profile["string_table"]
types = [texts[wire.one(t, "type")] + "/" + texts[wire.one(t, "unit")] for t in profile["sample_type"]]
assert texts[wire.one(profile, "default_sample_type")] == types[-1].split("/")[0]
for name in sys.argv[2:]:
    print(name, sum(s["value"][types.index(name)] for s in profile.get("sample", [])))
labels = {}
for s in profile.get("sample", []):
    for label in s.get("label", []):
        value = texts[wire.one(label, "str")] if "str" in label else str(wire.one(label, "num"))
        labels.setdefault(texts[wire.one(label, "key")], set()).add(value)
for key, values in sorted(labels.items()):
    print(key, *sorted(values), sep="\t")
