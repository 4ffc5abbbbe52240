// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the sums of the programs to a snapshot: the rows that cost most, one row for all others, and
 * the tasks that have the locks now.
 *
 * That a reader released the lock unseen is proved in two ways: a writer has had it since, or the
 * lock's own count of readers is 0 after that reader took it. A task that has had the lock since
 * before the measurement is named by the lock's own word.
 */
#include "bpf-run.h"
#include "holds.h"
#include "kontend/clock.h"
#include "kontend/fdio.h"
#include "kontend/mem.h"
#include "kontend/text.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 200, BATCH = 256, TEXT = 256 };

/* Of an rwsem: a writer has it; how many readers have it. */
enum { RWSEM_WRITER = 1, RWSEM_READERS_AT = 8 };
#define RWSEM_READERS (~0ull >> 1)

/* All of a map: n keys and values; mem_free() both. */
struct rows {
	char *keys, *values;
	size_t n;
};

static void rows_free(struct rows *r)
{
	mem_free(r->keys);
	mem_free(r->values);
}

static int rows_read(int map, size_t key, size_t value, struct rows *r)
{
	uint64_t at, *before = NULL;
	int last = 0;

	*r = (struct rows){0};
	while (!last) {
		char *keys = mem_resize(r->keys, r->n + BATCH, key);
		char *values = keys ? mem_resize(r->values, r->n + BATCH, value) : NULL;
		uint32_t n = BATCH;
		r->keys = keys ? keys : r->keys;
		r->values = values ? values : r->values;
		if (!values)
			return -ENOMEM;
		if (bpf_map_lookup_batch(map, before, &at, keys + r->n * key, values + r->n * value,
					 &n, NULL) < 0)
			last = errno;
		if (last && last != ENOENT) /* the end */
			return -last;
		r->n += n;
		before = &at;
	}
	return 0;
}

static void sum_up(struct raw_holds_sum *to, const struct raw_holds_sum *from)
{
	to->acquired += from->acquired;
	to->held.holds += from->held.holds;
	to->held.total_ns += from->held.total_ns;
	if (from->held.max_ns > to->held.max_ns)
		to->held.max_ns = from->held.max_ns;
	to->unbegun += from->unbegun;
	to->unended += from->unended;
	to->by_other += from->by_other;
	to->chainless += from->chainless;
	to->no_room += from->no_room;
	for (int i = 0; i < RAW_HOLDS_BUCKETS; i++)
		to->buckets[i] += from->buckets[i];
}

_Static_assert(RAW_HOLDS_BUCKETS == (int)HOLDSNAP_BUCKETS, "they are copied");

static int take_sum(struct snapshot_holds *h, uint32_t kind, struct holdsnap *ret)
{
	struct raw_holds_sum all = {0};

	if (bpf_map_lookup_elem(h->maps[HOLDS_SUMS], &kind, h->sums) < 0)
		return -errno;
	for (int i = 0; i < h->n_cpus; i++)
		sum_up(&all, &h->sums[i]);
	struct holdsnap_sum row = {
		.kind = kind,
		.acquired = all.acquired,
		.acquired_before = h->acquired[kind],
		.holds = all.held.holds,
		.total_ns = all.held.total_ns,
		.max_ns = all.held.max_ns,
		.unbegun = all.unbegun,
		.unended = all.unended + (kind == RAW_HOLDS_READ ? h->stale : 0),
		.by_other = all.by_other,
		.chainless = all.chainless,
		.no_room = all.no_room,
	};
	memcpy(row.buckets, all.buckets, sizeof(row.buckets));
	h->acquired[kind] = all.acquired;
	return holdsnap_add_sum(ret, &row);
}

static int by_lock_time(const void *a, const void *b)
{
	const struct holdsnap_lock *x = a, *y = b;

	return x->total_ns != y->total_ns ? (x->total_ns < y->total_ns ? 1 : -1)
	       : x->addr != y->addr	  ? (x->addr < y->addr ? -1 : 1)
					  : (int)x->kind - (int)y->kind;
}

static int by_chain_time(const void *a, const void *b)
{
	const struct holdsnap_chain *x = a, *y = b;

	return x->total_ns != y->total_ns ? (x->total_ns < y->total_ns ? 1 : -1)
					  : (x->frame < y->frame ? -1 : x->frame > y->frame);
}

static int by_task_time(const void *a, const void *b)
{
	const struct holdsnap_task *x = a, *y = b;

	return x->total_ns != y->total_ns ? (x->total_ns < y->total_ns ? 1 : -1)
					  : (x->tid < y->tid ? -1 : x->tid > y->tid);
}

