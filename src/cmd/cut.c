// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend cut`: a part of a recording as a recording. It is read once to know how long it is and
 * which of its events belong to the chosen waits, and then written by the code that replay writes a
 * range with. If the waits are chosen by names it is read once more before that, as names may
 * become known after a wait.
 */
#include "cut.h"
#include "kontend/cut-filter.h"
#include "kontend/engine.h"
#include "kontend/filter-options.h"
#include "kontend/limits.h"
#include "kontend/progress.h"
#include "kontend/reader.h"
#include "kontend/units.h"
#include "kontend/when.h"
#include "verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LEVEL = 9 };

int cmd_cut_level(const struct reader_stat *from)
{
	return from->compressed ? LEVEL : 0;
}

static int write_to(const struct cmd_cut *c, int fd, struct source *s, struct error *err)
{
	struct writer_options wo = {.fd = fd, .argv = c->argv, .clock_id = CLOCK_MONOTONIC};
	struct writer *w;
	int r;

	wo.zstd_level = c->level;
	wo.machine = reader_machine(s);
	r = writer_new(&w, &wo, err);
	if (r < 0)
		return r;
	r = cut_range(s, w, &c->part, err);
	if (r == 0)
		r = writer_finish(w, err);
	writer_free(w);
	return r;
}

int cmd_cut_write(const struct cmd_cut *c, struct error *err)
{
	struct reader_options ro = {.path = c->from, .tick_ns = c->tick_ns};
	struct source *source;
	struct newfile made;
	int r;

	sandboxed_reader(c->sandboxed, &ro);
	r = reader_new(&source, &ro, err);
	if (r < 0)
		return r;
	r = sandboxed_make(c->sandboxed, &made, c->to, err);
	if (r >= 0) {
		r = write_to(c, made.fd, source, err);
		int named = sandboxed_made(c->sandboxed, &made, c->to, r < 0, err);
		r = r < 0 ? r : named;
	}
	source_free(source);
	return r;
}

struct cutter {
	const struct opts *o;
	struct filter_options only;
	struct engine engine, known; /* known: all of it has been read */
	struct event_filter *gate;
	struct cut_filter keep;
	struct cmd_cut cut;
	bool bad_usage;
};

static int open_engine(const struct cutter *c, struct engine *e, struct error *err)
{
	struct reader_options ro = {.path = c->o->input};
	struct model_limits limits = model_limits_of(0);
	struct source *source;

	sandboxed_reader(c->cut.sandboxed, &ro);
	int r = reader_new(&source, &ro, err);
	if (r < 0)
		return r;
	r = engine_init(e, source, &limits, err);
	if (r < 0)
		source_free(source);
	else
		e->model->min_wait_ns = c->o->min_wait_ns;
	return r;
}

static int read_all(const struct cutter *c, struct engine *e, struct error *err)
{
	struct progress progress = {0};
	uint64_t pos, size;
	int r = 0;

	progress_begin(&progress, c->o->quiet ? NULL : c->o->input);
	while (r != ENGINE_END && r >= 0) {
		r = engine_pump(e, 0, err);
		if (source_progress(e->source, &pos, &size))
			progress_update(&progress, pos, size);
	}
	progress_end(&progress);
	return r < 0 ? r : 0;
}

/* -EINVAL: --time says nothing that is there. */
static int find_range(struct cutter *c, struct error *err)
{
	const struct model *m = c->engine.model;
	const struct when w = {.begin_ns = m->start_ns,
			       .end_ns = m->now_ns,
			       .now_ns = m->start_ns,
			       .clock_ns = m->host->clock_ns,
			       .wall_ns = m->host->wall_ns};
	struct cut_part *p = &c->cut.part;
	struct error local = {0};

	p->from_ns = m->start_ns ? m->start_ns - 1 : 0;
	p->to_ns = m->now_ns;
	p->start_ns = m->start_ns;
	if (!c->o->time)
		return 0;
	p->start_ns = 0;
	c->bad_usage = when_parse_range(c->o->time, &w, &p->from_ns, &p->to_ns, &local) < 0;
	return c->bad_usage ? error_set(err, -EINVAL, "--time: %s", local.text) : 0;
}

static int make_gate(struct cutter *c, struct error *err)
{
	bool knows = event_filter_needs_names(c->only.filter);
	int r = knows ? open_engine(c, &c->known, err) : 0;

	if (r == 0 && knows)
		r = read_all(c, &c->known, err);
	return r < 0 ? r
		     : event_filter_new(&c->gate, &c->engine, knows ? &c->known : NULL,
					c->only.filter, err);
}

static int look_at_part(struct cutter *c, struct error *err)
{
	struct reader_stat st;
	bool all = !*c->only.filter && !c->o->min_wait_ns;
	int r = 0;

	if (*c->only.filter)
		r = make_gate(c, err);
	cut_filter_init(&c->keep, &c->engine, c->gate);
	if (all)
		c->engine.watch = NULL;
	if (r == 0)
		r = read_all(c, &c->engine, err);
	if (r == 0)
		r = find_range(c, err);
	reader_stat(c->engine.source, &st);
	c->cut.level = c->o->compress ? (int)c->o->compress : cmd_cut_level(&st);
	if (r == 0 && cut_filter_finish(&c->keep) < 0)
		r = error_enomem(err, "the events to keep");
	if (!all) {
		c->cut.part.keep = cut_filter_has;
		c->cut.part.ctx = &c->keep;
	}
	return r;
}

static void say_done(const struct cutter *c)
{
	char n[UNITS_BUF];

	if (c->cut.part.keep)
		cmd_say(c->o, "kept %s waits, %s; look: kontend replay %s",
			units_count(n, c->keep.n_kept), c->only.words, c->cut.to);
	else
		cmd_say(c->o, "look: kontend replay %s", c->cut.to);
}

static int cut(struct cutter *c, struct error *err)
{
	int r = open_engine(c, &c->engine, err);

	if (r < 0)
		return r;
	r = look_at_part(c, err);
	if (r == 0)
		r = cmd_cut_write(&c->cut, err);
	if (r == 0)
		say_done(c);
	cut_filter_deinit(&c->keep);
	event_filter_free(c->gate);
	if (c->known.source)
		engine_deinit(&c->known);
	engine_deinit(&c->engine);
	return r;
}

int cmd_cut(const struct opts *o)
{
	static const char *const argv[] = {"kontend", "cut", NULL};
	struct cutter c = {.o = o, .cut = {.from = o->input, .to = o->output, .argv = argv}};
	struct error err = {0};

	if (filter_options(o, &c.only, &err) < 0)
		return cmd_fail(CMD_EXIT_USAGE, &err);
	const struct sandboxed_wants w = {.recordings = {o->input}, .make = o->output};
	struct sandboxed sandboxed;
	int r = sandboxed_enter(&sandboxed, o, &w, &err);

	c.cut.sandboxed = &sandboxed;
	r = r < 0 ? r : cut(&c, &err);
	sandboxed_leave(&sandboxed);
	if (r == 0)
		return CMD_EXIT_OK;
	return cmd_fail(c.bad_usage ? CMD_EXIT_USAGE : CMD_EXIT_FAILURE, &err);
}
