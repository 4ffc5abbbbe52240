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
#include "../views/list.h"
#include "kontend/lock.h"
#include "kontend/mem.h"
#include "kontend/query-load.h"
#include "kontend/text.h"
#include "kontend/wait-filter.h"
#include "priv.h"
#include "widgets/layout.h"
#include "widgets/theme.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { VERDICT_H = 20 };

struct app_entry *app_top(struct app *a)
{
	return a->n_stack ? &a->stack[a->n_stack - 1] : &a->roots[a->root];
}

static struct view *top(const struct app *a)
{
	return a->n_stack ? a->stack[a->n_stack - 1].view : a->roots[a->root].view;
}

struct view *app_keys(const struct app *a)
{
	return a->side.has_keys ? a->side.view : top(a);
}

int app_open_page(struct app *a, const struct app_page *p, const struct view *from,
		  struct view **ret)
{
	const char *title = p->ops->title ? p->ops->title : p->ops->name;
	struct view *v = mem_calloc(1, p->ops->size);
	int r;

	if (!v)
		return -ENOMEM;
	v->ops = p->ops;
	v->app = a;
	v->query = &a->query;
	v->from = from ? from->ops : NULL;
	v->scope = *p->scope;
	app_title_view(v, p->title ? p->title : title);
	r = p->ops->init ? p->ops->init(v) : 0;
	if (r < 0) {
		mem_free(v);
		return r;
	}
	v->events = p->events;
	v->row = p->row;
	*ret = v;
	return 0;
}

void app_title_view(struct view *v, const char *title)
{
	text_clean(v->title, sizeof(v->title), title);
}

void app_close_view(struct view *v)
{
	if (v && v->ops->deinit)
		v->ops->deinit(v);
	mem_free(v);
}

static void close_entry(struct app_entry *e)
{
	app_close_view(e->view);
	*e = (struct app_entry){0};
}

static int push(struct app *a, const struct app_page *p)
{
	const struct view *from = app_keys(a);
	const struct view_ops *beside =
		a->side.view && !a->side.has_keys ? a->side.view->ops : NULL;
	int r = app_side_take(a, p);

	if (r <= 0)
		return r;
	if (a->n_stack == APP_DEPTH) {
		app_say(a, ROLE_DIM, "No deeper: Esc goes back");
		return 0;
	}
	a->stack[a->n_stack] = (struct app_entry){0};
	r = app_open_page(a, p, from, &a->stack[a->n_stack].view);
	if (r < 0)
		return r;
	a->stack[a->n_stack++].view->beside = beside;
	a->side.has_keys = false;
	return 0;
}

int app_push(struct app *a, const struct view_ops *ops, const struct query_scope *scope,
	     const char *title)
{
	return push(a, &(struct app_page){.ops = ops, .scope = scope, .title = title});
}

int app_push_events(struct app *a, const struct query_events_scope *scope, const char *title)
{
	const struct query_scope none = {0};

	return push(a,
		    &(struct app_page){
			    .ops = &view_events, .scope = &none, .events = *scope, .title = title});
}

int app_push_row(struct app *a, const struct view_ops *ops, uint64_t row, const char *title)
{
	const struct query_scope none = {0};

	return push(a, &(struct app_page){.ops = ops, .scope = &none, .row = row, .title = title});
}

struct view *app_shown(struct app *a)
{
	return a->side.is_asked && a->side.view ? a->side.view : app_top(a)->view;
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
	if (a->side.is_asked) {
		vsnprintf(a->side.why, sizeof(a->side.why), fmt, ap);
		va_end(ap);
		return;
	}
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
	if (a->side.is_drawn)
		return "";
	return a->n_stack ? a->stack[a->n_stack - 1].filter : a->roots[a->root].filter;
}

const char *app_row_filter(const struct app *a)
{
	return a->side.is_drawn ? "" : a->rows;
}

/* Is its table one of @kinds, which NULL ends? */
static bool has_table(const struct view *v, const char *const *kinds)
{
	while (*kinds && !(v->ops->tables && strcmp(v->ops->tables, *kinds) == 0))
		kinds++;
	return *kinds;
}

