// SPDX-License-Identifier: GPL-2.0-only
/*
 * The call chains of a comparison in JSON: the boxes of the flame graph of both sides, in their
 * order, with what each side has of them.
 */
#include "format.h"
#include "kontend/diff.h"
#include "kontend/query-flame-diff.h"

#include <stddef.h>

struct box {
	const char *name, *object, *kind;
	uint64_t depth, a, b, a_self, b_self;
	int64_t change;
};

static const struct figure figures[] = {
	{FIGURE("name", TEXT, struct box, name)},
	{FIGURE("object", TEXT, struct box, object)},
	{FIGURE("kind", TEXT, struct box, kind)},
	{FIGURE("depth", COUNT, struct box, depth)},
	{FIGURE("a", COUNT, struct box, a)},
	{FIGURE("b", COUNT, struct box, b)},
	{FIGURE("a_self", COUNT, struct box, a_self)},
	{FIGURE("b_self", COUNT, struct box, b_self)},
	{FIGURE("change", INT, struct box, change)},
	FIGURE_END,
};

static struct box box_of(const struct query_flame_diff *d, size_t i)
{
	const struct query_node *n = &d->tree.nodes[i];
	const uint64_t a = d->of[FLAME_A][i], b = d->of[FLAME_B][i];

	return (struct box){.name = n->name,
			    .object = n->object,
			    .kind = query_flame_frame_name(query_flame_frame(n)),
			    .depth = n->depth,
			    .a = a,
			    .b = b,
			    .a_self = d->own[FLAME_A][i],
			    .b_self = d->own[FLAME_B][i],
			    .change = query_flame_diff_change(a, b)};
}

void diff_chains_json(const struct query_flame_diff *d, struct jsonw *j)
{
	jsonw_begin(j, "chains", '{', false);
	jsonw_str(j, "weight", d->by_wait ? "wait" : "samples");
	jsonw_u64(j, "a", d->all[FLAME_A]);
	jsonw_u64(j, "b", d->all[FLAME_B]);
	jsonw_u64(j, "cut", d->n_cut);
	jsonw_begin(j, "rows", '[', false);
	for (size_t i = 0; i < d->tree.n; i++) {
		const struct box box = box_of(d, i);
		jsonw_begin(j, NULL, '{', true);
		report_json_figures(j, figures, &box, 0);
		jsonw_end(j, '}');
	}
	jsonw_end(j, ']');
	jsonw_end(j, '}');
}
