// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rotation in reports: one line of sums, which says so when there is nothing, then the table.
 */
#include "kontend/text.h"
#include "kontend/units.h"
#include "report-int.h"

enum { WHAT_IFS = 4 };

static void put_clean(FILE *out, const char *text)
{
	char buf[1024];

	fputs(text_clean(buf, sizeof(buf), text), out);
}

void report_rotation_text_sum(const struct report_data *d, FILE *out)
{
	const struct query_rotation_sum *s = &d->rotation_sum;
	char a[UNITS_BUF], b[UNITS_BUF], c[UNITS_BUF];

	fputs("# rotation: ", out);
	if (!s->rotations) {
		put_clean(out, query_rotation_none(s));
		fputc('\n', out);
		return;
	}
	fprintf(out, "%s on %u timers, %s/s, %s/s (", units_count(a, s->rotations), s->timers,
		units_rate(b, s->per_s), units_nsrate(c, s->ns_per_s));
	put_clean(out, s->pmu);
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
		fprintf(out,
			"# switches, by the kernel's switch records, seen for %s in %s bursts\n",
			units_ns(a, c->switch_ns), units_count(b, c->bursts));
	if (c->bursts && c->own_ps)
		fprintf(out,
			"#   less what these records took of each: %.2fns for each event of who "
			"went off\n",
			(double)c->own_ps / 1000);
	else if (c->bursts)
		fputs("#   with what these records took of each, which is not known\n", out);
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
			"# left out of what is put together with events: %s while these changed, "
			"%s "
			"without a look before and after\n",
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
				units_ns(more, t->ns > t->plain_ns ? t->ns - t->plain_ns : 0));
		else
			fputs("; what they add is not known, as no tick was without\n", out);
	}
}

/* Those CPUs where it takes most. */
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

	if (!report_has(d, REPORT_ROTATION))
		return;
	fputs("#\n", out);
	report_rotation_text_sum(d, out);
	put_what_ifs(d, out);
	put_fit("a switch", &c->switch_fit, out);
	put_switches(c, out);
	put_ticks(c, out);
	put_left_out(c, out);
	if (d->rotation.n_total)
		report_text_table(&d->rotation, d->spec->ascii, d->spec->width, out);
}

