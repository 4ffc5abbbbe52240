// SPDX-License-Identifier: GPL-2.0-only
/*
 * Builds the pipe: options -> target -> live source or recording -> engine. The demo workload is
 * forked before the source starts its thread, so that the child is a plain single-threaded process,
 * and ends with us whatever happens, since it asks the kernel for a signal at our end.
 */
#include "kontend/run.h"
#include "kontend/bpf-memory.h"
#include "kontend/clock.h"
#include "kontend/collector.h"
#include "kontend/demo.h"
#include "kontend/history.h"
#include "kontend/kerntypes.h"
#include "kontend/limits.h"
#include "kontend/mmlevel.h"
#include "kontend/nsview.h"
#include "kontend/pidns.h"
#include "kontend/privs.h"
#include "kontend/reader.h"
#include "kontend/rights.h"
#include "kontend/snapshot-uprobes.h"
#include "kontend/sysinfo.h"
#include "kontend/uprobe-attach.h"
#include "kontend/uprobe.h"
#include "kontend/when.h"
#include "run-parts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Standard output that a program reads may have nothing else in it. */
static bool is_for_programs(const struct opts *o)
{
	if (o->output && strcmp(o->output, "-"))
		return false;
	return (o->verb == VERB_RECORD && o->output) || o->verb == VERB_EXPORT ||
	       (o->format && strcmp(o->format, "text"));
}

int run_target(struct run *r, const struct opts *o, struct error *err)
{
	struct target *t = &r->target;
	int ret = 0;

	if (o->input)
		return 0;
	if (o->cpus)
		ret = target_parse_cpus(t, o->cpus, err);
	if (ret == 0 && o->pids)
		ret = target_parse_ids(t, TARGET_PIDS, o->pids, err);
	if (ret == 0 && o->tids)
		ret = target_parse_ids(t, TARGET_TIDS, o->tids, err);
	if (ret == 0 && o->cgroup)
		ret = target_set_cgroup(t, o->cgroup, err);
	for (size_t i = 0; ret == 0 && i < OPTS_LIST_MAX && o->probes[i]; i++) {
		struct uprobe_spec s;
		ret = uprobe_spec_parse(o->probes[i], &s, err);
	}
	if (ret == 0 && o->mux_interval)
		ret = mux_parse(&r->mux, o->mux_interval, err);
	if (ret == 0 && o->command) {
		t->kind = o->all_cpus ? TARGET_SYSTEM : TARGET_COMMAND;
		t->command = o->command;
		t->output_apart = is_for_programs(o);
	}
	return ret;
}

enum { LIVE_HZ = 499, PUMP_WAIT_MS = 100 };
enum { LIVE_MEMORY = 128 << 20, SCREEN_MEMORY = 32 << 20, WATCH_MEMORY = 64 << 20 };

/*
 * A user who has just started kontend live waits for the first names; some samples are enough for
 * that.
 */
static const uint64_t FIRST_TICK_NS = 25000000;
static const uint64_t MIN_SLEEP_NS = 100000; /* by default */
static const uint64_t MIN_USER_NS = 50000;
/* Of each CPU, unless call chains of programs are asked for. */
enum { USER_FRAMES_PPM = 3000 };
static const uint64_t WAIT_STEP_NS = 100000000;
/* Before the time of --start-at: as long as programs and events usually take to be opened. */
static const uint64_t OPENING_NS = 1000000000;
static const uint64_t SWITCHES_NS = 100000000; /* of each second, by default */

static _Noreturn void demo_child(void)
{
	struct demo_options d = {.ready = rights_give_up};
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	_exit(demo_run(&d, NULL) < 0);
}

static int start_demo(struct run *r, struct error *err)
{
	pid_t pid = fork();

	if (pid < 0)
		return error_errno(err, -errno, "Cannot fork for the demo workload");
	if (pid == 0)
		demo_child();
	r->demo = pid;
	return 0;
}

