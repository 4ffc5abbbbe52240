# SPDX-License-Identifier: GPL-2.0-only
"""Recordings of synthetic machines, and kontend run on them, for the tests of many recordings."""
import json
import os
import subprocess

SHAPE = ["events=2000", "tasks=40", "locks=30", "chains=10", "step=7919"]
wrong = []


def expect(what, is_so):
    if not is_so:
        wrong.append(what)


class Test:
    def __init__(self, kontend, synthetic, folder):
        self.kontend, self.synthetic, self.folder = kontend, synthetic, folder

    def recording(self, name, *knobs):
        """Path of a recording, and its truth."""
        path = os.path.join(self.folder, name + ".data")
        out = subprocess.run([self.synthetic, path, *SHAPE, *knobs], check=True, stdout=subprocess.PIPE).stdout
        return path, json.loads(out)

    def run(self, *args, status=0, says=()):
        got = subprocess.run([self.kontend, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        err = got.stderr.decode()
        expect(f"{args[:4]}: status {got.returncode}, {err}", got.returncode == status)
        lines = err.splitlines()
        expect(f"{args[:4]} says {err!r}", len(lines) == len(says) and all(s in err for s in says))
        return got.stdout.decode()
