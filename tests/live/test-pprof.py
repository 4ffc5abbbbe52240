#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""`go tool pprof` reads the port of `kontend record --metrics` while `kontend bench mutex` makes a storm of which it
knows how often and how long was waited; the difference of two such profiles is that of the truths. Slow clients, some
that ask for too long, and too many of them change nothing of that.
Called as: test-pprof.py KONTEND CACHE, where CACHE is a folder that the build of Go's tool stays in."""
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from checks import check, done, skip

kontend, cache = sys.argv[1:3]
BEFORE = 2.5  # seconds until the profile has surely begun


def find_go():
    for path in shutil.which("go"), "/usr/local/go/bin/go":
        if path and os.access(path, os.X_OK):
            return path
    return skip("there is no go, whose pprof reads profiles")


def environment(d):
    """Nothing of the tool is anywhere but in folders of ours."""
    home = os.path.join(d, "home")
    os.makedirs(os.path.join(home, ".config"))
    os.makedirs(cache, exist_ok=True)
    return dict(os.environ, HOME=home, XDG_CONFIG_HOME=os.path.join(home, ".config"), XDG_CACHE_HOME=home,
                GOCACHE=cache, GOTELEMETRYDIR=home, GOTELEMETRY="off", GOTOOLCHAIN="local", GOPROXY="off", GOFLAGS="",
                PPROF_TMPDIR=os.path.join(d, "saved"), PPROF_BINARY_PATH=home)


class Tool:
    def __init__(self, d):
        self.go, self.env = find_go(), environment(d)
        p = self.run("-top", "/dev/null")  # it is built when it is used for the first time
        if "build" in p.stderr and "parsing profile" not in p.stderr:
            skip("pprof cannot be built: " + p.stderr.strip().splitlines()[-1])

    def start(self, *args):
        return subprocess.Popen([self.go, "tool", "pprof", *args], env=self.env, text=True, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, *args):
        p = self.start(*args)
        p.stdout, p.stderr = p.communicate()
        return p

    def top(self, *args):
        p = self.run("-top", "-nodefraction=0", *args)
        check(p.returncode == 0, f"pprof {' '.join(args)}: {p.stderr}")
        return p.stdout


def rows(top):
    """Functions of -top with what they have for themselves, in ns or in times."""
    return {m[2]: int(m[1]) for m in
            re.finditer(r"^ *(-?\d+)(?:ns)? +\S+% +\S+% +-?\d+(?:ns)? +\S+% +(\S+)", top, re.M)}


STORM = ["-unit=ns", "-tagfocus=comm=bench-mutex"]


def start_kontend(d):
    err = open(os.path.join(d, "kontend.err"), "w+", encoding="utf-8")
    p = subprocess.Popen([kontend, "record", "--metrics", "0", "-F", "99"], stdin=subprocess.DEVNULL, stdout=err,
                         stderr=err)
    for _ in range(600):
        with open(err.name, encoding="utf-8") as f:
            words = f.read()
        if "metrics are at " in words:
            return p, words.split("metrics are at ")[1].split("/metrics")[0]
        if p.poll() is not None:
            skip(words.strip())
        time.sleep(0.1)
    return skip("no port after a minute")


def make_storm(rounds):
    out = subprocess.run([kontend, "bench", "mutex", "-n", str(rounds), "-t", "4", "-j"], check=True,
                         capture_output=True, text=True).stdout
    return {f["metric"]: int(f["value"]) for f in json.loads(out)["figures"] if f["case"] == "mutex"}


def profile_of_storm(tool, base, rounds, seconds, name):
    """Fetched by the tool itself: its result, and the truth."""
    begin = time.monotonic()
    p = tool.start("-proto", "-output", name, f"{base}/debug/pprof/mutex?seconds={seconds}")
    time.sleep(BEFORE)
    truth = make_storm(rounds)
    late = time.monotonic() - begin
    err = p.communicate()[1]
    check(p.returncode == 0, "pprof: " + err)
    if late > seconds:
        skip(f"the storm took {late:.1f} s, as this machine is busy")
    return truth


def compare(tool, name, truth, what):
    delay, n = rows(tool.top(*STORM, name)), rows(tool.top(*STORM, "-sample_index=contentions", name))
    check(delay, what + ": pprof has no rows")
    function = max(delay, key=delay.get, default="")
    print(f"{what}: {n.get(function)} waits of {delay.get(function)} ns in {function}; the truth: {truth['waits']}, "
          f"{truth['waited_least']} to {truth['waited_most']} ns")
    check("pipe_write" in function, f"{what}: most is waited in {function}")
    check(n.get(function) == truth["waits"], f"{what}: not so many waits")
    check(truth["waited_least"] <= delay.get(function, 0) <= truth["waited_most"], what + ": not so long")


def compare_difference(tool, base, name, truths):
    delay = rows(tool.top(*STORM, "-diff_base=" + base, name))
    function = max(delay, key=delay.get, default="")
    least = truths[1]["waited_least"] - truths[0]["waited_most"]
    most = truths[1]["waited_most"] - truths[0]["waited_least"]
    print(f"-diff_base: {delay.get(function)} ns more in {function}; the truth: {least} to {most} ns")
    check("pipe_write" in function and least <= delay[function] <= most, "-diff_base: another difference")
    check(not any(rows(tool.top(*STORM, "-diff_base=" + base, base)).values()), "-diff_base: of itself it differs")


def answer(url):
    try:
        with urllib.request.urlopen(url, timeout=60) as r:
            return r.status, r.read()
    except urllib.error.HTTPError as e:
        return e.code, e.read()


def bad_clients(base):
    """They stay connected, and neither read nor go, while the storm is measured."""
    host, port = base.split("//")[1].split(":")
    silent = []
    for path in "mutex?seconds=300", "block?seconds=1":
        s = socket.create_connection((host, int(port)))
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.sendall(f"GET /debug/pprof/{path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        silent.append(s)
    status, why = answer(base + "/debug/pprof/mutex?seconds=600")
    check(status == 400 and b"1 to 300" in why, f"ten minutes: {status} {why}")
    check(answer(base + "/metrics")[0] == 200, "no metrics beside profiles")
    return silent


def samples(tool, base):
    top = tool.top(base + "/debug/pprof/profile?seconds=2")
    check("Type: cpu" in top and rows(tool.top("-unit=ns", base + "/debug/pprof/profile?seconds=1")),
          "no samples of CPUs: " + top)


if os.geteuid() != 0:
    skip("needs root")
with tempfile.TemporaryDirectory(prefix="kontend-pprof-") as d:
    tool = Tool(d)
    p, base = start_kontend(d)
    try:
        if answer(base + "/debug/pprof/mutex?seconds=1")[0] == 501:
            skip("built without libprotobuf-c")
        silent = bad_clients(base)
        names = [os.path.join(d, n) for n in ("base.pb.gz", "storm.pb.gz")]
        truths = [profile_of_storm(tool, base, n, s, name) for n, s, name in zip((20, 60), (10, 14), names)]
        for name, truth, what in zip(names, truths, ("a storm", "a longer one")):
            compare(tool, name, truth, what)
        compare_difference(tool, *names, truths)
        samples(tool, base)
        for s in silent:
            s.close()
    finally:
        p.terminate()
        status = p.wait()
    check(status == 0, f"kontend: exit {status}")
done()
