/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_RETAIN_H
#define KONTEND_RECORD_RETAIN_H

#include "kontend/error.h"
#include <stdint.h>

/* What may stay of files of incidents in a directory. 0: any. */
struct retain_limits {
	uint64_t age_ns; /* since a file was written */
	uint64_t bytes;	 /* of all of them */
	uint64_t files;
};

struct retain_stat {
	uint64_t files, bytes; /* that are there now */
	uint64_t removed, removed_bytes;
};

/*
 * Removes what is over a limit, the oldest first, and never the newest one. It looks at files of
 * incidents alone, by name, owner and content; at none that is still being written. @now_ns is by
 * CLOCK_REALTIME. 0, or negative with @err, when the directory cannot be read or something cannot
 * be removed; what can be is.
 */
int retain_apply(const char *dir, const struct retain_limits *l, uint64_t now_ns,
		 struct retain_stat *ret, struct error *err);

/*
 * The clock for it. A system's clock that is set while we run makes no file old: this one goes on
 * from where it was at first, and is never ahead of the system's. `= {0}`.
 */
struct retain_clock {
	uint64_t wall_ns, boot_ns; /* at first */
};

uint64_t retain_now(struct retain_clock *c, uint64_t wall_ns, uint64_t boot_ns);

#endif
