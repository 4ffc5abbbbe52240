// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend replay`: a recording in the terminal user interface. It is read once from end to end, a
 * long one while the screen shows the part read so far; then it is played from the beginning. Keys
 * come from the terminal even when the recording comes from standard input.
 */
#include "cut.h"
#include "kontend/caught.h"
#include "kontend/clock.h"
#include "kontend/ending.h"
#include "kontend/filter-options.h"
#include "kontend/limits.h"
#include "kontend/progress.h"
#include "kontend/query-incidents.h"
#include "kontend/query-no-locks.h"
#include "kontend/query-ribbon.h"
#include "kontend/reader.h"
#include "kontend/run.h"
#include "kontend/sandboxed.h"
#include "kontend/settings.h"
#include "kontend/srclines.h"
#include "kontend/stdin-copy.h"
#include "kontend/when.h"
#include "screen.h"
#include "verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct replay {
	const struct opts *o;
	struct cmd_shot *shot; /* NULL: the screen */
	struct srclines_config lines;
	const char *path, *name;
	struct stdin_copy spool;
	struct filter_options only;
	struct engine engine;
	struct run other; /* --against, read whole; empty: none */
	char note[1024];  /* about that */
	struct timeline *timeline;
	struct query_ribbon figures;
	uint64_t at_ns;		  /* where the screen begins */
	uint64_t from_ns, to_ns;  /* --time; to_ns 0 = none */
	struct caught caught;	  /* that, and what --trigger finds */
	struct incident incident; /* for which it was recorded; all 0: none */
	uint64_t tick_ns;	  /* asked for; 0 = none */
	struct progress progress;
	struct sandboxed *sandboxed, own; /* the one of who asked for a picture, or our own */
};

static const uint64_t second_ns = 1000000000, ahead_ns = 100000000;

/*
 * Is all of it read before the screen opens? A short recording is, so that it is played from its
 * beginning at once; and any one for a picture, for the tour, which begins at the worst moment, or
 * for a range, which may be relative to its end, or is that of an incident.
 */
static bool needs_all(struct replay *p)
{
	return p->shot || p->o->against || p->o->time || p->o->tour ||
	       query_incident(p->engine.model, &p->incident);
}

static int read_ahead(struct replay *p, struct error *err)
{
	uint64_t done, all, until = clock_now_ns() + ahead_ns;
	int r = 0;

	while (!r && !timeline_is_read(p->timeline) && (needs_all(p) || clock_now_ns() < until)) {
		if (ending_is_pending()) /* a picture holds signals back, to end with its file gone
					  */
			return -EINTR;
		r = timeline_read(p->timeline, err);
		caught_take(&p->caught);
		if (source_progress(p->engine.source, &done, &all))
			progress_update(&p->progress, done, all);
	}
	return r ? r : eventlist_check(&p->engine.events, p->o->event, err);
}

/* A short recording does not get ticks so short that a user could not follow. */
static uint64_t tick_of(struct source *s, const struct opts *o)
{
	uint64_t first, last;

	if (o->delay_ns || !source_span(s, &first, &last))
		return o->delay_ns;
	if (last - first < 2 * second_ns || last - first >= 250 * second_ns)
		return 0;
	return last - first < 10 * second_ns ? second_ns / 10 : second_ns / 2;
}

