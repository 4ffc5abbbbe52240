// SPDX-License-Identifier: GPL-2.0-only
/* Waits in reports: locks, waiters and chains of them, the call tree, the histogram of durations.
 */
#include "internal.h"
#include "kontend/engine.h"
#include "kontend/query-hist.h"
#include "kontend/query-incidents.h"
#include "kontend/query-tree.h"
#include "kontend/text.h"
#include "kontend/units.h"

enum { BAR_WIDTH = 40 };

static struct report_snapshot snapshot_of(const struct report_data *d)
{
	return (struct report_snapshot){.known = true,
					.reason = d->lock_look.reason,
					.missing = d->lock_look.missing,
					.key = query_lock_missing_key};
}

static void put_no_look(const struct report_data *d, const char *what, FILE *out)
{
	if (!d->lock_look.refused)
		return;
	fprintf(out, "# not known: %s: ", what);
	report_text_clean(d->lock_look.reason, out);
	fputc('\n', out);
}

static void put_unknown(const struct report_data *d, FILE *out)
{
	enum lock_type type;
	unsigned at = 0;

	while (query_lock_unknowns(d->q, &at, &type))
		fprintf(out, "# %s: %s\n", locktype_base(type), query_lock_unknown(type));
}

static void put_unknown_json(const struct report_data *d, struct jsonw *j)
{
	enum lock_type type;
	unsigned at = 0, n = 0;

	for (; query_lock_unknowns(d->q, &at, &type); n++) {
		if (!n)
			jsonw_begin(j, "unknown", '[', true);
		jsonw_begin(j, NULL, '{', true);
		jsonw_str(j, "type", locktype_base(type));
		jsonw_str(j, "what", query_lock_unknown(type));
		jsonw_end(j, '}');
	}
	if (n)
		jsonw_end(j, ']');
}

void report_locks_text(const struct report_data *d, FILE *out)
{
	const struct table *t = &d->locks;

	fprintf(out, "#\n# locks by %s, sorted by %s%s: ", query_by_name(d->spec->query.by),
		t->columns[t->sort_col].key, t->reverse ? " (reversed)" : "");
	report_text_count(t, "rows", out);
	put_no_look(d, "names, holders", out);
	if (*d->lock_look.no_names) {
		fputs("# not known: names of locks by their objects: ", out);
		report_text_clean(d->lock_look.no_names, out);
		fputc('\n', out);
	}
	if (d->spec->query.by == BY_OWNER && !d->q->model->owners_reported)
		fputs("# holders of the locks were not recorded: measure or record with --owner\n",
		      out);
	put_unknown(d, out);
	if (t->n_total == 0)
		fputs(d->q->only	    ? "# no wait passes the filter\n"
		      : d->overview.no_ends ? "# no wait has ended\n"
					    : "# no contention was seen\n",
		      out);
	else
		report_text_table(t, d->spec, out);
}

void report_waiters_text(const struct report_data *d, FILE *out)
{
	fputs("#\n# waiters at the end, and the waits that ended in the 10s before: ", out);
	report_text_count(&d->waiters, "rows", out);
	put_no_look(d, "names, holders, places", out);
	if (d->waiters.n_total == 0)
		fputs(d->overview.no_ends ? "# not known without ends\n"
					  : "# no task was waiting, and none had been\n",
		      out);
	else
		report_text_table(&d->waiters, d->spec, out);
}

static const uint32_t IN_LOCKS = QUERY_LOCK_NO_NAMES | QUERY_LOCK_NO_HOLDERS;

void report_locks_json(const struct report_data *d, struct jsonw *j)
{
	struct report_snapshot s = snapshot_of(d);

	report_json_head(j, &d->locks, query_by_name(d->spec->query.by));
	report_json_missing(j, &s, IN_LOCKS);
	if (*d->lock_look.no_names)
		jsonw_str(j, "no_names", d->lock_look.no_names);
	put_unknown_json(d, j);
	report_json_rows(j, "rows", &d->locks);
	jsonw_end(j, '}');
}

void report_waiters_json(const struct report_data *d, struct jsonw *j)
{
	struct report_snapshot s = snapshot_of(d);

	report_json_part(j, &d->waiters, NULL, &s, UINT32_MAX);
}

