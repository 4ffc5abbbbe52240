// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend record`: the live source into a file, undecoded, by two ways. Into a file this thread
 * writes the bytes of the rings, without a copy in between (record/direct.c). During its own long
 * steps, at the start and between two files, the collector thread empties the rings into its queue,
 * which is written first afterwards. Into a pipe, whose reader may be slow, everything goes by way
 * of the queue: this thread wakes up when there is much in it, or four times a second.
 *
 * Signals are blocked and read from a descriptor, as in measure.c, and mean the same: the first
 * ends it, with all until then, a second one gives up the rest. SIGUSR2 begins another file.
 */
#include "kontend/clock.h"
#include "kontend/collector.h"
#include "kontend/ending.h"
#include "kontend/mem.h"
#include "kontend/metrics.h"
#include "kontend/record-direct.h"
#include "kontend/record-file.h"
#include "kontend/record-incidents.h"
#include "kontend/record-metrics.h"
#include "kontend/record-symbols.h"
#include "kontend/run.h"
#include "kontend/units.h"
#include "measure.h"
#include "session/stall.h"
#include "verbs.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Messages about a recording, on a line that is written over until the last. */
struct record_say {
	const struct opts *o;
	const char *path;
	bool line; /* it is on the terminal */
};

struct record_said {
	uint64_t ns;	/* since the begin */
	uint64_t bytes; /* of the parts that are finished */
	const struct record_tally *tally;
};

static struct record_say record_say_of(const struct opts *o)
{
	return (struct record_say){.o = o, .path = o->output ? o->output : "kontend.data"};
}

static const char *record_say_name(const struct record_say *s)
{
	return strcmp(s->path, "-") ? s->path : "standard output";
}

static void record_say_clear(struct record_say *s)
{
	if (s->line)
		fputs("\r\033[K", stderr);
	s->line = false;
}

/* Of holders and tasks, and samples: they are no events. */
static void put_others(char *buf, size_t size, uint64_t n)
{
	char count[UNITS_BUF];

	if (n)
		snprintf(buf, size, "; %s other records lost", units_count(count, n));
}

static void record_say_so_far(struct record_say *s, const struct record_file *f,
			      const struct record_said *so_far, bool end)
{
	struct writer_stat st;
	char time[UNITS_BUF], bytes[UNITS_BUF], events[UNITS_BUF], lost[UNITS_BUF];
	char files[96], others[UNITS_BUF + 32] = "";

	record_file_stat(f, &st);
	units_ns(time, so_far->ns);
	units_bytes(bytes, so_far->bytes + st.bytes);
	units_count(events, so_far->tally->samples);
	units_count(lost, so_far->tally->lost + so_far->tally->dropped);
	record_say_clear(s);
	if (!end) {
		fprintf(stderr, "recording %s: %s, %s events, %s lost", time, bytes, events, lost);
		s->line = true;
		return;
	}
	record_parts_text(record_file_parts(f), files, sizeof(files));
	put_others(others, sizeof(others), so_far->tally->lost_others);
	cmd_say(s->o, "recorded %s to %s%s: %s, %s events, %s lost%s", time, record_say_name(s),
		files, bytes, events, lost, others);
	if (strcmp(s->path, "-") != 0)
		cmd_say(s->o, "look: kontend replay %s", s->path);
}

#define MS 1000000ull
#define SECOND 1000000000ull

/* Which thread empties the rings. */
enum stage {
	STAGE_QUEUE, /* the collector thread does */
	STAGE_REST,  /* none: records that it has left in the queue are written first */
	STAGE_DIRECT /* we do */
};

struct recording {
	const struct opts *o;
	struct run run;
	struct record_file *file;
	struct record_tally tally;
	struct record_say say;
	struct record_text text;
	struct record_symbols reported;
	enum stage stage;
	struct record_direct direct;
	uint64_t bytes;	   /* of the parts that are finished */
	uint64_t left_out; /* of the data before the events, without room in the file */
	int signal_fd;
	uint64_t begin_ns, deadline_ns, flushed_ns, said_ns;
	struct stall stall;
	bool rotate, stop, stopped, ended, full, give_up; /* ended: the stream has */
	int signal;					  /* the first that came, 0 = none */
};

