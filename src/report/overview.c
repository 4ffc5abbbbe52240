// SPDX-License-Identifier: GPL-2.0-only
/*
 * The head of every report (what was measured and how reliable it is), and the overview.
 */
#include "format.h"
#include "internal.h"
#include "kontend/damage.h"
#include "kontend/engine.h"
#include "kontend/model.h"
#include "kontend/query-damage.h"
#include "kontend/query-load.h"
#include "kontend/query-machine.h"
#include "kontend/query-overview.h"
#include "kontend/shorts.h"
#include "kontend/snapshot.h"
#include "kontend/text.h"
#include "kontend/units.h"
#include "kontend/wait-filter.h"
#include "kontend/when.h"

#include <inttypes.h>

enum { TRUSTED_SHOWN = 4 };

static void put_count(FILE *out, const char *what, uint64_t n)
{
	char buf[UNITS_BUF];

	if (n)
		fprintf(out, ", %s %s", units_count(buf, n), what);
}

static void put_quality(FILE *out, const struct query_overview *o)
{
	const struct model_damage *d = &o->damage;
	char a[UNITS_BUF], b[UNITS_BUF];

	fputs("# quality: ", out);
	report_text_lost(d, &o->loss, out);
	fprintf(out, ", unmatched %s%%", units_pct(b, o->unmatched_pct));
	for (const struct figure *f = query_damage_figures; f->key; f++)
		if (f->words)
			put_count(out, f->words, figure_value(f, d, 0).u);
	if (o->cpus_offline == 1)
		fprintf(out, ", CPU %u offline", o->first_offline);
	else
		put_count(out, "CPUs offline", o->cpus_offline);
	fputc('\n', out);
	report_text_at_least(&o->loss, "# ", out);
	if (o->no_ends)
		fprintf(out,
			"# no ends: %s waits began, but lock:contention_end was not recorded, so "
			"none has a duration or is shown\n",
			units_count(a, d->unmatched_begin));
	if (o->sym_state == SYM_WITHHELD)
		fputs("# kernel symbols are withheld: run as root, or sysctl "
		      "kernel.kptr_restrict=0\n",
		      out);
	else if (o->sym_state == SYM_UNREADABLE)
		fputs("# kernel symbols: /proc/kallsyms cannot be read; addresses are shown\n",
		      out);
}

/* "# damage: The recording is readable up to byte 7112: ... (12 times)" */
static void put_notes(const struct notes *notes, FILE *out)
{
	for (size_t i = 0; i < notes->n; i++) {
		const struct note *n = &notes->items[i];

		fprintf(out, "# %s: ", notes_kind(n->kind));
		report_text_clean(n->text, out);
		if (n->count > 1)
			fprintf(out, " (%" PRIu64 " times)", n->count);
		fputc('\n', out);
	}
	if (notes->left_out)
		fprintf(out, "# %" PRIu64 " more notes about the recording\n", notes->left_out);
}

/* "# names trusted by their paths alone: /opt/app, /usr/lib/libx.so (2 files)" */
static void put_trusted(const struct query *q, FILE *out)
{
	const char *path;
	size_t n = 0;

	for (size_t at = 0; (path = query_load_trusted(q, &at)); n++) {
		if (n >= TRUSTED_SHOWN)
			continue;
		fputs(n ? ", " : "# names trusted by their paths alone: ", out);
		report_text_clean(path, out);
	}
	if (n)
		fprintf(out, "%s (%zu file%s)\n", n > TRUSTED_SHOWN ? ", ..." : "", n,
			n == 1 ? "" : "s");
}

static void put_trusted_json(const struct query *q, struct jsonw *j)
{
	size_t at = 0;
	const char *path = query_load_trusted(q, &at);

	if (!path)
		return;
	jsonw_begin(j, "trusted", '[', true);
	for (; path; path = query_load_trusted(q, &at))
		jsonw_str(j, NULL, path);
	jsonw_end(j, ']');
}

