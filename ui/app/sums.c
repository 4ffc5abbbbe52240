// SPDX-License-Identifier: GPL-2.0-only
/*
 * Data of the first lines of every frame: the sums, queried once, and the verdict on them,
 * which leads to the view that shows why.
 */
#include "kontend/query-overview.h"
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

	/* The present: the last tick, which is cheap to sum up. */
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
	return a->verdict.worst.because;
}

static const char *or_null(const char *text)
{
	return *text ? text : NULL;
}

struct app_places app_sums_places(const struct app *a)
{
	const struct verdict_said *s = &a->verdict.worst;

	return (struct app_places){or_null(s->at), or_null(s->syscall), or_null(s->owner_at)};
}

const char *app_sums_also(const struct app *a)
{
	return a->verdict.worst.level >= VERDICT_LOOK ? a->verdict.also : NULL;
}

const char *app_sums_elsewhere(const struct app *a)
{
	return a->verdict.elsewhere;
}

static bool is_page_of(const struct view *v, uint64_t lock)
{
	return v->scope.mask == 1u << BY_LOCK && v->scope.id[BY_LOCK] == lock;
}

/* The page of the lock: back to it where it is among those that one came through. */
static void open_lock(struct app *a, uint64_t lock)
{
	const struct query_scope scope = {.mask = 1u << BY_LOCK, .id = {[BY_LOCK] = lock}};
	const char *title = query_title(&a->query, BY_LOCK, lock);

	for (size_t i = 0; i < a->n_stack; i++)
		if (is_page_of(a->stack[i].view, lock)) {
			while (a->n_stack > i + 1)
				app_pop(a);
			return;
		}
	/* A page that the finding before opened is replaced. */
	if (a->n_stack && a->verdict.page == app_shown(a))
		app_pop(a);
	int r = app_push(a, &view_detail, &scope, title ? title : "lock");
	if (r < 0)
		app_say(a, ROLE_ERROR, "Cannot open the lock: %s", strerror(-r));
}

/* The worst one; pressed again on its page, the one after it, and so on, round and round. */
static const struct verdict_said *next_finding(struct app *a)
{
	struct verdict *v = &a->verdict;

	if (!v->n)
		return &v->worst;
	if (v->page != app_shown(a))
		v->opened = 0;
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < v->n; i++)
			if (!(v->opened & 1u << v->found[i].rule))
				return &v->found[i];
		v->opened = 0;
	}
	return &v->found[0];
}

static void say_which(struct app *a, const struct verdict_said *s)
{
	const struct verdict *v = &a->verdict;

	if (v->n > 1)
		app_say(a, ROLE_NORMAL, "finding %d of %u: %s%s%s", (int)(s - v->found) + 1, v->n,
			s->text, *s->because ? ", " : "", s->because);
	else if (!s->lock && !verdict_view(s))
		app_say(a, ROLE_NORMAL, "%s", s->because);
}

void app_sums_why(struct app *a)
{
	const struct verdict_said *s = next_finding(a);
	const char *view = verdict_view(s);

	if (view)
		app_command(a, CMD_VIEW, &(struct command_arg){.text = view});
	else if (s->lock)
		open_lock(a, s->lock);
	else if (s->level < VERDICT_LOOK)
		app_say(a, ROLE_DIM, "Nothing is wrong; the limits are --verdict's");
	if (s->level < VERDICT_LOOK)
		return;
	say_which(a, s);
	a->verdict.opened |= 1u << s->rule;
	a->verdict.page = app_shown(a);
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
