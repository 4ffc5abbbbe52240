// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads of Java, by their numbers, and owners of monitors. The machine has a list of its threads;
 * to read all of it takes a millisecond for a thousand threads, so it is kept for the next thread
 * of the process, and read again at most every 100 ms. A thread is believed if it has its number
 * still.
 *
 * The owner of a monitor is a word: the address of a thread, or of a place in its stack, since
 * version 24 the number that Java gave it. A monitor that was made of a lock which a thread has
 * already does not know its owner: then that thread has the object in its short list of locks.
 */
#include "internal.h"
#include "kontend/clock.h"
#include "kontend/mem.h"

#include <linux/futex.h>
#include <string.h>

enum { THREADS_MOST = 1 << 14, SPAN_MOST = 4096, LOCKS_MOST = 16, NO_OWNER = 0, ANONYMOUS = 1 };
static const uint64_t AGAIN_NS = 100000000;

/* The part of a thread that has all that is read of it. */
struct span {
	uint64_t from, n;
	uint8_t bytes[SPAN_MOST];
};

static void set_span(const struct java_places *j, struct span *ret)
{
	static const enum java_place wanted[] = {JAVA_NEXT, JAVA_OSTHREAD, JAVA_STACK_BASE,
						 JAVA_STACK_SIZE, JAVA_OWNER_ID};
	uint64_t from = UINT64_MAX, to = 0;

	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		uint64_t at = j->at[wanted[i]];
		if (!java_has(j, wanted[i]))
			continue;
		from = at < from ? at : from;
		to = at + sizeof(at) > to ? at + sizeof(at) : to;
	}
	ret->from = from;
	ret->n = to - from;
}

/* 0: not there. */
static uint64_t word_of(const struct java_places *j, const struct span *s, enum java_place p)
{
	uint64_t ret = 0;

	if (java_has(j, p))
		memcpy(&ret, s->bytes + (j->at[p] - s->from), sizeof(ret));
	return ret;
}

static bool read_thread(const struct runtime_process *p, const struct java_places *j, uint64_t at,
			struct span *s, struct java_thread *ret)
{
	if (!at || at & 7 || s->n > sizeof(s->bytes) ||
	    !p->read(p->arg, at + s->from, s->bytes, s->n))
		return false;
	uint64_t base = word_of(j, s, JAVA_STACK_BASE), size = word_of(j, s, JAVA_STACK_SIZE);
	*ret = (struct java_thread){.at = at,
				    .stack_from = base - size,
				    .stack_to = base,
				    .owner_id = word_of(j, s, JAVA_OWNER_ID)};
	return runtime_read_u32(p, word_of(j, s, JAVA_OSTHREAD) + j->at[JAVA_NUMBER],
				&ret->number) &&
	       ret->number && ret->number <= FUTEX_TID_MASK;
}

bool java_threads_at(const struct runtime_process *p, const struct java_places *j, uint64_t at,
		     struct java_thread *ret)
{
	struct span s;

	set_span(j, &s);
	return read_thread(p, j, at, &s, ret);
}

/* A thread that ends meanwhile is left out. */
static void read_vector(const struct runtime_process *p, const struct java_places *j,
			const uint64_t *at, size_t n, struct java_threads *ret)
{
	struct span s;

	set_span(j, &s);
	for (size_t i = 0; i < n; i++)
		if (read_thread(p, j, at[i], &s, &ret->thread[ret->n]))
			ret->n++;
}

/* The addresses of all; 0: none, or they cannot be read. */
static size_t list_vector(const struct runtime_process *p, const struct java_places *j,
			  uint64_t **ret)
{
	uint64_t list, vector;
	uint32_t n;

	if (!runtime_read_u64(p, j->at[JAVA_LIST], &list) ||
	    !runtime_read_u32(p, list + j->at[JAVA_LIST_LENGTH], &n) || !n || n > THREADS_MOST ||
	    !runtime_read_u64(p, list + j->at[JAVA_LIST_VECTOR], &vector))
		return 0;
	*ret = mem_calloc(n, sizeof(**ret));
	return *ret && p->read(p->arg, vector, *ret, n * sizeof(**ret)) ? n : 0;
}

static size_t list_chain(const struct runtime_process *p, const struct java_places *j,
			 uint64_t **ret)
{
	size_t n = 0, cap = 0;
	uint64_t at;

	if (!runtime_read_u64(p, j->at[JAVA_FIRST], &at))
		return 0;
	while (at && n < THREADS_MOST && !mem_grow(ret, &cap, n, sizeof(**ret))) {
		(*ret)[n++] = at;
		if (!runtime_read_u64(p, at + j->at[JAVA_NEXT], &at))
			break;
	}
	return n;
}

static struct java_threads *read_all(const struct runtime_process *p, const struct java_places *j)
{
	uint64_t *at = NULL;
	size_t n = java_has(j, JAVA_LIST) ? list_vector(p, j, &at) : list_chain(p, j, &at);
	struct java_threads *ret =
		n ? mem_calloc(1, sizeof(*ret) + n * sizeof(*ret->thread)) : NULL;

