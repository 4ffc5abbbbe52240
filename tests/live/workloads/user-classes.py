#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""As user-classes.c, with what Python has.

    user-classes.py CASE"""
import ctypes
import multiprocessing
import os
import queue
import sys
import threading

THREADS = 3
PR_SET_NAME = 15
without_gil, with_gil = ctypes.CDLL(None), ctypes.PyDLL(None)
lock, other, recursive = threading.Lock(), threading.Lock(), threading.RLock()
condition, event = threading.Condition(), threading.Event()
binary, empty = threading.Semaphore(1), threading.Semaphore(0)
shared, shared_empty = multiprocessing.Lock(), multiprocessing.Semaphore(0)
simple = queue.SimpleQueue()
started = threading.Semaphore(0)


def wait_for_condition():
    with condition:
        condition.wait()


def wait_for_gil():
    """Once all are there, one thread keeps it: it calls a function of the C library that sleeps."""
    started.release()
    while True:
        without_gil.usleep(1000)


def keep_gil():
    without_gil.prctl(PR_SET_NAME, b"keeper")
    for _ in range(THREADS):
        started.acquire()
    with_gil.sleep(3600)


CASES = {
    "L-lock": (lock.acquire, lock.acquire),
    "L-rlock": (recursive.acquire, recursive.acquire),
    "L-semaphore": (binary.acquire, binary.acquire),
    "L-shared": (shared.acquire, shared.acquire),
    "L-gil": (None, wait_for_gil),
    "W-condition": (None, wait_for_condition),
    "W-event": (None, event.wait),
    "W-queue": (None, queue.Queue().get),
    "W-simple-queue": (None, simple.get),
    "W-semaphore": (None, empty.acquire),
    "W-shared": (None, shared_empty.acquire),
    "W-join": (None, threading.main_thread().join),
}


def run(name):
    prepare, wait = CASES[name]

    def named():
        without_gil.prctl(PR_SET_NAME, name.encode())
        wait()

    if prepare:
        prepare()
    for _ in range(THREADS):
        threading.Thread(target=named, daemon=True).start()
    if name == "L-gil":  # this thread may wait for it, too
        without_gil.prctl(PR_SET_NAME, name.encode())
        threading.Thread(target=keep_gil, daemon=True).start()
    os.read(0, 1)
    os._exit(0)


if len(sys.argv) > 1:
    run(sys.argv[1])
print("\n".join(CASES))
