// SPDX-License-Identifier: GPL-2.0-only
/*
 * Breakpoint slots, perf events and contexts in reports. What is said beside the tables, as these
 * are of one moment: when and how it was found out, what that costs, and what is missing and why.
 * In JSON that is the member `perf` of `source`, whatever views are asked for, since it says how
 * far to trust the rest, as `source` does of everything else.
 */
#include "kontend/text.h"
#include "kontend/units.h"
#include "report-int.h"

static void put_clean(FILE *out, const char *text)
{
	char buf[1024];

	fputs(text_clean(buf, sizeof(buf), text), out);
}

const char *report_perf_by(const struct report_data *d)
{
	return d->spec->query.by == BY_PROCESS ? "process" : "context";
}

/* "2 of 8 used", or what of it is known. */
static void put_slots_used(const struct query_perf_sum *p, FILE *out)
{
	bool tasks = !(p->missing & SNAP_NO_TASK_MAX);

	if (p->slots_known)
		fprintf(out, "%s%u of %u slots used", tasks ? "" : "at least ", p->used, p->slots);
	else
		fputs("slots not known", out);
}

static void put_opened(const struct query_perf_sum *p, FILE *out)
{
	char a[UNITS_BUF];

	if (p->opened_known)
		fprintf(out, ", %s perf events created/s", units_rate(a, p->opened_per_s));
}

static void put_look(const struct query_perf_sum *p, enum query_perf_part part, FILE *out)
{
	uint64_t age = p->look[part].age_ns;
	char a[UNITS_BUF], cost[96];

	fprintf(out, "by %s, %s%s, %s", query_perf_method_name(p->method),
		age ? units_ns(a, age) : "", age ? " before the end" : "at the end",
		query_perf_cost_text(p, part, true, cost, sizeof(cost)));
}

static void put_damage(const struct query_perf_look *l, FILE *out)
{
	if (l->incomplete)
		fprintf(out, "# %u lists changed while they were read: rows may be missing\n",
			l->incomplete);
	if (l->dropped)
		fprintf(out,
			"# %u events, contexts or descriptors were left out for lack of room\n",
			l->dropped);
}

static void put_missing(const struct report_data *d, FILE *out)
{
	const struct query_perf_sum *p = &d->perf;

	if (!p->missing)
		return;
	fprintf(out, "# not known: %s", query_perf_missing_text(d->q, p->missing));
	if (*p->reason) {
		fputs(": ", out);
		put_clean(out, p->reason);
	}
	fputc('\n', out);
}

static void put_waits(const struct report_data *d, FILE *out)
{
	const struct query_perf_waits *w = &d->slot_waits;
	char a[UNITS_BUF], b[UNITS_BUF], c[UNITS_BUF];

	if (!w->caller) {
		fputs("# nobody waited for the slots' locks\n", out);
		return;
	}
	fprintf(out, "# waits for the slots' locks: %s/s, %s/s, worst %s, most in ",
		units_rate(a, w->per_s), units_nsrate(b, w->wait_ns_per_s), units_ns(c, w->max_ns));
	put_clean(out, w->caller);
	fputc('\n', out);
}

static void put_rows(const struct report_data *d, const char *what, const struct table *t,
		     uint32_t needs, FILE *out)
{
	report_text_rows(d->spec, what, t, d->perf.missing & needs, out);
}

void report_perf_text_sum(const struct report_data *d, FILE *out)
{
	const struct query_perf_sum *p = &d->perf;

	if (!p->known)
		return;
	fputs("# breakpoints: ", out);
	put_slots_used(p, out);
	if (!(p->missing & SNAP_NO_EVENTS))
		fprintf(out,
			"; perf events: %u in %u contexts (and %u of kontend), %u short of time",
			p->events, p->contexts, p->own, p->starved);
	put_opened(p, out);
	fputs("; ", out);
	put_look(p, QUERY_PERF_SLOTS, out);
	fputc('\n', out);
}

static void put_title(const struct report_data *d, FILE *out)
{
	const struct query_perf_sum *p = &d->perf;
	bool slots = report_has(d, REPORT_SLOTS) || report_has(d, REPORT_HOLDERS);
	enum query_perf_part part = slots ? QUERY_PERF_SLOTS : QUERY_PERF_EVENTS;
	char a[UNITS_BUF];

	fprintf(out, "#\n# %s", slots ? "breakpoint slots" : "perf contexts");
	if (!p->known) {
		fputs(": ", out);
		put_clean(out, p->reason);
		fputc('\n', out);
		return;
	}
	fputc(' ', out);
	put_look(p, part, out);
	if (slots) {
		fputs(": ", out);
		put_slots_used(p, out);
	} else if (!(p->missing & SNAP_NO_EVENTS)) {
		fprintf(out, ": %u events of others, %u of kontend, %u short of time", p->events,
			p->own, p->starved);
	}
	put_opened(p, out);
	fputc('\n', out);
	put_damage(&p->look[part], out);
	if (p->ended_more)
		fprintf(out, "# %s more contexts and breakpoints ended, and are not listed\n",
			units_count(a, p->ended_more));
	put_missing(d, out);
}