bool app_is_about_waits(const struct view *v)
{
	static const char *const kinds[] = {"locks", "waiters", "flame", "heat", NULL};

	return has_table(v, kinds);
}

enum app_part_use app_part_use(const struct view *v)
{
	static const char *const of_all[] = {"blame", "held", "did", "chains", "locks cpus", NULL};
	static const char *const half[] = {"hot", "mmap", NULL};

	if (app_is_about_waits(v))
		return PART_ALONE;
	return has_table(v, half) ? PART_OF_WAITS : has_table(v, of_all) ? PART_NOT : PART_NO_WAITS;
}

/* Adds which waits the filter of @e means to *@all, NULL: no memory. Answers that, in the arena. */
static const char *add_filter(struct app *a, const struct app_entry *e, const char **all)
{
	char only[2 * PROMPT_TEXT] = "";

	if (app_is_about_waits(e->view))
		wait_filter_split(e->filter, only, a->rows);
	else
		snprintf(a->rows, sizeof(a->rows), "%s", e->filter);
	if (*only && *all)
		*all = arena_printf(&a->query.arena, "%s(%s) ", *all, only);
	return arena_strndup(&a->query.arena, only, strlen(only));
}

/*
 * The filters of a view about waits, and of those that it was opened from, say which are meant as
 * far as they name them: all that is there is then of these.
 */
static void narrow_to_filters(struct app *a)
{
	bool any = a->only && *a->only;

	a->narrowed = a->only;
	const char *all = any ? arena_printf(&a->query.arena, "(%s) ", a->only) : "";
	const char *first = add_filter(a, &a->roots[a->root], &all);

	a->above = a->n_stack && first ? first : "";
	for (size_t i = 0; i < a->n_stack; i++)
		add_filter(a, &a->stack[i], &all);
	/* The map itself shows all, and the part in it. */
	bool has_part = heat_part_any(&a->part) && app_top(a)->view->ops != &view_heat;
	const enum app_part_use use = app_part_use(app_top(a)->view);
	if (has_part && use <= PART_OF_WAITS)
		a->query.part = a->part;
	a->query.part_of_waits = use == PART_OF_WAITS;
	if (!app_is_about_waits(app_top(a)->view))
		all = any ? arena_printf(&a->query.arena, "(%s)", a->only) : "";
	if (use > PART_OF_WAITS || (all && !*all && !has_part) ||
	    (use == PART_OF_WAITS && !has_part))
		return;
	struct error err = {0};
	a->narrowed = all;
	/* A filter that is still being typed is not wrong yet. */
	if ((!all || wait_filter_set(&a->query, all, &err) < 0) && !a->prompt.kind)
		app_say(a, ROLE_ERROR, "%s", err.code ? err.text : "Not enough memory");
}

const struct query_columns *app_columns(const struct app *a)
{
	return &a->columns;
}

