// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opens the events. The maps, the event list and the rings are those of libperf; the descriptors
 * are opened here and stored into its tables, because libperf 6.1 passes no flags (no
 * close-on-exec, no cgroup) and does not name the failed CPU and task.
 *
 * Opening is a series of attempts. Each begins with an empty session and cleans up after itself:
 * the next attempt goes without cgroup ids or with rings of half the size, or reads the tasks and
 * CPUs again (a thread ended, or a CPU went offline between reading /proc and opening).
 */
#include "kontend/cgroup.h"
#include "kontend/cpulist.h"
#include "kontend/mem.h"
#include "kontend/perf-event.h"
#include "kontend/procfs.h"
#include "kontend/sysinfo.h"
#include "perf-internal.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { LOOK_AGAIN = 5, SPARE_FDS = 64 };

static const char devices[] = "/sys/bus/event_source/devices";

static int print_nothing(enum libperf_print_level level, const char *fmt, va_list ap)
{
	(void)level, (void)fmt, (void)ap;
	return 0;
}

/* libperf 6.1 forgets what its events refer to. */
static void forget_evsel(struct perf_evsel *e)
{
	perf_evsel__free_id(e);
	perf_cpu_map__put(e->cpus);
	perf_cpu_map__put(e->own_cpus);
	perf_thread_map__put(e->threads);
	e->cpus = e->own_cpus = NULL;
	e->threads = NULL;
}

void perf_session_close(struct perf_session *ps)
{
	if (!ps)
		return;
	perf_timers_free(ps);
	if (ps->evlist) {
		perf_evlist__munmap(ps->evlist);
		perf_evlist__close(ps->evlist);
		for (int i = 0; i < PERF_EVENTS; i++) {
			if (ps->evsels[i])
				forget_evsel(ps->evsels[i]);
		}
		perf_evlist__delete(ps->evlist);
	}
	perf_cpu_map__put(ps->cpus);
	perf_thread_map__put(ps->threads);
	if (ps->cgroup_fd >= 0)
		close(ps->cgroup_fd);
	hybrid_deinit(&ps->hybrid);
	mem_free(ps->filter);
	mem_free(ps->new_ids);
	mem_free(ps);
}

static int make_cpu_map(struct perf_session *ps, const struct target *t, struct error *err)
{
	char *list = NULL;
	size_t size = t->n_cpus * 12 + 1;

	if (t->n_cpus) {
		list = mem_calloc(size, 1);
		if (!list)
			return error_enomem(err, "the tables of perf events");
		cpulist_format(t->cpus, t->n_cpus, list, size);
	}
	ps->cpus = perf_cpu_map__new(list);
	mem_free(list);
	return ps->cpus ? 0 : error_enomem(err, "the tables of perf events");
}

/* The threads of all target processes, as of now. */
static int list_threads(const struct target *t, pid_t **ret, size_t *ret_n, struct error *err)
{
	size_t cap = 0;

	for (size_t i = 0; i < t->n_ids; i++) {
		int r = procfs_tids("/proc", t->ids[i], ret, ret_n, &cap);
		if (r == -ENOMEM)
			return error_enomem(err, "the tables of perf events");
	}
	if (!*ret_n)
		return error_set(err, -ESRCH,
				 "None of the target processes is there any more: see 'ps -e'");
	return 0;
}

static int make_thread_map(struct perf_session *ps, const struct perf_session_options *o,
			   struct error *err)
{
	const struct target *t = o->target;
	pid_t command = o->command;
	pid_t *tids = NULL, *ids = t->ids;
	size_t n = t->n_ids;

	if (t->kind == TARGET_SYSTEM || t->kind == TARGET_CGROUP) {
		ps->threads = perf_thread_map__new_dummy();
		return ps->threads ? 0 : error_enomem(err, "the tables of perf events");
	}
	if (t->kind == TARGET_COMMAND) {
		ids = &command;
		n = 1;
	} else if (t->kind == TARGET_PIDS) {
		n = 0;
		int r = list_threads(t, &tids, &n, err);
		if (r < 0) {
			mem_free(tids);
			return r;
		}
		ids = tids;
	}
	ps->threads = perf_thread_map__new_array((int)n, ids);
	mem_free(tids);
	return ps->threads ? 0 : error_enomem(err, "the tables of perf events");
}

static uint32_t clamp_stack(uint32_t frames)
{
	int64_t most = sysinfo_number("/proc/sys/kernel/perf_event_max_stack", 127);

	return frames > (uint64_t)most ? (uint32_t)most : frames;
}

static uint32_t clamp_rate(uint32_t hz)
{
	int64_t most = sysinfo_number("/proc/sys/kernel/perf_event_max_sample_rate", 100000);

	return hz > (uint64_t)most ? (uint32_t)most : hz;
}

