// SPDX-License-Identifier: GPL-2.0-only
/*
 * One measurement without a screen: the common part of `report`, `export` and `script`. It ends
 * with the first of these: --duration, the end of the command, or a signal; then the rest of the
 * events is read and the verb writes its result. Signals are blocked before any thread starts and
 * are read from a descriptor, so that they need neither handlers nor globals.
 *
 * SIGINT is the ordinary way to end a measurement without another end, and then the status is 0.
 * Where it cuts one short, and for other signals, the result is written too, and the status is that
 * of the signal. A second signal gives up at once (stall.c).
 *
 * With --input a recording is read instead. A result about a part of it would be wrong, so that any
 * signal gives up then, and nothing is written.
 */
#include "measure.h"
#include "kontend/caught.h"
#include "kontend/clock.h"
#include "kontend/damage.h"
#include "kontend/ending.h"
#include "kontend/event-filter.h"
#include "kontend/query-no-locks.h"
#include "kontend/reader.h"
#include "kontend/units.h"
#include "verbs.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { IDLE_MS = 1000, BUSY_MS = 20, NOTES_SAID = 10 };

static int open_signals(struct measure *m, struct error *err)
{
	sigset_t set;

	ending_signals(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	m->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return m->signal_fd < 0 ? error_errno(err, -errno, "Cannot make a descriptor for signals")
				: 0;
}

/* Where a recording is read: all else that is opened is open. */
static int enter_sandbox(struct measure *m, const struct measure_job *j, struct error *err)
{
	const struct sandboxed_wants w = {.recordings = {m->o->input, j->also},
					  .more = j->more,
					  .symbols = opts_symbols(m->o),
					  .symfs = m->o->symfs,
					  .instructions = m->o->annotate != NULL,
					  .put = sandboxed_put_output,
					  .put_ctx = &m->output,
					  .used = {m->output.made.dir, m->output.made.fd}};
	char note[200];

	if (!m->o->input)
		return 0;
	int r = sandboxed_enter(&m->sandboxed, m->o, &w, err);
	measure_sandbox(m, &m->run);
	if (r == 0 && m->sandboxed.sandbox.state == SANDBOX_PARTIAL)
		cmd_say(m->o, "%s", sandbox_note(&m->sandboxed.sandbox, note, sizeof(note)));
	return r;
}

/* Signals, the output, and no rights any more: in this order. */
static int begin(struct measure *m, struct measure_job *j, struct error *err)
{
	int r = open_signals(m, err);

	if (r == 0 && j->send)
		r = output_open_sent(&m->output, m->o->output, j->send, err);
	else if (r == 0 && !j->every)
		r = output_open(&m->output, m->o->output, stdout, err);
	if (r == 0)
		r = enter_sandbox(m, j, err);
	sandboxed_output(&m->sandboxed, &m->output);
	return r == 0 ? stall_start(&m->stall, err) : r;
}

static void take_signals(struct measure *m, const struct run *run)
{
	int sig;

	while ((sig = stall_next(&m->stall, m->signal_fd))) {
		if (run->from_file)
			m->give_up = true;
		if (!m->signal)
			m->signal = sig;
	}
	if (atomic_load(&m->stall.again))
		m->give_up = true;
}

static int wait_ms(const struct measure *m, bool always_ready)
{
	uint64_t now = clock_now_ns(), until = m->deadline_ns;

	if (always_ready)
		return BUSY_MS;
	if (m->next_ns && (!until || m->next_ns < until))
		until = m->next_ns;
	if (!until || m->stopped)
		return IDLE_MS;
	if (until <= now)
		return 0;
	uint64_t ms = (until - now) / 1000000 + 1;
	return ms < IDLE_MS ? (int)ms : IDLE_MS;
}

static void wait_for_something(struct measure *m, struct run *run)
{
	struct pollfd fds[2] = {
		{.fd = m->signal_fd, .events = POLLIN},
		{.fd = source_fd(run->engine.source), .events = POLLIN},
	};

	poll(fds, 2, wait_ms(m, fds[1].fd < 0));
	if (fds[0].revents)
		take_signals(m, run);
}

static void show_progress(struct measure *m, struct run *run)
{
	uint64_t pos, size;

	if (!run->from_file || !m->progress.what)
		return;
	if (source_progress(run->engine.source, &pos, &size))
		progress_update(&m->progress, pos, size);
}

/* The part that --time asks for is complete. */
static bool is_behind(const struct run *run)
{
	const struct engine_range *r = run->engine.range;

	return r && r->state == ENGINE_RANGE_DONE;
}

/* Calls the job's `every` at each interval. */
static int call_every(struct measure *m, struct error *err)
{
	struct measure_job *j = m->job;
	uint64_t now = clock_now_ns();

	if (!j->every || m->stopped || now < m->next_ns)
		return 0;
	m->next_ns = m->next_ns ? m->next_ns + m->o->interval_ns : now + m->o->interval_ns;
	/* Missed intervals are skipped. */
	if (m->next_ns <= now)
		m->next_ns = now + m->o->interval_ns;
	return j->every(j, m, err);
}

/* A program that reads lines through a pipe gets them when they are due. */
static int flush_lines(struct measure *m, const struct run *run, int pumped, struct error *err)
{
	bool due = pumped == ENGINE_IDLE || (pumped == ENGINE_TICK && !run->from_file);

	if (!m->output.file || !due)
		return 0;
	return fflush(m->output.file) == 0 ? 0 : output_failed(&m->output, -errno, err);
}

/* Without a second thread one does all of it. */
static void read_ahead(const struct measure *m, struct run *run)
{
	if (run->from_file && cmd_threads(m->o) > 1)
		(void)engine_read_ahead(&run->engine);
}

/* Until the stream has ended, or has nothing more of the range that is asked for. */
static int pump(struct measure *m, struct run *run, struct error *err)
{
	int ret = 0;

	read_ahead(m, run);
	while (ret != ENGINE_END && !m->give_up && !(run->from_file && is_behind(run))) {
		int failed = flush_lines(m, run, ret, err);
		if (failed == 0)
			failed = call_every(m, err);
		if (failed)
			return failed;
		if (ret == ENGINE_IDLE)
			wait_for_something(m, run);
		else
			take_signals(m, run);
		if (!m->stopped && (m->signal || is_behind(run) ||
				    (m->deadline_ns && clock_now_ns() >= m->deadline_ns))) {
			run_stop(run);
			m->stopped = true;
		}
		show_progress(m, run);
		ret = engine_pump(&run->engine, 0, err);
		if (ret < 0)
			return ret;
		if (m->job && m->job->pumped)
			m->job->pumped(m->job);
	}
	return 0;
}

/* Damage comes first. A note about the path itself has it already. */
static void say_notes(const struct measure *m, const struct run *run, const char *path)
{
	const struct notes *notes = &run->engine.notes;
	size_t most = m->o->verbose ? NOTES_MOST : NOTES_SAID;
	uint64_t more = notes->left_out;

	for (size_t i = 0; i < notes->n; i++) {
		const struct note *n = &notes->items[i];
		bool named = strstr(n->text, path);

		if (i >= most) {
			more += n->count;
			continue;
		}
		cmd_say(m->o, "%s%s%s", named ? "" : path, named ? "" : ": ", n->text);
		if (n->count > 1)
			cmd_say(m->o, "%s: the same %" PRIu64 " more times", path, n->count - 1);
	}
	if (more)
		cmd_say(m->o, "%s: %" PRIu64 " more notes about the recording", path, more);
}

static bool stops_looking(void *ctx)
{
	struct measure *m = ctx;

	take_signals(m, &m->run);
	return m->signal != 0;
}

/* pump() within --time, where that is given. */
static int pump_range(struct measure *m, struct run *run, const char *path, struct error *err)
{
	struct time_range *r = &m->range;
	struct reader_options how = {.path = path};

	if (!m->o->time)
		return pump(m, run, err);
	sandboxed_reader(&m->sandboxed, &how);
	int ret = time_range_set(r, &run->engine, m->o->time, m->range_ns, &how, stops_looking, m,
				 err);
	if (ret == 0)
		ret = pump(m, run, err);
	if (ret == 0 && !m->give_up)
		ret = time_range_check(r, err);
	run->engine.range = NULL;
	m->bad_usage = r->is_bad;
	return ret;
}

/* A signal that ends the wait for a FIFO's writer prints what was waited for. */
static void say_nothing_came(const struct measure *m, struct run *run, const char *path)
{
	uint64_t pos = 1, size;

	if (m->give_up && source_progress(run->engine.source, &pos, &size) && !pos)
		cmd_say(m->o,
			"%s: a signal came before its first byte: is it a pipe without a "
			"writer?",
			path);
}

/* The sentence names the recording where there are several. */
static int check_event(const struct measure *m, const struct run *run, const char *path,
		       struct error *err)
{
	struct error why = {0};
	int ret = eventlist_check(&run->engine.events, run->events, &why);

	if (ret < 0 && m->job && (m->job->many || m->job->also))
		return error_set(err, ret, "%s: %s", path, why.text);
	return ret < 0 ? error_set(err, ret, "%s", why.text) : 0;
}

static int read_recording(struct measure *m, struct run *run, const char *path, struct error *err)
{
	/* Lines that are written to the same terminal on the way leave no place for a bar. */
	bool lines = run->engine.watch && !(m->job && m->job->pumped) && !m->o->output &&
		     isatty(STDOUT_FILENO);
	char what[64];
	int ret;

	snprintf(what, sizeof(what), "reading %s", path);
	progress_begin(&m->progress, m->o->quiet || lines ? NULL : what);
	ret = pump_range(m, run, path, err);
	if (ret == 0 && !m->give_up)
		ret = check_event(m, run, path, err);
	progress_end(&m->progress);
	m->progress.what = NULL;
	say_nothing_came(m, run, path);
	/* Of many recordings the verb reports the faults, in a sentence each. */
	if (ret == 0 && !m->give_up && (m->o->verbose || !m->job || !m->job->many))
		say_notes(m, run, path);
	return ret;
}

void measure_sandbox(struct measure *m, struct run *run)
{
	struct reader_options o = {0};

	sandboxed_reader(&m->sandboxed, &o);
	run->open = o.open;
	run->open_ctx = o.open_ctx;
	run->sandbox = &m->sandboxed.sandbox;
	run->lines.door = sandboxed_files(&m->sandboxed);
}

int measure_open(struct measure *m, struct run *run, const char *path, struct error *err)
{
	run->memory = m->o->memory;
	run->min_wait_ns = m->o->min_wait_ns;
	run->events = m->o->event;
	run->symfs = m->o->symfs;
	run->trust_paths = m->o->trust_paths;
	measure_sandbox(m, run);
	return run_open_file(run, path, 0, err);
}

int measure_read_opened(struct measure *m, struct run *run, const char *path, struct error *err)
{
	int ret = m->job->begin_other ? m->job->begin_other(m->job, run, err) : 0;

	if (ret == 0)
		ret = read_recording(m, run, path, err);
	return ret == 0 && m->give_up ? -EINTR : ret;
}

int measure_read(struct measure *m, struct run *run, const char *path, struct error *err)
{
	int ret = measure_open(m, run, path, err);

	return ret == 0 ? measure_read_opened(m, run, path, err) : ret;
}

static bool can_read_again(const char *path)
{
	struct stat st;

	return strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static int read_known(struct measure *m, struct run *known, struct error *err)
{
	known->held = m->run.held;
	known->blame = m->run.blame;
	known->heat = m->run.heat;
	known->min_wait_ns = m->o->min_wait_ns;
	measure_sandbox(m, known);
	int ret = run_open(known, m->o, err);

	if (ret == 0)
		ret = read_recording(m, known, m->o->input, err);
	return ret == 0 && m->give_up ? -EINTR : ret;
}

int measure_gate(struct measure *m, struct run *known, const char *filter,
		 struct event_filter **ret, struct error *err)
{
	bool knows = m->run.from_file && event_filter_needs_names(filter);
	int code = 0;

	if (knows && !can_read_again(m->o->input)) {
		cmd_say(m->o,
			"%s cannot be read twice: each wait is judged by the names known when it "
			"ends",
			strcmp(m->o->input, "-") ? m->o->input : "standard input");
		knows = false;
	}
	if (knows)
		code = read_known(m, known, err);
	return code < 0 ? code
			: event_filter_new(ret, &m->run.engine, knows ? &known->engine : NULL,
					   filter, err);
}

static void say_start(const struct measure *m)
{
	const struct live_info *i = &m->run.info;
	char what[256], time[UNITS_BUF];

	if (*i->note)
		cmd_say(m->o, "%s", i->note);
	if (m->o->verbose && m->deadline_ns && !m->o->duration_ns)
		cmd_say(m->o, "looking once: --duration measures, and gives rates");
	else if (m->o->verbose)
		cmd_say(m->o, "measuring %s%s%s with %u rings of %u pages",
			target_describe(&m->run.target, what, sizeof(what)),
			m->deadline_ns ? " for " : "",
			m->deadline_ns ? units_ns(time, m->o->duration_ns) : "", i->rings,
			i->ring_pages);
	else if (!m->deadline_ns && !m->o->command && isatty(STDERR_FILENO))
		cmd_say(m->o, "measuring until Ctrl-C");
}

void measure_say_losses(const struct measure *m)
{
	const struct model_damage d = model_damage(m->run.engine.model);

	if (d.lost || d.dropped || d.bad)
		cmd_say(m->o, "%llu records were lost, dropped or not readable: events are missing",
			(unsigned long long)(d.lost + d.dropped + d.bad));
}

void measure_say_names(const struct measure *m, struct query *q)
{
	const char *note = query_load_note(q);

	if (note)
		cmd_say(m->o, "%s", note);
	size_t n = query_load_n_trusted(q);
	if (n)
		cmd_say(m->o,
			"the names of %zu file%s are trusted by the path alone: nothing shows that "
			"the file is the recorded one",
			n, n == 1 ? "" : "s");
}

void measure_say_no_locks(struct measure *m, const char *hint)
{
	const struct query q = {.engine = &m->run.engine};

	if (!m->run.from_file || !m->run.engine.model->no_locks)
		return;
	m->no_data = true;
	if (query_no_locks_but_profile(&q))
		cmd_say(m->o, "%s has no lock events, so the output is empty: %s", m->o->input,
			hint);
	else
		cmd_say(m->o, "%s has no lock events, and no profile: the output is empty",
			m->o->input);
}

static int exit_status(const struct measure *m, int command)
{
	if (command >= 0)
		return command;
	if (!m->signal || m->job->every ||
	    (m->signal == SIGINT && !m->deadline_ns && !m->o->command))
		return m->no_data ? CMD_EXIT_NO_DATA : CMD_EXIT_OK;
	return CMD_EXIT_SIGNAL + m->signal;
}

static int failed(const struct measure *m, int ret, const struct error *err)
{
	if (ret == -EPIPE)
		return CMD_EXIT_SIGNAL + SIGPIPE;
	if (ret == -ENODATA && m->no_data)
		return cmd_fail(CMD_EXIT_NO_DATA, err);
	return cmd_fail(ret == -EINVAL ? CMD_EXIT_USAGE : CMD_EXIT_FAILURE, err);
}

static int start(struct measure *m, struct measure_job *j, struct error *err)
{
	if (j->many)
		return 0;
	m->run.held = j->held;
	m->run.blame = j->blame;
	m->run.heat = j->heat;
	m->run.min_wait_ns = m->o->min_wait_ns;
	m->run.trigger_ns = caught_floor_ns(m->o);
	int ret = run_open(&m->run, m->o, err);

	if (ret == 0 && j->begin)
		ret = j->begin(j, m, err);
	if (ret == 0)
		ret = run_start(&m->run, err);
	if (ret < 0)
		return ret;
	if (m->run.from_file)
		return read_recording(m, &m->run, m->o->input, err);
	if (m->o->duration_ns || (j->look && !m->o->command && !m->o->time))
		m->deadline_ns = clock_now_ns() + m->o->duration_ns;
	say_start(m);
	return pump_range(m, &m->run, NULL, err);
}

/* The output blocks, and a signal has come: no message could be written. */
static int given_up(struct measure *m)
{
	take_signals(m, &m->run);
	return CMD_EXIT_SIGNAL + m->signal;
}

/* A file is whole only then; what was sent may have been answered by more than that. */
static int commit(struct measure *m, struct error *err)
{
	struct error said = {0};
	int ret = output_commit(&m->output, &said);

	if (ret > 0)
		cmd_say(m->o, "%s", said.text);
	else if (ret < 0)
		*err = said;
	return ret < 0 ? ret : 0;
}

/* The kernel's answers are failures, whatever their number: only -EPIPE is not. */
static int run_job(struct measure *m, struct measure_job *j, struct error *err)
{
	int ret = start(m, j, err);

	if (ret < 0 && atomic_load(&m->stall.cut))
		return given_up(m);
	if (ret < 0 && m->give_up)
		return CMD_EXIT_SIGNAL + m->signal;
	if (ret < 0 && m->bad_usage)
		return cmd_fail(CMD_EXIT_USAGE, err);
	if (ret < 0)
		return ret == -EPIPE ? failed(m, ret, err) : cmd_fail(CMD_EXIT_FAILURE, err);
	int command = run_command_status(&m->run);
	if (m->give_up)
		return CMD_EXIT_SIGNAL + m->signal;
	ret = j->finish(j, m, err);
	/* A signal that came meanwhile has ended the search for names. */
	take_signals(m, &m->run);
	if (m->give_up)
		return CMD_EXIT_SIGNAL + m->signal;
	if (ret == 0 && m->output.file && !atomic_load(&m->stall.cut))
		ret = commit(m, err);
	if (atomic_load(&m->stall.cut))
		return given_up(m);
	return ret < 0 ? failed(m, ret, err) : exit_status(m, command);
}

int measure_run(const struct opts *o, struct measure_job *j)
{
	struct measure m = {.o = o, .job = j, .signal_fd = -1};
	struct error err = {0}, end = {0};
	int status = CMD_EXIT_FAILURE;
	int ret = run_target(&m.run, o, &err);

	if (ret < 0) {
		status = failed(&m, ret, &err);
	} else {
		ret = begin(&m, j, &err);
		if (ret == -EINTR)
			take_signals(&m, &m.run);
		stall_watch(&m.stall, m.output.file ? fileno(m.output.file) : STDOUT_FILENO);
		status = ret == -EINTR && m.signal ? CMD_EXIT_SIGNAL + m.signal
			 : ret < 0		   ? cmd_fail(CMD_EXIT_FAILURE, &err)
						   : run_job(&m, j, &err);
	}
	output_close(&m.output);
	if (j->end)
		j->end(j);
	if (run_close(&m.run, &end) < 0)
		status = cmd_fail(CMD_EXIT_FAILURE, &end);
	if (stall_stop(&m.stall))
		status = CMD_EXIT_SIGNAL + (m.signal ? m.signal : SIGTERM);
	if (m.signal_fd >= 0)
		close(m.signal_fd);
	sandboxed_leave(&m.sandboxed);
	return status;
}
