// SPDX-License-Identifier: GPL-2.0-only
/*
 * Uprobes and areas of their slots in reports. The tables are of one moment, so lines above them
 * say how it was read, what reading costs, and what is missing and why. JSON has this as the member
 * `uprobes` of `source`, whichever views the user chose.
 */
#include "internal.h"
#include "kontend/units.h"

/* If one of these is missing, a table without rows does not mean that there are no probes. */
enum { PROBES = UPSNAP_NO_TRACEFS | UPSNAP_NO_PERF | UPSNAP_NO_LINKS };

static void put_look(const struct query_uprobe_sum *p, FILE *out)
{
	char a[UNITS_BUF], b[UNITS_BUF];

	fprintf(out, "by %s, %s%s, cost %s", query_uprobe_method_name(p->method),
		p->age_ns ? units_ns(a, p->age_ns) : "",
		p->age_ns ? " before the end" : "at the end", units_ns(b, p->cost_ns));
}

static void put_sum(const struct query_uprobe_sum *p, FILE *out)
{
	char a[UNITS_BUF], b[UNITS_BUF];

	fprintf(out, "%u probes", p->probes);
	if (p->probes && !p->rate_known)
		fputs(", hits/s not known before a second snapshot", out);
	else if (p->probes)
		fprintf(out, ", %s hits/s", p->hits_per_s > 0 ? units_rate(a, p->hits_per_s) : "0");
	if (p->cpu_known && p->hits_per_s > 0)
		fprintf(out, " (~%s%% of a CPU)", units_pct(b, p->cpu_pct));
	if (p->worst)
		fprintf(out, "; slots %d of %d used by %s, %u tasks wait for one", p->worst_used,
			p->worst_slots, p->worst, p->waiting);
}

void report_uprobe_text_sum(const struct report_data *d, FILE *out)
{
	const struct query_uprobe_sum *p = &d->uprobe;

	if (!p->known || (!p->probes && !p->areas))
		return;
	fputs("# uprobes: ", out);
	put_sum(p, out);
	fputs("; ", out);
	put_look(p, out);
	fputc('\n', out);
}

static struct report_snapshot snapshot_of(const struct report_data *d)
{
	const struct query_uprobe_sum *p = &d->uprobe;

	return (struct report_snapshot){.known = p->known,
					.reason = p->reason,
					.missing = p->missing,
					.key = query_uprobe_missing_key,
					.text = query_uprobe_missing_text,
					.incomplete = p->incomplete,
					.dropped = p->dropped,
					.dropped_what = "areas, tasks or probes",
					.ended_more = p->ended_more,
					.ended_what = "areas and probes"};
}

void report_uprobe_text(const struct report_data *d, FILE *out)
{
	struct report_snapshot s = snapshot_of(d);

	if (!report_text_title("uprobes", &s, out))
		return;
	put_look(&d->uprobe, out);
	fputs(": ", out);
	put_sum(&d->uprobe, out);
	fputc('\n', out);
	report_text_limits(d->q, &s, out);
	bool by_process = d->spec->query.by == BY_PROCESS;
	if (report_has(d, REPORT_UPROBES))
		report_text_part(d->spec, by_process ? "probes by process" : "probes",
				 by_process ? &d->upprocs : &d->uprobes, &s, PROBES, out);
	if (report_has(d, REPORT_UPROBES) && d->upwaits.n_rows)
		report_text_part(d->spec, "waits for locks in the code of uprobes", &d->upwaits, &s,
				 0, out);
	if (!report_has(d, REPORT_XOL))
		return;
	report_text_part(d->spec, "areas of out-of-line slots", &d->xol, &s, 0, out);
	report_text_part(d->spec, "tasks in slots", &d->uptasks, &s, UPSNAP_NO_TASKS, out);
}

static const struct figure look_figures[] = {
	{FIGURE_IF("age_ns", NS, struct query_uprobe_sum, age_ns, known)},
	{FIGURE_IF("interval_ns", NS, struct query_uprobe_sum, interval_ns, interval_ns),
	 .needs = 1},
	{FIGURE_IF("cost_ns", NS, struct query_uprobe_sum, cost_ns, known)},
	{FIGURE_IF("walk_ns", NS, struct query_uprobe_sum, walk_ns, known)},
	FIGURE_END,
};

static const struct figure sum_figures[] = {
	{FIGURE_IF("probes", COUNT, struct query_uprobe_sum, probes, known)},
	{FIGURE_IF("out_of_line", COUNT, struct query_uprobe_sum, out_of_line, known)},
	{FIGURE_IF("hits_per_s", RATE, struct query_uprobe_sum, hits_per_s, rate_known)},
	{FIGURE_IF("cpu_pct", PCT, struct query_uprobe_sum, cpu_pct, cpu_known)},
	{FIGURE_IF("areas", COUNT, struct query_uprobe_sum, areas, known)},
	{FIGURE_NEEDS("waiting", COUNT, struct query_uprobe_sum, waiting, UPSNAP_NO_TASKS)},
	{FIGURE_NEEDS("single_step", COUNT, struct query_uprobe_sum, single_step, UPSNAP_NO_TASKS)},
	FIGURE_END,
};

void report_uprobe_json_source(const struct report_data *d, struct jsonw *j)
{
	const struct query_uprobe_sum *p = &d->uprobe;
	struct report_snapshot s = snapshot_of(d);

	jsonw_begin(j, "uprobes", '{', false);
	jsonw_str(j, "method", p->known ? query_uprobe_method_name(p->method) : NULL);
	report_json_figures(j, look_figures, p, !p->known);
	report_json_missing(j, &s, UINT32_MAX);
	jsonw_u64(j, "incomplete", p->incomplete);
	jsonw_u64(j, "dropped", p->dropped);
	jsonw_u64(j, "ended_more", p->ended_more);
	jsonw_end(j, '}');
}

void report_uprobe_json_sum(const struct report_data *d, struct jsonw *j)
{
	jsonw_begin(j, "uprobes", '{', false);
	report_json_figures(j, sum_figures, &d->uprobe,
			    d->uprobe.known ? d->uprobe.missing : UINT32_MAX);
	jsonw_end(j, '}');
}

void report_uprobe_json(const struct report_data *d, struct jsonw *j)
{
	struct report_snapshot s = snapshot_of(d);

	if (report_has(d, REPORT_UPROBES)) {
		report_json_part(j, &d->uprobes, NULL, &s, PROBES | UPSNAP_NO_COSTS);
		report_json_part(j, &d->upprocs, NULL, &s, PROBES);
		report_json_table(j, &d->upwaits, NULL);
	}
	if (!report_has(d, REPORT_XOL))
		return;
	report_json_part(j, &d->xol, NULL, &s, UPSNAP_NO_SLOTS | UPSNAP_NO_TASKS);
	report_json_part(j, &d->uptasks, NULL, &s, UPSNAP_NO_TASKS);
}
