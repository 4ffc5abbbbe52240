#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Programs of several languages wait for the lock of a file: AT is the line that is marked in their source, or it is
not available with a reason. It is read of short waits, and of one that lasts. Node has no call for such a lock: it
opens a file of which another process has the lease. A language that is not installed here is left out.

    test-languages.py KONTEND"""
import fcntl
import json
import os
import re
import shutil
import signal
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

# It locks another file, and another part of this one, until all is compiled.
JAVA = """
import java.io.RandomAccessFile;
import java.nio.channels.FileChannel;
class Waits {
    static void take_file(FileChannel c) throws Exception { c.lock().release(); }
    static void take_files(FileChannel c, int n) throws Exception { for (int i = 0; i < n; i++) take_file(c); }
    public static void main(String[] v) throws Exception {
        FileChannel c = new RandomAccessFile(v[0], "rw").getChannel();
        FileChannel own = new RandomAccessFile(v[0] + ".own", "rw").getChannel();
        for (int i = 0; i < 300; i++) take_files(own, 100);
        for (int i = 0; i < 30000; i++) c.lock(1000, 1, false).release();
        System.out.println("ready");
        while (true) take_files(c, 100);
    }
}
"""

# Node runs a function so often before it is compiled. One who opens a file only to read it asks for it again and again.
NODE = """
const fs = require('fs');
const pause = new Int32Array(new SharedArrayBuffer(4));
function take_file(path) {  // WAITS
	fs.closeSync(fs.openSync(path, 'r+'));
}
for (let i = 0; i < 30000; i++)
	take_file(__filename);