	if (ret) {
		read_vector(p, j, at, n, ret);
		ret->read_ns = clock_now_ns();
	}
	mem_free(at);
	return ret;
}

struct java_threads *java_threads_take(struct runtimes *r, const struct runtime_process *p,
				       const struct java_places *j)
{
	struct java_threads *ret = runtimes_take_kept(r, p);

	return ret ? ret : read_all(p, j);
}

/* False: they are as new as can be. */
static bool read_again(struct java_threads **ts, const struct runtime_process *p,
		       const struct java_places *j)
{
	if (clock_now_ns() - (*ts)->read_ns < AGAIN_NS)
		return false;
	struct java_threads *now = read_all(p, j);
	if (!now)
		return false;
	now->blocker_at = (*ts)->blocker_at;
	now->machine_at = (*ts)->machine_at;
	now->owner_at = (*ts)->owner_at;
	mem_free(*ts);
	*ts = now;
	return true;
}

/* Which thread is wanted. */
struct wanted {
	uint32_t number;
	uint64_t at, within, owner_id; /* within: an address in its stack */
};

static bool is_wanted(const struct wanted *w, const struct java_thread *t)
{
	return (w->number && t->number == w->number) || (w->at && t->at == w->at) ||
	       (w->owner_id && t->owner_id == w->owner_id) ||
	       (w->within && w->within >= t->stack_from && w->within < t->stack_to);
}

static bool find(struct java_threads **ts, const struct runtime_process *p,
		 const struct java_places *j, const struct wanted *w, struct java_thread *ret)
{
	do {
		for (size_t i = 0; i < (*ts)->n; i++)
			if (is_wanted(w, &(*ts)->thread[i]) &&
			    java_threads_at(p, j, (*ts)->thread[i].at, ret) && is_wanted(w, ret))
				return true;
	} while (read_again(ts, p, j));
	return false;
}

bool java_threads_find(struct java_threads **ts, const struct runtime_process *p,
		       const struct java_places *j, uint32_t number, struct java_thread *ret)
{
	const struct wanted w = {.number = number};

	return number && find(ts, p, j, &w, ret);
}

/* Has the thread that object in its list of locks? Its end is the distance from the thread. */
static bool has_locked(const struct runtime_process *p, const struct java_places *j, uint64_t at,
		       uint64_t object)
{
	uint64_t list = at + j->at[JAVA_LOCK_STACK], locks[LOCKS_MOST];
	uint64_t first = j->at[JAVA_LOCK_STACK] + j->at[JAVA_LOCK_BASE];
	uint32_t top;

	if (!runtime_read_u32(p, list + j->at[JAVA_LOCK_TOP], &top) || top < first)
		return false;
	size_t n = (top - first) / sizeof(*locks);
	if (!n || n > LOCKS_MOST ||
	    !p->read(p->arg, list + j->at[JAVA_LOCK_BASE], locks, n * sizeof(*locks)))
		return false;
	for (size_t i = 0; i < n; i++)
		if (locks[i] == object)
			return true;
	return false;
}

static struct java_scan *find_scan(struct java_threads *ts, uint64_t monitor)
{
	for (size_t i = 0; i < JAVA_SCANS; i++)
		if (ts->scans[i].monitor == monitor)
			return &ts->scans[i];
	struct java_scan *s = &ts->scans[ts->next_scan++ % JAVA_SCANS];
	*s = (struct java_scan){.monitor = monitor};
	return s;
}

static bool find_anonymous(struct java_threads *ts, const struct runtime_process *p,
			   const struct java_places *j, uint64_t monitor, uint64_t object,
			   struct java_thread *ret)
{
	struct java_scan *s = find_scan(ts, monitor);
	uint64_t now = clock_now_ns();

	if (!object || !java_has(j, JAVA_LOCK_STACK) || !java_has(j, JAVA_LOCK_TOP) ||
	    !java_has(j, JAVA_LOCK_BASE))
		return false;
	if (s->owner && !has_locked(p, j, s->owner, object))
		s->owner = 0;
	if (!s->owner && now - s->read_ns >= AGAIN_NS) {
		s->read_ns = now;
		for (size_t i = 0; !s->owner && i < ts->n; i++)
			if (has_locked(p, j, ts->thread[i].at, object))
				s->owner = ts->thread[i].at;
	}
	return s->owner && java_threads_at(p, j, s->owner, ret);
}

uint32_t java_threads_owner(struct java_threads **ts, const struct runtime_process *p,
			    const struct java_places *j, uint64_t monitor, uint64_t object)
{
	struct java_thread owner;
	struct wanted w = {.number = 0};
	uint64_t word;

	if (!runtime_read_u64(p, monitor + j->at[JAVA_MONITOR_OWNER], &word) || word == NO_OWNER)
		return 0;
	if (word == ANONYMOUS)
		return find_anonymous(*ts, p, j, monitor, object, &owner) ? owner.number : 0;
	if (j->owners_by_id)
		w.owner_id = word;
	else
		w.at = w.within = word;
	return find(ts, p, j, &w, &owner) ? owner.number : 0;
}
