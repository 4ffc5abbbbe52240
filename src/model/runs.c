// SPDX-License-Identifier: GPL-2.0-only
/*
 * The activity of chosen tasks (runrec.h). Each record is one round of a task: it ran, left its
 * CPU, maybe slept, waited for a CPU. Its parts go into sums, cells of task, kind, call chains and
 * the other task; the record is kept in a ring, in which each has the number of its task's one
 * before.
 *
 * The chain of a sleep is made when it ends: all that its waker did was reported before, since a
 * waker runs. The ring may lose that later, so the longest sleeps keep their chains.
 *
 * Sleeps for locks of programs have records of their own (userrec.h), written at the same switch by
 * another program, before or after these. The one that comes first waits for the other: a lock is
 * kept until the sleep comes, and a sleep without a lock moves to the sum of its lock.
 */
#include "kontend/runs.h"
#include "kontend/event.h"
#include "kontend/hash.h"
#include "kontend/maps.h"
#include "kontend/mem.h"
#include "kontend/runrec.h"
#include "kontend/stack.h"
#include "wait-chain.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Pauses of a task that are looked at, and those that are later. */
enum { CHAIN_WALK = 512, CHAIN_SKIP = 16384 };

/* The same sleep in two records: the programs read the clock one after the other. */
static const uint64_t SAME_NS = 1000000;

/* @most: so many of all are kept; those beyond have the index 0. */
static int find_stack(struct runs *r, const uint64_t *frames, uint32_t n, uint32_t most,
		      uint32_t *ret)
{
	n = n < RUNS_FRAMES ? n : RUNS_FRAMES;
	const uint64_t hash = hash_bytes(HASH_START, frames, n * sizeof(*frames));
	const uint32_t *known = n ? map64_get(&r->by_chain, hash) : NULL;

	*ret = known ? *known : 0;
	if (!r->n_stacks) {
		if (mem_grow(&r->stacks, &r->cap_stacks, 0, sizeof(*r->stacks)))
			return -ENOMEM;
		r->stacks[r->n_stacks++] = (struct runs_stack){0};
	}
	if (known || !n || r->n_stacks >= most)
		return 0;
	if (mem_grow(&r->stacks, &r->cap_stacks, r->n_stacks, sizeof(*r->stacks)) ||
	    map64_put(&r->by_chain, hash, r->n_stacks))
		return -ENOMEM;
	struct runs_stack *s = &r->stacks[r->n_stacks];
	*s = (struct runs_stack){.n = n, .n_kernel = stack_kernel_part(frames, n)};
	memcpy(s->frames, frames, n * sizeof(*frames));
	*ret = r->n_stacks++;
	return 0;
}

/* NULL: no room, or with *@code no memory. */
static struct runs_task *find_task(struct runs *r, const struct runrec *rec, int *code)
{
	const uint32_t *known = map64_get(&r->by_tid, (uint32_t)rec->tid);
	struct runs_task *t;

	if (known && !r->tasks[*known].has_ended)
		return &r->tasks[*known];
	if (r->n_tasks >= RUNS_TASKS) {
		r->dropped++;
		return NULL;
	}
	if (mem_grow(&r->tasks, &r->cap_tasks, r->n_tasks, sizeof(*r->tasks)) ||
	    map64_put(&r->by_tid, (uint32_t)rec->tid, r->n_tasks)) {
		*code = -ENOMEM;
		return NULL;
	}
	t = &r->tasks[r->n_tasks++];
	*t = (struct runs_task){.who = {.pid = rec->pid, .tid = rec->tid},
				.from_ns = rec->on_ns ? rec->on_ns : rec->off_ns};
	return t;
}

static struct runs_who who_of(int32_t pid, int32_t tid, const char *comm)
{
	struct runs_who w = {.pid = pid, .tid = tid};

	snprintf(w.comm, sizeof(w.comm), "%s", comm);
	return w;
}

