#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""`kontend live`, its views switched by keys all the while, and `kontend record` with triggers and metrics, for hours
beside PostgreSQL with pgbench, a virtual machine of Java, short processes and locks of files (loads.py). Each minute a
line of a table has their descriptors, resident memory and of what it consists, CPU time and losses. Also each minute a
task waits for 0.3 s for the lock of a file: the trigger has to catch each of these waits, unless losses are reported.

    soak.py KONTEND MORTALS FLOCKS SECONDS PROCESSES-PER-SECOND

Fails where descriptors grow; where memory is beyond 120 MB or still grows after ten minutes; where CPU time grows; where
a wait was not caught and no loss is reported."""
import collections
import ctypes
import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
import urllib.error
import urllib.request

import loads
from checks import check, done, skip

MINUTE, PLATEAU = 60, 10  # seconds; minutes until there is one
MOST_MB, SLOPE_MB, LATE_LEAST = 120, 8, 6
EXTRA_FDS, EXTRA_CPU, LEAST_CPU = 8, 1.5, 2.0
BEAT_S, BEAT_FIRES, WAITER = 0.3, "200ms", "soak-waiter"
LOST = ("lost", "dropped")
KEYS = ["1", "2", "3", "\r", "\033", "4", "5", "6", "7", "8", "9", "j", "\r", "\033", "0", "h", "W", "Q", "U", "M"]
KEY_PAUSE, REDRAW = 0.5, "\022"
SET_NAME = 15

Sample = collections.namedtuple("Sample", "fds resident heap bpf files cpu lost")


def memory_of(pid):
    """Resident MB: all; heap and stacks; maps of BPF; files."""
    parts, name = collections.Counter(), ""
    with open("/proc/%d/smaps" % pid, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if re.match("[0-9a-f]+-[0-9a-f]+ ", line):
                name = line.split(maxsplit=5)[5].strip() if len(line.split(maxsplit=5)) > 5 else ""
            elif line.startswith("Rss:"):
                part = "bpf" if "bpf-map" in name else "files" if name.startswith("/") else "heap"
                parts[part] += int(line.split()[1]) / 1024
    return sum(parts.values()), parts["heap"], parts["bpf"], parts["files"]


def cpu_of(pid):
    with open("/proc/%d/stat" % pid, encoding="utf-8") as f:
        fields = f.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Measured:
    """A process of kontend, looked at each minute."""

    def __init__(self, name, pid):
        self.name, self.pid, self.samples = name, pid, []
        self.cpu_s, self.at = cpu_of(pid), time.monotonic()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)

    def sample(self):
        cpu_s, now = cpu_of(self.pid), time.monotonic()
        self.samples.append(Sample(len(os.listdir("/proc/%d/fd" % self.pid)), *memory_of(self.pid),
                                   100 * (cpu_s - self.cpu_s) / (now - self.at), self.lost()))
        self.cpu_s, self.at = cpu_s, now


class Live(Measured):
    def __init__(self, kontend):
        pid, self.fd = pty.fork()
        if pid == 0:
            os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8", NO_COLOR="1")
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 60, 200, 0, 0))
            os.execv(kontend, [kontend, "live", "--no-config"])
        self.keys = 0
        until, out = time.monotonic() + 60, ""
        while "ev/s" not in out and time.monotonic() < until:
            out += self.read(0.2)
        check("ev/s" in out, "live: nothing is shown: %s" % out[-500:])
        super().__init__("live", pid)

    def read(self, seconds):
        out, until = b"", time.monotonic() + seconds
        while select.select([self.fd], [], [], max(0, until - time.monotonic()))[0]:
            try:
                some = os.read(self.fd, 65536)
            except OSError:
                break
            if not some:
                break
            out += some
        return out.decode("utf-8", "replace")

    def use(self):
        """A key, and the time that a user takes for it."""
        os.write(self.fd, KEYS[self.keys % len(KEYS)].encode())
        self.keys += 1
        self.read(KEY_PAUSE)

    def lost(self):
        """As the first line has it, painted once more."""
        for _ in range(20):
            os.write(self.fd, REDRAW.encode())
            text = re.sub("\033\\[[0-9;?]*[A-Za-z]", " ", self.read(0.5))
            found = re.search("lost +(·|some|[0-9.]+[kMG]?)", text)
            if found:
                return 0 if found[1] == "·" else found[1]
        check(False, "live: the first line says nothing of losses")
        return "?"

    def end(self):
        for _ in range(3):
            os.write(self.fd, b"\033")
            self.read(0.2)
        os.write(self.fd, b"q")
        until = time.monotonic() + 60
        while time.monotonic() < until:
            self.read(0.2)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = 0
                check(os.waitstatus_to_exitcode(status) == 0, "live: it ended with %#x" % status)
                return
        check(False, "live: it does not end")


class Record(Measured):
    def __init__(self, kontend, folder):
        self.kontend, self.folder = kontend, folder
        self.said = open(folder + ".said", "w+", encoding="utf-8")
        os.mkdir(folder)
        self.p = subprocess.Popen((kontend, "record", "--no-config", "-o", folder, "--metrics", "0", "--trigger",
                                   "wait>%s task:%s" % (BEAT_FIRES, WAITER), "--trigger", "lost>0", "--trigger",
                                   "deadlock"), stdin=subprocess.DEVNULL, stdout=self.said, stderr=self.said)
        self.url = self.find_url()
        super().__init__("record", self.p.pid)

    def words(self):
        with open(self.said.name, encoding="utf-8") as f:
            return f.read()

    def find_url(self):
        until = time.monotonic() + 60
        while "watching" not in self.words() and time.monotonic() < until:
            if self.p.poll() is not None:
                skip(self.words())
            time.sleep(0.1)
        return re.search("metrics are at (\\S+)", self.words())[1]

    def metrics(self):
        """By name and labels. An answer may take a second, or come to nothing while the machine is busy."""
        for _ in range(10):
            try:
                with urllib.request.urlopen(self.url, timeout=15) as answer:
                    lines = answer.read().decode().splitlines()
                return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if line[0] != "#"}
            except (urllib.error.URLError, OSError):
                time.sleep(1)
        check(False, "record: no answer to scrapes")
        return {}

    def lost(self):
        m = self.metrics()
        return int(sum(m.get('kontend_incomplete_total{reason="%s"}' % r, 0) for r in LOST))

    def end(self):
        """The incidents, by the trigger that fired."""
        self.p.send_signal(signal.SIGINT)
        status = self.p.wait()
        self.pid = 0
        check(status == 0, "record: status %d: %s" % (status, self.words()[-1000:]))
        p = subprocess.run((self.kontend, "incidents", "--json", self.folder), capture_output=True, text=True, check=False)
        check(p.returncode == 0, "incidents: %s" % p.stderr)
        return collections.Counter(i["trigger"].split()[0] for i in json.loads(p.stdout)["incidents"])


def beat(path):
    """A child waits for the lock of a file for BEAT_S at least."""
    with open(path, "w", encoding="utf-8") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        pid = os.fork()
        if pid == 0:
            ctypes.CDLL(None).prctl(SET_NAME, WAITER.encode(), 0, 0, 0)
            fcntl.flock(os.open(path, os.O_RDWR), fcntl.LOCK_EX)
            os._exit(0)
        while not is_asleep(pid):
            time.sleep(0.01)
        time.sleep(BEAT_S)
        # The child has this descriptor, too.
        fcntl.flock(f, fcntl.LOCK_UN)
    os.waitpid(pid, 0)


def is_asleep(pid):
    with open("/proc/%d/stat" % pid, encoding="utf-8") as f:
        name, _, rest = f.read().partition("(")[2].rpartition(")")
    return name == WAITER and rest.split()[0] in "SD"


HEAD = "%6s" + 2 * "  %5s %6s %6s %5s %5s %5s %5s"
LINE = "%6d" + 2 * "  %5d %6.1f %6.1f %5.1f %5.1f %5.1f %5s"
TITLES = ("FDS", "MB", "HEAP", "BPF", "FILES", "CPU%", "LOST")


def print_line(minute, measured):
    print(LINE % (minute, *(v for m in measured for v in m.samples[-1])), flush=True)


def run(measured, running, folder, seconds):
    """Returns how many waits there were to catch."""
    live, began, minute, beats = measured[0], time.monotonic(), 0, 0
    print("%6s  %-43s  %-43s" % ("", *(m.name for m in measured)))
    print(HEAD % ("MINUTE", *TITLES, *TITLES), flush=True)
    while time.monotonic() - began < seconds:
        live.use()
        running.check()
        if (time.monotonic() - began) // MINUTE <= minute:
            continue
        minute += 1
        beat(os.path.join(folder, "beat"))
        beats += 1
        for m in measured:
            m.sample()
        print_line(minute, measured)
    return beats


def begin_and_end(values):
    """Of a figure after the plateau: the medians of its first and of its last third."""
    third = len(values) // 3
    return statistics.median(values[:third]), statistics.median(values[-third:])


def judge(m):
    late = m.samples[PLATEAU - 1:]
    if not m.samples:
        return
    # Some more are open for a moment, as while an incident is written: that is one sample, and no leak.
    first, last = m.samples[min(1, len(m.samples) - 1)], statistics.median(s.fds for s in m.samples[-PLATEAU:])
    check(last <= first.fds + EXTRA_FDS, "%s: %d descriptors, %d at the begin" % (m.name, last, first.fds))
    peak = max(s.resident for s in late or m.samples)
    check(peak <= MOST_MB, "%s: %.1f MB resident, more than %d" % (m.name, peak, MOST_MB))
    if len(late) < LATE_LEAST:
        print("%s: too short to see whether it grows after minute %d" % (m.name, PLATEAU))
        return
    before, after = begin_and_end([s.resident for s in late])
    grown = after - before
    print("%s: memory in %d minutes after minute %d: %+.1f MB, at most %.1f MB" %
          (m.name, len(late), PLATEAU, grown, peak))
    check(grown <= SLOPE_MB, "%s: it grew by %.1f MB after minute %d" % (m.name, grown, PLATEAU))
    before, after = begin_and_end([s.cpu for s in late])
    check(after <= before * EXTRA_CPU + LEAST_CPU, "%s: %.1f %% of a CPU, %.1f %% before" % (m.name, after, before))


def judge_losses(record, beats, caught):
    lost = record.samples[-1].lost if record.samples else 0
    found = caught["wait>" + BEAT_FIRES]
    print("record: %d of %d waits caught, %d records lost, %d incidents of losses" %
          (found, beats, lost, caught["lost>0"]))
    check(found >= beats or lost, "%d of %d waits were caught, and no loss is reported" % (found, beats))
    check(not lost or caught["lost>0"], "%d records were lost, and the trigger did not fire" % lost)


def main():
    kontend, mortals, flocks = (os.path.abspath(p) for p in sys.argv[1:4])
    seconds, per_s = int(sys.argv[4]), int(sys.argv[5])
    if os.geteuid() != 0:
        skip("needs root")
    # Ended by a signal, it still ends what it has started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    folder = tempfile.mkdtemp(prefix="kontend-soak-")
    # The cache of symbols is ours.
    os.environ["HOME"] = folder
    try:
        with loads.Loads(folder, mortals, flocks, per_s, seconds + 600).start() as running:
            for why in running.left_out:
                print("left out: " + why)
            print("beside %s, %d processes a second" % (", ".join(l.name for l in running.running), per_s))
            live = running.enter_context(Live(kontend))
            record = running.enter_context(Record(kontend, os.path.join(folder, "incidents")))
            beats = run((live, record), running, folder, seconds)
            live.end()
            caught = record.end()
        for m in (live, record):
            judge(m)
        judge_losses(record, beats, caught)
    except loads.Ended as why:
        check(False, str(why))
    finally:
        shutil.rmtree(folder)
    done()


main()
