// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two recordings of a boot tell times by the same clock, so whether they overlap is no question of
 * how that of the wall was set. Without an id of the machine and of its boot nothing is said.
 */
#include "spans.h"
#include "kontend/mem.h"
#include "kontend/model.h"
#include "kontend/query.h"

#include <errno.h>
#include <string.h>

static bool is_same_boot(const struct record_machine *a, const struct record_machine *b)
{
	return *a->id && *a->boot && !strcmp(a->id, b->id) && !strcmp(a->boot, b->boot);
}

const struct span *spans_find(const struct spans *s, const struct query *q, uint64_t from_ns,
			      uint64_t to_ns)
{
	const struct record_machine machine = query_machine(q);

	for (const struct span *t = s->spans; t < s->spans + s->n; t++)
		if (is_same_boot(&t->machine, &machine) && t->from_ns < to_ns && from_ns < t->to_ns)
			return t;
	return NULL;
}

int spans_add(struct spans *s, const struct query *q, const char *path,
	      const struct span **ret_twin, struct error *err)
{
	const struct model *m = q->model;

	*ret_twin = spans_find(s, q, m->start_ns, m->now_ns);
	if (*ret_twin)
		return 0;
	if (mem_grow(&s->spans, &s->cap, s->n, sizeof(*s->spans)) < 0)
		return error_errno(err, -ENOMEM, "Cannot keep what was read");
	s->spans[s->n++] = (struct span){.path = path,
					 .machine = query_machine(q),
					 .from_ns = m->start_ns,
					 .to_ns = m->now_ns};
	return 0;
}

void spans_deinit(struct spans *s)
{
	mem_free(s->spans);
}