static const uint64_t FLUSH_NS = 250 * MS, FLUSH_REST_NS = 2000 * MS;
static const uint64_t IDLE_NS = 250 * MS;
/*
 * Room kept free at the end of a full file that is followed by another: for ticks and losses after
 * its events.
 */
static const uint64_t RESERVE_BYTES = 64 << 10;
/* Shorter files have no code of the kernel in them. */
static const uint64_t TEXT_BYTES = 16 << 20;

static void take_signals(struct recording *g)
{
	int signal;

	while ((signal = stall_next(&g->stall, g->signal_fd))) {
		if (signal == SIGUSR2)
			g->rotate = true;
		else if (!g->signal)
			g->signal = signal;
	}
	if (atomic_load(&g->stall.again))
		g->give_up = true;
}

/* Of the events that went by unread the kernel knows the number. @end: it is the final one. */
static void count(struct recording *g, bool end)
{
	struct perf_counts n;

	if (g->stage != STAGE_DIRECT || !g->direct.counted ||
	    live_counts(g->run.source, end, &n) < 0)
		return;
	g->tally.samples = n.events;
	g->tally.lost = n.lost_events;
	g->tally.lost_others = n.lost - n.lost_events;
}

static void say_progress(struct recording *g, uint64_t now, bool end)
{
	struct record_said said = {.ns = now - g->begin_ns, .bytes = g->bytes};

	count(g, end);
	said.tally = &g->tally;
	record_say_so_far(&g->say, g->file, &said, end);
}

/* The line would run into what a command writes to the same terminal. */
static bool says_so_far(const struct opts *o)
{
	return !o->quiet && !o->command && isatty(STDERR_FILENO);
}

static void look_at_time(struct recording *g, uint64_t now)
{
	if (g->deadline_ns && now >= g->deadline_ns)
		g->stop = true;
	if (now - g->said_ns >= SECOND && says_so_far(g->o)) {
		say_progress(g, now, false);
		g->said_ns = now;
	}
}

static int rotate(struct recording *g, struct error *err)
{
	struct writer_stat st;

	g->rotate = g->direct.full = false;
	if (!record_file_is_regular(g->file)) {
		record_say_clear(&g->say);
		cmd_say(g->o, "output to %s cannot be rotated", record_say_name(&g->say));
		return 0;
	}
	record_file_stat(g->file, &st);
	g->bytes += st.bytes;
	if (g->stage != STAGE_QUEUE && !g->ended) {
		count(g, false);
		int r = live_give_back(g->run.source, err);
		if (r < 0)
			return r;
		g->stage = STAGE_QUEUE;
	}
	int r = record_symbols_cut(&g->reported, g->file, g->stopped, err);
	if (r == 0)
		r = record_file_rotate(g->file, err);
	r = r ? r : record_text_put(&g->text, g->file, err);
	return r ? r : record_symbols_begin(&g->reported, g->file, err);
}

/* Between two records where a file may end: everything up to some time is in it. */
static int look_around(struct recording *g, struct error *err)
{
	g->stop |= g->signal != 0;
	look_at_time(g, clock_now_ns());
	g->rotate |= g->direct.full && g->o->rotate;
	g->full |= g->direct.full && !g->o->rotate;
	if (g->rotate && !g->stopped)
		return rotate(g, err);
	return record_symbols_put(&g->reported, g->file, err);
}

/* Buffered data is written in time, so that little is lost when we are killed. */
static int flush(struct recording *g, struct error *err)
{
	uint64_t now = clock_now_ns();

	/* Events are written at once when they do not come by way of the queue, unless packed. */
	if (now - g->flushed_ns <
	    (g->stage == STAGE_DIRECT && !g->o->compress ? FLUSH_REST_NS : FLUSH_NS))
		return 0;
	g->flushed_ns = now;
	return record_file_flush(g->file, err);
}

/* Until the end of the measurement, at most @most. */
static uint64_t wait_ns(const struct recording *g, uint64_t most)
{
	uint64_t now = clock_now_ns();

	if (!g->deadline_ns || g->stopped)
		return most;
	if (g->deadline_ns <= now)
		return 0;
	return g->deadline_ns - now < most ? g->deadline_ns - now : most;
}

