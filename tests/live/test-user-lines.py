#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Programs of several languages wait for the lock of a file, one after the other: the flame graph of
waits has the functions of each that led there. C comes without frame pointers. A language that is not
installed here is left out.

    test-user-lines.py KONTEND"""
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

C = """
#include <fcntl.h>
#include <sys/file.h>
__attribute__((noinline)) int take_lock(int fd) { int r = flock(fd, LOCK_EX); flock(fd, LOCK_UN); return r + 1; }
__attribute__((noinline)) int commit_log(int fd) { return take_lock(fd) + 1; }
int main(int c, char **v) { int n = 0; for (;;) n += commit_log(open(v[1], O_RDWR | O_CLOEXEC)); return n + c; }
"""

CPP = """
#include <fcntl.h>
#include <sys/file.h>
namespace store { struct log { int fd; __attribute__((noinline)) int commit(int n) { n += flock(fd, LOCK_EX); flock(fd, LOCK_UN); return n; } }; }
__attribute__((noinline)) int serve(store::log &l) { return l.commit(1) + 1; }
int main(int, char **v) { store::log l{open(v[1], O_RDWR | O_CLOEXEC)}; int n = 0; for (;;) n += serve(l); return n; }
"""

RUST = """
use std::os::fd::AsRawFd;
extern "C" { fn flock(fd: i32, op: i32) -> i32; }
#[inline(never)] fn commit(fd: i32) -> i32 { let r = unsafe { flock(fd, 2) }; unsafe { flock(fd, 8) }; r + 1 }
#[inline(never)] fn serve(fd: i32) -> i32 { commit(fd) + 1 }
fn main() { let f = std::fs::File::open(std::env::args().nth(1).unwrap()).unwrap(); let mut n = 0; loop { n += serve(f.as_raw_fd()); if n < 0 { break } } }
"""

GO = """
package main
import ("os"; "syscall")
//go:noinline
func commit(fd int) int { syscall.Flock(fd, syscall.LOCK_EX); syscall.Flock(fd, syscall.LOCK_UN); return 1 }
//go:noinline
func serve(fd int) int { return commit(fd) + 1 }
func main() { f, _ := os.Open(os.Args[1]); n := 0; for { n += serve(int(f.Fd())); if n < 0 { return } } }
"""

PYTHON = """
import fcntl, sys
class Store:
    def commit(self, f):
        fcntl.flock(f, fcntl.LOCK_EX)
        fcntl.flock(f, fcntl.LOCK_UN)
def serve(store, f):
    while True:
        store.commit(f)
serve(Store(), open(sys.argv[1]))
"""


def compile_it(folder, tools, suffix, text, words):
    tool = next((t for t in tools if shutil.which(t)), None)
    if not tool:
        return None
    source, program = os.path.join(folder, "w" + suffix), os.path.join(folder, "p" + suffix)
    with open(source, "w") as f:
        f.write(text)
    own = {"GOCACHE": os.path.join(folder, "cache"), "XDG_CONFIG_HOME": os.path.join(folder, "config")}
    p = subprocess.run([tool, *words, "-o", program, source], capture_output=True, text=True, env={**os.environ, **own})
    if p.returncode:
        print(f"{tool}: {p.stderr.strip()[:200]}")
        return None
    return [program]


def script(folder, tool, text):
    if not shutil.which(tool):
        return None
    path = os.path.join(folder, tool)
    with open(path, "w") as f:
        f.write(text)
    return [tool, path]


def kinds(d):
    flags = ["-O2", "-g", "-fomit-frame-pointer"]
    yield "C", compile_it(d, ["cc", "gcc", "clang"], ".c", C, flags), ["commit_log", "take_lock"]
    yield "C++", compile_it(d, ["c++", "g++"], ".cpp", CPP, flags), ["serve", "store::log::commit"]
    yield "Rust", compile_it(d, ["rustc"], ".rs", RUST, ["-O", "-g"]), ["w::serve", "w::commit"]
    yield "Go", compile_it(d, ["go"], ".go", GO, ["build"]), ["main.serve", "main.commit"]
    yield "Python", script(d, "python3.11", PYTHON), ["serve", "Store.commit"]


def waits(pid):
    """In flock(2), by the number of its call."""
    try:
        with open("/proc/locks") as f:
            return any(" -> " in line and f" {pid} " in line for line in f)
    except OSError:
        return False


def flame(pid):
    words = ["report", "-q", "--format", "json", "--view", "flame", "--weight", "wait",
             "--duration", "2s", "-p", str(pid)]
    p = subprocess.run([kontend, *words], capture_output=True, text=True)
    if p.returncode:
        raise AssertionError(f"report: {p.stderr.strip()}")
    return [r["name"] for r in json.loads(p.stdout)["views"]["flame"]["rows"]]


def look_at(name, command, lock, functions):
    p = subprocess.Popen([*command, lock])
    try:
        until = time.monotonic() + MOST_S
        while not waits(p.pid) and p.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
        if not check(waits(p.pid), f"{name}: it does not wait"):
            return
        names = flame(p.pid)
        print(name, names)
        at = [names.index(f) if f in names else -1 for f in functions]
        check(-1 not in at and at == sorted(at), f"{name}: no {functions} in {names}")
    finally:
        p.kill()
        p.wait()


if os.geteuid() != 0:
    skip("needs root")
with tempfile.TemporaryDirectory(prefix="kontend-lines-") as d:
    path = os.path.join(d, "lock")
    with open(path, "w") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        n = 0
        for name, command, functions in kinds(d):
            if command:
                look_at(name, command, path, functions)
                n += 1
            else:
                print(f"{name}: not here")
if not n:
    skip("no compiler and no interpreter")
done()
