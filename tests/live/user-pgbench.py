#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Locks of PostgreSQL beside what its own view pg_stat_activity says at the same time: `pgbench` with 60 clients on a
server of its own, whose waits are sampled twenty times a second. Prints by kind of lock how many clients waited for it
on average.

    user-pgbench.py KONTEND [SECONDS]

The view has what a client waits for when it is looked at; kontend has the time of all waits, which is the same on
average. For a lightweight lock the view also shows clients that have the lock by now, and wait for a CPU.
"""
import collections
import json
import os
import subprocess
import sys
import tempfile
import time

import postgres
from checks import done, skip

CLIENTS = "60"
VIEWS = ("--view", "locks", "--rows", "0", "--format", "json")
SAMPLE_S = 0.05
QUERY = ("SELECT wait_event_type || ':' || wait_event, count(*) FROM pg_stat_activity WHERE wait_event_type IN "
         "('Lock', 'LWLock') GROUP BY 1")


def samples(server, seconds):
    """Kind of lock: waiting clients on average. One session for all queries."""
    total, n = collections.Counter(), 0
    with subprocess.Popen(server.query_program(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as p:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            p.stdin.write(QUERY + ";\n\\echo end\n")
            p.stdin.flush()
            for line in iter(p.stdout.readline, "end\n"):
                event, count = line.strip().split("|")
                total[event] += int(count)
            n += 1
            time.sleep(SAMPLE_S)
        p.stdin.close()
    return {event: count / n for event, count in total.items()}, n


def measured(text, seconds):
    ret = collections.Counter()
    for r in json.loads(text)["views"]["locks"]["rows"]:
        if r["type"] == "lock(u)":
            ret[r["name"].split()[0]] += r["total_ns"] / 1e9 / seconds
    return ret


def main():
    kontend = os.path.abspath(sys.argv[1])
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    servers = postgres.installed()
    if os.geteuid() != 0 or not servers:
        skip("needs root, and a server of PostgreSQL")
    with tempfile.TemporaryDirectory(prefix="kontend-pgbench-") as folder, \
            postgres.Server(servers[-1], folder) as server:
        server.do("pgbench", "-h", folder, "-U", "postgres", "-i", "-q", "-s", "2", "postgres")
        with subprocess.Popen(server.as_client("pgbench", "-c", CLIENTS, "-j", "2", "-T", str(seconds + 6), "postgres"),
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as load:
            time.sleep(2)
            with subprocess.Popen((kontend, "report", "-q", "--duration", str(seconds), *VIEWS),
                                  stdout=subprocess.PIPE, text=True) as p:
                said, n = samples(server, seconds)
                found = measured(p.communicate()[0], seconds)
            load.communicate()
    print("%d samples of %d s" % (n, seconds))
    print("%-28s %10s %10s" % ("LOCK", "THE VIEW", "KONTEND"))
    for event in sorted(said.keys() | found.keys(), key=lambda e: -said.get(e, 0)):
        print("%-28s %10.3f %10.3f" % (event, said.get(event, 0), found.get(event, 0)))
    done()


main()
