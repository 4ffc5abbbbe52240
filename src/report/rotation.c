// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rotation in reports: one line of sums, even if there was no rotation, then the table.
 */
#include "internal.h"
#include "kontend/text.h"
#include "kontend/units.h"

enum { WHAT_IFS = 4, NOT_A_SWITCH = 1 };

void report_rotation_text_sum(const struct report_data *d, FILE *out)
{
	const struct query_rotation_sum *s = &d->rotation_sum;
	char a[UNITS_BUF], b[UNITS_BUF], c[UNITS_BUF];

	fputs("# rotation: ", out);
	if (!s->rotations) {
		report_text_clean(query_rotation_none(s), out);
		fputc('\n', out);
		return;
	}
	fprintf(out, "%s on %u timers, %s/s, %s/s (", units_count(a, s->rotations), s->timers,
		units_rate(b, s->per_s), units_nsrate(c, s->ns_per_s));
	report_text_clean(s->pmu, out);
	fputs(")\n", out);
	if (s->unpaired + s->unmatched + s->dropped)
		fprintf(out, "# %s of them without an end, %s ends without a begin, %s left out\n",
			units_count(a, s->unpaired), units_count(b, s->unmatched),
			units_count(c, s->dropped));
}

static void put_fit(const char *what, const struct query_rotation_fit *f, FILE *out)
{
	char a[UNITS_BUF], b[UNITS_BUF];

	if (f->known)
		fprintf(out, "# %s: %s + %s x events\n", what,
			units_ns(a, f->base_ns > 0 ? (uint64_t)f->base_ns : 0),
			units_ns(b, f->per_event_ns > 0 ? (uint64_t)f->per_event_ns : 0));
}

static void put_switches(const struct query_rotation_costs *c, FILE *out)
{
	char a[UNITS_BUF], b[UNITS_BUF], d[UNITS_BUF];

	if (c->bursts)
		fprintf(out, "# switches, from %s of the kernel's switch records in %s bursts\n",
			units_ns(a, c->switch_ns), units_count(b, c->bursts));
	if (c->bursts && c->own_ps)
		fprintf(out,
			"#   less the cost of these records: %.2fns for each event of the task "
			"switched out\n",
			(double)c->own_ps / 1000);
	else if (c->bursts)
		fputs("#   including the cost of these records, which is not known\n", out);
	if (c->bursts && c->switch_cpu_ns)
		fprintf(out, "#   which took %s records, %s and %s of kontend's CPU time\n",
			units_count(a, c->switch_records), units_bytes(b, c->switch_bytes),
			units_ns(d, c->switch_cpu_ns));
	for (size_t i = 0; i < c->n_switches; i++) {
		const struct query_rotation_switches *s = &c->switches[i];
		fprintf(out, "#   cpu %u: ", s->cpu);
		if (s->plain_n)
			fprintf(out, "%s without events of tasks", units_ns(a, s->plain_p50_ns));
		if (s->loaded_n)
			fprintf(out, "%s%s with", s->plain_n ? ", " : "",
				units_ns(b, s->loaded_p50_ns));
		fputc('\n', out);
	}
}

static void put_left_out(const struct query_rotation_costs *c, FILE *out)
{
	char a[UNITS_BUF], b[UNITS_BUF];

	if (c->n_changed + c->n_unclassed)
		fprintf(out,
			"# not matched with events: %s while these changed, %s without a snapshot "
			"before and after\n",
			units_count(a, c->n_changed), units_count(b, c->n_unclassed));
}

static void put_ticks(const struct query_rotation_costs *c, FILE *out)
{
	char a[UNITS_BUF], b[UNITS_BUF], more[UNITS_BUF];

	for (size_t i = 0; i < c->n_ticks; i++) {
		const struct query_rotation_tick *t = &c->ticks[i];
		fprintf(out,
			"# tick of cpu %u%s: %s with %u events of contexts that sample at a "
			"frequency",
			t->cpu, t->idle ? ", idle" : "", units_ns(a, t->ns), t->events);
		if (t->plain_n)
			fprintf(out, ", %s without: +%s\n", units_ns(b, t->plain_ns),
				units_ns(more, t->growth_ns));
		else
			fputs("; their cost is not known, as no tick was without them\n", out);
	}
}

