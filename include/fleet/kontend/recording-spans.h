/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORDING_SPANS_H
#define KONTEND_RECORDING_SPANS_H

#include "kontend/query-machine.h"

#include "kontend/error.h"
#include <stddef.h>

/* Machine and time of recordings, to find those that overlap. */
struct span {
	const char *path; /* borrowed */
	struct record_machine machine;
	uint64_t from_ns, to_ns;	   /* session clock */
	uint64_t from_wall_ns, to_wall_ns; /* CLOCK_REALTIME; 0: not known */
};

struct spans {
	struct span *spans;
	size_t n, cap;
};

/* The message about one that may overlap, with the path of the other; its consequence follows. */
#define SPANS_MAY_OVERLAP                                                                          \
	"may overlap: it does not say of which machine and boot it is, and %s has its host name "  \
	"and part of its time by the clock of the wall, so waits may count twice: "

/* One that has part of that time, of the same boot as @q's; NULL: there is none. */
const struct span *recording_spans_find(const struct spans *s, const struct query *q,
					uint64_t from_ns, uint64_t to_ns);
/*
 * Path of one that may have part of @q's time: nothing says whether both are of one machine and
 * boot, but it has the same host name, and by the clock of the wall the same time. NULL: there is
 * none.
 */
const char *recording_spans_may_overlap(const struct spans *s, const struct query *q);
/* Adds what @q is of, but where @ret_twin has it already; NULL there: it is new. 0 or -ENOMEM. */
int recording_spans_add(struct spans *s, const struct query *q, const char *path,
			const struct span **ret_twin, struct error *err);
void recording_spans_deinit(struct spans *s);

#endif
