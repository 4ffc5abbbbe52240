/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_APP_H
#define KONTEND_APP_H

#include "kontend/display.h"
#include "kontend/picture.h"
#include "kontend/timeline.h"

#include <signal.h>

struct query_columns;
struct query_incidents;
struct query_ribbon;

/* Where the app reads time from; tests give their own. */
struct app_clock {
	uint64_t (*now_ns)(void *arg); /* monotonic */
	uint64_t (*cpu_ns)(void *arg); /* CPU time of this process: "cost" in the header */
	void *arg;
};

/* Writes a range of the recording to a new file. 0, or negative errno with @err. */
struct app_cut {
	int (*write)(void *arg, const char *path, uint64_t from_ns, uint64_t to_ns,
		     struct error *err);
	void *arg;
};

/* Starts what there is to see in a tour, unless it runs. 0, or negative errno with @err. */
struct app_workload {
	int (*start)(void *arg, struct error *err);
	void *arg;
};

/* A callout below a view, in place of those of the tour. */
struct app_callout {
	const char *view, *title, *text;
	bool enter; /* opens the first row */
};

struct app_walk {
	const char *name; /* in the titles: "story fork" */
	const struct app_callout *callouts;
	size_t n;
};

/* Keeps what columns of a table the user wants, by their names; NULL: as they are built. */
struct app_keep {
	int (*columns)(void *arg, const char *where, const char *table, const char *keys,
		       struct error *err);
	void *arg;
	const char *where; /* the file */
};

/*
 * Saves files where we may not: the file open as @fd, by @name or, as P does, by a name made from
 * it.
 */
struct app_saver {
	int (*save)(void *arg, const char *name, bool is_base, int fd, char *ret, size_t size,
		    struct error *err);
	void *arg;
};

/*
 * The other side of it: saves as :save FILE, or P, does. @name is in the folder @dir, which is
 * open. The name goes to @ret. 0, or negative with @err.
 */
int app_save_fd(int dir, const char *name, bool is_base, int fd, char *ret, size_t size,
		struct error *err);

/* The watcher for incidents: called after each step of the engine; returns how many are new. */
struct app_catcher {
	size_t (*take)(void *arg);
	void *arg;
};

struct app_options {
	uint64_t delay_ns;    /* refresh; 0 = 1 s */
	uint64_t duration_ns; /* app_run() ends then; 0 = when the user leaves */
	const sigset_t *mask; /* of signals after app_run(); borrowed; NULL = as it was before */
	const char *view;     /* first view; NULL = overview */
	const char *by;	      /* NULL = lock */
	const char *sort;     /* NULL = the view's own */
	const char *locks_by, *locks_sort; /* the same of view locks, wherever one begins */
	const char *filter;
	const char *only, *only_words; /* borrowed; see wait-filter.h, and for people; NULL = all */
	const struct verdict_limits *verdict; /* borrowed; NULL = verdict_defaults */
	double percent_limit; /* calls of less percent are closed in trees at first */
	const struct query_columns *columns; /* that the user wants; NULL = as they are */
	const struct app_keep *keep;	     /* borrowed; NULL = nothing is kept */
	const struct app_saver *saver;	     /* borrowed; NULL = files are saved at once */
	const char *theme;		     /* of the display; NULL = the first one */
	const char *save_dir;		     /* P writes here; NULL = kontend/statefolder.h */
	int child_exit_fd;	       /* readable when the measured command ended; -1 = none */
	const struct app_clock *clock; /* borrowed; NULL = the system's */
	const struct app_workload *workload; /* borrowed; NULL = none can be started */
	bool tour;			     /* begins with one */
	const struct app_walk *walk; /* the tour's callouts; borrowed; NULL = those of the views */
	bool has_history;	     /* the source of the engine is a history (kontend/history.h) */
	/* A recording: borrowed, on the same engine; it is played from where it is. NULL = live. */
	struct timeline *timeline;
	const struct query_ribbon *figures; /* that it notes, borrowed; NULL = none */
	const char *recording;		    /* its name, for the first line */
	/* Another one, read whole, that flame graphs compare it with, and its name; borrowed. */
	const struct engine *against; /* NULL = none */
	const char *against_name;
	const struct app_cut *cut;		 /* borrowed; NULL = it cannot be cut */
	const char *note;			 /* about it, shown at first; NULL or "" = none */
	const struct query_incidents *incidents; /* borrowed; NULL = nothing is watched for */
	const struct app_catcher *catcher;	 /* adds to them; borrowed; NULL = none */
	uint64_t from_ns, to_ns; /* a range that is marked from the start; to_ns 0 = none */
	const char
		*opening; /* drawn in place of all figures: nothing is measured yet; NULL = it is */
	uint64_t lock; /* address of one whose row of view locks is selected; 0 = the first row */
};

struct app;

/* Engine and display are borrowed. The display may be one in memory: tests give one. */
int app_new(struct app **ret, struct engine *e, struct display *d, const struct app_options *o,
	    struct error *err);
void app_free(struct app *a);
/* Runs until quit or a fatal error; 0, or negative errno with @err. */
int app_run(struct app *a, struct error *err);
/* The signal that ended app_run() (SIGINT, SIGTERM, SIGHUP, SIGQUIT), 0 = none. */
int app_signal(const struct app *a);
/* Why it ended, for users; NULL: they asked for it by a key or a command, or it failed. */
const char *app_end(const struct app *a);

/* The parts of app_run(), for scripts and tests. */
void app_key(struct app *a, const struct display_input *in); /* one key or mouse event */
int app_tick(struct app *a, struct error *err); /* pumps the engine to the next tick or its end */
void app_draw(struct app *a);
bool app_done(const struct app *a);
/* Draws until the frame has all names that can be had, waiting for each for @most_ns at most. */
void app_settle(struct app *a, uint64_t most_ns);
/* The screen as a picture in its colours; as picture_write(). */
int app_picture(struct app *a, enum picture_format format, FILE *out);
int app_picture_text(struct app *a, enum picture_format format, char **ret /* mem_free() */);
const struct screen *app_screen(const struct app *a);

#endif