/* "/a: 3 events, 412 switches to it, 7.1us each" */
static void put_cgroups(const struct query_rotation_phases *p, FILE *out)
{
	char a[UNITS_BUF], b[UNITS_BUF], c[UNITS_BUF];

	for (size_t i = 0; i < p->n_cgroups; i++) {
		const struct query_rotation_cgroup *g = &p->cgroups[i];
		fputs("# cgroup ", out);
		report_text_clean(g->path ? g->path : "that is gone", out);
		fprintf(out, ": %s events", units_count(a, g->events));
		if (g->to_n)
			fprintf(out, ", %s switches to it, %s each", units_count(b, g->to_n),
				units_ns(c, g->to_avg_ns));
		if (g->from_n)
			fprintf(out, ", %s from it, %s each", units_count(b, g->from_n),
				units_ns(c, g->from_avg_ns));
		fputc('\n', out);
	}
	if (p->left_out)
		fprintf(out, "# %s more in cgroups without a line\n", units_count(a, p->left_out));
}

/* The text may be from a file, so it is cleaned. */
static void put_line(const char *before, const char *text, const char *behind, FILE *out)
{
	fputs(before, out);
	report_text_clean(text, out);
	fputs(behind, out);
}

static void put_phases(const struct query_rotation_phases *p, FILE *out)
{
	char text[QUERY_ROTATION_TEXT], a[UNITS_BUF], b[UNITS_BUF];

	if (p->asked && p->turn)
		put_line("# phases of rotation, separated at ", p->turn, ":\n", out);
	else if (p->asked)
		put_line("# phases of rotation: not available: ", p->reason, "\n", out);
	for (size_t i = 0; p->turn && i < p->n_cpus; i++)
		if (p->cpus[i].n)
			fprintf(out, "#   cpu %u: %s\n", p->cpus[i].cpu,
				query_rotation_phases_text(&p->cpus[i], text, sizeof(text)));
	if (p->asked && *p->cgroup_reason)
		put_line("# switches of cgroups: not available: ", p->cgroup_reason, "\n", out);
	for (size_t i = 0; i < p->n_cpus; i++)
		if (p->cpus[i].switches)
			fprintf(out, "# cpu %u: %s switches to another cgroup, %s each\n",
				p->cpus[i].cpu, units_count(a, p->cpus[i].switches),
				units_ns(b, p->cpus[i].switch_avg_ns));
	put_cgroups(p, out);
}

/* The CPUs on which rotation costs most. */
static void put_what_ifs(const struct report_data *d, FILE *out)
{
	char fewer[QUERY_ROTATION_TEXT], other[QUERY_ROTATION_TEXT];

	for (size_t i = 0; i < d->n_what_ifs && i < WHAT_IFS; i++) {
		const struct query_rotation_what_if *w = &d->what_ifs[i];
		query_rotation_fewer_text(w, fewer, sizeof(fewer));
		query_rotation_other_text(w, other, sizeof(other));
		fprintf(out, "# cpu %u: %s%s%s\n", w->cpu, fewer, *other ? "; " : "", other);
	}
}

void report_rotation_text(const struct report_data *d, FILE *out)
{
	const struct query_rotation_costs *c = &d->rotation_costs;

	fputs("#\n", out);
	report_rotation_text_sum(d, out);
	put_what_ifs(d, out);
	put_fit("a switch", &c->switch_fit, out);
	put_switches(c, out);
	put_ticks(c, out);
	put_phases(&d->phases, out);
	put_left_out(c, out);
	if (d->rotation.n_total)
		report_text_table(&d->rotation, d->spec, out);
}

const struct figure report_pmus_figures[] = {
	{FIGURE_IF("pmus", COUNT, struct query_rotation_sum, pmus, known), .csv = "rotating_pmus"},
	FIGURE_END,
};

