// SPDX-License-Identifier: GPL-2.0-only
/* From the data of the programs in the kernel to a snapshot, on canned arrays. */
#include "../../src/inspect/perf/bpf-int.h"
#include "kontend/mem.h"
#include "kontend/perfsnap.h"

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { SELF = 77, CPUS = 2 };

/* The data that the kernel's side would have written. */
struct stage {
	struct inspect_bpf i;
	struct raw_state state;
	struct raw_event events[32];
	struct raw_context contexts[8];
	struct raw_holder holders[8];
	struct raw_cpu cpus[CPUS];
	struct perfsnap snap;
};

static void stage_init(struct stage *t, uint32_t pools)
{
	*t = (struct stage){.i = {.n_cpus = CPUS, .slots = {4, 4}}};
	t->i.state = &t->state;
	t->i.found.events = t->events;
	t->i.found.contexts = t->contexts;
	t->i.found.holders = t->holders;
	t->i.cpus = t->cpus;
	t->i.layout =
		(struct layout){.pools = pools, .info_stride = 16, .regs = {4, pools == 2 ? 4 : 0}};
	t->i.layout.has_revoked = true;
	t->i.layout.config.self = SELF;
	t->i.layout.config.off_dr7 = pools == 1 ? 0 : RAW_NO_OFFSET;
	for (int cpu = 0; cpu < CPUS; cpu++)
		t->cpus[cpu].base = 4096;
}

static void stage_deinit(struct stage *t)
{
	perfsnap_deinit(&t->snap);
	names_deinit(&t->i.names);
	cgroup_names_deinit(&t->i.cgroups);
	map64_deinit(&t->i.at_event);
	map64_deinit(&t->i.at_context);
	record_counter_deinit(&t->i.tallies[INSPECT_ALL]);
	record_counter_deinit(&t->i.tallies[INSPECT_SLOTS]);
	whom_deinit(&t->i.whom);
	mem_free(t->i.slot_tids);
}

static void fill_at(struct stage *t, uint64_t time_ns)
{
	perfsnap_clear(&t->snap);
	t->snap.head.time_ns = time_ns;
	assert_int_equal(bpf_fill(&t->i, INSPECT_ALL, &t->snap), 0);
}

static void fill(struct stage *t)
{
	fill_at(t, 0);
}

/* A breakpoint for @tid (0: none) and @cpu (-1: any). */
static struct raw_event *add_raw_event(struct stage *t, int tid, int cpu)
{
	uint32_t n = t->i.found.n_events++;
	struct raw_event *r = &t->events[n];

	*r = (struct raw_event){
		.addr = 0x1000 + n * 64,
		.id = 100 + n,
		.type = PERF_TYPE_BREAKPOINT,
		.bp_type = HW_BREAKPOINT_W,
		.bp_addr = 0xffffffff81000000 + n,
		.bp_len = 8,
		.cpu = cpu,
		.oncpu = -1,
		.target_tid = tid,
		.target_pid = tid,
		.owner_pid = 5,
		.owner_tid = 5,
		.pmu = "breakpoint",
	};
	r->leader = r->addr;
	return r;
}

static void test_slots(void **state)
{
	struct stage t;

	(void)state;
	stage_init(&t, 1);
	t.cpus[0].info[0] = 1;
	add_raw_event(&t, 0, 0);
	add_raw_event(&t, 20, -1);
	add_raw_event(&t, 10, -1);
	add_raw_event(&t, 20, 1);
	add_raw_event(&t, 10, 0);
	add_raw_event(&t, 10, 0);
	add_raw_event(&t, 30, 1);
	fill(&t);
	assert_int_equal(t.snap.n_slots, 2);
	/* Task 10 has three on CPU 0; on CPU 1 task 20 has two. */
	assert_int_equal(t.snap.slots[0].cpu_pinned, 1);
	assert_int_equal(t.snap.slots[0].task_pinned_max, 3);
	assert_int_equal(t.snap.slots[1].cpu_pinned, 0);
	assert_int_equal(t.snap.slots[1].task_pinned_max, 2);
	assert_int_equal(t.snap.slots[1].slots, 4);
	assert_int_equal(t.snap.slots[1].type, SNAP_SLOT_ANY);
	stage_deinit(&t);
}

