// SPDX-License-Identifier: GPL-2.0-only
/*
 * Many recordings as text, CSV or JSON. The header says how many there were, what was wrong with
 * them, and for each table the rule by which rows of two machines are the same row.
 */
#include "kontend/fleet-report.h"
#include "fleet-int.h"
#include "kontend/query-damage.h"
#include "kontend/units.h"
#include "kontend/when.h"
#include "report/format.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const struct {
	const char *key, *words;
} faults[FLEET_FAULTS] = {
	[FLEET_NOT_READ] = {"not_read", "not added, as they cannot be read"},
	[FLEET_OVERLAP] = {"overlap", "not added, as another one has their machine and time"},
	[FLEET_CUT_OFF] = {"cut_off", "cut off or damaged"},
	[FLEET_VERSION] = {"other_version", "of another version, not all of which is understood"},
	[FLEET_CLOCK] = {"clock_apart", "more than a day off the time of most others"},
	[FLEET_MAY_OVERLAP] = {"may_overlap",
			       "that may overlap with another one, so that waits may count twice"},
};

void fleet_faults_text(const struct fleet_given *g, FILE *out)
{
	for (int i = 0; i < FLEET_FAULTS; i++)
		if (g->faults[i])
			fprintf(out, "# recordings %s: %" PRIu64 "\n", faults[i].words,
				g->faults[i]);
}

struct answer {
	const struct fleet *m;
	const struct fleet_spec *spec;
	struct arena arena;
	struct table tables[FLEET_TABLES + 1];
	size_t fixed[FLEET_TABLES + 1];
};

static bool is_asked(const struct answer *a, int at)
{
	return at == FLEET_GROUPS || fleet_is_asked(a->spec, at);
}

static void put_damage(const struct fleet_sum *sum, FILE *out)
{
	char n[UNITS_BUF];

	fprintf(out, "# quality: lost %s",
		units_count(n, sum->damage[DAMAGE_LOST] + sum->damage[DAMAGE_LOST + 1]));
	for (size_t i = 0; query_damage_figures[i].key; i++)
		if (query_damage_figures[i].words && sum->damage[i])
			fprintf(out, ", %s %s", units_count(n, sum->damage[i]),
				query_damage_figures[i].words);
	fputc('\n', out);
}

static void put_when(const struct fleet_sum *sum, FILE *out)
{
	char from[WHEN_BUF], to[WHEN_BUF];

	if (sum->from_wall_ns)
		fprintf(out, "# from %s to %s\n", when_date(from, sum->from_wall_ns, 0),
			when_date(to, sum->to_wall_ns, 0));
}

void fleet_sum_text(const struct fleet_sum *sum, FILE *out)
{
	char n[UNITS_BUF], waited[UNITS_BUF], measured[UNITS_BUF];

	put_when(sum, out);
	fprintf(out, "# %s waits, %s waited, in %s of measuring\n", units_count(n, sum->contended),
		units_ns(waited, sum->total_ns), units_ns(measured, sum->measured_ns));
	put_damage(sum, out);
	if (sum->no_locks)
		fprintf(out, "# recordings without lock events: %" PRIu64 "\n", sum->no_locks);
	if (sum->trusted)
		fprintf(out, "# files whose names are trusted by their paths alone: %" PRIu64 "\n",
			sum->trusted);
	if (sum->rows_folded)
		fprintf(out,
			"# %" PRIu64
			" rows of recordings had no room of their own: they are in (other)\n",
			sum->rows_folded);
}

void fleet_only_text(const struct fleet_spec *s, FILE *out)
{
	if (s->only && *s->only) {
		fputs(", only ", out);
		report_text_clean(s->only, out);
	}
	fputc('\n', out);
}

