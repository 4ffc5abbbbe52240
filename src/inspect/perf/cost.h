/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_COST_H
#define KONTEND_INSPECT_COST_H

#include "kontend/perfsnap.h"

/* Cost of looks: CPU time summed up until a second is over, as single ones lie close together. */
struct inspect_cost {
	uint64_t from_ns, sum_ns; /* of the time that runs; 0: it begins with the next look */
	uint64_t per_s_ns;	  /* of the one before */
};

uint64_t inspect_cpu_ns(void); /* of this thread */
/* At the end of a look at @h->time_ns that began at @cpu_ns: its cost into @h. */
void inspect_cost(struct inspect_cost *c, struct snap_head *h, uint64_t cpu_ns);

#endif
