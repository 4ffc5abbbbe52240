// SPDX-License-Identifier: GPL-2.0-only
/*
 * A machine is a table of breakpoints and one of counters, in the words that the inspector would
 * have for them, and what the kernel would count for these. References between them are by id and
 * are made indices at the end.
 */
#include "perf-snaps.h"
#include "kontend/record.h"

#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { APP = 931, WATCHER = 940, GDB = 812, HOLDER = 1203, AGENT = 411, KONTEND = 5000 };
enum { X = HW_BREAKPOINT_X, W = HW_BREAKPOINT_W, RW = HW_BREAKPOINT_RW };

struct bp {
	uint64_t id, parent, addr;
	uint32_t len, rwx, flags;
	int32_t cpu, oncpu, state, owner, target, tracer;
	uint64_t hits;
	const char *where;
};

static const struct bp x86[] = {
	{11, 0, 0xffffffff82000000, 8, W, SNAP_CPU_BOUND, 0, 0, 1, APP, 0, 0, 1000, ""},
	{12, 0, 0x55bf001da060, 4, RW, SNAP_INHERIT, -1, 0, 1, APP, APP, 0, 12, "app:counter"},
	{13, 12, 0x55bf001da060, 4, RW, SNAP_CHILD, -1, -1, 0, 0, APP + 1, 0, 0, "app:counter"},
	{14, 0, 0x55bf001da068, 4, W, SNAP_PTRACE | SNAP_PINNED, -1, 0, 1, 0, APP, GDB, 3,
	 "app+0x4068"},
	{15, 0, 0x7ffe10203040, 8, W, SNAP_ORPHAN | SNAP_CPU_BOUND, 1, -1, SNAP_OFF, 0, 0, 0, 0,
	 "[stack]"},
	{16, 0, 0xffffffff81001010, 1, X, SNAP_KERNEL | SNAP_CPU_BOUND, 0, 0, 1, 0, 0, 0,
	 UINT64_MAX, ""},
};

static const struct bp arm64[] = {
	{21, 0, 0xffff800080001000, 4, X, SNAP_CPU_BOUND, 0, 0, 1, APP, 0, 0, 5, "schedule"},
	{22, 0, 0xaaaab0010000, 8, W, 0, -1, 1, 1, APP, APP, 0, 7, "app:counter"},
	{23, 0, 0xaaaab0000740, 4, X, SNAP_PTRACE | SNAP_PINNED, -1, -1, 0, 0, APP, GDB, 0,
	 "app:main"},
};

static void must(int code)
{
	if (code < 0)
		abort();
}

static uint32_t text(struct perfsnap *s, const char *t)
{
	return perfsnap_add_text(s, t);
}

static const char *comm_of(int32_t pid)
{
	switch (pid) {
	case APP:
	case APP + 1:
		return "app";
	case WATCHER:
		return "watcher";
	case GDB:
		return "gdb";
	case HOLDER:
		return "holder";
	case AGENT:
		return "agent";
	case KONTEND:
		return "kontend";
	default:
		return "worker";
	}
}

/* The context of a CPU, or of a task: index + 1, made when first asked for. */
static uint32_t context(struct perfsnap *s, int32_t cpu, int32_t tid)
{
	for (size_t i = 0; i < s->n_contexts; i++)
		if (s->contexts[i].cpu == cpu && s->contexts[i].tid == tid)
			return (uint32_t)i + 1;
	struct snap_context c = {.addr = 0xffff888100000000 + 0x1000 * (s->n_contexts + 1),
				 .cpu = cpu,
				 .tid = tid,
				 .pid = tid == APP + 1 ? APP : tid,
				 .comm = tid ? text(s, comm_of(tid)) : 0,
				 .running_permille = 1000};
	must(perfsnap_add_context(s, &c));
	return (uint32_t)s->n_contexts;
}

