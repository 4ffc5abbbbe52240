/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_PATIENCE_H
#define KONTEND_PATIENCE_H

/*
 * Work that the kernel may keep waiting without end: who reads /proc/PID/maps waits for the
 * mmap_lock of that process, whose holder may sleep on a disk or a server that does not answer.
 *
 * Runs work(@arg) in a thread of its own. 0: done. -ETIMEDOUT: the thread has been in state D, at
 * one place, for a tenth of a second; it is left alone, uses @arg until the kernel lets it go, and
 * calls drop(@arg) then. It does not keep the process from exiting. Another negative errno: no
 * thread can be started, and nothing was done.
 */
int patience_run(void (*work)(void *arg), void (*drop)(void *arg), void *arg);

#endif
