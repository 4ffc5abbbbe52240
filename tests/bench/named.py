#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Share of the waiting time whose lock has a name of words, without an address, on workloads that people run.
Prints a line for each workload and each KONTEND: names of the kernel's locks, and of all, those of programs too.
Workloads whose programs are not installed are left out.

    named.py BUILD-FOLDER KONTEND..."""
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

SECONDS = 5
HEX = re.compile(r"\u2026|0x[0-9a-f]+|\.\.[0-9a-f]{4,}|\+0x")

CHURN = """
import os, time
end = time.time() + %d
while time.time() < end:
    for i in range(50):
        name = 'f%%s.%%d' %% (os.getpid(), i)
        open(name, 'w').close()
        os.rename(name, name + 'r')
        os.unlink(name + 'r')
""" % SECONDS
CGROUPS = """
import os, time
end = time.time() + %d
at = [a for a in ('/sys/fs/cgroup/unified', '/sys/fs/cgroup/memory', '/sys/fs/cgroup/cpu', '/sys/fs/cgroup') if
      os.path.exists(a + '/cgroup.procs')]
while time.time() < end:
    for a in at:
        os.mkdir('%%s/named-%%d' %% (a, os.getpid()))
        os.rmdir('%%s/named-%%d' %% (a, os.getpid()))
""" % SECONDS
QUEUES = """
import multiprocessing, time
def work(lock, queue, end):
    while time.time() < end:
        with lock:
            queue.put(1)
            queue.get()
lock, queue, end = multiprocessing.Lock(), multiprocessing.Queue(), time.time() + %d
all = [multiprocessing.Process(target=work, args=(lock, queue, end)) for i in range(18)]
[p.start() for p in all]
[p.join() for p in all]
""" % SECONDS
GO = """package main
import ("syscall"; "time"; "sync"; "runtime")
func main() {
	end := time.Now().Add(%d * time.Second)
	var all sync.WaitGroup
	for i := 0; i < 200; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for time.Now().Before(end) {
				m, err := syscall.Mmap(-1, 0, 1<<16, 3, 0x22)
				if err == nil { m[0] = 1; syscall.Munmap(m) }
				_ = make([]byte, 1<<16)
				runtime.Gosched()
			}
		}()
	}
	all.Wait()
}
""" % SECONDS
JAVA = """public class Locks {
    static final Object lock = new Object();
    static long n;
    public static void main(String[] args) throws Exception {
        long end = System.nanoTime() + %dL * 1000000000L;
        Thread[] all = new Thread[32];
        for (int i = 0; i < all.length; i++) {
            all[i] = new Thread(() -> { while (System.nanoTime() < end) synchronized (lock) { n++; Thread.yield(); } });
            all[i].start();
        }
        for (Thread t : all) t.join();
    }
}
""" % SECONDS
EXEC = "import os,time\nend=time.time()+%d\nwhile time.time()<end: os.waitstatus_to_exitcode(os.spawnv(os.P_WAIT, '/bin/true', ['true']))" % SECONDS


def many(n, *command):
    """A shell that runs the command @n times at the same time."""
    return ["sh", "-c", 'i=0; while [ $i -lt %d ]; do "$@" & i=$((i + 1)); done; wait' % n, "sh", *command]


def compiled(folder):
    """A program of Go and one of Java, built before they are measured; "": there is no compiler."""
    env = dict(os.environ, GOCACHE=os.path.join(folder, "cache"), XDG_CONFIG_HOME=folder, GOPATH=folder,
               GO111MODULE="off", GOFLAGS="")
    made = []
    for source, text, command, result in (
            ("work.go", GO, ["go", "build", "-o", "work-go", "work.go"], "work-go"),
            ("Locks.java", JAVA, ["javac", "Locks.java"], "Locks.class")):
        with open(os.path.join(folder, source), "w", encoding="utf-8") as f:
            f.write(text)
        ok = shutil.which(command[0]) and subprocess.run(command, cwd=folder, env=env, check=False).returncode == 0
        made.append(os.path.join(folder, result) if ok else "")
    return made


def workloads(build, folder):
    go, java = compiled(folder)
    live = os.path.join(build, "tests/live")
    python = sys.executable
    return {
        "Go, 200 goroutines": (go or "go", [go]),
        "Java, one monitor": (java and "java" or "javac", ["java", "-cp", folder, "Locks"]),
        "mmap and munmap": (live + "/object-names", [live + "/object-names", "memory", str(SECONDS), folder]),
        "fork of 3 GiB": (live + "/story-fork", [live + "/story-fork", "3072", "10", "3"]),
        "create, rename, unlink": (python, many(12, python, "-c", CHURN)),
        "fork and exec": (python, many(8, python, "-c", EXEC)),
        "cgroups": (python, many(8, python, "-c", CGROUPS)),
        "flock": ("stress-ng", ["stress-ng", "-q", "--flock", "48", "-t", str(SECONDS)]),
        "redis": ("redis-benchmark", ["sh", "-c", "redis-server --port 6399 --save '' --dir %s >/dev/null & sleep 1; "
                  "redis-benchmark -q -p 6399 -n 200000 -c 50 -t set,get >/dev/null; kill $!; wait" % folder]),
        "Python's locks": (python, [python, "-c", QUEUES]),
        "pipes and sockets": ("stress-ng", ["stress-ng", "-q", "--pipe", "4", "--sock", "4", "--epoll", "2", "-t",
                              str(SECONDS)]),
        "memory and files": ("stress-ng", ["stress-ng", "-q", "--vm", "4", "--vm-bytes", "64m", "--hdd", "2",
                             "--hdd-bytes", "32m", "--mmap", "2", "--mmap-bytes", "32m", "-t", str(SECONDS)]),
    }


def measure(kontend, command, folder, out):
    p = subprocess.run([kontend, "report", "-q", "--no-config", "--view", "locks", "--format", "json", "-n", "100000",
                        "-o", out, "--", *command], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                       text=True, check=False)
    if not os.path.exists(out):
        return None, p.stderr
    with open(out, encoding="utf-8") as f:
        rows = json.load(f)["views"]["locks"]["rows"]
    os.unlink(out)
    return rows, p.stderr


def share(rows):
    """Of the time, and what has the most of the rest."""
    total = sum(r["total_ns"] or 0 for r in rows)
    rest = collections.Counter()
    for r in rows:
        if not r["name"] or HEX.search(r["name"]):
            rest[(r["kind"], r["name"])] += r["total_ns"] or 0
    return total, 100 * (1 - sum(rest.values()) / total) if total else 100, rest.most_common(3)


def main():
    build, kontends = os.path.abspath(sys.argv[1]), [os.path.abspath(k) for k in sys.argv[2:]]
    with tempfile.TemporaryDirectory(dir=os.getcwd()) as top:
        folder, out = os.path.join(top, "work"), os.path.join(top, "out")
        os.mkdir(folder)
        for name, (needs, command) in workloads(build, folder).items():
            if not shutil.which(needs):
                print("%-24s not tried: no %s" % (name, needs))
                continue
            for kontend in kontends:
                rows, said = measure(kontend, command, folder, out)
                if rows is None:
                    print("%-24s failed: %s" % (name, said.strip()))
                    continue
                kernel = [r for r in rows if not r["kind"].split(":")[0].endswith("(u)")]
                total, named, rest = share(kernel)
                of_all = share(rows)[1]
                print("%-24s %9.3f s  kernel %5.1f%%  all %5.1f%%  %s" % (name, total / 1e9, named, of_all, rest),
                      flush=True)


main()
