// SPDX-License-Identifier: GPL-2.0-only
/*
 * The activity of the tasks that are followed (--why), by cause, and the page of one of them. The
 * lines above the table say how much of their time they ran, could have run and were blocked, and
 * have the longest times blocked, each with the chain of those who led to their end. Enter on the
 * page of a task opens its waits for locks.
 */
#include "kontend/query-why.h"
#include "kontend/units.h"
#include "list.h"

enum { ROWS_BELOW = 8 /* of the table, which stay */ };

/* v.row is the row of the table of tasks; 0: the view of all chosen tasks. */
static int32_t tid_of(const struct view *v)
{
	return v->row ? query_why_tid(v->query, v->row) : 0;
}

static int ask_rows(struct list_view *l, struct query_spec *spec, struct table *ret,
		    struct error *err)
{
	return query_why(l->v.query, tid_of(&l->v), spec, ret, err);
}

static void put_part(struct line *line, const char *what, uint64_t ns, uint64_t all_ns)
{
	char buf[UNITS_BUF];

	line_printf(line, ROLE_DIM, "  %s ", what);
	line_printf(line, ROLE_BOLD, "%s%%",
		    units_pct(buf, all_ns ? 100 * (double)ns / (double)all_ns : 0));
}

/* "12.3s  running 20%  runnable 3.1%  blocked 77%" */
static void draw_sum(struct screen *s, struct rect r, const struct query_why_sum *sum)
{
	struct line line = {.s = s, .r = r, .x = 1};
	char buf[UNITS_BUF];

	line_put(&line, ROLE_BOLD, units_ns(buf, sum->all_ns));
	put_part(&line, "running", sum->running_ns, sum->all_ns);
	put_part(&line, "runnable", sum->ready_ns, sum->all_ns);
	put_part(&line, "blocked", sum->blocked_ns, sum->all_ns);
	if (sum->unknown_ns)
		put_part(&line, "not known", sum->unknown_ns, sum->all_ns);
	if (sum->missed)
		line_printf(&line, ROLE_WARN, "  lost records: %s", units_count(buf, sum->missed));
	if (sum->is_short)
		line_put(&line, ROLE_WARN, "  not all of the window is kept");
}

/* Returns the number of lines. */
static int draw_block(struct view *v, struct screen *s, struct rect r,
		      const struct query_why_block *b)
{
	struct line line = {.s = s, .r = r, .x = 1};
	char buf[UNITS_BUF];
	int y = 1;

	line_printf(&line, ROLE_BOLD, "%s", units_ns(buf, b->length_ns));
	line_printf(&line, ROLE_NORMAL, " %s%s%s", b->cause, b->lock ? " " : "",
		    b->lock ? b->lock : "");
	const char *ended = query_why_ended(v->query, b->holder, b->is_holder, b->end);
	const char *place = query_why_place(v->query, b->syscall, b->on, b->at);
	line_printf(&line, ROLE_WAITING, " %s", ended ? ended : "");
	if (place)
		line_printf(&line, ROLE_DIM, ", %s", place);
	for (size_t i = 0; i < b->n_links && y < r.h; i++, y++) {
		const char *text = query_why_link_text(v->query, &b->links[i]);
		line = (struct line){.s = s, .r = layout_below(r, y), .x = 3 + 2 * (int)i};
		line_put(&line, ROLE_DIM, "<- ");
		line_put(&line, ROLE_NORMAL, text ? text : "");
		if (!b->links[i].end)
			continue;
		line_put(&line, ROLE_DIM, " <- ");
		line_put(&line, ROLE_NORMAL, b->links[i].end);
	}
	return y;
}

static int draw_head(struct list_view *l, struct screen *s, struct rect r, const struct table *t)
{
	const struct query_why_block *blocks;
	struct query_why_sum sum;
	size_t n;
	int y = 1;

	(void)t;
	if (query_why_sum(l->v.query, tid_of(&l->v), &sum) < 0 || !sum.known ||
	    query_why_blocks(l->v.query, tid_of(&l->v), &blocks, &n) < 0)
		return 0;
	draw_sum(s, r, &sum);
	for (size_t i = 0; i < n && y + 1 + (int)blocks[i].n_links + ROWS_BELOW < r.h; i++)
		y += draw_block(&l->v, s, layout_below(r, y), &blocks[i]);
	return y;
}

static const char *empty_text(struct list_view *l, const struct table *t)
{
	struct query_why_sum sum;

	(void)t;
	if (query_why_sum(l->v.query, tid_of(&l->v), &sum) < 0)
		return "";
	return sum.known ? "no record of this time has come yet" : sum.none;
}

static int open_task(struct list_view *l)
{
	if (l->v.row)
		return view_open_task(&l->v, l->v.row);
	app_say(l->v.app, ROLE_NORMAL, "Enter on a task of the view tasks shows that one alone");
	return 0;
}

static const struct list_ops ops = {
	.ask = ask_rows,
	.head = draw_head,
	.empty = empty_text,
	.open = open_task,
	.has_window = list_has_window,
	.heat = "spent_ns",
};

static const struct view_key keys[] = {
	{CMD_ENTER, "waits"}, {CMD_FILTER, "filter"}, {CMD_SORT, "sort"}, {CMD_NONE, NULL}};

const struct view_ops view_why = {
	.name = "why",
	.title = "why",
	.keys = keys,
	.help = "Did the tasks run that are followed (--why with -p, -t or a command), could they "
		"have run, and which task had their CPU, or were they blocked, by which cause, and "
		"by whom did that end? The lines above the table are the longest times "
		"blocked; below each is what the task did meanwhile that ended it, then the one "
		"that woke that, back to a timer, an interrupt, or a task that ran. Enter on a "
		"task in the view of tasks shows it alone, and there its waits for locks.",
	.tables = "why",
	.size = sizeof(struct list_view),
	LIST_VIEW(&ops),
};
