// SPDX-License-Identifier: GPL-2.0-only
/* Two groups of recordings beside each other, as text, CSV or JSON. */
#include "fleet-int.h"
#include "format.h"
#include "kontend/units.h"

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

static bool is_asked(const struct answer *a, int at)
{
	return !a->spec->tables || a->spec->tables & 1u << at;
}

static void put_side(const struct answer *a, int side, FILE *out)
{
	const struct fleet_side *s = a->sides[side];
	const struct fleet_sum *sum = fleet_sum(s->m);
	char n[UNITS_BUF], waited[UNITS_BUF], measured[UNITS_BUF];

	fprintf(out,
		"# %s (%c): %" PRIu64 " of %" PRIu64 " recordings, machines %" PRIu64
		", kernels %" PRIu64 "\n",
		names[side], 'A' + side, sum->recordings, s->given.n, sum->machines, sum->kernels);
	fleet_faults_text(&s->given, out);
	fleet_when_text(sum, out);
	fprintf(out, "# %s waits, %s waited, in %s of measuring\n", units_count(n, sum->contended),
		units_ns(waited, sum->total_ns), units_ns(measured, sum->measured_ns));
	fleet_damage_text(sum, out);
	if (sum->rows_folded)
		fprintf(out,
			"# %" PRIu64
			" rows of recordings had no room of their own: they are in (other)\n",
			sum->rows_folded);
	if (sum->groups_folded)
		fprintf(out, "# they are too many to be told apart: change is not known\n");
}

static void put_text(const struct answer *a, FILE *out)
{
	const struct report_spec look = {.ascii = a->spec->ascii, .width = a->spec->width};
	char note[200];
	const char *sandbox = sandbox_note(a->spec->sandbox, note, sizeof(note));

	fputs("# kontend diff of two groups of recordings", out);
	if (a->spec->only && *a->spec->only) {
		fputs(", only ", out);
		report_text_clean(a->spec->only, out);
	}
	fputc('\n', out);
	for (int side = 0; side < SIDES; side++)
		put_side(a, side, out);
	if (sandbox)
		fprintf(out, "# %s\n", sandbox);
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

static void put_csv(const struct answer *a, FILE *out)
{
	int only = FLEET_LOCKS;

	for (int at = 0; at < FLEET_TABLES; at++)
		only = a->spec->tables & 1u << at ? at : only;
	report_csv_table(&a->tables[only], a->spec->csv_separator, out);
}

static void put_table(struct jsonw *j, const struct table *t, int at)
{
	jsonw_begin(j, t->name, '{', false);
	jsonw_str(j, "same_by", fleet_table_rule((enum fleet_at)at));
	jsonw_u64(j, "total_rows", t->n_total);
	jsonw_begin(j, "rows", '[', false);
	for (size_t row = 0; row < t->n_rows; row++) {
		jsonw_begin(j, NULL, '{', true);
		for (size_t col = 0; col < t->n_columns; col++)
			if (t->columns[col].flags & COLUMN_REPORT)
				report_json_value(j, &t->columns[col], table_value(t, row, col));
		jsonw_end(j, '}');
	}
	jsonw_end(j, ']');
	jsonw_end(j, '}');
}

static void put_json(const struct answer *a, FILE *out)
{
	const struct fleet_spec *s = a->spec;
	struct jsonw j = {.out = out};

	jsonw_begin(&j, NULL, '{', false);
	jsonw_str(&j, "schema", "kontend.compared/1");
	if (s->only && *s->only)
		jsonw_str(&j, "only", s->only);
	if (sandbox_name(s->sandbox))
		jsonw_str(&j, "sandbox", sandbox_name(s->sandbox));
	if (sandbox_name(s->sandbox) && *s->sandbox->why)
		jsonw_str(&j, "sandbox_lacks", s->sandbox->why);
	for (int side = 0; side < SIDES; side++) {
		const struct fleet_sum *sum = fleet_sum(a->sides[side]->m);
		jsonw_begin(&j, names[side], '{', false);
		jsonw_u64(&j, "given", a->sides[side]->given.n);
		jsonw_u64(&j, "added", sum->recordings);
		fleet_faults_json(&a->sides[side]->given, &j);
		fleet_numbers_json(sum, &j);
		jsonw_end(&j, '}');
	}
	jsonw_begin(&j, "tables", '{', false);
	for (int at = 0; at < FLEET_TABLES; at++)
		if (is_asked(a, at))
			put_table(&j, &a->tables[at], at);
	jsonw_end(&j, '}');
	jsonw_end(&j, '}');
}

static int ask(struct answer *a, struct error *err)
{
	for (int at = 0; at < FLEET_TABLES; at++)
		if (is_asked(a, at) &&
		    fleet_compare(a->sides[BEFORE]->m, a->sides[AFTER]->m, (enum fleet_at)at,
				  a->spec->limit, &a->arena, &a->tables[at]) < 0)
			return error_set(err, -ENOMEM,
					 "Cannot compare: out of memory, end other programs");
	return 0;
}

int fleet_report_diff(const struct fleet_side *before, const struct fleet_side *after,
		      const struct fleet_spec *s, FILE *out, struct error *err)
{
	struct answer a = {.sides = {before, after}, .spec = s};
	int r = ask(&a, err);

	if (r == 0) {
		errno = 0;
		if (s->format == REPORT_JSON)
			put_json(&a, out);
		else if (s->format == REPORT_CSV)
			put_csv(&a, out);
		else
			put_text(&a, out);
		if (fflush(out) != 0 || ferror(out))
			r = error_errno(err, errno ? -errno : -EIO,
					"Cannot write all that was compared");
	}
	arena_deinit(&a.arena);
	return r;
}
