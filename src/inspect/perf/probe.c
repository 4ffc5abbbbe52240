// SPDX-License-Identifier: GPL-2.0-only
/*
 * The inspector without BPF. The kernel refuses a breakpoint with ENOSPC when the slots do not
 * suffice, so the number of disabled ones that can be opened, one after the other, shows how many
 * slots were free (kernel/events/hw_breakpoint.c, fetch_bp_busy_slots()). Of N slots of a CPU:
 *
 *   for our own thread, bound to the CPU:  N - cpu_pinned
 *   for the CPU itself:                    N - cpu_pinned - what the task with most has there
 *
 * The first takes a lock that many may hold at once, and some microseconds; the second locks out
 * all others, so it is done on request only. For the time of a probe the slots are taken: another
 * program's open may fail that would not have failed. Holders of perf descriptors are read from
 * /proc, which does not name their events.
 */
#include "internal.h"
#include "kontend/clock.h"
#include "kontend/cpulist.h"
#include "kontend/inspect.h"
#include "kontend/mem.h"
#include "kontend/perf-event.h"
#include "kontend/sysinfo.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SLOTS_MAX = 32 }; /* of any machine */

struct inspect_probe {
	struct inspect base;
	bool probe_cpus, want_cpus; /* done, and requested */
	uint64_t slots_ns, holders_ns;
	struct perfsnap slots, holders; /* as of their times */
	int slots_code, holders_code;
	int keep_fd; /* a task event: the first and the last one of a system are slow to open */
	struct slots_machine machine;
	uint64_t last_ns;
	struct inspect_cost cost;
};

static int open_event(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	attr->size = sizeof(*attr);
	return perf_event_open(attr, pid, cpu, 0);
}

static int open_breakpoint(const void *at, uint32_t type, pid_t pid, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.bp_type = type == SNAP_SLOT_EXEC ? HW_BREAKPOINT_X : HW_BREAKPOINT_W,
		.bp_addr = (uintptr_t)at,
		.bp_len = type == SNAP_SLOT_EXEC ? sizeof(long) : HW_BREAKPOINT_LEN_1,
		.disabled = 1,
		.exclude_kernel = 1,
	};

	return open_event(&attr, pid, cpu);
}

/* Opens them until the kernel has no more: returns the number, or the errno of another refusal. */
static int count_free(uint32_t type, pid_t pid, int cpu)
{
	static const long there = 0;
	int fds[SLOTS_MAX], n = 0, fd = 0;

	while (n < SLOTS_MAX && (fd = open_breakpoint(&there, type, pid, cpu)) >= 0)
		fds[n++] = fd;
	for (int i = 0; i < n; i++)
		close(fds[i]);
	return fd < 0 && fd != -ENOSPC ? fd : n;
}

int inspect_probe_free(uint32_t type, pid_t tid, int cpu)
{
	return count_free(type, tid, cpu);
}

/* May this user open breakpoints of CPUs? A failed attempt would delay others, too. */
static bool may_probe_cpus(void)
{
	return sysinfo_capable(CAP_PERFMON) || sysinfo_capable(CAP_SYS_ADMIN) ||
	       sysinfo_number("/proc/sys/kernel/perf_event_paranoid", 2) <= 0;
}

static int probe_cpu(const struct inspect_probe *p, struct perfsnap *s, uint32_t cpu, uint32_t type,
		     int32_t slots)
{
	struct snap_slots item = {cpu, type, slots, -1, -1, 0};
	int task = count_free(type, 0, (int)cpu);

	if (task == -ENODEV || task == -ENXIO)
		return 0; /* offline */
	if (task < 0)
		return task;
	item.cpu_pinned = slots - task;
	int wide = p->probe_cpus ? count_free(type, -1, (int)cpu) : -1;
	/* Negative if a task closed one in between: the next snapshot corrects it. */
	if (wide >= 0)
		item.task_pinned_max = task > wide ? task - wide : 0;
	return perfsnap_add_slots(s, &item);
}

static int probe_slots(const struct inspect_probe *p, struct perfsnap *s)
{
	uint32_t *online;
	size_t n;
	int code = cpulist_read("online", &online, &n);

	if (code < 0)
		return code;
	for (size_t i = 0; !code && i < n; i++)
		for (uint32_t k = 0; !code && k < p->machine.pools; k++)
			code = probe_cpu(p, s, online[i], p->machine.type[k], p->machine.slots[k]);
	mem_free(online);
	return code;
}

static int add_holder(void *arg, int32_t pid, int32_t fd, const char *comm)
{
	struct perfsnap *s = arg;
	struct snap_holder h = {0, pid, fd, perfsnap_add_text(s, comm)};

	return pid == getpid() ? 0 : perfsnap_add_holder(s, &h);
}

/* Are data of the time @then older than @age? */
static bool is_due(uint64_t then, uint64_t now, uint64_t age)
{
	return !then || now - then >= age;
}

