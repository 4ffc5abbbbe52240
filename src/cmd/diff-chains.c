// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend diff --format flamegraph` and folded: the call chains of two recordings, of two moments
 * or of two groups, as one graph.
 */
#include "diff-chains.h"
#include "kontend/flamegraph.h"
#include "kontend/folded.h"
#include "verbs.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

bool diff_chains_asked(const struct opts *o)
{
	return o->format && (!strcmp(o->format, "flamegraph") || !strcmp(o->format, "folded"));
}

int diff_chains_begin(struct diff_chains *c, const struct opts *o, struct error *err)
{
	const char *given = o->by	 ? "by"
			    : o->sort	 ? "sort"
			    : o->filter	 ? "filter"
			    : o->fields	 ? "fields"
			    : o->tables	 ? "tables"
			    : o->reverse ? "reverse"
					 : NULL;

	if (!diff_chains_asked(o))
		return o->weight ? error_set(err, -EINVAL,
					     "--weight is for --format flamegraph and folded")
				 : 0;
	if (given)
		return error_set(err, -EINVAL,
				 "--%s is about tables and does not go with --format %s", given,
				 o->format);
	c->o = o;
	c->by_wait = !o->weight || !strcmp(o->weight, "wait");
	c->svg = !strcmp(o->format, "flamegraph");
	c->sum = query_flame_diff_new(c->by_wait);
	return c->sum ? 0 : error_enomem(err, "the sums of the call chains");
}

int diff_chains_add(void *chains, struct query *q, struct error *err)
{
	struct diff_chains *c = chains;

	return query_flame_diff_take(c->sum, c->side, q) < 0
		       ? error_enomem(err, "the sums of the call chains")
		       : 0;
}

int diff_chains_write(struct diff_chains *c, FILE *out, struct error *err)
{
	struct arena arena = {0};
	struct query_flame_diff d;
	int r = query_flame_diff_get(c->sum, &arena, &d);

	if (r < 0)
		error_enomem(err, "the sums of the call chains");
	else if (c->svg)
		r = flamegraph_write_diff(&d, &arena, out, err);
	else
		r = folded_write_diff(&d, false, out, err);
	if (r == 0 && d.n_cut)
		cmd_say(c->o,
			"%" PRIu64 " call chains lack their innermost functions: there are too "
			"many different ones",
			d.n_cut);
	arena_deinit(&arena);
	return r;
}

void diff_chains_end(struct diff_chains *c)
{
	query_flame_diff_free(c->sum);
}
