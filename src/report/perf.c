// SPDX-License-Identifier: GPL-2.0-only
/*
 * Breakpoint slots, perf events and contexts in reports. The tables are of one moment, so lines
 * above them say when and how it was read, what reading costs, and what is missing and why. JSON
 * has this as the member `perf` of `source`, whichever views the user chose, since it says how
 * reliable the rest is, like everything in `source`.
 */
#include "internal.h"
#include "kontend/locktype.h"
#include "kontend/units.h"

static const char *contexts_by(const struct report_data *d)
{
	enum query_by by = d->spec->query.by;

	return by == BY_PROCESS ? "process" : by == BY_CGROUP ? "cgroup" : "context";
}

static const char *contexts_title(const struct report_data *d)
{
	enum query_by by = d->spec->query.by;

	return by == BY_PROCESS	 ? "contexts by process"
	       : by == BY_CGROUP ? "contexts by cgroup"
				 : "contexts";
}

/* "2 of 8 used", or the part of it that is known. */
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

static void put_waits(const struct report_data *d, FILE *out)
{
	const struct query_perf_waits *w = &d->slot_waits;
	char a[UNITS_BUF], b[UNITS_BUF], c[UNITS_BUF];

	if (!w->caller) {
		fputs("# no task waited for the slots' locks\n", out);
		return;
	}
	fprintf(out, "# waits for the slots' locks: %s/s, %s tasks, worst %s%s, most in ",
		units_rate(a, w->per_s), units_tasks(b, w->wait_ns_per_s),
		!w->max_at_least ? ""
		: d->spec->ascii ? ">"
				 : "≥",
		units_ns(c, w->max_ns));
	report_text_clean(w->caller, out);
	fputc('\n', out);
	for (size_t i = 0; i < w->n_locks; i++) {
		const struct query_perf_lock *l = &w->locks[i];
		fputs("#   ", out);
		report_text_clean(l->name, out);
		fprintf(out, " (%s): %s waits, %s in all, worst %s\n", locktype_name(l->type),
			units_count(a, l->contended), units_ns(b, l->total_ns),
			units_ns(c, l->max_ns));
	}
}

static void put_refused(const struct query_perf_creations_sum *c, FILE *out)
{
	char a[UNITS_BUF];

	fprintf(out, "# refused: %s", c->refused ? units_count(a, c->refused) : "0");
	if (*c->refused_who) {
		fputs(": ", out);
		report_text_clean(c->refused_who, out);
	}
	fputc('\n', out);
}

/* A creation is exact if the kernel reported each one; comparing snapshots may miss some. */
static void put_creations(const struct report_data *d, const struct report_snapshot *s, FILE *out)
{
	const struct query_perf_creations_sum *c = &d->creations_sum;
	char a[UNITS_BUF];

	if (c->how == SNAP_CREATIONS_NONE) {
		fputs("#\n# breakpoints created: not known, as creations were not measured (this "
		      "needs BPF)\n",
		      out);
		return;
	}
	report_text_part(d->spec, "creations", &d->creations, s, 0, out);
	fprintf(out, "# breakpoints created: %s%s",
		c->how == SNAP_CREATIONS_EVENTS ? "" : "at least ", units_count(a, c->created));
	if (c->how == SNAP_CREATIONS_EVENTS)
		fputs("; those set by ptrace are not among them\n", out);
	else
		fputs(", as snapshots show only those that still exist; --creations counts each\n",
		      out);
	if (c->how != SNAP_CREATIONS_EVENTS)
		fputs("# refused: not available, as snapshots do not show them; --creations counts "
		      "them\n",
		      out);
	else
		put_refused(c, out);
	if (c->lost)
		fprintf(out, "# %s have no known owner\n", units_count(a, c->lost));
	if (*c->reason) {
		fputs("# not seen one by one: ", out);
		report_text_clean(c->reason, out);
		fputc('\n', out);
	}
}

static struct report_snapshot snapshot_of(const struct report_data *d, enum query_perf_part part)
{
	const struct query_perf_sum *p = &d->perf;

