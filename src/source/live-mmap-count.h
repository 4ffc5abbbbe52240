/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SOURCE_LIVE_MMAP_COUNT_H
#define KONTEND_SOURCE_LIVE_MMAP_COUNT_H

#include "kontend/target.h"
#include <stddef.h>
#include <stdint.h>

/* Counts of a tracepoint on all measured CPUs or tasks. `= {0}` counts nothing. */
struct live_mmap_count {
	int *fds;
	size_t n;
};

/* Of tracepoint @id; @command: the child of TARGET_COMMAND. None where it is refused. */
void live_mmap_count_open(struct live_mmap_count *c, uint32_t id, const struct target *t,
			  pid_t command);
/* Since it was opened; 0 when there is none. */
uint64_t live_mmap_count_now(const struct live_mmap_count *c);
void live_mmap_count_close(struct live_mmap_count *c);

#endif
