// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the first lines of every frame are about: the sums, asked for once, and the verdict on them,
 * which leads to the view that shows why.
 */
#include "kontend/query.h"
#include "priv.h"

#include <errno.h>
#include <string.h>

static int ask_sums(struct query *q, bool average, struct app_sums *ret)
{
	int r = query_overview(q, &ret->now);

	if (r == 0)
		r = query_perf_sum(q, &ret->perf);
	if (r == 0)
		r = query_rotation_sum(q, average, &ret->rotation);
	return r ? r : query_uprobe_sum(q, average, &ret->uprobe);
}

int app_sums_ask(struct app *a)
{
	const struct query_verdict_facts facts = {.now = &a->sums.now,
						  .perf = &a->sums.perf,
						  .rotation = &a->sums.rotation,
						  .uprobe = &a->sums.uprobe,
						  .limits = a->limits,
						  .average = app_shows_range(a)};

	a->sums = (struct app_sums){0};
	const uint64_t window_ns = a->query.window_ns;

	/* What happens now: of the last tick, which is summed up with little. */
	a->query.window_ns = window_ns ? 1 : 0;
	int r = ask_sums(&a->query, app_shows_range(a), &a->sums);
	if (r == 0)
		r = verdict_ask(&a->verdict, &a->query, &facts);
	a->query.window_ns = window_ns;
	a->has_sums = r == 0;
	return r;
}

const struct app_sums *app_sums(const struct app *a)
{
	return a->has_sums ? &a->sums : NULL;
}

const char *app_sums_because(const struct app *a)
{
	return a->verdict.because;
}

/* The page of the lock, unless it is the one that is shown. */
static void open_lock(struct app *a, uint64_t lock)
{
	const struct query_scope scope = {.mask = 1u << BY_LOCK, .id = {[BY_LOCK] = lock}};
	const struct query_scope *shown = &app_top(a)->view->scope;
	const char *title = query_title(&a->query, BY_LOCK, lock);

	if (shown->mask == scope.mask && shown->id[BY_LOCK] == lock)
		return;
	int r = app_push(a, &view_detail, &scope, title ? title : "lock");
	if (r < 0)
		app_say(a, ROLE_ERROR, "Cannot open the lock: %s", strerror(-r));
}

void app_sums_why(struct app *a)
{
	const struct verdict *v = &a->verdict;
	const char *view = verdict_view(v);

	if (view)
		app_command(a, CMD_VIEW, &(struct command_arg){.text = view});
	else if (v->lock)
		open_lock(a, v->lock);
	else if (v->level == VERDICT_LOST)
		app_say(a, ROLE_NORMAL,
			"The rings were full: -m makes them larger, --realtime has them emptied "
			"before others run");
	else
		app_say(a, ROLE_DIM, "Nothing is wrong; the limits are --verdict's");
}

bool app_sums_click(struct app *a, int x, int y)
{
	struct rect r = a->verdict_line;

	(void)x;
	if (!r.h || y != r.y)
		return false;
	app_sums_why(a);
	return true;
}