static void put_folded(const struct answer *a, const struct fleet_sum *sum, FILE *out)
{
	if (sum->groups_folded)
		fprintf(out, "# so are %" PRIu64 " %s\n", sum->groups_folded,
			fleet_table_name(FLEET_GROUPS, a->spec->by));
	if (sum->no_cgroups)
		fprintf(out,
			"# services are not available for %" PRIu64
			" recordings, which have no cgroups of tasks\n",
			sum->no_cgroups);
	if (a->spec->by == FLEET_BY_SERVICE)
		fputs("# hot, slots and uprobes are measured for whole machines, not for "
		      "services\n",
		      out);
}

static void put_head(const struct answer *a, FILE *out)
{
	const struct fleet_sum *sum = fleet_sum(a->m);

	fprintf(out, "# kontend merge by %s", fleet_by_name(a->spec->by));
	fleet_only_text(a->spec, out);
	fprintf(out,
		"# %" PRIu64 " of %" PRIu64 " recordings, machines %" PRIu64 ", kernels %" PRIu64
		"\n",
		sum->recordings, a->spec->given.n, sum->machines, sum->kernels);
	fleet_faults_text(&a->spec->given, out);
	report_sandbox_text(a->spec->sandbox, out);
	fleet_sum_text(sum, out);
	put_folded(a, sum, out);
}

static void put_title(const struct answer *a, int at, FILE *out)
{
	const struct table *t = &a->tables[at];
	const char *rule = fleet_table_rule((enum fleet_at)at);

	fprintf(out, "#\n# %s, ", t->name);
	report_text_count(t, "rows", out);
	if (at != FLEET_GROUPS)
		fprintf(out, "# the same by: %s; columns of %s: %s\n", rule,
			fleet_table_name(FLEET_GROUPS, a->spec->by), t->columns[0].key);
}

static void put_text(const void *answer, FILE *out)
{
	const struct answer *a = answer;
	const struct report_spec look = {.ascii = a->spec->ascii, .width = a->spec->width};

	put_head(a, out);
	for (int i = FLEET_TABLES; i >= 0; i--) {
		/* The groups come first. */
		int at = i == FLEET_TABLES ? FLEET_GROUPS : FLEET_TABLES - 1 - i;

		if (!a->tables[at].n_rows)
			continue;
		put_title(a, at, out);
		report_text_table(&a->tables[at], &look, out);
	}
}

int fleet_csv_table(const struct fleet_spec *s, int otherwise)
{
	for (int at = 0; at < FLEET_TABLES; at++)
		otherwise = s->tables & 1u << at ? at : otherwise;
	return otherwise;
}

void fleet_numbers_json(const struct fleet_given *g, const struct fleet_sum *sum, struct jsonw *j)
{
	jsonw_u64(j, "given", g->n);
	jsonw_u64(j, "added", sum->recordings);
	for (int i = 0; i < FLEET_FAULTS; i++)
		jsonw_u64(j, faults[i].key, g->faults[i]);
	jsonw_u64(j, "machines", sum->machines);
	jsonw_u64(j, "kernels", sum->kernels);
	if (sum->from_wall_ns) {
		jsonw_u64(j, "from_wall_ns", sum->from_wall_ns);
		jsonw_u64(j, "to_wall_ns", sum->to_wall_ns);
	} else {
		jsonw_null(j, "from_wall_ns");
		jsonw_null(j, "to_wall_ns");
	}
	jsonw_u64(j, "measured_ns", sum->measured_ns);
	jsonw_u64(j, "contended", sum->contended);
	jsonw_u64(j, "total_ns", sum->total_ns);
	jsonw_u64(j, "rows_folded", sum->rows_folded);
	jsonw_u64(j, "groups_folded", sum->groups_folded);
	jsonw_u64(j, "without_cgroups", sum->no_cgroups);
	jsonw_u64(j, "without_locks", sum->no_locks);
	jsonw_u64(j, "trusted", sum->trusted);
	for (size_t i = 0; i <= DAMAGE_DEEP; i++)
		jsonw_u64(j, query_damage_figures[i].key, sum->damage[i]);
}

static bool is_listed(const struct column *c)
{
	return c->flags & COLUMN_REPORT || table_is_bucket(c);
}