double app_percent_limit(const struct app *a)
{
	return a->percent_limit;
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

/* Of several at the address that which was waited for longest. */
static void select_lock(const struct app *a, struct view *v, uint64_t addr)
{
	const struct lock_table *t = a->engine->model->locks;
	const struct lock *best = NULL;

	for (size_t i = 1; i < t->n; i++)
		if (t->locks[i].addr == addr && (!best || t->locks[i].waited_ns > best->waited_ns))
			best = &t->locks[i];
	if (best)
		list_select(list_of(v), best->id);
}

/* Options of the command line go to the first view, after the settings for locks. */
static void apply_options(struct app *a, const struct app_options *o)
{
	for (size_t i = 0; i < a->n_roots; i++) {
		if (!strcmp(view_roots[i]->name, "locks"))
			order_rows(a->roots[i].view, o->locks_by, o->locks_sort);
		if (o->lock && !strcmp(view_roots[i]->name, "locks"))
			select_lock(a, a->roots[i].view, o->lock);
		if (o->filter)
			app_find_keep(a, &a->roots[i], o->filter);
	}
	order_rows(a->roots[a->root].view, o->by, o->sort);
}

/* Is it that view, or has it a column set of that name, which it shows then? */
static bool shows(struct view *v, const char *name)
{
	const struct view_ops *const *set = v->ops->sets;

	if (!strcmp(v->ops->name, name))
		return true;
	while (set && *set && strcmp((*set)->set, name) != 0)
		set++;
	if (!set || !*set)
		return false;
	v->ops->command(v, CMD_SET, &(struct command_arg){.text = name});
	/* Rows are as they were while that set was a view. */
	if (!strcmp(name, "did"))
		order_rows(v, "lock", NULL);
	return true;
}

static int open_roots(struct app *a, const struct app_options *o, struct error *err)
{
	const struct query_scope all = {0};
	bool found = !o->view;

	for (size_t i = 0; view_roots[i] && i < APP_ROOTS; i++) {
		const struct app_page root = {.ops = view_roots[i], .scope = &all};
		int r = app_open_page(a, &root, NULL, &a->roots[i].view);

		if (r < 0)
			return error_errno(err, r, "Cannot set up the view %s",
					   view_roots[i]->name);
		a->n_roots++;
		if (o->view && shows(a->roots[i].view, o->view)) {
			a->root = i;
			found = true;
		}
	}
	if (!found)
		return error_set(err, -EINVAL, "No view is called '%s'", o->view);
	apply_options(a, o);
	return 0;
}

int app_new(struct app **ret, struct engine *e, struct display *d, const struct app_options *o,
	    struct error *err)
{
	struct app *a = mem_calloc(1, sizeof(*a));
	int r;

	if (!a)
		return error_enomem(err, "the screen");
	a->engine = e;
	a->display = d;
	a->screen.ascii = d->ascii;
	a->clock = o->clock ? o->clock : &app_system_clock;
	a->delay_ns = o->delay_ns ? o->delay_ns : 1000000000ull;
	a->duration_ns = o->duration_ns;
	a->mask = o->mask;
	a->save_dir = o->save_dir;
	a->saver = o->saver;
	a->child_exit_fd = o->child_exit_fd;
	a->percent_limit = o->percent_limit;
	a->limits = o->verdict;
	a->columns = o->columns ? *o->columns : (struct query_columns){0};
	a->keep = o->keep;
	a->only = o->only;
	a->only_words = o->only_words;
	a->time.line = o->timeline;
	a->time.figures = o->figures;
	a->time.is_replay = o->timeline != NULL;
	a->history = o->has_history ? e->source : NULL;
	a->time.cut = o->cut;
	a->time.name = o->recording ? o->recording : "";
	r = query_init(&a->query, e);
	a->query.keeps = true;
	a->query.incidents = o->incidents;
	a->catcher = o->catcher;
	if (r < 0)
		error_errno(err, r, "Cannot set up the screen");
	else
		r = open_roots(a, o, err);
	if (r < 0) {
		app_free(a);
		return r;
	}
	a->opening = o->opening;
	a->window = APP_WINDOW_10S;
	r = app_versus_begin(a, o);
	if (r < 0) {
		app_free(a);
		return error_errno(err, r, "Cannot set up the comparison");
	}
	a->dirty = true;
	if (a->time.line)
		app_time_begin(a, o->from_ns, o->to_ns);
	a->tour.workload = o->workload;
	a->tour.walk = o->walk;
	if (o->tour)
		app_tour_begin(a);
	if (o->note && *o->note)
		app_say(a, ROLE_WARN, "%s", o->note);
	snprintf(a->theme, sizeof(a->theme), "%s", o->theme ? o->theme : theme_name(0));
	app_measure(a);
	*ret = a;
	return 0;
}

void app_free(struct app *a)
{
	if (!a)
		return;
	app_history_leave(a);
	app_marks_clear(a);
	app_versus_end(a);
	app_side_close(a);
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

const char *app_end(const struct app *a)
{
	return a->end;
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

static void draw_bottom(struct app *a, struct rect r)
{
	a->keybar.n = 0;
	if (a->choose.kind) {
		app_choose_keys(a, r);
	} else if (a->prompt.kind) {
		prompt_draw(&a->prompt, &a->screen, r);
	} else if (a->message[0]) {
		screen_put(&a->screen, r, 0, 0, a->message_role, a->message);
	} else {
		keybar_draw(a, r);
	}
}

/* No line that would have a figure or a verdict: nothing is measured yet. */
static void draw_opening(struct app *a, const struct layout_app *l)
{
	screen_put(&a->screen, l->header, 0, 0, ROLE_HEADER, "kontend");
	screen_put(&a->screen, l->body, 1, 0, ROLE_DIM, a->opening);
	draw_bottom(a, l->bar);
}

static void draw_parts(struct app *a, const struct layout_app *l)
{
	struct view *v = app_top(a)->view;

	app_window_apply(a);
	query_begin(&a->query);
	if (wait_filter_set(&a->query, a->only, NULL) < 0)
		app_say(a, ROLE_ERROR, "Not enough memory for what is left out");
	a->verdict_line = l->verdict;
	if (app_sums_ask(a) < 0) {
		app_say(a, ROLE_ERROR, "Not enough memory to draw: close something, or use :zero");
	} else {
		header_draw(a, l->header, &a->sums.now);
		if (l->verdict.h)
			verdict_draw(&a->verdict, &a->screen, l->verdict,
				     app_tour_is_offered(a) ? "t: tour with a demo" : NULL);
	}
	app_ribbon_draw(a, l->ribbon);
	narrow_to_filters(a);
	a->crumbs.y = -1;
	if (l->crumbs.h)
		crumbs_draw(a, l->crumbs);
	struct rect body = l->body, callout = body;
	callout.h = app_tour_lines(a, body);
	body.h -= callout.h;
	callout.y += body.h;
	body = app_side_place(a, body);
	a->screen.is_passive = a->side.has_keys;
	v->ops->draw(v, &a->screen, body);
	a->screen.is_passive = false;
	app_side_draw(a);
	if (callout.h)
		app_tour_draw(a, callout);
	app_choose_draw(a, l->body);
	a->drawn = v;
	a->drawn_snapshots = model_n_snapshots(a->engine->model);
	/* Commands that come before the next frame are about all there is by then. */
	wait_filter_end(&a->query);
	a->query.part = (struct heat_part){0};
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

/* The overview is about the verdict, help about keys; others have it where there is room. */
static struct layout_has lines_of(struct app *a)
{
	const struct view_ops *ops = app_top(a)->view->ops;

	return (struct layout_has){
		.ribbon = app_ribbon_rows(a),
		.verdict = ops != &view_help && (ops == &view_overview || a->screen.h >= VERDICT_H),
		.crumbs = crumbs_any(a),
	};
}

static void draw_frame(struct app *a)
{
	struct layout_app l;
	int w, h;

	a->display->ops->size(a->display, &w, &h);
	if (screen_resize(&a->screen, w, h) < 0)
		return;
	a->screen.letters = a->display->letters || !theme_has_map(theme_find(a->theme));
	a->again = false;
	l = layout_app(a->screen.w, a->screen.h, lines_of(a));
	if (l.too_small)
		draw_too_small(a, &l);
	else if (a->opening)
		draw_opening(a, &l);
	else
		draw_parts(a, &l);
	a->again |= query_load_asked(&a->query);
	if (app_pending(a) >= 0) {
		a->dirty = true; /* shown when it can be, as what there is by then */
		return;
	}
	a->display->ops->blit(a->display, a->screen.cells, a->screen.w, a->screen.h);
	a->dirty = false;
}

void app_draw(struct app *a)
{
	uint64_t began = a->clock->now_ns(a->clock->arg);

	draw_frame(a);
	a->drawn_ns = a->clock->now_ns(a->clock->arg);
	a->draw_took_ns = a->drawn_ns - began;
}
