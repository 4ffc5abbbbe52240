/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_LOCKHOLD_H
#define KONTEND_LOCKHOLD_H

#include <stddef.h>
#include <stdint.h>

struct locksnap;

struct lockhold {
	uint64_t addr, since_ns;
	int32_t tid;
};

/* Tasks that held a lock for sure at the last snapshot, and which one. `= {0}` is none. */
struct lockholds {
	struct lockhold *v; /* by address */
	size_t n;
	uint64_t time_ns; /* of the look */
};

/* 0, or -ENOMEM: all is as before. */
int lockhold_take(struct lockholds *h, const struct locksnap *snap);
/* Time, up to the last snapshot, for which every snapshot has seen @tid hold the lock at @addr; 0:
 * seen once, or never
 */
uint64_t lockhold_ns(const struct lockholds *h, uint64_t addr, int32_t tid);
void lockhold_deinit(struct lockholds *h);

#endif
