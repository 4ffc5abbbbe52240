// SPDX-License-Identifier: GPL-2.0-only
/*
 * The clock of idle CPUs (idle.bpf.c), from user space: it begins when each CPU has been seen, and
 * CPUs that go offline, which the idle task has last, are taken out at the next reading. The
 * program of switches that the clock needs is attached as long as it runs, and counts the time of
 * threads as well (par.bpf.c).
 */
#include "idle.h"
#include "bpf-run.h"
#include "idle-shared.h"
#include "internal.h"
#include "kontend/clock.h"
#include "kontend/cpulist.h"
#include "kontend/idleclock.h"
#include "kontend/mem.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <sys/mman.h>

enum { CPUS = IDLE_GROUP * IDLE_GROUPS };

struct idle {
	struct idle_state *state;
	struct sched *sched;
	struct cpu_watch online;
	int look;
	bool attached;
	bool is_on[CPUS]; /* it was online when that was read last */
};

int idle_leave(struct bpf_object *o)
{
	static const char *const programs[] = {"look_idle"};

	/* Not the maps: the compiler takes the address of one where it is not used. */
	return bpf_run_leave_programs(o, programs, 1);
}

int idle_new(struct idle **ret, struct bpf_object *o, struct sched *sched, struct error *err)
{
	struct idle *d = mem_calloc(1, sizeof(*d));

	if (!d)
		return error_enomem(err, "the clock of idle CPUs");
	d->sched = sched;
	d->online.fd = -1;
	d->state = bpf_run_map(o, ".data.idle", sizeof(*d->state), PROT_READ | PROT_WRITE, err);
	d->look = d->state ? bpf_run_program(o, "look_idle", err) : err->code;
	if (d->look < 0) {
		idle_free(d);
		return err->code;
	}
	cpu_watch_open(&d->online, "/sys/devices/system/cpu/online");
	*ret = d;
	return 0;
}

static int look(const struct idle *d, enum idle_look what, uint32_t cpu)
{
	const uint64_t args[12] = {what, cpu};
	struct bpf_test_run_opts opts = {
		.sz = sizeof(opts),
		.ctx_in = args,
		.ctx_size_in = sizeof(args),
		.flags = what == IDLE_LOOK_HERE ? BPF_F_TEST_RUN_ON_CPU : 0,
		.cpu = what == IDLE_LOOK_HERE ? cpu : 0,
	};

	return bpf_prog_test_run_opts(d->look, &opts) < 0 ? -errno : 0;
}

/* Those that have come, and those that have gone. One that goes meanwhile is seen the next time. */
static int look_at_all(struct idle *d)
{
	uint32_t *online;
	size_t n;
	int code = cpu_watch_list(&d->online, &online, &n);

	if (code < 0)
		return code;
	for (uint32_t cpu = 0; code == 0 && cpu < CPUS; cpu++) {
		bool is_on = cpulist_has(online, n, cpu);
		if (is_on != d->is_on[cpu])
			code = look(d, is_on ? IDLE_LOOK_HERE : IDLE_LOOK_GONE, cpu);
		d->is_on[cpu] = is_on;
	}
	d->state->n_online = (unsigned int)n;
	mem_free(online);
	return code == -ENXIO ? 0 : code;
}

int idle_start(struct idle *d, struct error *err)
{
	uint64_t from = clock_ns(CLOCK_MONOTONIC);
	int code = sched_use(d->sched);

	if (code < 0)
		return error_errno(err, code, "Cannot attach the BPF program of switches");
	d->attached = true;
	code = look_at_all(d);
	if (code < 0)
		return error_errno(err, code, "Cannot see by BPF which CPUs are idle");
	__atomic_store_n(&d->state->since_ns, from, __ATOMIC_RELEASE);
	return 0;
}

bool idle_read(struct idle *d, uint64_t *ret_at_ns, uint64_t *ret_ns)
{
	const volatile struct idle_state *s = d->state;

	if (!s->since_ns || s->broken)
		return false;
	if (cpu_watch_look(&d->online) && look_at_all(d) < 0)
		return false;
	uint64_t now = clock_ns(CLOCK_MONOTONIC), groups = s->groups;
	uint64_t ns = s->sum + (groups ? now : 0);
	*ret_at_ns = now;
	*ret_ns = ns;
	return ns <= now - s->since_ns;
}

void idle_free(struct idle *d)
{
	if (!d)
		return;
	if (d->attached)
		sched_leave(d->sched);
	cpu_watch_close(&d->online);
	bpf_run_unmap(d->state, sizeof(*d->state));
	mem_free(d);
}