void report_rotation_json_sum(const struct report_data *d, struct jsonw *j)
{
	const struct query_rotation_sum *s = &d->rotation_sum;

	jsonw_begin(j, "rotation", '{', false);
	if (s->known)
		jsonw_u64(j, "pmus", s->pmus);
	else
		jsonw_null(j, "pmus");
	jsonw_str(j, "none", s->rotations ? NULL : query_rotation_none(s));
	jsonw_u64(j, "timers", s->timers);
	jsonw_u64(j, "rotations", s->rotations);
	jsonw_u64(j, "unpaired", s->unpaired);
	jsonw_u64(j, "unmatched", s->unmatched);
	jsonw_u64(j, "dropped", s->dropped);
	jsonw_double(j, "rotations_per_s", s->per_s);
	jsonw_u64(j, "total_ns", s->total_ns);
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

static void put_if(struct jsonw *j, const char *key, uint64_t v, bool known)
{
	if (known)
		jsonw_u64(j, key, v);
	else
		jsonw_null(j, key);
}

static void put_if_pct(struct jsonw *j, const char *key, double v, bool known)
{
	if (known)
		jsonw_double(j, key, v);
	else
		jsonw_null(j, key);
}

static void json_what_ifs(struct jsonw *j, const struct report_data *d)
{
	jsonw_begin(j, "what_if", '[', false);
	for (size_t i = 0; i < d->n_what_ifs; i++) {
		const struct query_rotation_what_if *w = &d->what_ifs[i];
		jsonw_begin(j, NULL, '{', true);
		jsonw_u64(j, "cpu", w->cpu);
		jsonw_str(j, "pmu", w->pmu);
		put_if(j, "events", w->events, w->events);
		jsonw_double(j, "cpu_pct", w->cpu_pct);
		json_fit(j, "fit", &w->fit);
		jsonw_bool(j, "fit_of_all_cpus", w->of_all);
		put_if(j, "fewer_events", w->fewer, w->fewer);
		put_if_pct(j, "saved_cpu_pct", w->saved_pct, w->fewer);
		put_if(j, "interval_ms", w->interval_ms, w->interval_ms);
		put_if(j, "other_interval_ms", w->other_ms, w->other_ms);
		put_if_pct(j, "other_cpu_pct", w->other_pct, w->other_ms);
		jsonw_end(j, '}');
	}
	jsonw_end(j, ']');
}

static void json_points(struct jsonw *j, const struct query_rotation_costs *c)
{
	jsonw_begin(j, "points", '[', false);
	for (size_t i = 0; i < c->n_points; i++) {
		const struct query_rotation_point *p = &c->points[i];
		jsonw_begin(j, NULL, '{', true);
		jsonw_str(j, "of", query_rotation_what_name(p->what));
		jsonw_u64(j, "cpu", p->cpu);
		jsonw_u64(j, "events", p->events);
		put_if(j, "off", p->off, p->what == ROTATION_OF_SWITCH);
		jsonw_bool(j, "idle", p->idle);
		jsonw_u64(j, "n", p->n);
		jsonw_u64(j, "p50_ns", p->p50_ns);
		jsonw_u64(j, "min_ns", p->min_ns);
		jsonw_u64(j, "max_ns", p->max_ns);
		jsonw_end(j, '}');
	}
	jsonw_end(j, ']');
}

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
	jsonw_u64(j, "records", c->switch_records);
	jsonw_u64(j, "bytes", c->switch_bytes);
	put_if(j, "cpu_ns", c->switch_cpu_ns, c->switch_cpu_ns);
	jsonw_begin(j, "cpus", '[', false);
	for (size_t i = 0; i < c->n_switches; i++) {
		const struct query_rotation_switches *s = &c->switches[i];
		jsonw_begin(j, NULL, '{', true);
		jsonw_u64(j, "cpu", s->cpu);
		jsonw_u64(j, "plain", s->plain_n);
		put_if(j, "plain_p50_ns", s->plain_p50_ns, s->plain_n);
		jsonw_u64(j, "loaded", s->loaded_n);
		put_if(j, "loaded_p50_ns", s->loaded_p50_ns, s->loaded_n);
		jsonw_end(j, '}');
	}
	jsonw_end(j, ']');
	jsonw_end(j, '}');
}

static void json_ticks(struct jsonw *j, const struct query_rotation_costs *c)
{
	jsonw_begin(j, "ticks", '[', false);
	for (size_t i = 0; i < c->n_ticks; i++) {
		const struct query_rotation_tick *t = &c->ticks[i];
		uint64_t more = t->ns > t->plain_ns ? t->ns - t->plain_ns : 0;
		jsonw_begin(j, NULL, '{', true);
		jsonw_u64(j, "cpu", t->cpu);
		jsonw_bool(j, "idle", t->idle);
		jsonw_u64(j, "events", t->events);
		jsonw_u64(j, "n", t->n);
		jsonw_u64(j, "p50_ns", t->ns);
		jsonw_u64(j, "plain", t->plain_n);
		put_if(j, "plain_p50_ns", t->plain_ns, t->plain_n);
		put_if(j, "growth_ns", more, t->plain_n);
		jsonw_end(j, '}');
	}
	jsonw_end(j, ']');
}

void report_rotation_json(const struct report_data *d, struct jsonw *j)
{
	const struct query_rotation_costs *c = &d->rotation_costs;

	if (!report_has(d, REPORT_ROTATION))
		return;
	report_json_head(j, &d->rotation, NULL);
	report_rotation_json_sum(d, j);
	json_fit(j, "fit", &c->fit);
	json_fit(j, "switch_fit", &c->switch_fit);
	json_what_ifs(j, d);
	json_points(j, c);
	jsonw_u64(j, "unclassed", c->n_unclassed);
	jsonw_u64(j, "changed", c->n_changed);
	json_switches(j, c);
	json_ticks(j, c);
	report_json_rows(j, "rows", &d->rotation);
	jsonw_end(j, '}');
}