	return (struct report_snapshot){.known = p->known,
					.reason = p->reason,
					.missing = p->missing,
					.key = query_perf_missing_key,
					.text = query_perf_missing_text,
					.incomplete = p->look[part].incomplete,
					.dropped = p->look[part].dropped,
					.dropped_what = "events, contexts or descriptors",
					.ended_more = p->ended_more,
					.ended_what = "contexts and breakpoints"};
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

/* False: there is no snapshot. */
static bool put_title(const struct report_data *d, FILE *out)
{
	const struct query_perf_sum *p = &d->perf;
	bool slots = report_has(d, REPORT_SLOTS) || report_has(d, REPORT_HOLDERS) ||
		     report_has(d, REPORT_CREATIONS);
	enum query_perf_part part = slots ? QUERY_PERF_SLOTS : QUERY_PERF_EVENTS;
	struct report_snapshot s = snapshot_of(d, part);

	if (!report_text_title(slots ? "breakpoint slots" : "perf contexts", &s, out))
		return false;
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
	report_text_limits(d->q, &s, out);
	return true;
}

void report_perf_text(const struct report_data *d, FILE *out)
{
	struct report_snapshot s = snapshot_of(d, QUERY_PERF_EVENTS);
	bool known = put_title(d, out);

	if (report_has(d, REPORT_SLOTS))
		put_waits(d, out);
	if (!known)
		return;
	if (report_has(d, REPORT_SLOTS))
		report_text_part(d->spec, "slots", &d->slots, &s, SNAP_NO_SLOTS, out);
	if (report_has(d, REPORT_HOLDERS))
		report_text_part(d->spec, "holders", &d->holders, &s, SNAP_NO_HOLDERS, out);
	if (report_has(d, REPORT_CREATIONS))
		put_creations(d, &s, out);
	if (report_has(d, REPORT_CONTEXTS))
		report_text_part(d->spec, contexts_title(d), &d->contexts, &s, SNAP_NO_CONTEXTS,
				 out);
	if (report_has(d, REPORT_EVENTS))
		report_text_part(d->spec, "events", &d->events, &s, SNAP_NO_EVENTS, out);
}

static const struct figure look_figures[] = {
	{FIGURE_NEEDS("age_ns", NS, struct query_perf_look, age_ns, 1)},
	{FIGURE_IF("interval_ns", NS, struct query_perf_look, interval_ns, interval_ns),
	 .needs = 1},
	{FIGURE_NEEDS("cost_ns", NS, struct query_perf_look, cost_ns, 1)},
	{FIGURE_IF("cost_ns_per_s", NSRATE, struct query_perf_look, cost_per_s, cost_per_s)},
	{FIGURE("incomplete", COUNT, struct query_perf_look, incomplete)},
	{FIGURE("dropped", COUNT, struct query_perf_look, dropped)},
	FIGURE_END,
};

const struct figure report_perf_figures[] = {
	{FIGURE_IF("slots", COUNT, struct query_perf_sum, slots, slots_known)},
	{FIGURE_IF("slots_used", COUNT, struct query_perf_sum, used, slots_known)},
	{FIGURE_NEEDS("breakpoints", COUNT, struct query_perf_sum, breakpoints, SNAP_NO_EVENTS),
	 .flags = FIGURE_JSON},
	{FIGURE_NEEDS("events", COUNT, struct query_perf_sum, events, SNAP_NO_EVENTS),
	 .csv = "perf_events"},
	{FIGURE_NEEDS("own_events", COUNT, struct query_perf_sum, own, SNAP_NO_EVENTS),
	 .csv = "perf_events_own"},
	{FIGURE_NEEDS("contexts", COUNT, struct query_perf_sum, contexts, SNAP_NO_CONTEXTS),
	 .csv = "perf_contexts"},
	{FIGURE_NEEDS("rotating", COUNT, struct query_perf_sum, rotating, SNAP_NO_ROTATION),
	 .flags = FIGURE_JSON},
	{FIGURE_NEEDS("starved", COUNT, struct query_perf_sum, starved,
		      SNAP_NO_EVENTS | SNAP_NO_ROTATION),
	 .csv = "perf_events_starved"},
	{FIGURE_IF("opened_per_s", RATE, struct query_perf_sum, opened_per_s, opened_known),
	 .flags = FIGURE_JSON},
	FIGURE_END,
};

static const struct figure wait_figures[] = {
	{FIGURE("contended", COUNT, struct query_perf_waits, contended)},
	{FIGURE("cont_per_s", RATE, struct query_perf_waits, per_s)},
	{FIGURE("wait_ns_per_s", NSRATE, struct query_perf_waits, wait_ns_per_s)},
	{FIGURE("total_ns", NS, struct query_perf_waits, total_ns)},
	{FIGURE("max_ns", NS, struct query_perf_waits, max_ns)},
	{FIGURE("at_least", BOOL, struct query_perf_waits, at_least)},
	{FIGURE("max_at_least", BOOL, struct query_perf_waits, max_at_least)},
	{FIGURE("waiting", COUNT, struct query_perf_waits, waiting)},
	{FIGURE("caller", TEXT, struct query_perf_waits, caller)},
	FIGURE_END,
};

void report_perf_json_source(const struct report_data *d, struct jsonw *j)
{
	const struct query_perf_sum *p = &d->perf;
	struct report_snapshot s = snapshot_of(d, QUERY_PERF_EVENTS);

	jsonw_begin(j, "perf", '{', false);
	jsonw_str(j, "method", p->known ? query_perf_method_name(p->method) : NULL);
	report_json_figures(j, look_figures, &p->look[QUERY_PERF_SLOTS], !p->known);
	jsonw_begin(j, "events", '{', true);
	report_json_figures(j, look_figures, &p->look[QUERY_PERF_EVENTS], !p->known);
	jsonw_end(j, '}');
	report_json_missing(j, &s, UINT32_MAX);
	jsonw_u64(j, "ended_more", p->ended_more);
	jsonw_end(j, '}');
}

void report_perf_json_sum(const struct report_data *d, struct jsonw *j)
{
	jsonw_begin(j, "perf", '{', false);
	report_json_figures(j, report_perf_figures, &d->perf,
			    d->perf.known ? d->perf.missing : UINT32_MAX);
	jsonw_end(j, '}');
}

static void put_json_lock(const struct query_perf_lock *l, struct jsonw *j)
{
	jsonw_begin(j, NULL, '{', true);
	jsonw_str(j, "name", l->name);
	jsonw_str(j, "type", locktype_base(l->type));
	jsonw_str(j, "mode", locktype_mode(l->type));
	jsonw_u64(j, "contended", l->contended);
	jsonw_u64(j, "total_ns", l->total_ns);
	jsonw_u64(j, "max_ns", l->max_ns);
	jsonw_u64(j, "waiting", l->waiting);
	jsonw_end(j, '}');
}

static void put_json_slots(const struct report_data *d, struct jsonw *j)
{
	struct report_snapshot s = snapshot_of(d, QUERY_PERF_SLOTS);

	report_json_head(j, &d->slots, NULL);
	report_json_missing(j, &s, SNAP_NO_SLOTS | SNAP_NO_TASK_MAX | SNAP_NO_REGISTERS);
	jsonw_begin(j, "waits", '{', true);
	report_json_figures(j, wait_figures, &d->slot_waits, 0);
	jsonw_begin(j, "locks", '[', false);
	for (size_t i = 0; i < d->slot_waits.n_locks; i++)
		put_json_lock(&d->slot_waits.locks[i], j);
	jsonw_end(j, ']');
	jsonw_end(j, '}');
	report_json_rows(j, "rows", &d->slots);
	jsonw_end(j, '}');
}

static void put_json_creations(const struct report_data *d, struct jsonw *j)
{
	static const char *const how[] = {
		[SNAP_CREATIONS_LOOKS] = "looks", [SNAP_CREATIONS_EVENTS] = "events"};
	const struct query_perf_creations_sum *c = &d->creations_sum;
	bool known = c->how == SNAP_CREATIONS_LOOKS || c->how == SNAP_CREATIONS_EVENTS;

	report_json_head(j, &d->creations, NULL);
	jsonw_str(j, "how", known ? how[c->how] : NULL);
	jsonw_str(j, "reason", known && *c->reason ? c->reason : NULL);
	if (known)
		jsonw_u64(j, "created", c->created);
	else
		jsonw_null(j, "created");
	if (c->how == SNAP_CREATIONS_EVENTS)
		jsonw_u64(j, "refused", c->refused);
	else
		jsonw_null(j, "refused");
	jsonw_u64(j, "lost", c->lost);
	report_json_rows(j, "rows", &d->creations);
	jsonw_end(j, '}');
}

void report_perf_json(const struct report_data *d, struct jsonw *j)
{
	struct report_snapshot s = snapshot_of(d, QUERY_PERF_EVENTS);

	if (report_has(d, REPORT_SLOTS))
		put_json_slots(d, j);
	if (report_has(d, REPORT_HOLDERS))
		report_json_part(j, &d->holders, NULL, &s, SNAP_NO_EVENTS | SNAP_NO_HOLDERS);
	if (report_has(d, REPORT_CREATIONS))
		put_json_creations(d, j);
	if (report_has(d, REPORT_CONTEXTS))
		report_json_part(j, &d->contexts, contexts_by(d), &s,
				 SNAP_NO_CONTEXTS | SNAP_NO_ROTATION);
	if (report_has(d, REPORT_EVENTS))
		report_json_part(j, &d->events, NULL, &s, SNAP_NO_EVENTS | SNAP_NO_ROTATION);
}