/* The chain of a sleep: in the kernel, and in the program. */
static int sleep_stack(struct runs *r, const struct runrec *rec, struct map_spaces *spaces,
		       uint32_t *ret)
{
	const uint64_t *frames = (const uint64_t *)rec->frames;
	const struct wait_chain_part user = {frames + rec->n_frames, rec->n_user, rec->pid,
					     (enum waitrec_user)rec->user};
	uint64_t all[RUNS_FRAMES];
	uint32_t n = rec->n_frames;

	memcpy(all, frames, n * sizeof(*all));
	if (n && rec->user != WAITREC_USER_NONE)
		n += wait_chain_user(spaces, &user, all + n, RUNS_FRAMES - n);
	return find_stack(r, all, n, RUNS_PLACES, ret);
}

/* There are few files, but each call may have another address: these have half of the room. */
static bool has_room_for_on(const struct runs *r, const struct runs_on *on)
{
	return r->n_ons < (on->kind == WAITREC_ON_FILE ? RUNS_ONS : RUNS_ONS / 2);
}

static int find_on(struct runs *r, const struct runrec_on *rec, uint32_t *ret)
{
	struct runs_on on = {
		.value = rec->value, .dev = rec->dev, .mode = rec->mode, .kind = rec->kind};

	snprintf(on.name, sizeof(on.name), "%s", rec->name);
	const uint64_t key = hash_bytes(HASH_START, &on, sizeof(on));
	const uint32_t *known = on.kind ? map64_get(&r->by_on, key) : NULL;

	*ret = known ? *known : 0;
	if (known || !on.kind || !has_room_for_on(r, &on))
		return 0;
	if (!r->n_ons && mem_grow(&r->ons, &r->cap_ons, 0, sizeof(on)))
		return -ENOMEM;
	if (!r->n_ons)
		r->ons[r->n_ons++] = (struct runs_on){0};
	if (mem_grow(&r->ons, &r->cap_ons, r->n_ons, sizeof(on)) ||
	    map64_put(&r->by_on, key, r->n_ons))
		return -ENOMEM;
	r->ons[r->n_ons] = on;
	*ret = r->n_ons++;
	return 0;
}

static int read_pause(struct runs *r, const struct runrec *rec, struct map_spaces *spaces,
		      struct runs_pause *p)
{
	int code;

	*p = (struct runs_pause){.on_ns = rec->on_ns,
				 .off_ns = rec->off_ns,
				 .woken_ns = rec->woken_ns,
				 .in_ns = rec->in_ns,
				 .state = (uint8_t)rec->state};
	p->waker = who_of(rec->waker_pid, rec->waker_tid, rec->waker_comm);
	for (size_t i = 0; i < RUNS_BYS; i++) {
		p->by[i] = who_of(rec->by[i].pid, rec->by[i].tid, rec->by[i].comm);
		p->by_ns[i] = rec->by[i].ns;
	}
	code = find_stack(r, (const uint64_t *)rec->frames, rec->n_frames, RUNS_STACKS, &p->kernel);
	code = code < 0 ? code : sleep_stack(r, rec, spaces, &p->stack);
	p->stack = p->stack ? p->stack : p->kernel;
	code = code < 0 ? code : find_on(r, &rec->on, &p->on);
	if (code == 0)
		code = find_stack(r, (const uint64_t *)rec->frames + rec->n_frames + rec->n_user,
				  rec->n_waker_frames, RUNS_WAKERS, &p->waker_stack);
	/* It may be an interrupt, which came while that task ran. */
	if (rec->n_waker_frames && !p->waker_stack)
		p->waker = (struct runs_who){.tid = -1};
	return code;
}

static uint64_t cell_key(const struct runs_cell *c)
{
	uint64_t h = hash_u64((uint64_t)c->task << 16 ^ c->kind << 8 ^ c->state);

	h = hash_u64(h ^ (uint64_t)c->stack << 32 ^ c->waker_stack);
	return hash_u64(h ^ (uint64_t)c->lock << 32 ^ (uint32_t)c->other.tid);
}

static struct runs_cell *known_cell(struct runs *r, const struct runs_cell *like)
{
	const uint32_t *known = map64_get(&r->by_key, cell_key(like));

	return known ? &r->cells[*known] : NULL;
}

/*
 * With hundreds of tasks that wake each other there are too many pairs of them, then too many call
 * chains.
 */
static struct runs_cell with_less(const struct runs *r, const struct runs_cell *like)
{
	struct runs_cell c = *like;