/* Sorts the rows, and makes one of those from ROWS - 1 on. */
#define KEEP_MOST(rows, n, by, clear)                                                              \
	do {                                                                                       \
		qsort(rows, n, sizeof(*(rows)), by);                                               \
		for (size_t i_ = ROWS; i_ < (n); i_++) {                                           \
			(rows)[ROWS - 1].holds += (rows)[i_].holds;                                \
			(rows)[ROWS - 1].total_ns += (rows)[i_].total_ns;                          \
			if ((rows)[i_].max_ns > (rows)[ROWS - 1].max_ns)                           \
				(rows)[ROWS - 1].max_ns = (rows)[i_].max_ns;                       \
		}                                                                                  \
		if ((n) > ROWS) {                                                                  \
			clear;                                                                     \
			(n) = ROWS;                                                                \
		}                                                                                  \
	} while (0)

static uint32_t kind_of(const struct snapshot_holds *h, bool read)
{
	return read				   ? RAW_HOLDS_READ
	       : h->placed & 1u << RAW_HOLDS_MUTEX ? RAW_HOLDS_MUTEX
						   : RAW_HOLDS_WRITE;
}

/* The programs have the name of its last hold; /proc that of now, while the task is there. */
static uint32_t name_task(const struct snapshot_holds *h, int tid, struct holdsnap *ret)
{
	char path[40], clean[TEXT], *text;
	struct raw_holds_task row = {0};
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/comm", tid);
	if (h->sees_tasks && fdio_read_file(path, &text, &len) == 0) {
		text[strcspn(text, "\n")] = '\0';
		text_clean(clean, sizeof(clean), text);
		mem_free(text);
		return holdsnap_add_text(ret, clean);
	}
	if (bpf_map_lookup_elem(h->maps[HOLDS_TASK_ROWS], &tid, &row) < 0)
		return 0;
	row.comm[sizeof(row.comm) - 1] = '\0';
	return holdsnap_add_text(ret, text_clean(clean, sizeof(clean), row.comm));
}

static int add_now(const struct snapshot_holds *h, struct holdsnap *ret, uint64_t addr,
		   uint32_t kind, const struct raw_holds_now *now)
{
	struct holdsnap_now row = {.addr = addr,
				   .since_ns = now->since_ns,
				   .tid = now->tid,
				   .pid = now->pid,
				   .kind = kind};

	if (ret->n_now >= ROWS)
		return 0;
	row.comm = name_task(h, now->tid, ret);
	if (h->sees_tasks && kill(now->tid, 0) < 0 && errno == ESRCH)
		row.flags |= HOLDSNAP_GONE;
	return holdsnap_add_now(ret, &row);
}

static int take_lock(const struct snapshot_holds *h, uint64_t addr, const struct raw_holds_lock *l,
		     struct holdsnap *ret)
{
	int code = 0;

	for (int read = 0; code == 0 && read < 2; read++) {
		const struct raw_holds_add *a = &l->held[read];
		const struct holdsnap_lock row = {.addr = addr,
						  .kind = kind_of(h, read),
						  .acquired = l->acquired[read],
						  .holds = a->holds,
						  .total_ns = a->total_ns,
						  .max_ns = a->max_ns};
		code = row.acquired ? holdsnap_add_lock(ret, &row) : 0;
	}
	if (code == 0 && l->now.since_ns && h->step != HOLDS_STEP_OFF)
		code = add_now(h, ret, addr, kind_of(h, false), &l->now);
	return code;
}

static int take_locks(struct snapshot_holds *h, struct holdsnap *ret)
{
	struct rows r;
	int code = rows_read(h->maps[HOLDS_LOCK_ROWS], sizeof(uint64_t),
			     sizeof(struct raw_holds_lock), &r);

	for (size_t i = 0; code == 0 && i < r.n; i++)
		code = take_lock(h, ((const uint64_t *)(const void *)r.keys)[i],
				 &((const struct raw_holds_lock *)(const void *)r.values)[i], ret);
	rows_free(&r);
	if (ret->n_locks)
		KEEP_MOST(ret->locks, ret->n_locks, by_lock_time, ret->locks[ROWS - 1].addr = 0);
	return code;
}

