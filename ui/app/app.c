// SPDX-License-Identifier: GPL-2.0-only
/*
 * The user interface as one object: root views that live from start to end (so that they keep their
 * selection and order), and a stack of drill-downs above the one that is shown. A frame is drawn
 * again from queries into a grid of cells; the display finds out what changed.
 *
 * Pause: while paused the engine is not pumped. The model stays as it is, so that one can move,
 * sort, filter and drill down in it, and waiters are still there to be looked at; a frozen picture
 * would answer no further question. Records wait meanwhile in the source's bounded queue and are
 * applied at resume, so a short pause loses nothing; what a long one loses is counted, said, and
 * stays in the header.
 */
#include "kontend/mem.h"
#include "kontend/text.h"
#include "priv.h"
#include "widgets/layout.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct app_entry *app_top(struct app *a)
{
	return a->n_stack ? &a->stack[a->n_stack - 1] : &a->roots[a->root];
}

static const struct view *top(const struct app *a)
{
	return a->n_stack ? a->stack[a->n_stack - 1].view : a->roots[a->root].view;
}

static int open_view(struct app *a, const struct view_ops *ops, const struct view *from,
		     const struct query_scope *scope, struct view **ret)
{
	struct view *v = mem_calloc(1, ops->size);
	int r;

	if (!v)
		return -ENOMEM;
	v->ops = ops;
	v->app = a;
	v->query = &a->query;
	v->from = from ? from->ops : NULL;
	v->scope = *scope;
	snprintf(v->title, sizeof(v->title), "%s", ops->title ? ops->title : ops->name);
	r = ops->init ? ops->init(v) : 0;
	if (r < 0) {
		mem_free(v);
		return r;
	}
	*ret = v;
	return 0;
}

static void close_entry(struct app_entry *e)
{
	if (!e->view)
		return;
	if (e->view->ops->deinit)
		e->view->ops->deinit(e->view);
	mem_free(e->view);
	*e = (struct app_entry){0};
}

int app_push(struct app *a, const struct view_ops *ops, const struct query_scope *scope,
	     const char *title)
{
	const struct view *from = app_top(a)->view;
	struct app_entry *e = &a->stack[a->n_stack];
	int r;

	if (a->n_stack == APP_DEPTH) {
		app_say(a, ROLE_DIM, "No deeper: Esc goes back");
		return 0;
	}
	*e = (struct app_entry){0};
	r = open_view(a, ops, from, scope, &e->view);
	if (r < 0)
		return r;
	text_clean(e->view->title, sizeof(e->view->title), title);
	a->n_stack++;
	return 0;
}

int app_push_events(struct app *a, const struct query_events_scope *scope, const char *title)
{
	const struct query_scope none = {0};
	size_t before = a->n_stack;
	int r = app_push(a, &view_events, &none, title);

	if (a->n_stack > before)
		app_top(a)->view->events = *scope;
	return r;
}

int app_push_row(struct app *a, const struct view_ops *ops, uint64_t row, const char *title)
{
	const struct query_scope none = {0};
	size_t before = a->n_stack;
	int r = app_push(a, ops, &none, title);

	if (a->n_stack > before)
		app_top(a)->view->row = row;
	return r;
}

struct view *app_shown(struct app *a)
{
	return app_top(a)->view;
}

void app_pop(struct app *a)
{
	if (!a->n_stack)
		return;
	close_entry(&a->stack[--a->n_stack]);
	a->drawn = NULL; /* the next view may get the same address */
}

void app_say(struct app *a, enum role role, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(a->message, sizeof(a->message), fmt, ap);
	va_end(ap);
	a->message_role = role;
	a->dirty = true;
}

enum command_mode app_mode(const struct app *a)
{
	enum command_mode time = a->history ? COMMAND_TRAVEL : COMMAND_LIVE;

