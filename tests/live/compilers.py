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