static const char *recording_path(const struct replay *p)
{
	return p->spool.path[0] ? p->spool.path : p->path;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Signals end it as they end the first pass. */
static int pump_other(struct replay *p, struct error *err)
{
	uint64_t done, all;
	int r = ENGINE_TICK;

	while (r >= 0 && r != ENGINE_END) {
		if (ending_is_pending())
			return -EINTR;
		r = engine_pump(&p->other.engine, 0, err);
		if (source_progress(p->other.engine.source, &done, &all))
			progress_update(&p->progress, done, all);
	}
	return r < 0 ? r : 0;
}

/* The whole of it: what is shown is compared with that. */
static int read_other(struct replay *p, struct error *err)
{
	struct run *run = &p->other;
	struct reader_options ro = {0};

	if (!p->o->against)
		return 0;
	sandboxed_reader(p->sandboxed, &ro);
	*run = (struct run){.memory = run_memory(p->o->memory, true) / 2,
			    .groups = p->o->groups,
			    .events = p->o->event,
			    .heat = true,
			    .blame = true,
			    .min_wait_ns = p->o->min_wait_ns,
			    .keep_symbols = !p->o->no_symbol_cache,
			    .open = ro.open,
			    .open_ctx = ro.open_ctx,
			    .symfs = p->o->symfs,
			    .trust_paths = p->o->trust_paths,
			    .sandbox = &p->sandboxed->sandbox,
			    .lines = {.door = sandboxed_files(p->sandboxed)}};
	if (!p->o->quiet)
		progress_begin(&p->progress, base_name(p->o->against));
	int r = run_open_file(run, p->o->against, 0, err);
	r = r < 0 ? r : pump_other(p, err);
	progress_end(&p->progress);
	return r;
}

static int open_recording(struct replay *p, struct error *err)
{
	struct reader_options ro = {.path = recording_path(p), .symbols = opts_symbols(p->o)};
	/* A kept state becomes a second model before the first one goes. */
	uint64_t memory = run_memory(p->o->memory, true) / (p->o->against ? 2 : 1),
		 kept = memory / 8;
	struct model_limits limits = model_limits_recent((memory - kept) / 2);
	struct timeline_options to = {.checkpoint_bytes = kept, .ahead = cmd_threads(p->o) > 1};
	struct source *source;
	int r;

	sandboxed_reader(p->sandboxed, &ro);
	r = reader_new(&source, &ro, err);
	if (r < 0)
		return r;
	r = engine_init(&p->engine, source, &limits, err);
	if (r < 0) {
		source_free(source);
		return r;
	}
	p->lines = (struct srclines_config){.argv = srclines_worker_argv,
					    .fetch_argv =
						    p->o->debuginfod ? srclines_fetch_argv : NULL,
					    .door = sandboxed_files(p->sandboxed),
					    .no_inline = p->o->no_inline};
	p->engine.recorded_code = reader_code(source);
	p->engine.sandbox = &p->sandboxed->sandbox;
	p->engine.lines = &p->lines;
	p->engine.keep_symbols = !p->o->no_symbol_cache;
	p->engine.symfs = p->o->symfs;
	p->engine.trust_paths = p->o->trust_paths;
	p->engine.groups = p->o->groups;
	engine_choose_events(&p->engine, p->o->event, true);
	p->engine.model->min_wait_ns = p->o->min_wait_ns;
	query_ribbon_init(&p->figures);
	to.watch = &p->figures.watch;
	to.tick_ns = p->tick_ns = tick_of(source, p->o);
	if (!p->o->quiet)
		progress_begin(&p->progress, p->name);
	r = caught_begin(&p->caught, &p->engine, p->o, err);
	if (r == 0)
		r = timeline_open(&p->timeline, &p->engine, &to, err);
	if (r == 0)
		r = read_ahead(p, err);
	progress_end(&p->progress);
	if (r < 0) {
		timeline_free(p->timeline);
		query_ribbon_deinit(&p->figures);
		caught_end(&p->caught);
		engine_deinit(&p->engine);
	}
	return r;
}

/* From when its cause began until that ended, or it was seen; a trigger is judged a moment later.
 */
static void find_incident(struct replay *p)
{
	const struct incident *in = &p->incident;
	uint64_t end = in->end_ns > in->fired_ns ? in->end_ns : in->fired_ns;
	size_t n;

	if (!query_incident(p->engine.model, &p->incident))
		return;
	const struct timeline_bucket *b = timeline_buckets(p->timeline, &n);
	p->from_ns = timeline_begin_ns(p->timeline);
	p->to_ns = timeline_end_ns(p->timeline);
	for (size_t i = 0; i < n; i++) {
		if (b[i].start_ns <= in->begin_ns)
			p->from_ns = b[i].start_ns;
		if (b[i].start_ns >= end && b[i].start_ns < p->to_ns)
			p->to_ns = b[i].start_ns;
	}
}

static struct when when_of(const struct replay *p)
{
	const struct record_host *h = p->engine.model->host;

	return (struct when){.begin_ns = timeline_begin_ns(p->timeline),
			     .end_ns = timeline_end_ns(p->timeline),
			     .now_ns = timeline_begin_ns(p->timeline),
			     .clock_ns = h->clock_ns,
			     .wall_ns = h->wall_ns};
}

/* -EINVAL: --time, or --at, says nothing that is there. */
static int find_range(struct replay *p, struct error *err)
{
	const struct when w = when_of(p);
	struct error local = {0};

	p->at_ns = p->shot || p->o->against ? w.end_ns : 0;
	if (p->o->at && when_parse(p->o->at, &w, &p->at_ns, &local) < 0)
		return error_set(err, -EINVAL, "--at: %s", local.text);
	if (!p->o->time) {
		if (!p->o->at)
			find_incident(p);
		return 0;
	}
	if (when_parse_range(p->o->time, &w, &p->from_ns, &p->to_ns, &local) < 0)
		return error_set(err, -EINVAL, "--time: %s", local.text);
	return 0;
}

static int write_cut(void *arg, const char *path, uint64_t from_ns, uint64_t to_ns,
		     struct error *err)
{
	static const char *const argv[] = {"kontend", "replay", NULL};
	const struct replay *p = arg;
	struct reader_stat st;

	reader_stat(p->engine.source, &st);
	const struct cmd_cut cut = {.sandboxed = p->sandboxed,
				    .from = recording_path(p),
				    .to = path,
				    .level = cmd_cut_level(&st),
				    .tick_ns = p->tick_ns,
				    .argv = argv,
				    .part = {.from_ns = from_ns, .to_ns = to_ns}};

	return cmd_cut_write(&cut, err);
}

static size_t take_incidents(void *arg)
{
	return caught_take(arg);
}

/* A user who asks for rows by some key means the locks. */
static const char *first_view(struct replay *p)
{
	const struct query q = {.engine = &p->engine};

	if (p->incident.lock)
		return "locks";
	return !p->o->by && !p->o->sort && !p->o->tour && query_no_locks_but_profile(&q) ? "hot"
											 : NULL;
}

/* The first one about the recording, else about the one that it is compared with. */
static const char *first_note(struct replay *p)
{
	const struct notes *own = &p->engine.notes, *other = &p->other.engine.notes;

	if (own->n || !p->o->against || !other->n)
		return own->n ? own->items[0].text : NULL;
	snprintf(p->note, sizeof(p->note), "%s: %s", base_name(p->o->against),
		 other->items[0].text);
	return p->note;
}

static int show_screen(struct replay *p, const char *filter, struct error *err)
{
	const struct app_catcher catcher = {take_incidents, &p->caught};
	const bool watched = p->caught.triggers || p->caught.all.n;
	const struct app_cut cut = {.write = write_cut, .arg = p};
	const struct app_options a = {.filter = filter,
				      .only = p->only.filter,
				      .only_words = p->only.words,
				      .child_exit_fd = -1,
				      .tour = p->o->tour,
				      .walk = p->o->walk,
				      .timeline = p->timeline,
				      .figures = &p->figures,
				      .recording = p->name,
				      .against = p->o->against ? &p->other.engine : NULL,
				      .against_name =
					      p->o->against ? base_name(p->o->against) : NULL,
				      .incidents = watched ? &p->caught.all : NULL,
				      .catcher = p->caught.triggers ? &catcher : NULL,
				      .from_ns = p->from_ns,
				      .to_ns = p->to_ns,
				      .lock = p->incident.lock,
				      .view = first_view(p),
				      .note = first_note(p),
				      .cut = &cut};

	if (p->shot)
		return cmd_screenshot_take(p->o, &p->engine, a, p->shot, err);
	return cmd_screen(p->o, &p->engine, NULL, a, p->sandboxed, NULL, err);
}

static int run_screen(struct replay *p, const char *filter, struct error *err)
{
	int status;

	if (read_other(p, err) < 0 || open_recording(p, err) < 0) {
		run_close(&p->other, NULL);
		return CMD_EXIT_FAILURE;
	}
	if (p->incident.fired_ns)
		caught_add(&p->caught, &p->incident);
	if (find_range(p, err) < 0)
		status = CMD_EXIT_USAGE;
	else if (timeline_is_read(p->timeline) && timeline_seek(p->timeline, p->at_ns, err) < 0)
		status = CMD_EXIT_FAILURE;
	else
		status = show_screen(p, filter, err);
	caught_end(&p->caught);
	timeline_free(p->timeline);
	query_ribbon_deinit(&p->figures);
	engine_deinit(&p->engine);
	run_close(&p->other, NULL);
	return status;
}

/* Standard input was the recording: from here on it is the terminal. */
static int take_keys_from_terminal(struct error *err)
{
	int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return error_errno(err, -errno,
				   "Cannot open /dev/tty for the keys, as standard input is the "
				   "recording");
	int r = dup2(fd, STDIN_FILENO) < 0 ? -errno : 0;
	close(fd);
	return r < 0 ? error_errno(err, r, "Cannot take keys from /dev/tty") : 0;
}

static int check_terminal(const struct replay *p, struct error *err)
{
	const char *name = !isatty(STDOUT_FILENO)			   ? "output"
			   : strcmp(p->path, "-") && !isatty(STDIN_FILENO) ? "input"
									   : NULL;

	if (!name)
		return 0;
	return error_set(err, -ENOTTY,
			 "Standard %s is no terminal to draw on: 'kontend report -i %s' prints "
			 "instead",
			 name, p->path);
}

static int enter_sandbox(struct replay *p, struct error *err)
{
	const struct sandboxed_wants w = {.recordings = {p->path, p->o->against},
					  .symbols = opts_symbols(p->o),
					  .symfs = p->o->symfs,
					  .fds = {p->spool.fd > 0 ? p->spool.fd : 0},
					  .screen = !p->shot,
					  .here = true,
					  .instructions = true,
					  .keep = settings_keep_columns,
					  .config = p->o->config_path,
					  .put = p->shot ? sandboxed_put_output : NULL,
					  .put_ctx = p->shot ? &p->shot->output : NULL,
					  .used = {p->shot ? p->shot->output.made.dir : -1,
						   p->shot ? p->shot->output.made.fd : -1},
					  .save = cmd_screen_save};

	return sandboxed_enter(p->sandboxed, p->o, &w, err);
}

/* Opens all that is to be opened; from then on there is no right but to read it. */
static int open_all(struct replay *p, struct error *err)
{
	int r = stdin_copy_open(&p->spool, p->path, err);

	if (r == 0 && !p->shot && !strcmp(p->path, "-"))
		r = take_keys_from_terminal(err);
	if (r == 0)
		r = enter_sandbox(p, err);
	return r < 0 ? r : stdin_copy_fill(&p->spool, p->path, p->o->quiet, err);
}

int cmd_replay_to(const struct opts *o, struct cmd_shot *shot)
{
	struct replay p = {.o = o,
			   .shot = shot,
			   .path = o->topic   ? o->topic
				   : o->input ? o->input
					      : "kontend.data",
			   .spool = {.fd = -1, .from = -1}};
	struct error err = {0};
	char filter[OPTS_FILTER];
	int status = CMD_EXIT_FAILURE;

	p.name = o->walk	       ? o->walk->name
		 : strcmp(p.path, "-") ? base_name(p.path)
				       : "standard input";
	if (!shot && check_terminal(&p, &err) < 0)
		return cmd_fail(CMD_EXIT_FAILURE, &err);
	if (filter_options(o, &p.only, &err) < 0 || caught_check(o, &err) < 0 ||
	    cmd_check_rows(o, cmd_table_of(o->view), filter, &err) < 0)
		return cmd_fail(CMD_EXIT_USAGE, &err);
	p.sandboxed = shot ? &shot->sandboxed : &p.own;
	if (open_all(&p, &err) == 0)
		status = run_screen(&p, o->filter ? filter : NULL, &err);
	stdin_copy_close(&p.spool);
	sandboxed_leave(&p.own);
	return err.code ? cmd_fail(status, &err) : status;
}

int cmd_replay(const struct opts *o)
{
	return cmd_replay_to(o, NULL);
}
