// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows for stores of profiles. A wait in flight is in none of them: it would be counted again when
 * it has ended, and reports of successive times must add up. Labels name things that many runs have
 * in common: of "mmap_lock mysqld/812" the process id goes, of "rq_lock cpu 3" the CPU, and of a
 * lock without a name its address.
 */
#include "group.h"
#include "hot/list.h"
#include "kontend/cell.h"
#include "kontend/lock.h"
#include "kontend/lockname.h"
#include "kontend/locksnap.h"
#include "kontend/profile.h"
#include "kontend/query-load.h"
#include "kontend/query-recorded.h"
#include "kontend/query-samples.h"
#include "kontend/sort.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include "mmap/list.h"
#include "names/names.h"

#include <errno.h>
#include <string.h>

/* A caller that does not wait for names has them loaded for so long, for the next time. */
static const uint64_t SOON_NS = 20000000;

struct lock_labels {
	bool known;
	const char *name, *memcg;
};

struct chain_places {
	const struct query_place **places; /* NULL: not asked for yet */
	uint32_t n;
};

struct build {
	struct query *q;
	const struct query_samples_spec *spec;
	struct places places;
	struct lock_labels *locks;   /* by lock */
	struct chain_places *chains; /* by stack */
	struct query_sample *rows;
	size_t n;
};

/* "mmap_lock mysqld/812" to "mmap_lock mysqld", "rq_lock cpu 1" to "rq_lock". */
static const char *in_common(struct query *q, const char *name, const struct lockname *object)
{
	const char *end = NULL;

	if (object && (object->kind == LOCKSNAP_MMAP || object->kind == LOCKSNAP_PIPE))
		end = strrchr(name, '/');
	else if (object && object->kind == LOCKSNAP_PERCPU)
		end = strstr(name, " cpu ");
	return end ? arena_strndup(&q->arena, name, (size_t)(end - name)) : name;
}

static const char *lock_name(struct query *q, uint32_t lock)
{
	const struct lock *l = &q->model->locks->locks[lock];
	const char *name = lock < LOCK_TYPES ? "other" : query_lock_class(q, lock);

	if (!name || !strncmp(name, "(0x", 3))
		return NULL;
	return in_common(q, name, query_lock_place(q, l->addr, l->begin_ns));
}

static const struct lock_labels *labels_of(struct build *b, uint32_t lock)
{
	const struct lock *l = &b->q->model->locks->locks[lock];
	struct lock_labels *ret = &b->locks[lock];
	struct query_mmap_owner owner;

	if (ret->known)
		return ret;
	*ret = (struct lock_labels){.known = true, .name = lock_name(b->q, lock)};
	if (lock >= LOCK_TYPES && query_mmap_owner(b->q, l->addr, l, &owner) && *owner.memcg)
		ret->memcg = owner.memcg;
	return ret;
}

/* Labels of a task, for a wait and for a sample alike. */
static void set_task(struct query *q, struct query_sample *r, uint32_t task)
{
	const struct task_table *t = q->model->tasks;

	r->comm = query_task_comm_or_idle(q, task);
	if (task == TASK_OTHER || task >= t->n)
		return;
	r->pid = t->tasks[task].pid;
	r->cgroup = query_cgroup_name(q, t->tasks[task].cgroup);
}

static const char *holder_of(struct query *q, uint32_t owner)
{
	return owner && owner != OWNER_FREE ? query_task_comm(q, cell_owner_task(owner)) : NULL;
}

static void set_chain(struct build *b, struct query_sample *r, const struct stack_table *t,
		      uint32_t stack, uint32_t from)
{
	struct chain_places *c = &b->chains[stack];
	uint32_t n = t->stacks[stack].n;

	if (!c->places && from < n) {
		c->places = arena_alloc(&b->q->arena, (n - from) * sizeof(*c->places));
		b->places.failed |= !c->places;
		if (!c->places)
			return;
		places_of_chain(&b->places, stack_frames(t, stack), from, n, c->places);
		c->n = n - from;
	}
	r->places = c->places;
	r->n_places = c->n;
}

static bool is_wanted(struct build *b, const struct query_where *w)
{
	enum lock_type type = (enum lock_type)b->q->model->locks->locks[w->lock].type;

	if (b->spec->what == SAMPLES_SLEEPS && locktype_is_spin(type))
		return false;
	return w->stack < b->q->model->stacks->n && hot_zoom_wait(b->q, b->spec->zoom, w);
}

