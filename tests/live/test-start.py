#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""How the screen starts: it measures waits before the programs of snapshots are loaded, these come
nevertheless, the thread that loads them gives up its privileges, and no more of their arrays is
mapped than is used.

    test-start.py KONTEND"""
import os
import pty
import re
import select
import signal
import sys
import threading
import time

from namespaces import Checks, Skip, main, wait_for

# Of the overview, with a figure that only a snapshot has.
SLOTS = re.compile(rb"slots \d+/\d")
# The object of waits has 8 programs after that one; the kernel numbers programs as they come.
LATER = 12

# Of arrays of snapshots that are mapped: 1 MB on a quiet machine; with all of each it was 20 MB.
MOST_KB = 5000


class Screen:
    def __init__(self, kontend):
        self.text = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "xterm"
            os.execv(kontend, [kontend, "live"])
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        try:
            while True:
                select.select([self.fd], [], [])
                got = os.read(self.fd, 1 << 16)
                if not got:
                    return
                self.text += got
        except OSError:
            return

    def plain(self):
        return re.sub(rb"\x1b(\([B0]|\[[?0-9;]*[A-Za-z])", b"", self.text)

    def has_snapshot(self):
        """Whether a snapshot of slots is shown, as of a whole drawing (Ctrl-L)."""
        os.write(self.fd, b"\x0c")
        time.sleep(0.2)
        return SLOTS.search(self.plain())

    def end(self):
        os.write(self.fd, b"q")
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        self.reader.join()
        os.close(self.fd)
        return status

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)


def programs(pid):
    """Numbers of all BPF programs, and of those that are attached to contention_begin."""
    at, every, waits = f"/proc/{pid}/fdinfo", set(), set()
    for fd in os.listdir(at):
        try:
            with open(f"{at}/{fd}", encoding="utf-8") as lines:
                text = lines.read()
        except OSError:
            continue
        number = re.search(r"^prog_id:\s*(\d+)$", text, re.M)
        if number:
            every.add(int(number[1]))
            if "contention_begin" in text:
                waits.add(int(number[1]))
    return every, waits


def capabilities(pid):
    found = {}
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/status", encoding="utf-8") as lines:
            found[task] = re.search(r"^CapEff:\s*(\S+)$", lines.read(), re.M)[1]
    return found


def mapped_kb(pid):
    """Resident memory of arrays of BPF that are only read: those of snapshots."""
    total, is_array = 0, False
    with open(f"/proc/{pid}/smaps", encoding="utf-8") as lines:
        for line in lines:
            if re.match(r"[0-9a-f]+-", line):
                is_array = " r--s " in line and "bpf-map" in line
            elif is_array and line.startswith("Rss:"):
                total += int(line.split()[1])
    return total


def run():
    c = Checks()
    screen = Screen(os.path.realpath(sys.argv[1]))
    try:
        wait_for(lambda: programs(screen.pid)[1] or b"perf ring" in screen.plain(),
                 "the program of waits")
        if not programs(screen.pid)[1]:
            raise Skip("BPF does not report waits here")
        wait_for(screen.has_snapshot, "a snapshot of slots on the screen")
        every, waits = programs(screen.pid)
        granted = capabilities(screen.pid)
        kb = mapped_kb(screen.pid)
    except BaseException:
        screen.kill()
        raise
    c.check(screen.end() == 0, "the screen failed")
    later = sum(number > max(waits) for number in every)
    print(f"{len(every)} programs, {later} after that of waits; {len(granted)} threads have "
          f"capabilities {sorted(set(granted.values()))}")
    c.check(later >= LATER, f"{later} programs came after that of waits, less than {LATER}")
    print(f"{kb} kB of arrays of snapshots are mapped")
    c.check(0 < kb <= MOST_KB, f"{kb} kB of arrays of snapshots are mapped, more than {MOST_KB}")
    c.check(len(set(granted.values())) == 1, f"threads have different privileges: {granted}")
    print("\n".join(c.complaints))
    return 1 if c.complaints else 0


main(run)