void report_perf_text(const struct report_data *d, FILE *out)
{
	unsigned any = REPORT_SLOTS | REPORT_HOLDERS | REPORT_CONTEXTS | REPORT_EVENTS;

	if (!(d->views & any))
		return;
	put_title(d, out);
	if (report_has(d, REPORT_SLOTS))
		put_waits(d, out);
	if (!d->perf.known)
		return;
	if (report_has(d, REPORT_SLOTS))
		put_rows(d, "slots", &d->slots, SNAP_NO_SLOTS, out);
	if (report_has(d, REPORT_HOLDERS))
		put_rows(d, "holders", &d->holders, SNAP_NO_HOLDERS, out);
	if (report_has(d, REPORT_CONTEXTS))
		put_rows(d, d->spec->query.by == BY_PROCESS ? "contexts by process" : "contexts",
			 &d->contexts, SNAP_NO_CONTEXTS, out);
	if (report_has(d, REPORT_EVENTS))
		put_rows(d, "events", &d->events, SNAP_NO_EVENTS, out);
}

static void put_u64_if(struct jsonw *j, const char *key, uint64_t v, bool known)
{
	if (known)
		jsonw_u64(j, key, v);
	else
		jsonw_null(j, key);
}

static void put_double_if(struct jsonw *j, const char *key, double v, bool known)
{
	if (known)
		jsonw_double(j, key, v);
	else
		jsonw_null(j, key);
}

static void put_json_look(struct jsonw *j, const struct query_perf_look *l, bool known)
{
	put_u64_if(j, "age_ns", l->age_ns, known);
	put_u64_if(j, "interval_ns", l->interval_ns, known && l->interval_ns);
	put_u64_if(j, "cost_ns", l->cost_ns, known);
	put_double_if(j, "cost_ns_per_s", l->cost_per_s, l->cost_per_s > 0);
	jsonw_u64(j, "incomplete", l->incomplete);
	jsonw_u64(j, "dropped", l->dropped);
}

/* What is not known of what @needs says, which is all of it where nothing is. */
static uint32_t missing_of(const struct report_data *d, uint32_t needs)
{
	return (d->perf.known ? d->perf.missing : UINT32_MAX) & needs;
}

void report_perf_json_source(const struct report_data *d, struct jsonw *j)
{
	const struct query_perf_sum *p = &d->perf;

	jsonw_begin(j, "perf", '{', false);
	jsonw_str(j, "method", p->known ? query_perf_method_name(p->method) : NULL);
	put_json_look(j, &p->look[QUERY_PERF_SLOTS], p->known);
	jsonw_begin(j, "events", '{', true);
	put_json_look(j, &p->look[QUERY_PERF_EVENTS], p->known);
	jsonw_end(j, '}');
	report_json_missing(j, missing_of(d, UINT32_MAX), query_perf_missing_key, p->reason);
	jsonw_u64(j, "ended_more", p->ended_more);
	jsonw_end(j, '}');
}

void report_perf_json_sum(const struct report_data *d, struct jsonw *j)
{
	const struct query_perf_sum *p = &d->perf;
	bool events = p->known && !(p->missing & SNAP_NO_EVENTS);

	jsonw_begin(j, "perf", '{', false);
	put_u64_if(j, "slots", p->slots, p->slots_known);
	put_u64_if(j, "slots_used", p->used, p->slots_known);
	put_u64_if(j, "breakpoints", p->breakpoints, events);
	put_u64_if(j, "events", p->events, events);
	put_u64_if(j, "own_events", p->own, events);
	put_u64_if(j, "contexts", p->contexts, p->known && !(p->missing & SNAP_NO_CONTEXTS));
	put_u64_if(j, "rotating", p->rotating, p->known && !(p->missing & SNAP_NO_ROTATION));
	put_u64_if(j, "starved", p->starved, events && !(p->missing & SNAP_NO_ROTATION));
	put_double_if(j, "opened_per_s", p->opened_per_s, p->opened_known);
	jsonw_end(j, '}');
}

static void put_json_slots(const struct report_data *d, struct jsonw *j)
{
	const struct query_perf_waits *w = &d->slot_waits;

	report_json_head(j, &d->slots, NULL);
	report_json_missing(j, missing_of(d, SNAP_NO_SLOTS | SNAP_NO_TASK_MAX | SNAP_NO_REGISTERS),
			    query_perf_missing_key, d->perf.reason);
	jsonw_begin(j, "waits", '{', true);
	jsonw_u64(j, "contended", w->contended);
	jsonw_double(j, "cont_per_s", w->per_s);
	jsonw_double(j, "wait_ns_per_s", w->wait_ns_per_s);
	jsonw_u64(j, "total_ns", w->total_ns);
	jsonw_u64(j, "max_ns", w->max_ns);
	jsonw_u64(j, "waiting", w->waiting);
	jsonw_str(j, "caller", w->caller);
	jsonw_end(j, '}');
	report_json_rows(j, "rows", &d->slots);
	jsonw_end(j, '}');
}

static void put_json_part(const struct report_data *d, const struct table *t, const char *by,
			  uint32_t needs, struct jsonw *j)
{
	report_json_part(j, t, by, missing_of(d, needs), query_perf_missing_key, d->perf.reason);
}

void report_perf_json(const struct report_data *d, struct jsonw *j)
{
	if (report_has(d, REPORT_SLOTS))
		put_json_slots(d, j);
	if (report_has(d, REPORT_HOLDERS))
		put_json_part(d, &d->holders, NULL, SNAP_NO_EVENTS | SNAP_NO_HOLDERS, j);
	if (report_has(d, REPORT_CONTEXTS))
		put_json_part(d, &d->contexts, report_perf_by(d),
			      SNAP_NO_CONTEXTS | SNAP_NO_ROTATION, j);
	if (report_has(d, REPORT_EVENTS))
		put_json_part(d, &d->events, NULL, SNAP_NO_EVENTS | SNAP_NO_ROTATION, j);
}
