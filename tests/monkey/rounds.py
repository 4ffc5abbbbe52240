# SPDX-License-Identifier: GPL-2.0-only
"""
How the monkey, the sweeps and the mutator run kontend, and what they hold against it: reports of
sanitizers, a signal that ended it, a process that does not end or stays, a file that is left, an
end without a sentence.

A process hangs if it takes CPU_MOST seconds of CPU, or does not end for STILL_MOST seconds in which
it did not wait for a CPU. So the load of the machine does not matter.
"""
import ctypes
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

CPU_MOST, STILL_MOST, FAILED_MOST = 60, 60, 100
PR_SET_CHILD_SUBREAPER = 36
SANITIZER = re.compile(r"(ERROR: (Address|Leak|Undefined)\w*Sanitizer|\w+Sanitizer:|runtime error:|"
                       r"LeakSanitizer has encountered a fatal error).*")
# Names that a file has only until it is complete, as mkstemp() and util/newfile.c draw them; the
# monkey types names like cut.dataxy.
UNFINISHED = re.compile(r"\.(?!data)[A-Za-z0-9]{6}$")
CRASHES = {signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGABRT, signal.SIGFPE, signal.SIGTRAP,
           signal.SIGSYS, signal.SIGXFSZ}


def is_sanitized(program):
    with open(program, "rb") as f:
        return b"__asan_init" in f.read()


def export_formats(program):
    """The formats of `export`, as the program's own table lists them: "folded, flamegraph (SVG) ... or ndjson (default: ...)"."""
    table = subprocess.run([program, "dump", "options"], stdout=subprocess.PIPE, text=True, check=True).stdout
    rows = [line.split("\t") for line in table.splitlines()]
    text = next(r[-1] for r in rows if r[0] == "export" and r[2] == "--format")
    return [word.split()[0] for word in text.split(" (default")[0].replace(" or ", ", ").split(", ")]


def environment(home):
    """Nothing of the user's own; what a sanitizer finds ends the program with a status of its own."""
    env = {"PATH": os.environ["PATH"], "HOME": home, "TMPDIR": home, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8",
           "ASAN_OPTIONS": "detect_leaks=1:exitcode=99:allocator_may_return_null=1:handle_abort=1",
           "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1:exitcode=99",
           "LSAN_OPTIONS": "exitcode=99:print_suppressions=0"}
    return env


