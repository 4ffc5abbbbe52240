// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which holders tasks wait for, and what those holders did meanwhile. The parts that make up all
 * waiting time are printed above the tables, so that a reader sees first how much is unknown.
 */
#include "internal.h"
#include "kontend/units.h"

static bool has_set(const struct report_data *d, enum blame_set set)
{
	static const enum report_view views[] = {REPORT_BLAME, REPORT_HELD, REPORT_DID};

	return report_has(d, views[set]);
}

/* In JSON all sets are one table. It is ordered by the set whose keys --sort and the like have. */
static enum blame_set json_set(const struct report_data *d)
{
	const struct query_spec *s = &d->spec->query;
	bool first = s->sort || s->filter || d->spec->fields;

	if (!first && has_set(d, BLAME_WAITS))
		return BLAME_WAITS;
	if (has_set(d, BLAME_HELD))
		return BLAME_HELD;
	return has_set(d, BLAME_WAITS) ? BLAME_WAITS : BLAME_DID;
}

static struct query_blame_spec spec_of(const struct report_data *d, enum blame_set set)
{
	const struct report_spec *s = d->spec;
	bool all = s->format == REPORT_JSON, chosen = s->is_blame_by;

	if (chosen && !all && !query_blame_has(set, s->blame_by))
		chosen = false;
	return (struct query_blame_spec){
		.by = chosen ? s->blame_by : query_blame_default(set), .set = set, .all = all};
}

static int ask_set(struct report_data *d, enum blame_set set, const struct query_spec *s,
		   struct table *ret, struct error *err)
{
	const struct query_blame_spec b = spec_of(d, set);
	int r = 0;

	if (b.all && set != json_set(d))
		return 0;
	if (b.all || set != BLAME_HELD)
		r = query_blame_sum(d->q, &d->blamed.sum);
	if (r == 0 && (b.all || set == BLAME_HELD))
		r = query_held_sum(d->q, &d->blamed.held);
	if (r == 0 && (b.all || set == BLAME_HELD))
		r = query_held_handed(d->q, &d->blamed.handed);
	if (r == 0 && (b.all || set == BLAME_WAITS))
		r = query_knots(d->q, QUERY_KNOTS_MOST, &d->blamed.knots);
	return r < 0 ? r : query_blame(d->q, &b, s, ret, err);
}

int report_blame_ask(struct report_data *d, const struct query_spec *s, struct error *err)
{
	return ask_set(d, BLAME_WAITS, s, &d->blame, err);
}

int report_held_ask(struct report_data *d, const struct query_spec *s, struct error *err)
{
	return ask_set(d, BLAME_HELD, s, &d->held, err);
}

int report_did_ask(struct report_data *d, const struct query_spec *s, struct error *err)
{
	return ask_set(d, BLAME_DID, s, &d->did, err);
}

static void put_part(const char **comma, uint64_t ns, const char *what, FILE *out)
{
	char buf[UNITS_BUF];

	if (!ns)
		return;
	fprintf(out, "%s%s %s", *comma, units_ns(buf, ns), what);
	*comma = ", ";
}

static void put_sum(const struct query_blame_sum *s, FILE *out)
{
	char buf[UNITS_BUF], tasks[64];
	const char *comma = ": ";

	fprintf(out, "# %s waited", units_ns(buf, s->waited_ns));
	snprintf(tasks, sizeof(tasks), "because of %s task%s", units_count(buf, s->tasks),
		 s->tasks == 1 ? "" : "s");
	put_part(&comma, s->tasks_ns, tasks, out);
	put_part(&comma, s->readers_ns, "because of readers not known by name", out);
	put_part(&comma, s->others_ns, "because of holders that are forgotten", out);
	put_part(&comma, s->unknown_ns, "holder not known", out);
	if (s->waited_ns)
		fprintf(out, "; followed %s%%",
			units_pct(buf, 100 * (double)s->followed_ns / (double)s->waited_ns));
	if (s->doubtful_known && s->doubtful_ns)
		fprintf(out, "; not counted: %s of waits whose end was lost",
			units_ns(buf, s->doubtful_ns));
	fputc('\n', out);
	if (s->not_followed)
		fprintf(out, "# %s times a holder could not be followed\n",
			units_count(buf, s->not_followed));
	if (s->folded)
		fprintf(out,
			"# %s rows were folded for lack of room: their sums are in the others\n",
			units_count(buf, s->folded));
}

static void put_table(const struct report_data *d, const struct table *t, const char *title,
		      enum query_blame_by by, FILE *out)
{
	fprintf(out, "#\n# %s, by %s: ", title, query_blame_by_name(by));
	report_text_count(t, "rows", out);
	if (d->blamed.sum.refused) {
		fprintf(out, "# not known: %s\n", d->blamed.sum.refused);
		return;
	}
	put_sum(&d->blamed.sum, out);
	if (t == &d->blame)
		report_knots_text(d, out);
	if (t->n_total)
		report_text_table(t, d->spec, out);
}

