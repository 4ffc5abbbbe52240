#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What share/ has for Prometheus and Grafana is about metrics that kontend has, with labels that they have; and
Prometheus' own tool reads all of it, where it is installed. Called as: check.py KONTEND SOURCE-FOLDER"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import yaml
except ImportError:
    print("skipped: no yaml for python3")
    sys.exit(77)

kontend, source = sys.argv[1:3]
rules_file = os.path.join(source, "share/prometheus/kontend-alerts.yml")
dashboard_file = os.path.join(source, "share/grafana/kontend.json")
tests_file = os.path.join(source, "tests/prometheus/alerts-test.yml")
failures = 0
# Labels that a server of Prometheus adds to each series.
ADDED = {"instance", "job", "le", "__name__"}
# A native histogram is one series.
SUFFIXES = {"counter": ["_total"], "gauge": [""], "histogram": ["_bucket", "_count", "_sum", ""]}


def check(good, what):
    global failures
    if not good:
        failures += 1
        print("FAIL", what)
    return good


def read_metrics():
    """Names of series, with their labels."""
    found = {}
    text = subprocess.run([kontend, "dump", "metrics"], capture_output=True, text=True, check=True)
    for line in text.stdout.splitlines():
        name, kind, _, labels, where, _ = line.split("\t")
        if "server" in where:
            for suffix in SUFFIXES[kind]:
                found[name + suffix] = set(labels.split())
    return found


def plain(expr):
    """Without the variables of Grafana."""
    return re.sub(r"\$__(rate_interval|range|interval)", "5m", expr).replace("$instance", ".*")


def selectors(expr):
    """Each series that is named, with the text in braces after it."""
    bare = re.sub(r'"(\\.|[^"\\])*"', '""', expr)
    return re.findall(r"\b(kontend[a-zA-Z0-9_:]*)(\{[^}]*\})?", bare)


def look(where, expr, known):
    """Names and labels; answers the labels that the series of the expression have."""
    labels = set()
    for name, braces in selectors(expr):
        if not check(name in known, f"{where}: there is no {name}"):
            continue
        labels |= known[name]
        for key in re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", braces):
            check(key in known[name] | ADDED, f"{where}: {name} has no label {key}")
    for by in re.findall(r"\bby\s*\(([^)]*)\)", expr):
        for key in by.replace(" ", "").split(","):
            check(key in labels | ADDED, f"{where}: by {key}, which none of its series has")
    check(selectors(expr), f"{where}: names no metric")
    return labels


def look_at_texts(where, texts, expr, labels):
    """Labels that a legend or annotation writes are left over by the expression."""
    kept = re.findall(r"\bby\s*\(([^)]*)\)", expr)
    have = set(kept[0].replace(" ", "").split(",")) if kept else labels | ADDED
    for key in re.findall(r"\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}", texts):
        check(key in have or key == "end", f"{where}: writes {key}, which is not there")


def read_rules(known):
    """All expressions, by their place. Series recorded by a rule are known to the rules after it."""
    with open(rules_file, encoding="utf-8") as f:
        groups = yaml.safe_load(f)["groups"]
    exprs = {}
    for group in groups:
        for rule in group["rules"]:
            name = rule.get("record") or rule["alert"]
            check(name not in exprs, f"{name} twice")
            exprs[name] = rule["expr"]
            labels = look(name, rule["expr"], known)
            if "record" in rule:
                known[name] = labels
                continue
            check(rule["labels"].get("severity") in ("critical", "warning", "info"), f"{name}: severity")
            for key in ("summary", "description"):
                look_at_texts(name, rule["annotations"][key], rule["expr"], labels)
    return exprs


def read_dashboard(known):
    with open(dashboard_file, encoding="utf-8") as f:
        board = json.load(f)
    exprs, ids = {}, set()
    for panel in board["panels"]:
        title = panel["title"]
        check(panel["id"] not in ids, f"{title}: its id twice")
        ids.add(panel["id"])
        check(panel["description"], f"{title}: says nothing of itself")
        for target in panel["targets"]:
            where = f"{title} {target['refId']}"
            exprs[where] = plain(target["expr"])
            labels = look(where, exprs[where], known)
            look_at_texts(where, target["legendFormat"], exprs[where], labels)
    for note in board["annotations"]["list"]:
        exprs[note["name"]] = plain(note["expr"])
        look(note["name"], exprs[note["name"]], known)
    for variable in board["templating"]["list"]:
        name = re.match(r"label_values\((\w+),", variable["query"]["query"]).group(1)
        check(name in known, f"variable {variable['name']}: there is no {name}")
    return exprs


def used(exprs):
    return {name for expr in exprs.values() for name, _ in selectors(expr)}


def run_promtool(exprs, folder):
    tool = shutil.which("promtool")
    if not tool:
        print("promtool is not there: expressions were not parsed")
        return
    parsed = os.path.join(folder, "parsed.yml")
    rules = [{"record": f"parsed:{i}", "expr": expr} for i, expr in enumerate(exprs.values())]
    with open(parsed, "w", encoding="utf-8") as f:
        yaml.safe_dump({"groups": [{"name": "parsed", "rules": rules}]}, f)
    tests = os.path.join(folder, "tests.yml")
    with open(tests_file, encoding="utf-8") as f, open(tests, "w", encoding="utf-8") as out:
        out.write(f.read().replace("RULES", os.path.abspath(rules_file)))
    for args in (["check", "rules", rules_file], ["check", "rules", parsed], ["test", "rules", tests]):
        p = subprocess.run([tool, *args], capture_output=True, text=True, check=False)
        if check(p.returncode == 0, f"promtool {' '.join(args)}:\n{p.stdout}{p.stderr}"):
            print("promtool", *args[:2], "takes it")


def main():
    known = read_metrics()
    exprs = read_rules(known)
    alerts = [name for name in exprs if ":" not in name]
    with open(tests_file, encoding="utf-8") as f:
        tests = yaml.safe_load(f)["tests"]
    fired = {t["alertname"] for test in tests for t in test["alert_rule_test"] if "exp_alerts" in t}
    for name in alerts:
        check(name in fired, f"{name}: no test in which it fires")
    panels = read_dashboard(known)
    # A check that finds nothing would find nothing wrong.
    check(len(alerts) > 5 and len(panels) > 10 and len(used({**exprs, **panels})) > 15, "too little")
    with tempfile.TemporaryDirectory(prefix="kontend-rules-") as folder:
        run_promtool({**exprs, **panels}, folder)
    print(f"{len(alerts)} alerts, {len(panels)} expressions of the dashboard")
    sys.exit(failures > 0)


main()