	if (r->n_cells >= RUNS_PAIRS)
		c.other = (struct runs_who){.tid = -1};
	if (r->n_cells < RUNS_WAKEUPS)
		return c;
	c.waker_stack = 0;
	c.stack = c.kernel;
	return c;
}

static struct runs_cell *find_cell(struct runs *r, const struct runs_cell *like, int *code)
{
	const struct runs_cell less = with_less(r, like);
	struct runs_cell *known = known_cell(r, like);

	known = known ? known : known_cell(r, &less);
	if (known)
		return known;
	if (r->n_cells >= RUNS_CELLS) {
		r->dropped++;
		return NULL;
	}
	if (mem_grow(&r->cells, &r->cap_cells, r->n_cells, sizeof(*r->cells)) ||
	    map64_put(&r->by_key, cell_key(&less), r->n_cells)) {
		*code = -ENOMEM;
		return NULL;
	}
	r->cells[r->n_cells] = less;
	return &r->cells[r->n_cells++];
}

/* @ret_cell: its index, + 1; 0: there is no room. May be NULL. */
static int add(struct runs *r, const struct runs_cell *like, uint64_t from_ns, uint64_t to_ns,
	       uint32_t *ret_cell)
{
	int code = 0;

	from_ns = from_ns > r->from_ns ? from_ns : r->from_ns;
	if (to_ns <= from_ns)
		return 0;
	struct runs_cell *c = find_cell(r, like, &code);
	if (!c)
		return code;
	c->n++;
	c->total_ns += to_ns - from_ns;
	c->max_before_ns = c->max_ns;
	if (to_ns - from_ns > c->max_ns) {
		c->max_ns = to_ns - from_ns;
		c->on = like->on;
	}
	if (ret_cell)
		*ret_cell = (uint32_t)(c - r->cells) + 1;
	return 0;
}

uint64_t runs_ready(const struct runs_pause *p, uint64_t from_ns, uint64_t to_ns, unsigned nth,
		    struct runs_who *ret)
{
	const uint64_t begin_ns = p->woken_ns ? p->woken_ns : p->off_ns;
	const uint64_t all_ns = to_ns > begin_ns ? to_ns - begin_ns : 0;
	uint64_t left_ns = all_ns, ns = 0;

	for (unsigned i = 0; i <= nth && i < RUNS_BYS; i++) {
		ns = p->by_ns[i] < left_ns ? p->by_ns[i] : left_ns;
		left_ns -= ns;
	}
	*ret = nth < RUNS_BYS ? p->by[nth] : (struct runs_who){.tid = -1};
	ns = nth < RUNS_BYS ? ns : left_ns;
	if (from_ns <= begin_ns || !all_ns)
		return ns;
	return from_ns < to_ns ? (uint64_t)((double)ns * (double)(to_ns - from_ns) / (double)all_ns)
			       : 0;
}

/* The others beyond RUNS_BYS are one more. */
static int add_ready(struct runs *r, const struct runs_pause *p)
{
	struct runs_cell like = {.task = p->task, .kind = RUNS_READY};
	int code = 0;

	for (unsigned i = 0; code == 0 && i <= RUNS_BYS; i++) {
		uint64_t ns = runs_ready(p, r->from_ns, p->in_ns, i, &like.other);
		code = ns ? add(r, &like, p->in_ns - ns, p->in_ns, NULL) : 0;
	}
	return code;
}

struct runs_cell runs_sleep_cell(const struct runs_pause *p)
{
	return (struct runs_cell){.task = p->task,
				  .kind = RUNS_BLOCKED,
				  .state = p->state,
				  .stack = p->stack,
				  .kernel = p->kernel,
				  .waker_stack = p->waker_stack,
				  .lock = p->lock,
				  .on = p->on,
				  .other = p->waker};
}

static int add_sleep(struct runs *r, const struct runs_pause *p, uint32_t *ret_cell)
{
	const struct runs_cell like = runs_sleep_cell(p);

	*ret_cell = 0;
	return p->woken_ns ? add(r, &like, p->off_ns, p->woken_ns, ret_cell) : 0;
}

