// SPDX-License-Identifier: GPL-2.0-only
/*
 * In the page of a lock: what its holders did while others waited, where that was followed. A tall
 * page has a line with a bar for each, a small one all of it in one line, as far as it goes.
 */
#include "detail.h"
#include "kontend/screen.h"
#include "kontend/text.h"
#include "kontend/units.h"
#include "widgets/widget.h"

#include <stdio.h>
#include <string.h>

enum { BAR_X = 24, BAR_W = 24, ROOM_W = 100 /* for all of it */, LINE = 192 };

static const char *const words[BLAME_STATES] = {
	[BLAME_RUNNING] = "running",
	[BLAME_RUNNABLE] = "runnable",
	[BLAME_ASLEEP] = "asleep",
	[BLAME_IO] = "asleep for I/O",
	[BLAME_PASSED] = "waiting for a lock",
	[BLAME_CIRCLE] = "in a circle of waits",
	[BLAME_NOT_FOLLOWED] = "not followed",
};

static const enum blame_state order[] = {BLAME_RUNNING, BLAME_RUNNABLE, BLAME_ASLEEP,	   BLAME_IO,
					 BLAME_PASSED,	BLAME_CIRCLE,	BLAME_NOT_FOLLOWED};

enum { STATES = sizeof(order) / sizeof(*order) };

int detail_ask_did(const struct view *v, struct detail_page *p)
{
	const struct query_scope *s = &v->scope;

	return s->mask == 1u << BY_LOCK ? query_blame_lock(v->query, s->id[BY_LOCK], &p->did) : 0;
}

static bool is_followed(const struct query_blame_lock *d)
{
	return d->state_ns[BLAME_RUNNING] || d->state_ns[BLAME_RUNNABLE] ||
	       d->state_ns[BLAME_ASLEEP] || d->state_ns[BLAME_IO];
}

static double share(const struct query_blame_lock *d, enum blame_state state)
{
	return (double)d->state_ns[state] / (double)d->time_ns;
}

/* The greatest first. */
static void rank(const struct query_blame_lock *d, enum blame_state *ret)
{
	for (int i = 0; i < STATES; i++) {
		int k = i;
		for (; k && d->state_ns[ret[k - 1]] < d->state_ns[order[i]]; k--)
			ret[k] = ret[k - 1];
		ret[k] = order[i];
	}
}

/* "while others waited: running 57%  lock 21%  I/O 14%" and why, most of it first. */
static const char *line_text(const struct query_blame_lock *d, char *ret, size_t size)
{
	static const char *const names[BLAME_STATES] = {
		[BLAME_RUNNING] = "running",
		[BLAME_RUNNABLE] = "runnable",
		[BLAME_ASLEEP] = "asleep",
		[BLAME_IO] = "I/O",
		[BLAME_PASSED] = "lock",
		[BLAME_CIRCLE] = "circle",
		[BLAME_NOT_FOLLOWED] = "not followed",
	};
	enum blame_state ranked[STATES];
	const char *why = NULL;
	char pct[UNITS_BUF];

	rank(d, ranked);
	*ret = 0;
	for (int i = 0; i < STATES && d->state_ns[ranked[i]]; i++) {
		size_t at = strlen(ret);
		snprintf(ret + at, size - at, "%s %s %s%%", i ? " " : "", names[ranked[i]],
			 units_pct(pct, 100 * share(d, ranked[i])));
		why = why ? why : d->why[ranked[i]];
	}
	return why;
}

static const char waited[] = "while others waited:";

/* The reason has a line of its own where the first one has no room for it. */
static bool is_wrapped(const struct query_blame_lock *d, int width)
{
	char text[LINE];
	const char *why = line_text(d, text, sizeof(text));

	return why && 1 + text_width(waited) + text_width(text) + text_width(why) + 4 > width;
}

int detail_did_lines(const struct detail_page *p, int width)
{
	int n = 1;

	if (!is_followed(&p->did))
		return 0;
	if (!p->tall)
		return 1 + is_wrapped(&p->did, width);
	for (int i = 0; i < STATES; i++)
		n += p->did.state_ns[order[i]] != 0;
	return n;
}

/* As many states as there is room for in whole; what is left of @text, which it cuts. */
static const char *put_states(struct line *l, char *text)
{
	int room = l->r.w - l->x;
	char *end = text + strlen(text), *rest = end;

	/* "%" is followed by the two blanks before the next state. */
	while (text_width(text) > room && rest > text) {
		char *before = NULL;
		for (char *p = strstr(text, "%  "); p && p < rest; p = strstr(p + 1, "%  "))
			before = p;
		if (!before)
			break;
		before[1] = '\0';
		rest = before + 3;
	}
	line_put(l, ROLE_NORMAL, text);
	return rest == end ? "" : rest;
}

static void draw_line(const struct detail_page *p, struct screen *s)
{
	struct line l = {.s = s, .r = p->r_did, .x = 1};
	char text[LINE];
	const char *why = line_text(&p->did, text, sizeof(text));

	line_put(&l, ROLE_DIM, waited);
	const char *rest = put_states(&l, text);
	if (!why)
		return;
	if (is_wrapped(&p->did, l.r.w)) {
		l.x = 2;
		l.y = 1;
		line_put(&l, ROLE_NORMAL, rest);
		line_printf(&l, ROLE_DIM, "%s(%s)", *rest ? "  " : " ", why);
		return;
	}
	line_printf(&l, ROLE_DIM, "  (%s)", why);
}

static void draw_states(const struct detail_page *p, struct screen *s)
{
	const struct query_blame_lock *d = &p->did;
	struct line l = {.s = s, .r = p->r_did, .y = 1};
	/* The reason says more than a long bar. */
	int bar = l.r.w < ROOM_W ? BAR_W / 2 : BAR_W;
	char buf[UNITS_BUF], title[96];

	snprintf(title, sizeof(title), "while others waited, for %s, the holder was",
		 units_ns(buf, d->time_ns));
	widget_rule(s, p->r_did, 0, title);
	for (int i = 0; i < STATES; i++) {
		if (!d->state_ns[order[i]])
			continue;
		l.x = 2;
		line_put(&l, ROLE_NORMAL, words[order[i]]);
		widget_bar(s, l.r, BAR_X, l.y, bar, share(d, order[i]), ROLE_NORMAL);
		l.x = BAR_X + bar + 1;
		line_printf(&l, ROLE_BOLD, "%5s%%", units_pct(buf, 100 * share(d, order[i])));
		if (d->why[order[i]])
			line_printf(&l, ROLE_NORMAL, "  %s", d->why[order[i]]);
		l.y++;
	}
}

void detail_draw_did(const struct detail_page *p, struct screen *s)
{
	if (p->tall && p->r_did.h > 1)
		draw_states(p, s);
	else if (p->r_did.h)
		draw_line(p, s);
}
