#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A real Prometheus scrapes `kontend record --metrics` while a chain of waits is made that lasts until we end it.
Its series are there by Prometheus' own interface, an alert of share/ fires while the wait goes on and another one
when it was long, and what was waited is what the program that waited says. Another one takes native histograms, and
has the same P99 of a storm of mmap_locks as a recording of it.
Called as: test-prometheus.py KONTEND BLOCKED RULES"""
import json
import math
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

from checks import check, done, failed, skip

kontend, blocked, rules = sys.argv[1:4]
children = []


def start(*args, **more):
    p = subprocess.Popen(args, **more)
    children.append(p)
    return p


def until(what, ask, seconds=120):
    """What ask() answers when it is something; the deadline is for what never happens."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        answer = ask()
        if answer:
            return answer
        time.sleep(0.1)
    check(False, "never: " + what)
    return None


def start_kontend(d, *options):
    err = open(os.path.join(d, "kontend.err"), "w+", encoding="utf-8")
    p = start(kontend, "record", "--metrics", "0", *options, stdin=subprocess.DEVNULL, stdout=err, stderr=err)

    def url():
        with open(err.name, encoding="utf-8") as f:
            words = f.read().split("metrics are at ")
        if p.poll() is not None and len(words) < 2:
            skip(words[0].strip())
        return words[1].split("\n")[0] if len(words) > 1 else None
    return p, until("the port", url)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def start_prometheus(d, target, features):
    config = os.path.join(d, "prometheus.yml")
    with open(config, "w", encoding="utf-8") as f:
        f.write(f"""
global: {{scrape_interval: 2s, scrape_timeout: 2s, evaluation_interval: 1s}}
rule_files: ['{rules}']
scrape_configs:
  - job_name: kontend
    static_configs: [{{targets: ['{target}']}}]
""")
    port = free_port()
    log = open(os.path.join(d, "prometheus.log"), "w", encoding="utf-8")
    p = start(shutil.which("prometheus"), "--config.file=" + config, "--storage.tsdb.path=" + os.path.join(d, "tsdb"),
              f"--web.listen-address=127.0.0.1:{port}", "--enable-feature=" + features, stdin=subprocess.DEVNULL,
              stdout=log, stderr=log)
    base = f"http://127.0.0.1:{port}"
    until("Prometheus is ready", lambda: p.poll() is None and get_text(base + "/-/ready"))
    return base


def get_text(url):
    try:
        with urllib.request.urlopen(url, timeout=10) as r:
            return r.read().decode()
    except (urllib.error.URLError, OSError):
        return None


def api(base, path, **args):
    text = get_text(f"{base}/api/v1/{path}?{urllib.parse.urlencode(args)}")
    answer = json.loads(text) if text else {}
    return answer.get("data") if answer.get("status") == "success" else None


def value(base, expr):
    data = api(base, "query", query=expr)
    return float(data["result"][0]["value"][1]) if data and data["result"] else None


def firing(base, name):
    alerts = (api(base, "alerts") or {}).get("alerts", [])
    return [a for a in alerts if a["labels"]["alertname"] == name and a["state"] == "firing"]


def scrape_is_well(base):
    targets = (api(base, "targets") or {}).get("activeTargets", [])
    bad = [t["lastError"] for t in targets if t["lastError"]]
    check(not bad, f"Prometheus says {bad}")
    return value(base, 'up{job="kontend"}') == 1


def graph(base, expr, seconds):
    """As a person would see it, and the values."""
    now = time.time()
    data = api(base, "query_range", query=expr, start=now - seconds, end=now, step="1") or {"result": []}
    values = [float(v) for r in data["result"] for _, v in r["values"]]
    top = max(values, default=0)
    bars = " .:-=+*#%@"
    print(f"{expr} of the last {seconds} s, up to {top:.3f}:")
    print("  |" + "".join(bars[int(9 * v / top) if top else 0] for v in values) + "|")
    return values


