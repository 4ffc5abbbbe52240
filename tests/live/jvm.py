# SPDX-License-Identifier: GPL-2.0-only
"""The virtual machines of Java that are installed, and programs of workloads/ compiled for them."""
import glob
import os
import shutil
import subprocess

from checks import check

HERE = os.path.dirname(os.path.abspath(__file__))


def installed():
    """Each program java; none without a compiler."""
    return sorted({os.path.realpath(p) for p in glob.glob("/usr/lib/jvm/*/bin/java")}) if shutil.which("javac") else []


def compile_into(folder, name):
    p = subprocess.run(("javac", "--release", "11", "-d", folder, os.path.join(HERE, "workloads", name + ".java")),
                       capture_output=True, text=True, check=False)
    return check(p.returncode == 0, "javac %s: %s" % (name, p.stderr))