static void put_range(const struct query_overview *o, FILE *out)
{
	const struct when w = {.clock_ns = o->host->clock_ns, .wall_ns = o->host->wall_ns};
	char a[WHEN_BUF], b[WHEN_BUF];

	fprintf(out, "# range +%s to +%s", when_elapsed(a, o->from_ns - o->start_ns, 3),
		when_elapsed(b, o->to_ns - o->start_ns, 3));
	if (w.wall_ns)
		fprintf(out, ", %s to %s", when_date(a, when_wall_ns(&w, o->from_ns), 3),
			when_date(b, when_wall_ns(&w, o->to_ns), 3));
	fputc('\n', out);
}

/* "# perf ring: BPF does not report waits, so most holders are not known: ..." */
static void put_refused(const struct report_data *d, FILE *out)
{
	const struct record_machine m = query_machine(d->q);

	if (!*m.refused)
		return;
	fputs("# ", out);
	report_text_clean(d->overview.host->method, out);
	fputs(": ", out);
	report_text_clean(m.refused, out);
	fputs(" (see 'kontend doctor')\n", out);
}

static void put_refused_json(const struct report_data *d, struct jsonw *j)
{
	const struct record_machine m = query_machine(d->q);

	if (*m.refused)
		jsonw_str(j, "method_reason", m.refused);
}

/* "# only pid 812, lock mmap_lock: 4.1k of 95k waits" */
static void put_only(const struct report_data *d, FILE *out)
{
	char a[UNITS_BUF], b[UNITS_BUF];

	if (!d->q->only)
		return;
	const struct wait_filter_sum s = wait_filter_sum(d->q);
	fputs("# only ", out);
	report_text_clean(d->spec->only_words ? d->spec->only_words : d->spec->only, out);
	fprintf(out, ": %s of %s waits", units_count(a, s.waits), units_count(b, s.of_waits));
	if (s.of_samples && d->views & (REPORT_HOT | REPORT_FLAME))
		fprintf(out, ", %s of %s samples", units_count(a, s.samples),
			units_count(b, s.of_samples));
	fputc('\n', out);
}

static void put_only_json(const struct report_data *d, struct jsonw *j)
{
	if (!d->q->only)
		return;
	const struct wait_filter_sum s = wait_filter_sum(d->q);
	jsonw_begin(j, "only", '{', true);
	jsonw_str(j, "filter", d->spec->only);
	jsonw_u64(j, "min_wait_ns", s.min_wait_ns);
	jsonw_u64(j, "waits", s.waits);
	jsonw_u64(j, "of_waits", s.of_waits);
	jsonw_u64(j, "samples", s.samples);
	jsonw_u64(j, "of_samples", s.of_samples);
	jsonw_end(j, '}');
}

/* Events without samples are listed where they are the profile's: it is empty then. */
static bool is_listed(const struct query_recorded_event *e)
{
	return !e->is_used && (e->samples || e->is_profile);
}

/*
 * "# events: cycles 539 (shown), instructions 20; 20 samples of 1 event are not shown: -e NAME".
 * A line only where there is a choice.
 */
static void put_events(const struct query_recorded *r, FILE *out)
{
	enum { NAMES = 12 };
	char a[UNITS_BUF];
	size_t n = 0, put = 0;

	for (size_t i = 0; i < r->n; i++)
		n += is_listed(&r->events[i]);
	if (n < 2 && !r->hidden)
		return;
	fputs("# events: ", out);
	for (size_t i = 0; i < r->n && put < NAMES; i++) {
		const struct query_recorded_event *e = &r->events[i];
		if (!is_listed(e))
			continue;
		fputs(put++ ? ", " : "", out);
		report_text_clean(e->name, out);
		fprintf(out, " %s%s%s", units_count(a, e->samples), e->is_shown ? " (shown)" : "",
			e->is_decoded ? "" : " (not decoded: no format)");
	}
	if (n > put)
		fprintf(out, " and %zu more", n - put);
	if (r->hidden)
		fprintf(out, "; %s samples of %u event%s not shown: -e NAME, or -e all",
			units_count(a, r->hidden), r->n_hidden,
			r->n_hidden == 1 ? " are" : "s are");
	fputc('\n', out);
}