static void test_two_pools(void **state)
{
	struct stage t;

	(void)state;
	stage_init(&t, 2);
	t.cpus[1].info[4] = 2; /* of the second pool */
	add_raw_event(&t, 10, -1);
	add_raw_event(&t, 10, -1)->bp_type = HW_BREAKPOINT_X;
	add_raw_event(&t, 10, -1)->bp_type = HW_BREAKPOINT_X;
	t.cpus[0].failed = 1;
	fill(&t);
	/* One CPU could not be read. */
	assert_int_equal(t.snap.n_slots, 2);
	assert_int_equal(t.snap.slots[0].type, SNAP_SLOT_EXEC);
	assert_int_equal(t.snap.slots[0].cpu, 1);
	assert_int_equal(t.snap.slots[0].cpu_pinned, 0);
	assert_int_equal(t.snap.slots[0].task_pinned_max, 2);
	assert_int_equal(t.snap.slots[1].type, SNAP_SLOT_DATA);
	assert_int_equal(t.snap.slots[1].cpu_pinned, 2);
	assert_int_equal(t.snap.slots[1].task_pinned_max, 1);
	stage_deinit(&t);
}

static void test_registers(void **state)
{
	struct stage t;

	(void)state;
	stage_init(&t, 1);
	const struct raw_event *r = add_raw_event(&t, 0, 1);
	t.cpus[1].regs[0][0] = 0xdead; /* of an event that came later */
	t.cpus[1].regs[0][2] = r->addr;
	t.cpus[1].dr7 = 1 << 4; /* the local bit of the third one */
	fill(&t);
	assert_int_equal(t.snap.n_registers, 2);
	assert_int_equal(t.snap.registers[0].event, 0);
	assert_int_equal(t.snap.registers[0].enabled, 0);
	assert_int_equal(t.snap.registers[1].event, 1);
	assert_int_equal(t.snap.registers[1].index, 2);
	assert_int_equal(t.snap.registers[1].enabled, 1);
	assert_int_equal(t.snap.registers[1].addr, r->bp_addr);
	stage_deinit(&t);
}

static void test_flags(void **state)
{
	static const uint32_t kinds = SNAP_CHILD | SNAP_KERNEL | SNAP_PTRACE | SNAP_ORPHAN |
				      SNAP_CPU_BOUND | SNAP_OWN | SNAP_CGROUP | SNAP_GROUP_MEMBER;
	static const uint32_t want[] = {
		SNAP_CPU_BOUND | SNAP_OWN,
		SNAP_CHILD,
		SNAP_PTRACE,
		SNAP_KERNEL,
		SNAP_ORPHAN,
		0,
		SNAP_CGROUP,
		0,
	};
	struct stage t;

	(void)state;
	stage_init(&t, 1);
	add_raw_event(&t, 0, 0)->owner_pid = SELF;
	struct raw_event *r = add_raw_event(&t, 10, -1);
	r->parent = 0x1000;
	r->parent_id = 100;
	r->owner_pid = 0;
	r = add_raw_event(&t, 10, -1);
	r->flags = RAW_KERNEL | RAW_PTRACE;
	r->owner_pid = 0;
	r = add_raw_event(&t, 10, -1);
	r->flags = RAW_KERNEL;
	r->owner_pid = 0;
	/* It has no owner; the first has a descriptor, the second is just being opened. */
	for (int k = 0; k < 2; k++) {
		r = add_raw_event(&t, 10, -1);
		r->owner_pid = r->owner_tid = 0;
	}
	r = add_raw_event(&t, 0, 0);
	r->flags = RAW_CGROUP;
	snprintf(r->cgroup, sizeof(r->cgroup), "web");
	add_raw_event(&t, 10, -1);
	t.holders[0] = (struct raw_holder){
		.event = t.events[4].addr, .id = t.events[4].id, .pid = 9, .fd = 3};
	t.holders[1] = (struct raw_holder){.event = 0xdead, .pid = 9, .fd = 4};
	t.i.found.n_holders = 2;
	fill(&t);
	assert_int_equal(t.snap.n_events, 8);
	for (size_t k = 0; k < 8; k++)
		assert_int_equal(t.snap.events[k].flags & kinds, want[k]);
	/* Of an event that the lists did not have yet: it waits for the next snapshot. */
	assert_int_equal(t.snap.n_holders, 1);
	assert_int_equal(t.snap.holders[0].event, 5);
	assert_string_equal(perfsnap_text(&t.snap, t.snap.events[6].target_comm), "web");
	stage_deinit(&t);
}

