#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Threads that wait for the lock of the interpreter (GIL), and one that keeps it asleep: a call of the C library that
does not release it. Prints "waits TID" and "has TID", and runs for as many seconds as the argument says.

    gil.py SECONDS"""
import ctypes
import os
import sys
import threading
import time

WAITERS = 3
sys.setswitchinterval(0.2)  # a wait lasts so long before it begins again: longer than the end of a report takes
library = ctypes.PyDLL(None)
ready = threading.Barrier(WAITERS + 1)
lines = threading.Lock()


def say(word):
    with lines:
        print(word, threading.get_native_id(), flush=True)


def wait():
    say("waits")
    ready.wait()
    while True:
        time.sleep(0.05)


def keep():
    ready.wait()
    say("has")
    library.sleep(int(sys.argv[1]))
    os._exit(0)


for function in [wait] * (WAITERS - 1) + [keep]:
    threading.Thread(target=function, daemon=True).start()
wait()