void report_chains_text(const struct report_data *d, FILE *out)
{
	const struct query_chains_sum *s = &d->chains_sum;
	char a[UNITS_BUF], b[UNITS_BUF];

	fprintf(out, "#\n# chains at the end: %u root%s, %u task%s behind", s->roots,
		s->roots == 1 ? "" : "s", s->tasks, s->tasks == 1 ? "" : "s");
	if (s->tasks)
		fprintf(out, ", together %s, longest %s", units_ns(a, s->sum_ns),
			units_ns(b, s->longest_ns));
	if (s->circles)
		fprintf(out, "; deadlocks: %u proved, %u perhaps", s->proved,
			s->circles - s->proved);
	if (s->doubtful)
		fprintf(out, "; %u doubtful waits left out", s->doubtful);
	if (s->ended_tasks)
		fprintf(out, "; ended in the last 10 s: %u task%s behind %u root%s, longest %s",
			s->ended_tasks, s->ended_tasks == 1 ? "" : "s", s->ended_roots,
			s->ended_roots == 1 ? "" : "s", units_ns(a, s->ended_longest_ns));
	fputc('\n', out);
	put_no_look(d, "holders", out);
	if (*d->lock_look.no_readers) {
		fputs("# not known: which tasks are readers: ", out);
		report_text_clean(d->lock_look.no_readers, out);
		fputc('\n', out);
	}
	if (d->lock_look.many_tasks)
		fputs("# not all tasks were checked for readers\n", out);
	if (d->chains.n_total == 0)
		fputs("# no task was waiting\n", out);
	else
		report_text_table(&d->chains, d->spec, out);
}

void report_chains_json(const struct report_data *d, struct jsonw *j)
{
	const struct query_chains_sum *s = &d->chains_sum;
	struct report_snapshot look = snapshot_of(d);

	report_json_head(j, &d->chains, NULL);
	report_json_missing(j, &look, QUERY_LOCK_NO_HOLDERS);
	jsonw_u64(j, "roots", s->roots);
	jsonw_u64(j, "tasks", s->tasks);
	jsonw_u64(j, "waited_ns", s->sum_ns);
	jsonw_u64(j, "longest_ns", s->longest_ns);
	jsonw_u64(j, "circles", s->circles);
	jsonw_u64(j, "deadlocks", s->proved);
	jsonw_u64(j, "doubtful", s->doubtful);
	jsonw_u64(j, "ended_roots", s->ended_roots);
	jsonw_u64(j, "ended_tasks", s->ended_tasks);
	jsonw_u64(j, "ended_waited_ns", s->ended_sum_ns);
	jsonw_u64(j, "ended_longest_ns", s->ended_longest_ns);
	if (*d->lock_look.no_readers)
		jsonw_str(j, "no_readers", d->lock_look.no_readers);
	jsonw_bool(j, "readers_incomplete", d->lock_look.many_tasks);
	report_json_rows(j, "rows", &d->chains);
	jsonw_end(j, '}');
}

/* Reasons for which tasks may be missing. */
static void put_blocked_missing(const struct query_blocked_sum *s, FILE *out)
{
	char n[UNITS_BUF];

	if (s->dropped)
		fprintf(out, "# not in the table: %s tasks, as the snapshot was full\n",
			units_count(n, s->dropped));
	if (s->unwatched)
		fprintf(out, "# %s tasks in state S were not looked at, as they are too many\n",
			units_count(n, s->unwatched));
	if (s->only_known)
		fputs("# only tasks that an earlier snapshot had found, as all are read now and "
		      "then\n",
		      out);
	if (*s->no_objects) {
		fputs(s->by_proc ? "# by /proc, without most objects, and tasks that cpu.max "
				   "throttles: "
				 : "# for what they wait is not known: ",
		      out);
		report_text_clean(s->no_objects, out);
		fputc('\n', out);
	}
}

enum { LONGEST_SLEEPS = 10 };

/* How each sleep in state D is measured, if it is, and the longest. */
static void put_sleeps(const struct query_sleeps *s, FILE *out)
{
	char a[UNITS_BUF], b[UNITS_BUF];

	if (s->left_out)
		fprintf(out, "# %s\n", s->left_out);
	if (s->off_ns)
		fprintf(out, "# not measured, as that cost too much, for %s\n",
			units_ns(a, s->off_ns));
	if (s->now)
		fprintf(out, "# sleeps in state D that have not ended: %s, of %s until now\n",
			units_count(b, s->now), units_ns(a, s->now_ns));
	if (s->missed)
		fprintf(out, "# long sleeps that are in the sums alone: %s\n",
			units_count(a, s->missed));
	if (s->is_short)
		fprintf(out, "# sleeps of a part of the window are no longer kept\n");
	if (s->n)
		fprintf(out, "# longest sleeps in state D:\n");
	for (size_t i = 0; i < s->n && i < LONGEST_SLEEPS; i++) {
		const struct query_sleep *one = &s->longest[i];
		fprintf(out, "#   %s from %.6f on: ", units_ns(a, one->length_ns),
			(double)one->begin_ns / 1e9);
		report_text_clean(one->task, out);
		fprintf(out, ", %s, in %s, ", one->cause, one->sleeps_in ? one->sleeps_in : "?");
		if (one->at) {
			fprintf(out, "at ");
			report_text_clean(one->at, out);
			fprintf(out, ", ");
		}
		fprintf(out, "woken by ");
		report_text_clean(one->waker, out);
		fputc('\n', out);
	}
}

