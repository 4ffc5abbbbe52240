// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cells of blame summed up into rows, by a property of the root, and the columns that both tables
 * have. A row's id is made of what it represents, as in group.c, so that it outlives folding. Roots
 * that are not known by name are a row for each lock.
 */
#include "rows.h"
#include "../group.h"
#include "../locks/queues.h"
#include "columns.h"
#include "kontend/hash.h"
#include "kontend/lock.h"
#include "kontend/locktype.h"
#include "kontend/map64.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include "kontend/text.h"

#include <errno.h>
#include <string.h>

static const char *const by_names[BLAME_BYS] = {
	[BLAME_BY_TASK] = "task",   [BLAME_BY_PROCESS] = "process", [BLAME_BY_LOCK] = "lock",
	[BLAME_BY_TYPE] = "type",   [BLAME_BY_CALLER] = "caller",   [BLAME_BY_STACK] = "stack",
	[BLAME_BY_STATE] = "state", [BLAME_BY_SYSCALL] = "syscall", [BLAME_BY_AT] = "at",
};

const char *query_blame_by_name(enum query_blame_by by)
{
	return by < BLAME_BYS ? by_names[by] : "?";
}

int query_blame_by_parse(const char *s, enum query_blame_by *ret)
{
	for (int i = 0; i < BLAME_BYS; i++) {
		if (strcmp(s, by_names[i]) == 0) {
			*ret = (enum query_blame_by)i;
			return 0;
		}
	}
	return -EINVAL;
}

enum query_by blame_key(enum query_blame_by by)
{
	static const enum query_by keys[BLAME_BYS] = {
		[BLAME_BY_TASK] = BY_TASK,	 [BLAME_BY_PROCESS] = BY_PROCESS,
		[BLAME_BY_LOCK] = BY_LOCK,	 [BLAME_BY_TYPE] = BY_TYPE,
		[BLAME_BY_CALLER] = BY_CALLER,	 [BLAME_BY_STACK] = BY_STACK,
		[BLAME_BY_SYSCALL] = BY_SYSCALL, [BLAME_BY_AT] = BY_AT,
		[BLAME_BY_STATE] = QUERY_BYS,
	};

	return keys[by];
}

static struct query_where where_of(const struct blame_cell *c)
{
	return (struct query_where){
		.lock = c->key.root_lock, .stack = c->key.got, .task = c->key.task};
}

static uint64_t id_of_who(struct query *q, enum query_by by, const struct blame_cell *c)
{
	const struct query_where w = where_of(c);
	enum blame_who who = query_blame_who(q, c);

	if (who == BLAME_TASK)
		return query_id(q, by, &w);
	return hash_u64(query_id(q, BY_LOCK, &w) ^ (uint64_t)who << 62);
}

static uint64_t id_of(struct query *q, enum query_blame_by by, const struct blame_cell *c)
{
	const struct query_where w = where_of(c);

	switch (by) {
	case BLAME_BY_TASK:
		return id_of_who(q, BY_TASK, c);
	case BLAME_BY_PROCESS:
		return id_of_who(q, BY_PROCESS, c);
	case BLAME_BY_LOCK:
		return query_id(q, BY_LOCK, &w);
	case BLAME_BY_TYPE:
		return query_id(q, BY_TYPE, &w);
	case BLAME_BY_STATE:
		return c->key.state;
	default:
		if (c->key.state == BLAME_UNKNOWN)
			return UINT64_MAX;
		return query_id(q, blame_key(by), &w);
	}
}

bool blame_rows_count(const struct blame_rows *b, const struct blame_cell *c)
{
	if (!b->did)
		return c->ns && c->key.state != BLAME_PASSED;
	const struct query_where w = where_of(c);
	return c->key.direct && c->key.state != BLAME_UNKNOWN && query_in_scope(b->q, b->scope, &w);
}

uint64_t blame_rows_ns(const struct blame_rows *b, const struct blame_cell *c)
{
	return b->did ? c->time_ns : c->ns;
}

