#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A real Prometheus scrapes `kontend record --metrics` while a chain of waits is made that lasts until we end it.
Its series are there by Prometheus' own interface, an alert of share/ fires while the wait goes on and another one
when it was long, and what was waited is what the program that waited says.
Called as: test-prometheus.py KONTEND BLOCKED RULES"""
import json
import os
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


def start_kontend(d):
    err = open(os.path.join(d, "kontend.err"), "w+", encoding="utf-8")
    p = start(kontend, "record", "--metrics", "0", "--trigger", "wait>1s type:rwsem", "--post", "1s",
              "-o", d, stdin=subprocess.DEVNULL, stdout=err, stderr=err)

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


def start_prometheus(d, target):
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
              f"--web.listen-address=127.0.0.1:{port}", "--enable-feature=exemplar-storage", stdin=subprocess.DEVNULL,
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


def main(d):
    p, url = start_kontend(d)
    if not url:
        return
    base = start_prometheus(d, urllib.parse.urlsplit(url).netloc)
    until("a scrape", lambda: scrape_is_well(base))
    lasted = stall(base, d)
    look_at_stall(base, lasted)
    look_at_incident(base, d)
    scrape_is_well(base)
    names = api(base, "label/__name__/values") or []
    has = sorted(n for n in names if n.startswith("kontend_"))
    check(len(has) >= 25, f"Prometheus has only {has}")
    kinds = api(base, "metadata") or {}
    check(kinds.get("kontend_lock_wait_seconds", [{}])[0].get("type") == "histogram", "it is no histogram")
    print(f"{len(has)} names, {value(base, 'scrape_samples_scraped'):.0f} samples a scrape, which takes "
          f"{value(base, 'avg_over_time(scrape_duration_seconds[1m])'):.3f} s")
    p.terminate()
    check(p.wait() == 0, f"exit {p.returncode} after SIGTERM")


if os.geteuid() != 0:
    skip("needs root")
if not shutil.which("prometheus"):
    skip("Prometheus is not installed")
with tempfile.TemporaryDirectory(prefix="kontend-prometheus-") as folder:
    try:
        main(folder)
        if failed():
            with open(os.path.join(folder, "kontend.err"), encoding="utf-8") as said:
                print(said.read())
    finally:
        for child in children:
            if child.poll() is None:
                child.kill()
                child.wait()
done()
