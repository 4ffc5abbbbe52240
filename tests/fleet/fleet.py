#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Synthetic recordings of many machines, of two days each, are exported in parallel, and the queries of
share/fleet are asked in real engines: their answers are the truth that was put in, and so each other's.
Called as: fleet.py KONTEND SYNTHETIC SOURCE-FOLDER BUILD-FOLDER MACHINES ENGINE...
An engine comes from the Python registry, into a folder below BUILD-FOLDER; $KONTEND_FLEET_VENV names another."""
import collections
import concurrent.futures
import glob
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

PACKAGES = {"duckdb": "duckdb", "clickhouse": "chdb", "spark": "pyspark"}
PINNED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "requirements.txt")
DAYS = 2
QUERIES = 7
STEP_NS = 7919233
WORSE_KERNEL, WORSE_CHAIN = 2, 4  # what the last day's kernel waits longer for
SHAPE = ["events=4000", "tasks=40", "locks=30", "chains=10", f"step={STEP_NS}"]


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def pinned(package):
    """Version of requirements.txt."""
    with open(PINNED, encoding="utf-8") as f:
        return dict(line.split("==") for line in f.read().split())[package]


def has_pinned(python, package):
    asked = f"import importlib.metadata as m; print(m.version('{package}'))"
    got = subprocess.run([python, "-c", asked], capture_output=True, text=True)
    return got.returncode == 0 and got.stdout.strip() == pinned(package)


def venv_python(build, engines):
    venv = os.environ.get("KONTEND_FLEET_VENV") or os.path.join(build, "fleet-venv")
    python = os.path.join(venv, "bin", "python3")
    if not os.path.exists(python):
        made = subprocess.run([sys.executable, "-m", "venv", venv], capture_output=True, text=True)
        if made.returncode:
            skip("no virtual environment of Python can be made: " + (made.stdout + made.stderr).strip()[-200:])
    for engine in engines:
        package = PACKAGES[engine]
        if has_pinned(python, package):
            continue
        pip = [python, "-m", "pip", "install", "-q", "--timeout", "15", "--retries", "1", "-c", PINNED, package]
        got = subprocess.run(pip, capture_output=True, text=True)
        if got.returncode:
            skip(f"pip cannot install {package} {pinned(package)}: {got.stderr.strip().splitlines()[-1:]}")
    if "spark" in engines and subprocess.run(["sh", "-c", "command -v java"], capture_output=True).returncode:
        skip("no java, which Spark needs")
    return python


def knobs(machine, day, take, machines):
    made = [f"host={machine}", f"day={day}", f"kernel={machine % 3}", *SHAPE]
    made += [f"seed={(machine * DAYS + day) * 2 + take}", f"start={1 + take * 5}000000000"]
    if machine % 3 == WORSE_KERNEL and day == DAYS - 1:
        made.append(f"worse={WORSE_CHAIN + 1}")
    if machine % 5 == 0:
        made.append(f"incident={machine // 5 % 3 + 1}")
    if machine == machines // 2:
        made += ["tasks=400", "odd=1"]  # a machine unlike the others, with names that are no words
    return made


class Fleet:
    def __init__(self, kontend, synthetic, folder, machines):
        self.kontend, self.synthetic, self.folder, self.machines = kontend, synthetic, folder, machines
        self.truths, self.wrong = [], []
        os.mkdir(os.path.join(folder, "rows"))

    def all(self):
        """Machine, day, take: one was recorded twice at a time, by two who did not know of each other."""
        return [(m, d, 0) for m in range(1, self.machines + 1) for d in range(DAYS)] + [(2, 0, 1)]

    def path(self, *which):
        return os.path.join(self.folder, "m{}-{}-{}.data".format(*which))

    def record(self, which):
        out = subprocess.run(
            [self.synthetic, self.path(*which), *knobs(*which, self.machines)], stdout=subprocess.PIPE, check=True
        ).stdout
        return json.loads(out)

    def export(self, which):
        """One recording is exported twice in one go, as if it overlapped with itself."""
        files = [self.path(*which)]
        files += files if which == (1, 0, 0) else []
        out = os.path.join(self.folder, "rows", "m{}-{}-{}.ndjson.zst".format(*which))
        got = subprocess.run(
            [self.kontend, "export", "--format", "ndjson", "-z", "--bucket", "10s", "-o", out, *files],
            capture_output=True,
            text=True,
        )
        if got.returncode != (len(files) > 1) or ("same machine" in got.stderr) != (len(files) > 1):
            self.wrong.append(f"export of {which}: status {got.returncode}, {got.stderr!r}")
        return os.path.getsize(out)

    def parallel(self, what):
        begin = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            made = list(pool.map(what, self.all()))
        return made, time.monotonic() - begin


def bucket_of(ns):
    """Those of kontend: a quarter of a power of two each."""
    if ns < 4:
        return ns, ns + 1
    shift = ns.bit_length() - 3
    return ns >> shift << shift, (ns >> shift) + 1 << shift


def p99(durations):
    bars = collections.Counter(bucket_of(ns) for ns in durations)
    seen = 0
    for low, high in sorted(bars):
        seen += bars[low, high]
        if 100 * seen >= 99 * len(durations):
            return low + (high - low) // 2
    return None


class Truth:
    """What the queries must answer, worked out from what was put in."""

    def __init__(self, truths):
        self.truths = truths

    def chains(self, chosen):
        sums = collections.defaultdict(lambda: [0, 0])
        for t in chosen:
            for c in t["chains"]:
                sums[self.caller(c)][0] += c["waits"]
                sums[self.caller(c)][1] += c["wait_ns"]
        return sums

    @staticmethod
    def caller(chain):
        return f"call_{(int(chain['address'], 16) - 0xFFFFFFFF81800000) // 16}"

    def top_locks(self):
        sums = self.chains(self.truths)
        ids = collections.defaultdict(set)
        for t in self.truths:
            for c in t["chains"]:
                ids[self.caller(c)].add(t["machine_id"])
        rows = [["rwsem", "W", c, n, ns, None, len(ids[c])] for c, (n, ns) in sums.items()]
        return sorted(rows, key=lambda r: (-r[4], r[2]))[:20]

    def top_objects(self):
        n = sum(len(t["durations"]) for t in self.truths)
        ns = sum(sum(t["durations"]) for t in self.truths)
        return [["rwsem", "W", None, n, ns, len({t["machine_id"] for t in self.truths})]]

    def p99_by_kernel(self):
        by = collections.defaultdict(list)
        for t in self.truths:
            by[t["kernel"]] += t["durations"]
        rows = [[kernel, "rwsem", "W", len(d), p99(d)] for kernel, d in by.items()]
        return sorted(rows, key=lambda r: (-r[4], r[0]))

    def rates(self, chosen):
        """Of callers, per second of measuring."""
        seconds = sum(t["to_ns"] - t["from_ns"] for t in chosen) / 1e9
        return {c: ns / seconds for c, (_, ns) in self.chains(chosen).items()}

    def worse_than_yesterday(self):
        last = max(t["wall_ns"] for t in self.truths)
        now = self.rates([t for t in self.truths if t["wall_ns"] == last])
        before = self.rates([t for t in self.truths if t["wall_ns"] != last])
        rows = [["rwsem", "W", c, before[c], ns, ns - before[c]] for c, ns in now.items() if ns > 1.2 * before[c]]
        return sorted(rows, key=lambda r: -r[5])[:20]

    def unlike_the_others(self):
        by = collections.defaultdict(lambda: [0, 0])
        for t in self.truths:
            sums = by[t["host"], t["machine_id"]]
            sums[0] += sum(t["durations"])
            sums[1] += t["to_ns"] - t["from_ns"]
        rates = {k: ns / (of / 1e9) for k, (ns, of) in by.items()}
        middle = statistics.median(rates.values())
        usual = statistics.median(abs(r - middle) for r in rates.values())
        rows = [
            [*k, r, middle, 0.6745 * (r - middle) / usual]
            for k, r in rates.items()
            if abs(0.6745 * (r - middle)) > 3.5 * usual
        ]
        return sorted(rows, key=lambda r: (-abs(r[2] - r[3]), r[0]))

    def overlapping_recordings(self):
        rows = []
        for a in self.truths:
            for b in self.truths:
                if a["boot_id"] == b["boot_id"] and a["from_ns"] < b["from_ns"] < a["to_ns"]:
                    starts = [t["wall_ns"] + t["from_ns"] for t in (a, b)]
                    both = min(a["to_ns"], b["to_ns"]) - b["from_ns"]
                    rows.append([a["host"], a["machine_id"], *starts, both])
        return rows

    def incidents_by_lock(self):
        by = collections.defaultdict(list)
        for t in self.truths:
            if t["incident_lock"] >= 0:
                by[f"i_rwsem /data/{t['incident_lock']}"].append(t["machine_id"])
        rows = [[name, "wait>1ms", len(ids), len(set(ids)), 2000000] for name, ids in by.items()]
        return sorted(rows, key=lambda r: (-r[2], r[0]))


def same(a, b):
    if isinstance(a, float) or isinstance(b, float):
        return a is not None and b is not None and math.isclose(a, b, rel_tol=1e-9)
    return a == b


def differ(got, want):
    """None in what is wanted of a figure that the truth does not have."""
    if len(got) != len(want):
        return f"{len(got)} rows instead of {len(want)}"
    for g, w in zip(got, want):
        if len(g) != len(w) or not all(same(a, b) or (b is None and isinstance(a, int)) for a, b in zip(g, w)):
            return f"{g} instead of {w}"
    return None


def count_rows(folder):
    rows = 0
    for path in glob.glob(os.path.join(folder, "rows", "*.zst")):
        out = subprocess.run(["zstd", "-dcq", path], stdout=subprocess.PIPE, check=True).stdout
        rows += out.count(b"\n")
    return rows


def unpack(folder):
    """For an engine that reads no zstd: the same files beside the others."""
    os.makedirs(os.path.join(folder, "plain", "rows"), exist_ok=True)
    for path in glob.glob(os.path.join(folder, "rows", "*.zst")):
        out = os.path.join(folder, "plain", "rows", os.path.basename(path)[:-4])
        subprocess.run(["zstd", "-dqf", path, "-o", out], check=True)
    return os.path.join(folder, "plain")


def ask(python, engine, source, folder):
    where = unpack(folder) if engine == "spark" else folder
    here = os.path.dirname(os.path.abspath(__file__))
    got = subprocess.run(
        [python, os.path.join(here, "engines.py"), engine, os.path.join(source, "share", "fleet", engine)],
        cwd=where,
        capture_output=True,
        text=True,
    )
    if got.returncode:
        return None, f"{engine}: {got.stderr.strip()[-1500:]}"
    return json.loads(got.stdout.splitlines()[-1]), None


def compare(engine, answers, truth):
    wrong = [] if len(answers) == QUERIES + 2 else [f"{engine}: there are {len(answers) - 2} queries"]
    for name, a in answers.items():
        if name in ("start", "rows"):
            continue
        bad = differ(a["rows"], getattr(truth, name.replace("-", "_"))())
        if bad:
            wrong.append(f"{engine}, {name}: {bad}")
        print(f"{engine:10} {name:22} {len(a['rows']):4} rows {a['seconds']:7.2f} s {'WRONG' if bad else 'as the truth'}")
    return wrong


def main():
    kontend, synthetic, source, build = map(os.path.abspath, sys.argv[1:5])
    machines, *engines = sys.argv[5:]
    python = venv_python(build, engines)
    with tempfile.TemporaryDirectory(dir=build) as folder:
        fleet = Fleet(kontend, synthetic, folder, int(machines))
        truths, seconds = fleet.parallel(fleet.record)
        print(f"{machines} machines, {DAYS} recordings each, made in {seconds:.1f} s")
        sizes, seconds = fleet.parallel(fleet.export)
        rows = count_rows(folder)
        print(f"exported in {seconds:.1f} s: {rows} rows, {sum(sizes)} bytes packed")
        wrong = fleet.wrong
        for engine in engines:
            answers, failed = ask(python, engine, source, folder)
            wrong += [failed] if failed else compare(engine, answers, Truth(truths))
            if not failed:
                print(f"{engine:10} is {PACKAGES[engine]} {pinned(PACKAGES[engine])}, began in {answers['start']['seconds']:.1f} s, and loaded the rows in "
                      f"{answers['rows']['seconds']:.1f} s")
    print("\n".join(wrong))
    sys.exit(bool(wrong))


main()