static struct blame_group *new_group(struct blame_rows *b, uint64_t id, uint32_t cell)
{
	if (arena_grow(&b->q->arena, &b->g, &b->cap, b->n, sizeof(*b->g)))
		return NULL;
	b->g[b->n] = (struct blame_group){.id = id, .first = cell};
	return &b->g[b->n++];
}

static int add_cell(struct blame_rows *b, struct map64 *index, uint32_t cell)
{
	const struct blame_cell *c = &b->cells.v[cell];
	uint64_t id = id_of(b->q, b->by, c), ns = blame_rows_ns(b, c);
	const uint32_t *known = map64_get(index, id);
	struct blame_group *g = known ? &b->g[*known] : new_group(b, id, cell);

	if (!g || (!known && map64_put(index, id, (uint32_t)(b->n - 1)) < 0))
		return -ENOMEM;
	g->ns += ns;
	g->state_ns[c->key.state] += ns;
	g->chained_ns += c->key.direct ? 0 : ns;
	blame_cost_add(&g->cost, &c->cost);
	g->last_ns = c->last_ns > g->last_ns ? c->last_ns : g->last_ns;
	b->next[cell] = g->cells;
	g->cells = cell + 1;
	b->all_ns += ns;
	return 0;
}

int blame_rows_sum(struct blame_rows *b)
{
	struct map64 index = {0};
	int r = query_blame_cells(b->q, &b->cells);

	b->next = arena_alloc(&b->q->arena, (b->cells.n + 1) * sizeof(*b->next));
	b->room = arena_alloc(&b->q->arena, (b->cells.n + 1) * sizeof(*b->room));
	if (!b->next || !b->room)
		r = -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < b->cells.n; i++)
		if (blame_rows_count(b, &b->cells.v[i]))
			r = add_cell(b, &index, i);
	map64_deinit(&index);
	return r < 0 || b->q->cache->failed ? -ENOMEM : 0;
}

int query_blame_sum(struct query *q, struct query_blame_sum *ret)
{
	struct blame_rows b = {.q = q, .by = BLAME_BY_TASK};
	const struct blame *all = q->model->blame;
	int r = blame_rows_sum(&b);

	*ret = (struct query_blame_sum){.not_followed = all->not_followed,
					.lost_ns = b.cells.lost_ns,
					.doubtful_ns = all->doubtful_ns,
					.doubtful_known = !query_has_window(q) && !q->only,
					.folded = all->folded,
					.refused = query_blame_why_not(q)};
	for (size_t i = 0; i < b.n; i++) {
		const struct blame_group *g = &b.g[i];
		uint64_t *const parts[] = {
			[BLAME_TASK] = &ret->tasks_ns,
			[BLAME_READER] = &ret->readers_ns,
			[BLAME_OTHER] = &ret->others_ns,
			[BLAME_NOBODY] = &ret->unknown_ns,
		};
		enum blame_who who = query_blame_who(q, blame_first(&b, g));
		*parts[who] += g->ns;
		ret->tasks += who == BLAME_TASK;
		ret->followed_ns += g->ns - g->state_ns[BLAME_UNKNOWN] -
				    g->state_ns[BLAME_NOT_FOLLOWED] - g->state_ns[BLAME_CIRCLE];
	}
	ret->unknown_ns += ret->lost_ns;
	ret->waited_ns = b.all_ns + ret->lost_ns;
	return r;
}

static const char *const row_names[] = {
	[BLAME_TASK] = "task",
	[BLAME_READER] = "reader",
	[BLAME_OTHER] = "other",
	[BLAME_NOBODY] = "unknown",
};

static const char *const who_words[] = {
	[BLAME_READER] = "(some reader)",
	[BLAME_OTHER] = "(forgotten)",
	[BLAME_NOBODY] = "(holder not known)",
};