static void add_event(struct perfsnap *s, struct snap_event *e)
{
	e->context = e->target_tid ? context(s, -1, e->target_tid) : context(s, e->cpu, 0);
	must(perfsnap_add_event(s, e));
	struct snap_context *c = &s->contexts[e->context - 1];
	c->events++;
	c->active += e->state == SNAP_ACTIVE;
	if (e->flags & SNAP_PINNED)
		c->pinned++;
	else
		c->flexible++;
	if (e->flags & SNAP_ROTATES)
		c->rotating = 1;
}

static void hold(struct perfsnap *s, int32_t pid, int32_t fd)
{
	struct snap_holder h = {(uint32_t)s->n_events, pid, fd, text(s, comm_of(pid))};

	must(perfsnap_add_holder(s, &h));
}

static void add_bp(struct perfsnap *s, const struct bp *b)
{
	struct snap_event e = {
		.id = b->id,
		.parent = b->parent,
		.bp_addr = b->addr,
		.bp_len = b->len,
		.bp_type = b->rwx,
		.count = 40 * (b->hits == UINT64_MAX ? 0 : b->hits),
		.hits = b->hits,
		.enabled_ns = b->state >= 0 ? 40000000000 : 0,
		.running_ns = b->state > 0 ? 40000000000 : 20000000000,
		.type = PERF_TYPE_BREAKPOINT,
		.cpu = b->cpu,
		.oncpu = b->oncpu,
		.state = b->state,
		.flags = b->flags | SNAP_TIMES | SNAP_COUNT,
		.owner_pid = b->owner,
		.owner_tid = b->owner,
		.target_pid = b->target == APP + 1 ? APP : b->target,
		.target_tid = b->target,
		.tracer_pid = b->tracer,
		.owner_comm = b->owner ? text(s, comm_of(b->owner)) : 0,
		.target_comm = b->target ? text(s, comm_of(b->target)) : 0,
		.tracer_comm = b->tracer ? text(s, comm_of(b->tracer)) : 0,
		.pmu = text(s, "breakpoint"),
		.name = text(s, b->rwx == X   ? "mem:x"
				: b->rwx == W ? "mem:w"
					      : "mem:rw"),
		.where = text(s, b->where),
	};

	add_event(s, &e);
	if (b->owner)
		hold(s, b->owner, 7);
	if (b->flags & SNAP_ORPHAN)
		hold(s, HOLDER, 3);
	if (b->flags & SNAP_INHERIT) {
		hold(s, WATCHER, 5);
		hold(s, WATCHER, 6);
	}
}

/* Counters of a CPU, more than fit: every third one waits for its turn. */
static void add_counters(struct perfsnap *s, int32_t cpu, uint32_t n)
{
	static const char *const names[] = {"cycles", "instructions", "cache-misses"};

	for (uint32_t i = 0; i < n; i++) {
		bool waits = i % 3 == 2;
		struct snap_event e = {
			.id = 100 + (uint64_t)cpu * 50 + i,
			.config = i % 3,
			.count = waits ? 100000 : 12345678,
			.hits = waits	? 0
				: i % 3 ? 250000
					: UINT64_MAX,
			.count_age_ns = i % 3 ? 0 : 700000000,
			.enabled_ns = 10000000000,
			.running_ns = 6600000000,
			.type = PERF_TYPE_HARDWARE,
			.cpu = cpu,
			.oncpu = waits ? -1 : cpu,
			.state = waits ? SNAP_INACTIVE : SNAP_ACTIVE,
			.flags = SNAP_CPU_BOUND | SNAP_TIMES | SNAP_COUNT | SNAP_ROTATES |
				 (i % 3 ? 0 : SNAP_STALE),
			.owner_pid = AGENT,
			.owner_tid = AGENT,
			.owner_comm = text(s, "agent"),
			.pmu = text(s, "cpu"),
			.name = text(s, names[i % 3]),
		};
		add_event(s, &e);
		hold(s, AGENT, 10 + (int32_t)i);
	}
}

