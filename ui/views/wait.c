// SPDX-License-Identifier: GPL-2.0-only
/*
 * The page of a wait: the task and the lock that it waits for, the holder, and the calls of both
 * side by side, which show why neither goes on. Enter opens the lock. When the wait is over, the
 * page shows the copy that wait_kept_take() made of its last state.
 */
#include "wait.h"
#include "kontend/query-lock.h"
#include "kontend/units.h"
#include "list.h"
#include "note.h"

#include <errno.h>
#include <string.h>

struct view_wait {
	struct list_view list; /* v.row: of query_waiters() */
	struct wait_kept seen; /* as it was drawn last */
	struct query_wait now;
	bool over;
};

enum { HEAD_LINES = 3 };

static struct view_wait *of_view(struct view *v)
{
	return (struct view_wait *)v;
}

void view_wait_keep(struct view *v, struct wait_kept *seen)
{
	if (seen->known)
		wait_kept_move(&of_view(v)->seen, seen);
}

/* "mm/5219 waits 41.2ms asleep for rwsem:W mmap_lock mm/5214"; "waited" when it is over. */
static void draw_who(struct screen *s, struct rect r, const struct query_wait *w, bool over)
{
	struct line l = {.s = s, .r = r, .x = 1};
	char buf[UNITS_BUF];

	line_put(&l, ROLE_BOLD, w->task ? w->task : "-");
	line_put(&l, ROLE_DIM, over ? " waited " : " waits ");
	line_printf(&l, ROLE_BOLD, "%s%s", w->approx ? "~" : "", units_ns(buf, w->since_ns));
	line_printf(&l, ROLE_NORMAL, " %s", w->phase ? w->phase : "");
	line_put(&l, ROLE_DIM, " for ");
	line_printf(&l, ROLE_NORMAL, "%s ", w->kind ? w->kind : "");
	line_put(&l, ROLE_BOLD, w->name ? w->name : "-");
}

/* Of Go only the locks of its runtime are seen. */
static bool is_of_go(const struct query_wait *w)
{
	return w->kind && strstr(w->kind, "(u)") && w->name && !strncmp(w->name, "Go runtime", 10);
}

static void draw_holder(struct view *v, struct screen *s, struct rect r, const struct query_wait *w)
{
	struct line l = {.s = s, .r = r, .x = 1, .y = 1};
	struct query_lock_look look;

	if (!w->holder) {
		query_lock_look(v->query, &look);
		line_put(&l, ROLE_DIM,
			 look.missing ? "who holds it is not known" : "who holds it was not seen");
		if (look.refused)
			line_printf(&l, ROLE_WARN, ": %s%s", look.reason, view_advice(look.reason));
		if (is_of_go(w))
			line_whole(&l, ROLE_DIM, "; goroutines waiting for each other do not show");
		return;
	}
	if (w->certainty && strcmp(w->certainty, "free") == 0) {
		line_put(&l, ROLE_DIM, "no task holds it: it is being handed over to ");
		line_put(&l, w->next ? ROLE_WAITING : ROLE_DIM, w->next ? w->next : "the next one");
		return;
	}
	line_put(&l, ROLE_DIM, "held by ");
	line_put(&l, ROLE_WAITING, w->holder);
	line_printf(&l, ROLE_NORMAL, " (%s)%s%s", w->certainty ? w->certainty : "-",
		    w->is ? ", " : "", w->is ? w->is : "");
	if (w->certainty && strcmp(w->certainty, "hint") == 0)
		line_whole(&l, ROLE_DIM, "  a reader that had it last, and may have let go of it");
	if (w->certainty && strcmp(w->certainty, "evidence") == 0)
		line_whole(&l, ROLE_DIM, "%s",
			   w->kind && strstr(w->kind, "(u)")
				   ? "  by the memory of the program: evidence, no proof"
				   : "  a reader by its calls: evidence, no proof");
}

static bool has_places(const struct query_wait *w)
{
	return w->at || w->owner_at;
}

static void draw_places(struct screen *s, struct rect r, const struct query_wait *w, bool over)
{
	struct line l = {.s = s, .r = r, .x = 1};

	view_put_places(&(struct view_places){.waits = over ? "waited at " : "waits at ",
					      .at = w->at,
					      .syscall = w->syscall,
					      .owner_at = w->owner_at},
			&l);
}

/* The last state seen, when it is over. */
static int ask_rows(struct list_view *l, struct query_spec *spec, struct table *ret,
		    struct error *err)
{
	struct view_wait *o = of_view(&l->v);
	int code = query_wait(l->v.query, l->v.row, spec, &o->now, err);
	const struct query_wait *seen = wait_kept_of(&o->seen, l->v.row);

	if (code < 0 && code != -ENOENT)
		return code;
	o->over = code == -ENOENT || o->now.ended;
	if (o->over && seen) {
		struct query_wait end = o->now;

		o->now = *seen;
		if (code == 0)
			o->now.since_ns = end.since_ns;
		o->now.ended = code == 0;
		o->now.ended_ns = end.ended_ns;
	} else if (code < 0) {
		o->now = (struct query_wait){0};
	}
	*ret = o->now.calls;
	return 0;
}