void report_blocked_text(const struct report_data *d, FILE *out)
{
	const char *by = query_blocked_by_name(d->spec->query.by);
	const struct query_blocked_sum *s = &d->blocked_sum;
	char a[UNITS_BUF], b[UNITS_BUF], c[UNITS_BUF];

	fprintf(out, "#\n# blocked tasks, by %s: ", by);
	if (!s->known) {
		fprintf(out, "not known: ");
		report_text_clean(s->reason, out);
		fputc('\n', out);
		return;
	}
	report_text_count(&d->blocked, "rows", out);
	fprintf(out, "# in the latest snapshot, %s before the end: %s, of them %s in state D",
		units_ns(a, s->age_ns), units_count(b, s->tasks), units_count(c, s->in_d));
	if (s->kthreads)
		fprintf(out, " (%s kernel threads)", units_count(a, s->kthreads));
	if (s->stopped)
		fprintf(out, ", %s stopped", units_count(a, s->stopped));
	if (s->throttled)
		fprintf(out, "; beside them throttled by cpu.max: %s",
			units_count(a, s->throttled));
	fprintf(out, "; snapshots: %s\n", units_count(a, s->snapshots));
	put_blocked_missing(s, out);
	if (d->blocked.n_total)
		report_text_table(&d->blocked, d->spec, out);
	put_sleeps(&d->sleeps, out);
}

static void put_longest_json(const struct query_sleeps *s, struct jsonw *j)
{
	jsonw_begin(j, "longest", '[', false);
	for (size_t i = 0; i < s->n && i < LONGEST_SLEEPS; i++) {
		const struct query_sleep *one = &s->longest[i];
		jsonw_begin(j, NULL, '{', true);
		jsonw_u64(j, "begin_ns", one->begin_ns);
		jsonw_u64(j, "length_ns", one->length_ns);
		jsonw_i64(j, "pid", one->pid);
		jsonw_i64(j, "tid", one->tid);
		jsonw_str(j, "comm", one->comm);
		jsonw_i64(j, "waker_pid", one->waker_pid);
		jsonw_i64(j, "waker_tid", one->waker_tid);
		jsonw_str(j, "waker_comm", one->waker_comm);
		jsonw_bool(j, "io", one->io);
		jsonw_str(j, "cause", one->cause);
		jsonw_str(j, "sleeps_in", one->sleeps_in);
		jsonw_str(j, "at", one->at);
		jsonw_str(j, "at_reason", one->at_why);
		jsonw_end(j, '}');
	}
	jsonw_end(j, ']');
}

static void put_sleeps_json(const struct query_sleeps *s, struct jsonw *j)
{
	if (!s->known)
		return;
	jsonw_begin(j, "each_sleep", '{', false);
	jsonw_str(j, "level", s->level);
	jsonw_u64(j, "min_ns", s->min_ns);
	jsonw_u64(j, "span_ns", s->span_ns);
	jsonw_u64(j, "now", s->now);
	jsonw_u64(j, "now_ns", s->now_ns);
	jsonw_double(j, "switch_ns", s->switch_ns);
	jsonw_u64(j, "dropped", s->dropped);
	jsonw_u64(j, "missed", s->missed);
	jsonw_u64(j, "off_ns", s->off_ns);
	jsonw_bool(j, "window_incomplete", s->is_short);
	put_longest_json(s, j);
	jsonw_end(j, '}');
}

