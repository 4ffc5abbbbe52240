// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend record --trigger`: nothing is written until a trigger fires, and then the time before
 * it, too. The live source passes through a backlog, which keeps the last seconds packed, into an
 * engine, whose triggers are asked after every step. A trigger that fires opens an incident, which
 * takes in others that fire meanwhile, and is handed to a thread that writes its file when all of
 * its time has come.
 *
 * All of it is one thread, which sleeps until a tick is in the queue, a signal comes, a file is
 * done or an incident ends. Signals are blocked and read in one place, take_signals(). Other files
 * add to this loop by calls from begun(), each_tick() and ended().
 */
#include "kontend/record-incidents.h"
#include "incident-file.h"
#include "incident-open.h"
#include "kontend/caught.h"
#include "kontend/clock.h"
#include "kontend/cmd.h"
#include "kontend/damage.h"
#include "kontend/ending.h"
#include "kontend/incident-list.h"
#include "kontend/mem.h"
#include "kontend/metrics.h"
#include "kontend/model.h"
#include "kontend/opts.h"
#include "kontend/query-incidents.h"
#include "kontend/query-shorts.h"
#include "kontend/record-metrics.h"
#include "kontend/record-symbols.h"
#include "kontend/run.h"
#include "kontend/shorts.h"
#include "kontend/trigger.h"
#include "kontend/units.h"
#include "kontend/waitfeed.h"
#include "retain.h"
#include "service.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECOND 1000000000ull

enum { IDLE_MS = 1000, LEVEL = 3, WORDS = 3 + 2 * OPTS_LIST_MAX };

struct catching {
	const struct opts *o;
	struct run run;
	struct source *backlog; /* the engine's source */
	struct record_text text;
	struct record text_record;
	struct incident_options files;
	const char *argv[WORDS];
	struct incident_thread *out;
	struct incident_open open;
	struct triggers *triggers; /* NULL: incidents are taken by hand alone */
	const char *exprs[OPTS_LIST_MAX];
	uint32_t places[OPTS_LIST_MAX]; /* of them on the command line */
	size_t n_exprs;
	uint64_t deadline_ns;
	uint64_t written, failed;
	struct metrics *metrics; /* NULL: metrics are not served */
	int signal_fd;
	int signal; /* that ends it: the first that came, 0 = none */
	bool stopped, give_up;
	bool reload; /* the configuration is to be read again */
	struct service service;
	struct incident_retention keep;
	char dir[PATH_MAX], last[96];
};

static int wrap(void *ctx, struct source **top, struct error *err)
{
	struct catching *c = ctx;
	/* As long again as was asked for: what began long before it fired is still there. */
	const struct backlog_options o = {.bytes = run_backlog(c->o->memory),
					  .span_ns = c->open.pre_ns * 2 + SECOND};

	int r = backlog_new(top, *top, &o, err);
	if (r == 0)
		c->backlog = *top;
	return r;
}

/* A user or a program has asked for an incident. */
static void by_hand(struct catching *c)
{
	struct incident in = {.fired_ns = clock_now_ns(), .flags = INCIDENT_BY_HAND};

	in.begin_ns = in.end_ns = in.fired_ns;
	snprintf(in.expr, sizeof(in.expr), "by hand");
	snprintf(in.fired, sizeof(in.fired), "by hand");
	incident_open_add(&c->open, c->backlog, &in);
}

/* Takes the triggers that have fired since the last time. 0 or negative. */
static int ask_triggers(struct catching *c, struct error *err)
{
	struct incident in;
	int r = 0;

	while (c->triggers && (r = triggers_next(c->triggers, &in, err)) == 1)
		incident_open_add(&c->open, c->backlog, &in);
	return r;
}

static void take_signals(struct catching *c)
{
	struct signalfd_siginfo s;

	while (read(c->signal_fd, &s, sizeof(s)) == (ssize_t)sizeof(s)) {
		if (s.ssi_signo == SIGUSR1)
			by_hand(c);
		else if (s.ssi_signo == SIGHUP && c->o->service)
			c->reload = true;
		else if (c->signal)
			c->give_up = true;
		else
			c->signal = (int)s.ssi_signo;
	}
}

