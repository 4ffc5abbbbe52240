// SPDX-License-Identifier: GPL-2.0-only
/* Two groups of recordings compared, as text, CSV or JSON. */
#include "fleet-int.h"
#include "kontend/diff.h"
#include "report/format.h"

#include <errno.h>
#include <inttypes.h>

enum { BEFORE, AFTER, SIDES };

struct answer {
	const struct fleet_side *sides[SIDES];
	const struct fleet_spec *spec;
	struct arena arena;
	struct table tables[FLEET_TABLES];
};

static const char *const names[SIDES] = {"before", "after"};

static void put_side(const struct answer *a, int side, FILE *out)
{
	const struct fleet_side *s = a->sides[side];
	const struct fleet_sum *sum = fleet_sum(s->m);

	fprintf(out,
		"# %s (%c): %" PRIu64 " of %" PRIu64 " recordings, machines %" PRIu64
		", kernels %" PRIu64 "\n",
		names[side], 'A' + side, sum->recordings, s->given.n, sum->machines, sum->kernels);
	fleet_faults_text(&s->given, out);
	fleet_sum_text(sum, out);
	if (sum->groups_folded)
		fprintf(out,
			"# there are too many to keep them apart: their change is not known\n");
}

static void put_text(const void *answer, FILE *out)
{
	const struct answer *a = answer;
	const struct report_spec look = {.ascii = a->spec->ascii, .width = a->spec->width};

	fputs("# kontend diff of two groups of recordings", out);
	fleet_only_text(a->spec, out);
	for (int side = 0; side < SIDES; side++)
		put_side(a, side, out);
	report_sandbox_text(a->spec->sandbox, out);
	for (int at = 0; at < FLEET_TABLES; at++) {
		const struct table *t = &a->tables[at];
		if (!t->n_rows)
			continue;
		fprintf(out, "#\n# %s, ", t->name);
		report_text_count(t, "rows", out);
		fprintf(out, "# the same by: %s\n", fleet_table_rule((enum fleet_at)at));
		report_text_table(t, &look, out);
	}
}

static void put_json(const void *answer, struct jsonw *j)
{
	const struct answer *a = answer;
	const struct fleet_spec *s = a->spec;

	fleet_about_json(s, j);
	for (int side = 0; side < SIDES; side++) {
		const struct fleet_side *side_of = a->sides[side];
		jsonw_begin(j, names[side], '{', false);
		fleet_numbers_json(&side_of->given, fleet_sum(side_of->m), j);
		jsonw_end(j, '}');
	}
	jsonw_begin(j, "tables", '{', false);
	for (int at = 0; at < FLEET_TABLES; at++)
		if (fleet_is_asked(a->spec, at))
			fleet_table_json(&a->tables[at], a->tables[at].n_columns, (enum fleet_at)at,
					 a->tables[at].name, j);
	jsonw_end(j, '}');
	if (s->chains)
		diff_chains_json(s->chains, j);
}

static int ask_tables(struct answer *a, struct error *err)
{
	for (int at = 0; at < FLEET_TABLES; at++)
		if (fleet_is_asked(a->spec, at) &&
		    fleet_compare(a->sides[BEFORE]->m, a->sides[AFTER]->m, (enum fleet_at)at,
				  a->spec->limit, &a->arena, &a->tables[at]) < 0)
			return error_enomem(err, "the comparison");
	return 0;
}

int fleet_report_diff(const struct fleet_side *before, const struct fleet_side *after,
		      const struct fleet_spec *s, FILE *out, struct error *err)
{
	struct answer a = {.sides = {before, after}, .spec = s};
	int r = ask_tables(&a, err);

	const struct report_out o = {.format = s->format,
				     .what = "the comparison",
				     .schema = "kontend.compared/1",
				     .answer = &a,
				     .text = put_text,
				     .json = put_json,
				     .table = &a.tables[fleet_csv_table(s, FLEET_LOCKS)],
				     .csv_separator = s->csv_separator};
	if (r == 0)
		r = report_out(&o, out, err);
	arena_deinit(&a.arena);
	return r;
}