static void add_own(struct perfsnap *s, int32_t cpu)
{
	struct snap_event e = {
		.id = 900 + (uint64_t)cpu,
		.config = PERF_COUNT_SW_DUMMY,
		.hits = 0,
		.enabled_ns = 2000000000,
		.running_ns = 2000000000,
		.type = PERF_TYPE_SOFTWARE,
		.cpu = cpu,
		.oncpu = cpu,
		.state = SNAP_ACTIVE,
		.flags = SNAP_CPU_BOUND | SNAP_TIMES | SNAP_COUNT | SNAP_OWN,
		.owner_pid = KONTEND,
		.owner_tid = KONTEND,
		.owner_comm = text(s, "kontend"),
		.pmu = text(s, "software"),
		.name = text(s, "dummy"),
	};

	add_event(s, &e);
	hold(s, KONTEND, 4 + cpu);
}

static void add_slots(struct perfsnap *s, uint32_t cpu, uint32_t type, int32_t n, int32_t pinned,
		      int32_t task)
{
	struct snap_slots item = {cpu, type, n, pinned, task, 0};

	must(perfsnap_add_slots(s, &item));
}

/* Each breakpoint that is active lies in the first free register of the CPU where it is. */
static void fill_registers(struct perfsnap *s, bool pools)
{
	enum { CPUS = 1024 };
	static uint32_t used[CPUS][3];

	memset(used, 0, sizeof(used));
	for (size_t i = 0; i < s->n_events; i++) {
		const struct snap_event *e = &s->events[i];
		uint32_t type = !pools		  ? SNAP_SLOT_ANY
				: e->bp_type == X ? SNAP_SLOT_EXEC
						  : SNAP_SLOT_DATA;
		if (e->type != PERF_TYPE_BREAKPOINT || e->oncpu < 0)
			continue;
		if (e->oncpu >= CPUS)
			abort();
		struct snap_register r = {.addr = e->bp_addr,
					  .cpu = (uint32_t)e->oncpu,
					  .type = type,
					  .index = used[e->oncpu][type]++,
					  .event = (uint32_t)i + 1,
					  .enabled = 1};
		must(perfsnap_add_register(s, &r));
	}
}

static void make_x86(struct perfsnap *s)
{
	add_slots(s, 0, SNAP_SLOT_ANY, 4, 2, 2);
	add_slots(s, 1, SNAP_SLOT_ANY, 4, 1, 2);
	for (size_t i = 0; i < sizeof(x86) / sizeof(x86[0]); i++)
		add_bp(s, &x86[i]);
	add_counters(s, 0, 6);
	add_own(s, 0);
	add_own(s, 1);
	fill_registers(s, false);
}

static void make_arm64(struct perfsnap *s)
{
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		add_slots(s, cpu, SNAP_SLOT_EXEC, 6, cpu == 0, 1);
		add_slots(s, cpu, SNAP_SLOT_DATA, 4, 0, 1);
	}
	for (size_t i = 0; i < sizeof(arm64) / sizeof(arm64[0]); i++)
		add_bp(s, &arm64[i]);
	fill_registers(s, true);
}

static void make_probe(struct perfsnap *s)
{
	static const struct {
		int32_t pid, fd;
	} fds[] = {{APP, 7}, {APP, 8}, {HOLDER, 3}, {AGENT, 10}};

	s->head.method = SNAP_PROBE;
	s->head.opened = UINT64_MAX;
	s->head.cost_ns = 900000;
	s->head.missing = SNAP_NO_TASK_MAX | SNAP_NO_REGISTERS | SNAP_NO_EVENTS | SNAP_NO_CONTEXTS |
			  SNAP_NO_ROTATION;
	s->head.reason =
		text(s, "The kernel does not let this user load BPF programs (it needs CAP_BPF and "
			"CAP_PERFMON, or root): Operation not permitted");
	add_slots(s, 0, SNAP_SLOT_ANY, 4, 2, -1);
	add_slots(s, 1, SNAP_SLOT_ANY, 4, 1, -1);
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		hold(s, fds[i].pid, fds[i].fd);
		s->holders[i].event = 0;
	}
}

