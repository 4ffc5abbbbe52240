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
import glob
import json
import os
import pwd
import subprocess
import sys
import tempfile
import time

from checks import check, done, skip

CLIENTS = "60"
VIEWS = ("--view", "locks", "--rows", "0", "--format", "json")
SAMPLE_S = 0.05
QUERY = ("SELECT wait_event_type || ':' || wait_event, count(*) FROM pg_stat_activity WHERE wait_event_type IN "
         "('Lock', 'LWLock') GROUP BY 1")


class Server:
    def __init__(self, programs, folder):
        self.programs, self.folder = programs, folder
        user = pwd.getpwnam("postgres")
        os.chown(folder, user.pw_uid, user.pw_gid)
        self.as_user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": [], "cwd": folder}

    def args(self, program, *args):
        return (os.path.join(self.programs, program), *args)

    def do(self, *args):
        p = subprocess.run(self.args(*args), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False,
                           **self.as_user)
        if not check(p.returncode == 0, "%s: status %d: %s" % (args, p.returncode, p.stderr)):
            done()

    def __enter__(self):
        self.do("initdb", "-D", "data", "-A", "trust", "-U", "postgres", "-N")
        with open(os.path.join(self.folder, "log"), "w", encoding="utf-8") as log:
            p = subprocess.run(self.args("pg_ctl", "-D", "data", "-w", "-o",
                                         "-c listen_addresses='' -k %s" % self.folder, "start"),
                               stdout=log, stderr=log, check=False, **self.as_user)
        check(p.returncode == 0, "the server does not start")
        return self

    def __exit__(self, *_):
        self.do("pg_ctl", "-D", "data", "-m", "immediate", "-w", "stop")

    def bench(self, *args):
        return self.args("pgbench", "-h", self.folder, "-U", "postgres", *args, "postgres")


def samples(server, seconds):
    """Kind of lock: waiting clients on average. One session for all queries."""
    total, n = collections.Counter(), 0
    with subprocess.Popen(server.args("psql", "-X", "-q", "-A", "-t", "-h", server.folder, "-U", "postgres"),
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as p:
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
    servers = sorted(glob.glob("/usr/lib/postgresql/*/bin/pgbench"))
    if os.geteuid() != 0 or not servers:
        skip("needs root, and a server of PostgreSQL")
    with tempfile.TemporaryDirectory(prefix="kontend-pgbench-") as folder, \
            Server(os.path.dirname(servers[-1]), folder) as server:
        server.do("pgbench", "-h", folder, "-U", "postgres", "-i", "-q", "-s", "2", "postgres")
        with subprocess.Popen(server.bench("-c", CLIENTS, "-j", "2", "-T", str(seconds + 6)), stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True) as load:
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