void report_events_json(const struct report_data *d, struct jsonw *j)
{
	jsonw_begin(j, "events", '[', false);
	for (size_t i = 0; i < d->recorded.n; i++) {
		jsonw_begin(j, NULL, '{', true);
		report_json_figures(j, query_recorded_figures, &d->recorded.events[i], 0);
		jsonw_end(j, '}');
	}
	jsonw_end(j, ']');
}

/* "; 15 still wait, 44.3s so far": the tables have these waits, too. */
static void put_waiting(const struct query_overview *o, FILE *out)
{
	char ns[UNITS_BUF];

	if (o->waiting)
		fprintf(out, "; %u still wait%s, %s so far", o->waiting, o->waiting == 1 ? "s" : "",
			units_ns(ns, o->inflight_ns));
	fputc('\n', out);
}

void report_head_text(const struct report_data *data, FILE *out)
{
	const struct query_overview *o = &data->overview;
	const struct record_host *h = o->host;
	char a[UNITS_BUF], b[UNITS_BUF], c[UNITS_BUF], d[UNITS_BUF], cost[QUERY_COST_TEXT];
	char shorts[QUERY_SHORTS_TEXT];

	fputs("# kontend report: ", out);
	report_text_clean(h->targets[0] ? h->targets : "?", out);
	fputs(", kernel ", out);
	report_text_clean(h->release[0] ? h->release : "?", out);
	report_text_clean(h->machine[0] ? " " : "", out);
	report_text_clean(h->machine, out);
	fprintf(out, ", %u CPUs\n", h->cpus_online);
	if (data->spec->is_range)
		put_range(o, out);
	fprintf(out, "# measured %s: %s events, %s waits, %s waited", units_ns(a, o->elapsed_ns),
		units_count(b, o->n_events), units_count(c, o->contended),
		units_ns(d, o->total_ns));
	put_waiting(o, out);
	report_sandbox_text(data->q->engine->sandbox, out);
	put_refused(data, out);
	put_events(&data->recorded, out);
	put_only(data, out);
	put_quality(out, o);
	put_notes(&data->q->engine->notes, out);
	put_trusted(data->q, out);
	report_text_no_locks(data->q, "# ", out);
	if (data->shorts.known)
		fprintf(out, "# not reported: %s\n",
			query_shorts_text(&data->shorts, shorts, sizeof(shorts)));
	if (data->cost.known)
		fprintf(out, "# kontend itself: %s\n",
			query_cost_text(&data->cost, cost, sizeof(cost)));
}

/* "waited at FILE:412 commit_log (pwrite64), holder at FILE:80 rotate" */
static void put_places(const struct query_finding *f, FILE *out)
{
	if (!f->at && !f->owner_at)
		return;
	fputs("#               ", out);
	if (f->at) {
		fputs("waited at ", out);
		report_text_clean(f->at, out);
	}
	if (f->at && f->syscall)
		fprintf(out, " (%s)", f->syscall);
	if (f->owner_at) {
		fputs(f->at ? ", holder at " : "holder at ", out);
		report_text_clean(f->owner_at, out);
	}
	fputc('\n', out);
}

/* "# verdict: BAD  41 tasks wait for mmap_lock mysqld/800, avg 38.2, longest 2.1s" */
static void put_finding(const struct query_finding *f, const char *head, FILE *out)
{
	fprintf(out, "# %s%-4s ", head, query_verdict_word(f->level));
	report_text_clean(f->text, out);
	fputc('\n', out);
	if (f->because) {
		fputs("#               ", out);
		report_text_clean(f->because, out);
		fputc('\n', out);
	}
	put_places(f, out);
}

static void put_verdict(const struct query_verdict *v, FILE *out)
{
	fputs("#\n", out);
	put_finding(&v->worst, "verdict: ", out);
	for (uint32_t i = 1; i < v->n_findings; i++)
		put_finding(&v->findings[i], "         ", out);
}