console.log('ready');
while (true) {
	take_file(process.argv[2]);
	Atomics.wait(pause, 0, 0, 1);
}
"""

G = ("-O2", "-g")
# Name, compiler, its words, suffix, source.
KINDS = (
    ("C with frame pointers", "cc", (*G, "-fno-omit-frame-pointer"), ".c", C),
    ("C without them", "cc", (*G, "-fomit-frame-pointer"), ".c", C),
    ("C, static", "cc", (*G, "-static", "-no-pie"), ".c", C),
    ("C without debug information", "cc", ("-O2",), ".c", C),
    ("C, static, of musl", "musl-gcc", (*G, "-static", "-fomit-frame-pointer"), ".c", C),
    ("C, static, of musl, with frame pointers", "musl-gcc", (*G, "-static", "-fno-omit-frame-pointer"), ".c", C),
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


def of_flock(path, is_long):
    return Holder(path, fcntl.flock, is_long)


def of_lockf(path, is_long):
    return Holder(path, lambda f, how: fcntl.lockf(f, how, 100), is_long)


class Lessor:
    """Has the lease of the file for 4 ms after another process wants to open it, or for as long as the kernel allows."""

    def __init__(self, path, is_long):
        self.path, self.is_long, self.ended = path, is_long, threading.Event()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGIO})
        self.file = open(path, "r+")
        self.thread = threading.Thread(target=self.run)

    def take(self):
        """False: others have it open at the moment."""
        try:
            fcntl.fcntl(self.file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
            return True
        except BlockingIOError:
            return False

    def run(self):
        while not self.ended.is_set():
            if not self.take():
                time.sleep(0.0005)
                continue
            while not self.ended.is_set() and not signal.sigtimedwait({signal.SIGIO}, 0.1):
                pass
            if self.is_long:
                self.ended.wait()
            time.sleep(0.004)
            fcntl.fcntl(self.file, fcntl.F_SETLEASE, fcntl.F_UNLCK)

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
        self.file.close()


def rows_of(pid, view):
    """Those for the lock: what it takes to release it may have to wait, too."""
    p = subprocess.run([kontend, "report", "-q", "--no-config", "--format", "json", "--view", view, "--duration", "1s",
                        "-p", str(pid)], capture_output=True, text=True)
    if p.returncode:
        raise AssertionError(f"report: {p.stderr.strip()}")
    return [r for r in json.loads(p.stdout)["views"][view]["rows"] if r["syscall"] in ("flock", "fcntl", "open", "openat")
            and r.get("type", "flock") in ("flock", "posix", "lease")]


def is_cut(row):
    """Its place has not been read yet, or no snapshot has seen it."""
    why = row["at_reason"] or ""
    return not row["at"] and (why.startswith("[") or why.startswith("no snapshot") or why == "there is no call chain")


def is_ready(p):
    return p.stdout.readline() == "ready\n"


def write_map(pid):
    subprocess.run(["jcmd", str(pid), "Compiler.perfmap"], stdout=subprocess.DEVNULL, check=True)


def look_at(name, command, path, is_right, is_long, holder, begins, before):
    """Every place that has been read is right, and there is one. @begins: prints when it has; @before each look."""
    with holder(path, is_long):
        p = subprocess.Popen([*command, path], stdout=subprocess.PIPE if begins else None, text=True)
        try:
            check(not begins or is_ready(p), f"{name} does not begin")
            until, read = time.monotonic() + MOST_S, []
            while not read and p.poll() is None and time.monotonic() < until:
                before(p.pid)
                read = [r for r in rows_of(p.pid, "blocked" if is_long else "waiters") if not is_cut(r)]
            seen = sorted({(r["at"] or r["at_reason"] or "nothing") for r in read})
            what = "%s, %s" % (name, "long" if is_long else "short")
            print(what, seen)
            check(read and all(is_right(r) for r in read), f"{what}: {seen}")
        finally:
            p.kill()
            p.wait()
            if begins:
                p.stdout.close()
                remove_map(p.pid)


def remove_map(pid):
    """What a JIT has written about its code."""
    try:
        os.unlink("/tmp/perf-%d.map" % pid)
    except FileNotFoundError:
        pass


def both(name, command, path, short, long, holder=of_flock, begins=False, before=lambda pid: None):
    look_at(name, command, path, short, False, holder, begins, before)
    look_at(name, command, path, long, True, holder, begins, before)


def line_is(where):
    return lambda r: (r["at"] or "").startswith(where) and r["at"].endswith("take_file")


def has_offset(row):
    return (row["at"] or "").startswith("take_file+0x")


def why_is(text):
    return lambda r: not r["at"] and text in r["at_reason"]


def java(folder, path):
    if not is_usable("javac") or not is_usable("java"):
        print("Java: not here")
        return 0
    source = os.path.join(folder, "Waits.java")
    with open(source, "w", encoding="utf-8") as f:
        f.write(JAVA)
    subprocess.run(["javac", "-d", folder, source], check=True)
    words = ["java", "-Xbatch", "-XX:+PreserveFramePointer", "-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,Waits.take*",
             "-cp", folder, "Waits"]
    no_map = why_is("perf map")
    both("Java without a map", words, path, no_map, no_map, of_lockf, True)
    if shutil.which("jcmd"):
        named = lambda r: re.fullmatch(r"void Waits\.take_file\(.*\)", r["at"] or "")
        both("Java with a map", words, path, named, named, of_lockf, True, write_map)
    return 1


def node(folder, path):
    if not is_usable("node"):
        print("Node: not here")
        return 0
    script = write_source(folder, ".js", NODE)
    no_map, interpreted = why_is("node --perf-basic-prof"), why_is("node --interpreted-frames-native-stack")
    line = r"\S*\btake_file .*\bw\.js:%d:\d+" % marked_line(NODE)
    named = lambda r: re.fullmatch(line, r["at"] or "")
    both("Node without a map", ["node", script], path, no_map, no_map, Lessor, True)
    both("Node with a map", ["node", "--perf-basic-prof", script], path, named, named, Lessor, True)
    both("Node with a map, also of interpreted code",
         ["node", "--perf-basic-prof", "--interpreted-frames-native-stack", script], path, named, named, Lessor, True)
    return 1


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
    n += java(folder, path)
    n += node(folder, path)
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
