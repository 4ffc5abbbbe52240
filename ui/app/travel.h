/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_APP_TRAVEL_H
#define KONTEND_UI_APP_TRAVEL_H

#include "kontend/app.h"
#include "kontend/command.h"
#include "kontend/query-incidents.h"
#include "kontend/query-ribbon.h"
#include "kontend/screen.h"
#include "kontend/timeline.h"
#include "kontend/when.h"

struct app;

/* Of the ribbon: all rows where there is room for them, else one, unless the user says which. */
enum app_ribbon { APP_RIBBON_FITS, APP_RIBBON_ONE, APP_RIBBON_ALL };

/* Going in time; `line` is NULL while live. A recording's is borrowed, that of a pause is the
 * app's. */
struct app_time {
	struct timeline *line;
	bool is_replay;
	const char *name; /* of the recording */
	const struct app_cut *cut;
	bool follows;	/* the cursor is where reading is, and reading goes on */
	bool was_asked; /* to go somewhere: what was read at last does not begin to play */
	bool playing;
	int speed;			 /* 2^speed times as fast as it was */
	uint64_t base_clock_ns, base_ns; /* app's clock and stream when playing began */
	uint64_t from_ns, to_ns;	 /* of the range; 0 = not marked */
	struct rect ribbon;		 /* in the last frame */
	enum app_ribbon rows;
	const struct query_ribbon *figures; /* NULL: the ribbon is of waits alone */
};

/* ui/app/time.c: true when the command was one of these, when it moved, when a range was marked. */
bool app_time_command(struct app *a, enum command c, const struct command_arg *arg);
bool app_time_play(struct app *a);
/* Is a recording still being read, here and now? Then app_time_read(): 0 or a negative errno. */
bool app_time_reads(const struct app *a);
int app_time_read(struct app *a, struct error *err);
/* Plays, or shows a range when @to_ns is not 0. */
void app_time_begin(struct app *a, uint64_t from_ns, uint64_t to_ns);
bool app_time_clear(struct app *a);
/* How long nothing needs to be done, -1 = nothing is played. */
int app_time_wait_ms(const struct app *a);
/* Decimal places of seconds that distinguish two ticks: 0, 1 or 3. */
int app_time_digits(const struct app *a);
struct when app_time_when(const struct app *a);
/* Counting from the begin of the range, if one is marked; it says why not. */
void app_time_go(struct app *a, uint64_t ns);

/* The ribbon: its rows, drawing, and clicks. */
int app_ribbon_rows(const struct app *a); /* lines; 0 = there is none */
void app_ribbon_toggle(struct app *a);
void app_ribbon_draw(struct app *a, struct rect r);
bool app_ribbon_click(struct app *a, int x, int y);

enum { RIBBON_ROWS = 1 + TIMELINE_FIGURES };

/* The whole of a timeline, a row a figure: where one is, and the range, are marked. */
struct ribbon {
	const struct timeline_bucket *buckets;
	size_t n;
	uint64_t begin_ns, end_ns, now_ns;
	uint64_t read_ns;	 /* where the last bucket ends: what comes after is not read yet */
	uint64_t from_ns, to_ns; /* of the range; 0 = not marked */
	uint64_t a_ns, b_ns;	 /* of the marks; 0 = not set */
	const struct query_incidents *incidents; /* a ! each; NULL: none */
	const uint64_t *of; /* by enum timeline_figure: how much there is; NULL, 0: no limit */
};

/* Rows that have something to show; waits always have. */
int ribbon_rows(const struct ribbon *b);
void ribbon_draw(const struct ribbon *b, struct screen *s, struct rect r);
/* The time to go to for a click at column @x of the screen; false when it is beside the strip. */
bool ribbon_time_at(const struct ribbon *b, struct rect r, int x, uint64_t *ret_ns);

#endif
