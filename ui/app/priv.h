/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_APP_PRIV_H
#define KONTEND_UI_APP_PRIV_H

#include "choose.h"
#include "kontend/app-sums.h"
#include "kontend/app.h"
#include "kontend/query-columns.h"
#include "kontend/query-diff.h"
#include "kontend/view.h"
#include "prompt.h"
#include "side.h"
#include "tour.h"
#include "travel.h"
#include "verdict.h"
#include "versus.h"

#include <stdint.h>

struct app_entry;

/* ui/app/window.c: the time that figures cover. */
enum app_window { APP_WINDOW_1S, APP_WINDOW_10S, APP_WINDOW_1MIN, APP_WINDOW_ALL, APP_WINDOWS };

/* Called before each frame, as a range may have begun or ended. */
void app_window_apply(struct app *a);
void app_window_command(struct app *a, const char *text); /* NULL: the next one */

/* The window that the user chose, even while a range is shown; 0: all. */
uint64_t app_window_ns(const struct app *a);

/* ui/app/marks.c: two moments to compare. */
enum { MARK_A, MARK_B, MARKS };

struct app_marks {
	struct query_moment moments[MARKS];
	uint64_t ns[MARKS]; /* where they are; 0 = not set */
};

/* @what: "a", "b" or "off"; NULL: the next of these. */
void app_mark(struct app *a, const char *what);
/* Returns false if there was no mark. */
bool app_marks_clear(struct app *a);
/* "B - A: 0:41 - 0:12" for the first line; NULL: a mark is missing. */
enum { APP_MARKS_TEXT = 80 };
const char *app_marks_text(const struct app *a, char buf[APP_MARKS_TEXT]);
/* The query at a mark, about what the view is about. NULL: @err says why not. */
struct query *app_mark_query(struct app *a, int mark, struct error *err);

/* ui/app/part.c: waits selected in a heat map. Returns false if there was no selection. */
bool app_part_clear(struct app *a);
/* Which they are, in words; is the view on top about them? */
enum { APP_PART_TEXT = 160 };
const char *app_part_text(const struct app *a, char buf[APP_PART_TEXT]);
/* The figures of a view: of these waits alone; of all but for waits; of all waits; of none. */
enum app_part_use { PART_ALONE, PART_OF_WAITS, PART_NOT, PART_NO_WAITS };
enum app_part_use app_part_use(const struct view *v);
/* Is the view one table of waits, or a picture of them? Other pages have figures of everything. */
bool app_is_about_waits(const struct view *v);

/* ui/app/find.c: filters and searches; the key n repeats the last of either. */
void app_find_keep(struct app *a, struct app_entry *e, const char *filter);
/* For the view on top. @text NULL: opens the prompt. */
void app_find_filter(struct app *a, const char *text);
void app_find_text(struct app *a, const char *text);
/* Applies the text typed so far as a filter; @cancelled: brings the old filter back. */
void app_find_typed(struct app *a, const char *line, bool cancelled);
void app_find_next(struct app *a, enum command c);

/* ui/app/crumbs.c: the line that names the views on the way to this one. */
enum { CRUMBS = 9 }; /* a root view, and the views opened one from the other */

/* Where the last frame shows the names of these views. */
struct crumbs {
	int y; /* -1: nowhere */
	struct {
		int x, end;
	} of[CRUMBS]; /* by depth; empty: not there */
};

/* Returns whether the line has anything to show. */
bool crumbs_any(struct app *a);
void crumbs_draw(struct app *a, struct rect r);
/* Goes back to the view whose name is at that place. Returns false if there is none. */
bool crumbs_click(struct app *a, int x, int y);

/* ui/app/stop.c: the waits to stop at; an empty filter matches none. */
struct app_stop {
	char filter[PROMPT_TEXT + 16],
		text[PROMPT_TEXT]; /* as the query needs it; as the user wrote it */
	uint64_t since_ns;	   /* waits that ended before do not count */
};

/* Sets the filter. NULL opens the prompt, "off" removes the filter. */
void app_stop_on(struct app *a, const char *text);
/* Called at a tick: pauses if there is such a wait. */
void app_stop_tick(struct app *a);

enum { APP_ROOTS = 24, APP_DEPTH = CRUMBS - 1, APP_HITS = 32 };

/* Bounds of the refresh interval. */
#define APP_DELAY_MIN_NS 100000000ull
#define APP_DELAY_MAX_NS 60000000000ull

/* A view and the filter that belongs to it. */
struct app_entry {
	struct view *view;
	char filter[PROMPT_TEXT];
	char word[PROMPT_TEXT]; /* that it wants rows to have, the first of them; "" = none */
	unsigned asked;		/* when; see app.asked */
};

/* Commands of clicks on the key bar; n of CMD_VIEW. */
struct keybar {
	struct keybar_hit {
		int x, w, n;
		enum command command;
	} hits[APP_HITS];
	size_t n;
};