static void add_wait(struct build *b, const struct cell *c, uint64_t n)
{
	struct query *q = b->q;
	struct query_sample *r = &b->rows[b->n++];
	const struct lock_labels *lock = labels_of(b, c->lock);

	*r = (struct query_sample){.type = (enum lock_type)q->model->locks->locks[c->lock].type,
				   .lock = lock->name,
				   .memcg = lock->memcg,
				   .holder = holder_of(q, c->owner),
				   .n = n,
				   .ns = c->total_ns};
	set_task(q, r, c->task);
	query_caller(q, c->stack);
	set_chain(b, r, q->model->stacks, c->stack, query_caller_frame(q, c->stack));
}

static void add_waits(struct build *b)
{
	const struct cell_table *t = query_cells(b->q);

	for (size_t i = 0; i < t->n; i++) {
		const struct cell *c = &t->cells[i];
		const struct query_where w = query_cell_where(c);
		uint64_t n = cell_n(t, c);

		if (n && is_wanted(b, &w))
			add_wait(b, c, n);
	}
}

/* The time that a sample represents; 0: it is not one of time. */
static uint64_t period_of(const struct query *q)
{
	const struct eventlist_event *p = query_recorded_main(q);

	if (!p || !p->rate)
		return 0;
	if (p->freq)
		return 1000000000 / p->rate;
	return hot_is_clock(q) ? p->rate : 0;
}

static int add_samples(struct build *b)
{
	const struct profile *p = query_profile(b->q);
	const struct hot_rows zoomed = {
		.q = b->q, .p = p, .zoom = b->spec->zoom, .groups = hot_groups(b->q)};
	uint64_t period_ns = period_of(b->q);
	bool timed = hot_is_clock(b->q) && p->period;

	if (!zoomed.groups)
		return -ENOMEM;
	for (size_t i = 0; i < p->n; i++) {
		const struct profile_cell *c = &p->cells[i];
		if (!hot_zoom_sample(&zoomed, c))
			continue;
		struct query_sample *r = &b->rows[b->n++];
		*r = (struct query_sample){
			.type = LOCK_TYPES, .n = c->n, .ns = timed ? c->period : c->n * period_ns};
		set_task(b->q, r, c->task);
		set_chain(b, r, &p->stacks, c->stack, 0);
	}
	return 0;
}

static int costs_before(const void *a, const void *b)
{
	const struct query_sample *x = a, *y = b;

	return x->ns != y->ns ? x->ns > y->ns : x->n > y->n;
}

/* Room for the largest number of rows, followed by as much for sorting them. */
static int room_for(struct build *b)
{
	struct query *q = b->q;
	bool waits = b->spec->what != SAMPLES_CPU;
	size_t n = waits ? query_cells(q)->n : query_profile(q)->n;
	size_t chains = waits ? q->model->stacks->n : query_profile(q)->stacks.n;

	b->rows = arena_alloc(&q->arena, (2 * n + 1) * sizeof(*b->rows));
	b->locks = arena_alloc(&q->arena, (q->model->locks->n + 1) * sizeof(*b->locks));
	b->chains = arena_alloc(&q->arena, (chains + 1) * sizeof(*b->chains));
	return b->rows && b->locks && b->chains ? 0 : -ENOMEM;
}

static int collect(struct build *b)
{
	int r = room_for(b);

	if (r == 0 && b->spec->what == SAMPLES_CPU)
		r = add_samples(b);
	else if (r == 0)
		add_waits(b);
	return b->places.failed || b->q->cache->failed ? -ENOMEM : r;
}

/* Names and lines are asked for by asking for all rows; then they come. */
static int collect_named(struct build *b)
{
	for (;;) {
		b->places = (struct places){.q = b->q, .lines = b->spec->names_ns != 0};
		b->n = 0;
		int r = query_sync(b->q);
		r = r < 0 ? r : collect(b);
		places_deinit(&b->places);
		if (r == 0 && !b->spec->names_ns)
			(void)query_load_names(b->q, SOON_NS);
		if (r < 0 || !b->spec->names_ns || !query_load_wait(b->q, b->spec->names_ns))
			return r;
	}
}

int query_samples(struct query *q, const struct query_samples_spec *s, struct query_samples *ret)
{
	struct build b = {.q = q, .spec = s};
	int r = collect_named(&b);

	if (r < 0)
		return r;
	sort_merge(b.rows, b.rows + b.n, b.n, sizeof(*b.rows), costs_before);
	*ret = (struct query_samples){
		.rows = b.rows, .n = b.n, .period_ns = s->what == SAMPLES_CPU ? period_of(q) : 0};
	return 0;
}