void report_blocked_json(const struct report_data *d, struct jsonw *j)
{
	const struct query_blocked_sum *s = &d->blocked_sum;

	report_json_head(j, &d->blocked, query_blocked_by_name(d->spec->query.by));
	jsonw_bool(j, "known", s->known);
	if (*s->reason)
		jsonw_str(j, "reason", s->reason);
	if (s->known)
		jsonw_str(j, "method", s->method);
	if (*s->no_objects)
		jsonw_str(j, "no_objects", s->no_objects);
	jsonw_u64(j, "tasks", s->tasks);
	jsonw_u64(j, "in_d", s->in_d);
	jsonw_u64(j, "kthreads", s->kthreads);
	jsonw_u64(j, "stopped", s->stopped);
	jsonw_u64(j, "throttled", s->throttled);
	jsonw_u64(j, "dropped", s->dropped);
	jsonw_u64(j, "unwatched", s->unwatched);
	jsonw_u64(j, "snapshots", s->snapshots);
	jsonw_u64(j, "age_ns", s->age_ns);
	report_json_rows(j, "rows", &d->blocked);
	put_sleeps_json(&d->sleeps, j);
	jsonw_end(j, '}');
}

void report_queues_text(const struct report_data *d, FILE *out)
{
	const struct query_queued_sum *s = &d->queued_sum;
	char a[UNITS_BUF], b[UNITS_BUF];

	fputs("#\n# queues of locks that two waited for at a time: ", out);
	report_text_count(&d->queues, "rows", out);
	fprintf(out, "# %s wait%s in them at the end, convoys in progress: %u\n",
		units_count(a, s->waiting), s->waiting == 1 ? "s" : "", s->convoys);
	if (!s->times)
		fputs("# times of hand-overs are not known: the kernel reported no release of a "
		      "lock\n",
		      out);
	if (s->no_room)
		fprintf(out, "# no room for the queues of more locks: %s times\n",
			units_count(b, s->no_room));
	if (d->queues.n_total)
		report_text_table(&d->queues, d->spec, out);
}

void report_queues_json(const struct report_data *d, struct jsonw *j)
{
	const struct query_queued_sum *s = &d->queued_sum;

	report_json_head(j, &d->queues, NULL);
	jsonw_u64(j, "queues", s->queues);
	jsonw_u64(j, "waiting", s->waiting);
	jsonw_u64(j, "convoys_now", s->convoys);
	jsonw_u64(j, "no_room", s->no_room);
	jsonw_bool(j, "releases_told", s->times);
	report_json_rows(j, "rows", &d->queues);
	jsonw_end(j, '}');
}

void report_incidents_text(const struct report_data *d, FILE *out)
{
	const struct query_incidents *all = d->q->incidents;
	char n[UNITS_BUF];

	fputs("#\n# incidents, by time: ", out);
	report_text_count(&d->incidents, "rows", out);
	if (all && all->again)
		fprintf(out, "# fired again within the cooldown: %s times\n",
			units_count(n, all->again));
	if (all && all->lost)
		fprintf(out, "# fired, and not in the list, which is full: %s times\n",
			units_count(n, all->lost));
	if (d->incidents.n_total)
		report_text_table(&d->incidents, d->spec, out);
}

void report_incidents_json(const struct report_data *d, struct jsonw *j)
{
	const struct query_incidents *all = d->q->incidents;

	report_json_head(j, &d->incidents, NULL);
	jsonw_u64(j, "again", all ? all->again : 0);
	jsonw_u64(j, "lost", all ? all->lost : 0);
	report_json_rows(j, "rows", &d->incidents);
	jsonw_end(j, '}');
}

void report_tree_text(const struct report_data *d, FILE *out)
{
	char a[UNITS_BUF], b[UNITS_BUF], c[UNITS_BUF];
	const struct query_tree *t = &d->tree;

	fprintf(out, "#\n# call tree, from the %s: %s waits, %s waited",
		d->spec->inverted ? "outermost frames" : "call sites", units_count(a, t->n_waits),
		units_ns(b, t->total_ns));
	if (t->n_inflight)
		fprintf(out, "; %s of them, %s, in flight", units_count(a, t->n_inflight),
			units_ns(b, t->inflight_ns));
	fputc('\n', out);
	report_text_limit("calls", d->spec->percent_limit, out);
	fprintf(out, "# %5s  %6s  %6s  %6s  FUNCTION\n", d->spec->by_count ? "COUNT%" : "WAIT%",
		"TOTAL", "COUNT", "MAX");
	for (size_t i = 0; i < t->n; i++) {
		const struct query_node *n = &t->nodes[i];
		if (n->pct < d->spec->percent_limit)
			continue;
		fprintf(out, "  %5s", units_pct(a, n->pct));
		fprintf(out, "  %6s  %6s  %6s  ", units_ns(a, n->total_ns), units_count(b, n->n),
			units_ns(c, n->max_ns));
		fprintf(out, "%*s", n->depth * 2, "");
		report_text_clean(n->name, out);
		fputc('\n', out);
	}
}