/* The others are in every session. */
static bool is_wanted(const struct perf_session_options *o, enum perf_event_index which)
{
	switch (which) {
	case PERF_TIMER_ENTRY:
	case PERF_TIMER_EXIT:
	case PERF_SWITCH:
		return o->wanted.timer_entry_id;
	case PERF_PROFILE:
		return o->how.profile_hz;
	case PERF_OUTPUT:
		return o->feed;
	case PERF_RELEASE:
		return o->wanted.release_id && !(o->feed && o->feed->waits);
	case PERF_MM_START:
	case PERF_MM_ACQUIRED:
	case PERF_MM_RELEASED:
		return o->wanted.mm_ids[0];
	default:
		return true;
	}
}

static uint64_t count_events(const struct perf_session_options *o)
{
	uint64_t n = 0;

	for (int i = 0; i < PERF_EVENTS; i++)
		n += is_wanted(o, (enum perf_event_index)i);
	return n;
}

static int make_events(struct perf_session *ps, const struct perf_attempt *at, struct error *err)
{
	const struct perf_session_options *o = at->o;
	struct perf_attr_options ao = {
		.how = o->how,
		.wanted = o->wanted,
		.kind = o->target->kind,
		.ring_bytes = at->ring_pages * (uint32_t)sysconf(_SC_PAGESIZE),
		.cgroup = at->cgroup,
		.lost = at->lost,
		.fed = o->feed && o->feed->waits,
		.much = o->feed && o->feed->much,
	};
	ao.how.max_stack = clamp_stack(o->how.max_stack);
	ao.how.profile_hz = clamp_rate(o->how.profile_hz);
	ao.how.profile_clock = at->clock;
	int n_cpus = perf_cpu_map__nr(ps->cpus), n_threads = perf_thread_map__nr(ps->threads);

	ps->evlist = perf_evlist__new();
	if (!ps->evlist)
		return error_enomem(err, "the tables of perf events");
	for (int i = 0; i < PERF_EVENTS; i++) {
		struct perf_event_attr attr;
		if (!is_wanted(o, (enum perf_event_index)i))
			continue;
		perf_attr_init(&attr, (enum perf_event_index)i, &ao);
		ps->evsels[i] = perf_evsel__new(&attr);
		if (!ps->evsels[i])
			return error_enomem(err, "the tables of perf events");
		perf_evlist__add(ps->evlist, ps->evsels[i]);
		if (perf_evsel__alloc_fd(ps->evsels[i], n_cpus, i == PERF_OUTPUT ? 1 : n_threads) <
		    0)
			return error_enomem(err, "the tables of perf events");
	}
	perf_evlist__set_maps(ps->evlist, ps->cpus, ps->threads);
	/*
	 * Only now: before, it would not accept our CPUs. From here on only the number of tasks,
	 * one, matters.
	 */
	if (ps->evsels[PERF_OUTPUT])
		ps->evsels[PERF_OUTPUT]->system_wide = true;
	return 0;
}

/* The kernel returns EINVAL for a CPU that cannot exist, and ENODEV for one that is offline. */
static int cpu_answer(int code, int cpu)
{
	uint32_t *online;
	size_t n;

	if (code != -EINVAL || cpulist_read("online", &online, &n) < 0)
		return code;
	if (!cpulist_has(online, n, (uint32_t)cpu))
		code = -ENODEV;
	mem_free(online);
	return code;
}

/*
 * Opens the event of the PMU that the CPU has. In a recording it is one event for all of them. A
 * kernel that takes no PMU in a hardware event finds it by itself.
 */
static int open_on_cpu(const struct hybrid *h, const struct perf_event_attr *attr, pid_t tid,
		       int cpu, unsigned long flags)
{
	struct perf_event_attr own = *attr;
	bool chosen = hybrid_choose(h, cpu, &own);
	int fd = perf_event_open(&own, tid, cpu, flags);

	if (chosen && (fd == -ENOENT || fd == -EINVAL || fd == -EOPNOTSUPP))
		fd = perf_event_open(attr, tid, cpu, flags);
	return fd;
}

int perf_session_open_event(const struct perf_session *ps, enum perf_event_index which, int cpu,
			    pid_t tid)
{
	unsigned long flags = 0;

	if (which == PERF_OUTPUT)
		tid = -1;

	/* Tasks may move into the cgroup later, and need names then: no cgroup for dummies. */
	else if (ps->cgroup_fd >= 0 && which != PERF_DUMMY && which != PERF_SWITCH) {
		flags = PERF_FLAG_PID_CGROUP;
		tid = ps->cgroup_fd;
	}
	int fd = open_on_cpu(&ps->hybrid, &ps->evsels[which]->attr, tid, cpu, flags);
	return fd < 0 ? cpu_answer(fd, cpu) : fd;
}

