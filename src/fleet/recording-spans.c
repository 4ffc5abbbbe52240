// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two recordings of a boot have times of the same clock, so whether they overlap does not depend on
 * how the wall clock was set. Without an id of the machine and of its boot there is only the name
 * of the host and the wall clock, which two machines may share: so that is a doubt, no fact.
 */
#include "kontend/recording-spans.h"
#include "kontend/mem.h"
#include "kontend/model.h"
#include "kontend/query.h"
#include "kontend/when.h"

#include <errno.h>
#include <string.h>

static bool is_same_boot(const struct record_machine *a, const struct record_machine *b)
{
	return *a->id && *a->boot && !strcmp(a->id, b->id) && !strcmp(a->boot, b->boot);
}

const struct span *recording_spans_find(const struct spans *s, const struct query *q,
					uint64_t from_ns, uint64_t to_ns)
{
	const struct record_machine machine = query_machine(q);

	for (const struct span *t = s->spans; t < s->spans + s->n; t++)
		if (is_same_boot(&t->machine, &machine) && t->from_ns < to_ns && from_ns < t->to_ns)
			return t;
	return NULL;
}

static bool are_other(const char *a, const char *b)
{
	return *a && *b && strcmp(a, b) != 0;
}

static bool may_be_same_boot(const struct record_machine *a, const struct record_machine *b)
{
	return *a->host && !strcmp(a->host, b->host) && !are_other(a->id, b->id) &&
	       !are_other(a->boot, b->boot) && !is_same_boot(a, b);
}

static struct span span_of(const struct query *q, const char *path)
{
	const struct model *m = q->model;
	const struct when w = {.clock_ns = m->host->clock_ns, .wall_ns = m->host->wall_ns};

	return (struct span){.path = path,
			     .machine = query_machine(q),
			     .from_ns = m->start_ns,
			     .to_ns = m->now_ns,
			     .from_wall_ns = when_wall_ns(&w, m->start_ns),
			     .to_wall_ns = when_wall_ns(&w, m->now_ns)};
}

const char *recording_spans_may_overlap(const struct spans *s, const struct query *q)
{
	const struct span new = span_of(q, NULL);

	for (const struct span *t = s->spans; t < s->spans + s->n; t++)
		if (may_be_same_boot(&t->machine, &new.machine) &&
		    t->from_wall_ns < new.to_wall_ns &&new.from_wall_ns < t->to_wall_ns)
			return t->path;
	return NULL;
}

int recording_spans_add(struct spans *s, const struct query *q, const char *path,
			const struct span **ret_twin, struct error *err)
{
	const struct model *m = q->model;

	*ret_twin = recording_spans_find(s, q, m->start_ns, m->now_ns);
	if (*ret_twin)
		return 0;
	if (mem_grow(&s->spans, &s->cap, s->n, sizeof(*s->spans)) < 0)
		return error_enomem(err, "the list of recordings");
	s->spans[s->n++] = span_of(q, path);
	return 0;
}

void recording_spans_deinit(struct spans *s)
{
	mem_free(s->spans);
}
