#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""How many instructions the kernel verifies until kontend measures: most of the time that starting
takes, and the same on a busy machine. Inlined functions multiply them, see owner_read() in
src/inspect/waits/waits.bpf.c.

    test-verified.py KONTEND"""
import os
import re
import sys
import tempfile

from namespaces import Checks, Observer, Skip, main

# 167,000 and 27,000 on Linux 6.18, with blocked tasks, locks of programs, the frames of programs and what system
# calls are on. Without the latter two it was 129,000 and 17,000, without all of these 69,000 and 17,000.
MOST, MOST_OF_ONE = 190000, 40000


def verified(pid):
    """By the number of each BPF program that the process has open."""
    at, found = f"/proc/{pid}/fdinfo", {}
    for fd in os.listdir(at):
        try:
            with open(f"{at}/{fd}", encoding="utf-8") as lines:
                of = dict(re.findall(r"^(prog_id|verified_insns):\s*(\d+)$", lines.read(), re.M))
        except OSError:
            continue
        if len(of) == 2:
            found[of["prog_id"]] = int(of["verified_insns"])
    return found


def run():
    kontend = os.path.realpath(sys.argv[1])
    c = Checks()
    with tempfile.TemporaryDirectory(prefix="kontend-verified-") as folder:
        observer = Observer(kontend, folder, [], "report")
        try:
            found = verified(observer.ready().process.pid)
            observer.end()
        finally:
            observer.kill()
    if not found:
        raise Skip("it has loaded no BPF program of which the kernel counts this (5.16 and up)")
    total, one = sum(found.values()), max(found.values())
    print(f"{len(found)} programs, {total} verified instructions, {one} of one program")
    c.check(total <= MOST, f"{total} verified instructions, more than {MOST}")
    c.check(one <= MOST_OF_ONE, f"{one} of one program, more than {MOST_OF_ONE}")
    print("\n".join(c.complaints))
    return 1 if c.complaints else 0


main(run)
