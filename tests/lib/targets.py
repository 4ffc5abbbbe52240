#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""targets.py BUILD SUITE...: what ninja must have made before the tests of these suites run, a line each."""
import json
import os
import sys

build, suites = os.path.abspath(sys.argv[1]), set(sys.argv[2:])


def read(name):
    with open(os.path.join(build, "meson-info", name), encoding="utf-8") as f:
        return json.load(f)


files = {t["id"]: t["filename"] for t in read("intro-targets.json")}
tests = [t for t in read("intro-tests.json") if suites & {s.split(":")[-1] for s in t["suite"]}]
if not tests:
    sys.exit(f"targets: no test is in {' '.join(sorted(suites))}")
needed = {os.path.relpath(name, build) for t in tests for id in t["depends"] for name in files[id]}
print("\n".join(sorted(needed)))