static int wait_for_something(struct recording *g, struct error *err)
{
	struct pollfd fds[2] = {
		{.fd = g->signal_fd, .events = POLLIN},
		{.fd = source_fd(g->run.source), .events = POLLIN},
	};
	int r = flush(g, err);

	if (r == 0)
		poll(fds, 2, (int)((wait_ns(g, IDLE_NS) + MS - 1) / MS));
	if (r == 0)
		take_signals(g);
	return r < 0 ? r : look_around(g, err);
}

static void stop(struct recording *g)
{
	run_stop(&g->run);
	record_file_settle(g->file);
	g->stopped = true;
}

/* For a pipe whose reader stalls: signals are heard all the same. */
static int wait_for_reader(void *ctx, int fd)
{
	struct recording *g = ctx;
	struct pollfd fds[2] = {
		{.fd = fd, .events = POLLOUT},
		{.fd = g->signal_fd, .events = POLLIN},
	};

	/* A pipe whose reader has gone wakes poll(), too: the write then fails. */
	while (!fds[0].revents && !g->give_up) {
		poll(fds, 2, -1);
		take_signals(g);
		if (g->signal && !g->stopped)
			stop(g);
	}
	return g->give_up ? ECANCELED : 0;
}

static void take_over(struct recording *g)
{
	struct perf_counts n;

	live_take_over(g->run.source);
	g->direct.counted = live_counts(g->run.source, false, &n) == 0;
}

/* The queue is empty. */
static int idle(struct recording *g, struct error *err)
{
	if (!record_file_is_regular(g->file))
		return wait_for_something(g, err);
	if (g->stage == STAGE_QUEUE)
		take_over(g);
	g->stage++;
	return 0;
}

/* A record that does not fit into this file is the first of the next one, or the end. */
static int put_from_queue(struct recording *g, const struct record *rec, struct error *err)
{
	bool keeps_free = rec->kind == RECORD_PERF && g->direct.reserve;
	bool full = keeps_free && record_file_room(g->file) < g->direct.reserve + rec->len;
	int r = full ? WRITER_FULL : record_file_put(g->file, rec, err);

	if (r == WRITER_FULL && g->o->rotate) {
		r = rotate(g, err);
		if (r == 0)
			r = record_file_put(g->file, rec, err);
	}
	g->full |= r == WRITER_FULL;
	if (r == 0) {
		record_tally_add(&g->tally, rec);
		record_sampler_put(&g->reported.sampler, rec, clock_now_ns());
	}
	return r < 0 ? r : 0;
}

static int take_records(struct recording *g, struct error *err)
{
	struct record rec;
	int r = source_next(g->run.source, 0, &rec, err);

	if (r == SOURCE_IDLE)
		return idle(g, err);
	if (r != 0)
		return r;
	r = put_from_queue(g, &rec, err);
	bool may_end = rec.kind == RECORD_ROUND || rec.kind == RECORD_TICK;
	source_release(g->run.source, &rec);
	if (r < 0 || !may_end)
		return r;
	take_signals(g);
	return look_around(g, err);
}

static int take_direct(struct recording *g, struct error *err)
{
	struct record_direct *d = &g->direct;
	struct drain_sink sink = record_direct_sink(d);

	bool has_signals;

	d->err = err;
	int r = live_drain(g->run.source, &sink, g->signal_fd, wait_ns(g, UINT64_MAX),
			   &has_signals);
	if (has_signals)
		take_signals(g);
	if (d->status == 0)
		d->status = flush(g, err);
	g->ended = r == SOURCE_END;
	if (d->status == 0 && g->ended && d->full && g->o->rotate)
		return rotate(g, err); /* there is more in the rings */
	if (d->status < 0 || r != 0)
		return d->status < 0 ? d->status : r;
	return look_around(g, err);
}

/* Until the stream has ended, or the file has. */
static int pump(struct recording *g, struct error *err)
{
	int r = 0;

	while (r == 0 && !g->give_up && !g->full) {
		if (g->stop && !g->stopped)
			stop(g);
		r = g->stage == STAGE_DIRECT ? take_direct(g, err) : take_records(g, err);
	}
	return r < 0 ? r : 0;
}

