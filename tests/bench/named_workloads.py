# SPDX-License-Identifier: GPL-2.0-only
"""Workloads that people run, each for a few seconds, for the meter of names of locks (named.py): what is needed, and
the command. Servers are set up before they are measured, and end with the command."""
import glob
import os
import pwd
import shutil
import subprocess
import sys

SECONDS = 5

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
GARBAGE = """public class Garbage {
    static volatile Object last;
    public static void main(String[] args) throws Exception {
        long end = System.nanoTime() + %dL * 1000000000L;
        Thread[] all = new Thread[16];
        for (int i = 0; i < all.length; i++) {
            all[i] = new Thread(() -> { while (System.nanoTime() < end) last = new byte[1 << 16]; });
            all[i].start();
        }
        for (Thread t : all) t.join();
    }
}
""" % SECONDS
LOOKUPS = """
import os, time
end, i = time.time() + %d, 0
while time.time() < end:
    i += 1
    for a in ('.', '/usr/lib', '/proc', '/etc/none/at/all', '/proc/self/fd', 'none%%d.%%d' %% (os.getpid(), i)):
        try:
            os.stat(a)
            os.listdir(a)
        except OSError:
            pass
""" % SECONDS
FAULTS = """
import mmap, threading, time
end = time.time() + %d
def work():
    while time.time() < end:
        with mmap.mmap(-1, 4 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as m:
            m.write(bytes(4 << 20))
all = [threading.Thread(target=work) for i in range(16)]
[t.start() for t in all]
[t.join() for t in all]
""" % SECONDS
COMPILE = """
import os, subprocess, time
end, i = time.time() + %d, 0
while time.time() < end:
    i += 1
    name = 'c%%d.%%d' %% (os.getpid(), i)
    with open(name + '.c', 'w') as f:
        f.write('#include <stdio.h>\\nint f(int a) { return printf("%%d", a); }\\n')
    subprocess.run(['gcc', '-pipe', '-O2', '-c', name + '.c', '-o', name + '.o'], check=True)
    os.unlink(name + '.o')
""" % SECONDS
PROBES = """
import subprocess, time
end = time.time() + %d
while time.time() < end:
    subprocess.run(['bpftrace', '-e', 'tracepoint:sched:sched_switch { @[comm] = count() } uprobe:/bin/true:main, '
                    'uprobe:libc:malloc { @m = count() } interval:ms:200 { exit() }'], stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
""" % SECONDS
PERF = """
import os, subprocess, time
end = time.time() + %d
while time.time() < end:
    subprocess.run(['perf', 'record', '-q', '-a', '-e', 'cpu-clock,sched:sched_switch', '-o', 'p%%d' %% os.getpid(),
                    'true'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
""" % SECONDS
EXEC = "import os,time\nend=time.time()+%d\nwhile time.time()<end: os.waitstatus_to_exitcode(os.spawnv(os.P_WAIT, '/bin/true', ['true']))" % SECONDS


def many(n, *command):
    """A shell that runs the command @n times at the same time."""
    return ["sh", "-c", 'i=0; while [ $i -lt %d ]; do "$@" & i=$((i + 1)); done; wait' % n, "sh", *command]


def compiled(folder, source, text, command):
    """Builds a program before it is measured."""
    env = dict(os.environ, GOCACHE=os.path.join(folder, "cache"), XDG_CONFIG_HOME=folder, GOPATH=folder,
               GO111MODULE="off", GOFLAGS="")
    with open(os.path.join(folder, source), "w", encoding="utf-8") as f:
        f.write(text)
    subprocess.run([*command, source], cwd=folder, env=env, check=True)


def go(folder):
    compiled(folder, "work.go", GO, ["go", "build", "-o", "work-go"])
    return [os.path.join(folder, "work-go")]


def java(folder, name, text):
    compiled(folder, name + ".java", text, ["javac"])
    return ["java", "-cp", folder, name]


def postgres(folder):
    """The programs of a server, and a new one in a folder of its own; None: it is not installed."""
    programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    if not programs or os.geteuid():
        return None
    at = os.path.join(folder, "pg")
    os.mkdir(at)
    user = pwd.getpwnam("postgres")
    os.chown(at, user.pw_uid, user.pw_gid)
    subprocess.run([programs[-1] + "/initdb", "-D", at + "/data", "-A", "trust", "-U", "postgres", "-N"], check=True,
                   user=user.pw_uid, group=user.pw_gid, extra_groups=[], cwd=at, stdout=subprocess.DEVNULL)
    return programs[-1], at


def pgbench(folder, *args):
    """The server with a small base, and clients of it."""
    server = postgres(folder)
    if not server:
        return []
    programs, at = server
    return ["sh", "-c", """setpriv --reuid=postgres --regid=postgres --clear-groups "$0/postgres" -D "$1/data" -k "$1" -c \
        listen_addresses= >"$1/log" 2>&1 & server=$!
        until "$0/pg_isready" -q -h "$1" -U postgres; do sleep 0.2; done
        at=$1 bin=$0; shift
        "$bin/pgbench" -q -i -s 2 -h "$at" -U postgres postgres >"$at/log.init" 2>&1
        "$bin/pgbench" -n -h "$at" -U postgres "$@" postgres >"$at/log.bench" 2>&1
        kill -INT $server; wait""", programs, at, *args]