/* The record that names the machine is no snapshot. */
static void put_elsewhere(const struct query_elsewhere *e, struct query *q, FILE *out)
{
	const char *text = e->known ? query_elsewhere_text(q, e) : e->reason;

	if (text && *text) {
		fprintf(out, "# asleep, but not for a kernel lock, in the last snapshot: %s",
			e->known ? "" : "not known: ");
		report_text_clean(text, out);
		fputc('\n', out);
	}
	text = query_elsewhere_futexes(q, e);
	if (text) {
		fputs("# asleep in futex, and not known to wait for a lock: ", out);
		report_text_clean(text, out);
		fputc('\n', out);
	}
	text = query_elsewhere_counts(q, e);
	if (text)
		fprintf(out, "# sleeps in futex: %s\n", text);
	text = query_elsewhere_slept(q, e);
	if (!text)
		return;
	fputs("# sleeps in state D that have ended: ", out);
	report_text_clean(text, out);
	fputc('\n', out);
}

void report_overview_text(const struct report_data *d, FILE *out)
{
	const struct query_overview *o = &d->overview;
	char a[UNITS_BUF], b[UNITS_BUF];

	put_verdict(&d->verdict, out);
	fprintf(out, "#\n# overview: %s contentions/s, %s tasks wait on average\n",
		units_rate(a, report_rate(d, o->contended)),
		units_tasks(b, report_rate(d, o->waited_ns)));
	fprintf(out, "# waiting now: %u (rwsem W %u, R %u)", o->waiting, o->waiting_rwsem_w,
		o->waiting_rwsem_r);
	if (o->waiting_early)
		fprintf(out, ", %u since before measuring began", o->waiting_early);
	if (o->waiting_doubtful)
		fprintf(out, ", %u doubtful", o->waiting_doubtful);
	if (o->any_longest) {
		fprintf(out, ", longest %s%s: ", o->longest_approx ? "~" : "",
			units_ns(a, o->longest_ns));
		report_text_clean(o->longest_task, out);
		fprintf(out, " on %s ", o->longest_type);
		report_text_clean(o->longest_lock, out);
	}
	fputc('\n', out);
	if (o->own_waits || o->own_waiting)
		fprintf(out, "# of these kontend itself: %u waiting now; %s waits of %s\n",
			o->own_waiting, units_count(a, o->own_waits), units_ns(b, o->own_wait_ns));
	put_elsewhere(&d->verdict.elsewhere, d->q, out);
	report_mmap_text_worst(d, out);
	report_perf_text_sum(d, out);
	if (d->rotation_sum.known)
		report_rotation_text_sum(d, out);
	report_uprobe_text_sum(d, out);
	fputs("#\n", out);
	report_text_table(&d->types, d->spec, out);
	fputs("#\n", out);
	report_text_table(&d->cpus, d->spec, out);
}

static const struct figure host_figures[] = {
	{FIGURE("kernel", TEXT, struct record_host, release), .flags = FIGURE_CHARS},
	{FIGURE("machine", TEXT, struct record_host, machine), .flags = FIGURE_CHARS},
	{FIGURE("cpus", COUNT, struct record_host, cpus_online)},
	{FIGURE("targets", TEXT, struct record_host, targets), .flags = FIGURE_CHARS},
	{FIGURE("method", TEXT, struct record_host, method), .flags = FIGURE_CHARS},
	{FIGURE("start_ns", NS, struct record_host, clock_ns)},
	{FIGURE("start_wall_ns", NS, struct record_host, wall_ns)},
	FIGURE_END,
};

const struct figure report_time_figures[] = {
	{FIGURE("time_from_ns", NS, struct query_overview, from_ns), .flags = FIGURE_JSON},
	{FIGURE("time_to_ns", NS, struct query_overview, to_ns), .flags = FIGURE_JSON},
	{FIGURE("duration_ns", NS, struct query_overview, elapsed_ns)},
	{FIGURE("events", COUNT, struct query_overview, n_events)},
	FIGURE_END,
};

static void put_snapshots(struct jsonw *j, const struct query_overview *o)
{
	jsonw_begin(j, "snapshots", '{', true);
	for (uint16_t kind = SNAPSHOT_NONE + 1; kind < SNAPSHOT_KINDS; kind++)
		/* The latest buckets are those of the range. */
		if (kind != SNAPSHOT_MACHINE)
			jsonw_u64(j, snapshot_kind(kind)->name, o->n_snapshots[kind]);
	jsonw_u64(j, "unknown", o->damage.snapshot_unknown);
	jsonw_u64(j, "lost", o->damage.snapshot_lost);
	jsonw_end(j, '}');
}