static void make_empty(struct perfsnap *s)
{
	s->head.opened = 0;
	add_slots(s, 0, SNAP_SLOT_ANY, 4, 0, 0);
	add_slots(s, 1, SNAP_SLOT_ANY, 4, 0, 0);
}

static void make_many(struct perfsnap *s)
{
	for (uint32_t cpu = 0; cpu < 64; cpu++) {
		add_slots(s, cpu, SNAP_SLOT_ANY, 4, (int32_t)cpu % 4, cpu % 2);
		for (uint32_t i = 0; i < cpu % 4; i++) {
			struct bp b = {.id = 1000 + cpu * 4 + i,
				       .addr = 0x7f0000001000 + 8 * i,
				       .len = 8,
				       .rwx = W,
				       .flags = SNAP_CPU_BOUND,
				       .cpu = (int32_t)cpu,
				       .oncpu = (int32_t)cpu,
				       .state = 1,
				       .owner = 2000 + (int32_t)i,
				       .hits = cpu,
				       .where = "worker:flag"};
			add_bp(s, &b);
		}
	}
	fill_registers(s, false);
}

/* 1024 CPUs: one in 100 has a breakpoint of its own, the last eight have the same, as well. */
static void make_huge(struct perfsnap *s, bool pools)
{
	enum { CPUS = 1024 };

	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		bool holds = cpu % 100 == 50 || cpu >= CPUS - 8;
		if (pools)
			add_slots(s, cpu, SNAP_SLOT_EXEC, 6, 0, 0);
		add_slots(s, cpu, pools ? SNAP_SLOT_DATA : SNAP_SLOT_ANY, 4, holds, 0);
		struct bp b = {.id = 1000 + cpu,
			       .addr = 0x7f0000001000,
			       .len = 8,
			       .rwx = W,
			       .flags = SNAP_CPU_BOUND,
			       .cpu = (int32_t)cpu,
			       .oncpu = (int32_t)cpu,
			       .state = 1,
			       .owner = 2000,
			       .hits = cpu,
			       .where = "worker:flag"};
		if (holds)
			add_bp(s, &b);
	}
	fill_registers(s, pools);
}

static void make_huge_x86(struct perfsnap *s)
{
	make_huge(s, false);
}

static void make_huge_arm64(struct perfsnap *s)
{
	make_huge(s, true);
}

static void make_broken(struct perfsnap *s)
{
	make_x86(s);
	s->n_registers = 0;
	s->head.missing = SNAP_NO_REGISTERS;
	s->head.incomplete = 2;
	s->head.dropped = 5;
	s->head.reason = text(s, "the kernel's per-CPU section could not be found");
}

/*
 * An agent's counters of task @tid, @n of them on @cpu: enabled for 40 s there, which is as long as
 * the task ran, and counting for @ms of it.
 */
static void add_of_task(struct perfsnap *s, int32_t tid, int32_t cpu, unsigned n, uint64_t ms)
{
	for (unsigned i = 0; i < n; i++) {
		struct snap_event e = {
			.id = s->n_events + 1,
			.hits = UINT64_MAX,
			.enabled_ns = 40000000000,
			.running_ns = ms * 1000000,
			.type = PERF_TYPE_HARDWARE,
			.cpu = cpu,
			.oncpu = -1,
			.flags = SNAP_TIMES | SNAP_COUNT,
			.owner_pid = AGENT,
			.owner_tid = AGENT,
			.target_pid = APP,
			.target_tid = tid,
			.owner_comm = text(s, "agent"),
			.target_comm = text(s, "app"),
			.pmu = text(s, "cpu"),
			.name = text(s, "cycles"),
		};
		add_event(s, &e);
	}
}

