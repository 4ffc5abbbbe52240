// SPDX-License-Identifier: GPL-2.0-only
/* The most effective remedies, printed above the blame table: one sentence for each knot. */
#include "internal.h"
#include "kontend/units.h"

#include <inttypes.h>

static double share(uint64_t part, uint64_t all)
{
	return all ? 100 * (double)part / (double)all : 0;
}

static void put_left_out(const struct query_knots *k, FILE *out)
{
	char edges[UNITS_BUF], pct[UNITS_BUF];

	if (k->weak_edges)
		fprintf(out,
			"; %s of %" PRIu64
			" edges left out, of less than %d%% each: %s%% of the waiting",
			units_count(edges, k->weak_edges), k->edges, QUERY_KNOTS_PCT,
			units_pct(pct, share(k->weak_ns, k->waited_ns)));
	if (k->merged)
		fprintf(out, "; %s tasks taken together by name", units_count(edges, k->merged));
	fputc('\n', out);
}

void report_knots_text(const struct report_data *d, FILE *out)
{
	const struct query_knots *k = &d->blamed.knots;
	char pct[UNITS_BUF];

	if (k->refused || !k->waited_ns)
		return;
	fprintf(out, "# what would help most, by knots of who waits for whom: %" PRIu64 " found",
		k->found);
	if (k->unknown_ns)
		fprintf(out, "; %s%% of the waiting ends with holders not known by name",
			units_pct(pct, share(k->unknown_ns, k->waited_ns)));
	put_left_out(k, out);
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

void report_knots_json(const struct report_data *d, struct jsonw *j)
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
