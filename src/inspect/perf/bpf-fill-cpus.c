// SPDX-License-Identifier: GPL-2.0-only
/*
 * Slots and debug registers of a snapshot: what the kernel counts of each CPU, and, as it counts
 * it, the most that one task has there: its breakpoints for any CPU, and for that one.
 */
#include "bpf-int.h"
#include "kontend/mem.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

static uint32_t pool_of(const struct inspect_bpf *i, const struct snap_event *e)
{
	return i->layout.pools == 2 && !(e->bp_type & HW_BREAKPOINT_X) ? 1 : 0;
}

static uint32_t type_of(const struct inspect_bpf *i, uint32_t pool)
{
	if (i->layout.pools != 2)
		return SNAP_SLOT_ANY;
	return pool ? SNAP_SLOT_DATA : SNAP_SLOT_EXEC;
}

struct task_slot {
	int32_t tid, cpu;
};

static int by_task(const void *a, const void *b)
{
	const struct task_slot *x = a, *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

/* The breakpoints of tasks in @pool, by task; their number. */
static size_t collect(const struct inspect_bpf *i, const struct perfsnap *s, uint32_t pool,
		      struct task_slot *ret)
{
	size_t n = 0;

	for (size_t k = 0; k < s->n_events; k++) {
		const struct snap_event *e = &s->events[k];
		if (e->type == PERF_TYPE_BREAKPOINT && i->slot_tids[k] && pool_of(i, e) == pool)
			ret[n++] = (struct task_slot){i->slot_tids[k], e->cpu};
	}
	qsort(ret, n, sizeof(*ret), by_task);
	return n;
}

static int32_t most_of_a_task(const struct task_slot *t, size_t n, uint32_t cpu)
{
	int32_t most = 0, has = 0;

	for (size_t k = 0; k < n; k++) {
		if (k && t[k].tid != t[k - 1].tid)
			has = 0;
		has += t[k].cpu < 0 || t[k].cpu == (int32_t)cpu;
		most = has > most ? has : most;
	}
	return most;
}

static int fill_slots_of(struct inspect_bpf *i, struct perfsnap *s, uint32_t pool)
{
	struct task_slot *t = mem_calloc(s->n_events + 1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	size_t n = collect(i, s, pool, t);
	int code = 0;
	for (uint32_t cpu = 0; !code && cpu < i->n_cpus; cpu++) {
		const struct raw_cpu *r = &i->cpus[cpu];
		if (!r->base || r->failed)
			continue;
		uint32_t pinned;
		memcpy(&pinned,
		       (const char *)r->info + pool * i->layout.info_stride +
			       i->layout.info_cpu_pinned,
		       sizeof(pinned));
		struct snap_slots item = {cpu,
					  type_of(i, pool),
					  i->slots[pool],
					  (int32_t)pinned,
					  most_of_a_task(t, n, cpu),
					  0};
		code = perfsnap_add_slots(s, &item);
	}
	mem_free(t);
	return code;
}

/* x86: a local and a global bit a register; on others a breakpoint in a register is on. */
static uint32_t is_enabled(const struct inspect_bpf *i, const struct raw_cpu *r, uint32_t index)
{
	return i->layout.config.off_dr7 == RAW_NO_OFFSET || (r->dr7 >> (2 * index) & 3) != 0;
}

static int fill_registers_of(struct inspect_bpf *i, struct perfsnap *s, uint32_t cpu, uint32_t pool)
{
	const struct raw_cpu *r = &i->cpus[cpu];

	for (uint32_t k = 0; k < i->layout.regs[pool] && k < RAW_REGISTERS; k++) {
		uint64_t event = r->regs[pool][k];
		if (!event)
			continue;
		uint32_t at = bpf_index_of(&i->at_event, event);
		struct snap_register item = {
			.addr = at ? s->events[at - 1].bp_addr : 0,
			.cpu = cpu,
			.type = type_of(i, pool),
			.index = k,
			.event = at,
			.enabled = is_enabled(i, r, k),
		};
		if (perfsnap_add_register(s, &item) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int by_cpu(const void *a, const void *b)
{
	const struct snap_slots *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu > y->cpu ? 1 : -1;
	return (x->type > y->type) - (x->type < y->type);
}

int bpf_fill_cpus(struct inspect_bpf *i, struct perfsnap *s)
{
	for (uint32_t pool = 0; pool < i->layout.pools; pool++) {
		if (fill_slots_of(i, s, pool) < 0)
			return -ENOMEM;
		for (uint32_t cpu = 0; cpu < i->n_cpus; cpu++)
			if (i->cpus[cpu].base && !i->cpus[cpu].failed &&
			    fill_registers_of(i, s, cpu, pool) < 0)
				return -ENOMEM;
	}
	if (s->n_slots)
		qsort(s->slots, s->n_slots, sizeof(*s->slots), by_cpu);
	return 0;
}
