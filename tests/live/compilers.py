# SPDX-License-Identifier: GPL-2.0-only
"""Compilers that tests use where they are installed. Toolchains are in the user's home, which is not that of tests."""
import os
import pwd
import shutil
import subprocess

HOME = pwd.getpwuid(os.getuid()).pw_dir


def environment():
    """What they keep besides their output is in the current folder."""
    return {"RUSTUP_HOME": HOME + "/.rustup", "CARGO_HOME": HOME + "/.cargo", **os.environ, "GO111MODULE": "off",
            "GOCACHE": os.path.abspath("cache"), "XDG_CONFIG_HOME": os.path.abspath("config")}


def is_usable(tool):
    """Installed; and a link of rustup needs a toolchain."""
    return shutil.which(tool) and subprocess.run(
        (tool, "version" if tool == "go" else "--version"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=environment(), check=False).returncode == 0


def write_source(folder, suffix, text):
    path = os.path.join(folder, "w" + suffix)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def build(folder, tool, words, suffix, text):
    """The program made of a source "w" + @suffix; False: the compiler refuses it."""
    program = os.path.join(folder, "p" + suffix)
    p = subprocess.run([tool, *words, "-o", program, write_source(folder, suffix, text)], capture_output=True,
                       text=True, env=environment(), check=False)
    if p.returncode:
        print(p.stderr[:300])
    return p.returncode == 0 and program


def marked_line(text):
    """The number of the line in which WAITS is."""
    return next(i for i, line in enumerate(text.split("\n"), 1) if "WAITS" in line)
