#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""worth.py KONTEND WORTH-LOAD [SECONDS [RESULTS]]

Does LOST rank locks better than the time waited? For each lock of some programs with a known
bottleneck (worth-load.c): what kontend promises by each figure, and what is really gained where
half of the work that is done with the lock is done without it. PAR is how many other threads of the
process ran during the waits; "stood" is the time waited by 1 + PAR, so that a wait during which the
whole process stood still counts in full. The verdict is which figure ranks better: by its rank
correlation with the gain (Spearman), and by how many pairs of locks it puts in the right order.
Other work on the machine changes both sides, so samples are short, begin where the machine is quiet,
and count only if nearly all CPU time was the program's and kontend's. RESULTS: a file that keeps
samples, so that a later run goes on.
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
SLICE_S, MEASURED_S, ENOUGH, OTHERS_MOST = 0.8, 1.5, 12, 0.12
FIGURES = {"waited": "wait_ns_per_s", "lost": "wait_lost_ns_per_s"}
RANKED = (*FIGURES, "stood", "blame")
PAIRS_APART = 0.02  # gains that differ by less are in no order


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


def par_of(rows):
    """The mean of the rows, by the time waited; None: not known of any."""
    known = [(r["wait_par"], r.get(FIGURES["waited"]) or 0) for r in rows
             if r.get("wait_par") is not None]
    all_ns = sum(ns for _, ns in known)
    return sum(par * ns for par, ns in known) / all_ns if all_ns else None


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
        of["par"] = par_of(rows)
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


def right_pairs(xs, gains):
    """How many pairs of locks the figure puts in the order of their gains, and of how many."""
    pairs = [(i, k) for i, a in enumerate(gains) for k, b in enumerate(gains)
             if a - b > PAIRS_APART]
    return sum(xs[i] > xs[k] for i, k in pairs), len(pairs)


def middle(promised, lock):
    """The medians of the figures of a lock; PAR and what needs it are None where not known."""
    of = {f: statistics.median(p[lock][f] for p in promised) for f in (*FIGURES, "blame")}
    pars = [p[lock]["par"] for p in promised if p[lock].get("par") is not None]
    of["par"] = statistics.median(pars) if pars else None
    # The process stood for no time where there was no wait.
    of["stood"] = of["waited"] / (1 + of["par"]) if pars else None if of["waited"] else 0.0
    return of


def rows_of(samples, pick):
    """Of each lock: the figures and the gain, by @pick of the samples."""
    found = []
    for program, locks in PROGRAMS.items():
        for lock in locks:
            have = [samples[program, h] for h in ("-", "kontend", lock)]
            if not all(have):
                continue
            base, promised, halved = (pick(s) for s in have)
            gain = statistics.median(halved) / statistics.median(base) - 1
            found.append((program, lock, middle(promised, lock), gain))
    return found


def ranked(found):
    """The figures that are known of all locks."""
    return [f for f in RANKED if all(of[f] is not None for *_, of, _ in found)]


def correlations(found, figures):
    gains = [g for *_, g in found]
    return {f: correlation([of[f] for *_, of, _ in found], gains) for f in figures}


def shown(value):
    return "-" if value is None else "%.2f" % value


def print_table(found):
    print("%-11s %-4s %8s %8s %8s %8s %8s %8s"
          % ("program", "lock", "waited", "blame", "lost", "par", "stood", "gain"))
    for program, lock, of, gain in found:
        print("%-11s %-4s %8s %8s %8s %8s %8s %7.0f%%"
              % (program, lock, *(shown(of[f]) for f in ("waited", "blame", "lost", "par", "stood")),
                 100 * gain))


def print_verdict(found, again, figures):
    """Which of time waited and LOST ranks better, and how sure that is."""
    gains = [g for *_, g in found]
    by, pairs = correlations(found, figures), {}
    for f in figures:
        pairs[f], n = right_pairs([of[f] for *_, of, _ in found], gains)
        all_r = sorted(a[f] for a in again)
        print("rank correlation of %-6s with the gain: %.2f [%.2f %.2f], right pairs: %d of %d"
              % (f, by[f], all_r[25], all_r[974], pairs[f], n))
    more = sorted(a["lost"] - a["waited"] for a in again)
    print("lost - waited: %.2f [%.2f %.2f], n = %d locks"
          % (statistics.median(more), more[25], more[974], len(found)))
    best = max(figures, key=lambda f: (by[f], pairs[f]))
    print("ranks best: %s" % best)
    if more[25] > 0 or more[974] < 0:
        print("of the two: %s ranks better" % ("lost" if more[25] > 0 else "waited"))
    else:
        print("of the two: not decided, 0 is in the interval of lost - waited")


def main():
    kontend, load = sys.argv[1:3]
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 600
    if os.geteuid():
        print("skipped: needs root")
        sys.exit(77)
    samples = collect(kontend, load, seconds, sys.argv[4] if len(sys.argv) > 4 else None)
    found = rows_of(samples, lambda s: s)
    print_table(found)
    if len(found) < 3:
        print("skipped: the machine was never quiet for long enough")
        sys.exit(77)
    figures = ranked(found)
    again = [correlations(rows_of(samples, lambda s: random.choices(s, k=len(s))), figures)
             for _ in range(1000)]
    if "stood" not in figures:
        print("stood: not available, as PAR is not known of all locks")
    print_verdict(found, again, figures)


if __name__ == "__main__":
    main()