const struct figure report_rotation_figures[] = {
	{FIGURE("timers", COUNT, struct query_rotation_sum, timers), .flags = FIGURE_JSON},
	{FIGURE("rotations", COUNT, struct query_rotation_sum, rotations)},
	{FIGURE("unpaired", COUNT, struct query_rotation_sum, unpaired), .flags = FIGURE_JSON},
	{FIGURE("unmatched", COUNT, struct query_rotation_sum, unmatched), .flags = FIGURE_JSON},
	{FIGURE("dropped", COUNT, struct query_rotation_sum, dropped), .flags = FIGURE_JSON},
	{FIGURE("rotations_per_s", RATE, struct query_rotation_sum, per_s), .flags = FIGURE_JSON},
	{FIGURE("total_ns", NS, struct query_rotation_sum, total_ns), .csv = "rotation_total_ns"},
	FIGURE_END,
};

void report_rotation_json_sum(const struct report_data *d, struct jsonw *j)
{
	const struct query_rotation_sum *s = &d->rotation_sum;

	jsonw_begin(j, "rotation", '{', false);
	report_json_figures(j, report_pmus_figures, s, 0);
	jsonw_str(j, "none", s->rotations ? NULL : query_rotation_none(s));
	report_json_figures(j, report_rotation_figures, s, 0);
	jsonw_end(j, '}');
}

static void json_fit(struct jsonw *j, const char *key, const struct query_rotation_fit *f)
{
	if (!f->known) {
		jsonw_null(j, key);
		return;
	}
	jsonw_begin(j, key, '{', true);
	jsonw_double(j, "base_ns", f->base_ns);
	jsonw_double(j, "per_event_ns", f->per_event_ns);
	jsonw_end(j, '}');
}

static const struct figure before_fit_figures[] = {
	{FIGURE("cpu", COUNT, struct query_rotation_what_if, cpu)},
	{FIGURE("pmu", TEXT, struct query_rotation_what_if, pmu)},
	{FIGURE_IF("events", COUNT, struct query_rotation_what_if, events, events)},
	{FIGURE("cpu_pct", PCT, struct query_rotation_what_if, cpu_pct)},
	FIGURE_END,
};

static const struct figure behind_fit_figures[] = {
	{FIGURE("fit_of_all_cpus", BOOL, struct query_rotation_what_if, of_all)},
	{FIGURE_IF("fewer_events", COUNT, struct query_rotation_what_if, fewer, fewer)},
	{FIGURE_IF("saved_cpu_pct", PCT, struct query_rotation_what_if, saved_pct, fewer)},
	{FIGURE_IF("interval_ms", COUNT, struct query_rotation_what_if, interval_ms, interval_ms)},
	{FIGURE_IF("other_interval_ms", COUNT, struct query_rotation_what_if, other_ms, other_ms)},
	{FIGURE_IF("other_cpu_pct", PCT, struct query_rotation_what_if, other_pct, other_ms)},
	FIGURE_END,
};

static void json_what_ifs(struct jsonw *j, const struct report_data *d)
{
	jsonw_begin(j, "what_if", '[', false);
	for (size_t i = 0; i < d->n_what_ifs; i++) {
		const struct query_rotation_what_if *w = &d->what_ifs[i];
		jsonw_begin(j, NULL, '{', true);
		report_json_figures(j, before_fit_figures, w, 0);
		json_fit(j, "fit", &w->fit);
		report_json_figures(j, behind_fit_figures, w, 0);
		jsonw_end(j, '}');
	}
	jsonw_end(j, ']');
}