static bool wants_lbr(const struct perf_session_options *o)
{
	return o->how.callgraph.mode == CALLGRAPH_LBR && o->how.max_stack;
}

static int open_event(struct perf_session *ps, enum perf_event_index which, struct perf_attempt *at)
{
	int n_cpus = perf_cpu_map__nr(ps->cpus);
	int n_threads = which == PERF_OUTPUT ? 1 : perf_thread_map__nr(ps->threads);

	for (int c = 0; c < n_cpus; c++) {
		int cpu = perf_cpu_map__cpu(ps->cpus, c).cpu;
		for (int k = 0; k < n_threads; k++) {
			pid_t tid = perf_thread_map__pid(ps->threads, k);
			int fd = perf_session_open_event(ps, which, cpu, tid);
			if (fd >= 0) {
				*perf_session_fd(ps, which, (size_t)c, (size_t)k) = fd;
				continue;
			}
			at->failure.step = PERF_STEP_OPEN;
			at->failure.code = fd;
			at->failure.event = perf_event_names[which];
			at->failure.cpu = cpu;
			at->failure.tid = tid;
			at->failure.lbr = which == PERF_PROFILE && wants_lbr(at->o);
			at->failure.clock = at->clock;
			return fd;
		}
	}
	return 0;
}

static int set_feed(struct perf_session *ps, struct perf_attempt *at)
{
	int n = ps->feed ? (int)perf_cpu_map__nr(ps->cpus) : 0;

	for (int c = 0; c < n; c++) {
		int cpu = perf_cpu_map__cpu(ps->cpus, c).cpu;
		int r = ps->feed->set(ps->feed, (uint32_t)cpu,
				      *perf_session_fd(ps, PERF_OUTPUT, (size_t)c, 0));
		if (r == 0)
			continue;
		at->failure.step = PERF_STEP_OPEN;
		at->failure.code = r;
		at->failure.event = perf_event_names[PERF_OUTPUT];
		at->failure.cpu = cpu;
		return r;
	}
	return 0;
}

static int set_filter(struct perf_session *ps, struct perf_attempt *at)
{
	int n_cpus = perf_cpu_map__nr(ps->cpus), n_threads = perf_thread_map__nr(ps->threads);

	for (int i = 0; ps->filter && i < n_cpus * n_threads; i++) {
		size_t c = (size_t)(i / n_threads), k = (size_t)(i % n_threads);
		int fd = *perf_session_fd(ps, PERF_BEGIN, c, k);
		if (ioctl(fd, PERF_EVENT_IOC_SET_FILTER, ps->filter) == 0)
			continue;
		at->failure.step = PERF_STEP_FILTER;
		at->failure.code = -errno;
		at->failure.event = perf_event_names[PERF_BEGIN];
		at->failure.filter = at->o->filter;
		return at->failure.code;
	}
	return 0;
}

/* Makes the maps and events. A failure here is final, and @err is filled. */
static int prepare(struct perf_session *ps, const struct perf_attempt *at, struct error *err)
{
	const struct target *t = at->o->target;
	int r = make_cpu_map(ps, t, err);

	if (r == 0 && at->o->filter) {
		ps->filter = mem_strdup(at->o->filter);
		r = ps->filter ? 0 : error_enomem(err, "the tables of perf events");
	}
	if (r == 0)
		r = make_thread_map(ps, at->o, err);
	if (r == 0)
		r = make_events(ps, at, err);
	if (r == 0 && t->kind == TARGET_CGROUP) {
		ps->cgroup_fd = cgroup_open(t->cgroup, err);
		r = ps->cgroup_fd < 0 ? ps->cgroup_fd : 0;
	}
	return r;
}

/* 0 with *ret, or negative errno with either @err filled or @at->failure. */
static int attempt(struct perf_session **ret, struct perf_attempt *at, struct error *err)
{
	struct perf_session *ps = mem_calloc(1, sizeof(*ps));

	if (!ps)
		return error_enomem(err, "the tables of perf events");
	ps->cgroup_fd = -1;
	if (at->o->how.profile_hz && !at->clock)
		hybrid_read(devices, &ps->hybrid);
	ps->feed = at->o->feed;
	ps->timers.entry_id = at->o->wanted.timer_entry_id;
	ps->timers.timer_offset = at->o->timer_offset;
	ps->mm_in_bursts = at->o->wanted.mm_in_bursts;
	ps->counts = at->lost &&
		     (at->o->target->kind == TARGET_SYSTEM || at->o->target->kind == TARGET_CGROUP);
	at->failure = (struct perf_failure){
		.kind = at->o->target->kind,
		.cgroup = at->o->target->cgroup,
	};
	int r = prepare(ps, at, err);
	if (r == 0) {
		at->failure.fds = count_events(at->o) * (uint64_t)perf_cpu_map__nr(ps->cpus) *
				  (uint64_t)perf_thread_map__nr(ps->threads);
		sysinfo_raise_files(at->failure.fds + SPARE_FDS);
	}
	for (int i = 0; r == 0 && i < PERF_EVENTS; i++) {
		if (ps->evsels[i])
			r = open_event(ps, (enum perf_event_index)i, at);
	}
	if (r == 0)
		r = set_filter(ps, at);
	if (r == 0)
		r = set_feed(ps, at);
	if (r == 0)
		r = perf_rings_map(ps, at);
	if (r < 0)
		perf_session_close(ps);
	else
		*ret = ps;
	return r;
}

