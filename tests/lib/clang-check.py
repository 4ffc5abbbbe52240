#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""clang-check.py BUILD: clang's messages about each C file of a build that is set up for it. It generates no code
and links nothing, which would take three times as long: nothing of the result is run. Of the build, only headers
that others include are made first. Prints the compiler's messages and "N passed, N failed, N skipped": the total of
files is one test, and each file with an error is one that failed."""
import concurrent.futures
import json
import os
import shlex
import subprocess
import sys

build = sys.argv[1]


def arguments(entry):
    """Of an entry of compile_commands.json, without the files that it would write."""
    words, out = iter(shlex.split(entry["command"])), []
    for word in words:
        if word in ("-o", "-MQ", "-MF", "-MT"):
            next(words)
        elif word not in ("-MD", "-MMD", "-c", "ccache"):
            out.append(word)
    return [*out, "-fsyntax-only"]


def check(entry):
    p = subprocess.run(arguments(entry), cwd=entry["directory"], stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True)
    return p.returncode, p.stdout


def make_headers():
    """What the build's own commands write for #include."""
    lines = subprocess.run(["ninja", "-C", build, "-t", "targets", "all"], check=True,
                           stdout=subprocess.PIPE, text=True).stdout.splitlines()
    names = [line.split(": ")[0] for line in lines if line.endswith(": CUSTOM_COMMAND")]
    headers = [name for name in names if name.endswith(".h")]
    if headers:
        subprocess.run(["ninja", "--quiet", "-C", build, *headers], check=True)


make_headers()
with open(os.path.join(build, "compile_commands.json")) as f:
    entries = [e for e in json.load(f) if e["file"].endswith(".c")]
failed = 0
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    for status, said in pool.map(check, entries):
        sys.stdout.write(said)
        failed += status != 0
print("%d files" % len(entries))
print("%d passed, %d failed, 0 skipped" % (bool(entries) and not failed, failed or not entries))
sys.exit(failed != 0 or not entries)