static void say_file(struct catching *c, const struct incident_job *j)
{
	const struct incident *in = &j->incident;
	char bytes[UNITS_BUF];

	if (j->goes_on) {
		if (j->err.code)
			cmd_say_as(c->o, JOURNAL_ERROR,
				   "an incident goes on, which nothing would be left of if this "
				   "were killed: %s",
				   j->err.text);
		if (j->note.code)
			cmd_say(c->o, "%s", j->note.text);
		return;
	}
	if (!j->path) {
		cmd_say_as(c->o, JOURNAL_ERROR, "an incident is lost: %s", j->err.text);
		c->failed++;
		return;
	}
	c->written++;
	snprintf(c->last, sizeof(c->last), "%s", in->fired);
	cmd_say_as(c->o, JOURNAL_NOTICE, "caught %s%s%s: %s, %s", in->fired,
		   *in->lock_name ? ", " : "", in->lock_name, j->path,
		   units_bytes(bytes, j->bytes));
	if (c->metrics)
		metrics_incident(c->metrics, in, j->path);
	incident_retention_done(&c->keep, c->o, &j->kept, &j->kept_err);
	if (j->note.code)
		cmd_say(c->o, "%s", j->note.text);
}

static void take_done(struct catching *c)
{
	struct incident_job *j;

	while ((j = incident_thread_done(c->out))) {
		say_file(c, j);
		incident_job_free(j);
	}
}

/* A lock snapshot after the trigger had fired may have the name. */
static void name_lock(struct catching *c)
{
	struct query q;

	if (query_init(&q, &c->run.engine) == 0) {
		query_incident_name(&q, &c->open.incident);
		query_deinit(&q);
	}
}

/* Hands it to the thread that writes: what has come by now, or all of it, which closes it. */
static int hand_over(struct catching *c, bool goes_on, struct error *err)
{
	struct incident_job *j;

	name_lock(c);
	c->open.start_ns = c->run.engine.model->start_ns;
	int r = goes_on ? incident_open_begin(&c->open, c->backlog, &j, err)
			: incident_open_take(&c->open, c->backlog, &j, err);
	if (r < 0)
		return r;
	if (!(j->incident.flags & INCIDENT_BY_HAND))
		j->incident.trigger = c->places[j->incident.trigger];
	incident_retention_ask(&c->keep, c->o, &j->keep, &j->keep_ns);
	r = incident_thread_put(c->out, j);
	if (r < 0) {
		incident_job_free(j);
		return error_set(err, r, "%d files wait to be written already",
				 INCIDENT_THREAD_MOST);
	}
	return 0;
}

static void close_incident(struct catching *c)
{
	struct error err = {0};

	if (hand_over(c, false, &err) == 0)
		return;
	cmd_say_as(c->o, JOURNAL_ERROR, "an incident is lost: %s", err.text);
	c->failed++;
}

/* For who finds it should we be killed before its end. */
static void begin_incident(struct catching *c)
{
	struct error err = {0};

	if (hand_over(c, true, &err) < 0)
		cmd_say_as(c->o, JOURNAL_ERROR,
			   "an incident goes on, which nothing would be left of if this were "
			   "killed: %s",
			   err.text);
}

static void look_at_incident(struct catching *c, bool ended)
{
	struct incident *in = &c->open.incident;

	if (c->open.is_open && c->triggers && !(in->flags & INCIDENT_BY_HAND))
		incident_open_follow(&c->open, c->backlog, triggers_follow(c->triggers, in));
	if (!c->open.is_open)
		return;
	c->open.is_named = query_incident_is_named(&c->run.engine, in);
	c->open.has_sums = c->run.engine.model->shorts->known;
	if (ended || incident_open_is_whole(&c->open, c->backlog))
		close_incident(c);
	else if (!c->open.is_begun)
		begin_incident(c);
}

static void say_start(struct catching *c)
{
	const struct live_info *i = &c->run.info;
	struct error err = {0};
	char what[256];
	uint32_t ppm;

	if (*i->note)
		cmd_say(c->o, "%s", i->note);
	if (opts_overhead(c->o, &ppm, &err) == 0 && ppm && !waitfeed_sums_up(c->run.waits))
		cmd_say(c->o, "--max-overhead has no effect: waits are read from perf events, "
			      "not by BPF");
	cmd_say(c->o, "watching %s for incidents, which are written to %s/",
		target_describe(&c->run.target, what, sizeof(what)), c->files.dir);
}