static const struct figure point_figures[] = {
	{FIGURE("cpu", COUNT, struct query_rotation_point, cpu)},
	{FIGURE("events", COUNT, struct query_rotation_point, events)},
	{FIGURE_NEEDS("off", COUNT, struct query_rotation_point, off, NOT_A_SWITCH)},
	{FIGURE("idle", BOOL, struct query_rotation_point, idle)},
	{FIGURE("n", COUNT, struct query_rotation_point, n)},
	{FIGURE("p50_ns", NS, struct query_rotation_point, p50_ns)},
	{FIGURE("min_ns", NS, struct query_rotation_point, min_ns)},
	{FIGURE("max_ns", NS, struct query_rotation_point, max_ns)},
	FIGURE_END,
};

static void json_points(struct jsonw *j, const struct query_rotation_costs *c)
{
	jsonw_begin(j, "points", '[', false);
	for (size_t i = 0; i < c->n_points; i++) {
		const struct query_rotation_point *p = &c->points[i];
		jsonw_begin(j, NULL, '{', true);
		jsonw_str(j, "of", query_rotation_what_name(p->what));
		report_json_figures(j, point_figures, p,
				    p->what == ROTATION_OF_SWITCH ? 0 : NOT_A_SWITCH);
		jsonw_end(j, '}');
	}
	jsonw_end(j, ']');
}

static const struct figure cost_figures[] = {
	{FIGURE("records", COUNT, struct query_rotation_costs, switch_records)},
	{FIGURE("bytes", COUNT, struct query_rotation_costs, switch_bytes)},
	{FIGURE_IF("cpu_ns", NS, struct query_rotation_costs, switch_cpu_ns, switch_cpu_ns)},
	FIGURE_END,
};

static const struct figure switch_figures[] = {
	{FIGURE("cpu", COUNT, struct query_rotation_switches, cpu)},
	{FIGURE("plain", COUNT, struct query_rotation_switches, plain_n)},
	{FIGURE_IF("plain_p50_ns", NS, struct query_rotation_switches, plain_p50_ns, plain_n)},
	{FIGURE("loaded", COUNT, struct query_rotation_switches, loaded_n)},
	{FIGURE_IF("loaded_p50_ns", NS, struct query_rotation_switches, loaded_p50_ns, loaded_n)},
	FIGURE_END,
};

static void json_switches(struct jsonw *j, const struct query_rotation_costs *c)
{
	jsonw_begin(j, "switches", '{', false);
	jsonw_str(j, "source", c->bursts ? "PERF_RECORD_SWITCH_CPU_WIDE" : NULL);
	jsonw_u64(j, "bursts", c->bursts);
	jsonw_u64(j, "seen_ns", c->switch_ns);
	if (c->own_ps)
		jsonw_double(j, "own_ns_per_event", (double)c->own_ps / 1000);
	else
		jsonw_null(j, "own_ns_per_event");
	report_json_figures(j, cost_figures, c, 0);
	report_json_structs(j, "cpus", switch_figures, c->switches, c->n_switches,
			    sizeof(*c->switches));
	jsonw_end(j, '}');
}

static const struct figure tick_figures[] = {
	{FIGURE("cpu", COUNT, struct query_rotation_tick, cpu)},
	{FIGURE("idle", BOOL, struct query_rotation_tick, idle)},
	{FIGURE("events", COUNT, struct query_rotation_tick, events)},
	{FIGURE("n", COUNT, struct query_rotation_tick, n)},
	{FIGURE("p50_ns", NS, struct query_rotation_tick, ns)},
	{FIGURE("plain", COUNT, struct query_rotation_tick, plain_n)},
	{FIGURE_IF("plain_p50_ns", NS, struct query_rotation_tick, plain_ns, plain_n)},
	{FIGURE_IF("growth_ns", NS, struct query_rotation_tick, growth_ns, plain_n)},
	FIGURE_END,
};