/* "this wait ended 2.1s ago; calls and holder are those that were seen last" */
static void draw_over(struct view_wait *o, struct screen *s, struct rect r)
{
	const struct query_wait *seen = wait_kept_of(&o->seen, o->list.v.row);
	struct line l = {.s = s, .r = r, .x = 1};
	char buf[UNITS_BUF];

	line_put(&l, ROLE_DIM, "this wait ");
	if (o->now.ended)
		line_printf(&l, ROLE_NORMAL, "ended %s ago", units_ns(buf, o->now.ended_ns));
	else
		line_put(&l, ROLE_NORMAL, "has ended");
	line_put(&l, ROLE_DIM,
		 seen && !seen->ended ? "; calls and holder are as they were seen last"
				      : "; the calls are those in which it began");
}

static int draw_head(struct list_view *l, struct screen *s, struct rect r, const struct table *t)
{
	struct view_wait *o = of_view(&l->v);
	int lines = HEAD_LINES - 1;

	(void)t;
	if (o->over && !o->now.task) {
		view_draw_text(s, layout_below(r, 1), ROLE_DIM,
			       "this wait has ended; Space pauses, so that a wait stays");
		return LIST_END;
	}
	draw_who(s, r, &o->now, o->over);
	draw_holder(&l->v, s, r, &o->now);
	if (has_places(&o->now))
		draw_places(s, layout_below(r, lines++), &o->now, o->over);
	if (o->over)
		draw_over(o, s, layout_below(r, lines++));
	return lines + 1;
}

static const char *empty_text(struct list_view *l, const struct table *t)
{
	(void)l;
	(void)t;
	return "no call is known: the wait began without a call path, and no snapshot of the locks "
	       "has seen it";
}

static void keep(struct list_view *l, const struct table *t)
{
	struct view_wait *o = of_view(&l->v);

	(void)t;
	if (!o->over || (o->now.task && !wait_kept_of(&o->seen, l->v.row)))
		wait_kept_take(&o->seen, l->v.row, &o->now);
}

static int open_lock(struct list_view *l)
{
	const struct query_wait *seen = wait_kept_of(&of_view(&l->v)->seen, l->v.row);

	return seen ? view_open(&l->v, BY_LOCK, seen->lock_id)
		    : view_open_waiter(&l->v, l->v.row, BY_LOCK);
}

static void wait_deinit(struct view *v)
{
	list_deinit(v);
	wait_kept_deinit(&of_view(v)->seen);
}

static const struct list_ops ops = {
	.ask = ask_rows,
	.head = draw_head,
	.empty = empty_text,
	.open = open_lock,
	.drawn = keep,
	.has_no_keys = true,
};

const struct view_ops view_wait = {
	.name = "wait",
	.title = "wait",
	.help = "A task that waits and the one that holds the lock, with the calls of both, the "
		"innermost first: from the last snapshot of the locks, or from the begin of the "
		"wait. A holder that runs has none. Enter opens the lock.",
	.tables = "waiters",
	.size = sizeof(struct view_wait),
	.deinit = wait_deinit,
	.draw = list_draw,
	.command = list_command,
	.list = &ops,
};

static bool keep_text(struct arena *a, const char **text)
{
	if (!*text)
		return true;
	*text = arena_strndup(a, *text, strlen(*text));
	return *text != NULL;
}

static bool keep_calls(struct arena *a, struct table *t)
{
	size_t n = t->n_rows * t->n_columns;
	struct value *values = arena_alloc(a, (n + 1) * sizeof(*values));
	uint64_t *ids = arena_alloc(a, (t->n_rows + 1) * sizeof(*ids));

	if (!values || !ids)
		return false;
	for (size_t i = 0; i < n; i++) {
		values[i] = t->values[i];
		if (values[i].known && !keep_text(a, &values[i].s))
			return false;
	}
	if (t->n_rows)
		memcpy(ids, t->ids, t->n_rows * sizeof(*ids));
	t->values = values;
	t->ids = ids;
	t->held = (struct held){0}; /* the copy outlives the frame */
	return true;
}

void wait_kept_take(struct wait_kept *k, uint64_t row, const struct query_wait *w)
{
	struct arena *a = &k->arena;
	struct query_wait *to = &k->wait;
	const char **texts[] = {&to->task,	&to->kind, &to->name, &to->phase,   &to->holder,
				&to->certainty, &to->is,   &to->at,   &to->syscall, &to->owner_at};

	arena_reset(a);
	*to = *w;
	k->row = row;
	k->known = keep_calls(a, &to->calls);
	for (size_t i = 0; k->known && i < sizeof(texts) / sizeof(*texts); i++)
		k->known = keep_text(a, texts[i]);
}

void wait_kept_move(struct wait_kept *k, struct wait_kept *from)
{
	wait_kept_deinit(k);
	*k = *from;
	*from = (struct wait_kept){0};
}

const struct query_wait *wait_kept_of(const struct wait_kept *k, uint64_t row)
{
	return k->known && k->row == row ? &k->wait : NULL;
}

void wait_kept_deinit(struct wait_kept *k)
{
	arena_deinit(&k->arena);
	*k = (struct wait_kept){0};
}