/* All data before the stream, so that events need not wait for it later. */
static int put_prologue(struct recording *g, struct error *err)
{
	bool has_text = !g->o->max_size || g->o->max_size >= TEXT_BYTES;
	struct record rec;
	int r;

	while ((r = source_next(g->run.source, 0, &rec, err)) == 0) {
		r = record_file_put(g->file, &rec, err);
		g->left_out += r == WRITER_FULL ? rec.len : 0;
		if (r >= 0 && rec.kind == RECORD_KALLSYMS && has_text)
			r = record_text_take(&g->text, run_code_source(g->run.code), &rec, err);
		record_sampler_put(&g->reported.sampler, &rec, clock_now_ns());
		source_release(g->run.source, &rec);
		if (r < 0)
			return r;
	}
	return r < 0 ? r : 0;
}

/* On a busy machine it would take ten times as long. */
static int hurry_prologue(struct recording *g, struct error *err)
{
	int before = collector_hurry();

	/* Two signals while all was opened. */
	take_signals(g);
	int r = g->give_up ? -EINTR : put_prologue(g, err);
	collector_relax(before);
	return r;
}

static void say_start(const struct recording *g)
{
	const struct live_info *i = &g->run.info;
	char what[256];

	if (*i->note)
		cmd_say(g->o, "%s", i->note);
	if (g->o->verbose)
		cmd_say(g->o, "recording %s with %u rings of %u pages to %s",
			target_describe(&g->run.target, what, sizeof(what)), i->rings,
			i->ring_pages, record_say_name(&g->say));
}

static int start(struct recording *g, struct error *err)
{
	const struct opts *o = g->o;
	int r = run_source(&g->run, o, err);
	struct record_file_options f = {
		.path = g->say.path,
		.zstd_level = (int)o->compress,
		.max_bytes = o->max_size,
		.keep = o->rotate,
		.wait = wait_for_reader,
		.ctx = g,
		.cgroups = !g->run.info.no_cgroup,
		.names = g->run.names,
	};

	if (r == 0)
		r = record_file_new(&g->file, &f, err);
	if (r == 0)
		r = record_symbols_init(&g->reported, o, run_code_source(g->run.code),
					run_lock_requests(&g->run), err);
	if (r == 0)
		r = hurry_prologue(g, err);
	if (r == 0 && o->max_size && record_file_is_regular(g->file))
		r = record_file_begin(g->file, g->left_out, err);
	r = r ? r : record_text_put(&g->text, g->file, err);
	r = r ? r : run_start(&g->run, err);
	r = r ? r : record_symbols_start(&g->reported, err);
	/* Whatever is written while rings fill, to the end; not what reads a pipe's records. */
	if (r == 0 && record_file_is_regular(g->file)) {
		collector_hurry();
		if (o->realtime)
			collector_begin_realtime();
	}
	g->direct.file = g->file;
	g->direct.tally = &g->tally;
	g->tally.is_fed = run_sums_up(&g->run);
	g->direct.sampler = &g->reported.sampler;
	g->direct.reserve = o->rotate && o->max_size ? RESERVE_BYTES : 0;
	g->direct.reserve += record_symbols_reserve(&g->reported);
	g->begin_ns = g->flushed_ns = clock_now_ns();
	if (o->duration_ns)
		g->deadline_ns = g->begin_ns + o->duration_ns;
	if (r == 0)
		say_start(g);
	return r;
}

static int exit_status(struct recording *g)
{
	int command = run_command_status(&g->run);

	if (command >= 0)
		return command;
	if (!g->signal || (g->signal == SIGINT && !g->deadline_ns && !g->o->command))
		return CMD_EXIT_OK;
	return CMD_EXIT_SIGNAL + g->signal;
}

static bool is_given_up(void *ctx)
{
	struct recording *g = ctx;

	take_signals(g);
	return g->give_up;
}

/* So that it can be read where the programs are not. False: a second signal came meanwhile. */
static bool put_names(struct recording *g)
{
	struct resolve_final_options o = {.code = run_code_source(g->run.code),
					  .keep_symbols = !g->o->no_symbol_cache,
					  .stop = is_given_up,
					  .ctx = g};
	struct error err = {0};
	const char *lacks = record_symbols_end(&g->reported, g->file, &o, &err);

	/* The recording is whole without. */
	bool all = !g->give_up;
	g->give_up = false;
	record_say_clear(&g->say);
	if (lacks)
		cmd_say(g->o, "%s", lacks);
	return all;
}

