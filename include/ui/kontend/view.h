/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_VIEW_H
#define KONTEND_VIEW_H

#include "kontend/command.h"
#include "kontend/query-perf.h"
#include "kontend/query.h"
#include "kontend/screen-views.h"
#include "kontend/screen.h"

struct app;
struct view;
struct list_ops;
struct query_columns;
struct table_widget;
struct view_choices;

/* Answers of view_ops.command besides 0 = done. */
enum { VIEW_UNHANDLED = 1 };

/*
 * A view is drawn from queries alone. The app calls draw() for each frame (after query_begin()),
 * command() for each command that it does not handle itself. One static const view_ops and one line
 * in the table of views make a view.
 */
struct view_ops {
	const char *name;  /* "locks": for : and man page */
	const char *title; /* breadcrumb part when it is a root view */
	const char *brief; /* its name where there is little room; NULL: without a digit */
	char digit;	   /* '2' or 'W', its key; 0: reached by name, by Tab or from a row */
	const struct view_key *keys; /* most wanted first, ended by CMD_NONE; NULL: none */
	bool is_code, compares;	     /* keys of a function's code; B minus A of marks is shown */
	const char *help;
	/* Of tables.h, with blanks between; the first is the one that is sorted and filtered. NULL:
	 * none */
	const char *tables;
	/* The view with each of its column sets, this one included, ended by NULL; NULL: it has no
	 * sets. CMD_SET changes view.ops to another. */
	const struct view_ops *const *sets;
	const char *set;   /* "held": the name of this one */
	const char *shows; /* tables that help explains as well; NULL: none */
	size_t size;	   /* of the view's struct, which begins with struct view */
	int (*init)(struct view *v);
	void (*deinit)(struct view *v);
	void (*draw)(struct view *v, struct screen *s, struct rect r);
	int (*command)(struct view *v, enum command c, const struct command_arg *arg);
	/*
	 * Opens the page of the selected row by app_push(), and changes nothing else: from 160
	 * columns on it is beside the view, and follows the cursor. Or VIEW_UNHANDLED: there is no
	 * row. NULL: rows have no page.
	 */
	int (*page)(struct view *v);
	bool (*has_page)(
		const struct view *v);	    /* of the rows that are shown now; NULL: they have */
	const struct list_ops *list;	    /* of a view that is one table: ui/views/list.h */
	const struct view_choices *choices; /* what lists offer; NULL: nothing */
};

struct view {
	const struct view_ops *ops;
	struct app *app;
	struct query *query;
	struct query_scope scope;	  /* how one got here */
	struct query_events_scope events; /* of view_events: which */
	uint64_t row;			  /* of a table, which the view is about */
	char title[160];		  /* breadcrumb part */
	const struct view_ops *from;	  /* of the view it was opened from; NULL: a root */
	const struct view_ops *beside;	  /* of the page that was beside that one; NULL: none */
};

/*
 * For views: what the app offers. app_push() opens a drill-down on top (taking the scope),
 * app_say() shows a message in the bottom line until the next key.
 */
int app_push(struct app *a, const struct view_ops *ops, const struct query_scope *scope,
	     const char *title);