/* "held while others waited, at most, by task: ", or exactly, as far as releases are known. */
static void put_held_title(const struct report_data *d, FILE *out)
{
	const struct query_held_sum *s = &d->blamed.held;
	char a[UNITS_BUF], b[UNITS_BUF];

	fputs("#\n# held while others waited, ", out);
	if (s->exact && s->exact == s->known)
		fputs("exactly", out);
	else if (s->exact)
		fprintf(out, "%s of %s times exactly, others at most", units_count(a, s->exact),
			units_count(b, s->known));
	else
		fputs("at most", out);
	fprintf(out, ", by %s: ", query_blame_by_name(spec_of(d, BLAME_HELD).by));
	report_text_count(&d->held, "rows", out);
}

/* Only where the kernel reports releases. */
static void put_handed(const struct report_data *d, FILE *out)
{
	const struct query_handed *h = &d->blamed.handed;
	char n[UNITS_BUF], a[UNITS_BUF], b[UNITS_BUF], c[UNITS_BUF];

	if (h->n)
		fprintf(out,
			"# %s hand-overs, from a release until the next one had the lock: half "
			"within %s, "
			"99 %% within %s, the longest %s\n",
			units_count(n, h->n), units_ns(a, h->p50_ns), units_ns(b, h->p99_ns),
			units_ns(c, h->max_ns));
}

static void put_held(const struct report_data *d, FILE *out)
{
	const struct query_held_sum *s = &d->blamed.held;
	char a[UNITS_BUF], b[UNITS_BUF];

	put_held_title(d, out);
	fprintf(out, "# %s of %s contended locks went to a task that waited already",
		units_count(a, s->known), units_count(b, s->got));
	fprintf(out, "; %s of %s waited is charged to holders", units_ns(a, s->charged_ns),
		units_ns(b, s->waited_ns));
	if (s->doubtful_known && s->doubtful_ns)
		fprintf(out, "; not counted: %s of waits whose end was lost",
			units_ns(a, s->doubtful_ns));
	fputc('\n', out);
	put_handed(d, out);
	if (d->held.n_total)
		report_text_table(&d->held, d->spec, out);
}

void report_blame_text(const struct report_data *d, FILE *out)
{
	if (has_set(d, BLAME_HELD))
		put_held(d, out);
	if (has_set(d, BLAME_WAITS))
		put_table(d, &d->blame, "holders that tasks waited for", spec_of(d, BLAME_WAITS).by,
			  out);
	if (has_set(d, BLAME_DID))
		put_table(d, &d->did, "what holders did while others waited",
			  spec_of(d, BLAME_DID).by, out);
}

static void put_handed_json(const struct report_data *d, struct jsonw *j)
{
	const struct query_handed *h = &d->blamed.handed;

	if (!query_held_has_releases(d->q)) {
		jsonw_null(j, "handovers");
		return;
	}
	jsonw_begin(j, "handovers", '{', false);
	jsonw_u64(j, "n", h->n);
	if (h->n) {
		jsonw_u64(j, "p50_ns", h->p50_ns);
		jsonw_u64(j, "p99_ns", h->p99_ns);
		jsonw_u64(j, "max_ns", h->max_ns);
	}
	jsonw_end(j, '}');
}

static void put_held_json(const struct report_data *d, struct jsonw *j)
{
	const struct query_held_sum *s = &d->blamed.held;

	jsonw_begin(j, "held", '{', false);
	jsonw_u64(j, "got", s->got);
	jsonw_u64(j, "known", s->known);
	jsonw_u64(j, "waited_ns", s->waited_ns);
	jsonw_u64(j, "exact", s->exact);
	jsonw_u64(j, "charged_ns", s->charged_ns);
	if (s->doubtful_known)
		jsonw_u64(j, "doubtful_ns", s->doubtful_ns);
	else
		jsonw_null(j, "doubtful_ns");
	put_handed_json(d, j);
	jsonw_end(j, '}');
}

void report_blame_json(const struct report_data *d, struct jsonw *j)
{
	const struct table *tables[] = {&d->blame, &d->held, &d->did};
	const struct query_blame_spec b = spec_of(d, json_set(d));
	const struct query_blame_sum *s = &d->blamed.sum;
	const struct table *t = tables[b.set];

	report_json_head(j, t, query_blame_by_name(b.by));
	jsonw_bool(j, "known", !s->refused);
	jsonw_str(j, "reason", s->refused);
	jsonw_u64(j, "waited_ns", s->waited_ns);
	jsonw_u64(j, "tasks", s->tasks);
	jsonw_u64(j, "tasks_ns", s->tasks_ns);
	jsonw_u64(j, "readers_ns", s->readers_ns);
	jsonw_u64(j, "forgotten_ns", s->others_ns);
	jsonw_u64(j, "unknown_ns", s->unknown_ns);
	jsonw_u64(j, "followed_ns", s->followed_ns);
	jsonw_u64(j, "not_followed", s->not_followed);
	if (s->doubtful_known)
		jsonw_u64(j, "doubtful_ns", s->doubtful_ns);
	else
		jsonw_null(j, "doubtful_ns");
	jsonw_u64(j, "lost_ns", s->lost_ns);
	jsonw_u64(j, "folded", s->folded);
	put_held_json(d, j);
	report_knots_json(d, j);
	report_json_rows(j, "rows", t);
	jsonw_end(j, '}');
}
