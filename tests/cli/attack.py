#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
The sandbox around a reader of recordings, attacked from within: attack.c is loaded into kontend
itself, and begins right after the filter of system calls is in place. Each attack is run in the
verbs that may write, by a terminal where they want one. A folder elsewhere has to stay as it is.
Called as: attack.py KONTEND ATTACK-MODULE MAKE-RECORDING
"""
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile

kontend, module, make = (os.path.realpath(p) for p in sys.argv[1:4])
bad = []


class Place:
    """The folder that kontend is started in, and one elsewhere."""

    def __init__(self, root):
        self.here, self.there = os.path.join(root, "here"), os.path.join(root, "there")
        os.mkdir(self.here)
        os.mkdir(self.there)
        self.secret = os.path.join(self.there, "precious")
        with open(self.secret, "w") as f:
            f.write("root:x:0:0::/root:/bin/sh\n")
        os.chmod(self.secret, 0o600)
        for name in "jit-1.dump", "perf-1.map", "source.c":
            os.symlink(self.secret, os.path.join(self.there, name))
        self.before = self.state()
        subprocess.run([make, root], check=True)
        self.data = os.path.join(root, "canned.data")

    def state(self):
        return sorted((e.name, os.lstat(e.path).st_ino, os.lstat(e.path).st_size)
                      for e in os.scandir(self.there))

    def clear(self):
        for e in os.scandir(self.here):
            os.unlink(e.path)
        shutil.rmtree(os.path.join(self.here, "..", "home"), ignore_errors=True)


def environment(place, attack, name):
    home = os.path.join(place.here, "..", "home")
    os.makedirs(home, exist_ok=True)
    return {"PATH": os.environ["PATH"], "HOME": home, "TERM": "xterm", "LC_ALL": "C.UTF-8",
            "LD_PRELOAD": module, "ATTACK": attack, "FOLDER": place.there, "NAME": name}


def on_terminal(command, place, env):
    """What it said on standard error; it leaves by a key."""
    said = os.path.join(place.here, "..", "said")
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(place.here)
        err = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(err, 2)
        os.close(err)
        os.execve(command[0], command, env)
    over, asked = False, False
    while not over:
        ready, _, _ = select.select([fd], [], [], 0.2)
        try:
            over = bool(ready) and not os.read(fd, 65536)
            if not ready and "attack: over" in open(said).read():
                os.write(fd, b"\x1bq")
                asked = True
        except OSError:
            over = True
    _, status = os.waitpid(pid, 0)
    os.close(fd)
    if not asked and not over:
        bad.append(f"{command}: it did not wait for a key")
    return os.waitstatus_to_exitcode(status), open(said).read()


def run(verb, place, attack, name="precious", **more):
    env = environment(place, attack, name)
    if verb == "screenshot":
        got = subprocess.run([kontend, verb, "-o", "../shot.svg", place.data], cwd=place.here,
                             env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True, **more)
        status, said = got.returncode, got.stderr
    else:
        status, said = on_terminal([kontend, verb, place.data], place, env)
    lines = [l for l in said.splitlines() if l.startswith("attack: ")]
    print(f"{verb:<10} {attack:<10}", "; ".join(l[8:] for l in lines if "over" not in l))
    if "attack: over" not in lines:
        bad.append(f"{verb}, {attack}: the attack did not come to its end: {said}")
    if place.state() != place.before:
        bad.append(f"{verb}, {attack}: the folder elsewhere has changed: {os.listdir(place.there)}")
    return status, said


def number(said, pattern):
    found = re.search(pattern, said)
    return int(found.group(1)) if found else -1


def attack_all(verb, place):
    for attack in "delete", "race-make", "race-save", "names":
        run(verb, place, attack)
        place.clear()
    _, said = run(verb, place, "fill")
    made, saved = number(said, r"fill: (\d+) made"), number(said, r"made, (\d+) saved")
    if not 1 <= made <= 16 or not 1 <= saved <= 256 or len(os.listdir(place.here)) > made + saved:
        bad.append(f"{verb}: {made} files made and {saved} saved, {os.listdir(place.here)[:9]}")
    place.clear()
    _, said = run(verb, place, "swell")
    if "swell: refused" not in said:
        bad.append(f"{verb}: a file of a terabyte")
    place.clear()
    _, said = run(verb, place, "workers")
    if not 0 <= number(said, r"workers: (\d+)") <= 2:
        bad.append(f"{verb}: any number of processes: {said}")
    _, said = run(verb, place, "keep")
    if "keep: 0 did" not in said:
        bad.append(f"{verb}: it kept columns that nobody can read: {said}")
    _, said = run(verb, place, "fuzz")
    if "fuzz: there" not in said or len(os.listdir(place.here)) > 16 + 256:
        bad.append(f"{verb}: {said}; {len(os.listdir(place.here))} files")
    place.clear()
    _, said = run(verb, place, "pass")
    if "passed" in said or said.count("refused") != 3:
        bad.append(f"{verb}: files of others by planted links: {said}")
    place.clear()


def inherited(place):
    with open(os.path.join(place.here, "log"), "w") as f:
        fd = fcntl.fcntl(f, fcntl.F_DUPFD, 150)  # above those that the attack opens
        _, said = run("screenshot", place, "inherited", str(fd), pass_fds=[fd])
        os.close(fd)
        if "inherited: closed" not in said:
            bad.append("a descriptor of the shell stays open in the sandbox")
    place.clear()


def broker_of(pid):
    """Once it has its name, which is among the first things that it does."""
    while True:
        for child in open(f"/proc/{pid}/task/{pid}/children").read().split():
            if open(f"/proc/{child}/comm").read().strip() == "kontend-broker":
                return int(child)


def killed(place, verb, *words):
    """The broker is killed, as the kernel does that lacks memory: one sentence, and no file."""
    child = subprocess.Popen([kontend, verb, *words], cwd=place.here, text=True,
                             env=environment(place, "pause", ""), stdin=subprocess.PIPE,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    for line in child.stderr:
        if "paused" in line:
            break
    os.kill(broker_of(child.pid), signal.SIGKILL)
    child.stdin.write("x")
    child.stdin.close()
    said = [l for l in child.stderr.read().splitlines() if not l.startswith("attack: ")]
    status = child.wait()
    print(f"{verb:<10} broker killed: exit {status}: {said}")
    if status != 1 or len(said) != 1 or "kontend-broker" not in said[0] or "ended" not in said[0]:
        bad.append(f"{verb} without a broker: exit {status}, said {said}")
    left = set(os.listdir(place.here)) - {"torn.data"}
    if left:
        bad.append(f"{verb} without a broker: files are left: {left}")


def all_killed(place):
    with open(place.data, "rb") as f:
        whole = f.read()
    with open(os.path.join(place.here, "torn.data"), "wb") as f:
        f.write(whole[:len(whole) * 9 // 10])
    killed(place, "report", "-q", "-i", place.data)
    killed(place, "report", "-q", "-i", place.data, "-o", "r.txt")
    killed(place, "export", "-q", "-i", place.data, "-o", "x.folded")
    killed(place, "screenshot", place.data, "-o", "s.svg")
    killed(place, "recover", "-q", "torn.data")
    killed(place, "recover", "-q", "torn.data", "-o", "whole.data")
    killed(place, "cut", "-q", place.data, "-o", "part.data")
    place.clear()


def main():
    if b"__asan_init" in open(kontend, "rb").read() or b"__tsan_init" in open(kontend, "rb").read():
        print("a sanitizer wants to be loaded first: nothing can be loaded before it")
        return 77
    with tempfile.TemporaryDirectory() as root:
        place = Place(root)
        status, said = run("screenshot", place, "nothing")
        if "cannot begin" in said or "attack: over" not in said:
            print("the module is not loaded: a static program?", said)
            return 77
        for verb in "screenshot", "replay", "tour":
            attack_all(verb, place)
        inherited(place)
        all_killed(place)
    for line in bad:
        print(line)
    return 1 if bad else 0


sys.exit(main())
