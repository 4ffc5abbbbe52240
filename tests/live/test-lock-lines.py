#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Two threads of a program take a mutex in turns, with pauses where it is not fair. While the whole machine is measured,
AT of that lock is the line that is marked in the source: in C with frame pointers, without them and static, in C++ and
in Rust. Without debug information it is the function; in Python that line, or the reason why it is not known. A
language that is not installed here is left out.

    test-lock-lines.py KONTEND"""
import json
import os
import re
import subprocess
import sys
import tempfile
import time

from checks import check, done, skip
from compilers import build, is_usable, marked_line, write_source

kontend = os.path.abspath(sys.argv[1])
MOST_S = 30

C = """
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) int take_mutex(int n)
{
	n += pthread_mutex_lock(&mutex); /* WAITS */
	usleep(30000);
	return n + pthread_mutex_unlock(&mutex);
}
static void *work(void *arg)
{
	for (int n = 0; n >= 0;)
		n = take_mutex(n);
	return arg;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, work, 0);
	return work(0) != 0;
}
"""

CPP = """
#include <chrono>
#include <mutex>
#include <thread>
static std::mutex mutex;
__attribute__((noinline)) int take_mutex(int n)
{
	std::lock_guard<std::mutex> guard(mutex); /* WAITS */
	std::this_thread::sleep_for(std::chrono::milliseconds(30));
	return n;
}
static void work()
{
	for (int n = 0; n >= 0;)
		n = take_mutex(n);
}
int main()
{
	std::thread other(work);
	work();
}
"""

RUST = """
use std::sync::Mutex;
use std::time::Duration;
static MUTEX: Mutex<u64> = Mutex::new(0);
#[inline(never)]
fn take_mutex() -> u64 {
    let mut n = MUTEX.lock().unwrap(); // WAITS
    std::thread::sleep(Duration::from_millis(30));
    *n += 1;
    *n
}
fn work() {
    while take_mutex() > 0 {
        std::thread::sleep(Duration::from_millis(10));
    }
}
fn main() {
    std::thread::spawn(work);
    work();
}
"""

PYTHON = """
import threading
import time
mutex = threading.Lock()
def take_mutex():
    mutex.acquire()  # WAITS
    time.sleep(0.03)
    mutex.release()
def work():
    while True:
        take_mutex()
        time.sleep(0.01)
threading.Thread(target=work).start()
work()
"""

G = ("-O2", "-g", "-pthread")
# Name, compiler, its words, suffix, source.
PROGRAMS = (
    ("C with frame pointers", "cc", (*G, "-fno-omit-frame-pointer"), ".c", C),
    ("C without them", "cc", (*G, "-fomit-frame-pointer"), ".c", C),
    ("C, static", "cc", (*G, "-static", "-no-pie"), ".c", C),
    ("C without debug information", "cc", ("-O2", "-pthread"), ".c", C),
    ("C++", "c++", G, ".cpp", CPP),
    ("Rust", "rustc", ("-O", "-g"), ".rs", RUST),
)


def pattern(text, suffix, has_lines):
    return r"w\%s:%d .*\btake_mutex$" % (suffix, marked_line(text)) if has_lines else r"take_mutex\+0x"


def rows_of(pid):
    # In the first second or two it is found out that a futex of Rust is a lock.
    words = [kontend, "report", "-q", "--no-config", "-a", "--rows", "0", "--format", "json", "--view", "locks",
             "--duration", "3s"]
    p = subprocess.run(words, capture_output=True, text=True, check=False)
    if p.returncode:
        raise AssertionError(f"report: {p.stderr.strip()}")
    rows = json.loads(p.stdout)["views"]["locks"]["rows"]
    return [r for r in rows if r["type"].endswith("(u)") and (r["name"] or "").endswith("/%d" % pid)]


def look_at(name, command, right, must_have):
    """No place that was read is a wrong one. @must_have: there is one, else a lock with a reason."""
    p = subprocess.Popen(command)
    until, places, reasons = time.monotonic() + MOST_S, set(), set()
    try:
        while not (places or (reasons and not must_have)) and p.poll() is None and time.monotonic() < until:
            rows = rows_of(p.pid)
            places |= {r["at"] for r in rows if r["at"]}
            reasons |= {r["at_reason"] for r in rows if not r["at"]}
    finally:
        p.kill()
        p.wait()
    print(name, sorted(places), sorted(map(str, reasons)), flush=True)
    check(places or (reasons and not must_have), f"{name}: no place, {reasons}")
    check(None not in reasons, f"{name}: neither a place nor a reason")
    for place in places:
        check(re.match(right, place), f"{name}: {place} is not {right}")


def run_all(folder):
    n = 0
    for name, tool, words, suffix, text in PROGRAMS:
        program = is_usable(tool) and build(folder, tool, words, suffix, text)
        if not program:
            print(f"{name}: not here")
            continue
        look_at(name, [program], pattern(text, suffix, "-g" in words), True)
        n += 1
    if is_usable("python3"):
        look_at("Python", ["python3", write_source(folder, ".py", PYTHON)], pattern(PYTHON, ".py", True), False)
        n += 1
    return n


def main():
    if os.geteuid():
        skip("needs root")
    with tempfile.TemporaryDirectory(prefix="kontend-lock-lines-") as d:
        n = run_all(d)
    if not n:
        skip("no compiler and no Python")
    done()


main()
