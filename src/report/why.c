// SPDX-License-Identifier: GPL-2.0-only
/* The activity of chosen tasks, by cause, and their longest sleeps, each with its chain. */
#include "internal.h"
#include "kontend/text.h"
#include "kontend/units.h"

#include <errno.h>

enum { LONGEST_TEXT = 10 };

int report_why_ask(struct report_data *d, const struct query_spec *s, struct error *err)
{
	int32_t tid = d->spec->why_tid;
	int r = query_why_sum(d->q, tid, &d->why_sum);

	r = r < 0 ? r : query_why_blocks(d->q, tid, &d->why_blocks, &d->n_why_blocks);
	return r < 0 ? r : query_why(d->q, tid, s, &d->why, err);
}

static void put_part(uint64_t ns, uint64_t all_ns, const char *what, FILE *out)
{
	char share[UNITS_BUF], time[UNITS_BUF];

	fprintf(out, ", %s %s%% (%s)", what,
		units_pct(share, all_ns ? 100 * (double)ns / (double)all_ns : 0),
		units_ns(time, ns));
}

static void put_sum(const struct query_why_sum *s, FILE *out)
{
	char a[UNITS_BUF], b[UNITS_BUF];

	fputs("# ", out);
	if (s->task)
		report_text_clean(s->task, out);
	else
		fprintf(out, "%s tasks", units_count(a, s->tasks));
	fprintf(out, ", %s in %s", units_ns(a, s->all_ns), units_ns(b, s->span_ns));
	put_part(s->running_ns, s->all_ns, "running", out);
	put_part(s->ready_ns, s->all_ns, "runnable", out);
	put_part(s->blocked_ns, s->all_ns, "blocked", out);
	if (s->unknown_ns)
		put_part(s->unknown_ns, s->all_ns, "not known", out);
	fputc('\n', out);
	if (s->missed)
		fprintf(out, "# records that were lost: %s\n", units_count(a, s->missed));
	if (s->dropped)
		fprintf(out, "# tasks and causes without room: %s\n", units_count(a, s->dropped));
}

static void put_lock(const char *cause, const char *lock, FILE *out)
{
	report_text_clean(cause, out);
	if (!lock)
		return;
	fputc(' ', out);
	report_text_clean(lock, out);
}

/* The kernel's function only where the call is not known. */
static void put_place(const struct report_data *d, const struct query_why_block *b, FILE *out)
{
	const char *place = query_why_place(d->q, b->syscall, b->on, b->at);

	if (place) {
		fputs(", ", out);
		report_text_clean(place, out);
	} else if (b->sleeps_in) {
		fprintf(out, ", in %s", b->sleeps_in);
	}
}

static void put_ended(const struct report_data *d, const char *holder, bool is_holder,
		      const char *end, size_t depth, FILE *out)
{
	const char *text = query_why_ended(d->q, holder, is_holder, end);

	fprintf(out, "#     %*s", 2 * (int)depth, "");
	report_text_clean(text ? text : "?", out);
	fputc('\n', out);
}

static void put_block(const struct report_data *d, const struct query_why_block *b, FILE *out)
{
	char ns[UNITS_BUF], ago[UNITS_BUF];

	fprintf(out, "#   %s ", units_ns(ns, b->length_ns));
	report_text_clean(b->task, out);
	fprintf(out, " at %s: ", units_ns(ago, b->at_ns));
	put_lock(b->cause, b->lock, out);
	put_place(d, b, out);
	fputc('\n', out);
	put_ended(d, b->holder, b->is_holder, b->end, 0, out);
	for (size_t i = 0; i < b->n_links; i++) {
		const char *text = query_why_link_text(d->q, &b->links[i]);
		fprintf(out, "#     %*s", 2 * (int)(i + 1), "");
		report_text_clean(text ? text : "?", out);
		fputc('\n', out);
		if (!b->links[i].longest_ns)
			continue;
		put_ended(d, b->links[i].holder, b->links[i].is_holder, b->links[i].end, i + 1,
			  out);
	}
}

static const char *why_none(const struct report_data *d)
{
	return d->spec->follows ? "the chosen tasks had ended before they were followed"
				: d->why_sum.none;
}

