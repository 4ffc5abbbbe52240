// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend replay`: a recording in the terminal user interface. It is read once from end to end
 * before the screen opens, so that all that is wrong with it is said on a terminal that is still in
 * order; then it is played from the beginning. Keys come from the terminal even when the recording
 * comes from standard input.
 */
#include "kontend/cut.h"
#include "kontend/reader.h"
#include "kontend/srclines.h"
#include "kontend/when.h"
#include "progress.h"
#include "screen.h"
#include "spool.h"
#include "verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CUT_LEVEL = 9 };

struct replay {
	const struct opts *o;
	struct srclines_config lines;
	const char *path, *name;
	struct spool spool;
	struct engine engine;
	struct timeline *timeline;
	uint64_t from_ns, to_ns; /* --time; to_ns 0 = none */
	uint64_t tick_ns;	 /* asked for; 0 = none */
	struct progress progress;
};

static const uint64_t second_ns = 1000000000;

static int show_progress(void *ctx, unsigned per_mille)
{
	struct replay *p = ctx;
	struct reader_stat st;

	(void)per_mille; /* of its time, which not every recording tells beforehand */
	reader_stat(p->engine.source, &st);
	progress_update(&p->progress, st.pos, st.size);
	return 0;
}

/* A short recording is not cut so fine that nobody could read what is played. */
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

static int open_recording(struct replay *p, struct error *err)
{
	struct reader_options ro = {.path = recording_path(p)};
	struct timeline_options to = {.progress = show_progress, .ctx = p};
	struct source *source;
	int r = reader_new(&source, &ro, err);

	if (r < 0)
		return r;
	r = engine_init(&p->engine, source, NULL, err);
	if (r < 0) {
		source_free(source);
		return r;
	}
	p->lines = (struct srclines_config){.argv = srclines_worker_argv,
					    .fetch_argv =
						    p->o->debuginfod ? srclines_fetch_argv : NULL,
					    .no_inline = p->o->no_inline};
	p->engine.lines = &p->lines;
	p->engine.keep_symbols = !p->o->no_symbol_cache;
	p->engine.groups = p->o->groups;
	to.tick_ns = p->tick_ns = tick_of(source, p->o);
	if (!p->o->quiet)
		progress_begin(&p->progress, p->name);
	r = timeline_new(&p->timeline, &p->engine, &to, err);
	progress_end(&p->progress);
	if (r < 0)
		engine_deinit(&p->engine);
	return r;
}

/* -EINVAL: --time says nothing that is there. */
static int find_range(struct replay *p, struct error *err)
{
	const struct record_host *h = &p->engine.model.host;
	const struct when w = {.begin_ns = timeline_begin_ns(p->timeline),
			       .end_ns = timeline_end_ns(p->timeline),
			       .now_ns = timeline_begin_ns(p->timeline),
			       .clock_ns = h->clock_ns,
			       .wall_ns = h->wall_ns};
	struct error local = {0};

	if (!p->o->time)
		return 0;
	if (when_parse_range(p->o->time, &w, &p->from_ns, &p->to_ns, &local) < 0)
		return error_set(err, -EINVAL, "--time: %s", local.text);
	return 0;
}

/* Compressed as the recording is. */
static int cut_to(const struct replay *p, int fd, struct source *s, uint64_t from_ns,
		  uint64_t to_ns, struct error *err)
{
	static const char *const argv[] = {"kontend", "replay", NULL};
	struct writer_options wo = {.fd = fd, .argv = argv, .clock_id = CLOCK_MONOTONIC};
	struct reader_stat st;
	struct writer *w;
	int r;

	reader_stat(p->engine.source, &st);
	wo.zstd_level = st.compressed ? CUT_LEVEL : 0;
	r = writer_new(&w, &wo, err);
	if (r < 0)
		return r;
	r = cut_range(s, w, from_ns, to_ns, err);
	if (r == 0)
		r = writer_finish(w, err);
	writer_free(w);
	return r;
}

/* All of it is there, or nothing: what could not be finished is taken away again. */
static int write_cut(void *arg, const char *path, uint64_t from_ns, uint64_t to_ns,
		     struct error *err)
{
	const struct replay *p = arg;
	struct reader_options ro = {.path = recording_path(p), .tick_ns = p->tick_ns};
	struct source *source;
	int fd, r = reader_new(&source, &ro, err);

	if (r < 0)
		return r;
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0) {
		r = error_errno(err, -errno, "Cannot make the file '%s'", path);
	} else {
		r = cut_to(p, fd, source, from_ns, to_ns, err);
		close(fd);
		if (r < 0)
			unlink(path);
	}
	source_free(source);
	return r;
}

static int show(struct replay *p, const char *filter, struct error *err)
{
	const struct app_cut cut = {.write = write_cut, .arg = p};
	const struct app_options a = {.filter = filter,
				      .child_exit_fd = -1,
				      .timeline = p->timeline,
				      .recording = p->name,
				      .from_ns = p->from_ns,
				      .to_ns = p->to_ns,
				      .note = p->engine.note,
				      .cut = &cut};

	return cmd_screen(p->o, &p->engine, NULL, a, err);
}

static int run_screen(struct replay *p, const char *filter, struct error *err)
{
	int status;

	if (open_recording(p, err) < 0)
		return CMD_EXIT_FAILURE;
	if (find_range(p, err) < 0)
		status = CMD_EXIT_USAGE;
	else if (timeline_seek(p->timeline, 0, err) < 0)
		status = CMD_EXIT_FAILURE;
	else
		status = show(p, filter, err);
	timeline_free(p->timeline);
	engine_deinit(&p->engine);
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

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

int cmd_replay(const struct opts *o)
{
	struct replay p = {.o = o,
			   .path = o->topic   ? o->topic
				   : o->input ? o->input
					      : "kontend.data",
			   .spool.fd = -1};
	struct error err = {0};
	char filter[OPTS_FILTER];
	int status = CMD_EXIT_FAILURE;

	p.name = strcmp(p.path, "-") ? base_name(p.path) : "standard input";
	if (check_terminal(&p, &err) < 0)
		return cmd_fail(CMD_EXIT_FAILURE, &err);
	if (cmd_check_rows(o, cmd_table_of(o->view), filter, &err) < 0)
		return cmd_fail(CMD_EXIT_USAGE, &err);
	if (spool_open(&p.spool, p.path, o->quiet, &err) == 0 &&
	    (strcmp(p.path, "-") || take_keys_from_terminal(&err) == 0))
		status = run_screen(&p, o->filter ? filter : NULL, &err);
	spool_close(&p.spool);
	return err.code ? cmd_fail(status, &err) : status;
}