static void fill_task(struct blame_rows *b, const struct blame_cell *c, enum blame_who who,
		      const struct blame_columns *at, struct value *v)
{
	const struct task *t = &b->q->model->tasks->tasks[c->key.task];
	bool by_task = b->by == BLAME_BY_TASK;

	if (who != BLAME_TASK) {
		value_s(&v[at->task], who_words[who]);
		value_s(&v[at->process], who_words[who]);
		return;
	}
	value_s(&v[at->task], query_task_name(b->q, c->key.task));
	value_s(&v[at->process], query_process_name(b->q, c->key.task));
	value_s(&v[at->comm], by_task ? query_task_comm(b->q, c->key.task)
				      : query_process_comm(b->q, c->key.task));
	value_task(&v[at->tid], t->tid);
	value_task(&v[at->pid], t->pid);
}

static uint64_t root_lock_of(struct blame_rows *b, const struct blame_cell *c)
{
	(void)b;
	return c->key.root_lock;
}

/* Only for a row of a single lock: several locks each have functions of their own. */
static uint64_t caller_of(struct blame_rows *b, const struct blame_cell *c)
{
	uint32_t func = 0;

	/* The caller is a part of the row's id if rows are by caller. */
	if (c->key.got != STACK_OTHER || b->by != BLAME_BY_CALLER)
		func = c->key.root_lock == b->lock ? query_got_in(b->q, &c->key) : 0;
	return func ? func : UINT64_MAX;
}

static uint32_t type_of(const struct blame_rows *b, uint32_t lock)
{
	return b->q->model->locks->locks[lock].type;
}

/* The number of locks; *ret_types: they are of several types. */
static size_t count_locks(struct blame_rows *b, const struct blame_group *g, bool *ret_types)
{
	uint32_t first = type_of(b, blame_first(b, g)->key.root_lock);
	struct blame_weight *w = b->room;
	size_t n = 0, locks = 0;

	for (uint32_t i = g->cells; i; i = b->next[i - 1]) {
		uint32_t lock = b->cells.v[i - 1].key.root_lock;
		w[n++].key = lock;
		*ret_types |= type_of(b, lock) != first;
	}
	blame_weights_sort(w, n);
	for (size_t i = 0; i < n; i++)
		locks += !i || w[i].key != w[i - 1].key;
	return locks;
}

/*
 * A mode that no task has waited in has no page, and as names depend on the moment, hardly a name:
 * then use that of the other mode.
 */
static uint32_t waited_mode(const struct query *q, uint32_t lock)
{
	const struct lock *l = &q->model->locks->locks[lock];

	return l->begin_ns || !l->twin ? lock : l->twin;
}

static void fill_lock(struct blame_rows *b, const struct blame_group *g,
		      const struct blame_columns *at, bool many, struct value *v)
{
	uint32_t lock = b->lock;
	bool many_types = false;

	const struct lock *l = &b->q->model->locks->locks[lock];
	const struct query_where w = {.lock = waited_mode(b->q, lock)};
	value_u(&v[at->locks], count_locks(b, g, &many_types));
	value_s(&v[at->kind], locktype_name((enum lock_type)l->type));
	value_s(&v[at->name], query_lock_name(b->q, w.lock));
	v[at->kind].approx = many_types;
	v[at->name].approx = many;
	v[at->lock] = (struct value){.u = l->addr, .known = !many && lock >= LOCK_TYPES};
	if (lock >= LOCK_TYPES)
		value_u(&v[at->lock_id], query_id(b->q, BY_LOCK, &w));
}

void blame_fill_root(struct blame_rows *b, const struct blame_group *g, uint64_t want,
		     const struct blame_columns *at, struct value *v)
{
	const struct blame_cell *c = blame_first(b, g);
	const uint64_t lock = table_bit(at->kind) | table_bit(at->lock) | table_bit(at->name) |
			      table_bit(at->locks) | table_bit(at->lock_id);
	enum blame_who who = query_blame_who(b->q, c);
	struct blame_heaviest h;

	if (b->by == BLAME_BY_TASK || b->by == BLAME_BY_PROCESS) {
		fill_task(b, c, who, at, v);
		value_s(&v[at->row], row_names[who]);
	}
	if (b->by == BLAME_BY_STACK)
		value_s(&v[at->stack],
			who == BLAME_NOBODY ? who_words[who] : query_chain(b->q, c->key.got));
	bool known =
		want & (lock | table_bit(at->caller)) && blame_heaviest(b, g, root_lock_of, &h);
	if (known) {
		b->lock = (uint32_t)h.key;
		if (want & lock)
			fill_lock(b, g, at, h.many, v);
	}
	if (known && want & table_bit(at->caller) && blame_heaviest(b, g, caller_of, &h)) {
		value_s(&v[at->caller], query_func_name(b->q, (uint32_t)h.key));
		v[at->caller].approx = h.many;
	} else if (b->by == BLAME_BY_CALLER && who == BLAME_NOBODY) {
		value_s(&v[at->caller], who_words[who]);
	}
}