/*
 * Repeats the measurements that are due. Breakpoints that are open for a moment take slots from
 * others, and walking through all descriptors takes tens of milliseconds if there are many.
 */
static int look_at_slots(struct inspect_probe *p, uint64_t now)
{
	if (is_due(p->slots.head.time_ns, now, p->slots_ns)) {
		perfsnap_clear(&p->slots);
		p->slots_code = probe_slots(p, &p->slots);
		p->slots.head.time_ns = now;
	}
	if (is_due(p->holders.head.time_ns, now, p->holders_ns)) {
		perfsnap_clear(&p->holders);
		p->holders_code = fdscan("/proc", add_holder, &p->holders);
		p->holders.head.time_ns = now;
	}
	return p->slots_code == -ENOMEM || p->holders_code == -ENOMEM ? -ENOMEM : 0;
}

static int copy(const struct inspect_probe *p, struct perfsnap *s)
{
	int code = 0;

	for (size_t i = 0; code == 0 && i < p->slots.n_slots; i++)
		code = perfsnap_add_slots(s, &p->slots.slots[i]);
	for (size_t i = 0; code == 0 && i < p->holders.n_holders; i++) {
		struct snap_holder h = p->holders.holders[i];
		h.comm = perfsnap_add_text(s, perfsnap_text(&p->holders, h.comm));
		code = perfsnap_add_holder(s, &h);
	}
	return code;
}

/* Sets the method, and the reason why BPF was not used. */
static void say_missing(const struct inspect_probe *p, struct perfsnap *s)
{
	char text[512];
	const char *fds = sysinfo_capable(CAP_SYS_PTRACE)
				  ? ""
				  : "; descriptors of other users' processes are not seen";
	const char *cpus = p->probe_cpus  ? ""
			   : p->want_cpus ? "; counting those of tasks needs CAP_PERFMON"
					  : "; those of tasks are counted with --probe-cpus";

	s->head.missing = SNAP_NO_REGISTERS | SNAP_NO_EVENTS | SNAP_NO_CONTEXTS | SNAP_NO_ROTATION;
	if (!p->probe_cpus)
		s->head.missing |= SNAP_NO_TASK_MAX;
	if (p->slots_code < 0 || !p->machine.pools)
		s->head.missing |= SNAP_NO_SLOTS | SNAP_NO_TASK_MAX;
	if (p->holders_code < 0)
		s->head.missing |= SNAP_NO_HOLDERS;
	if (!p->machine.pools)
		snprintf(text, sizeof(text),
			 "%s; the number of slots of this CPU is not known either", p->base.why);
	else if (p->slots_code < 0)
		snprintf(text, sizeof(text), "%s; breakpoints cannot be opened: %s", p->base.why,
			 strerror(-p->slots_code));
	else
		snprintf(text, sizeof(text), "%s; slots are counted by opening breakpoints%s%s",
			 p->base.why, cpus, fds);
	s->head.reason = perfsnap_add_text(s, text);
}

static int take_snapshot(struct inspect *base, enum inspect_what what, struct perfsnap *ret,
			 struct error *err)
{
	struct inspect_probe *p = (struct inspect_probe *)base;
	uint64_t from = clock_now_ns(), cpu = inspect_cpu_ns();

	(void)what;
	perfsnap_clear(ret);
	ret->head.method = SNAP_PROBE;
	ret->head.time_ns = from;
	ret->head.interval_ns = p->last_ns ? from - p->last_ns : 0;
	ret->head.opened = UINT64_MAX;
	if (look_at_slots(p, from) < 0 || copy(p, ret) < 0)
		return error_enomem(err, "a snapshot of breakpoint slots");
	say_missing(p, ret);
	p->last_ns = from;
	inspect_cost(&p->cost, &ret->head, cpu);
	return 0;
}

static void probe_free(struct inspect *base)
{
	struct inspect_probe *p = (struct inspect_probe *)base;

	if (p->keep_fd >= 0)
		close(p->keep_fd);
	perfsnap_deinit(&p->slots);
	perfsnap_deinit(&p->holders);
	mem_free(p);
}

static const struct inspect_ops ops = {.take = take_snapshot, .free = probe_free};

int inspect_probe_new(struct inspect **ret, const struct inspect_options *o, struct error *err)
{
	struct inspect_probe *p = mem_calloc(1, sizeof(*p));
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.disabled = 1,
		.exclude_kernel = 1,
	};

	if (!p)
		return error_enomem(err, "the inspector");
	p->base.ops = &ops;
	p->want_cpus = o->probe_cpus;
	p->probe_cpus = o->probe_cpus && may_probe_cpus();
	p->slots_ns = o->slots_ns;
	p->holders_ns = o->holders_ns;
	p->machine = slots_of_machine();
	/* Without it probing is only slower. */
	p->keep_fd = open_event(&attr, 0, -1);
	*ret = &p->base;
	return 0;
}