/* An event on two lists is one; what was read while it was freed is none. */
static void test_rows(void **state)
{
	struct stage t;

	(void)state;
	stage_init(&t, 1);
	add_raw_event(&t, 10, -1);
	add_raw_event(&t, 10, -1)->addr = t.events[0].addr;
	add_raw_event(&t, 10, -1)->id = 0;
	add_raw_event(&t, 10, -1)->cpu = 70000;
	add_raw_event(&t, 10, -1)->state = 9;
	add_raw_event(&t, 10, -1)->state = SNAP_DEAD;
	add_raw_event(&t, 10, -1)->flags = RAW_NEWBORN;
	add_raw_event(&t, 10, -1)->state = SNAP_REVOKED;
	fill(&t);
	assert_int_equal(t.snap.n_events, 2);
	assert_int_equal(t.snap.events[1].state, SNAP_REVOKED);
	/* Before 6.15 that number was the dead's. */
	t.i.layout.has_revoked = false;
	fill(&t);
	assert_int_equal(t.snap.n_events, 1);
	stage_deinit(&t);
}

static void test_counts(void **state)
{
	struct stage t;

	(void)state;
	stage_init(&t, 1);
	struct raw_event *r = add_raw_event(&t, 10, -1);
	r->state = SNAP_ACTIVE;
	r->count = 5;
	r->enabled_ns = 100;
	r->running_ns = 50;
	r->tstamp = 1000;
	r->ctx_time = 1030;
	fill(&t);
	assert_true(t.snap.events[0].hits == UINT64_MAX);
	assert_int_equal(t.snap.events[0].enabled_ns, 130);
	assert_int_equal(t.snap.events[0].running_ns, 80);
	r->count = 12;
	r->state = SNAP_INACTIVE;
	r->ctx_time = 900; /* not brought up to date yet */
	fill(&t);
	assert_int_equal(t.snap.events[0].hits, 7);
	assert_int_equal(t.snap.events[0].enabled_ns, 100);
	/* Reset by its owner: no rate, and no wrong one afterwards. */
	r->count = 2;
	fill(&t);
	assert_true(t.snap.events[0].hits == UINT64_MAX);
	r->count = 3;
	r->flags = RAW_CGROUP;
	r->ctx_time = 5000;
	fill(&t);
	assert_int_equal(t.snap.events[0].hits, 1);
	assert_int_equal(t.snap.events[0].enabled_ns, 100);
	assert_false(t.snap.events[0].flags & SNAP_TIMES);
	stage_deinit(&t);
}

/* A counter is added up when it leaves its PMU: until then its count is of before, and no rate. */
static void test_stale_counts(void **state)
{
	struct stage t;

	(void)state;
	stage_init(&t, 1);
	struct raw_event *r = add_raw_event(&t, 0, 0);
	*r = (struct raw_event){.addr = 1, .id = 9, .type = PERF_TYPE_HARDWARE, .count = 50};
	r->state = SNAP_ACTIVE;
	r->tstamp = 1000;
	r->ctx_time = 1800;
	fill(&t);
	assert_true(t.snap.events[0].flags & SNAP_STALE);
	assert_int_equal(t.snap.events[0].count_age_ns, 800);
	r->state = SNAP_INACTIVE;
	r->count = 90;
	fill(&t);
	/* Of now, but the one before was not: the growth since then is unknown. */
	assert_false(t.snap.events[0].flags & SNAP_STALE);
	assert_int_equal(t.snap.events[0].count_age_ns, 0);
	assert_true(t.snap.events[0].hits == UINT64_MAX);
	r->count = 95;
	fill(&t);
	assert_int_equal(t.snap.events[0].hits, 5);
	/* Clocks are added up like counters, other software events as they happen. */
	r->state = SNAP_ACTIVE;
	r->type = PERF_TYPE_SOFTWARE;
	r->config = PERF_COUNT_SW_CPU_CLOCK;
	fill(&t);
	assert_true(t.snap.events[0].flags & SNAP_STALE);
	r->config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	fill(&t);
	assert_false(t.snap.events[0].flags & SNAP_STALE);
	stage_deinit(&t);
}