static int add_parts(struct runs *r, const struct runs_pause *p)
{
	const struct runs_cell ran = {.task = p->task, .kind = RUNS_RUNNING};
	int code = p->on_ns ? add(r, &ran, p->on_ns, p->off_ns, NULL) : 0;

	if (code == 0)
		code = add_sleep(r, p, &r->tasks[p->task].cell);
	if (code < 0 || p->state == RUNREC_ENDED)
		return code;
	return add_ready(r, p);
}

const struct runs_pause *runs_at(const struct runs *r, uint32_t number)
{
	if (!number || number > r->n_kept || r->n_kept - number >= RUNS_KEPT)
		return NULL;
	return &r->kept[(number - 1) % RUNS_KEPT];
}

static int keep(struct runs *r, struct runs_task *t, struct runs_pause *p)
{
	p->before = t->last;
	if (r->n_kept < RUNS_KEPT && mem_grow(&r->kept, &r->cap_kept, r->n_kept, sizeof(*p)))
		return -ENOMEM;
	struct runs_pause *place = &r->kept[r->n_kept % RUNS_KEPT];
	if (r->n_kept >= RUNS_KEPT)
		r->kept_dropped_ns = place->in_ns;
	*place = *p;
	t->last = ++r->n_kept;
	return 0;
}

static uint64_t overlap(uint64_t from, uint64_t to, uint64_t begin, uint64_t end)
{
	from = from > begin ? from : begin;
	to = to < end ? to : end;
	return to > from ? to - from : 0;
}

/* The last pause of the task that began before @end. */
static const struct runs_pause *pause_before(const struct runs *r, const struct runs_task *t,
					     uint64_t end)
{
	const struct runs_pause *p = runs_at(r, t->last);

	for (int i = 0; p && p->off_ns >= end && i < CHAIN_SKIP; i++)
		p = runs_at(r, p->before);
	return p;
}

/* The activity of the task from @begin to @end. False: that is not known. */
static bool fill_link(const struct runs *r, const struct runs_task *t, uint64_t begin, uint64_t end,
		      struct runs_link *ret)
{
	const struct runs_pause *p = pause_before(r, t, end);
	uint64_t longest_ns = 0;
	bool is_lost = t->last && !p;

	*ret = (struct runs_link){.task = (uint32_t)(t - r->tasks), .all_ns = end - begin};
	for (int i = 0; p && p->in_ns > begin && i < CHAIN_WALK; i++) {
		uint64_t ready = p->woken_ns ? p->woken_ns : p->off_ns;
		uint64_t ns = overlap(p->off_ns, p->woken_ns, begin, end);
		ret->slept_ns += ns;
		ret->ready_ns += overlap(ready, p->in_ns, begin, end);
		if (ns > longest_ns) {
			longest_ns = ns;
			ret->longest = *p;
		}
		is_lost = p->before && !runs_at(r, p->before);
		p = runs_at(r, p->before);
	}
	/* The rest of it would look like running. */
	if (is_lost || (p && p->in_ns > begin))
		return false;
	return t->from_ns <= begin || ret->longest.off_ns;
}

void runs_chain(const struct runs *r, const struct runs_pause *p, struct runs_chain *ret)
{
	uint64_t begin = p->off_ns, end = p->woken_ns;
	struct runs_pause at = *p;

	*ret = (struct runs_chain){0};
	while (ret->n < RUNS_LINKS && at.waker.tid && end > begin) {
		const uint32_t *known = map64_get(&r->by_tid, (uint32_t)at.waker.tid);
		struct runs_link *l = &ret->links[ret->n];

		ret->not_followed = !known || !fill_link(r, &r->tasks[*known], begin, end, l);
		if (ret->not_followed)
			return;
		ret->n++;
		at = l->longest;
		begin = at.off_ns > begin ? at.off_ns : begin;
		end = at.woken_ns;
	}
}

/* The last of those that are like @p, if they are as many as may be; else @n. */
static uint32_t find_alike(const struct runs_block *list, uint32_t n, const struct runs_pause *p)
{
	uint32_t alike = 0, last = n;

	for (uint32_t i = 0; i < n; i++)
		if (list[i].pause.task == p->task && list[i].pause.kernel == p->kernel) {
			alike++;
			last = i;
		}
	return alike < RUNS_ALIKE ? n : last;
}