/* Records written before a failure become a whole file too. */
static int record(struct recording *g)
{
	struct error err = {0}, end = {0};
	int r = start(g, &err);

	take_signals(g);
	if (r < 0)
		return r == -EINTR && g->signal ? CMD_EXIT_SIGNAL + g->signal
						: cmd_fail(CMD_EXIT_FAILURE, &err);
	r = pump(g, &err);
	uint64_t now = clock_now_ns();
	bool all = r == 0 && !g->give_up && put_names(g);
	int e = r == -EPIPE || r == -ECANCELED ? r : record_file_finish(g->file, &end);
	if (all && e == 0 && record_file_shrink(g->file, &end) < 0)
		cmd_say(g->o, "all symbols of the kernel are kept in the recording: %s", end.text);
	record_say_clear(&g->say);
	if (r == -EPIPE || e == -EPIPE)
		return CMD_EXIT_SIGNAL + SIGPIPE;
	if (e == -ECANCELED)
		return CMD_EXIT_SIGNAL + g->signal;
	if (r < 0)
		cmd_fail(CMD_EXIT_FAILURE, &err);
	/* That nothing can be read follows from the first message. */
	if (e < 0 && strcmp(end.text, err.text) && !(r < 0 && e == -ENODATA))
		cmd_fail(CMD_EXIT_FAILURE, &end);
	if (e == 0)
		say_progress(g, now, true);
	return r < 0 || e < 0 ? CMD_EXIT_FAILURE : exit_status(g);
}

/*
 * `kontend record --metrics` without --trigger: measures and answers scrapes until it is stopped,
 * and writes no file. The port is opened while there are the rights for it; the thread that answers
 * is started after unneeded rights have been given up.
 */
static const uint64_t STEP_NS = 1000000000;

struct metrics_job {
	struct measure_job job;
	struct metrics *metrics;
	bool started;
};

static int serve_step(struct measure_job *j, struct measure *m, struct error *err)
{
	struct metrics_job *s = (struct metrics_job *)j;
	int code = 0;

	if (!s->started)
		code = record_metrics_start(s->metrics, m->o, &m->run.engine, err);
	s->started = true;
	if (code == 0)
		record_metrics_tick(s->metrics, m->o, NULL);
	mem_trim_at_tick(m->run.engine.model->n_ticks);
	return code;
}

/* Before the engine goes. */
static int serve_finish(struct measure_job *j, struct measure *m, struct error *err)
{
	struct metrics_job *s = (struct metrics_job *)j;

	(void)m;
	(void)err;
	metrics_free(s->metrics);
	s->metrics = NULL;
	return 0;
}

static int record_for_metrics(const struct opts *o)
{
	struct metrics_job s = {.job = {.every = serve_step, .finish = serve_finish}};
	struct opts each = *o;
	struct error err = {0};
	int code = record_metrics_new(&s.metrics, o, &err);

	if (code < 0)
		return cmd_fail(code == -EINVAL ? CMD_EXIT_USAGE : CMD_EXIT_FAILURE, &err);
	each.interval_ns = STEP_NS;
	int status = measure_run(&each, &s.job);
	metrics_free(s.metrics);
	return status;
}

int cmd_record(const struct opts *o)
{
	struct recording g = {.o = o, .signal_fd = -1, .say = record_say_of(o)};
	struct error err = {0}, end = {0};

	if (o->triggers[0] || o->service)
		return record_incidents(o);
	if (o->metrics)
		return record_for_metrics(o);
	int status, r = run_target(&g.run, o, &err);

	if (r < 0) {
		status = cmd_fail(r == -EINVAL ? CMD_EXIT_USAGE : CMD_EXIT_FAILURE, &err);
	} else {
		r = ending_open(&g.signal_fd, (const int[]){SIGUSR2, 0}, &err);
		r = r ? r : stall_start(&g.stall, &err);
		status = r < 0 ? cmd_fail(CMD_EXIT_FAILURE, &err) : record(&g);
	}
	record_file_free(g.file);
	record_text_deinit(&g.text);
	record_symbols_deinit(&g.reported);
	if (run_close(&g.run, &end) < 0)
		status = cmd_fail(CMD_EXIT_FAILURE, &end);
	stall_stop(&g.stall);
	if (g.signal_fd >= 0)
		close(g.signal_fd);
	return status;
}
