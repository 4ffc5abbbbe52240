#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Programs of several languages wait for the lock of a file: AT is the line that is marked in their source, or it is
not available with a reason. It is read of short waits, and of one that lasts. A language that is not installed here
is left out.

    test-languages.py KONTEND"""
import fcntl
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

from checks import check, done, skip
from compilers import build, is_usable, marked_line, write_source

kontend = os.path.abspath(sys.argv[1])
MOST_S = 30

C = """
#include <fcntl.h>
#include <sys/file.h>
__attribute__((noinline)) int take_file(int fd)
{
	int r = flock(fd, LOCK_EX); /* WAITS */
	flock(fd, LOCK_UN);
	return r + 1;
}
int main(int c, char **v)
{
	int fd = open(v[1], O_RDWR | O_CLOEXEC);
	for (int n = 0; n >= 0;)
		n += take_file(fd);
	return c;
}
"""

RUST = """
use std::os::fd::AsRawFd;
extern "C" { fn flock(fd: i32, op: i32) -> i32; }
#[inline(never)]
fn take_file(fd: i32) -> i32 {
    let r = unsafe { flock(fd, 2) }; // WAITS
    unsafe { flock(fd, 8) };
    r + 1
}
fn main() {
    let f = std::fs::File::open(std::env::args().nth(1).unwrap()).unwrap();
    let mut n = 0;
    while n >= 0 { n += take_file(f.as_raw_fd()); }
}
"""

GO = """
package main
import ("os"; "syscall")
//go:noinline
func take_file(fd int) int {
	syscall.Flock(fd, syscall.LOCK_EX) // WAITS
	syscall.Flock(fd, syscall.LOCK_UN)
	return 1
}
func main() {
	f, _ := os.Open(os.Args[1])
	for n := 0; n >= 0; { n += take_file(int(f.Fd())) }
}
"""

PYTHON = """
import fcntl, sys
def take_file(f):
    fcntl.flock(f, fcntl.LOCK_EX)  # WAITS
    fcntl.flock(f, fcntl.LOCK_UN)
with open(sys.argv[1]) as f:
    while True:
        take_file(f)
"""

JAVA = """
import java.io.RandomAccessFile;
import java.nio.channels.FileChannel;
class Waits {
    static void take_file(FileChannel c) throws Exception { c.lock().release(); }
    public static void main(String[] v) throws Exception {
        FileChannel c = new RandomAccessFile(v[0], "rw").getChannel();
        while (true) take_file(c);
    }
}
"""

G = ("-O2", "-g")
# Name, compiler, its words, suffix, source.
KINDS = (
    ("C with frame pointers", "cc", (*G, "-fno-omit-frame-pointer"), ".c", C),
    ("C without them", "cc", (*G, "-fomit-frame-pointer"), ".c", C),
    ("C, static", "cc", (*G, "-static", "-no-pie"), ".c", C),
    ("C without debug information", "cc", ("-O2",), ".c", C),
    ("C++", "c++", G, ".cpp", C),
    ("Rust", "rustc", ("-O", "-g"), ".rs", RUST),
    ("Go", "go", ("build",), ".go", GO),
)
PYTHON_WHY = "Python interprets it: its lines are read of waits over 10 ms"


def marked(text, suffix):
    return "w%s:%d " % (suffix, marked_line(text))


class Holder:
    """Has the lock for 4 ms at a time, or all the time."""

    def __init__(self, path, take, is_long):
        self.file, self.take, self.ended = open(path, "r+"), take, threading.Event()
        take(self.file, fcntl.LOCK_EX)
        self.thread = None if is_long else threading.Thread(target=self.run)

    def run(self):
        while not self.ended.is_set():
            self.take(self.file, fcntl.LOCK_EX)
            time.sleep(0.004)
            self.take(self.file, fcntl.LOCK_UN)
            time.sleep(0.001)

    def __enter__(self):
        if self.thread:
            self.thread.start()

    def __exit__(self, *_):
        self.ended.set()
        if self.thread:
            self.thread.join()
        self.file.close()


def rows_of(pid, view):
    """Waits that only spin have no calls of the program."""
    p = subprocess.run([kontend, "report", "-q", "--no-config", "--format", "json", "--view", view, "--duration", "1s",
                        "-p", str(pid)], capture_output=True, text=True)
    if p.returncode:
        raise AssertionError(f"report: {p.stderr.strip()}")
    return [r for r in json.loads(p.stdout)["views"][view]["rows"] if r["syscall"] in ("flock", "fcntl")
            and r.get("type") != "spinlock"]


def is_cut(row):
    """Its place has not been read yet, or no snapshot has seen it."""
    why = row["at_reason"] or ""
    return not row["at"] and (why.startswith("[") or why.startswith("no snapshot") or why == "there is no call chain")


def look_at(name, command, path, is_right, is_long, take):
    """Every place that has been read is right, and there is one."""
    with Holder(path, take, is_long):
        p = subprocess.Popen([*command, path])
        try:
            until, read = time.monotonic() + MOST_S, []
            while not read and p.poll() is None and time.monotonic() < until:
                read = [r for r in rows_of(p.pid, "blocked" if is_long else "waiters") if not is_cut(r)]
            seen = sorted({(r["at"] or r["at_reason"] or "nothing") for r in read})
            what = "%s, %s" % (name, "long" if is_long else "short")
            print(what, seen)
            check(read and all(is_right(r) for r in read), f"{what}: {seen}")
        finally:
            p.kill()
            p.wait()


def both(name, command, path, short, long, take=fcntl.flock):
    look_at(name, command, path, short, False, take)
    look_at(name, command, path, long, True, take)


def line_is(where):
    return lambda r: (r["at"] or "").startswith(where) and r["at"].endswith("take_file")


def has_offset(row):
    return (row["at"] or "").startswith("take_file+0x")


def no_map(row):
    return not row["at"] and "perf map" in row["at_reason"]


def run_all(folder, path):
    n = 0
    for name, tool, words, suffix, text in KINDS:
        program = is_usable(tool) and build(folder, tool, words, suffix, text)
        if not program:
            print(f"{name}: not here")
            continue
        right = line_is(marked(text, suffix)) if "-g" in words or tool == "go" else has_offset
        both(name, [program], path, right, right)
        n += 1
    script = write_source(folder, ".py", PYTHON)
    if is_usable("/usr/bin/python3.11"):
        both("Python", ["/usr/bin/python3.11", script], path, lambda r: r["at_reason"] == PYTHON_WHY,
             line_is(marked(PYTHON, ".py")))
        n += 1
    if is_usable("javac") and is_usable("java"):
        with open(os.path.join(folder, "Waits.java"), "w") as f:
            f.write(JAVA)
        subprocess.run(["javac", "-d", folder, os.path.join(folder, "Waits.java")], check=True)
        java = ["java", "-XX:+PreserveFramePointer", "-cp", folder, "Waits"]
        both("Java without a map", java, path, no_map, no_map, fcntl.lockf)
        n += 1
    return n


def main():
    if os.geteuid():
        skip("needs root")
    with tempfile.TemporaryDirectory(prefix="kontend-languages-") as d:
        os.chdir(d)
        path = os.path.join(d, "lock")
        with open(path, "w"):
            pass
        n = run_all(d, path)
        os.chdir("/")
    if not n:
        skip("no compiler and no interpreter")
    done()


main()