/* The part about slots has the owner found last, for breakpoints that are still the same. */
static void test_kept_holders(void **state)
{
	struct raw_holder kept[3] = {{.pid = 9, .fd = 3}, {.pid = 9, .fd = 4}, {.pid = 10}};
	struct stage t;

	(void)state;
	stage_init(&t, 1);
	for (int k = 0; k < 2; k++) {
		const struct raw_event *r = add_raw_event(&t, 10, -1);
		kept[k].event = r->addr;
		kept[k].id = r->id;
	}
	kept[1].id = 7; /* at the address of the second there was another one */
	kept[2].event = 0xdead;
	kept[2].id = 8;
	t.i.kept = (struct kept_holders){.list = kept, .n = 3};
	assert_int_equal(bpf_fill(&t.i, INSPECT_SLOTS, &t.snap), 0);
	assert_int_equal(t.snap.n_holders, 1);
	assert_int_equal(t.snap.holders[0].event, 1);
	assert_int_equal(t.snap.holders[0].fd, 3);
	stage_deinit(&t);
}

/* Each kind of look has its own snapshot before. */
static void test_two_series(void **state)
{
	struct stage t;

	(void)state;
	stage_init(&t, 1);
	struct raw_event *r = add_raw_event(&t, 10, -1);
	r->count = 5;
	fill(&t);
	r->count = 8;
	perfsnap_clear(&t.snap);
	assert_int_equal(bpf_fill(&t.i, INSPECT_SLOTS, &t.snap), 0);
	assert_true(t.snap.events[0].hits == UINT64_MAX);
	r->count = 9;
	perfsnap_clear(&t.snap);
	assert_int_equal(bpf_fill(&t.i, INSPECT_SLOTS, &t.snap), 0);
	assert_int_equal(t.snap.events[0].hits, 1);
	fill(&t);
	assert_int_equal(t.snap.events[0].hits, 4);
	stage_deinit(&t);
}

static void test_cost(void **state)
{
	struct inspect_cost c = {0};
	struct snap_head h = {.time_ns = 5000000000};

	(void)state;
	inspect_cost(&c, &h, inspect_cpu_ns());
	assert_int_equal(h.cost_per_s_ns, 0);
	for (int k = 0; k < 4; k++) {
		h.time_ns += 300000000;
		inspect_cost(&c, &h, inspect_cpu_ns() - 600000);
	}
	/* Four of at least 600 us in 1.2 s; and a look right after that changes nothing. */
	assert_true(h.cost_ns >= 600000 && h.cost_per_s_ns >= 2000000);
	uint64_t before = h.cost_per_s_ns;
	h.time_ns += 1000;
	inspect_cost(&c, &h, inspect_cpu_ns() - 600000);
	assert_int_equal(h.cost_per_s_ns, before);
}

static void test_attributes(void **state)
{
	struct stage t;

	(void)state;
	stage_init(&t, 1);
	struct raw_event *r = add_raw_event(&t, 0, 0);
	r->flags = RAW_FREQUENCY | 2u << RAW_EXCLUDES_BIT | 3u << RAW_PRECISE_BIT;
	fill(&t);
	uint32_t f = t.snap.events[0].flags;
	assert_int_equal(f >> SNAP_EXCLUDES_BIT & 15, 2);
	assert_int_equal(f >> SNAP_PRECISE_BIT & 3, 3);
	assert_true(f & SNAP_FREQUENCY);
	stage_deinit(&t);
}