/* Of a lock that was got without waiting nothing shows where. */
static const struct query_origin not_seen = {.syscall_why = "where the lock was got is not known",
					     .at_why = "where the lock was got is not known"};

/* NULL: there is no time. */
static const struct query_origin *heaviest_origin(struct blame_rows *b, const struct blame_group *g,
						  enum query_by by, bool *ret_many)
{
	struct origin_parts p = {.q = b->q, .by = by};

	for (uint32_t i = g->cells; i; i = b->next[i - 1])
		query_origin_add(&p, b->cells.v[i - 1].key.got,
				 blame_rows_ns(b, &b->cells.v[i - 1]));
	const struct query_origin *o = query_origin_most(&p, ret_many);
	return o && o == query_origin(b->q, STACK_OTHER) ? &not_seen : o;
}

const char *blame_got_at(struct blame_rows *b, const struct blame_group *g)
{
	bool many;
	const struct query_origin *o = heaviest_origin(b, g, BY_AT, &many);

	return o ? o->at : NULL;
}

static void fill_on(struct blame_rows *b, const struct blame_group *g, struct value *v)
{
	struct wait_on_most on = {0};

	for (uint32_t i = g->cells; i; i = b->next[i - 1]) {
		const struct blame_cell *c = &b->cells.v[i - 1];
		query_on_add_place(b->q, &on, c->key.root_lock, c->key.got,
				   blame_rows_ns(b, c) + 1);
	}
	query_fill_on(b->q, &on, blame_first(b, g)->key.root_lock, &v[C_ON], &v[C_ON_REASON]);
}

void blame_fill_origin(struct blame_rows *b, const struct blame_group *g, uint64_t want,
		       struct value *v)
{
	const uint64_t syscall = table_bit(C_SYSCALL) | table_bit(C_SYSCALL_REASON);
	const struct query_origin *o;
	bool many;

	if (want & syscall && (o = heaviest_origin(b, g, BY_SYSCALL, &many))) {
		query_fill_syscall(o, &v[C_SYSCALL], &v[C_SYSCALL_REASON]);
		v[C_SYSCALL].approx = many;
	}
	if (want & (table_bit(C_AT) | table_bit(C_AT_REASON)) &&
	    (o = heaviest_origin(b, g, BY_AT, &many))) {
		query_fill_at(o, &v[C_AT], &v[C_AT_REASON]);
		v[C_AT].approx |= many;
	}
	if (want & (table_bit(C_ON) | table_bit(C_ON_REASON)))
		fill_on(b, g, v);
}

void blame_fill_mostly(struct blame_rows *b, const struct blame_group *g, uint64_t want,
		       const struct blame_columns *at, struct value *v)
{
	struct blame_mostly m;

	if (!(want &
	      (table_bit(at->mostly) | table_bit(at->mostly_state) | table_bit(at->mostly_pct) |
	       table_bit(at->mostly_who) | table_bit(at->mostly_in) | table_bit(at->mostly_what))))
		return;
	blame_mostly(b, g, &m);
	value_s(&v[at->mostly], blame_mostly_text(b->q, &m));
	value_s(&v[at->mostly_state], blame_state_name(m.state));
	value_d(&v[at->mostly_pct], m.pct);
	value_s(&v[at->mostly_who], m.who);
	value_s(&v[at->mostly_in], m.in);
	value_s(&v[at->mostly_what], m.what);
}
