// SPDX-License-Identifier: GPL-2.0-only
/*
 * The marks A and B. Each keeps a copy of the model as it was there, so that they outlive a pause,
 * and every table of waits can be asked for both, by any key and for any window of time. The
 * window that ends at B is compared with the one that ends at A.
 */
#include "kontend/query-diff.h"
#include "kontend/wait-filter.h"
#include "priv.h"

#include <stdio.h>
#include <string.h>

static const char *const names[MARKS] = {"A", "B"};

static uint64_t now_of(const struct app *a)
{
	return a->time.line ? timeline_now_ns(a->time.line) : a->engine->model->now_ns;
}

const char *app_elapsed(const struct app *a, uint64_t ns, char *buf)
{
	uint64_t begin =
		a->time.line ? timeline_begin_ns(a->time.line) : a->engine->model->start_ns;

	return when_elapsed(buf, ns > begin ? ns - begin : 0,
			    a->time.line ? app_time_digits(a) : 0);
}

bool app_compare_on(const struct app *a)
{
	return a->marks.ns[MARK_A] && a->marks.ns[MARK_B];
}

const char *app_marks_text(const struct app *a, char buf[APP_MARKS_TEXT])
{
	char at[MARKS][WHEN_BUF];

	if (!app_compare_on(a))
		return NULL;
	snprintf(buf, APP_MARKS_TEXT, "B - A: %s - %s",
		 app_elapsed(a, a->marks.ns[MARK_B], at[MARK_B]),
		 app_elapsed(a, a->marks.ns[MARK_A], at[MARK_A]));
	return buf;
}

bool app_marks_clear(struct app *a)
{
	bool any = a->marks.ns[MARK_A] || a->marks.ns[MARK_B];

	for (int i = 0; i < MARKS; i++)
		query_moment_deinit(&a->marks.moments[i]);
	a->marks = (struct app_marks){0};
	return any;
}

static void set_mark(struct app *a, int mark)
{
	struct query_moment moment;
	char text[APP_MARKS_TEXT], at[WHEN_BUF];
	int r = query_moment_init(&moment, a->engine);

	if (r < 0) {
		app_say(a, ROLE_ERROR, "Not enough memory to mark %s: :mark off gives back some",
			names[mark]);
		return;
	}
	query_moment_deinit(&a->marks.moments[mark]);
	a->marks.moments[mark] = moment;
	a->marks.ns[mark] = now_of(a);
	if (app_compare_on(a))
		app_say(a, ROLE_NORMAL, "%s, of %s each; Esc leaves", app_marks_text(a, text),
			app_window_text(a, (char[APP_WINDOW_TEXT]){0}));
	else
		app_say(a, ROLE_NORMAL, "%s is at %s; m at another moment marks %s", names[mark],
			app_elapsed(a, a->marks.ns[mark], at), names[!mark]);
}

/* Sets the missing mark, A first; if both are set, A again. */
static void set_next(struct app *a)
{
	if (app_compare_on(a))
		app_marks_clear(a);
	set_mark(a, a->marks.ns[MARK_A] ? MARK_B : MARK_A);
}

void app_mark(struct app *a, const char *what)
{
	if (!what)
		set_next(a);
	else if (!strcasecmp(what, "a") || !strcasecmp(what, "b"))
		set_mark(a, strcasecmp(what, "b") ? MARK_A : MARK_B);
	else if (strcmp(what, "off") != 0)
		app_say(a, ROLE_ERROR, "mark wants a, b or off, as in: mark a");
	else if (!app_marks_clear(a))
		app_say(a, ROLE_DIM, "Nothing is marked: m marks A, and once more B");
}

struct query *app_mark_query(struct app *a, int mark, struct error *err)
{
	struct query *q = &a->marks.moments[mark].query;

	q->window_ns = app_window_ns(a);
	q->part = a->query.part;
	query_begin(q);
	return wait_filter_set(q, a->narrowed, err) < 0 ? NULL : q;
}

int app_compare(struct app *a, const struct query_spec *s, struct table *ret, struct error *err)
{
	struct query *q[MARKS];

	for (int i = 0; i < MARKS; i++) {
		q[i] = app_mark_query(a, i, err);
		if (!q[i])
			return err->code;
	}
	return query_compare(q[MARK_A], q[MARK_B], s, ret, err);
}
