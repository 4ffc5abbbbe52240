/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_CANNED_H
#define KONTEND_TESTS_CANNED_H

#include "rig.h"

/*
 * A stream of 3 s with all that reports and queries show, the same each time: one mmap_lock with
 * writers and readers, a pipe mutex, a static spinlock, a failed acquisition, a cgroup, a loss, an
 * end without begin, and at its end two waits in flight: a writer of the mmap_lock (mm/5215, 400
 * ms) and a reader of it (mm/5216, 300 ms).
 */
enum { CANNED_MM = 5214, CANNED_PIPE = 612, CANNED_CGROUP = 77 };
#define CANNED_MMAP_LOCK 0xffff888012345678ull
#define CANNED_PIPE_MUTEX 0xffff888076543210ull
#define CANNED_TASKLIST_LOCK 0xffffffff82000000ull
#define CANNED_MS 1000000ull
#define CANNED_START (1000 * CANNED_MS)
#define CANNED_END (CANNED_START + 3000 * CANNED_MS)

void canned_init(struct rig *r); /* rig_init() and the stream; play it with rig_play() */

#endif
