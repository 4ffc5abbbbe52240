// SPDX-License-Identifier: GPL-2.0-only
/*
 * Why a holder that could run does not. It is asked only for snapshots with such a holder: then of
 * all holders, and of as many tasks that wait for them as there is room for. A holder of the lock
 * of a file or a program is known from /proc, where a task that waits for a CPU counts as running:
 * its state is corrected here.
 */
#include "runs.h"
#include "because.h"
#include "bpf-run.h"
#include "btf/types.h"
#include "internal.h"
#include "kontend/mem.h"
#include "runs-shared.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern const char runs_object[], runs_object_end[];

struct runs {
	struct bpf_object *object;
	struct bpf_link *see;
	struct bpf_map *by_thread;
	struct raw_run *all;
	int walk; /* program; 0 in the initial namespace */
	uint32_t n;
};

static int load(struct runs *r, struct kerntypes *types, struct error *err)
{
	struct raw_runs_config config = {.self = (unsigned int)getpid()};
	struct bpf_run_file f = {
		.bytes = runs_object,
		.len = (size_t)(runs_object_end - runs_object),
		.config = &config,
		.config_size = sizeof(config),
		.types = types,
	};
	int code = ns_own(&config.ns, types, err);

	code = code < 0 ? code : bpf_run_load(&r->object, &f, err);
	if (code < 0)
		return code;
	r->all = bpf_run_map(r->object, "runs", RAW_RUNS * sizeof(*r->all), PROT_READ | PROT_WRITE,
			     err);
	r->by_thread = bpf_object__find_map_by_name(r->object, "runs_by_thread");
	r->see = r->all && r->by_thread ? bpf_run_iterator(r->object, "see_runs", err) : NULL;
	if (!r->see)
		return err->code;
	r->walk = config.ns.level ? bpf_run_program(r->object, "walk_runs", err) : 0;
	return r->walk < 0 ? r->walk : 0;
}

int runs_new(struct runs **ret, struct kerntypes *types, struct error *err)
{
	struct runs *r = mem_calloc(1, sizeof(*r));

	if (!r)
		return error_enomem(err, "reading how holders are scheduled");
	int code = load(r, types, err);
	if (code < 0) {
		runs_free(r);
		return code;
	}
	*ret = r;
	return 0;
}

/* By /proc a task that waits for a CPU is running. */
static bool may_wait_for_cpu(const struct locksnap_queue *q)
{
	if (q->certainty == LOCKSNAP_NOBODY || q->holder_tid <= 0)
		return false;
	return q->holder_state == LOCKSNAP_RUNNABLE ||
	       (q->holder_state == LOCKSNAP_RUNNING && q->type >= LOCKSNAP_FLOCK);
}

static void ask_for(struct runs *r, int32_t tid)
{
	const uint32_t at = r->n + 1;

	if (tid <= 0 || r->n >= RAW_RUNS ||
	    bpf_map__update_elem(r->by_thread, &tid, sizeof(tid), &at, sizeof(at), BPF_NOEXIST) < 0)
		return;
	r->all[r->n] = (struct raw_run){.tid = tid};
	r->n++;
}

static void forget(struct runs *r)
{
	for (uint32_t i = 0; i < r->n; i++)
		bpf_map__delete_elem(r->by_thread, &r->all[i].tid, sizeof(r->all[i].tid), 0);
	r->n = 0;
}

/* The holders that matter first, then the others, through which a chain may lead. */
static void ask(struct runs *r, const struct locksnap *s)
{
	for (size_t i = 0; i < s->n_queues; i++)
		if (may_wait_for_cpu(&s->queues[i]))
			ask_for(r, s->queues[i].holder_tid);
	for (size_t i = 0; r->n && i < s->n_waiters; i++)
		if (may_wait_for_cpu(&s->queues[s->waiters[i].queue]))
			ask_for(r, s->waiters[i].tid);
	for (size_t i = 0; r->n && i < s->n_waiters; i++)
		ask_for(r, s->waiters[i].tid);
}

static const struct raw_run *run_of(const struct runs *r, int32_t tid)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (r->all[i].tid == tid)
			return r->all[i].seen ? &r->all[i] : NULL;
	return NULL;
}

static void correct_states(const struct runs *r, struct locksnap *s)
{
	for (size_t i = 0; i < s->n_queues; i++) {
		struct locksnap_queue *q = &s->queues[i];
		const struct raw_run *run = may_wait_for_cpu(q) ? run_of(r, q->holder_tid) : NULL;

		if (!run || q->type < LOCKSNAP_FLOCK || !run->runnable)
			continue;
		q->holder_state = LOCKSNAP_RUNNABLE;
		q->holder_cpu = run->cpu;
	}
}

static int put(const struct raw_run *from, struct locksnap *s)
{
	struct locksnap_run to = {
		.tid = from->tid,
		.policy = from->policy,
		.rt_priority = from->rt_priority,
		.prio = from->prio,
		.normal_prio = from->normal_prio,
		.nice = from->nice,
		.cpu = from->cpu,
		.cpus = from->cpus,
		.state = from->on_cpu	  ? LOCKSNAP_RUNNING
			 : from->runnable ? LOCKSNAP_RUNNABLE
					  : LOCKSNAP_ASLEEP,
		.off_pid = from->off.pid,
		.off_tid = from->off.tid,
		.off_policy = from->off.policy,
		.off_rt_priority = from->off.rt_priority,
		.off_prio = from->off.prio,
		.is_throttled = from->limited,
		.throttled_ns = from->throttled,
		.quota_ns = from->quota,
		.period_ns = from->period,
	};
	char limit[RAW_PATH_NAMES + 8];

	to.off_comm = snapshot_locks_add_text(s, from->off.comm, sizeof(from->off.comm));
	because_path(&from->limit, limit, sizeof(limit));
	if (*limit || from->limit.whole)
		to.limit = snapshot_locks_add_long(s, *limit ? limit : "/");
	return locksnap_add_run(s, &to);
}

int runs_add(struct runs *r, struct locksnap *s)
{
	int code;

	ask(r, s);
	if (!r->n)
		return 0;
	code = bpf_run_iterate(r->see);
	if (code == 0 && r->walk)
		code = bpf_run_once(r->walk, -1);
	for (uint32_t i = 0; code == 0 && i < r->n; i++)
		code = r->all[i].seen ? put(&r->all[i], s) : 0;
	if (code == 0)
		correct_states(r, s);
	forget(r);
	return code;
}

void runs_free(struct runs *r)
{
	if (!r)
		return;
	bpf_run_unmap(r->all, RAW_RUNS * sizeof(*r->all));
	bpf_link__destroy(r->see);
	bpf_object__close(r->object);
	mem_free(r);
}
