// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shared by views: sentences for tables without rows, errors of queries in place of their answer,
 * the spec of a query from what the user chose, and the step from a row into its detail. All text
 * made here is in the arena of the query and is valid until the next frame.
 */
#include "kontend/view.h"
#include "kontend/arena.h"
#include "kontend/engine.h"
#include "kontend/query-no-locks.h"
#include "kontend/query-why.h"
#include "kontend/screen-views.h"
#include "kontend/text.h"
#include "wait.h"
#include "widgets/widget.h"

#include <stdio.h>
#include <string.h>

const char *view_first_key(enum command c, char buf[16])
{
	for (const struct command_info *i = command_table; i->command != CMD_NONE; i++)
		if (i->command == c && i->keys[0])
			return command_key_name(i->keys[0], buf);
	return ":";
}

const char *view_empty_text(struct view *v, const struct table *t)
{
	const struct record_host *host = v->query->model->host;
	const char *targets = host->targets[0] ? host->targets : "the targets";
	const char *no_locks = query_no_locks(v->query);
	char key[16];
	const char *text;
	char window[APP_WINDOW_TEXT];

	if (t && t->n_total > t->n_rows)
		text = arena_printf(&v->query->arena, "no row of %zu matches \"%s\"; %s shows all",
				    t->n_total, app_filter(v->app),
				    view_first_key(CMD_CLEAR_FILTER, key));
	else if (v->query->only)
		text = arena_printf(&v->query->arena, "no wait passes the filter%s%s",
				    *app_filter(v->app) ? ": " : "", app_filter(v->app));
	else if (v->query->window_ns && v->query->model->n_events)
		text = arena_printf(
			&v->query->arena, "no wait in the last %s; %s goes to another time",
			app_window_text(v->app, window), view_first_key(CMD_WINDOW, key));
	else if (no_locks)
		text = no_locks;
	else if (v->scope.mask)
		text = "nothing recorded here since the start or the last zero (z)";
	else
		text = arena_printf(&v->query->arena,
				    "no contention seen yet on %s; rows appear as soon as a task "
				    "has to wait for a lock (kontend demo makes some)",
				    targets);
	return text ? text : "";
}

size_t view_wrap(const char *text, int w)
{
	size_t fits = 0, at = 0;
	int used = 0;

	while (text[at]) {
		uint32_t ch;
		size_t n = text_decode(text + at, &ch);
		if (ch == ' ')
			fits = at;
		used += text_char_width(ch);
		if (used > w)
			return fits ? fits : at ? at : n;
		at += n;
	}
	return at;
}

void view_draw_text(struct screen *s, struct rect r, enum role role, const char *text)
{
	char line[512];

	for (int y = 0; y < r.h && *text; y++) {
		size_t n = view_wrap(text, r.w < 100 ? r.w - 2 : 98);
		if (n >= sizeof(line))
			n = sizeof(line) - 1;
		memcpy(line, text, n);
		line[n] = '\0';
		screen_put(s, r, 1, y, role, line);
		text += n;
		text += strspn(text, " ");
	}
}

void view_draw_window(const struct view *v, struct screen *s, struct rect r)
{
	char text[APP_WINDOW_TEXT + 2], window[APP_WINDOW_TEXT];
	int n = snprintf(text, sizeof(text), " %s ", app_window_text(v->app, window));

	if (r.h > 0 && r.w > n + 1)
		screen_put(s, r, r.w - n - 1, 0, ROLE_DIM, text);
}

void view_draw_error(struct screen *s, struct rect r, const struct error *err)
{
	view_draw_text(s, r, ROLE_ERROR, err->text[0] ? err->text : "out of memory");
}

void view_fill_spec(const struct view *v, const struct table_widget *w, struct query_spec *spec)
{
	spec->scope = v->scope;
	if (w && w->sort[0])
		spec->sort = w->sort;
	if (w)
		spec->reverse = w->reverse;
	spec->filter = app_row_filter(v->app);
	spec->average = app_averages(v->app);
}

/* "rwsem:W vm_mmap" -> "vm_mmap": below a lock its type has been said. */
static const char *without_type(const char *title)
{
	const char *blank = strchr(title, ' ');

	return blank ? blank + 1 : title;
}

static int open_detail(struct view *v, enum query_by by, uint64_t id)
{
	struct query_scope scope = v->scope;
	const char *title = query_title(v->query, by, id);

	if (title && by == BY_CALLER && v->scope.mask & (1u << BY_LOCK | 1u << BY_TYPE))
		title = without_type(title);
	scope.mask |= 1u << by;
	scope.id[by] = id;
	return app_push(v->app, &view_detail, &scope, title ? title : query_by_name(by));
}

int view_open(struct view *v, enum query_by by, uint64_t id)
{
	if (by == BY_TASK && query_why_tid(v->query, id))
		return app_push_row(v->app, &view_why, id, query_title(v->query, by, id));
	return open_detail(v, by, id);
}

int view_open_task(struct view *v, uint64_t id)
{
	return open_detail(v, BY_TASK, id);
}

int view_open_waiter(struct view *v, uint64_t row, enum query_by by)
{
	struct query_spec spec = {.scope = v->scope};
	struct table t;
	size_t at, col;

	if (query_wait_rows(v->query, &spec, NULL, &t, NULL) < 0)
		return 0;
	at = table_row(&t, row);
	col = table_column(&t, by == BY_TASK ? "task_id" : "lock_id");
	if (at == SIZE_MAX || col == SIZE_MAX) {
		app_say(v->app, ROLE_NORMAL, "this wait has just ended");
		return 0;
	}
	return view_open(v, by, table_value(&t, at, col)->u);
}

int view_open_wait(struct view *v, uint64_t row, struct wait_kept *seen)
{
	const struct query_wait *w = wait_kept_of(seen, row);
	struct query_spec spec = {0};
	struct query_wait now;

	if (query_wait(v->query, row, &spec, &now, NULL) == 0)
		w = &now;
	if (!w) {
		app_say(v->app, ROLE_NORMAL, "this wait has just ended");
		return 0;
	}
	int r = app_push_row(v->app, &view_wait, row, w->task ? w->task : "wait");
	if (app_shown(v->app)->ops == &view_wait)
		view_wait_keep(app_shown(v->app), seen);
	return r;
}

const char *view_count_text(struct view *v, const struct table *t)
{
	const char *unit = t->n_total == 1 ? "row" : "rows";
	const char *text;

	if (t->n_rows < t->n_total)
		text = arena_printf(&v->query->arena, "%zu of %zu %s", t->n_rows, t->n_total, unit);
	else
		text = arena_printf(&v->query->arena, "%zu %s", t->n_rows, unit);
	return text ? text : "";
}

void view_say_names(struct view *v, const char *name, const char *first, const char *const *names)
{
	const char *all = first;

	for (size_t i = 0; all && names[i]; i++)
		all = arena_printf(&v->query->arena, "%s %s", all, names[i]);
	app_say(v->app, ROLE_WARN, "by %s? One of:%s", name ? name : "what", all ? all : "");
}

/*
 * The root views in the order of their digits. Tab goes through them, `:view NAME` finds them, and
 * the key bar shows them. Those without a digit are the locks table grouped by another key, which
 * `b` leads to as well. To add a view, add a word to screen-views.h. Views that open only from a
 * row (detail) are not here.
 */
#define ROOT(name) &view_##name,

const struct view_ops *const view_roots[] = {SCREEN_VIEWS(ROOT, ROOT) NULL};
