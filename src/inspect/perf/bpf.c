// SPDX-License-Identifier: GPL-2.0-only
/*
 * The inspector by BPF: loads the programs, lets them find their starting points, and runs them for
 * each snapshot. Nothing is attached to the kernel except, on request, programs that see the
 * creation of breakpoints (created.c). The kernel removes programs and maps when their descriptors
 * are closed.
 *
 * Starting points: one event of kontend for each CPU leads to that CPU's context; a breakpoint that
 * is open for a moment leads to the list of all breakpoints (since 6.15); and a program that runs
 * on a CPU finds its per-CPU section. The events of kontend are enabled software events that count
 * nothing: reading one makes the kernel update the times of that CPU's context.
 */
#include "bpf-int.h"
#include "bpf-run.h"
#include "btf/types.h"
#include "kontend/clock.h"
#include "kontend/mem.h"
#include "kontend/perf-event.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

extern const char inspect_object[], inspect_object_end[];

static const char *const program_names[PROGS] = {
	[PROG_LEARN_BASE] = "learn_base",
	[PROG_READ_CPUS] = "read_cpus",
	[PROG_READ_CPU_CONTEXTS] = "read_cpu_contexts",
	[PROG_READ_BREAKPOINTS] = "read_breakpoints",
	[PROG_READ_AGAIN] = "read_again",
	[PROG_WALK_TASKS] = "walk_tasks_contexts",
	[PROG_WALK_HOLDERS] = "walk_holders",
	[PROG_LEARN] = "learn",
	[PROG_READ_TASKS] = "read_tasks_contexts",
	[PROG_READ_HOLDERS] = "read_holders",
};

static int open_event(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	attr->size = sizeof(*attr);
	return perf_event_open(attr, pid, cpu, 0);
}

static int open_own(int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1,
	};

	return open_event(&attr, -1, cpu);
}

static int open_own_events(struct inspect_bpf *i, struct error *err)
{
	int code = bpf_run_count_cpus(&i->n_cpus, RAW_CPUS, err);

	if (code < 0)
		return code;
	i->own_fds = mem_calloc(i->n_cpus, sizeof(*i->own_fds));
	if (!i->own_fds)
		return error_enomem(err, "%u CPUs", i->n_cpus);
	for (uint32_t cpu = 0; cpu < i->n_cpus; cpu++)
		i->own_fds[cpu] = -1;
	for (uint32_t cpu = 0; cpu < i->n_cpus; cpu++) {
		int fd = open_own((int)cpu);
		if (fd == -EACCES || fd == -EPERM)
			return error_errno(err, fd,
					   "The kernel does not let this user open an event on a "
					   "CPU (it needs CAP_PERFMON, and CAP_BPF, or root)");
		if (fd < 0 && fd != -ENODEV && fd != -ENXIO)
			return error_errno(err, fd, "Cannot open a software event on CPU %u", cpu);
		i->own_fds[cpu] = fd < 0 ? -1 : fd;
	}
	return 0;
}

static int map_arrays(struct inspect_bpf *i, struct error *err)
{
	const int r = PROT_READ;

	i->state = bpf_run_map(i->object, ".bss", sizeof(*i->state), PROT_READ | PROT_WRITE, err);
	i->cpus = bpf_run_map(i->object, "cpus", i->n_cpus * sizeof(*i->cpus), r, err);
	i->again =
		bpf_run_map(i->object, "again", RAW_AGAIN * sizeof(*i->again), r | PROT_WRITE, err);
	if (!i->state || !i->cpus || !i->again)
		return err->code;
	int code = bpf_run_part_open(&i->events, i->object, "events", sizeof(struct raw_event),
				     i->room, err);
	if (code == 0)
		code = bpf_run_part_open(&i->contexts, i->object, "contexts",
					 sizeof(struct raw_context), i->room / 2, err);
	if (code == 0)
		code = bpf_run_part_open(&i->holders, i->object, "holders",
					 sizeof(struct raw_holder), i->room, err);
	return code;
}

/* Room for events in the arrays; more of them take several passes. */
static uint32_t room_for(uint32_t n_cpus)
{
	enum { EVENTS = 4096, EVENTS_OF_CPU = 128 };
	uint32_t n = EVENTS + EVENTS_OF_CPU * n_cpus;

	return n < RAW_EVENTS ? n : RAW_EVENTS;
}

