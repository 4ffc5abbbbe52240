#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Rows of real and of synthetic recordings are as the schema says, add up whatever --bucket is, and say what
is wrong with a recording. Called as: rows.py KONTEND SOURCE-FOLDER SYNTHETIC MAKE-INCIDENT"""
import collections
import glob
import json
import os
import subprocess
import sys
import tempfile

try:
    from jsonschema import Draft202012Validator
except ImportError:
    if sys.executable != "/usr/bin/python3" and os.path.exists("/usr/bin/python3"):
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])
    print("skipped: no python3 with jsonschema (Debian: python3-jsonschema)")
    sys.exit(77)

SUMS = ("locks", "callers", "types", "tasks", "memcgs")
SHAPE = ["events=2000", "tasks=40", "locks=30", "chains=10", "step=7919233"]
wrong = []


def expect(what, is_so):
    if not is_so:
        wrong.append(what)


def no_member_twice(pairs):
    expect(f"members twice: {[k for k, _ in pairs]}", len(dict(pairs)) == len(pairs))
    return dict(pairs)


class Test:
    def __init__(self, kontend, source, synthetic, make_incident, schema, folder):
        self.kontend, self.source, self.synthetic, self.folder = kontend, source, synthetic, folder
        self.make_incident = make_incident
        with open(schema, encoding="utf-8") as f:
            schema = json.load(f)
        Draft202012Validator.check_schema(schema)
        self.validators = {name: Draft202012Validator(d) for name, d in schema["$defs"].items()}
        self.seen = set()

    def run(self, *args):
        return subprocess.run([self.kontend, "export", "--format", "ndjson", *args], capture_output=True)

    def rows(self, *args, status=0, says=None):
        """The rows of an export, each held against the schema."""
        got = self.run(*args)
        err = got.stderr.decode()
        expect(f"export {args}: status {got.returncode}, {err}", got.returncode == status)
        expect(f"export {args} says {err!r}", (says is None) == (err == "") and (says or "") in err)
        rows = [json.loads(line, object_pairs_hook=no_member_twice) for line in got.stdout.decode().splitlines()]
        for row in rows:
            self.seen.add(row["table"])
            for e in self.validators[row["table"]].iter_errors(row):
                expect(f"export {args}, {row['table']}: {list(e.absolute_path)}: {e.message[:200]}", False)
        return rows

    def recording(self, name, *knobs):
        path = os.path.join(self.folder, name + ".data")
        subprocess.run([self.synthetic, path, *SHAPE, *knobs], check=True, stdout=subprocess.DEVNULL)
        return path


def sums_of(rows):
    """By table: waits, their time, their histogram."""
    all_sums = {t: [0, 0, collections.Counter()] for t in SUMS}
    for row in rows:
        if row["table"] not in SUMS:
            continue
        sums = all_sums[row["table"]]
        sums[0] += row["contended"]
        sums[1] += row["total_ns"]
        for low, high, n in zip(row.get("hist_from_ns", []), row.get("hist_to_ns", []), row.get("hist_n", [])):
            sums[2][low, high] += n
    return all_sums


def check_sums(t, path):
    whole = t.rows(path)
    want = sums_of(whole)
    for table, (n, _, bars) in want.items():
        expect(f"{path}, {table}: {sum(bars.values())} waits in buckets, {n} in all", sum(bars.values()) == n)
        expect(f"{path}, {table} differs from locks", want[table] == want["locks"])
    for bucket in ("100ms", "1s", "7s"):
        rows = t.rows("--bucket", bucket, path)
        expect(f"{path}: parts of {bucket} do not add up to the whole", sums_of(rows) == want)
        parts = [(r["bucket_start_ns"], r["bucket_ns"]) for r in rows if r["table"] == "parts"]
        gaps = [p for p, q in zip(parts, parts[1:]) if p[0] is not None and p[0] + p[1] != q[0]]
        expect(f"{path}: between parts of {bucket} there is something: {gaps[:3]}", not gaps)
    return whole


def check_packed(t, path):
    plain = t.run(path).stdout
    packed = t.run("-z", path).stdout
    out = subprocess.run(["zstd", "-dcq"], input=packed, stdout=subprocess.PIPE).stdout
    expect("what is packed is not what is not", out == plain and len(packed) < len(plain) / 4)


def check_front(t):
    old = t.rows(os.path.join(t.source, "share", "storm.data"))[0]
    expect("an old recording has no machine, and no reason", old["machine_id"] is None and old["unknown"]["machine_id"])
    expect("an old recording has no name", old["host"])
    new = t.rows(t.recording("new", "host=3", "kernel=1"))[0]
    expect(f"the front is {new}", (new["host"], new["kernel"]) == ("m0003", "6.12.41") and "unknown" not in new)
    expect("the id of the machine is its own", new["machine_id"] != "3".zfill(32))
    few = t.rows("--tables", "types,parts", t.recording("few", "host=3"))
    expect("--tables writes others", {r["table"] for r in few} == {"types", "parts"})


def check_odd(t):
    names = {r["comm"] for r in t.rows(t.recording("odd", "host=4", "odd=1")) if r["table"] == "tasks"}
    expect(f"names are {sorted(names)[:2]}", all(n.startswith('"\n\ufffd\\\t') for n in names) and len(names) == 40)


def check_damaged(t):
    whole = t.recording("whole", "host=5")
    cut = os.path.join(t.folder, "cut.data")
    with open(whole, "rb") as f, open(cut, "wb") as out:
        out.write(f.read()[: os.path.getsize(whole) * 2 // 3])
    rows = t.rows(cut, status=1, says="it ends early or is damaged")
    expect("rows of what is cut off have no mark", rows and all("cut_off" in r["marks"] for r in rows))
    foreign = t.recording("foreign", "host=6", "foreign=1")
    rows = t.rows(foreign, status=1, says="does not understand all")
    expect("rows of another version have no mark", all(r["marks"] == ["other_version"] for r in rows))
    none = os.path.join(t.folder, "none.data")
    with open(none, "wb") as f:
        f.write(b"PERFILE2" + bytes(64))
    rows = t.rows(whole, none, foreign, status=1, says="none.data")
    expect("one that cannot be read ends all", {r["host"] for r in rows} == {"m0005", "m0006"})


def check_hostile(t):
    whole, hostile = t.recording("sound", "host=12"), os.path.join(t.folder, "hostile.data")
    with open(whole, "rb") as f, open(hostile, "wb") as out:
        data = f.read()
        out.write(data[:104] + b"\xff" * (len(data) - 104))
    got = t.run(hostile, whole)
    rows = [json.loads(line) for line in got.stdout.splitlines()]
    expect(f"hostile: {got.returncode}, {got.stderr}", got.returncode == 1 and b"hostile.data" in got.stderr)
    expect("hostile spoils others", sums_of(r for r in rows if r["host"] == "m0012") == sums_of(t.rows(whole)))


def check_overlap(t):
    one = t.recording("one", "host=7")
    other = t.recording("other", "host=8")
    later = t.recording("later", "host=7", "day=1")
    rows = t.rows("--bucket", "1s", one, other, later)
    expect("others overlap", not any("marks" in r for r in rows))
    rows = t.rows("--bucket", "1s", one, other, one, status=1, says=f"{one} is of the same machine")
    marked = sum("overlap" in r.get("marks", []) for r in rows)
    expect(f"{marked} rows of {len(rows)} overlap", 0 < marked < len(rows) / 2 + 1)
    whole = sums_of(t.rows(one, other))
    expect("rows that overlap are not those that are there twice",
           sums_of(r for r in rows if "marks" not in r) == whole)


def check_may_overlap(t):
    one, again = (t.recording(n, "host=10", "nameless=1", f"seed={s}") for n, s in (("nameless", 1), ("again", 2)))
    rows = t.rows(one, again, says=f"and {one} has its host name")
    expect("what may overlap is marked", rows and not any("marks" in r for r in rows))
    t.rows(one, t.recording("hour", "host=10", "nameless=1", "ahead=3600"))
    early, ahead = t.recording("early", "host=11"), t.recording("ahead", "host=11", "ahead=3600")
    rows = t.rows(early, ahead, status=1, says=f"{early} is of the same machine")
    expect("a clock that was set hides an overlap", any("overlap" in r.get("marks", []) for r in rows))


def check_usage(t):
    for args in (["--bucket", "1s"], ["--tables", "locks"], ["-z"]):
        got = subprocess.run([t.kontend, "export", *args, "x.data"], capture_output=True)
        expect(f"{args} without ndjson: {got.stderr}", got.returncode == 129 and b"is for --format ndjson" in got.stderr)
    got = t.run("--tables", "locks,none", "x.data")
    expect(f"--tables none: {got.stderr}", got.returncode == 129 and b"no table of rows 'none'" in got.stderr)


def main():
    args = [os.path.abspath(a) for a in sys.argv[1:]]
    with tempfile.TemporaryDirectory() as folder:
        t = Test(*args, folder)
        for path in (os.path.join(t.source, "share", "storm.data"), t.recording("sums", "host=1", "gaps=5")):
            check_sums(t, path)
        for path in glob.glob(os.path.join(t.source, "tests", "golden", "*.data")):
            t.rows("-q", "--bucket", "1s", path)
        subprocess.run([t.make_incident, folder], check=True)
        for path in sorted(glob.glob(os.path.join(folder, "kontend-*.data"))):
            expect(f"{path} has no incident", any(r["table"] == "incidents" for r in t.rows(path)))
        check_packed(t, os.path.join(t.source, "share", "storm.data"))
        for check in (check_front, check_odd, check_damaged, check_hostile, check_overlap, check_may_overlap, check_usage):
            check(t)
    unseen = set(t.validators) - t.seen
    expect(f"nothing that was exported has rows of {unseen}", not unseen)
    print("\n".join(wrong[:20]))
    sys.exit(bool(wrong))


main()
