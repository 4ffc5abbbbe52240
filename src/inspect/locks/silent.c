// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locks for which tasks wait without an event, as sleepers.bpf.c has found them: mappings that a
 * task is to change while page faults use them, and percpu-rwsems that a task is to write. A wait
 * for a lock of these has one part or two: a percpu-rwsem's writer waits for a grace period of RCU
 * and then until the readers of before are through. Only from then on other tasks wait for it:
 * these have events, but may have begun to wait before there were any.
 *
 * The lock itself names the task that waits for readers. A grace period is only the state of the
 * lock, which other tasks may use meanwhile: so the calls of the task must say that it waits for
 * that.
 */
#include "internal.h"
#include "kontend/map64.h"
#include "kontend/vmalock.h"
#include "sleepers-shared.h"

#include <errno.h>

/* The calls that wait for RCU, which are no callers of the lock. */
static size_t rcu_frames(const struct raw_silent_pass *p, const struct raw_blocked *r)
{
	if (r->part != RAW_RCU_PART || !p->functions)
		return 0;
	return locks_readers_rcu(p->functions, r->frames, sleepers_frames(r->bytes, r->frames));
}

static bool waits(const struct raw_silent_pass *p, const struct raw_blocked *r)
{
	return r->lock && (r->part != RAW_RCU_PART || rcu_frames(p, r));
}

static uint64_t addr_of(const struct raw_blocked *r)
{
	return r->mm ? vmalock_addr(r->mm, r->start) : r->lock;
}

/* Of task @i of the pass: its place in the snapshot has its calls, and when it began to sleep. */
static int add_waiter(const struct raw_silent_pass *p, size_t i, struct locksnap_queue *q,
		      struct locksnap *s)
{
	const struct raw_blocked *r = &p->of->blocked[i];
	const struct locksnap_blocked *b = &s->blocked[i];
	uint32_t skip = (uint32_t)rcu_frames(p, r);
	bool reads = r->part == RAW_READS_PART, queued = reads || r->part == RAW_WRITES_PART;
	const struct locksnap_waiter w = {
		.queue = (uint32_t)s->n_queues,
		.position = q->readers_waiting + q->writers_waiting + 1,
		.pid = b->pid,
		.tid = b->tid,
		.comm = b->comm,
		.frame = b->frame + skip,
		.n_frames = b->n_frames - skip,
		.ran_ns = b->ran_ns,
		.cpu = b->cpu,
		.measured = 1,
		.reader = reads,
		.part = queued ? LOCKSNAP_NO_PART : r->part,
		.switches = r->switches,
	};

	*(reads ? &q->readers_waiting : &q->writers_waiting) += 1;
	if (r->part == RAW_READERS_PART) {
		q->certainty = LOCKSNAP_SURE;
		q->holder_pid = b->pid;
		q->holder_tid = b->tid;
		q->holder_comm = b->comm;
		q->holder_state = LOCKSNAP_ASLEEP;
		q->holder_cpu = (int32_t)b->cpu - 1;
		q->holder_frame = b->frame;
		q->holder_n_frames = b->n_frames;
	}
	return locksnap_add_waiter(s, &w);
}

static int add_keeper(const struct raw_keeper *k, struct locksnap_queue *q, struct locksnap *s)
{
	struct locksnap_reader to = {
		.queue = (uint32_t)s->n_queues,
		.pid = k->pid,
		.tid = k->tid,
		.comm = snapshot_locks_add_text(s, k->comm, sizeof(k->comm)),
		.state = LOCKSNAP_ASLEEP,
		.cpu = k->cpu,
		.frame = (uint32_t)s->n_frames,
		.n_frames = (uint32_t)sleepers_frames(k->bytes, k->frames),
	};
	int code = 0;

	for (uint32_t i = 0; code == 0 && i < to.n_frames; i++) {
		const uint64_t addr = k->frames[i];
		code = locksnap_add_frame(s, &addr);
	}
	if (code < 0)
		return code;
	snapshot_locks_hold_by(q, &to);
	return locksnap_add_reader(s, &to);
}

/* The one that has slept for longest first. */
static int add_keepers(const struct raw_silent_pass *p, uint64_t vma, struct locksnap_queue *q,
		       struct locksnap *s)
{
	const struct raw_keeper *first = NULL;
	int code = 0;

	for (size_t i = 0; i < p->n_keepers; i++) {
		const struct raw_keeper *k = &p->keepers[i];
		if (k->vma == vma && (!first || (k->ran && k->ran < first->ran)))
			first = k;
	}
	code = first ? add_keeper(first, q, s) : 0;
	for (size_t i = 0; code == 0 && i < p->n_keepers; i++)
		if (p->keepers[i].vma == vma && &p->keepers[i] != first)
			code = add_keeper(&p->keepers[i], q, s);
	return code;
}

/* A mapping of another process belongs to that of the tasks that keep it. */
static int add_name(const struct raw_blocked *r, const struct locksnap_blocked *b,
		    const struct locksnap_queue *q, struct locksnap *s)
{
	const struct locksnap_name n = {.addr = addr_of(r),
					.kind = LOCKSNAP_VMA,
					.cpu = -1,
					.pid = r->is_foreign ? q->holder_pid : b->pid,
					.comm = r->is_foreign ? q->holder_comm : b->process,
					.start = r->start,
					.past = r->past};

	return locksnap_add_name(s, &n);
}

/* The lock of task @first, which is the first of those that wait for it. */
static int add_queue(const struct raw_silent_pass *p, size_t first, struct locksnap *s)
{
	const struct raw_blocked *r = &p->of->blocked[first];
	struct locksnap_queue q = {.addr = addr_of(r),
				   .type = r->mm ? LOCKSNAP_VMA_LOCK : LOCKSNAP_PCPU,
				   .holder_cpu = -1};
	int code = 0;

	for (size_t i = first; code == 0 && i < p->of->n; i++)
		if (addr_of(&p->of->blocked[i]) == q.addr && waits(p, &p->of->blocked[i]))
			code = add_waiter(p, i, &q, s);
	if (code == 0 && r->mm) {
		code = add_keepers(p, r->lock, &q, s);
		code = code < 0 ? code : add_name(r, &s->blocked[first], &q, s);
	}
	return code < 0 ? code : locksnap_add_queue(s, &q);
}

int silent_fill(const struct raw_silent_pass *p, struct locksnap *ret)
{
	struct map64 done = {0};
	int code = 0;

	for (size_t i = 0; code == 0 && i < p->of->n; i++) {
		const struct raw_blocked *r = &p->of->blocked[i];
		if (!waits(p, r) || map64_get(&done, addr_of(r)))
			continue;
		code = map64_put(&done, addr_of(r), 1);
		code = code < 0 ? code : add_queue(p, i, ret);
	}
	map64_deinit(&done);
	return code;
}
