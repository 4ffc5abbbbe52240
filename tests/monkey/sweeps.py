#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Takes away what kontend needs: it is killed at any moment, the disk is full at any byte, there are few
descriptors, little memory, and a system call or a request for memory fails. Each run completes, or
ends with a sentence and a status that is not 0; its files are complete or absent, and nothing is left.

A round is called by its seed, which draws the kind (--kind: kill, disk, file, descriptors, memory,
call, heap), the verb, and where it hits.
"""
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

from rounds import Counts, Folder, arguments, export_formats, is_sanitized, run, sentences

CALLS = {"openat": ["EMFILE", "ENOMEM", "EACCES", "EINTR"], "read": ["EIO", "EINTR"], "pread64": ["EIO"], "write": ["ENOSPC", "EIO", "EINTR"],
         "pwrite64": ["ENOSPC"], "writev": ["ENOSPC"], "mmap": ["ENOMEM"], "munmap": ["ENOMEM"], "perf_event_open": ["EMFILE", "ENOMEM", "EINVAL"],
         "bpf": ["ENOMEM", "EPERM", "EINVAL"], "ioctl": ["EINVAL", "ENOMEM"], "clone3": ["EAGAIN"], "clone": ["EAGAIN"],
         "socketpair": ["EMFILE"], "socket": ["EMFILE"], "sendmsg": ["ENOMEM", "EPIPE"], "recvmsg": ["ENOMEM", "ECONNRESET"],
         "fstat": ["EIO"], "newfstatat": ["ENOENT", "EIO"], "lseek": ["EIO"], "fcntl": ["EINVAL"], "ftruncate": ["EIO"],
         "linkat": ["EACCES", "EEXIST"], "rename": ["EACCES"], "renameat2": ["EACCES"], "unlink": ["EACCES"], "unlinkat": ["EACCES"],
         "fsync": ["EIO"], "fdatasync": ["EIO"], "poll": ["ENOMEM", "EINTR"], "ppoll": ["ENOMEM", "EINTR"], "epoll_wait": ["EINTR"],
         "epoll_create1": ["EMFILE"], "epoll_ctl": ["ENOSPC"], "eventfd2": ["EMFILE"], "timerfd_create": ["EMFILE"],
         "signalfd4": ["EMFILE"], "memfd_create": ["EMFILE"], "pipe2": ["EMFILE"], "dup": ["EMFILE"], "getdents64": ["EIO"],
         "prctl": ["EINVAL"], "seccomp": ["EINVAL"], "landlock_create_ruleset": ["ENOSYS"], "landlock_restrict_self": ["EPERM"],
         "setrlimit": ["EPERM"], "prlimit64": ["EPERM"], "sched_getaffinity": ["EINVAL"], "mprotect": ["ENOMEM"],
         "readlink": ["EIO"], "getcwd": ["ENOENT"], "chdir": ["EACCES"], "mkdir": ["ENOSPC"], "flock": ["EINTR"], "fallocate": ["ENOSPC"]}
PAGE = 4096
LOADER = re.compile(r"error while loading shared libraries|Inconsistency detected by ld.so|cannot allocate TLS|"
                    r"cannot create.*shared object|failed to map segment|cannot allocate memory in static TLS")


class Verb:
    """@words: what follows the program; @makes: the file that it makes, if it does; @live: it measures."""

    def __init__(self, name, words, makes=None, live=False):
        self.name, self.words, self.makes, self.live = name, words, makes, live
        self.seconds, self.size, self.whole, self.n_calls = 0.0, 0, None, {}


def verbs(options):
    a, b = options.recordings[:2]
    torn = options.recordings[-1]
    formats = export_formats(options.kontend)
    found = [Verb("report", ["report", "-q", "-i", a, "-o", "made"], "made"),
             Verb("report-json", ["report", "-q", "-j", "--view", "all", "-i", a, "-o", "made"], "made"),
             Verb("script", ["script", "-q", "-i", a]),
             Verb("cut", ["cut", "-q", a, "-o", "made", "--time", "25%,75%"], "made"),
             Verb("cut-packed", ["cut", "-q", "-z", a, "-o", "made", "--min-wait", "10us"], "made"),
             Verb("merge", ["merge", "-q", a, b, "-o", "made"], "made"),
             Verb("recover", ["recover", "-q", torn, "-o", "made"], "made"),
             Verb("diff", ["diff", "-q", a, b]),
             Verb("incidents", ["incidents", "-q", os.path.dirname(a)]),
             Verb("screenshot", ["screenshot", a, "-o", "made.svg"], "made.svg"),
             Verb("doctor", ["doctor"])]
    found += [Verb("export-" + f, ["export", "-q", "--format", f, "-i", a, "-o", "made"], "made") for f in formats]
    if os.geteuid() == 0:
        load = ["--", options.kontend, "demo", "--duration", "200ms"]
        found += [Verb("record", ["record", "-q", "-a", "-o", "made", *load], "made", True),
                  Verb("record-packed", ["record", "-q", "-z", "-F", "499", "-o", "made", *load], "made", True),
                  Verb("record-mmap", ["record", "-q", "-a", "--mmap", "all,paths", "-o", "made", *load], "made", True),
                  Verb("record-rotate", ["record", "-q", "-a", "--max-size", "1400k", "--rotate", "2", "-o", "made", *load], "made", True),
                  Verb("record-trigger", ["record", "-q", "--trigger", "wait>50us", "--pre", "50ms", "--post", "50ms", "--cooldown", "10ms",
                                          "--max-files", "3", *load], None, True),
                  Verb("service", ["record", "--service", "--trigger", "wait>50us", "--pre", "50ms", "--post", "50ms",
                                   "--max-files", "3", *load], None, True),
                  Verb("measured-report", ["report", "-q", "-o", "made", *load], "made", True)]
    return found


class Sweeps:
    def __init__(self, options, counts):
        self.options, self.counts = options, counts
        self.verbs = verbs(options)
        # "call" takes strace, and a look at each verb first: only if it is asked for.
        self.kinds = ["kill", "disk", "file", "descriptors", "heap", "memory"]
        self.sanitized = is_sanitized(options.kontend)
        if self.sanitized:  # a shadow takes more room than any limit; it wants to be loaded first
            self.kinds = [k for k in self.kinds if k not in ("memory", "heap")]
        for v in list(self.verbs):
            self.measure(v)

    def measure(self, v):
        """What a run takes that nothing disturbs."""
        with Folder() as f:
            begun = time.monotonic()
            got = self.run(v, f)
            v.seconds = time.monotonic() - begun
            if got.status != 0 or got.bad:
                print(f"{v.name} is left out: status {got.status}, {got.bad} {got.said}", flush=True)
                self.verbs.remove(v)
                self.counts.skipped += 1
                return
            if v.makes:
                with open(os.path.join(f.here, v.makes), "rb") as made:
                    whole = made.read()
                v.size = len(whole)
                v.whole = None if v.live else whole
        # Not of live verbs: strace and the demo's own page faults can wait for each other.
        if self.options.kind == "call" and not v.live:
            self.count_calls(v)

    def count_calls(self, v):
        with Folder() as f:
            table = os.path.join(f.top, "calls")
            self.run(v, f, before=["strace", "-f", "-qq", "-c", "-o", table])
            for line in open(table):
                words = line.split()
                if len(words) >= 5 and words[-1] in CALLS and words[3].isdigit():
                    v.n_calls[words[-1]] = int(words[3])

    def reads(self, path):
        """A recording that was named is read, as it is or by recover."""
        with Folder() as f:
            got = run([self.options.kontend, "report", "-q", "-i", path], f.here, f.home)
            if got.status == 0 and not got.bad:
                return []
            again = run([self.options.kontend, "recover", "-q", path, "-o", "again"], f.here, f.home)
            if again.status == 0 and not again.bad:
                return []
            return [f"{os.path.basename(path)} of {os.path.getsize(path)} bytes does not read: {got.said}{again.said}"]

    def files(self, v, here, status, killed):
        """Those of a run are complete or absent, and there are no others."""
        bad = []
        for name in sorted(os.listdir(here)):
            path = os.path.join(here, name)
            if name == "lost+found":
                continue
            # A cut of the last seconds that was not finished has such a name, and is a stream up to there.
            if name.endswith(".part") and not killed:
                bad.append(f"a file is left: {name}")
            elif v.live and v.name.startswith(("record", "service")) and name.startswith(("made", "kontend-")):
                bad += self.reads(path)
            elif name != v.makes:
                bad.append(f"a file is left: {name}")
            elif v.whole is not None:
                with open(path, "rb") as f:
                    got = f.read()
                if v.name.startswith(("cut", "recover", "record")):
                    bad += self.reads(path)
                elif v.name == "merge" and status != 0:
                    pass  # it leaves out, and names, a recording that it cannot read
                elif len(got) < len(v.whole) * 0.9:
                    bad.append(f"{name} has {len(got)} bytes of {len(v.whole)}, status {status}")
        if status == 0 and v.makes and not killed and not os.path.exists(os.path.join(here, v.makes)):
            bad.append(f"status 0, and {v.makes} is not there")
        return bad

    def check(self, v, got, here, sent=()):
        bad = list(got.bad)
        if LOADER.search(got.said):
            self.counts.add("ended by the loader")
            return bad
        if got.status != 0 and not sent:
            bad += sentences(got.status, got.said)
        self.counts.add("completed" if got.status == 0 else "ended")
        # Where there is no memory for the end of an incident its beginning stays, as after a kill.
        return bad + self.files(v, here, got.status, bool(sent) or "an incident is lost" in got.said)

    def draw_verb(self, r, makes=False, live=None):
        fit = [v for v in self.verbs if (not makes or v.makes or v.live) and (live is None or v.live == live)]
        return r.choice(fit)

    def run(self, v, f, **more):
        env = {**dict(more.pop("env", ())), "STATE_DIRECTORY": f.here}
        return run([*more.pop("before", ()), self.options.kontend, *v.words], f.here, f.home, env=env.items(), **more)

    def one(self, seed):
        r = random.Random(seed)
        kind = self.options.kind or r.choice(self.kinds)
        with Folder() as f:
            v, what, bad, said = getattr(self, kind)(r, f)
            bad += f.left()
        self.counts.add(kind)
        self.counts.note(seed, f"{kind}: {v.name}, {what}", bad, said)

    def kill(self, r, f):
        v = self.draw_verb(r)
        signals = [r.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP])]
        after = r.random() * v.seconds * 1.1
        pairs = [(after, s) for s in signals]
        if signals[0] != signal.SIGKILL and r.random() < 0.3:
            pairs.append((after + r.random() * 0.05, signal.SIGKILL))
        got = self.run(v, f, signals=pairs)
        bad = self.check(v, got, f.here, [s for _, s in pairs])
        return v, f"{[s.name for _, s in pairs]} after {after:.3f} s: status {got.status}", bad, got.said

    def disk(self, r, f):
        """A disk of its own, in the namespace of mounts that this runs in."""
        v = self.draw_verb(r, makes=True)
        most = max(v.size, 64 * PAGE)
        pages = r.choice([1, 2, 3, r.randint(1, 64), 1 + int(r.random() * 1.2 * most / PAGE)])
        inodes = r.choice([0, 0, 0, 2, 3])
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={pages * PAGE},nr_inodes={inodes}", "none", f.here], check=True)
        try:
            got = self.run(v, f)
            bad = self.check(v, got, f.here)
            self_left = [n for n in os.listdir(f.here) if re.search(r"\.[A-Za-z0-9]{6}$", n)]
            bad += [f"a temporary file is left: {n}" for n in self_left]
        finally:
            subprocess.run(["umount", "-l", f.here], check=True)
        return v, f"{pages} pages, {inodes or 'any number of'} inodes: status {got.status}", bad, got.said

    def file(self, r, f):
        v = self.draw_verb(r, makes=True)
        most = r.choice([0, 1, 512, PAGE, r.randint(0, 1 << 16), int(r.random() * 1.2 * max(v.size, PAGE))])
        got = self.run(v, f, limits=[(resource.RLIMIT_FSIZE, most)])
        # Standard error is a file, too.
        bad = self.check(v, got, f.here) if most > 2048 else got.bad + self.files(v, f.here, got.status, False)
        return v, f"files of {most} bytes: status {got.status}", bad, got.said

    def limited(self, v, f, which, most, unit):
        got = self.run(v, f, limits=[(which, most)])
        if got is None:
            return v, "no room", [], ""
        return v, f"{most} {unit}: status {got.status}", self.check(v, got, f.here), got.said

    def descriptors(self, r, f):
        v = self.draw_verb(r)
        return self.limited(v, f, resource.RLIMIT_NOFILE, r.randint(3, 160 if v.live else 40), "descriptors")

    def memory(self, r, f):
        v = self.draw_verb(r)
        most = int(2 ** (r.random() * 6)) * (12 << 20) + r.randint(0, 4096) * PAGE // 4
        return self.limited(v, f, resource.RLIMIT_AS, most, "bytes of addresses")

    def call(self, r, f):
        v = self.draw_verb(r, live=False)
        name = r.choice(sorted(v.n_calls))
        error, n = r.choice(CALLS[name]), 1 + int(v.n_calls[name] ** r.random())
        when = f"{n}+" if r.random() < 0.3 and error != "EINTR" else str(n)
        injected = os.path.join(f.top, "injected")
        got = self.run(v, f, before=["strace", "-f", "-qq", "-e", f"trace={name}", "-e", "signal=none", "-o", injected,
                                     "-e", f"inject={name}:error={error}:when={when}"])
        hit = [line for line in open(injected, errors="replace") if "(INJECTED)" in line] if os.path.exists(injected) else []
        self.counts.add("calls that failed", len(hit))
        bad = self.check(v, got, f.here)
        return v, f"{name} number {when} fails with {error}: status {got.status}; {''.join(hit[:1]).strip()}", bad, got.said

    def heap(self, r, f):
        v = self.draw_verb(r)
        n = 1 + int(10 ** (r.random() * (4 if v.live else 5)))
        env = {"LD_PRELOAD": self.options.failcall, "FAIL_AT": str(n)}
        if r.random() < 0.3:
            env["FAIL_ON"] = "1"
        got = self.run(v, f, env=env)
        bad = self.check(v, got, f.here)
        return v, f"request {n} for memory{' and those after it' if 'FAIL_ON' in env else ''}: status {got.status}", bad, got.said


def main():
    options = arguments(__doc__)
    counts = Counts("sweeps", options)
    return counts.run(Sweeps(options, counts).one)


sys.exit(main())