/* Depth first, with the depth of each node, for readers that limit nesting. */
void report_tree_json(const struct report_data *d, struct jsonw *j)
{
	jsonw_begin(j, "tree", '{', false);
	jsonw_str(j, "roots", d->spec->inverted ? "outermost frames" : "call sites");
	jsonw_u64(j, "waits", d->tree.n_waits);
	jsonw_u64(j, "total_ns", d->tree.total_ns);
	jsonw_double(j, "percent_limit", d->spec->percent_limit);
	jsonw_begin(j, "nodes", '[', false);
	for (size_t i = 0; i < d->tree.n; i++) {
		if (d->tree.nodes[i].pct < d->spec->percent_limit)
			continue;
		jsonw_begin(j, NULL, '{', true);
		report_json_figures(j, report_node_figures, &d->tree.nodes[i], 0);
		jsonw_end(j, '}');
	}
	jsonw_end(j, ']');
	jsonw_end(j, '}');
}

static void put_bar(const struct query_bar *bar, uint64_t most, bool ascii, FILE *out)
{
	char a[UNITS_BUF], b[UNITS_BUF], c[UNITS_BUF];
	int len = (int)((double)bar->n / (double)most * BAR_WIDTH + 0.5);

	fprintf(out, "  %6s  %6s  %5s", units_ns(a, bar->lower_ns), units_count(b, bar->n),
		bar->n ? units_pct(c, bar->pct) : "0");
	if (bar->n)
		fputs("  ", out);
	for (int i = 0; bar->n && i < (len ? len : 1); i++)
		fputs(ascii ? "#" : "█", out);
	fputc('\n', out);
}

void report_text_hist(const struct query_hist *h, bool ascii, FILE *out)
{
	char a[UNITS_BUF], b[UNITS_BUF], c[UNITS_BUF], max[UNITS_BUF];
	const char *least = !h->at_least ? "" : ascii ? ">" : "≥";
	uint64_t most = 1;

	if (h->n_inflight)
		fprintf(out, ", and %s in flight", units_count(a, h->n_inflight));
	if (h->n_waits)
		fprintf(out, ", min %s", units_ns(a, h->min_ns));
	if (h->max_ns)
		fprintf(out, ", p50 %s%s, p90 %s%s, p99 %s%s, max %s%s", least,
			units_ns(a, h->p50_ns), least, units_ns(b, h->p90_ns), least,
			units_ns(c, h->p99_ns), h->max_at_least ? least : "",
			units_ns(max, h->max_ns));
	fprintf(out, "\n# %6s  %6s  %5s\n", "FROM", "COUNT", "%");
	for (size_t i = 0; i < h->n; i++)
		most = h->bars[i].n > most ? h->bars[i].n : most;
	for (size_t i = 0; i < h->n; i++)
		put_bar(&h->bars[i], most, ascii, out);
}

void report_hist_text(const struct report_data *d, FILE *out)
{
	char n[UNITS_BUF];

	fprintf(out, "#\n# wait histogram: %s waits", units_count(n, d->hist.n_waits));
	report_text_hist(&d->hist, d->spec->ascii, out);
}

static const struct figure hist_figures[] = {
	{FIGURE("waits", COUNT, struct query_hist, n_waits)},
	{FIGURE("inflight", COUNT, struct query_hist, n_inflight)},
	{FIGURE("total_ns", NS, struct query_hist, total_ns)},
	{FIGURE_IF("min_ns", NS, struct query_hist, min_ns, n_waits)},
	{FIGURE_IF("p50_ns", NS, struct query_hist, p50_ns, max_ns)},
	{FIGURE_IF("p90_ns", NS, struct query_hist, p90_ns, max_ns)},
	{FIGURE_IF("p99_ns", NS, struct query_hist, p99_ns, max_ns)},
	{FIGURE_IF("max_ns", NS, struct query_hist, max_ns, max_ns)},
	{FIGURE("at_least", BOOL, struct query_hist, at_least)},
	{FIGURE("max_at_least", BOOL, struct query_hist, max_at_least)},
	FIGURE_END,
};

void report_json_hist(struct jsonw *j, const char *name, const struct query_hist *h)
{
	jsonw_begin(j, name, '{', false);
	report_json_figures(j, hist_figures, h, 0);
	report_json_structs(j, "bars", report_bar_figures, h->bars, h->n, sizeof(*h->bars));
	jsonw_end(j, '}');
}

void report_hist_json(const struct report_data *d, struct jsonw *j)
{
	report_json_hist(j, "hist", &d->hist);
}
