#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A program that is measured for one second has its own functions in all views: the caller of a wait for
its lock is none of the C library, and no name is still being read. Sleeps in state D and tasks that are
blocked have its line.

    test-own-lines.py KONTEND"""
import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

from checks import check, done, skip

kontend = sys.argv[1]
MOST_S = 30

PROGRAM = """
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) int take_job(int n)
{
	pthread_mutex_lock(&queue);
	usleep(3000);
	pthread_mutex_unlock(&queue);
	return n + 1;
}
static void *work(void *arg)
{
	for (int n = 0; n < 110;)
		n = take_job(n);
	return arg;
}
__attribute__((noinline)) int open_store(const char *path)
{
	int r = flock(open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600), LOCK_EX);
	return r + 1;
}
int main(int n, char **v)
{
	pthread_t t[3];
	if (n > 1)
		return open_store(v[1]) + (int)strlen(v[1]);
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return 0;
}
"""


def run(*args):
    p = subprocess.run([kontend, *args], capture_output=True, text=True)
    if p.returncode:
        raise AssertionError(f"{args[0]}: {p.stderr.strip()}")
    return p.stdout


def check_views(when, text):
    check("(loading)" not in text, f"{when}: a name is being read")
    views = json.loads(text)["views"]
    rows = [r for r in views["locks"]["rows"] if r["type"] == "mutex(u)"]
    row = max(rows, key=lambda r: r["total_ns"], default=None)
    if check(row, f"{when}: no mutex"):
        print(when, row["caller"], row["at"])
        check(row["caller"] == "take_job", f"{when}: caller {row['caller']}")
        check((row["at"] or "").endswith(" take_job"), f"{when}: at {row['at']}")
    roots = {n["name"] for n in views["tree"]["nodes"] if n["depth"] == 0}
    check("take_job" in roots, f"{when}: roots {sorted(roots)}")


def check_locks(folder, program):
    views = ["--format", "json", "--view", "locks,waiters,blame,tree"]
    check_views("live", run("report", "-q", *views, "--", program))
    path = os.path.join(folder, "recording")
    run("record", "-q", "-o", path, "--", program)
    check_views("recorded", run("report", "-i", path, *views))
    only = json.loads(run("report", "-i", path, "--format", "json", "--view", "locks", "--caller", "take_job"))
    check(only["views"]["locks"]["rows"], "no wait has that caller")
    lines = [json.loads(line) for line in run("script", "-i", path, "--format", "json").splitlines()]
    own = [x for x in lines if x.get("event") == "futex" and (x["at"] or "").endswith(" take_job")]
    print(f"{len(own)} lines of script at take_job")
    check(own, "script has no line at take_job")
    lines = run("script", "-i", path, "--caller", "take_job").splitlines()
    check(any("take_job" in x for x in lines), "no line of script has that caller")
    folded = run("export", "--format", "folded", path)
    check("(loading)" not in folded and "take_job" in folded, "folded stacks have no take_job")


def look_at(tid, path, until):
    rows = []
    while not any(r["at"] for r in rows) and time.monotonic() < until:
        text = run("report", "-q", "--view", "blocked", "--by", "task", "--format", "json", "--duration", "1s")
        rows = [r for r in json.loads(text)["views"]["blocked"]["rows"] if r["tid"] == tid]
    if check(rows, "the task is not blocked"):
        print(rows[0]["cause"], rows[0]["at"], rows[0]["stack"])
        check((rows[0]["at"] or "").endswith(" open_store"), f"at {rows[0]['at']}")
        check(rows[0]["on"] == path, f"on {rows[0]['on']}")
        check("open_store" in rows[0]["stack"], f"calls {rows[0]['stack']}")


def check_blocked(folder, program):
    path = os.path.join(folder, "store")
    until = time.monotonic() + MOST_S
    with open(path, "w") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        p = subprocess.Popen([program, path])
        try:
            look_at(p.pid, path, until)
        finally:
            p.kill()
            p.wait()


if os.geteuid() != 0:
    skip("needs root")
compiler = next((c for c in ("cc", "gcc", "clang") if shutil.which(c)), None)
if not compiler:
    skip("no compiler")
with tempfile.TemporaryDirectory(prefix="kontend-own-lines-") as d:
    source, built = os.path.join(d, "jobs.c"), os.path.join(d, "jobs")
    with open(source, "w") as f:
        f.write(PROGRAM)
    command = [compiler, "-O1", "-g", "-pthread", "-o", built, source]
    subprocess.run(command, check=True)
    check_locks(d, built)
    check_blocked(d, built)
    # With the C library in it, of which no path shows that it is one.
    if subprocess.run([*command, "-static", "-no-pie"], capture_output=True).returncode == 0:
        check_blocked(d, built)
done()