def adopt_orphans():
    """A process whose parent ends becomes our child, so that none that stays is overlooked."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def read(path):
    try:
        with open(path, errors="replace") as f:
            return f.read()
    except OSError:
        return ""


def family(pid):
    """The process and those that it started, as far as they are there."""
    found, todo = [], [pid]
    while todo:
        p = todo.pop()
        found.append(p)
        for t in threads(p):
            todo += [int(c) for c in read(f"/proc/{p}/task/{t}/children").split()]
    return found


def threads(pid):
    try:
        return os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []


def cpu_seconds(pids):
    ticks = 0
    for pid in pids:
        fields = read(f"/proc/{pid}/stat").rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12]) if len(fields) > 12 else 0
    return ticks / os.sysconf("SC_CLK_TCK")


def queued_seconds(pid):
    """What its threads waited for a CPU: the one that waited most."""
    waits = [read(f"/proc/{pid}/task/{t}/schedstat").split() for t in threads(pid)]
    return max([int(w[1]) for w in waits if len(w) > 1], default=0) / 1e9


class Patience:
    """Until when a process may go on: see above. It begins when this is made."""

    def __init__(self, pid):
        self.pid = pid
        self.begun, self.queued, self.cpu = time.monotonic(), queued_seconds(pid), cpu_seconds(family(pid))

    def is_over(self):
        still = time.monotonic() - self.begun - (queued_seconds(self.pid) - self.queued)
        return cpu_seconds(family(self.pid)) - self.cpu > CPU_MOST or still > STILL_MOST

    def where(self):
        """What it does instead of ending."""
        lines = []
        for pid in family(self.pid):
            for t in threads(pid):
                lines.append(f"{read(f'/proc/{pid}/comm').strip()}/{t}: "
                             f"{read(f'/proc/{pid}/task/{t}/wchan')} {read(f'/proc/{pid}/task/{t}/syscall').strip()}")
        if shutil.which("gdb"):
            got = subprocess.run(["gdb", "-q", "-batch", "-ex", "thread apply all bt 12", "-p", str(self.pid)],
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            lines += [l for l in got.stdout.splitlines() if l.startswith(("#", "Thread"))]
        return lines


def end_all(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def is_leak_of_gpm(said):
    """
    On the Linux console ncurses loads libgpm, which keeps the name of the terminal. The library is
    unloaded by the time that leaks are looked for, so no suppression can name it. Its address may be
    that of a file by then, which kontend has mapped to read it; then no function has a name either.
    """
    return re.findall(r"(?m)^(?:Direct|Indirect) leak of (.*) byte.s. in (.*) object", said) in ([("10", "1")], [("11", "1")]) and \
        re.search(r"#1 \S+  \((<unknown module>|/\S+\+0x[0-9a-f]+)\)\n\n", said) is not None and len(SANITIZER.findall(said)) <= 2


def judge(status, said, sent=()):
    """@status: as of subprocess; @said: standard error. Faults, a sentence each. @sent: signals of ours."""
    bad = []
    if status == 99 and is_leak_of_gpm(said):
        return bad
    report = SANITIZER.search(said)
    if report:
        bad.append("a sanitizer reports: " + report.group(0)[:200])
    elif status == 99:
        bad.append("a sanitizer ended it")
    number = -status if status < 0 else status - 128 if status > 128 else 0
    if number in CRASHES and number not in sent:
        bad.append(f"signal {number} ended it")
    elif status < 0 and number not in sent:
        bad.append(f"signal {number}, which nobody sent, ended it")
    return bad


def sentences(status, said):
    """An end without success has a reason in words, and no flood of them."""
    lines = [l for l in said.splitlines() if l.strip()]
    if not lines:
        return [f"status {status} and no sentence"]
    if len(lines) > 12:
        return [f"status {status} and {len(lines)} lines"]
    empty = [l for l in lines if re.fullmatch(r"(kontend: ?)?\W*", l)]
    return [f"status {status} and a line without words: {empty[0]!r}"] if empty else []


def unfinished(folder):
    return sorted(os.path.relpath(os.path.join(top, n), folder) for top, _, names in os.walk(folder) for n in names
                  if UNFINISHED.search(n))


class Result:
    def __init__(self, status, said, bad, peak=0):
        self.status, self.said, self.bad, self.peak = status, said, bad, peak


def run(command, folder, home, limits=(), signals=(), stdin=None, env=(), out=None):
    """
    Runs @command in @folder. @limits: pairs of setrlimit(); @signals: pairs of seconds and a signal, in their order.
    @out: where standard output goes, else nowhere.
    """
    err = os.path.join(home, "stderr")

    def begin():
        for which, most in limits:
            resource.setrlimit(which, (most, most))

    with open(err, "wb") as e, open(out or os.devnull, "wb") as o:
        try:
            child = subprocess.Popen(command, cwd=folder, env={**environment(home), **dict(env)}, stdout=o, stderr=e,
                                     stdin=stdin or subprocess.DEVNULL, preexec_fn=begin, start_new_session=True)
        except (OSError, subprocess.SubprocessError):
            return None  # the limits leave no room for the program
    sent, bad = [], []
    begun = time.monotonic()
    for after, sig in signals:
        left = after - (time.monotonic() - begun)
        try:
            child.wait(max(left, 0))
            break
        except subprocess.TimeoutExpired:
            child.send_signal(sig)
            sent.append(sig)
    patience = Patience(child.pid)
    status = None
    while status is None:
        try:
            status = child.wait(0.5)
        except subprocess.TimeoutExpired:
            if patience.is_over():
                bad += ["it does not end"] + patience.where()
                end_all(family(child.pid))
    bad += stays(child.pid)
    said = read(err)
    os.unlink(err)
    return Result(status, said, judge(status, said, sent) + bad)


def stays(session):
    """Processes of this session, which its first one has left: they may take a moment."""
    until = time.monotonic() + STILL_MOST
    while True:
        left = [p for p in os.listdir("/proc") if p.isdigit() and int(p) != session and
                read(f"/proc/{p}/stat").rpartition(")")[2].split()[3:4] == [str(session)]]
        alive = []
        for p in left:
            try:
                os.waitpid(int(p), os.WNOHANG)
            except ChildProcessError:
                pass
            fields = read(f"/proc/{p}/stat").rpartition(")")[2].split()
            if fields and fields[0] not in "ZX":
                alive.append(p)
        if not alive:
            return []
        if time.monotonic() > until:
            names = [read(f"/proc/{p}/comm").strip() for p in alive]
            end_all([int(p) for p in alive])
            return [f"processes stay: {names}"]
        time.sleep(0.02)


class Counts:
    """Rounds, by several processes, until the time is over. A round is called with its seed."""

    def __init__(self, name, options):
        self.name, self.options = name, options
        self.passed = self.failed = self.skipped = 0
        self.sums = {}

    def add(self, name, n=1):
        self.sums[name] = self.sums.get(name, 0) + n

    def note(self, seed, what, bad, said=""):
        if not bad:
            self.passed += 1
            return
        self.failed += 1
        lines = [f"FAIL {self.name} --seed {seed}: {what}"] + [f"    {line}" for line in bad]
        lines += [f"    | {line}" for line in said.splitlines()[:60]]
        os.write(1, ("\n".join(lines) + "\n").encode(errors="replace"))

    def work(self, number, one):
        """One of the processes: its sums, for the one that started it."""
        adopt_orphans()
        until = time.monotonic() + self.options.seconds
        seed = self.options.first + number
        while time.monotonic() < until and self.failed < FAILED_MOST:
            try:
                one(seed)
            except Exception:
                self.note(seed, "the test itself failed", traceback.format_exc().splitlines())
            seed += self.options.jobs
        return json.dumps([self.passed, self.failed, self.skipped, self.sums])

    def workers(self, one):
        ends = []
        for number in range(self.options.jobs):
            reader, writer = os.pipe()
            if os.fork() == 0:
                os.close(reader)
                os.write(writer, self.work(number, one).encode())
                os._exit(0)
            os.close(writer)
            ends.append(reader)
        for fd in ends:
            with open(fd) as f:
                passed, failed, skipped, sums = json.load(f)
            self.passed += passed
            self.failed += failed
            self.skipped += skipped
            for name, n in sums.items():
                self.add(name, n)
            os.wait()

    def run(self, one):
        print(f"{self.name}: seeds from {self.options.first}", flush=True)
        if self.options.seed is not None:
            adopt_orphans()
            one(self.options.seed)
        else:
            self.workers(one)
        sums = ", ".join(f"{n} {name}" for name, n in sorted(self.sums.items()))
        print(f"{self.name}: {self.passed + self.failed} rounds, {sums}")
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped")
        return 1 if self.failed or not self.passed else 0


class Folder:
    """Of one round: @here is where kontend runs, @home has its settings and temporary files."""

    def __init__(self):
        self.top = tempfile.mkdtemp(prefix="kontend-round-")
        self.here, self.home = os.path.join(self.top, "here"), os.path.join(self.top, "home")
        os.mkdir(self.here)
        os.mkdir(self.home)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.top, ignore_errors=True)

    def left(self):
        """Temporary files, wherever they are."""
        return [f"a temporary file is left: {name}" for name in unfinished(self.top)]


def arguments(description):
    import argparse
    p = argparse.ArgumentParser(description=description)
    p.add_argument("kontend", type=os.path.realpath)
    p.add_argument("recordings", type=os.path.realpath, nargs="+")
    p.add_argument("--mutant", type=os.path.realpath)
    p.add_argument("--failcall", type=os.path.realpath)
    p.add_argument("--seconds", type=int, default=60)
    p.add_argument("--first", type=int, default=random.SystemRandom().randrange(1 << 31), help="the first seed")
    p.add_argument("--seed", type=int, help="only this round")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--keep", type=os.path.realpath, help="where damaged recordings go that show a fault")
    p.add_argument("--kind", help="only such rounds")
    return p.parse_args()