/* Reports incidents that a killed recorder has left unfinished. */
static void say_left(struct catching *c)
{
	struct incident_list l;
	struct error err = {0};

	if (incident_list_read(&l, c->files.dir, &err) < 0)
		return;
	for (size_t i = 0; i < l.n; i++)
		if (l.entries[i].state == INCIDENT_LEFT)
			cmd_say(c->o, "%s/%s was not finished: 'kontend recover' reads it",
				c->files.dir, l.entries[i].name);
	incident_list_deinit(&l);
}

/* Measuring has begun. 0 or negative. */
static int begun(struct catching *c, struct error *err)
{
	int r = record_metrics_start(c->metrics, c->o, &c->run.engine, err);

	if (r < 0)
		return r;
	if (c->o->duration_ns)
		c->deadline_ns = clock_now_ns() + c->o->duration_ns;
	say_left(c);
	say_start(c);
	c->keep.dir = c->files.dir;
	incident_retention_now(&c->keep, c->o);
	service_ready(&c->service);
	return 0;
}

static void report_service(struct catching *c)
{
	const struct retain_stat *k = &c->keep.stat;
	const struct model_damage d = model_damage(c->run.engine.model);
	const struct query q = {.model = c->run.engine.model};
	const struct query_shorts s = query_shorts(&q);
	char bytes[UNITS_BUF], lost[UNITS_BUF], level[64], text[320];

	query_shorts_mark(&s, level, sizeof(level));
	snprintf(text, sizeof(text),
		 "Watching: %llu incidents%s%s, %llu not written; %s events lost; %llu files, "
		 "%s%s%s",
		 (unsigned long long)c->written, *c->last ? ", the last " : "", c->last,
		 (unsigned long long)c->failed, units_count(lost, d.lost + d.dropped),
		 (unsigned long long)k->files, units_bytes(bytes, k->bytes), *level ? "; " : "",
		 level);
	service_round(&c->service, text);
}

/* About once a second: the engine is at a tick. 0 or negative. */
static int each_tick(struct catching *c, struct error *err)
{
	const struct triggers_count n =
		c->triggers ? triggers_count(c->triggers) : (struct triggers_count){0};
	const struct metrics_counts counts = {
		.incidents = c->written,
		.fired = n.fired,
		.suppressed = n.again + n.lost + c->open.left_out,
		.failed = c->failed,
		.triggers = c->triggers != NULL,
	};

	(void)err;
	record_metrics_tick(c->metrics, c->o, &counts);
	mem_trim_at_tick(c->run.engine.model->n_ticks);
	incident_retention_round(&c->keep, c->o);
	report_service(c);
	return 0;
}

/* Measuring is over, and all files are written. */
static void ended(struct catching *c)
{
	const struct triggers_count n =
		c->triggers ? triggers_count(c->triggers) : (struct triggers_count){0};

	cmd_say(c->o, "%llu %s in %s/", (unsigned long long)c->written,
		c->written == 1 ? "incident is" : "incidents are", c->files.dir);
	if (c->failed)
		cmd_say_as(c->o, JOURNAL_ERROR, "%llu could not be written",
			   (unsigned long long)c->failed);
	if (n.again)
		cmd_say(c->o, "triggers were true %llu times more within their cooldown",
			(unsigned long long)n.again);
	if (c->open.left_out + n.lost)
		cmd_say(c->o, "for %llu more there was no file: they came too fast",
			(unsigned long long)(c->open.left_out + n.lost));
}

static int wait_ms(const struct catching *c)
{
	uint64_t now = clock_now_ns();

	if (!c->deadline_ns || c->stopped)
		return IDLE_MS;
	if (c->deadline_ns <= now)
		return 0;
	uint64_t ms = (c->deadline_ns - now) / 1000000 + 1;
	return ms < IDLE_MS ? (int)ms : IDLE_MS;
}

