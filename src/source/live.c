// SPDX-License-Identifier: GPL-2.0-only
/*
 * The live source: the open events, the queue, the collector that fills it and the measured
 * command, as one source. The order of setting up matters. The command is forked first: events are
 * opened on its pid, and a process with threads should not fork. The dummy event is switched on
 * before /proc is read, so that no new task is missed between the two. The contention events are
 * switched on after that, as the rings are not drained while /proc is read.
 */
#include "kontend/live.h"
#include "kontend/clock.h"
#include "kontend/collector.h"
#include "kontend/mem.h"
#include "kontend/tracefs.h"
#include "live-internal.h"
#include "workload.h"
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>

/* Of the queue by default: so much, and more for each ring, as more CPUs fill it at a time. */
enum { QUEUE_BYTES = 16 << 20, QUEUE_RING_BYTES = 1 << 20, QUEUE_MOST_BYTES = 64 << 20 };
enum { MOST_WAKE = 1 << 20 };

static const uint64_t DEFAULT_TICK_NS = 1000000000u;
static const uint64_t MIN_TICK_NS = 10000000u;
static const uint64_t SWITCHES_NS = 1000000000u; /* from one burst of switches to the next */

struct live {
	struct source source;
	struct queue *queue;
	struct perf_session *session;
	struct workload workload;
	struct collector collector;
	struct tracepoint release; /* id 0: the kernel has none, or it is not requested */
	struct live_timers timers;
	struct live_mmap mmap;
	struct procfs_task *tasks; /* of the target */
	size_t n_tasks;
	char **command;			     /* borrowed */
	const struct sideband_source *names; /* borrowed, or NULL */
	bool on_exec;			     /* the events start with the command's exec */
	atomic_bool failed;		     /* `why` is set, and the queue is closed */
	struct error why;
	bool cgroups;
};

static struct live *live_of(struct source *s)
{
	return (struct live *)s;
}

static int live_next(struct source *s, int timeout_ms, struct record *ret, struct error *err)
{
	struct live *l = live_of(s);
	struct pollfd p = {.fd = queue_fd(l->queue), .events = POLLIN};
	int r = queue_pop(l->queue, ret);

	if (r == QUEUE_EMPTY && timeout_ms != 0 && poll(&p, 1, timeout_ms) > 0)
		r = queue_pop(l->queue, ret);
	if (r == QUEUE_END && atomic_load(&l->failed))
		return error_set(err, l->why.code, "%s", l->why.text);
	return r == QUEUE_END ? SOURCE_END : r == QUEUE_EMPTY ? SOURCE_IDLE : 0;
}

static void live_release(struct source *s, struct record *r)
{
	queue_release(live_of(s)->queue, r);
}

static int live_fd(struct source *s)
{
	return queue_fd(live_of(s)->queue);
}

static uint64_t tick_or_default(uint64_t tick_ns)
{
	if (!tick_ns)
		return DEFAULT_TICK_NS;
	return tick_ns < MIN_TICK_NS ? MIN_TICK_NS : tick_ns;
}

static void live_set_tick(struct source *s, uint64_t tick_ns)
{
	collector_set_tick(&live_of(s)->collector, tick_or_default(tick_ns));
}

static void live_tick_now(struct source *s)
{
	collector_tick_now(&live_of(s)->collector);
}

static void live_free(struct source *s)
{
	struct live *l = live_of(s);

	collector_deinit(&l->collector);
	workload_deinit(&l->workload);
	perf_session_close(l->session);
	tracepoint_deinit(&l->release);
	live_timers_deinit(&l->timers);
	live_mmap_deinit(&l->mmap);
	queue_free(l->queue);
	mem_free(l->tasks);
	mem_free(l);
}

static const struct source_ops live_ops = {
	.next = live_next,
	.release = live_release,
	.fd = live_fd,
	.set_tick = live_set_tick,
	.tick_now = live_tick_now,
	.free = live_free,
};

/* Notes the identity of the target's tasks, so that their end is known. */
static int identify_tasks(struct live *l, const struct target *t, struct error *err)
{
	if (t->kind != TARGET_PIDS && t->kind != TARGET_TIDS)
		return 0;
	l->tasks = mem_calloc(t->n_ids ? t->n_ids : 1, sizeof(*l->tasks));
	if (!l->tasks)
		return error_enomem(err, "the list of target tasks");
	for (size_t i = 0; i < t->n_ids; i++) {
		if (procfs_identify("/proc", t->ids[i], &l->tasks[i]) < 0)
			return error_set(err, -ESRCH,
					 "There is no task %d any more: see 'ps -eLo pid,tid,comm'",
					 t->ids[i]);
		l->n_tasks++;
	}
	return 0;
}

/*
 * Other readers of a recording find the tables for unwinding by the mappings of data; kontend finds
 * the files.
 */
static bool wants_data_maps(const struct live_options *o)
{
	return o->how.for_perf && o->how.profile_hz && o->how.callgraph.mode == CALLGRAPH_DWARF;
}

