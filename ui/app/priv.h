/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_APP_PRIV_H
#define KONTEND_UI_APP_PRIV_H

#include "kontend/app.h"
#include "kontend/timeline.h"
#include "kontend/view.h"
#include "kontend/when.h"
#include "prompt.h"

enum { APP_ROOTS = 16, APP_DEPTH = 8, APP_HITS = 32 };

/* Bounds of the refresh interval. */
#define APP_DELAY_MIN_NS 100000000ull
#define APP_DELAY_MAX_NS 60000000000ull

/* A view and the filter that belongs to it. */
struct app_entry {
	struct view *view;
	char filter[PROMPT_TEXT];
};

/* What a click on the key bar means. */
struct keybar {
	struct keybar_hit {
		int x, w;
		enum command command;
		int n; /* of CMD_VIEW */
	} hits[APP_HITS];
	size_t n;
};

/* Going in time; `line` is NULL while live. A recording's is borrowed, that of a pause is the
 * app's. */
struct app_time {
	struct timeline *line;
	bool is_replay;
	const char *name; /* of the recording */
	const struct app_cut *cut;
	bool playing;
	int speed;			 /* 2^speed times as fast as it was */
	uint64_t base_clock_ns, base_ns; /* app's clock and stream when playing began */
	uint64_t from_ns, to_ns;	 /* of the range; 0 = not marked */
	struct rect ribbon;		 /* in the last frame */
};

struct app {
	struct engine *engine;
	struct display *display;
	struct query query;
	struct screen screen;
	const struct app_clock *clock;
	uint64_t delay_ns;
	const char *save_dir;
	int child_exit_fd;

	struct app_entry roots[APP_ROOTS];
	size_t n_roots, root;
	struct app_entry stack[APP_DEPTH]; /* drill-downs; the last one is shown */
	size_t n_stack;
	const struct view *drawn; /* in the last frame; for comparison only */

	struct prompt prompt;
	char filter_before[PROMPT_TEXT]; /* the filter that Esc brings back */
	char search[PROMPT_TEXT];
	double percent_limit;
	char message[400];
	enum role message_role;
	struct keybar keybar;
	struct app_time time;
	struct source *history; /* the engine's source, when that is one; NULL = none is kept */

	bool paused, ended, done, dirty;
	bool again;		/* the frame wants another one soon */
	bool collected;		/* nothing more will come from below the history */
	bool catching_up;	/* resumed, and the records that waited are not all applied */
	uint64_t paused_losses; /* lost and dropped when the pause began */
	int signal;
	double cost_pct;
	bool cost_known;
	uint64_t cost_now_ns, cost_cpu_ns; /* at the last measurement */
	unsigned n_saved;
};

struct app_entry *app_top(struct app *a);
int app_pending(struct app *a); /* as display_ops.pending(); no frame is shown until it is -1 */
void app_pop(struct app *a);
void app_command(struct app *a, enum command c, const struct command_arg *arg);
void app_set_filter(struct app *a, const char *text);
/* Saves the screen; says where, or why not. @name NULL: the next free kontend-screen-N.txt. */
void app_save(struct app *a, const char *name);
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

/* ui/app/time.c: true when the command was one of these, when it moved, when a range was marked. */
bool app_time_command(struct app *a, enum command c, const struct command_arg *arg);
bool app_time_play(struct app *a);
/* Plays, or shows a range when @to_ns is not 0. */
void app_time_begin(struct app *a, uint64_t from_ns, uint64_t to_ns);
bool app_time_clear(struct app *a);
/* How long nothing needs to be done, -1 = nothing is played. */
int app_time_wait_ms(const struct app *a);
/* Places of seconds that tell two ticks apart: 0, 1 or 3. */
int app_time_digits(const struct app *a);
struct when app_time_when(const struct app *a);
void app_time_draw(struct app *a, struct rect r);
bool app_time_click(struct app *a, int x, int y);

extern const struct app_clock app_system_clock;

/* The first line of the screen. */
void header_draw(struct app *a, struct rect r, const struct query_overview *o);
void keybar_draw(struct app *a, struct rect r);
/* The command at column @x of the bar, CMD_NONE when there is none. */
enum command keybar_at(const struct keybar *k, int x, struct command_arg *ret_arg);

#endif
