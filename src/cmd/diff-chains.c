// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend diff --format flamegraph` and folded, or JSON with --weight: the call chains of two
 * recordings, of two moments or of two groups, as one graph.
 */
#include "diff-chains.h"
#include "kontend/flamegraph.h"
#include "kontend/folded.h"
#include "verbs.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

bool diff_chains_alone(const struct opts *o)
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

	c->json = o->format && o->weight && !strcmp(o->format, "json");
	if (!diff_chains_alone(o) && !c->json)
		return o->weight ? error_set(err, -EINVAL,
					     "--weight is for --format flamegraph, folded and json")
				 : 0;
	if (given && !c->json)
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

int diff_chains_get(struct diff_chains *c, struct error *err)
{
	if (query_flame_diff_get(c->sum, &c->arena, &c->both) < 0)
		return error_enomem(err, "the sums of the call chains");
	for (int side = 0; side < FLAME_SIDES; side++)
		c->both.name[side] = c->name[side];
	if (c->both.n_cut)
		cmd_say(c->o,
			"%" PRIu64 " call chains lack their innermost functions: there are too "
			"many different ones",
			c->both.n_cut);
	return 0;
}

int diff_chains_write(struct diff_chains *c, FILE *out, struct error *err)
{
	int r = diff_chains_get(c, err);

	if (r < 0)
		return r;
	return c->svg ? flamegraph_write_diff(&c->both, &c->arena, out, err)
		      : folded_write_diff(&c->both, false, out, err);
}

void diff_chains_end(struct diff_chains *c)
{
	query_flame_diff_free(c->sum);
	arena_deinit(&c->arena);
}