struct app {
	struct engine *engine;
	struct display *display;
	struct query query;
	struct screen screen;
	const char *opening; /* see struct app_options */
	const struct app_clock *clock;
	uint64_t delay_ns, duration_ns, until_ns; /* by the clock, app_run() ends; 0 = not */
	const sigset_t *mask;			  /* see struct app_options */
	const char *save_dir;			  /* NULL: kontend/statefolder.h */
	int child_exit_fd;

	struct app_entry roots[APP_ROOTS];
	size_t n_roots, root;
	struct app_entry stack[APP_DEPTH]; /* drill-downs; the last one is shown */
	size_t n_stack;
	const struct view *drawn; /* in the last frame; for comparison only */
	uint64_t drawn_snapshots; /* snapshots that the model had taken at that frame */

	struct prompt prompt;
	struct app_choose choose;
	struct query_columns columns;
	const struct app_keep *keep;
	const struct app_saver *saver;
	char theme[16];			 /* its name */
	char filter_before[PROMPT_TEXT]; /* the filter that Esc brings back */
	char search[PROMPT_TEXT];
	unsigned asked, search_asked, asked_before; /* counts filters and searches */
	double percent_limit;
	enum app_window window;
	const struct verdict_limits *limits;
	struct verdict verdict;
	struct rect verdict_line; /* in the last frame */
	struct app_sums sums;
	const char *only, *only_words, *above; /* options; of the filter of the first view */
	const char *narrowed;		       /* which waits this frame is about; NULL: all */
	char rows[2 * PROMPT_TEXT];	       /* what of the top view's filter is of its rows */
	struct heat_part part;		       /* that was selected in a heat map */
	bool has_sums;
	char message[400];
	enum role message_role;
	struct keybar keybar;
	struct crumbs crumbs;
	struct app_time time;
	struct app_marks marks;
	struct app_versus versus;
	struct source *history; /* the engine's source, when that is one; NULL = none is kept */
	struct query_ribbon kept_figures; /* of the history's timeline */

	struct app_stop stop;
	const struct app_catcher *catcher; /* of incidents; NULL: none */
	struct app_tour tour;
	struct app_side side;
	bool paused, ended, done, dirty;
	uint64_t drawn_ns, draw_took_ns; /* app's clock after the last frame, and what that took */
	bool again, behind, has_keys;	 /* the frame wants one soon; source, keys: may have more */
	bool collected;			 /* nothing more will come from below the history */
	bool catching_up;	/* resumed, and the records that waited are not all applied */
	uint64_t paused_losses; /* lost and dropped when the pause began */
	int signal;
	const char *end; /* see app_end() */
	double cost_pct;
	bool cost_known;
	uint64_t cost_now_ns, cost_cpu_ns; /* at the last measurement */
};

struct app_entry *app_top(struct app *a);
struct view *app_keys(const struct app *a); /* the view that commands go to */
/* For side.c: a view that is on no stack. 0 or a negative errno. */
int app_open_page(struct app *a, const struct app_page *p, const struct view *from,
		  struct view **ret);
void app_title_view(struct view *v, const char *title);
void app_close_view(struct view *v); /* or NULL */
int app_pending(struct app *a); /* as display_ops.pending(); no frame is shown until it is -1 */
void app_pop(struct app *a);
void app_command(struct app *a, enum command c, const struct command_arg *arg);

/* ui/app/commands.c: what the view on top answers; that it knows nothing of it. */
int app_to_view(struct app *a, enum command c, const struct command_arg *arg);
void app_say_unhandled(struct app *a, enum command c, const struct command_arg *arg);
/* Saves the screen; says where, or why not. @name NULL: as a picture, called by view and time. */
void app_save(struct app *a, const char *name);
/* Copies the selected row to the display's clipboard; says what, or why not. */
void app_copy(struct app *a);
void app_measure(struct app *a); /* own cost since the last time */

/* ui/app/history.c. Pauses, or goes on. */
void app_history_pause(struct app *a);
/* Makes a timeline of the kept minutes, pausing first. False: it said why not. */
bool app_history_travel(struct app *a);
void app_history_leave(struct app *a);
/* Has what arrives to be collected now? Then app_history_collect() when the source is readable. */
bool app_history_collects(const struct app *a);
int app_history_collect(struct app *a, struct error *err);
void app_history_tick(struct app *a);	      /* the engine is at a tick */
uint64_t app_history_ns(const struct app *a); /* how far one can go back; 0 = not at all */

/* Shows new incidents; called after each step of the engine. */
void app_incidents_take(struct app *a);

extern const struct app_clock app_system_clock;

/* ui/app/sums.c. 0 or -ENOMEM. */
int app_sums_ask(struct app *a);
/* Opens what the verdict is about. */
void app_sums_why(struct app *a);
bool app_sums_click(struct app *a, int x, int y);

/* ui/app/mouse.c */
void app_mouse(struct app *a, const struct display_input *in);

/* The first line of the screen. */
void header_draw(struct app *a, struct rect r, const struct query_overview *o);
void keybar_draw(struct app *a, struct rect r);
/* The command at column @x of the bar, CMD_NONE when there is none. */
enum command keybar_at(const struct keybar *k, int x, struct command_arg *ret_arg);

#endif