/* The lock's own word; false: it is not known. */
static bool read_word(struct snapshot_holds *h, uint64_t *ret_ns)
{
	if (!h->addr || !h->has_words || h->step == HOLDS_STEP_OFF)
		return false;
	*ret_ns = clock_now_ns();
	h->state->at = h->addr;
	h->state->is_mutex = kind_of(h, false) == RAW_HOLDS_MUTEX;
	return bpf_run_once(h->word, -1) == 0 && h->state->known;
}

static uint64_t readers_of(uint64_t word)
{
	return (word & RWSEM_READERS) >> RWSEM_READERS_AT;
}

static bool is_stale(struct snapshot_holds *h, const struct raw_holds_reader *key,
		     const struct raw_holds_now *now, bool no_readers, uint64_t at_ns)
{
	struct raw_holds_lock l;

	if (no_readers && now->since_ns < at_ns)
		return true;
	return bpf_map_lookup_elem(h->maps[HOLDS_LOCK_ROWS], &key->lock, &l) == 0 &&
	       l.gen != now->gen;
}

static int take_readers(struct snapshot_holds *h, struct holdsnap *ret)
{
	uint64_t at_ns = 0, known = 0;
	bool words = kind_of(h, false) != RAW_HOLDS_MUTEX && read_word(h, &at_ns);
	uint64_t readers = words ? readers_of(h->state->word) : 0;
	struct rows r;
	int code = rows_read(h->maps[HOLDS_READER_ROWS], sizeof(struct raw_holds_reader),
			     sizeof(struct raw_holds_now), &r);

	for (size_t i = 0; code == 0 && i < r.n; i++) {
		const struct raw_holds_reader *key =
			&((const struct raw_holds_reader *)(const void *)r.keys)[i];
		const struct raw_holds_now *now =
			&((const struct raw_holds_now *)(const void *)r.values)[i];
		if (is_stale(h, key, now, words && !readers, at_ns)) {
			h->stale += now->every;
			bpf_map_delete_elem(h->maps[HOLDS_READER_ROWS], key);
			continue;
		}
		known += now->depth;
		if (h->step != HOLDS_STEP_OFF)
			code = add_now(h, ret, key->lock, RAW_HOLDS_READ, now);
	}
	rows_free(&r);
	if (words && h->step == HOLDS_STEP_ALL && readers > known)
		ret->head.readers_unknown = readers - known;
	return code;
}

/* Of an exclusive hold that is not known: none was taken since, so it was taken before. */
static int take_earlier(struct snapshot_holds *h, struct holdsnap *ret)
{
	uint64_t at_ns, acquired = 0;

	for (size_t i = 0; i < ret->n_now; i++)
		if (ret->now[i].kind != RAW_HOLDS_READ)
			return 0;
	for (size_t i = 0; i < ret->n_sums; i++)
		if (ret->sums[i].kind != RAW_HOLDS_READ)
			acquired += ret->sums[i].acquired + ret->sums[i].unbegun;
	if (acquired || !read_word(h, &at_ns) || !h->state->tid)
		return 0;
	if (!h->state->is_mutex && !(h->state->word & RWSEM_WRITER))
		return 0;
	const struct raw_holds_now now = {.tid = h->state->tid, .pid = h->state->pid};
	return add_now(h, ret, h->addr, kind_of(h, false), &now);
}

static int add_frames(const struct snapshot_holds *h, struct holdsnap *ret,
		      struct holdsnap_chain *c, uint32_t id)
{
	uint64_t frames[RAW_HOLDS_FRAMES] = {0};
	uint32_t n = 0;
	int code = 0;

	c->frame = (uint32_t)ret->n_frames;
	c->n_frames = 0;
	if (bpf_map_lookup_elem(h->maps[HOLDS_STACK_ROWS], &id, frames) < 0)
		return 0;
	while (n < RAW_HOLDS_FRAMES && frames[n])
		n++;
	uint32_t inner = holds_symbols_inner(&h->symbols, frames, n);
	if (inner && h->callers[id] && (inner == n || frames[inner] != h->callers[id]))
		code = holdsnap_add_frame(ret, h->callers[id]);
	for (uint32_t i = inner; code == 0 && i < n; i++)
		code = holdsnap_add_frame(ret, frames[i]);
	c->n_frames = (uint32_t)ret->n_frames - c->frame;
	return code;
}