/* There are threads, and descriptors that a fork would keep: so it is a process of its own. */
int run_demo(struct run *r, struct error *err)
{
	char name[] = "kontend", verb[] = "demo", quiet[] = "--quiet";
	char *argv[] = {name, verb, quiet, NULL};
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none;

	if (r->demo)
		return 0;
	sigemptyset(&none);
	if (posix_spawn_file_actions_init(&files))
		return error_enomem(err, "the demo workload");
	if (posix_spawnattr_init(&attr)) {
		posix_spawn_file_actions_destroy(&files);
		return error_enomem(err, "the demo workload");
	}
	int code = posix_spawnattr_setsigmask(&attr, &none);
	code = code ? code : posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	for (int fd = 0; fd < 3 && !code; fd++)
		code = posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
	if (!code)
		code = posix_spawn(&r->demo, "/proc/self/exe", &files, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	if (code)
		r->demo = 0;
	return code ? error_errno(err, -code, "Cannot start the demo workload") : 0;
}

static void stop_demo(struct run *r)
{
	if (!r->demo)
		return;
	kill(r->demo, SIGTERM);
	/* A ^Z may have stopped it, too. */
	kill(r->demo, SIGCONT);
	while (waitpid(r->demo, NULL, 0) < 0 && errno == EINTR)
		;
	r->demo = 0;
}

/* Symbols take a moment to read: now, and not while events are waiting. */
static int read_prologue(struct run *r, struct error *err)
{
	int ret, before = collector_hurry();

	do {
		ret = engine_pump(&r->engine, 0, err);
	} while (ret == 0);
	collector_relax(before);
	return ret < 0 ? ret : 0;
}

/* Is there anything that shows or keeps what the inspector sees? */
static bool looks(const struct opts *o)
{
	return o->verb == VERB_LIVE || o->verb == VERB_REPORT || o->verb == VERB_RECORD;
}

/* A screen samples by default, to show where time goes; files have only what options ask for. */
static uint32_t profile_hz(const struct opts *o)
{
	if (o->freq != OPTS_FREQ_DEFAULT)
		return (uint32_t)o->freq;
	return o->verb == VERB_LIVE ? LIVE_HZ : 0;
}

/*
 * May measuring begin before the programs of snapshots are loaded? On a screen, unless something
 * that was asked for needs them from the first event on.
 */
static bool come_late(const struct opts *o)
{
	return o->verb == VERB_LIVE && !o->command && !o->probes[0] && !o->creations &&
	       !o->phases && !o->sleeps;
}

/* In whose memory probes are placed: of those that are measured, or of all. */
static int place_probes(struct run *r, const struct opts *o, struct error *err)
{
	struct snapshot_uprobes *u = o->probes[0] ? run_snapshots_uprobes(r->snapshots) : NULL;
	pid_t child = r->target.kind == TARGET_COMMAND ? live_child_pid(r->source) : 0;
	struct uprobe_attach_options p = {.specs = o->probes,
					  .pids = child ? &child : r->target.ids,
					  .n_pids = child ? 1 : r->target.n_ids,
					  .command = child ? *o->command : NULL};

	if (!u)
		return 0;
	while (p.n_specs < OPTS_LIST_MAX && o->probes[p.n_specs])
		p.n_specs++;
	p.count = !snapshot_uprobes_reads_hits(u);
	int code = uprobe_attach_new(&r->placed, &p, err);
	if (code == 0)
		snapshot_uprobes_own(u, r->placed);
	return code;
}

/* Steps that need the process that runs the command, now that it exists. */
static int meet_child(struct run *r, const struct opts *o, struct error *err)
{
	bool needs_snapshots = r->target.kind == TARGET_COMMAND || o->probes[0];
	int code = needs_snapshots ? run_snapshots_wait(r->snapshots, r->source, err) : 0;

	if (code < 0)
		return code;
	if (r->target.kind == TARGET_COMMAND) {
		r->target.child = live_child_pid(r->source);
		run_snapshots_child(r->snapshots, r->target.child);
	}
	return place_probes(r, o, err);
}

/* Reports an interval of rotation that a killed kontend has changed and not restored. */
static void say_left(struct live_info *i)
{
	struct mux_left left;
	size_t n = strlen(i->note);
	char text[160];

	if (!mux_find_left(&mux_system, &left, 1))
		return;
	snprintf(i->note + n, sizeof(i->note) - n, "%s%s: 'kontend doctor --repair' restores it",
		 n ? "; " : "", mux_left_text(&left, text, sizeof(text)));
}

static uint64_t asked_bytes(const struct opts *o)
{
	return o->mmap_pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* The rings of waits have bounds of their own. */
static void say_rings(const struct run *r, const struct opts *o, struct live_info *i)
{
	const struct feed *feed = waitfeed_feed(r->waits);
	uint64_t asked = asked_bytes(o);
	size_t n = strlen(i->note);

	if (!asked || !feed || !feed->waits || feed->ring_bytes == asked)
		return;
	snprintf(i->note + n, sizeof(i->note) - n,
		 "%sBPF writes waits into rings of %u KiB a CPU, not of %" PRIu64 " KiB",
		 n ? "; " : "", feed->ring_bytes / 1024, asked / 1024);
}

/* A report as text has it in its head. */
static void say_refused(const struct run *r, const struct opts *o, struct live_info *i)
{
	bool is_text = o->verb == VERB_REPORT && !o->separator && !o->annotate &&
		       (!o->format || !strcmp(o->format, "text"));
	size_t n = strlen(i->note);

	if (r->refused.code && !is_text)
		snprintf(i->note + n, sizeof(i->note) - n, "%s%s (see 'kontend doctor')",
			 n ? "; " : "", r->refused.text);
}

static void say_all(const struct run *r, const struct opts *o, struct live_info *i)
{
	say_left(i);
	say_rings(r, o, i);
	say_refused(r, o, i);
}

/* -EINVAL: there is no such level, or call paths are not measured. */
static int read_level(const struct opts *o, struct mmlevel_how *ret, struct error *err)
{
	const char *text = o->mmap ? o->mmap : mmlevel_name(MMLEVEL_CONTENDED);

	if (mmlevel_parse(text, ret) < 0)
		return error_set(err, -EINVAL,
				 "--mmap '%s': give contended, sampled, sampled=N with N from 2 to "
				 "%d, or all; append ,paths to one of the last two to "
				 "record call paths",
				 text, MMLEVEL_MOST);
	if (ret->paths && o->no_stack)
		return error_set(err, -EINVAL,
				 "--mmap '%s' needs call chains: leave out --no-stack", text);
	return 0;
}

static int read_callgraph(const struct opts *o, struct callgraph *ret, struct error *err)
{
	*ret = (struct callgraph){CALLGRAPH_FP, 0};
	return o->call_graph ? callgraph_parse(o->call_graph, ret, err) : 0;
}

/* In a PID namespace: the tasks outside. Without these names the screen has gaps. */
static void open_nsview(struct run *r, const struct opts *o, struct kerntypes *types)
{
	struct error why = {0};

	if (!o->no_bpf && pidns_is_inner() && nsview_new(&r->ns, types, &why) < 0)
		r->ns = NULL;
	run_waits_refused(&r->refused, true, &why);
	r->names = r->target.n_ids ? NULL : nsview_names(r->ns);
}

/* Holds are made of them, and no other figure. */
static bool wants_releases(const struct run *r, const struct opts *o)
{
	return o->verb != VERB_EXPORT && (o->verb != VERB_REPORT || r->held);
}

static int load_programs(struct run *r, const struct opts *o, struct error *err)
{
	struct kerntypes *types;
	int code = kerntypes_new(&types, err);

	if (code < 0)
		return code;
	open_nsview(r, o, types);
	if (looks(o))
		code = run_snapshots_new(&r->snapshots, o, &r->target, types, come_late(o), err);
	struct waitfeed_options w = {
		.target = &r->target,
		.ns = r->ns,
		.ring_bytes = asked_bytes(o),
		.releases = wants_releases(r, o),
		.sleeps = o->sleeps,
		.why = o->why,
		.user_ns = run_reports_users(o) ? MIN_USER_NS : 0,
		.min_sleep_ns = o->min_sleep_ns ? o->min_sleep_ns : MIN_SLEEP_NS,
		.holders = r->held || r->blame,
		.user_frames = run_takes_user_frames(o),
		.frames_ppm = o->user_frames ? 0 : USER_FRAMES_PPM,
		.report_ns = r->trigger_ns,
	};
	if (code == 0)
		code = run_waits_new(&r->waits, o, w, types, &r->refused, err);
	run_snapshots_waits(r->snapshots, r->waits, types);
	run_snapshots_load(r->snapshots);
	kerntypes_free(types);
	return code;
}

/* The kernel checks the programs for a quarter of a second of CPU time; see snapshots.c. */
static int open_programs(struct run *r, const struct opts *o, struct error *err)
{
	int before = collector_hurry();

	kallsyms_thread_start(&r->kallsyms);
	int code = load_programs(r, o, err);

	collector_relax(before);
	return code;
}

bool run_sums_up(const struct run *r)
{
	return waitfeed_sums_up(r->waits);
}

static enum drain_policy drain_policy(const struct opts *o)
{
	switch (o->verb) {
	case VERB_RECORD:
		return DRAIN_THROUGHPUT;
	case VERB_REPORT:
	case VERB_EXPORT:
		return DRAIN_REPORT;
	case VERB_LIVE:
		return DRAIN_SCREEN;
	default:
		return DRAIN_EVENTS;
	}
}

/* Those who handle signals have them blocked by now: one that waits to be read ends this. */
static bool is_signalled(void)
{
	sigset_t pending;

	return sigpending(&pending) == 0 &&
	       (sigismember(&pending, SIGINT) || sigismember(&pending, SIGTERM) ||
		sigismember(&pending, SIGHUP) || sigismember(&pending, SIGQUIT));
}

/* Until @until_ns of @clock, which may be set meanwhile. */
static int wait_until(clockid_t clock, uint64_t until_ns, const char *option, struct error *err)
{
	for (uint64_t now; (now = clock_ns(clock)) < until_ns;) {
		uint64_t left = until_ns - now < WAIT_STEP_NS ? until_ns - now : WAIT_STEP_NS;
		const struct timespec t = {.tv_nsec = (long)left};

		nanosleep(&t, NULL);
		if (is_signalled())
			return error_set(err, -EINTR,
					 "A signal came before measuring began (--%s): nothing "
					 "was measured",
					 option);
	}
	return 0;
}

static int wait_first(struct run *r, const struct opts *o, struct error *err)
{
	uint64_t wall = clock_ns(CLOCK_REALTIME);

	if (o->start_after_ns)
		return wait_until(CLOCK_MONOTONIC, clock_now_ns() + o->start_after_ns,
				  "start-after", err);
	if (!o->start_at)
		return 0;
	int ret = when_parse_start(o->start_at, wall, &r->start_wall_ns, err);
	return ret < 0 ? ret
		       : wait_until(CLOCK_REALTIME, r->start_wall_ns - OPENING_NS, "start-at", err);
}

/* With fewer, parts would be missing without a word, and which ones depends on the number. */
static int check_files(struct error *err)
{
	unsigned long long need = sysinfo_files(), limit = sysinfo_raise_files(need);

	if (limit >= need)
		return 0;
	return error_set(err, -EMFILE,
			 "Measuring takes up to %llu open files, more than the limit of %llu open "
			 "files: raise it with 'ulimit -n %llu'",
			 need, limit, need);
}

static struct measure_how how_to_measure(const struct run *r, const struct opts *o,
					 const struct callgraph *callgraph)
{
	return (struct measure_how){
		.ring_pages = (uint32_t)o->mmap_pages,
		.max_stack = (uint32_t)o->max_stack,
		.profile_hz = profile_hz(o),
		.profile_clock = o->event && !strcmp(o->event, "cpu-clock"),
		.callgraph = *callgraph,
		.user_frames = run_takes_user_frames(o),
		.maps = run_unwinds_sleepers(o),
		/* Records that BPF writes are none of perf's. */
		.for_perf = o->verb == VERB_RECORD && !run_sums_up(r),
	};
}

int run_source(struct run *r, const struct opts *o, struct error *err)
{
	int waited = wait_first(r, o, err);

	if (waited < 0)
		return waited;
	/* Before there are descriptors for the demo to inherit. */
	int ret = check_files(err);
	if (ret == 0 && o->realtime)
		ret = collector_try_realtime(err);
	if (ret == 0 && o->demo)
		ret = start_demo(r, err);
	if (ret == 0)
		ret = mux_open(&r->mux, &mux_system, err);
	if (ret == 0)
		ret = open_programs(r, o, err);
	if (ret == 0)
		ret = run_code_new(&r->code, o, err);
	struct mmlevel_how level;
	struct callgraph callgraph;
	if (ret == 0)
		ret = read_level(o, &level, err);
	if (ret == 0)
		ret = read_callgraph(o, &callgraph, err);
	if (ret < 0)
		return ret;
	struct live_options l = {
		.how = how_to_measure(r, o, &callgraph),
		.releases = wants_releases(r, o),
		.mmap = &level,
		.target = r->target,
		.snapshots = run_snapshots_first(r->snapshots),
		.tick_ns = o->delay_ns,
		.first_tick_ns = o->verb == VERB_LIVE ? FIRST_TICK_NS : 0,
		.no_stack = o->no_stack,
		.realtime = o->realtime,
		.policy = drain_policy(o),
		.tick = o->tick,
		.feed = waitfeed_feed(r->waits),
		.names = r->names,
		.bpf_maps = bpf_memory_loaded,
		.kallsyms = &r->kallsyms,
		.switches_ns = o->no_switches	? 0
			       : o->switches_ns ? o->switches_ns
						: SWITCHES_NS,
		.switches_asked = o->switches_ns != 0,
		.refused = r->refused.text,
	};
	ret = live_new(&r->source, &l, &r->info, err);
	if (ret == 0 && r->waits)
		ret = run_attach_new(&r->attach, r->waits, live_child_pid(r->source), err);
	if (ret == 0)
		ret = meet_child(r, o, err);
	if (ret == 0)
		say_all(r, o, &r->info);
	return ret;
}

uint64_t run_memory(uint64_t asked, bool from_file)
{
	if (asked)
		return asked;
	return from_file ? sysinfo_memory() / 4 : LIVE_MEMORY;
}

uint64_t run_backlog(uint64_t asked)
{
	return (asked ? asked : WATCH_MEMORY) / 4;
}

struct lock_requests *run_lock_requests(const struct run *r)
{
	return run_snapshots_requests(r->snapshots);
}

static uint64_t memory_of(const struct run *r)
{
	if (r->memory || r->from_file || !(r->remember || r->watches))
		return run_memory(r->memory, r->from_file);
	return r->remember ? SCREEN_MEMORY : WATCH_MEMORY;
}

/*
 * On r->source, which run_close() takes care of also when this fails. A session that is remembered
 * is one with a screen, for as long as a user likes: three eighths of its memory are for the model,
 * two for copies of it, one for records, and two for the symbols of programs. Of a recorder four
 * are for the model, two for records from before an incident, and two for symbols.
 */
static int open_engine(struct run *r, struct error *err)
{
	uint64_t memory = memory_of(r), part = memory / 8;
	const struct history_options remembered = {.bytes = part, .model_bytes = 2 * part};
	struct model_limits limits = r->remember  ? model_limits_live(3 * part)
				     : r->watches ? model_limits_watch(4 * part)
						  : model_limits_of(memory);
	struct source *top = r->source;

	if (r->held)
		limits.held = model_limits_held(memory);
	if (r->blame)
		limits.blame = model_limits_held(memory);
	if (r->heat)
		limits.heat = model_limits_heat(memory);
	int ret = r->remember ? history_new(&top, r->source, &remembered, err) : 0;

	if (ret == 0 && r->wrap)
		ret = r->wrap(r->wrap_ctx, &top, err);
	if (ret == 0)
		ret = engine_init(&r->engine, top, &limits, err);
	r->opened = ret == 0;
	if (r->opened)
		r->engine.model->min_wait_ns = run_sums_up(r) ? 0 : r->min_wait_ns;
	r->engine.lock_requests = run_snapshots_requests(r->snapshots);
	r->engine.code = r->open ? run_code_none() : run_code_source(r->code);
	if (r->from_file)
		r->engine.recorded_code = reader_code(r->source);
	r->lines.argv = srclines_worker_argv;
	r->engine.groups = r->groups;
	if (r->from_file && r->opened)
		engine_choose_events(&r->engine, r->events, false);
	r->engine.lines = &r->lines;
	r->engine.sandbox = r->sandbox;
	r->engine.keep_symbols = r->keep_symbols;
	r->engine.symbols_most = r->remember || r->watches ? 2 * part : 0;
	r->engine.symfs = r->symfs;
	r->engine.trust_paths = r->trust_paths;
	if (ret < 0 && top != r->source) {
		source_free(top);
		r->source = NULL; /* went with it */
	}
	return ret;
}

int run_open_file(struct run *r, const char *path, uint64_t tick_ns, struct error *err)
{
	struct reader_options options = {.path = path,
					 .tick_ns = tick_ns,
					 .open = r->open,
					 .open_ctx = r->open_ctx,
					 .symbols = r->symbols};
	int ret = reader_new(&r->source, &options, err);

	r->from_file = true;
	return ret < 0 ? ret : open_engine(r, err);
}

int run_open(struct run *r, const struct opts *o, struct error *err)
{
	int ret = 0;

	r->lines.no_inline = o->no_inline;
	r->lines.fetch_argv = o->debuginfod ? srclines_fetch_argv : NULL;
	r->keep_symbols = !o->no_symbol_cache;
	r->groups = o->groups;
	r->symbols = opts_symbols(o);
	r->symfs = o->symfs;
	r->trust_paths = o->trust_paths;
	r->events = o->event;
	r->memory = o->memory;
	r->watches = o->verb == VERB_RECORD;
	if (o->input) {
		ret = r->open ? 0 : run_code_new(&r->code, o, err);
		return ret < 0 ? ret : run_open_file(r, o->input, o->delay_ns, err);
	}
	ret = run_source(r, o, err);
	if (ret == 0)
		ret = open_engine(r, err);
	return ret < 0 ? ret : read_prologue(r, err);
}

/* With what privileges are left. Where it cannot be had, it is not asked for: run_waits_new(). */
static int follow_holders(struct run *r, struct error *err)
{
	return waitfeed_can_follow(r->waits, NULL) < 0 ? 0 : waitfeed_follow(r->waits, err);
}

int run_start(struct run *r, struct error *err)
{
	if (r->from_file)
		return 0;
	/*
	 * All is open, or a thread that has the privileges opens it, and the command is forked.
	 * Threads that start from here on have what is left.
	 */
	int ret = run_attach_end(r->attach, err);
	r->attach = NULL;
	if (ret == 0)
		ret = run_snapshots_wait(r->snapshots, r->source, err);
	if (ret == 0)
		ret = mux_set(&r->mux, err);
	if (ret == 0)
		ret = privs_drop(err);
	if (ret == 0)
		ret = wait_until(CLOCK_REALTIME, r->start_wall_ns, "start-at", err);
	if (ret == 0)
		ret = live_start(r->source, err);
	if (ret == 0)
		ret = waitfeed_govern(r->waits, err);
	return ret < 0 ? ret : follow_holders(r, err);
}

/* How long to sleep, with a deadline or without. */
static int pump_wait_ms(uint64_t now, uint64_t deadline_ns)
{
	uint64_t ms = PUMP_WAIT_MS;

	if (deadline_ns && (deadline_ns - now) / 1000000 + 1 < ms)
		ms = (deadline_ns - now) / 1000000 + 1;
	return (int)ms;
}

int run_pump(struct run *r, int until_fd, uint64_t deadline_ns, struct error *err)
{
	int ret = 0;

	while (ret >= 0 && ret != ENGINE_END) {
		struct pollfd p[] = {{.fd = until_fd, .events = POLLIN},
				     {.fd = source_fd(r->engine.source), .events = POLLIN}};
		uint64_t now = clock_now_ns();

		if (deadline_ns && now >= deadline_ns)
			return 0;
		poll(p, 2, ret == ENGINE_IDLE ? pump_wait_ms(now, deadline_ns) : 0);
		if (p[0].revents)
			return 0;
		ret = engine_pump(&r->engine, 0, err);
	}
	return ret < 0 ? ret : 0;
}

void run_stop(struct run *r)
{
	if (r->from_file)
		return;
	waitfeed_unfollow(r->waits);
	live_stop(r->source);
}

int run_command_status(struct run *r)
{
	if (!r->command_ended && r->source && !r->from_file &&
	    live_child(r->source, &r->command_status) == 1)
		r->command_ended = true;
	if (!r->command_ended)
		return -1;
	return WIFSIGNALED(r->command_status) ? 128 + WTERMSIG(r->command_status)
					      : WEXITSTATUS(r->command_status);
}

int run_close(struct run *r, struct error *err)
{
	if (r->opened)
		engine_deinit(&r->engine);
	else
		source_free(r->source);
	run_snapshots_free(r->snapshots);
	uprobe_attach_free(r->placed);
	run_attach_end(r->attach, NULL);
	waitfeed_free(r->waits);
	nsview_free(r->ns);
	kallsyms_thread_deinit(&r->kallsyms);
	run_code_free(r->code);
	stop_demo(r);
	target_deinit(&r->target);
	int ret = mux_close(&r->mux, err);
	*r = (struct run){0};
	return ret;
}