struct runs_block *runs_longest_slot(struct runs_block *list, uint32_t *n,
				     const struct runs_pause *p)
{
	uint32_t gone = find_alike(list, *n, p), at = 0;

	while (at < *n && runs_slept_ns(&list[at].pause) >= runs_slept_ns(p))
		at++;
	if (at == RUNS_LONGEST || at > gone)
		return NULL;
	if (gone == *n && *n < RUNS_LONGEST)
		(*n)++;
	gone = gone < *n ? gone : *n - 1;
	memmove(&list[at + 1], &list[at], (gone - at) * sizeof(*list));
	list[at].pause = *p;
	return &list[at];
}

static int keep_longest(struct runs *r, const struct runs_pause *p)
{
	if (!r->longest && !(r->longest = mem_calloc(RUNS_LONGEST, sizeof(*r->longest))))
		return -ENOMEM;
	struct runs_block *slot = runs_longest_slot(r->longest, &r->n_longest, p);
	if (slot)
		runs_chain(r, p, &slot->chain);
	return 0;
}

/* A round that is over. */
static int close_pause(struct runs *r, struct runs_task *t, struct runs_pause *p)
{
	int code = add_parts(r, p);

	t->lost_ns += p->on_ns && t->to_ns && p->on_ns > t->to_ns ? p->on_ns - t->to_ns : 0;
	t->has_ended = p->state == RUNREC_ENDED;
	t->runs_since_ns = p->in_ns;
	t->to_ns = t->has_ended ? p->off_ns : p->in_ns;
	t->is_open = false;
	if (code == 0 && t->is_chosen && p->woken_ns)
		code = keep_longest(r, p);
	return code < 0 || t->has_ended ? code : keep(r, t, p);
}

/* Did the sleep @p begin then? One shortly before it has ended by then, one after it begins later.
 */
static bool is_same(const struct runs_pause *p, uint64_t begin_ns)
{
	return begin_ns >= p->on_ns && (!p->woken_ns || begin_ns < p->woken_ns) &&
	       begin_ns < p->off_ns + SAME_NS && p->off_ns < begin_ns + SAME_NS;
}

static void set_lock(struct runs_pause *p, const struct runs_lock *lock)
{
	p->lock = lock->lock;
	p->holder = lock->holder;
}

/* Its last sleep is in a sum of its own task, whose last one it is: it can be taken out again. */
static int move_sleep(struct runs *r, struct runs_task *t, struct runs_pause *p,
		      const struct runs_lock *lock)
{
	struct runs_cell *c = &r->cells[t->cell - 1];
	const uint64_t from_ns = p->off_ns > r->from_ns ? p->off_ns : r->from_ns;

	c->n--;
	c->total_ns -= p->woken_ns - from_ns;
	c->max_ns = c->max_before_ns;
	set_lock(p, lock);
	for (uint32_t i = 0; i < r->n_longest; i++)
		if (r->longest[i].pause.task == p->task && r->longest[i].pause.off_ns == p->off_ns)
			set_lock(&r->longest[i].pause, lock);
	return add_sleep(r, p, &t->cell);
}

int runs_lock(struct runs *r, int32_t tid, uint64_t begin_ns, const struct runs_lock *lock)
{
	const uint32_t *known = map64_get(&r->by_tid, (uint32_t)tid);
	struct runs_task *t = known ? &r->tasks[*known] : NULL;
	struct runs_pause *p = t && t->last ? &r->kept[(t->last - 1) % RUNS_KEPT] : NULL;

	if (!t)
		return 0;
	if (p && t->cell && !p->lock && is_same(p, begin_ns))
		return move_sleep(r, t, p, lock);
	t->lock_begin_ns = begin_ns;
	t->lock = *lock;
	return 0;
}

/* @lock is of the task's last sleep, as it has not gone on yet. */
int runs_event(struct runs *r, const struct event *ev, const struct runs_lock *lock,
	       struct map_spaces *spaces)
{
	struct runrec head;
	struct runs_pause p;
	int code;