	if (a->time.is_replay)
		time = COMMAND_REPLAY;
	/* Help speaks of the view that it was asked in. */
	const struct view *v = top(a);
	const struct view_ops *of = v->ops == &view_help && v->from ? v->from : v->ops;
	return of->is_code ? time | COMMAND_CODE : time;
}

bool app_paused(const struct app *a)
{
	return a->paused;
}

const char *app_filter(const struct app *a)
{
	return a->n_stack ? a->stack[a->n_stack - 1].filter : a->roots[a->root].filter;
}

void app_set_filter(struct app *a, const char *text)
{
	struct app_entry *e = app_top(a);

	snprintf(e->filter, sizeof(e->filter), "%s", text);
}

double app_percent_limit(const struct app *a)
{
	return a->percent_limit;
}

const char *app_search(const struct app *a)
{
	return a->search;
}

/* By the commands that keys give. */
static void order_rows(struct view *v, const char *key, const char *column)
{
	struct command_arg by = {.text = key}, sort = {.text = column};

	if (key && v->ops->command)
		v->ops->command(v, CMD_BY, &by);
	if (column && v->ops->command)
		v->ops->command(v, CMD_SORT, &sort);
}

/* What is asked for goes to the first view, after what is set for locks. */
static void apply_options(struct app *a, const struct app_options *o)
{
	for (size_t i = 0; i < a->n_roots; i++) {
		if (!strcmp(view_roots[i]->name, "locks"))
			order_rows(a->roots[i].view, o->locks_by, o->locks_sort);
		if (o->filter)
			snprintf(a->roots[i].filter, sizeof(a->roots[i].filter), "%s", o->filter);
	}
	order_rows(a->roots[a->root].view, o->by, o->sort);
}

static int open_roots(struct app *a, const struct app_options *o, struct error *err)
{
	const struct query_scope all = {0};
	bool found = !o->view;

	for (size_t i = 0; view_roots[i] && i < APP_ROOTS; i++) {
		int r = open_view(a, view_roots[i], NULL, &all, &a->roots[i].view);

		if (r < 0)
			return error_errno(err, r, "Cannot set up the view %s",
					   view_roots[i]->name);
		a->n_roots++;
		if (o->view && !strcmp(o->view, view_roots[i]->name)) {
			a->root = i;
			found = true;
		}
	}
	if (!found)
		return error_set(err, -EINVAL, "No view is called \"%s\"", o->view);
	apply_options(a, o);
	return 0;
}

int app_new(struct app **ret, struct engine *e, struct display *d, const struct app_options *o,
	    struct error *err)
{
	struct app *a = mem_calloc(1, sizeof(*a));
	int r;

	if (!a)
		return error_errno(err, -ENOMEM, "Cannot set up the screen");
	a->engine = e;
	a->display = d;
	a->screen.ascii = d->ascii;
	a->clock = o->clock ? o->clock : &app_system_clock;
	a->delay_ns = o->delay_ns ? o->delay_ns : 1000000000ull;
	a->save_dir = o->save_dir ? o->save_dir : ".";
	a->child_exit_fd = o->child_exit_fd;
	a->percent_limit = o->percent_limit;
	a->time.line = o->timeline;
	a->time.is_replay = o->timeline != NULL;
	a->history = o->has_history ? e->source : NULL;
	a->time.cut = o->cut;
	a->time.name = o->recording ? o->recording : "";
	r = query_init(&a->query, e);
	if (r < 0)
		error_errno(err, r, "Cannot set up the screen");
	else
		r = open_roots(a, o, err);
	if (r < 0) {
		app_free(a);
		return r;
	}
	a->dirty = true;
	if (a->time.line)
		app_time_begin(a, o->from_ns, o->to_ns);
	if (o->note && *o->note)
		app_say(a, ROLE_WARN, "%s", o->note);
	app_measure(a);
	*ret = a;
	return 0;
}