static void put_cost_json(const struct report_data *d, struct jsonw *j)
{
	if (!d->cost.known) {
		jsonw_null(j, "cost");
		return;
	}
	jsonw_begin(j, "cost", '{', true);
	report_json_figures(j, query_cost_figures, &d->cost, 0);
	jsonw_end(j, '}');
}

static void put_shorts_json(const struct report_data *d, struct jsonw *j)
{
	const struct model *m = d->q->model;

	if (!d->shorts.known)
		return;
	jsonw_begin(j, "short", '{', true);
	report_json_figures(j, query_shorts_figures, &d->shorts, 0);
	jsonw_begin(j, "types", '[', true);
	for (unsigned i = 0; i < LOCK_TYPES; i++) {
		const struct shorts_sum *s = &m->shorts->types[i];
		if (!s->n && !s->counted)
			continue;
		jsonw_begin(j, NULL, '{', true);
		jsonw_str(j, "kind", locktype_name((enum lock_type)i));
		jsonw_u64(j, "waits", s->n);
		jsonw_u64(j, "total_ns", s->ns);
		jsonw_u64(j, "counted_only", s->counted);
		jsonw_end(j, '}');
	}
	jsonw_end(j, ']');
	jsonw_end(j, '}');
}

void report_notes_json(const struct report_data *d, struct jsonw *j)
{
	const struct notes *notes = &d->q->engine->notes;

	jsonw_begin(j, "notes", '[', false);
	for (size_t i = 0; i < notes->n; i++) {
		const struct note *n = &notes->items[i];

		jsonw_begin(j, NULL, '{', true);
		jsonw_str(j, "kind", notes_kind(n->kind));
		if (n->offset == NOTE_NOWHERE)
			jsonw_null(j, "offset");
		else
			jsonw_u64(j, "offset", n->offset);
		jsonw_str(j, "text", n->text);
		jsonw_u64(j, "count", n->count);
		jsonw_end(j, '}');
	}
	jsonw_end(j, ']');
	if (notes->left_out)
		jsonw_u64(j, "notes_left_out", notes->left_out);
}

void report_source_json(const struct report_data *d, struct jsonw *j)
{
	const struct query_overview *o = &d->overview;

	jsonw_begin(j, "source", '{', false);
	jsonw_str(j, "kind", d->spec->source_kind ? d->spec->source_kind : "live");
	report_sandbox_json(d->q->engine->sandbox, j);
	report_json_figures(j, host_figures, o->host, 0);
	put_refused_json(d, j);
	report_json_figures(j, report_time_figures, o, 0);
	report_json_damage(j, &o->damage, &o->loss, &o->unmatched_pct);
	put_only_json(d, j);
	put_snapshots(j, o);
	put_cost_json(d, j);
	put_shorts_json(d, j);
	if (o->no_ends)
		jsonw_bool(j, "no_ends", true);
	if (o->loss.no_locks)
		jsonw_bool(j, "no_locks", true);
	jsonw_str(j, "symbols", report_sym_state(o->sym_state));
	put_trusted_json(d->q, j);
	report_perf_json_source(d, j);
	report_uprobe_json_source(d, j);
	jsonw_end(j, '}');
}

const struct figure report_longest_figures[] = {
	{FIGURE("since_ns", NS, struct query_overview, longest_ns), .csv = "longest_ns"},
	{FIGURE("task", TEXT, struct query_overview, longest_task), .flags = FIGURE_JSON},
	{FIGURE("kind", TEXT, struct query_overview, longest_type), .flags = FIGURE_JSON},
	{FIGURE("name", TEXT, struct query_overview, longest_lock), .flags = FIGURE_JSON},
	{FIGURE("at_least", BOOL, struct query_overview, longest_approx), .flags = FIGURE_JSON},
	FIGURE_END,
};

static void put_longest(struct jsonw *j, const struct query_overview *o)
{
	if (!o->any_longest) {
		jsonw_null(j, "longest");
		return;
	}
	jsonw_begin(j, "longest", '{', true);
	report_json_figures(j, report_longest_figures, o, 0);
	jsonw_end(j, '}');
}