def mariadb(folder):
    """A server with clients that write into one table, by the tool that comes with it."""
    if not all(shutil.which(p) for p in ("mariadbd", "mysqlslap", "mariadb-install-db")):
        return []
    data = os.path.join(folder, "my")
    subprocess.run(["mariadb-install-db", "--no-defaults", "--datadir=" + data, "--user=root", "--skip-test-db",
                    "--auth-root-authentication-method=normal", "--innodb-log-file-size=8M"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return ["sh", "-c", """mariadbd --no-defaults --datadir="$0" --socket="$0/s" --skip-networking --user=root \
        --innodb-buffer-pool-size=16M >"$0/log" 2>&1 & server=$!
        until mariadb-admin --no-defaults -u root -S "$0/s" ping >"$0/log.ping" 2>&1; do sleep 0.2; done
        timeout %d mysqlslap --no-defaults -u root -S "$0/s" --concurrency=24 --iterations=20 --auto-generate-sql \
            --auto-generate-sql-load-type=mixed --number-of-queries=1200 >"$0/log.slap" 2>&1
        kill $server; wait""" % SECONDS, data]


def nginx(folder):
    """A server of a file of a megabyte, and its clients."""
    if not all(shutil.which(p) for p in ("nginx", "ab")):
        return []
    at = os.path.join(folder, "web")
    os.mkdir(at)
    with open(at + "/file", "wb") as f:
        f.write(bytes(1 << 20))
    with open(at + "/conf", "w", encoding="utf-8") as f:
        f.write("daemon off; master_process on; worker_processes 4; user root; pid %s/pid; error_log %s/error;\n"
                "events { worker_connections 512; accept_mutex on; }\n"
                "http { access_log %s/access; server { listen 127.0.0.1:6398; root %s; } }\n" % (at, at, at, at))
    return ["sh", "-c", """nginx -c "$0/conf" -e "$0/error" & server=$!
        sleep 0.5
        ab -q -n 1000000 -t %d -c 64 http://127.0.0.1:6398/file >"$0/log" 2>&1
        kill $server; wait""" % SECONDS, at]


def workloads(build, folder):
    """By name: a program that has to be there, and what gives the command; that is [] where others are missing."""
    live = os.path.join(build, "tests/live")
    python = sys.executable
    return {
        "pgbench, reads": ("pgbench", lambda: pgbench(folder, "-c", "24", "-j", "4", "-S", "-T", str(SECONDS))),
        "pgbench, writes": ("pgbench", lambda: pgbench(folder, "-c", "24", "-j", "4", "-T", str(SECONDS))),
        "MariaDB": ("mariadbd", lambda: mariadb(folder)),
        "nginx": ("nginx", lambda: nginx(folder)),
        "bpftrace": ("bpftrace", lambda: many(4, python, "-c", PROBES)),
        "perf record": ("perf", lambda: many(4, python, "-c", PERF)),
        "lookups": (python, lambda: many(8, python, "-c", LOOKUPS)),
        "page faults": (python, lambda: [python, "-c", FAULTS]),
        "compile": ("gcc", lambda: many(8, python, "-c", COMPILE)),
        "Go, 200 goroutines": ("go", lambda: go(folder)),
        "Java, one monitor": ("javac", lambda: java(folder, "Locks", JAVA)),
        "Java, garbage": ("javac", lambda: java(folder, "Garbage", GARBAGE)),
        "mmap and munmap": (live + "/object-names",
                            lambda: [live + "/object-names", "memory", str(SECONDS), folder]),
        "fork of 3 GiB": (live + "/story-fork", lambda: [live + "/story-fork", "3072", "10", "3"]),
        "create, rename, unlink": (python, lambda: many(12, python, "-c", CHURN)),
        "fork and exec": (python, lambda: many(8, python, "-c", EXEC)),
        "cgroups": (python, lambda: many(8, python, "-c", CGROUPS)),
        "flock": ("stress-ng", lambda: ["stress-ng", "-q", "--flock", "48", "-t", str(SECONDS)]),
        "redis": ("redis-benchmark", lambda: [
            "sh", "-c", "redis-server --port 6399 --save '' --dir %s >/dev/null & sleep 1; "
            "redis-benchmark -q -p 6399 -n 200000 -c 50 -t set,get >/dev/null; kill $!; wait" % folder]),
        "Python's locks": (python, lambda: [python, "-c", QUEUES]),
        "pipes and sockets": ("stress-ng", lambda: ["stress-ng", "-q", "--pipe", "4", "--sock", "4", "--epoll", "2", "-t",
                                                    str(SECONDS)]),
        "memory and files": ("stress-ng", lambda: [
            "stress-ng", "-q", "--vm", "4", "--vm-bytes", "64m", "--hdd", "2", "--hdd-bytes", "32m", "--mmap", "2",
            "--mmap-bytes", "32m", "-t", str(SECONDS)]),
    }