static void test_contexts(void **state)
{
	struct stage t;

	(void)state;
	stage_init(&t, 1);
	t.contexts[0] = (struct raw_context){.addr = 1, .cpu = 0, .events = 2};
	t.contexts[1] = (struct raw_context){.addr = 2, .cpu = -1, .tid = 10, .events = 0};
	t.contexts[2] = t.contexts[0];
	t.i.found.n_contexts = 3;
	struct raw_event *r = add_raw_event(&t, 0, 0);
	r->ctx = 1;
	r->flags = RAW_PINNED;
	r->state = SNAP_ACTIVE;
	r->enabled_ns = 1000;
	r->running_ns = 250;
	r = add_raw_event(&t, 0, 0);
	r->ctx = 1;
	r->flags = RAW_ROTATES;
	r->enabled_ns = 1000;
	fill(&t);
	/* One seen twice, one without events. */
	assert_int_equal(t.snap.n_contexts, 1);
	assert_int_equal(t.snap.contexts[0].events, 2);
	assert_int_equal(t.snap.contexts[0].pinned, 1);
	assert_int_equal(t.snap.contexts[0].flexible, 1);
	assert_int_equal(t.snap.contexts[0].active, 1);
	assert_int_equal(t.snap.contexts[0].rotating, 1);
	assert_int_equal(t.snap.contexts[0].running_permille, 125);
	stage_deinit(&t);
}

static void check_creator(const struct perfsnap *s, size_t i, int32_t pid, const char *comm,
			  uint64_t opened, uint64_t inherited)
{
	assert_true(i < s->n_creators);
	assert_int_equal(s->creators[i].pid, pid);
	assert_string_equal(perfsnap_text(s, s->creators[i].comm), comm);
	assert_int_equal(s->creators[i].opened, opened);
	assert_int_equal(s->creators[i].inherited, inherited);
}

/* An event newer than all that an earlier snapshot found was created since; its creator stays. */
static void test_creations(void **state)
{
	struct stage t;

	(void)state;
	stage_init(&t, 1);
	t.cpus[1].info[0] = 2;
	add_raw_event(&t, 10, -1);
	fill_at(&t, 5);
	assert_int_equal(t.snap.head.creations, SNAP_CREATIONS_LOOKS);
	assert_int_equal(t.snap.head.creations_since_ns, 5);
	assert_int_equal(t.snap.n_creators, 0);
	assert_int_equal(t.snap.slots[0].most, 1 + 1);
	assert_int_equal(t.snap.slots[1].most, 3 + 1);
	strcpy(add_raw_event(&t, 10, -1)->owner_comm, "gdb");
	struct raw_event *child = add_raw_event(&t, 11, -1);
	child->parent = t.events[0].addr;
	child->parent_id = t.events[0].id;
	child->owner_pid = 0;
	strcpy(child->target_comm, "app");
	add_raw_event(&t, 0, 0)->owner_pid = SELF; /* our own is not counted */
	fill_at(&t, 9);
	assert_int_equal(t.snap.n_creators, 2);
	assert_int_equal(t.snap.head.creations_since_ns, 5);
	check_creator(&t.snap, 0, 5, "gdb", 1, 0);
	check_creator(&t.snap, 1, 11, "app", 0, 1);
	/* All are gone, and the CPUs' own. */
	t.i.found.n_events = 0;
	t.cpus[1].info[0] = 0;
	fill(&t);
	assert_int_equal(t.snap.n_creators, 2);
	check_creator(&t.snap, 0, 5, "gdb", 1, 0);
	assert_int_equal(t.snap.slots[0].most, 2 + 1);
	assert_int_equal(t.snap.slots[1].most, 4 + 1);
	stage_deinit(&t);
}

static void test_missing(void **state)
{
	struct stage t;

	(void)state;
	stage_init(&t, 1);
	for (int cpu = 0; cpu < CPUS; cpu++)
		t.cpus[cpu].base = 0;
	fill(&t);
	assert_int_equal(t.snap.n_slots, 0);
	assert_true(t.snap.head.missing & SNAP_NO_SLOTS);
	assert_true(perfsnap_text(&t.snap, t.snap.head.reason)[0]);
	stage_deinit(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slots),	     cmocka_unit_test(test_two_pools),
		cmocka_unit_test(test_registers),    cmocka_unit_test(test_flags),
		cmocka_unit_test(test_rows),	     cmocka_unit_test(test_counts),
		cmocka_unit_test(test_attributes),   cmocka_unit_test(test_contexts),
		cmocka_unit_test(test_missing),	     cmocka_unit_test(test_stale_counts),
		cmocka_unit_test(test_kept_holders), cmocka_unit_test(test_two_series),
		cmocka_unit_test(test_cost),	     cmocka_unit_test(test_creations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