static int open_session(struct live *l, const struct live_options *o, const struct tracepoint *tp,
			struct live_info *info, struct error *err)
{
	struct perf_session_options po = {
		.target = &o->target,
		.command = l->workload.pid,
		.how = o->how,
		.wanted = {.begin_id = tp[PERF_BEGIN].id,
			   .end_id = tp[PERF_END].id,
			   .release_id = l->release.id,
			   .timer_entry_id = l->timers.entry.id,
			   .timer_exit_id = l->timers.exit.id,
			   .data_maps = wants_data_maps(o),
			   .few_wakeups = o->policy == DRAIN_THROUGHPUT},
		.timer_offset = live_timers_offset(&l->timers),
		.feed = o->feed,
		.filter = o->event_filter,
	};

	po.how.max_stack = live_max_stack(o->no_stack, o->how.max_stack);
	po.how.user_frames = o->how.user_frames && po.how.max_stack;
	po.wanted.user_chain = po.how.user_frames && !(o->feed && o->feed->frames);
	live_mmap_options(&l->mmap, &po);
	return perf_session_open(&l->session, &po, info, err);
}

/* Kernels before 7.x have none; that is not reported. */
static void read_release(struct live *l, const char *tracefs)
{
	struct error none;

	if (tracepoint_read(&l->release, tracefs, "lock", "contended_release", &none) < 0)
		l->release = (struct tracepoint){0};
}

static int read_tracepoints(struct live *l, const struct live_options *o, struct tracepoint *tp,
			    struct error *err)
{
	char path[TRACEFS_PATH];
	int r = tracefs_find(path, err);

	if (r == 0)
		r = tracepoint_read(&tp[PERF_BEGIN], path, "lock", "contention_begin", err);
	if (r == 0)
		r = tracepoint_read(&tp[PERF_END], path, "lock", "contention_end", err);
	if (r == 0 && o->releases && !(o->feed && o->feed->waits))
		read_release(l, path);
	if (r == 0) {
		live_timers_read(&l->timers, path);
		live_mmap_read(&l->mmap, path);
	}
	return r;
}

static size_t queue_room(size_t rings)
{
	size_t n = QUEUE_BYTES + rings * QUEUE_RING_BYTES;

	return n < QUEUE_MOST_BYTES ? n : QUEUE_MOST_BYTES;
}

static int set_up(struct live *l, const struct live_options *o, struct tracepoint *tp,
		  struct live_info *info, struct error *err)
{
	size_t queue_bytes = o->queue_bytes;
	int r = read_tracepoints(l, o, tp, err);

	if (r == 0)
		r = identify_tasks(l, &o->target, err);
	if (r == 0 && o->target.command)
		r = workload_fork(&l->workload, o->target.command, o->target.output_apart, err);
	if (r == 0)
		r = open_session(l, o, tp, info, err);
	if (r == 0 && !queue_bytes)
		queue_bytes = queue_room(perf_session_rings(l->session));
	if (r == 0)
		r = queue_new(&l->queue, queue_bytes, err);
	if (r < 0)
		return r;
	if (o->policy != DRAIN_EVENTS)
		queue_set_wake(l->queue,
			       queue_bytes / 16 < MOST_WAKE ? queue_bytes / 16 : MOST_WAKE);
	struct live_prologue p = {
		.queue = l->queue,
		.session = l->session,
		.target = &o->target,
		.begin = &tp[PERF_BEGIN],
		.end = &tp[PERF_END],
		.release = &l->release,
		.timers = &l->timers,
		.mmap = &l->mmap,
		.refused = o->refused,
		.kallsyms = o->kallsyms,
	};
	return live_prologue_put(&p, err);
}

/* Of the kernel. */
static void note_memory(struct drain *d, const struct live_options *o)
{
	d->bpf_maps = o->bpf_maps;
	d->cost.bpf_rings = o->feed && o->feed->waits ? d->n_rings * o->feed->cpu_bytes : 0;
	for (size_t i = 0; i < d->n_rings; i++)
		d->cost.perf_rings += d->rings[i].ring.size;
}

static int init_collector(struct live *l, const struct live_options *o, struct error *err)
{
	struct collector *c = &l->collector;
	struct drain *d = &c->drain;

	c->queue = l->queue;
	d->session = l->session;
	d->tasks = l->tasks;
	d->n_tasks = l->n_tasks;
	d->snapshots = live_timers_look(&l->timers, o->snapshots);
	if (l->timers.on && o->switches_ns) {
		d->switches = (struct burst){.len_ns = o->switches_ns, .every_ns = SWITCHES_NS};
		d->switch_ps = live_cost_switch_ps();
	}
	d->switches_asked = o->switches_asked;
	d->mmaps = live_mmap_burst(&l->mmap);
	d->mmap_how = l->mmap.how;
	live_mmap_count(&l->mmap, &o->target, l->workload.pid);
	d->mmap_count = &l->mmap.count;
	d->pidfd = l->workload.pid ? l->workload.pidfd : -1;
	d->policy = o->policy;
	d->cpu_wide = o->target.kind == TARGET_SYSTEM || o->target.kind == TARGET_CGROUP;
	atomic_init(&c->tick_asked, false);
	atomic_init(&c->tick_ns, tick_or_default(o->tick_ns));
	c->first_tick_ns = o->first_tick_ns;
	c->realtime = o->realtime;
	int code = collector_init(c, err);
	if (code == 0)
		note_memory(d, o);
	return code;
}