	memcpy(&head, ev->run, offsetof(struct runrec, frames));
	r->from_ns = r->from_ns ? r->from_ns : head.on_ns ? head.on_ns : head.off_ns;
	r->missed += head.missed;
	code = read_pause(r, ev->run, spaces, &p);
	struct runs_task *t = code < 0 ? NULL : find_task(r, &head, &code);
	if (!t)
		return code;
	r->seen_ns = ev->time;
	snprintf(t->who.comm, sizeof(t->who.comm), "%s", head.comm);
	t->is_chosen |= (head.flags & RUNREC_CHOSEN) != 0;
	p.task = (uint32_t)(t - r->tasks);
	if (!lock->lock && t->lock_begin_ns && is_same(&p, t->lock_begin_ns))
		lock = &t->lock;
	t->lock_begin_ns = 0;
	if (p.off_ns && p.state != RUNREC_READY)
		set_lock(&p, lock);
	if (!(head.flags & RUNREC_OPEN))
		return close_pause(r, t, &p);
	/* It may have been read while its task went on. */
	if ((p.off_ns ? p.off_ns : p.on_ns) < t->to_ns)
		return 0;
	t->is_open = true;
	t->open = p;
	return 0;
}

void runs_forget_objects(struct runs *r, const uint8_t *keep, size_t n)
{
	for (uint32_t i = 0; i < r->n_stacks; i++)
		map_frames_forget(r->stacks[i].frames, r->stacks[i].n, keep, n);
}

void runs_zero(struct runs *r)
{
	for (uint32_t i = 0; i < r->n_tasks; i++) {
		r->tasks[i].lost_ns = 0;
		r->tasks[i].last = r->tasks[i].cell = 0;
		r->tasks[i].from_ns = r->seen_ns;
	}
	r->n_cells = r->n_kept = r->n_longest = 0;
	map64_clear(&r->by_key);
	r->kept_dropped_ns = r->missed = r->dropped = 0;
	r->from_ns = r->seen_ns;
}

int runs_copy(struct runs *dst, const struct runs *src)
{
	const uint32_t n_kept = src->n_kept < RUNS_KEPT ? src->n_kept : RUNS_KEPT;

	*dst = *src;
	dst->by_tid = dst->by_key = dst->by_chain = dst->by_on = (struct map64){0};
	dst->cap_tasks = src->n_tasks;
	dst->cap_cells = src->n_cells;
	dst->cap_stacks = src->n_stacks;
	dst->cap_ons = src->n_ons;
	dst->cap_kept = n_kept;
	dst->tasks = mem_dup(src->tasks, src->n_tasks, sizeof(*src->tasks));
	dst->cells = mem_dup(src->cells, src->n_cells, sizeof(*src->cells));
	dst->stacks = mem_dup(src->stacks, src->n_stacks, sizeof(*src->stacks));
	dst->ons = mem_dup(src->ons, src->n_ons, sizeof(*src->ons));
	dst->kept = mem_dup(src->kept, n_kept, sizeof(*src->kept));
	dst->longest = mem_dup(src->longest, RUNS_LONGEST, sizeof(*src->longest));
	if ((src->n_tasks && !dst->tasks) || (src->n_cells && !dst->cells) ||
	    (src->n_stacks && !dst->stacks) || (src->n_ons && !dst->ons) ||
	    (n_kept && !dst->kept) || (src->longest && !dst->longest))
		return -ENOMEM;
	int code = map64_copy(&dst->by_tid, &src->by_tid);
	code = code ? code : map64_copy(&dst->by_key, &src->by_key);
	code = code ? code : map64_copy(&dst->by_on, &src->by_on);
	return code ? code : map64_copy(&dst->by_chain, &src->by_chain);
}

void runs_deinit(struct runs *r)
{
	mem_free(r->tasks);
	mem_free(r->cells);
	mem_free(r->stacks);
	mem_free(r->ons);
	mem_free(r->kept);
	mem_free(r->longest);
	map64_deinit(&r->by_tid);
	map64_deinit(&r->by_key);
	map64_deinit(&r->by_chain);
	map64_deinit(&r->by_on);
	*r = (struct runs){0};
}

size_t runs_bytes(const struct runs *r)
{
	return r->cap_tasks * sizeof(*r->tasks) + r->cap_cells * sizeof(*r->cells) +
	       r->cap_stacks * sizeof(*r->stacks) + r->cap_ons * sizeof(*r->ons) +
	       r->cap_kept * sizeof(*r->kept) +
	       (r->longest ? RUNS_LONGEST * sizeof(*r->longest) : 0);
}
