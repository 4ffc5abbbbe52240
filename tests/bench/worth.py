#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""worth.py KONTEND WORTH-LOAD [SECONDS [RESULTS]]

Do LOST and PAR rank locks better than the time waited? For each lock of some programs with a known
bottleneck (worth-load.c): what kontend promises by either figure, and what is really gained where
half of the work that is done with the lock is done without it. The rank correlation of a figure with
the gain is the verdict. Other work on the machine changes both sides, so samples are short, begin
where the machine is quiet, and count only if nearly all CPU time was the program's and kontend's.
RESULTS: a file that keeps samples, so that a later run goes on.
"""
import json
import os
import random
import statistics
import subprocess
import sys
import time

PROGRAMS = {"bound": "a", "full": "a", "background": "ab", "disk": "ab", "pipeline": "b",
            "mmap": "a", "herd": "a"}
SLICE_S, MEASURED_S, ENOUGH, OTHERS_MOST = 0.8, 1.5, 7, 0.12
FIGURES = {"waited": "wait_ns_per_s", "lost": "wait_lost_ns_per_s"}
RANKED = (*FIGURES, "blame", "alone")


def busy_s():
    with open("/proc/stat") as f:
        user, nice, system, _, _, irq, soft, steal = map(int, f.readline().split()[1:9])
    return (user + nice + system + irq + soft + steal) / os.sysconf("SC_CLK_TCK")


def own_s():
    now = os.times()
    return now.children_user + now.children_system


def quiet():
    before = busy_s()
    time.sleep(0.15)
    return busy_s() - before < 0.15 * os.cpu_count() * OTHERS_MOST * 2


def run(*command):
    """What it prints; None: others have used the CPUs meanwhile."""
    before, own, since = busy_s(), own_s(), time.monotonic()
    out = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    others = busy_s() - before - (own_s() - own)
    all_s = (time.monotonic() - since) * os.cpu_count()
    return out.stdout.decode() if others < all_s * OTHERS_MOST else None


def is_of(row, program, lock):
    name = row["name"] or ""
    if program == "mmap":
        return name.startswith("mmap_lock worth-load")
    if program == "herd":
        return "worth-load" in name and row["kind"].startswith("flock")
    return name.startswith(lock + " worth-load")


def promise(kontend, load, program):
    """By lock: the figures, and what blame charges to its holders, per second."""
    out = run(kontend, "report", "-a", "-j", "--no-config", "--view", "locks,blame", "-n", "1000",
              "--", load, program, "-", str(MEASURED_S))
    if not out:
        return None
    views, found = json.loads(out)["views"], {}
    for lock in PROGRAMS[program]:
        rows = [r for r in views["locks"]["rows"] if is_of(r, program, lock)]
        of = {f: sum(r.get(key) or 0 for r in rows) / 1e9 for f, key in FIGURES.items()}
        # Where others of the process run a wait costs less.
        of["par"] = sum((r.get("wait_par") or 0) * r["wait_ns_per_s"] for r in rows) / 1e9
        of["par"] /= of["waited"] or 1
        of["alone"] = of["waited"] / (1 + of["par"])
        of["blame"] = sum(r["waited_ns"] for r in views["blame"]["rows"]
                          if is_of(r, program, lock)) / 1e9 / MEASURED_S
        found[lock] = of
    return found


def sample(kontend, load, what):
    program, half = what
    if half == "kontend":
        return promise(kontend, load, program)
    out = run(load, program, half, str(SLICE_S))
    return float(out) if out else None


def collect(kontend, load, seconds, results):
    kinds = [(p, h) for p in PROGRAMS for h in ["-", "kontend", *PROGRAMS[p]]]
    samples = {k: [] for k in kinds}
    if results and os.path.exists(results):
        with open(results) as f:
            samples.update({tuple(k): v for k, v in json.load(f)})
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        missing = [k for k in kinds if len(samples[k]) < ENOUGH]
        if not missing:
            break
        if not quiet():
            continue
        what = random.choice(missing)
        found = sample(kontend, load, what)
        if found is None:
            continue
        samples[what].append(found)
        if results:
            with open(results, "w") as f:
                json.dump(list(samples.items()), f)
    return samples


def ranks(values):
    order = sorted(values)
    return [order.index(v) + (order.count(v) - 1) / 2 for v in values]


def correlation(xs, ys):
    x, y = ranks(xs), ranks(ys)
    mx, my = statistics.mean(x), statistics.mean(y)
    top = sum((a - mx) * (b - my) for a, b in zip(x, y))
    under = (sum((a - mx) ** 2 for a in x) * sum((b - my) ** 2 for b in y)) ** 0.5
    return top / under if under else 0.0


def rows_of(samples, pick):
    """Of each lock: the figures and the gain, by @pick of the samples."""
    found = []
    for program, locks in PROGRAMS.items():
        for lock in locks:
            have = [samples[program, h] for h in ("-", "kontend", lock)]
            if not all(have):
                continue
            base, promised, halved = (pick(s) for s in have)
            of = {f: statistics.median(p[lock][f] for p in promised)
                  for f in (*RANKED, "par")}
            gain = statistics.median(halved) / statistics.median(base) - 1
            found.append((program, lock, of, gain))
    return found


def correlations(found):
    gains = [g for *_, g in found]
    return {f: correlation([of[f] for *_, of, _ in found], gains) for f in RANKED}


def right_pairs(found):
    """By figure: of how many pairs of locks it ranks that with the greater gain first; and how many
    there are."""
    pairs = [(a, b) for a in found for b in found if a[3] > b[3]]
    return {f: sum(a[2][f] > b[2][f] for a, b in pairs) for f in RANKED}, len(pairs)


def main():
    kontend, load = sys.argv[1:3]
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 600
    if os.geteuid():
        print("skipped: needs root")
        sys.exit(77)
    samples = collect(kontend, load, seconds, sys.argv[4] if len(sys.argv) > 4 else None)
    found = rows_of(samples, lambda s: s)
    print("%-11s %-4s %8s %8s %8s %8s %8s"
          % ("program", "lock", "waited", "blame", "lost", "PAR", "gain"))
    for program, lock, of, gain in found:
        print("%-11s %-4s %8.2f %8.2f %8.2f %8.2f %7.0f%%"
              % (program, lock, of["waited"], of["blame"], of["lost"], of["par"], 100 * gain))
    if len(found) < 3:
        print("skipped: the machine was never quiet for long enough")
        sys.exit(77)
    again = [correlations(rows_of(samples, lambda s: random.choices(s, k=len(s))))
             for _ in range(1000)]
    for f, r in correlations(found).items():
        all_r = sorted(a[f] for a in again)
        print("rank correlation of %-6s with the gain: %.2f [%.2f %.2f]"
              % (f, r, all_r[25], all_r[974]))
    right, of_pairs = right_pairs(found)
    for f in RANKED:
        print("right pairs by %-6s: %d of %d" % (f, right[f], of_pairs))
    print("ranks best: %s" % ", ".join(f for f in RANKED if right[f] == max(right.values())))
    more = sorted(a["lost"] - a["waited"] for a in again)
    print("lost - waited: %.2f [%.2f %.2f], n = %d locks"
          % (statistics.median(more), more[25], more[974], len(found)))


if __name__ == "__main__":
    main()
