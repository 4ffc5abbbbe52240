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


def done():
    sys.exit(failures != 0)