static int take_chains(const struct snapshot_holds *h, struct holdsnap *ret)
{
	int code = 0;

	for (uint32_t i = 0; code == 0 && i < HOLDS_CHAIN_ROWS; i++) {
		const struct raw_holds_add *a = &h->chains[i];
		const struct holdsnap_chain row = {.kind = i / RAW_HOLDS_STACKS,
						   .frame = i % RAW_HOLDS_STACKS,
						   .holds = a->holds,
						   .total_ns = a->total_ns,
						   .max_ns = a->max_ns};
		code = row.holds ? holdsnap_add_chain(ret, &row) : 0;
	}
	size_t listed = ret->n_chains < ROWS ? ret->n_chains : ROWS - 1;
	if (ret->n_chains)
		KEEP_MOST(ret->chains, ret->n_chains, by_chain_time,
			  ret->chains[ROWS - 1].frame = 0);
	for (size_t i = 0; code == 0 && i < listed; i++)
		code = add_frames(h, ret, &ret->chains[i], ret->chains[i].frame);
	return code;
}

static int take_tasks(struct snapshot_holds *h, struct holdsnap *ret)
{
	struct rows r;
	int code = rows_read(h->maps[HOLDS_TASK_ROWS], sizeof(int32_t),
			     sizeof(struct raw_holds_task), &r);

	for (size_t i = 0; code == 0 && i < r.n; i++) {
		const struct raw_holds_task *t =
			&((const struct raw_holds_task *)(const void *)r.values)[i];
		const struct holdsnap_task row = {.tid = ((const int32_t *)(const void *)r.keys)[i],
						  .pid = t->pid,
						  .holds = t->held.holds,
						  .total_ns = t->held.total_ns,
						  .max_ns = t->held.max_ns};
		code = row.holds ? holdsnap_add_task(ret, &row) : 0;
	}
	rows_free(&r);
	if (ret->n_tasks)
		KEEP_MOST(ret->tasks, ret->n_tasks, by_task_time,
			  (ret->tasks[ROWS - 1].tid = ret->tasks[ROWS - 1].pid = 0));
	for (size_t i = 0; code == 0 && i < ret->n_tasks; i++)
		if (ret->tasks[i].tid)
			ret->tasks[i].comm = name_task(h, ret->tasks[i].tid, ret);
	return code;
}

static void fill_head(struct snapshot_holds *h, struct holdsnap *ret)
{
	static const uint32_t levels[] = {
		[HOLDS_STEP_ALL] = HOLDSNAP_ALL,  [HOLDS_STEP_NO_CHAINS] = HOLDSNAP_NO_CHAINS,
		[HOLDS_STEP_8] = HOLDSNAP_SOME,	  [HOLDS_STEP_64] = HOLDSNAP_SOME,
		[HOLDS_STEP_512] = HOLDSNAP_SOME, [HOLDS_STEP_OFF] = HOLDSNAP_OFF,
	};
	char text[TEXT];

	ret->head = (struct holdsnap_head){.time_ns = clock_now_ns(),
					   .from_ns = h->from_ns,
					   .before_ns = h->before_ns,
					   .lock = h->addr,
					   .level = levels[h->step],
					   .every = h->state->every,
					   .price_ns = h->price_ns,
					   .runs = h->runs,
					   .run_ns = h->run_ns,
					   .target_ppm = h->price.target_ppm,
					   .cpus = h->price.cpus,
					   .missed = holds_programs_runs(&h->programs).missed,
					   .off_ns = h->off_ns};
	ret->head.asked = holdsnap_add_text(ret, text_clean(text, sizeof(text), h->asked));
	if (h->no_price) {
		snprintf(text, sizeof(text), "the kernel does not measure programs here: %s",
			 strerror(h->no_price));
		ret->head.no_price = holdsnap_add_text(ret, text);
	}
	if (h->step != HOLDS_STEP_OFF) {
		holds_programs_lack(&h->programs, h->placed, text, sizeof(text));
		ret->head.lacks = holdsnap_add_text(ret, text);
	}
	h->before_ns = ret->head.time_ns;
}

int snapshot_holds_take(struct snapshot_holds *h, struct holdsnap *ret)
{
	int code = 0;

	holdsnap_clear(ret);
	pthread_mutex_lock(&h->lock);
	fill_head(h, ret);
	code = take_readers(h, ret);
	for (uint32_t kind = 0; code == 0 && kind < RAW_HOLDS_KINDS; kind++)
		code = take_sum(h, kind, ret);
	code = code < 0 ? code : take_locks(h, ret);
	code = code < 0 ? code : take_earlier(h, ret);
	code = code < 0 ? code : take_chains(h, ret);
	code = code < 0 ? code : take_tasks(h, ret);
	if (code == 0)
		holds_narrow(h, ret);
	pthread_mutex_unlock(&h->lock);
	return code;
}