def stall(base, d):
    """Makes one that lasts until the alert fires. Answers for how long it surely was, in seconds."""
    p = start(blocked, os.path.join(d, "file"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
              text=True)
    said = []
    while not said or said[-1].strip() not in ("ready", ""):
        said.append(p.stdout.readline())
    if said[-1].strip() != "ready":
        skip(p.stderr.read().strip())
    begin = time.monotonic()
    alerts = until("KontendWaitGoesOn fires", lambda: firing(base, "KontendWaitGoesOn"))
    if alerts:
        print("fires:", alerts[0]["annotations"]["summary"])
    check((value(base, 'kontend_lock_waiters{type="rwsem",mode="W"}') or 0) >= 1, "nobody waits for a rwsem")
    check((value(base, 'sum(kontend_lock_waiters{type="mutex"})') or 0) >= 2, "nobody waits for a mutex")
    lasted = time.monotonic() - begin
    p.stdin.close()
    p.wait()
    return lasted


def look_at_stall(base, lasted):
    alerts = until("KontendStall fires", lambda: firing(base, "KontendStall"))
    if alerts:
        print("fires:", alerts[0]["annotations"]["summary"])
    until("the wait that went on is over", lambda: not firing(base, "KontendWaitGoesOn"))
    longest = until("the longest wait", lambda: value(
        base, 'max_over_time(kontend_lock_wait_max_seconds{type="rwsem",mode="W"}[5m])'))
    check(longest and longest >= lasted, f"the longest wait was {longest} s, and it lasted {lasted} s at least")
    waited = value(base, 'kontend_lock_wait_seconds_sum{type="rwsem",mode="W"}')
    check(waited and waited >= lasted, f"in all {waited} s were waited, {lasted} s by one")
    named = value(base, 'max(kontend_named_lock_wait_seconds_total{type="rwsem",mode="W",lock!="other"})')
    check(named and named >= lasted, f"no lock has it: {named}")
    seen = max(graph(base, "kontend_longest_wait_seconds", 60), default=0)
    check(seen > 2, f"the graph of what goes on has {seen}")
    graph(base, 'kontend_lock_wait_max_seconds{type="rwsem",mode="W"}', 60)


def look_at_incident(base, d):
    """The file that the trigger has written is an exemplar of the bucket in which its wait is."""
    until("an incident is counted", lambda: value(base, "kontend_incidents_total"))
    check(value(base, 'kontend_triggers_total{result="failed"}') == 0, "incidents failed")

    def name():
        data = api(base, "query_exemplars", query="kontend_lock_wait_seconds_bucket", start=time.time() - 600,
                   end=time.time())
        return data and [e["labels"]["incident"] for s in data for e in s["exemplars"]]
    names = until("an exemplar", name)
    for n in names or []:
        check(os.path.isfile(os.path.join(d, n)), f"the exemplar names {n}, which is not there")


def end(p):
    p.terminate()
    check(p.wait() == 0, f"exit {p.returncode} after SIGTERM")


def version():
    text = subprocess.run(["prometheus", "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"version (\d+)\.(\d+)", text.stdout + text.stderr)
    return tuple(map(int, found.groups())) if found else (0, 0)


def index(seconds):
    """The bucket of a native histogram of schema 2."""
    return math.ceil(4 * math.log2(seconds))


def look_at_dashboard(base):
    """Every query of it is one that this Prometheus answers."""
    with open(os.path.join(os.path.dirname(rules), "../grafana/kontend.json"), encoding="utf-8") as f:
        panels = json.load(f)["panels"]
    exprs = [re.sub(r"\$__(rate_interval|range)", "1m", t["expr"]).replace("$instance", ".*")
             for panel in panels for t in panel["targets"]]
    answers = [api(base, "query", query=e) for e in exprs]
    for expr, answer in zip(exprs, answers):
        check(answer, f"of the dashboard: {expr}")
    has = sum(bool(a and a["result"]) for a in answers)
    print(f"{has} of {len(exprs)} queries of the dashboard have an answer")
    check(has > len(exprs) / 2, "most of the dashboard is empty")


def record_storm(path):
    """Processes that wait for mmap_locks, and what a recording has of them: P99 in seconds and waits, by mode."""
    p = start(kontend, "record", "-q", "--duration", "8", "-o", path, stdin=subprocess.DEVNULL)
    until("it records", lambda: os.path.exists(path), 30)
    subprocess.run([kontend, "demo", "-q", "--kinds", "mmap", "--threads", "16",
                    "--duration", "5"], check=True, stdout=subprocess.DEVNULL)
    check(p.wait() == 0, "the recording failed")
    text = subprocess.run([kontend, "report", "-i", path, "--view", "mmap", "--by", "memcg", "-n", "0", "--format",
                           "json"], capture_output=True, text=True, check=True).stdout
    view = json.loads(text)["views"]["mmap"]
    ret = {}
    for row in view["rows"]:
        if row["contended"] > ret.get(row["mode"], (0, 0, ""))[1]:
            ret[row["mode"]] = (row["p99_ns"] / 1e9, row["contended"], row["memcg"])
    return ret


def look_at_native(d):
    """Each of kontend's buckets is one of Prometheus'. One of the two may have seen some waits more: so kontend's P99 is
    between that of all but these and the longest wait of Prometheus, or in the bucket beside."""
    if version() < (2, 40):
        print("native histograms were not tried: this Prometheus has none")
        return
    p, url = start_kontend(d)
    if not url:
        return
    base = start_prometheus(d, urllib.parse.urlsplit(url).netloc, "native-histograms,exemplar-storage")
    lock = "kontend_mmap_lock_wait_seconds"

    def native():
        data = api(base, "query", query=lock)
        return data and any("histogram" in r for r in data["result"])
    until("a native histogram", native)
    truth = record_storm(os.path.join(d, "storm"))
    check(truth, "nobody has waited for an mmap_lock")
    for mode, (p99, waits, memcg) in truth.items():
        series = f'{lock}{{mode="{mode}",memcg="{memcg}"}}'
        until(f"all waits in {series}", lambda s=series, n=waits: (value(base, f"histogram_count({s})") or 0) >= 0.98 * n)
        others = 0.02 + abs(value(base, f"histogram_count({series})") / waits - 1)
        low, got, high = (value(base, f"histogram_quantile({q}, {series})") for q in (max(0.99 - others, 0), 0.99, 1))
        print(f"P99 of {series}: {got:.6f} s by Prometheus ({low:.6f} to {high:.6f} s with {others:.1%} other waits), "
              f"{p99:.6f} s by kontend, of {waits} waits")
        if waits >= 100:
            check(index(low) - 1 <= index(p99) <= index(high) + 1, f"P99 is {got} s and {p99} s")
    rule = "kontend:mmap_lock_wait_seconds:p99_5m"
    drawn = until(f"{rule} is recorded", lambda: value(base, f"max({rule})"))
    print(f"{rule}: {drawn} s at most")
    look_at_dashboard(base)
    scrape_is_well(base)
    end(p)


def look_at_text(d):
    p, url = start_kontend(d, "--trigger", "wait>1s type:rwsem", "--post", "1s", "-o", d)
    if not url:
        return
    base = start_prometheus(d, urllib.parse.urlsplit(url).netloc, "exemplar-storage")
    until("a scrape", lambda: scrape_is_well(base))
    lasted = stall(base, d)
    look_at_stall(base, lasted)
    look_at_incident(base, d)
    look_at_dashboard(base)
    scrape_is_well(base)
    names = api(base, "label/__name__/values") or []
    has = sorted(n for n in names if n.startswith("kontend_"))
    check(len(has) >= 25, f"Prometheus has only {has}")
    kinds = api(base, "metadata") or {}
    check(kinds.get("kontend_lock_wait_seconds", [{}])[0].get("type") == "histogram", "it is no histogram")
    print(f"{len(has)} names, {value(base, 'scrape_samples_scraped'):.0f} samples a scrape, which takes "
          f"{value(base, 'avg_over_time(scrape_duration_seconds[1m])'):.3f} s")
    end(p)


def main(d):
    for name, look in (("native", look_at_native), ("text", look_at_text)):
        folder = os.path.join(d, name)
        os.mkdir(folder)
        look(folder)
        if failed():
            with open(os.path.join(folder, "kontend.err"), encoding="utf-8") as said:
                print(said.read())


if os.geteuid() != 0:
    skip("needs root")
if not shutil.which("prometheus"):
    skip("Prometheus is not installed")
with tempfile.TemporaryDirectory(prefix="kontend-prometheus-") as top:
    try:
        main(top)
    finally:
        for child in children:
            if child.poll() is None:
                child.kill()
                child.wait()
done()