static void put_row(struct jsonw *j, const struct table *t, size_t row, size_t fixed)
{
	jsonw_begin(j, NULL, '{', true);
	for (size_t col = 0; col < fixed; col++)
		if (is_listed(&t->columns[col]))
			report_json_value(j, &t->columns[col], table_value(t, row, col));
	if (fixed < t->n_columns)
		jsonw_begin(j, "of", '[', true);
	for (size_t col = fixed; col < t->n_columns; col++)
		if (t->columns[col].flags & COLUMN_REPORT)
			jsonw_u64(j, NULL, table_value(t, row, col)->u);
	if (fixed < t->n_columns)
		jsonw_end(j, ']');
	jsonw_end(j, '}');
}

void fleet_table_json(const struct table *t, size_t fixed, enum fleet_at at, const char *key,
		      struct jsonw *j)
{
	jsonw_begin(j, key, '{', false);
	jsonw_str(j, "same_by", fleet_table_rule(at));
	jsonw_u64(j, "total_rows", t->n_total);
	jsonw_begin(j, "rows", '[', false);
	for (size_t row = 0; row < t->n_rows; row++)
		put_row(j, t, row, fixed);
	jsonw_end(j, ']');
	jsonw_end(j, '}');
}

static void put_table(struct jsonw *j, const struct answer *a, int at, const char *key)
{
	fleet_table_json(&a->tables[at], a->fixed[at], (enum fleet_at)at, key, j);
}

void fleet_about_json(const struct fleet_spec *s, struct jsonw *j)
{
	if (s->only && *s->only)
		jsonw_str(j, "only", s->only);
	report_sandbox_json(s->sandbox, j);
}

/* The columns that the lists "of" in rows are about; they are the same in all tables. */
static void put_columns(struct jsonw *j, const struct answer *a)
{
	int at = 0;

	while (at < FLEET_TABLES - 1 && !is_asked(a, at))
		at++;
	const struct table *t = &a->tables[at];
	jsonw_begin(j, "columns", '[', true);
	for (size_t col = a->fixed[at]; col < t->n_columns; col++)
		if (t->columns[col].flags & COLUMN_REPORT)
			jsonw_str(j, NULL, t->columns[col].key);
	jsonw_end(j, ']');
}

static void put_json(const void *answer, struct jsonw *j)
{
	const struct answer *a = answer;
	const struct fleet_spec *s = a->spec;

	jsonw_str(j, "by", fleet_by_name(s->by));
	fleet_about_json(s, j);
	fleet_numbers_json(&s->given, fleet_sum(a->m), j);
	put_columns(j, a);
	put_table(j, a, FLEET_GROUPS, "groups");
	jsonw_begin(j, "tables", '{', false);
	for (int at = 0; at < FLEET_TABLES; at++)
		if (is_asked(a, at))
			put_table(j, a, at, fleet_table_name((enum fleet_at)at, s->by));
	jsonw_end(j, '}');
}

static int ask_tables(struct answer *a, struct error *err)
{
	for (int at = 0; at <= FLEET_TABLES; at++) {
		if (!is_asked(a, at))
			continue;
		if (fleet_table(a->m, (enum fleet_at)at, a->spec->limit, &a->arena, &a->tables[at],
				&a->fixed[at]) < 0)
			return error_enomem(err, "the sums");
	}
	return 0;
}

int fleet_report_write(const struct fleet *m, const struct fleet_spec *s, FILE *out,
		       struct error *err)
{
	struct answer a = {.m = m, .spec = s};
	int r = ask_tables(&a, err);

	const struct report_out o = {.format = s->format,
				     .what = "the merged sums",
				     .schema = "kontend.merge/1",
				     .answer = &a,
				     .text = put_text,
				     .json = put_json,
				     .table = &a.tables[fleet_csv_table(s, FLEET_GROUPS)],
				     .csv_separator = s->csv_separator};
	if (r == 0)
		r = report_out(&o, out, err);
	arena_deinit(&a.arena);
	return r;
}
