/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_LOCKSNAP_SLEEPERS_H
#define KONTEND_LOCKSNAP_SLEEPERS_H

#include <stdint.h>

/* Causes of sleep other than kernel locks. */
enum locksnap_sleeps {
	LOCKSNAP_FUTEX = 1, /* in futex(2): locks and work queues of programs */
	LOCKSNAP_FILE_LOCK, /* flock(2), fcntl(2) */
	LOCKSNAP_IO,	    /* uninterruptibly, accounted by the kernel as waiting for I/O */
	LOCKSNAP_DISK,	    /* other uninterruptible sleep (state D), kernel locks included */
	LOCKSNAP_SLEEPS,
};

/* Sleeping tasks of one process. */
struct locksnap_sleepers {
	int32_t pid;
	uint32_t comm; /* text: its name */
	uint32_t kind; /* enum locksnap_sleeps */
	uint32_t tasks;
	uint32_t idle; /* of them: in a futex for so long that they probably wait for work */
	uint32_t pad;
};

#endif