void report_why_text(const struct report_data *d, FILE *out)
{
	const struct query_why_sum *s = &d->why_sum;

	fputs("#\n# what the chosen tasks did: ", out);
	if (!s->known) {
		fprintf(out, "not known: %s\n", why_none(d));
		return;
	}
	report_text_count(&d->why, "rows", out);
	put_sum(s, out);
	report_text_table(&d->why, d->spec, out);
	if (d->n_why_blocks)
		fputs("# longest times blocked, and who led to their end:\n", out);
	for (size_t i = 0; i < d->n_why_blocks && i < LONGEST_TEXT; i++)
		put_block(d, &d->why_blocks[i], out);
}

static void json_link(const struct query_why_link *l, struct jsonw *j)
{
	jsonw_begin(j, NULL, '{', true);
	jsonw_i64(j, "pid", l->pid);
	jsonw_i64(j, "tid", l->tid);
	jsonw_str(j, "comm", l->comm);
	jsonw_u64(j, "all_ns", l->all_ns);
	jsonw_u64(j, "blocked_ns", l->slept_ns);
	jsonw_u64(j, "runnable_ns", l->ready_ns);
	jsonw_u64(j, "running_ns", l->ran_ns);
	jsonw_u64(j, "longest_ns", l->longest_ns);
	jsonw_str(j, "cause", l->cause);
	jsonw_str(j, "lock", l->lock);
	jsonw_str(j, "holder", l->holder);
	jsonw_str(j, "sleeps_in", l->sleeps_in);
	jsonw_str(j, "syscall", l->syscall);
	jsonw_str(j, "at", l->at);
	jsonw_str(j, "on", l->on);
	jsonw_str(j, "ended_by", l->end);
	jsonw_end(j, '}');
}

static void json_block(const struct query_why_block *b, struct jsonw *j)
{
	jsonw_begin(j, NULL, '{', false);
	jsonw_u64(j, "begin_ns", b->begin_ns);
	jsonw_u64(j, "length_ns", b->length_ns);
	jsonw_i64(j, "pid", b->pid);
	jsonw_i64(j, "tid", b->tid);
	jsonw_str(j, "comm", b->comm);
	jsonw_str(j, "cause", b->cause);
	jsonw_str(j, "lock", b->lock);
	jsonw_str(j, "holder", b->holder);
	jsonw_str(j, "sleeps_in", b->sleeps_in);
	jsonw_str(j, "syscall", b->syscall);
	jsonw_str(j, "syscall_reason", b->syscall_why);
	jsonw_str(j, "at", b->at);
	jsonw_str(j, "at_reason", b->at_why);
	jsonw_str(j, "on", b->on);
	jsonw_str(j, "on_reason", b->on_why);
	jsonw_str(j, "ended_by", b->end);
	jsonw_i64(j, "waker_pid", b->waker_pid);
	jsonw_i64(j, "waker_tid", b->waker_tid);
	jsonw_str(j, "waker_comm", b->waker_comm);
	jsonw_begin(j, "chain", '[', false);
	for (size_t i = 0; i < b->n_links; i++)
		json_link(&b->links[i], j);
	jsonw_end(j, ']');
	jsonw_str(j, "chain_end", b->chain_end);
	jsonw_end(j, '}');
}

static const struct figure sum_figures[] = {
	{FIGURE("tasks", COUNT, struct query_why_sum, tasks)},
	{FIGURE("span_ns", NS, struct query_why_sum, span_ns)},
	{FIGURE("all_ns", NS, struct query_why_sum, all_ns)},
	{FIGURE("running_ns", NS, struct query_why_sum, running_ns)},
	{FIGURE("runnable_ns", NS, struct query_why_sum, ready_ns)},
	{FIGURE("blocked_ns", NS, struct query_why_sum, blocked_ns)},
	{FIGURE("not_known_ns", NS, struct query_why_sum, unknown_ns)},
	{FIGURE("missed", COUNT, struct query_why_sum, missed)},
	{FIGURE("dropped", COUNT, struct query_why_sum, dropped)},
	FIGURE_END,
};

void report_why_json(const struct report_data *d, struct jsonw *j)
{
	const struct query_why_sum *s = &d->why_sum;

	report_json_head(j, &d->why, NULL);
	jsonw_str(j, "none", s->known ? NULL : why_none(d));
	jsonw_begin(j, "sum", '{', false);
	report_json_figures(j, sum_figures, s, 0);
	jsonw_end(j, '}');
	report_json_rows(j, "rows", &d->why);
	jsonw_begin(j, "longest", '[', false);
	for (size_t i = 0; i < d->n_why_blocks; i++)
		json_block(&d->why_blocks[i], j);
	jsonw_end(j, ']');
	jsonw_end(j, '}');
}
