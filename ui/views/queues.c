// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queues of locks over time: who was passed over, convoys, starvation. The first line says how many
 * wait now, and whether hand-overs have times.
 */
#include "kontend/query-queued.h"
#include "kontend/units.h"
#include "list.h"

static int ask_rows(struct list_view *l, struct query_spec *spec, struct table *ret,
		    struct error *err)
{
	return query_queued(l->v.query, spec, ret, err);
}

/* "41 wait in 3 queues, 2 convoys go on  hand-overs have no times: no release events" */
static int draw_head(struct list_view *l, struct screen *s, struct rect r, const struct table *t)
{
	struct line line = {.s = s, .r = r, .x = 1};
	struct query_queued_sum sum;
	char n[UNITS_BUF];

	(void)t;
	if (query_queued_sum(l->v.query, &sum) < 0)
		return 0;
	line_put(&line, sum.waiting ? ROLE_WAITING : ROLE_BOLD, units_count(n, sum.waiting));
	line_printf(&line, ROLE_NORMAL, " wait%s in %u queue%s, ", sum.waiting == 1 ? "s" : "",
		    sum.queues, sum.queues == 1 ? "" : "s");
	line_printf(&line, sum.convoys ? ROLE_WAITING : ROLE_NORMAL, "%u convoy%s now", sum.convoys,
		    sum.convoys == 1 ? "" : "s");
	if (sum.no_room)
		line_printf(&line, ROLE_WARN, "  no room for more: %s times",
			    units_count(n, sum.no_room));
	if (sum.is_short)
		line_put(&line, ROLE_WARN, "  not all of the window is kept");
	if (!sum.times)
		line_whole(&line, ROLE_DIM, "  no release events: hand-overs have no times");
	return 1;
}

static const char *empty_text(struct list_view *l, const struct table *t)
{
	(void)l;
	(void)t;
	return "no two tasks have waited for the same lock at a time: there has been no queue";
}

static int open_row(struct list_view *l)
{
	return view_open(&l->v, BY_LOCK, l->pane.table.selected);
}

static const struct list_ops ops = {
	.ask = ask_rows,
	.head = draw_head,
	.empty = empty_text,
	.page = open_row,
	.has_window = list_has_window,
	.heat = "convoy_ns",
};

static const struct view_key keys[] = {
	{CMD_ENTER, "why"}, {CMD_FILTER, "filter"}, {CMD_SORT, "sort"}, {CMD_NONE, NULL}};

const struct view_ops view_queues = {
	.name = "queues",
	.title = "queues",
	.digit = 'Q',
	.keys = keys,
	.help = "In which order do waiting tasks get a lock, and is the queue ever empty? A row "
		"for each lock with two or more waiters at a time, of all modes. HANDED counts how "
		"often a waiting task got it; PASSED how often a waiting task saw one that came "
		"later get it (a reader that gets it with others has not passed these over), and "
		"WORST how often one wait saw that. STOLEN counts how often, at least, a task took "
		"the lock without waiting while others waited. R/RUN is how many readers got it "
		"before the next writer, on average. A convoy is a queue that was not empty for "
		"longer than 10 ms; CONVOY is how long all of them were. STARVED are waits that "
		"lasted longer than 16 hand-overs: in a long queue that keeps its order these are "
		"many, and PASSED is none. HAND50 and HAND99, from the release of the lock until "
		"the next task had it, are known if the kernel reports releases. Enter shows the "
		"waits for the lock.",
	.tables = "queues",
	.size = sizeof(struct list_view),
	.page = list_page,
	LIST_VIEW(&ops),
};
