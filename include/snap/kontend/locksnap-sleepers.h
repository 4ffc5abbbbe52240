/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_LOCKSNAP_SLEEPERS_H
#define KONTEND_LOCKSNAP_SLEEPERS_H

#include <stdint.h>

/* What tasks sleep for that is no lock of the kernel. */
enum locksnap_sleeps {
	LOCKSNAP_FUTEX = 1, /* in futex(2): locks of programs, and their queues of work */
	LOCKSNAP_FILE_LOCK, /* flock(2), fcntl(2) */
	LOCKSNAP_IO,	    /* uninterruptibly, and the kernel counts that as waiting for I/O */
	LOCKSNAP_DISK,	    /* uninterruptibly (state D) otherwise: kernel locks among them */
	LOCKSNAP_SLEEPS,
};

/* Tasks of one process. */
struct locksnap_sleepers {
	int32_t pid;
	uint32_t comm; /* text: its name */
	uint32_t kind; /* enum locksnap_sleeps */
	uint32_t tasks;
	uint32_t idle; /* of them: slept in a futex for long, as who waits for work does */
	uint32_t pad;
};

#endif
