# SPDX-License-Identifier: GPL-2.0-only
"""How tests in Python say what came out: what is wrong, a line each, or why nothing was tried."""
import sys

failures = 0


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def check(good, what):
    global failures
    if not good:
        failures += 1
        print("FAIL", what)
    return good


def failed():
    return failures


def attempt(times, part, *args):
    """Runs a part until nothing is wrong in it, at most so often: for what chance can spoil, as a switch of tasks that
    the kernel did not report."""
    global failures
    before = failures
    for n in range(1, times + 1):
        part(*args)
        if failures == before or n == times:
            return
        print("attempt %d of %d had these" % (n, times))
        failures = before


def done():
    sys.exit(failures != 0)