static int prepare(struct bpf_object *o, const void *arg)
{
	const struct inspect_bpf *i = arg;
	struct bpf_map *cpus = bpf_object__find_map_by_name(o, "cpus");
	struct bpf_map *events = bpf_object__find_map_by_name(o, "events");
	struct bpf_map *contexts = bpf_object__find_map_by_name(o, "contexts");
	struct bpf_map *holders = bpf_object__find_map_by_name(o, "holders");

	if (!cpus || !events || !contexts || !holders)
		return -ENOENT;
	int code = bpf_map__set_max_entries(cpus, i->n_cpus);
	code = code < 0 ? code : bpf_map__set_max_entries(events, i->room);
	code = code < 0 ? code : bpf_map__set_max_entries(contexts, i->room / 2);
	return code < 0 ? code : bpf_map__set_max_entries(holders, i->room);
}

static int load(struct inspect_bpf *i, struct kerntypes *types, struct error *err)
{
	struct bpf_run_file f = {
		.bytes = inspect_object,
		.len = (size_t)(inspect_object_end - inspect_object),
		.config = &i->layout.config,
		.config_size = sizeof(i->layout.config),
		.types = types,
		.prepare = prepare,
		.prepare_arg = i,
	};
	i->room = room_for(i->n_cpus);
	int code = bpf_run_load(&i->object, &f, err);

	return code < 0 ? code : map_arrays(i, err);
}

static int attach(struct inspect_bpf *i, struct error *err)
{
	for (int k = 0; k < PROGS; k++) {
		i->prog_fd[k] = bpf_run_program(i->object, program_names[k], err);
		if (i->prog_fd[k] < 0)
			return i->prog_fd[k];
		if (k < PROG_RUN)
			continue;
		i->link[k] = bpf_run_iterator(i->object, program_names[k], err);
		if (!i->link[k])
			return err->code;
	}
	return 0;
}

static int report_own_fds(struct inspect_bpf *i)
{
	struct bpf_map *m = bpf_object__find_map_by_name(i->object, "own_fds");

	for (uint32_t cpu = 0; m && cpu < i->n_cpus; cpu++) {
		uint32_t fd = (uint32_t)i->own_fds[cpu];
		if (i->own_fds[cpu] >= 0 &&
		    bpf_map__update_elem(m, &fd, sizeof(fd), &cpu, sizeof(cpu), BPF_ANY) < 0)
			return -errno;
	}
	return m ? 0 : -ENOENT;
}

/* If no slot is free, the first breakpoint that is found leads to the others. */
static int open_breakpoint(const void *at)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.bp_type = HW_BREAKPOINT_W,
		.bp_addr = (uintptr_t)at,
		.bp_len = HW_BREAKPOINT_LEN_1,
		.disabled = 1,
		.exclude_kernel = 1,
	};

	return open_event(&attr, 0, -1);
}

static int learn(struct inspect_bpf *i, struct error *err)
{
	int fd = open_breakpoint(&i->base);
	int code = report_own_fds(i);

	i->state->bp_fd = fd < 0 ? -1 : fd;
	code = code < 0 ? code : bpf_iterate(i, PROG_LEARN);
	if (fd >= 0)
		close(fd);
	if (code < 0)
		return error_errno(err, code, "Cannot run the BPF iterator learn");
	for (uint32_t cpu = 0; cpu < i->n_cpus; cpu++)
		if (i->own_fds[cpu] >= 0)
			(void)bpf_run(i, PROG_LEARN_BASE, (int)cpu);
	return 0;
}

static void count_slots(struct inspect_bpf *i)
{
	struct slots_machine m = slots_of_machine();

	for (uint32_t k = 0; k < RAW_POOLS; k++)
		i->slots[k] = m.pools == i->layout.pools && k < m.pools ? m.slots[k] : -1;
}

/* Makes the kernel update the times of the context of every CPU. */
static void refresh(const struct inspect_bpf *i)
{
	uint64_t value;

	for (uint32_t cpu = 0; cpu < i->n_cpus; cpu++)
		if (i->own_fds[cpu] >= 0 && read(i->own_fds[cpu], &value, sizeof(value)) < 0)
			continue;
}

/* The number of the next event, which is the count of all events so far. */
static uint64_t next_id(void)
{
	uint64_t id = UINT64_MAX;
	int fd = open_own(0);

	if (fd < 0)
		return UINT64_MAX;
	if (ioctl(fd, PERF_EVENT_IOC_ID, &id) < 0)
		id = UINT64_MAX;
	close(fd);
	return id;
}