static const struct figure phase_figures[] = {
	{FIGURE("cpu", COUNT, struct query_rotation_phase, cpu)},
	{FIGURE("rotations", COUNT, struct query_rotation_phase, n)},
	{FIGURE("unturned", COUNT, struct query_rotation_phase, unturned)},
	{FIGURE_IF("out_avg_ns", NS, struct query_rotation_phase, out_avg_ns, n)},
	{FIGURE_IF("out_p50_ns", NS, struct query_rotation_phase, out_p50_ns, n)},
	{FIGURE_IF("out_p99_ns", NS, struct query_rotation_phase, out_p99_ns, n)},
	{FIGURE_IF("out_max_ns", NS, struct query_rotation_phase, out_max_ns, n)},
	{FIGURE_IF("in_avg_ns", NS, struct query_rotation_phase, in_avg_ns, n)},
	{FIGURE_IF("in_p50_ns", NS, struct query_rotation_phase, in_p50_ns, n)},
	{FIGURE_IF("in_p99_ns", NS, struct query_rotation_phase, in_p99_ns, n)},
	{FIGURE_IF("in_max_ns", NS, struct query_rotation_phase, in_max_ns, n)},
	{FIGURE("cgroup_switches", COUNT, struct query_rotation_phase, switches)},
	{FIGURE("switches_within_one", COUNT, struct query_rotation_phase, same)},
	{FIGURE_IF("cgroup_switch_avg_ns", NS, struct query_rotation_phase, switch_avg_ns,
		   switches)},
	{FIGURE_IF("cgroup_switch_max_ns", NS, struct query_rotation_phase, switch_max_ns,
		   switches)},
	FIGURE_END,
};

static const struct figure cgroup_figures[] = {
	{FIGURE("path", TEXT, struct query_rotation_cgroup, path)},
	{FIGURE_IF("id", COUNT, struct query_rotation_cgroup, id, id)},
	{FIGURE("events", COUNT, struct query_rotation_cgroup, events)},
	{FIGURE("switches_to", COUNT, struct query_rotation_cgroup, to_n)},
	{FIGURE("to_total_ns", NS, struct query_rotation_cgroup, to_ns)},
	{FIGURE_IF("to_avg_ns", NS, struct query_rotation_cgroup, to_avg_ns, to_n)},
	{FIGURE("switches_from", COUNT, struct query_rotation_cgroup, from_n)},
	{FIGURE("from_total_ns", NS, struct query_rotation_cgroup, from_ns)},
	{FIGURE_IF("from_avg_ns", NS, struct query_rotation_cgroup, from_avg_ns, from_n)},
	FIGURE_END,
};

static void json_phases(struct jsonw *j, const struct query_rotation_phases *p)
{
	jsonw_begin(j, "phases", '{', false);
	jsonw_str(j, "parted_at", p->turn);
	jsonw_str(j, "none", !p->asked ? "not asked for: --phases" : *p->reason ? p->reason : NULL);
	jsonw_str(j, "no_cgroup_switches",
		  !p->asked	      ? "not asked for: --phases"
		  : *p->cgroup_reason ? p->cgroup_reason
				      : NULL);
	jsonw_u64(j, "seen_ns", p->seen_ns);
	jsonw_u64(j, "dropped", p->dropped);
	jsonw_u64(j, "left_out", p->left_out);
	report_json_structs(j, "cpus", phase_figures, p->cpus, p->n_cpus, sizeof(*p->cpus));
	report_json_structs(j, "cgroups", cgroup_figures, p->cgroups, p->n_cgroups,
			    sizeof(*p->cgroups));
	jsonw_end(j, '}');
}

void report_rotation_json(const struct report_data *d, struct jsonw *j)
{
	const struct query_rotation_costs *c = &d->rotation_costs;

	report_json_head(j, &d->rotation, NULL);
	report_rotation_json_sum(d, j);
	json_fit(j, "fit", &c->fit);
	json_fit(j, "switch_fit", &c->switch_fit);
	json_what_ifs(j, d);
	json_points(j, c);
	jsonw_u64(j, "unclassed", c->n_unclassed);
	jsonw_u64(j, "changed", c->n_changed);
	json_switches(j, c);
	report_json_structs(j, "ticks", tick_figures, c->ticks, c->n_ticks, sizeof(*c->ticks));
	json_phases(j, &d->phases);
	report_json_rows(j, "rows", &d->rotation);
	jsonw_end(j, '}');
}