int app_push_events(struct app *a, const struct query_events_scope *scope, const char *title);
/* The same for a view of one row. */
int app_push_row(struct app *a, const struct view_ops *ops, uint64_t row, const char *title);
/* The view that is on top: the one just pushed, unless there is no deeper. */
struct view *app_shown(struct app *a);
void app_say(struct app *a, enum role role, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Goes back to that moment, if it is kept, and shows the root view of that name. */
void app_go_to(struct app *a, uint64_t ns, const char *view);
void app_set_filter(struct app *a, const char *text); /* of the view that is shown; "": none */
/* Something is still being loaded: another frame soon, without waiting for a tick. */
void app_again(struct app *a);
bool app_paused(const struct app *a);
enum command_mode app_mode(const struct app *a);
/* A range is shown: rates are of the whole range, not of its last bucket. */
bool app_shows_range(const struct app *a);
/* Figures are of all since counting began, or since the range did: rates are averages. */
bool app_averages(const struct app *a);
/* "10s", "all" or "range": what figures are of, for titles. */
enum { APP_WINDOW_TEXT = 64 };
const char *app_window_text(const struct app *a, char buf[APP_WINDOW_TEXT]);
/* How many of the last buckets figures are about: all of the range, or one. */
uint32_t app_buckets(const struct app *a);
const char *app_row_filter(const struct app *a); /* of it, what is not about waits */
const char *app_filter(const struct app *a);	 /* of the top view; "" = none */
double app_percent_limit(const struct app *a); /* of the nodes of trees that are opened at first */
const struct query_columns *app_columns(const struct app *a); /* that the user wants */
/* The target of n: the text of the last search, or a word of the view's filter if that is newer;
 * "" = none. */
const char *app_search(const struct app *a);
bool app_search_is_filter(const struct app *a);

/* The waits that were selected in a heat map: tables of waits have these alone. */
struct heat_part;
const struct heat_part *app_part(const struct app *a);
/* Selects these, and leaves the map for what it was opened from, or for the locks. */
void app_select_part(struct app *a, const struct heat_part *p);
/* A moment, from the beginning, as the first line has it. */
const char *app_elapsed(const struct app *a, uint64_t ns, char *buf /* of WHEN_BUF bytes */);

/* Returns true if both marks are set: then views that compare show B minus A. */
bool app_compare_on(const struct app *a);
/* Queries the table "compare": the chosen window, at both marks. */
int app_compare(struct app *a, const struct query_spec *s, struct table *ret, struct error *err);

/*
 * The sides that a flame graph compares: the groups that were chosen, if it is of @groups; both
 * marks; or another recording. VERSUS_NONE: nothing, and *@ret_why may say why (else NULL).
 */
struct query_flame_diff;
struct query_flame_spec;
enum app_versus_kind { VERSUS_NONE, VERSUS_MARKS, VERSUS_GROUPS, VERSUS_OTHER };
enum app_versus_kind app_versus(struct app *a, bool groups, const struct query_flame_spec *s,
				const char **ret_why);
/* Both sides of it. 0 or -ENOMEM, or -EINVAL with @err. */
int app_versus_flame(struct app *a, enum app_versus_kind kind, const struct query_flame_spec *s,
		     struct query_flame_diff *ret, struct error *err);
/* How a side is called, 0 or 1; NULL: it has but its letter. */
const char *app_versus_name(const struct app *a, enum app_versus_kind kind, int side);
/* Chooses a row as a group: A, then B, for which it opens the graph. 0 or a negative errno. */
int app_versus_row(struct app *a, const struct query_scope *scope, enum query_by by, uint64_t id);
const char *app_versus_chosen(const struct app *a); /* A, while B is not chosen yet; NULL: none */

/*
 * Shared by views: the sentence for a table without rows (in the query's arena), the
 * error of a query in place of its answer, and opening a row one step deeper.
 */
const char *view_empty_text(struct view *v, const struct table *t);
const char *view_first_key(enum command c, char buf[16]); /* its name; ":": it has none */
void view_draw_error(struct screen *s, struct rect r, const struct error *err);
/* The sort key and direction the user chose in @w, and the app's filter. */
void view_fill_spec(const struct view *v, const struct table_widget *w, struct query_spec *spec);
/* Pushes a detail of the rows of @scope that have @id in dimension @by. */
int view_open(struct view *v, enum query_by by, uint64_t id);
/* The waits of the task @id of the table of tasks, also of one that is followed. */
int view_open_task(struct view *v, uint64_t id);
/* The same for the lock or task of a row of query_waiters(); the wait may have ended by now. */
int view_open_waiter(struct view *v, uint64_t row, enum query_by by);
/* Pushes the page of that wait itself, with the calls; of one that has ended, what @seen has. */
struct wait_kept;
int view_open_wait(struct view *v, uint64_t row, struct wait_kept *seen);
/* For that page, which view_wait_keep() makes show @seen if it is over. */
void view_wait_keep(struct view *v, struct wait_kept *seen);
/* Which window of time the figures below are of, at the right of the line of their title. */
void view_draw_window(const struct view *v, struct screen *s, struct rect r);
/* @text in as many lines of @r as it needs, broken at blanks. */
void view_draw_text(struct screen *s, struct rect r, enum role role, const char *text);
/* The same from line @y of @r on, but for lines kept for rows; answers how many it took. */
int view_draw_note(struct screen *s, struct rect r, int y, enum role role, const char *text);
/* How to get missing data, if @reason is a lack of rights; or "". */
const char *view_advice(const char *reason);
/* Says that @what needs lock snapshots, and why there are none; as view_draw_note(). */
int view_draw_no_look(struct view *v, struct screen *s, struct rect r, int y, const char *what);
/* Bytes of @text that go into a line of @w columns: up to the last blank that fits. */
size_t view_wrap(const char *text, int w);
/* "7 of 318": matching rows of all, or just their number. */
const char *view_count_text(struct view *v, const struct table *t);

/* Arguments of `:by`, indexed by enum query_by; ended by NULL. */
extern const char *const view_by_names[];
/* `:by NAME` with a name that is none of @names. */
void view_say_names(struct view *v, const char *name, const char *first, const char *const *names);

/*
 * A view shows columns according to its key and its scope: view_fit_columns() changes priorities in
 * a copy of the columns. The view owns that copy (@store), as a widget remembers its columns from
 * one frame to the next.
 */
enum { VIEW_HIDE = 255, VIEW_COLUMNS = TABLE_COLUMNS }; /* the most that a query has */
struct view_fit {
	const char *key;
	uint8_t priority; /* VIEW_HIDE: not on the screen */
	uint8_t width;	  /* 0: as it is */
};
struct view_columns {
	struct column list[VIEW_COLUMNS];
};
void view_fit_columns(struct table *t, struct view_columns *store, const struct view_fit *fit,
		      size_t n);
void view_fit_locks(const struct view *v, struct table *t, struct view_columns *store,
		    enum query_by by);
void view_fit_waiters(const struct view *v, struct table *t, struct view_columns *store);
/* The list by type of the overview. */
void view_fit_types(const struct view *v, struct table *t, struct view_columns *store);

/* Arguments of `:by` in a view, in the order of `by-next`. */
struct view_bys {
	const char *names[QUERY_BYS + 4];
	size_t n, now;
};

/* Choices of a view, for the lists over it. */
struct view_choices {
	/* NULL, or returns none: rows cannot be grouped otherwise. */
	void (*bys)(struct view *v, struct view_bys *ret);
	/* The table that sort keys are for; NULL: there is a tree in its place. */
	struct table_widget *(*table)(struct view *v);
};

/* All root views, those with a digit first, ended by NULL. */
extern const struct view_ops *const view_roots[];
#define VIEW_DECLARE(name) extern const struct view_ops view_##name;
SCREEN_VIEWS(VIEW_DECLARE, VIEW_DECLARE)
#undef VIEW_DECLARE
/* Those that a row, or a key, leads to. */
extern const struct view_ops view_wait, view_events, view_rotation_cpu, view_uprobe, view_xol,
	view_blame_held, view_blame_did, view_hot_tree, view_annotate, view_flame, view_heat,
	view_detail, view_help;

#endif
