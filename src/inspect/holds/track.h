/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From acquisitions and releases of locks to holds: what holds.bpf.c does, which includes this, as
 * does its unit test in user space. Either one has before:
 *
 *	holds_sum(kind), holds_row(lock, make)	the row, or NULL
 *	holds_reader(key), holds_reader_put(key, now), holds_reader_del(key)
 *	holds_now_ns(), holds_random(), holds_chain(ctx), holds_add(), holds_most()
 *	holds_rows(kind, now, ns, every)	adds to the rows of its chain and its task
 *
 * A mutex or a writer has the lock alone: its row has the one hold, which the next task that gets
 * the lock proves to be over. Readers are by task; one that gets it again holds it until the last
 * of its releases. A writer proves that all readers before it are gone, by the row's number. Every
 * acquisition is counted; if only one of several is measured, that one counts for all of them.
 */
#ifndef KONTEND_INSPECT_HOLDS_TRACK_H
#define KONTEND_INSPECT_HOLDS_TRACK_H

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

/* The task that acts, and what it acts on. */
struct holds_event {
	unsigned long long *ctx; /* of the program */
	unsigned long long lock;
	unsigned int kind;
	int tid, pid;
};

static __always_inline void holds_end(const struct holds_event *e, struct raw_holds_sum *sum,
				      struct raw_holds_lock *row, const struct raw_holds_now *now,
				      unsigned long long end_ns)
{
	unsigned long long ns = end_ns > now->since_ns ? end_ns - now->since_ns : 0;
	unsigned int every = now->every, read = e->kind == RAW_HOLDS_READ;

	if (now->tid != e->tid)
		holds_add(&sum->by_other, every);
	holds_add(&sum->held.holds, every);
	holds_add(&sum->held.total_ns, ns * every);
	holds_most(&sum->held.max_ns, ns);
	unsigned long long bucket = raw_holds_bucket(ns);
	/* Else the compiler compares a copy, and the verifier knows no bound. */
	__asm__ volatile("" : "+r"(bucket));
	if (bucket < RAW_HOLDS_BUCKETS)
		holds_add(&sum->buckets[bucket], every);
	holds_add(&row->held[read].holds, every);
	holds_add(&row->held[read].total_ns, ns * every);
	holds_most(&row->held[read].max_ns, ns);
	if (now->chain < 0)
		holds_add(&sum->chainless, every);
	holds_rows(e->kind, now, ns, every);
}

static __always_inline void holds_begin_alone(const struct holds_event *e,
					      struct raw_holds_sum *sum, struct raw_holds_lock *row,
					      unsigned int every, int skip)
{
	struct raw_holds_now *now = &row->now;

	if (now->since_ns)
		holds_add(&sum->unended, now->every);
	holds_add(&row->gen, 1);
	now->since_ns = 0;
	now->tid = e->tid;
	now->pid = e->pid;
	now->every = every;
	now->skipped = skip;
	now->chain = skip ? -1 : holds_chain(e->ctx);
	/* Taking the chain is not part of the hold. */
	if (!skip)
		now->since_ns = holds_now_ns();
}

static __always_inline void holds_begin_read(const struct holds_event *e, struct raw_holds_sum *sum,
					     struct raw_holds_lock *row, unsigned int every,
					     int skip)
{
	struct raw_holds_reader key = {.lock = e->lock, .tid = e->tid};
	struct raw_holds_now *now = holds_reader(&key);
	struct raw_holds_now new = {
		.gen = row->gen, .tid = e->tid, .pid = e->pid, .every = every, .depth = 1};

	if (now && now->gen == row->gen) {
		now->depth++;
		return;
	}
	if (now) {
		holds_add(&sum->unended, now->every);
		holds_reader_del(&key);
	}
	if (skip)
		return;
	new.chain = holds_chain(e->ctx);
	new.since_ns = holds_now_ns();
	if (holds_reader_put(&key, &new) < 0)
		holds_add(&sum->no_room, every);
}

/* The task has got the lock. @skip: this hold is not measured. */
static __always_inline void holds_took(const struct holds_event *e, unsigned int every, int skip)
{
	struct raw_holds_sum *sum = holds_sum(e->kind);
	struct raw_holds_lock *row = holds_row(e->lock, 1);
	unsigned int read = e->kind == RAW_HOLDS_READ;

	if (!sum)
		return;
	holds_add(&sum->acquired, 1);
	if (!row) {
		holds_add(&sum->no_room, 1);
		return;
	}
	holds_add(&row->acquired[read], 1);
	if (read)
		holds_begin_read(e, sum, row, every, skip);
	else
		holds_begin_alone(e, sum, row, every, skip);
}

static __always_inline void holds_acquired(const struct holds_event *e, unsigned int every)
{
	holds_took(e, every, every > 1 && holds_random() % every);
}

static __always_inline void holds_end_alone(const struct holds_event *e, struct raw_holds_sum *sum,
					    struct raw_holds_lock *row)
{
	struct raw_holds_now now = row->now;

	if (now.since_ns)
		holds_end(e, sum, row, &now, holds_now_ns());
	else if (!now.skipped)
		holds_add(&sum->unbegun, 1);
	row->now.since_ns = 0;
	row->now.skipped = 0;
	row->now.tid = 0;
}

static __always_inline void holds_end_read(const struct holds_event *e, struct raw_holds_sum *sum,
					   struct raw_holds_lock *row, unsigned int every)
{
	struct raw_holds_reader key = {.lock = e->lock, .tid = e->tid};
	struct raw_holds_now *at = holds_reader(&key), now;

	if (at && at->gen != row->gen) {
		holds_add(&sum->unended, at->every);
		holds_reader_del(&key);
		at = 0;
	}
	if (!at) {
		/* Where not all are measured it may be one that was left out. */
		if (every <= 1)
			holds_add(&sum->unbegun, 1);
		return;
	}
	if (at->depth > 1) {
		at->depth--;
		return;
	}
	now = *at;
	holds_reader_del(&key);
	holds_end(e, sum, row, &now, holds_now_ns());
}

/* The task is about to release the lock. */
static __always_inline void holds_released(const struct holds_event *e, unsigned int every)
{
	struct raw_holds_sum *sum = holds_sum(e->kind);
	struct raw_holds_lock *row = holds_row(e->lock, 0);

	if (!sum)
		return;
	if (!row)
		holds_add(&sum->unbegun, every <= 1);
	else if (e->kind == RAW_HOLDS_READ)
		holds_end_read(e, sum, row, every);
	else
		holds_end_alone(e, sum, row);
}

/* Does this task have it, as a mutex or a writer, by an acquisition that was counted? */
static __always_inline int holds_is_own(const struct holds_event *e)
{
	const struct raw_holds_lock *row = holds_row(e->lock, 0);

	return row && row->now.tid == e->tid && (row->now.since_ns || row->now.skipped);
}

/* A writer becomes a reader. One that is left out as a writer is left out as a reader. */
static __always_inline void holds_downgraded(struct holds_event *e, unsigned int every, int wrote,
					     int reads)
{
	const struct raw_holds_lock *row = holds_row(e->lock, 0);
	int skip = every > 1 && holds_random() % every;

	if (row && (row->now.since_ns || row->now.skipped)) {
		every = row->now.every;
		skip = row->now.skipped != 0;
	}
	if (wrote)
		holds_released(e, every);
	e->kind = RAW_HOLDS_READ;
	if (reads)
		holds_took(e, every, skip);
}

#endif