void app_free(struct app *a)
{
	if (!a)
		return;
	app_history_leave(a);
	while (a->n_stack)
		app_pop(a);
	for (size_t i = 0; i < a->n_roots; i++)
		close_entry(&a->roots[i]);
	query_deinit(&a->query);
	screen_deinit(&a->screen);
	mem_free(a);
}

bool app_done(const struct app *a)
{
	return a->done;
}

int app_signal(const struct app *a)
{
	return a->signal;
}

const struct screen *app_screen(const struct app *a)
{
	return &a->screen;
}

static void draw_too_small(struct app *a, const struct layout_app *l)
{
	int y = l->all.h / 2;

	screen_printf(&a->screen, l->all, 0, y > 0 ? y - 1 : 0, ROLE_WARN,
		      "kontend needs %d x %d, this is %d x %d", LAYOUT_MIN_W, LAYOUT_MIN_H,
		      l->all.w, l->all.h);
	if (y > 0)
		screen_put(&a->screen, l->all, 0, y, ROLE_NORMAL, "Enlarge the window; q quits");
}

static const char *crumb(const struct app *a, size_t i)
{
	return i ? a->stack[i - 1].view->title : a->roots[a->root].view->title;
}

/* Where one is: the last parts are the ones to be read, so those before give way. */
static void draw_crumbs(struct app *a, struct rect r)
{
	size_t first = a->n_stack;
	int x = 0, w = text_width(crumb(a, first));

	while (first > 0 && w + text_width(crumb(a, first - 1)) + 3 <= r.w - (first > 1 ? 4 : 0))
		w += text_width(crumb(a, --first)) + 3;
	if (first > 0)
		x = screen_put(&a->screen, r, x, 0, ROLE_DIM, "… › ");
	for (size_t i = first; i <= a->n_stack; i++) {
		x = screen_put(&a->screen, r, x, 0, i == a->n_stack ? ROLE_BOLD : ROLE_DIM,
			       crumb(a, i));
		if (i < a->n_stack)
			x = screen_put(&a->screen, r, x, 0, ROLE_DIM, " › ");
	}
}

static void draw_bottom(struct app *a, struct rect r)
{
	a->keybar.n = 0;
	if (a->prompt.kind) {
		prompt_draw(&a->prompt, &a->screen, r);
	} else if (a->message[0]) {
		screen_put(&a->screen, r, 0, 0, a->message_role, a->message);
	} else {
		keybar_draw(a, r);
	}
}

static void draw_parts(struct app *a, const struct layout_app *l)
{
	struct view *v = app_top(a)->view;
	struct query_overview o = {0};

	query_begin(&a->query);
	if (query_overview(&a->query, &o) < 0)
		app_say(a, ROLE_ERROR, "Not enough memory to draw: close something, or use :zero");
	else
		header_draw(a, l->header, &o);
	app_time_draw(a, l->ribbon);
	if (l->crumbs.h)
		draw_crumbs(a, l->crumbs);
	v->ops->draw(v, &a->screen, l->body);
	a->drawn = v;
	draw_bottom(a, l->bar);
}

void app_again(struct app *a)
{
	a->again = true;
}

int app_pending(struct app *a)
{
	return a->display->ops->pending ? a->display->ops->pending(a->display) : -1;
}

void app_draw(struct app *a)
{
	struct layout_app l;
	int w, h;

	a->display->ops->size(a->display, &w, &h);
	if (screen_resize(&a->screen, w, h) < 0)
		return;
	a->again = false;
	l = layout_app(a->screen.w, a->screen.h, a->time.line, a->n_stack > 0);
	if (l.too_small)
		draw_too_small(a, &l);
	else
		draw_parts(a, &l);
	if (app_pending(a) >= 0) {
		a->dirty = true; /* shown when it can be, as what there is by then */
		return;
	}
	a->display->ops->blit(a->display, a->screen.cells, a->screen.w, a->screen.h);
	a->dirty = a->again;
}