/* One task was on both CPUs and lost nothing; one lost a quarter; of one CPU 1 is not counted. */
static void add_creator(struct perfsnap *s, int32_t pid, const char *comm, uint64_t opened,
			uint64_t inherited, uint64_t refused)
{
	struct snap_creator item = {pid, text(s, comm), opened, inherited, refused};

	must(perfsnap_add_creator(s, &item));
}

/* Breakpoints without an owner: a tool that opens many, threads that inherited. */
static void make_created(struct perfsnap *s)
{
	make_x86(s);
	s->head.creations = SNAP_CREATIONS_EVENTS;
	s->head.creations_since_ns = s->head.time_ns - 500000000;
	s->head.creations_lost = 2;
	s->slots[0].most = 5;
	s->slots[1].most = 4;
	add_creator(s, APP, "app", 4, 9000, 0);
	add_creator(s, HOLDER, "holder", 120000, 0, 17);
	add_creator(s, AGENT, "agent", 0, 0, 3);
}

/* The same as looks find it. */
static void make_found(struct perfsnap *s)
{
	make_x86(s);
	s->head.creations = SNAP_CREATIONS_LOOKS;
	s->head.creations_since_ns = s->head.time_ns - 500000000;
	s->head.creations_reason = text(s, "Cannot attach to the tracepoint sys_exit");
	s->slots[0].most = 5;
	add_creator(s, APP, "app", 1, 12, 0);
	add_creator(s, 0, "", 1, 0, 0);
}

static void make_spread(struct perfsnap *s)
{
	add_slots(s, 0, SNAP_SLOT_ANY, 4, 0, 0);
	add_of_task(s, APP, 0, 2, 30000);
	add_of_task(s, APP, 1, 2, 10000);
	add_of_task(s, APP + 1, 0, 1, 30000);
	add_of_task(s, APP + 1, 1, 1, 0);
	add_of_task(s, APP + 2, 0, 1, 30000);
}

static const struct {
	const char *name;
	void (*make)(struct perfsnap *s);
} machines[] = {
	{"x86", make_x86},
	{"arm64", make_arm64},
	{"probe", make_probe},
	{"empty", make_empty},
	{"many", make_many},
	{"huge-x86", make_huge_x86},
	{"huge-arm64", make_huge_arm64},
	{"broken", make_broken},
	{"spread", make_spread},
	{"created", make_created},
	{"found", make_found},
};

void perf_snap_make(struct perfsnap *ret, const char *name, uint64_t t)
{
	perfsnap_clear(ret);
	ret->head = (struct snap_head){.time_ns = t,
				       .interval_ns = 1000000000,
				       .cost_ns = 120000,
				       .opened = 12,
				       .method = SNAP_BPF};
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		if (strcmp(machines[i].name, name) != 0)
			continue;
		machines[i].make(ret);
		return;
	}
	fprintf(stderr, "there is no snapshot %s\n", name);
	abort();
}

void perf_snap_emit_as(struct synth *s, uint16_t kind, const char *name, uint64_t t)
{
	struct record_snapshot head = {

		.kind = kind, .version = SNAP_VERSION, .time_ns = t};
	struct perfsnap snap = {0};

	perf_snap_make(&snap, name, t);
	size_t len = sizeof(head) + perfsnap_size(&snap);
	char *body = calloc(1, len);
	if (!body)
		abort();
	memcpy(body, &head, sizeof(head));
	perfsnap_encode(&snap, body + sizeof(head));
	synth_record(s, RECORD_SNAPSHOT, 0, body, len);
	free(body);
	perfsnap_deinit(&snap);
}

void perf_snap_emit(struct synth *s, const char *name, uint64_t t)
{
	perf_snap_emit_as(s, SNAPSHOT_PERF, name, t);
}
