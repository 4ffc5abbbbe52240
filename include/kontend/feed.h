/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_FEED_H
#define KONTEND_FEED_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Who writes records into the rings besides the kernel's own events: BPF programs of ours, by way
 * of an event of each CPU, of the software event bpf-output.
 */
struct feed {
	/*
	 * The event of @cpu has been opened, or opened anew; the descriptor is borrowed for the
	 * call. 0 or a negative errno.
	 */
	int (*set)(struct feed *f, uint32_t cpu, int fd);
	/* It tells where waits begin and end: perf's own events of that stay switched off. */
	bool waits;
};

#endif
