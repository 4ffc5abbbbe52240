// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which holders tasks wait for, and what those holders did meanwhile. The parts that make up all
 * waiting time are printed above the tables, so that a reader sees first how much is unknown; so
 * are the most effective remedies, one sentence for each knot.
 */
#include "internal.h"
#include "kontend/units.h"

#include <inttypes.h>

static double knot_share(uint64_t part, uint64_t all)
{
	return all ? 100 * (double)part / (double)all : 0;
}

static void put_knots_left_out(const struct query_knots *k, FILE *out)
{
	char edges[UNITS_BUF], pct[UNITS_BUF];

	if (k->weak_edges)
		fprintf(out,
			"; %s of %" PRIu64
			" edges left out, of less than %d%% each: %s%% of the waiting",
			units_count(edges, k->weak_edges), k->edges, QUERY_KNOTS_PCT,
			units_pct(pct, knot_share(k->weak_ns, k->waited_ns)));
	if (k->merged)
		fprintf(out, "; %s tasks taken together by name", units_count(edges, k->merged));
	fputc('\n', out);
}

static void put_knots_text(const struct report_data *d, FILE *out)
{
	const struct query_knots *k = &d->blamed.knots;
	char pct[UNITS_BUF];

	if (k->refused || !k->waited_ns)
		return;
	fprintf(out, "# what would help most, by knots of who waits for whom: %" PRIu64 " found",
		k->found);
	if (k->unknown_ns)
		fprintf(out, "; %s%% of the waiting ends with holders not known by name",
			units_pct(pct, knot_share(k->unknown_ns, k->waited_ns)));
	put_knots_left_out(k, out);
	for (size_t i = 0; i < k->n; i++) {
		const char *text = query_knots_sentence(d->q, &k->knots[i]);
		fprintf(out, "#  %zu. ", i + 1);
		report_text_clean(text ? text : "", out);
		fputc('\n', out);
	}
}

static void put_knot(const struct report_data *d, const struct query_knot *k, struct jsonw *j)
{
	jsonw_begin(j, NULL, '{', true);
	jsonw_str(j, "sentence", query_knots_sentence(d->q, k));
	jsonw_u64(j, "waited_ns", k->waited_ns);
	jsonw_u64(j, "open_ns", k->open_ns);
	jsonw_double(j, "waited_pct", k->waited_pct);
	jsonw_double(j, "at_most_pct", k->at_most_pct);
	jsonw_u64(j, "tasks", k->tasks);
	jsonw_begin(j, "names", '[', true);
	for (size_t i = 0; i < k->n_names; i++)
		jsonw_str(j, NULL, k->names[i]);
	jsonw_end(j, ']');
	jsonw_bool(j, "circle", k->circle);
	jsonw_str(j, "kind", k->kind);
	jsonw_str(j, "name", k->lock);
	jsonw_bool(j, "many_locks", k->many_locks);
	if (k->addr)
		jsonw_hex(j, "lock", k->addr);
	else
		jsonw_null(j, "lock");
	jsonw_str(j, "caller", k->caller);
	jsonw_str(j, "stack", k->stack);
	jsonw_str(j, "mostly", k->mostly);
	jsonw_str(j, "mostly_state", k->mostly_state);
	jsonw_double(j, "mostly_pct", k->mostly_pct);
	jsonw_str(j, "mostly_who", k->mostly_who);
	jsonw_str(j, "mostly_in", k->mostly_in);
	jsonw_str(j, "mostly_what", k->mostly_what);
	jsonw_end(j, '}');
}

static void put_knots_json(const struct report_data *d, struct jsonw *j)
{
	const struct query_knots *k = &d->blamed.knots;

	jsonw_begin(j, "knots", '{', false);
	jsonw_u64(j, "found", k->found);
	jsonw_u64(j, "nodes", k->nodes);
	jsonw_u64(j, "edges", k->edges);
	jsonw_u64(j, "weak_edges", k->weak_edges);
	jsonw_u64(j, "weak_ns", k->weak_ns);
	jsonw_u64(j, "merged", k->merged);
	jsonw_u64(j, "waited_ns", k->waited_ns);
	jsonw_u64(j, "unknown_ns", k->unknown_ns);
	jsonw_begin(j, "strongest", '[', false);
	for (size_t i = 0; i < k->n; i++)
		put_knot(d, &k->knots[i], j);
	jsonw_end(j, ']');
	jsonw_end(j, '}');
}

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
	if ((b.all || set != BLAME_HELD) && !d->blamed.is_summed) {
		r = query_blame_sum(d->q, &d->blamed.sum);
		d->blamed.is_summed = r >= 0;
	}
	if (r == 0 && (b.all || set == BLAME_HELD))
		r = query_blame_held_sum(d->q, &d->blamed.held);
	if (r == 0 && (b.all || set == BLAME_HELD))
		r = query_blame_handed(d->q, &d->blamed.handed);
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
		put_knots_text(d, out);
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

	if (!query_blame_has_releases(d->q)) {
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
	put_knots_json(d, j);
	report_json_rows(j, "rows", t);
	jsonw_end(j, '}');
}