int live_new(struct source **ret, const struct live_options *o, struct live_info *ret_info,
	     struct error *err)
{
	struct tracepoint tp[PERF_DUMMY] = {0};
	struct live_info info = {0};
	struct live *l = mem_calloc(1, sizeof(*l));

	if (!l)
		return error_enomem(err, "the live source");
	l->source.ops = &live_ops;
	l->command = o->target.command;
	l->names = o->names;
	l->timers.tick = o->tick;
	if (o->mmap)
		l->mmap.how = *o->mmap;
	l->on_exec = o->target.kind == TARGET_COMMAND;
	int r = set_up(l, o, tp, &info, err);
	if (r == 0)
		r = init_collector(l, o, err);
	tracepoint_deinit(&tp[PERF_BEGIN]);
	tracepoint_deinit(&tp[PERF_END]);
	l->cgroups = !info.no_cgroup;
	if (r < 0) {
		live_free(&l->source);
		return r;
	}
	if (ret_info)
		*ret_info = info;
	*ret = &l->source;
	return 0;
}

static int say_start(struct live *l, struct error *err)
{
	uint64_t now = clock_now_ns();
	int r = queue_put_always(l->queue, RECORD_START, 0, &now, sizeof(now));
	return r < 0 ? error_enomem(err, "the records before the event stream") : 0;
}

static void enable_output(struct live *l)
{
	if (perf_session_has(l->session, PERF_OUTPUT))
		perf_session_enable(l->session, PERF_OUTPUT);
}

/* Switches the events on, after the records of existing tasks. */
static int begin(struct live *l, struct error *err)
{
	if (l->on_exec) {
		live_timers_enable(&l->timers, l->session);
		enable_output(l);
		return say_start(l, err);
	}
	perf_session_enable(l->session, PERF_DUMMY);
	struct live_prologue_tasks t = {
		.tasks = l->tasks,
		.n = l->n_tasks,
		.cgroups = l->cgroups,
		.names = l->names,
		.maps = perf_session_attr(l->session, PERF_DUMMY)->mmap,
		.data_maps = perf_session_has(l->session, PERF_PROFILE) &&
			     perf_session_attr(l->session, PERF_DUMMY)->mmap_data,
	};
	int r = live_prologue_tasks(l->queue, l->session, &t, err);
	if (r == 0)
		r = say_start(l, err);
	if (r < 0)
		return r;
	if (!perf_session_is_fed(l->session)) {
		perf_session_enable(l->session, PERF_BEGIN);
		perf_session_enable(l->session, PERF_END);
	}
	if (perf_session_has(l->session, PERF_RELEASE))
		perf_session_enable(l->session, PERF_RELEASE);
	if (perf_session_has(l->session, PERF_PROFILE))
		perf_session_enable(l->session, PERF_PROFILE);
	enable_output(l);
	live_timers_enable(&l->timers, l->session);
	live_mmap_enable(&l->mmap, l->session);
	return 0;
}

int live_start(struct source *s, struct error *err)
{
	struct live *l = live_of(s);
	int r = begin(l, err);

	if (r == 0)
		r = collector_start(&l->collector, err);
	if (r == 0 && l->workload.pid)
		r = workload_go(&l->workload, l->command, err);
	return r;
}

void live_stop(struct source *s)
{
	collector_stop(&live_of(s)->collector);
}

void live_fail(struct source *s, const struct error *why)
{
	struct live *l = live_of(s);

	l->why = *why;
	atomic_store(&l->failed, true);
	queue_close(l->queue);
}

void live_take_over(struct source *s)
{
	collector_pause(&live_of(s)->collector);
}

int live_drain(struct source *s, const struct drain_sink *sink, int fd, uint64_t most_ns,
	       bool *ret_ready)
{
	struct collector *c = &live_of(s)->collector;
	const int fds[2] = {fd, -1};
	bool end = collector_is_stopping(c);

	*ret_ready = false;
	if (!end) {
		*ret_ready = drain_wait(&c->drain, fds, most_ns) != 0;
		end = drain_step(&c->drain, sink);
	}
	if (!end)
		return 0;
	drain_finish(&c->drain, sink);
	return SOURCE_END;
}

int live_give_back(struct source *s, struct error *err)
{
	return collector_start(&live_of(s)->collector, err);
}

int live_counts(struct source *s, bool end, struct perf_counts *ret)
{
	struct live *l = live_of(s);

	if (end)
		perf_session_disable_all(l->session);
	return drain_counts(&l->collector.drain, ret);
}

int live_child(struct source *s, int *ret_status)
{
	return workload_ended(&live_of(s)->workload, ret_status);
}

pid_t live_child_pid(struct source *s)
{
	return live_of(s)->workload.pid;
}
