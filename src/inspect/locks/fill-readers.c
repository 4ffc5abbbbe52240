// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adds the readers that the programs found to a snapshot. A task that waits for the lock does not
 * hold it, whatever its call chain shows. Shown as the holder is the reader to which the kernel's
 * hint points, if it is among them, or else the first; without evidence the hint stays.
 */
#include "internal.h"

#include <errno.h>

static bool waits(const struct snapshot_locks_raw *raw, const struct raw_lock *l, int tid)
{
	for (uint32_t i = 0; i < l->waiters && l->first + i < RAW_LOCK_WAITERS; i++)
		if (raw->waiters[l->first + i].tid == tid)
			return true;
	return false;
}

static bool is_of(const struct snapshot_locks_raw *raw, const struct raw_lock *l,
		  const struct raw_reader *r)
{
	return r->lock < RAW_READER_LOCKS && raw->wanted[r->lock] == l->addr && r->tid &&
	       !waits(raw, l, r->tid);
}

static enum locksnap_state state_of(const struct raw_reader *r)
{
	if (r->on_cpu)
		return LOCKSNAP_RUNNING;
	return r->on_rq || !r->state ? LOCKSNAP_RUNNABLE : LOCKSNAP_ASLEEP;
}

/* Without the frames of the interrupt that read the task. */
static int add_calls(struct locksnap *s, const struct raw_reader *r, struct locksnap_reader *to)
{
	const int size = sizeof(r->frames[0]);
	int code = 0;

	to->frame = (uint32_t)s->n_frames;
	for (uint32_t i = r->skip <= r->in ? r->skip : 0;
	     code == 0 && i < RAW_READER_FRAMES && (int)(i + 1) * size <= r->bytes; i++) {
		const uint64_t addr = r->frames[i];
		if (i == r->in)
			to->in = (uint32_t)s->n_frames - to->frame;
		code = addr ? locksnap_add_frame(s, &addr) : 0;
	}
	to->n_frames = (uint32_t)s->n_frames - to->frame;
	if (to->in >= to->n_frames)
		to->in = 0;
	return code;
}

static int add_reader(const struct snapshot_locks_raw *raw, struct locksnap *s,
		      const struct raw_reader *r, struct locksnap_queue *q)
{
	struct locksnap_reader to = {.queue = (uint32_t)s->n_queues,
				     .pid = r->pid,
				     .tid = r->tid,
				     .state = state_of(r),
				     .cpu = r->cpu};

	to.comm = snapshot_locks_add_text(s, r->comm, sizeof(r->comm));
	if (add_calls(s, r, &to) < 0 || locksnap_add_reader(s, &to) < 0)
		return -ENOMEM;
	if (to.state == LOCKSNAP_ASLEEP && snapshot_locks_fill_call(raw, &r->call, r->tid, s) < 0)
		return -ENOMEM;
	snapshot_locks_hold_by(q, &to);
	return 0;
}

static int add_some(const struct snapshot_locks_raw *raw, const struct raw_lock *l,
		    struct locksnap *s, struct locksnap_queue *q, bool hinted)
{
	for (size_t i = 0; i < raw->n_readers; i++) {
		const struct raw_reader *r = &raw->readers[i];
		if (is_of(raw, l, r) && (r->tid == l->holder_tid) == hinted &&
		    add_reader(raw, s, r, q) < 0)
			return -ENOMEM;
	}
	return 0;
}

int snapshot_locks_fill_readers(const struct snapshot_locks_raw *raw, const struct raw_lock *l,
				struct locksnap *s, struct locksnap_queue *q)
{
	if (q->certainty != LOCKSNAP_HINT || l->type != RAW_RWSEM)
		return 0;
	int code = add_some(raw, l, s, q, true);
	return code < 0 ? code : add_some(raw, l, s, q, false);
}