/* The latest buckets are those of the range. */
static void put_series(struct jsonw *j, const char *key, const uint64_t *v,
		       const struct query_overview *o)
{
	jsonw_begin(j, key, '[', true);
	for (uint32_t i = o->n_series - o->n_range; v && i < o->n_series; i++)
		jsonw_u64(j, NULL, v[i]);
	jsonw_end(j, ']');
}

const struct figure report_overview_figures[] = {
	{FIGURE("contended", COUNT, struct query_overview, contended)},
	{FIGURE("total_ns", NS, struct query_overview, total_ns)},
	{FIGURE("inflight_ns", NS, struct query_overview, inflight_ns), .flags = FIGURE_JSON},
	{FIGURE("waiting", COUNT, struct query_overview, waiting)},
	{FIGURE("waiting_rwsem_r", COUNT, struct query_overview, waiting_rwsem_r)},
	{FIGURE("waiting_rwsem_w", COUNT, struct query_overview, waiting_rwsem_w)},
	{FIGURE("waiting_early", COUNT, struct query_overview, waiting_early),
	 .flags = FIGURE_JSON},
	{FIGURE("own_waiting", COUNT, struct query_overview, own_waiting), .flags = FIGURE_JSON},
	{FIGURE("own_waits", COUNT, struct query_overview, own_waits), .flags = FIGURE_JSON},
	{FIGURE("own_wait_ns", NS, struct query_overview, own_wait_ns), .flags = FIGURE_JSON},
	{FIGURE("waiting_doubtful", COUNT, struct query_overview, waiting_doubtful),
	 .flags = FIGURE_JSON},
	FIGURE_END,
};

static void put_elsewhere_json(const struct query_elsewhere *e, struct jsonw *j)
{
	jsonw_begin(j, "elsewhere", '{', true);
	report_json_figures(j, query_elsewhere_figures, e, 0);
	jsonw_begin(j, "processes", '[', true);
	for (size_t i = 0; i < e->n; i++) {
		jsonw_begin(j, NULL, '{', true);
		report_json_figures(j, query_elsewhere_row_figures, &e->rows[i], 0);
		jsonw_end(j, '}');
	}
	jsonw_end(j, ']');
	jsonw_begin(j, "futexes", '[', true);
	for (size_t i = 0; i < e->n_futexes; i++) {
		jsonw_begin(j, NULL, '{', true);
		report_json_figures(j, query_futex_figures, &e->futexes[i], 0);
		jsonw_end(j, '}');
	}
	jsonw_end(j, ']');
	jsonw_end(j, '}');
}

void report_overview_json(const struct report_data *d, struct jsonw *j)
{
	const struct query_overview *o = &d->overview;

	jsonw_begin(j, "overview", '{', false);
	jsonw_double(j, "events_per_s", report_rate(d, o->n_events));
	jsonw_double(j, "contended_per_s", report_rate(d, o->contended));
	jsonw_double(j, "wait_ns_per_s", report_rate(d, o->waited_ns));
	report_json_figures(j, report_overview_figures, o, 0);
	jsonw_begin(j, "verdict", '{', true);
	report_json_figures(j, query_verdict_figures, &d->verdict, 0);
	jsonw_begin(j, "findings", '[', true);
	for (uint32_t i = 0; i < d->verdict.n_findings; i++) {
		jsonw_begin(j, NULL, '{', true);
		report_json_figures(j, query_finding_figures, &d->verdict.findings[i], 0);
		jsonw_end(j, '}');
	}
	jsonw_end(j, ']');
	jsonw_end(j, '}');
	put_elsewhere_json(&d->verdict.elsewhere, j);
	put_longest(j, o);
	jsonw_u64(j, "bucket_ns", o->bucket_ns);
	put_series(j, "contended_series", o->contended_series, o);
	put_series(j, "wait_ns_series", o->wait_series, o);
	put_series(j, "waiting_series", o->waiting_series, o);
	report_perf_json_sum(d, j);
	report_rotation_json_sum(d, j);
	report_uprobe_json_sum(d, j);
	report_mmap_json_worst(d, j);
	report_json_rows(j, "types", &d->types);
	report_json_rows(j, "cpus", &d->cpus);
	jsonw_end(j, '}');
}