/* After a failure: may another attempt, with less or a moment later, succeed? */
static bool give_way(struct perf_attempt *at, int *looks, struct live_info *info)
{
	const struct perf_failure *f = &at->failure;
	const struct target *t = at->o->target;

	/* There is no PMU, or all its counters are permanently in use. A clock has no LBR. */
	if (f->step == PERF_STEP_OPEN && f->event == perf_event_names[PERF_PROFILE] && !at->clock &&
	    !f->lbr && f->code != -ESRCH && f->code != -EMFILE && f->code != -EACCES) {
		at->clock = true;
		return true;
	}
	if (f->step == PERF_STEP_OPEN && f->code == -EINVAL && at->lost) {
		at->lost = false;
		return true;
	}
	if (f->step == PERF_STEP_OPEN && f->code == -EINVAL && at->cgroup) {
		at->cgroup = false;
		info->no_cgroup = true;
		return true;
	}
	if (f->step == PERF_STEP_MMAP && at->ring_pages > 1 &&
	    (f->code == -ENOMEM || f->code == -EPERM || f->code == -EAGAIN)) {
		at->ring_pages /= 2;
		info->pages_reduced = true;
		return true;
	}
	bool vanished = f->code == -ESRCH && t->kind == TARGET_PIDS;
	bool offline = f->code == -ENODEV && !t->n_cpus;
	return f->step == PERF_STEP_OPEN && (vanished || offline) && (*looks)-- > 0;
}

static void note_pages(struct live_info *info, uint32_t asked_pages)
{
	uint32_t page_kib = (uint32_t)(sysconf(_SC_PAGESIZE) / 1024);

	if (info->pages_reduced)
		snprintf(info->note, sizeof(info->note),
			 "Rings of %u KiB a CPU instead of %u KiB, as memory or the lock limit "
			 "(kernel.perf_event_mlock_kb) did not allow more: events may get lost",
			 info->ring_pages * page_kib, asked_pages * page_kib);
	else if (info->no_cgroup)
		snprintf(info->note, sizeof(info->note),
			 "This kernel gives no cgroup ids (CONFIG_CGROUP_PERF is off)");
}

/*
 * Is there no PMU that samples cycles, as in most virtual machines? Opens one event for that, with
 * the least demands, on the current CPU. Opening all events of a session would take a tenth of a
 * second, since to close tracepoints the kernel waits for all CPUs. Other obstacles are reported
 * when the session is opened.
 */
static bool lacks_cycles(void)
{
	struct perf_event_attr attr = {
		.size = PERF_ATTR_SIZE_VER5,
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_period = 1u << 30,
		.disabled = 1,
	};
	struct hybrid h;

	hybrid_read(devices, &h);
	int fd = open_on_cpu(&h, &attr, -1, sched_getcpu(), 0);
	hybrid_deinit(&h);
	if (fd < 0)
		return fd == -ENOENT || fd == -EOPNOTSUPP;
	close(fd);
	return false;
}

int perf_session_open(struct perf_session **ret, const struct perf_session_options *o,
		      struct live_info *info, struct error *err)
{
	long page_kib = sysconf(_SC_PAGESIZE) / 1024;
	uint32_t pages =
		o->how.ring_pages ? o->how.ring_pages : perf_rings_kib(o) / (uint32_t)page_kib;
	struct perf_attempt at = {.o = o,
				  .ring_pages = pages,
				  .cgroup = true,
				  .lost = true,
				  .clock = o->how.profile_clock};
	struct error local = {0};
	int r, looks = LOOK_AGAIN;

	if (!pages || pages & (pages - 1))
		return error_set(err, -EINVAL, "Cannot make rings of %u pages: give a power of two",
				 pages);
	if (o->how.profile_hz && !wants_lbr(o) && lacks_cycles())
		at.clock = true;
	libperf_init(print_nothing);
	do {
		r = attempt(ret, &at, &local);
	} while (r < 0 && !local.code && give_way(&at, &looks, info));
	if (r < 0 && local.code)
		return error_set(err, r, "%s", local.text);
	if (r < 0)
		return perf_failure_report(&at.failure, err);
	info->rings = (uint32_t)perf_session_rings(*ret);
	info->ring_pages = at.ring_pages;
	note_pages(info, pages);
	return 0;
}