static void wait_for_something(struct catching *c, bool has_source)
{
	struct pollfd fds[3] = {
		{.fd = c->signal_fd, .events = POLLIN},
		{.fd = incident_thread_fd(c->out), .events = POLLIN},
		{.fd = has_source ? source_fd(c->backlog) : -1, .events = POLLIN},
	};

	poll(fds, 3, wait_ms(c));
	if (fds[0].revents)
		take_signals(c);
	if (fds[1].revents)
		take_done(c);
}

static void stop_if_due(struct catching *c)
{
	bool due = c->signal || (c->deadline_ns && clock_now_ns() >= c->deadline_ns);

	if (!due || c->stopped)
		return;
	service_stopping(&c->service);
	run_stop(&c->run);
	c->stopped = true;
}

/* "hand" is no trigger: the user sends signals for it. */
static bool is_hand(const char *trigger)
{
	return strcmp(trigger, "hand") == 0;
}

static int check_triggers(const struct opts *o, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < OPTS_LIST_MAX && o->triggers[i]; i++)
		if (!is_hand(o->triggers[i]))
			r = trigger_check(o->triggers[i], err);
	return r;
}

static void set_triggers(struct catching *c)
{
	c->n_exprs = 0;
	for (uint32_t i = 0; i < OPTS_LIST_MAX && c->o->triggers[i]; i++) {
		if (is_hand(c->o->triggers[i]))
			continue;
		c->places[c->n_exprs] = i;
		c->exprs[c->n_exprs++] = c->o->triggers[i];
	}
}

static int open_triggers(struct catching *c, struct error *err)
{
	if (!c->n_exprs)
		return 0;
	int r = triggers_new(&c->triggers, &c->run.engine, c->exprs, c->n_exprs, err);
	if (r == 0 && c->o->cooldown_ns)
		triggers_cooldown(c->triggers, c->o->cooldown_ns);
	return r;
}

/*
 * Takes over the settings that may change while it runs. An incident in progress keeps the triggers
 * that it was opened by.
 */
static int reload(struct catching *c, struct error *err)
{
	int r;

	c->reload = false;
	if (service_reload(&c->service, check_triggers) < 0)
		return 0;
	look_at_incident(c, true);
	triggers_free(c->triggers);
	c->triggers = NULL;
	set_triggers(c);
	r = open_triggers(c, err);
	waitfeed_report(c->run.waits, caught_floor_ns(c->o));
	incident_open_post(&c->open, c->o->post_ns);
	incident_retention_now(&c->keep, c->o);
	service_reloaded(&c->service);
	return r;
}

/* Until the stream has ended. */
static int pump(struct catching *c, struct error *err)
{
	int r = 0;

	while (r >= 0 && r != ENGINE_END && !c->give_up) {
		if (r == ENGINE_IDLE)
			wait_for_something(c, true);
		else
			take_signals(c);
		stop_if_due(c);
		r = engine_pump(&c->run.engine, 0, err);
		if (r == ENGINE_TICK) {
			int e = each_tick(c, err);
			r = e < 0 ? e : r;
		}
		if (r >= 0) {
			int e = ask_triggers(c, err);
			r = e < 0 ? e : r;
		}
		if (r >= 0 && c->reload) {
			int e = reload(c, err);
			r = e < 0 ? e : r;
		}
		look_at_incident(c, false);
	}
	return r < 0 ? r : 0;
}

/* Finishes files that are being written, unless a second signal comes. */
static void finish_files(struct catching *c)
{
	look_at_incident(c, true);
	while (!c->give_up && incident_thread_left(c->out))
		wait_for_something(c, false);
	take_done(c);
}

static int check_dir(const char *dir, struct error *err)
{
	struct stat st;

	if (stat(dir, &st) < 0)
		return error_errno(err, -errno, "Cannot write incidents to the directory '%s'",
				   dir);
	if (!S_ISDIR(st.st_mode))
		return error_set(err, -ENOTDIR,
				 "'%s' is no directory: with --trigger, --output says where the "
				 "files of incidents go to",
				 dir);
	if (access(dir, W_OK | X_OK) < 0)
		return error_errno(err, -errno, "Cannot write incidents to the directory '%s'",
				   dir);
	return 0;
}