static void fill_head(struct inspect_bpf *i, enum inspect_what what, struct perfsnap *s,
		      uint64_t from)
{
	struct record_counter *before = &i->tallies[what];
	uint64_t id = next_id();

	s->head.method = SNAP_BPF;
	s->head.time_ns = from;
	s->head.interval_ns = before->last_ns ? from - before->last_ns : 0;
	s->head.opened = UINT64_MAX;
	/* Without the event that showed the number. */
	if (id != UINT64_MAX && before->last_id && id > before->last_id)
		s->head.opened = id - before->last_id - 1;
	s->head.incomplete = i->found.torn;
	s->head.dropped = i->found.dropped;
	before->last_ns = from;
	before->last_id = id != UINT64_MAX ? id : 0;
}

static int take_snapshot(struct inspect *base, enum inspect_what what, struct perfsnap *ret,
			 struct error *err)
{
	struct inspect_bpf *i = (struct inspect_bpf *)base;
	uint64_t from = clock_now_ns(), cpu = inspect_cpu_ns();

	perfsnap_clear(ret);
	if (what == INSPECT_ALL)
		refresh(i);
	int code = bpf_read(i, what);
	if (code == -ENOMEM)
		return error_enomem(err, "the results of the BPF inspector");
	if (code < 0)
		return error_errno(err, code, "Cannot run the BPF inspector");
	fill_head(i, what, ret, from);
	code = bpf_fill(i, what, ret);
	if (code < 0)
		return error_enomem(err, "a snapshot of %u perf events", i->found.n_events);
	inspect_cost(&i->tallies[what].cost, &ret->head, cpu);
	return 0;
}

static void bpf_free(struct inspect *base)
{
	struct inspect_bpf *i = (struct inspect_bpf *)base;

	bpf_run_unmap(i->state, sizeof(*i->state));
	bpf_run_part_close(&i->events);
	bpf_run_part_close(&i->contexts);
	bpf_run_part_close(&i->holders);
	bpf_run_unmap(i->cpus, i->n_cpus * sizeof(*i->cpus));
	bpf_run_unmap(i->again, RAW_AGAIN * sizeof(*i->again));
	for (int k = 0; k < PROGS; k++)
		bpf_link__destroy(i->link[k]);
	bpf_object__close(i->object);
	for (uint32_t cpu = 0; i->own_fds && cpu < i->n_cpus; cpu++)
		if (i->own_fds[cpu] >= 0)
			close(i->own_fds[cpu]);
	mem_free(i->own_fds);
	names_deinit(&i->names);
	cgroup_names_deinit(&i->cgroups);
	map64_deinit(&i->at_event);
	map64_deinit(&i->at_context);
	for (int k = 0; k < INSPECT_WHATS; k++)
		record_counter_deinit(&i->tallies[k]);
	whom_deinit(&i->whom);
	created_deinit(&i->created);
	mem_free(i->slot_tids);
	bpf_read_deinit(i);
	mem_free(i);
}

static const struct inspect_ops ops = {.take = take_snapshot, .free = bpf_free};

static int set_up(struct inspect_bpf *i, struct kerntypes *types, struct error *err)
{
	int code = layout_read(&i->layout, types, err);

	code = code < 0 ? code : open_own_events(i, err);
	if (code == 0) {
		i->layout.config.n_cpus = i->n_cpus;
		i->layout.config.self = getpid();
		code = ns_own(&i->layout.config.ns, types, err);
	}
	if (code == 0) {
		code = load(i, types, err);
	}
	code = code < 0 ? code : attach(i, err);
	return code < 0 ? code : learn(i, err);
}

int inspect_bpf_new(struct inspect **ret, const struct inspect_options *o, struct error *err)
{
	struct inspect_bpf *i = mem_calloc(1, sizeof(*i));
	struct kerntypes *own;

	if (!i)
		return error_enomem(err, "the BPF inspector");
	i->base.ops = &ops;
	i->base.has_parts = true;
	struct kerntypes *types = kerntypes_or(o->types, &own, err);
	int code = types ? set_up(i, types, err) : err->code;
	if (code == 0 && o->creations)
		created_attach(&i->created, i, types);
	kerntypes_free(own);
	if (code < 0) {
		bpf_free(&i->base);
		return code;
	}
	count_slots(i);
	*ret = &i->base;
	return 0;
}