static void set_argv(struct catching *c)
{
	size_t n = 0;

	c->argv[n++] = "kontend";
	c->argv[n++] = "record";
	for (size_t i = 0; i < OPTS_LIST_MAX && c->o->triggers[i]; i++) {
		c->argv[n++] = "--trigger";
		c->argv[n++] = c->o->triggers[i];
	}
}

static int set_files(struct catching *c, struct error *err)
{
	const struct opts *o = c->o;

	set_argv(c);
	c->files = (struct incident_options){
		.dir = service_dir(o, c->dir, sizeof(c->dir)),
		.zstd_level = o->compress ? (int)o->compress : LEVEL,
		.argv = c->argv,
		.has_samples = o->freq && o->freq != OPTS_FREQ_DEFAULT,
		.keep_symbols = !o->no_symbol_cache,
	};
	incident_open_init(&c->open, o->pre_ns, o->post_ns);
	return check_dir(c->files.dir, err);
}

static int start(struct catching *c, struct error *err)
{
	int r = set_files(c, err);

	c->run.wrap = wrap;
	c->run.wrap_ctx = c;
	/* Because of whom is known between looks, too. */
	c->run.blame = true;
	c->run.trigger_ns = caught_floor_ns(c->o);
	r = r ? r : run_open(&c->run, c->o, err);
	if (r == 0)
		r = record_text_of(&c->text, run_code_source(c->run.code), &c->run.engine.sym, err);
	if (c->text.body) {
		c->text_record = (struct record){
			.kind = RECORD_SNAPSHOT, .data = c->text.body, .len = c->text.len};
		c->files.text = &c->text_record;
	}
	c->files.code = run_code_source(c->run.code);
	r = r ? r : open_triggers(c, err);
	r = r ? r : run_start(&c->run, err);
	/* Behind what gives up rights: of one thread alone they would be given up. */
	r = r ? r : incident_thread_new(&c->out, &c->files, err);
	return r ? r : begun(c, err);
}

static int exit_status(struct catching *c)
{
	int command = run_command_status(&c->run);

	if (command > 0)
		return command;
	if (command < 0 && c->signal && c->give_up)
		return CMD_EXIT_SIGNAL + c->signal;
	/* A service that is stopped has said it in the journal and in its status. */
	return c->failed && !c->o->service ? CMD_EXIT_FAILURE : CMD_EXIT_OK;
}

static int record(struct catching *c)
{
	struct error err = {0};
	int r = start(c, &err);

	take_signals(c);
	if (r < 0)
		return r == -EINTR && c->signal ? CMD_EXIT_SIGNAL + c->signal
						: cmd_fail(CMD_EXIT_FAILURE, &err);
	r = pump(c, &err);
	finish_files(c);
	ended(c);
	if (r < 0)
		return cmd_fail(CMD_EXIT_FAILURE, &err);
	return exit_status(c);
}

int record_incidents(const struct opts *o)
{
	const int signals[] = {SIGUSR1, o->service ? SIGHUP : 0, 0};
	struct catching c = {.signal_fd = -1};
	struct error err = {0}, end = {0};
	int status, r = service_begin(&c.service, o, &err);

	c.o = service_opts(&c.service);
	set_triggers(&c);
	r = r ? r : check_triggers(c.o, &err);
	r = r ? r : run_target(&c.run, o, &err);
	if (r < 0) {
		status = cmd_fail(r == -EINVAL ? CMD_EXIT_USAGE : CMD_EXIT_FAILURE, &err);
	} else {
		r = ending_open(&c.signal_fd, signals, &err);
		r = r ? r : record_metrics_new(&c.metrics, o, &err);
		status = r == -EINVAL ? cmd_fail(CMD_EXIT_USAGE, &err)
			 : r < 0      ? cmd_fail(CMD_EXIT_FAILURE, &err)
				      : record(&c);
	}
	incident_thread_free(c.out);
	metrics_free(c.metrics);
	triggers_free(c.triggers);
	if (run_close(&c.run, &end) < 0)
		status = cmd_fail(CMD_EXIT_FAILURE, &end);
	record_text_deinit(&c.text);
	if (c.signal_fd >= 0)
		close(c.signal_fd);
	service_end(&c.service);
	return status;
}
