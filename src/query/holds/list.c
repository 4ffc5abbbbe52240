// SPDX-License-Identifier: GPL-2.0-only
/*
 * The three tables of holds: locks, the call chains that take them, and the tasks that have them.
 * All rows are of the latest snapshot, whose sums are of all the time that was measured.
 */
#include "holds.h"
#include "kontend/lock.h"
#include "kontend/model.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum {
	L_NAME,
	L_LOCK,
	L_KIND,
	L_ACQUIRED,
	L_PER_S,
	L_HOLDS,
	L_TOTAL,
	L_AVG,
	L_P50,
	L_P99,
	L_MAX,
	L_HOLDER,
	L_HELD_FOR,
	L_COLUMNS
};

static const struct column lock_columns[L_COLUMNS] = {
	[L_NAME] = {COL_NAME, 20, 0, SR | W},
	[L_LOCK] = {COL_LOCK, 18, 9, R},
	[L_KIND] = {COL_KIND, 7, 0, SR},
	[L_ACQUIRED] = {"acquisitions", "TAKEN", "times that the lock was acquired", COLUMN_COUNT,
			7, 1, SR},
	[L_PER_S] = {"acquisitions_per_s", "TAKEN/s",
		     "times per second that the lock was acquired, on average", COLUMN_RATE, 7, 1,
		     SR},
	[L_HOLDS] = {COL_HOLDS, 7, 3, SR},
	[L_TOTAL] = {COL_HOLD_TOTAL, 8, 0, SR},
	[L_AVG] = {COL_HOLD_AVG, 8, 1, SR},
	[L_P50] = {"held_p50_ns", "P50",
		   "half of the holds were shorter, within 6 %; of one lock only", COLUMN_NS, 8, 2,
		   SR},
	[L_P99] = {"held_p99_ns", "P99",
		   "99 % of the holds were shorter, within 6 %; of one lock only", COLUMN_NS, 8, 1,
		   SR},
	[L_MAX] = {COL_HOLD_MAX, 8, 1, SR},
	[L_HOLDER] = {"held_by", "HELD NOW BY",
		      "task that has the lock now, or the number of readers", COLUMN_TEXT, 18, 1,
		      SR},
	[L_HELD_FOR] = {"held_for_ns", "FOR", "time for which it has had the lock", COLUMN_NS, 8, 1,
			SR},
};

struct holds {
	struct query *q;
	const struct holdsnap *s;
	uint64_t total_ns;
};

static const char *name_of(struct holds *t, uint64_t addr)
{
	const struct holdsnap_head *h = &t->s->head;
	const struct lock_table *l = t->q->model->locks;
	const char *asked = holdsnap_text(t->s, h->asked);

	if (!addr)
		return "[others]";
	if (addr == h->lock && strncmp(asked, "0x", 2) != 0 && strncmp(asked, "ffff", 4) != 0)
		return arena_printf(&t->q->arena, "%s", asked);
	for (size_t i = 1; i < l->n; i++)
		if (l->locks[i].addr == addr)
			return query_lock_name(t->q, (uint32_t)i);
	const struct lockname *object = query_lock_place(t->q, addr, h->time_ns);
	const char *name = object ? query_object_name(t->q, object) : NULL;
	return name ? name : query_hex(&t->q->arena, addr);
}

static void fill_now(struct holds *t, const struct holdsnap_lock *l, struct value *v)
{
	const struct holdsnap_now *first = NULL;
	uint64_t n = 0;

	for (size_t i = 0; i < t->s->n_now; i++) {
		const struct holdsnap_now *now = &t->s->now[i];
		if (now->addr != l->addr || now->kind != l->kind)
			continue;
		first = !n++ || now->since_ns < first->since_ns ? now : first;
	}
	if (!first)
		return;
	uint64_t since_ns = first->since_ns ? first->since_ns : t->s->head.from_ns;
	const char *task =
		query_slash(&t->q->arena, holdsnap_text(t->s, first->comm), first->tid, "-");
	bool gone = first->flags & HOLDSNAP_GONE;
	value_s(&v[L_HOLDER],
		n > 1  ? arena_printf(&t->q->arena, "%" PRIu64 " readers", n)
		: gone ? arena_printf(&t->q->arena, "%s, which has ended", task ? task : "?")
		       : task);
	value_u_least(&v[L_HELD_FOR],
		      t->s->head.time_ns > since_ns ? t->s->head.time_ns - since_ns : 0,
		      !first->since_ns);
}

static void fill_percentiles(const struct holds *t, const struct holdsnap_lock *l, struct value *v)
{
	for (size_t i = 0; t->s->head.lock && i < t->s->n_sums; i++) {
		const struct holdsnap_sum *s = &t->s->sums[i];
		if (s->kind != l->kind || !s->holds)
			continue;
		value_u(&v[L_P50], holdsnap_percentile(s->buckets, 50, s->max_ns));
		value_u(&v[L_P99], holdsnap_percentile(s->buckets, 99, s->max_ns));
	}
}

static void fill_lock(void *ctx, size_t row, uint64_t want, struct value *v)
{
	struct holds *t = ctx;
	const struct holdsnap_lock *l = &t->s->locks[row];

	(void)want;
	value_s(&v[L_NAME], name_of(t, l->addr));
	value_u(&v[L_LOCK], l->addr);
	v[L_LOCK].known = l->addr != 0;
	value_s(&v[L_KIND], holdsnap_kind_name(l->kind));
	value_u(&v[L_ACQUIRED], l->acquired);
	value_d(&v[L_PER_S], query_per_s(l->acquired, query_holds_span(t->s)));
	value_u(&v[L_HOLDS], l->holds);
	value_u(&v[L_TOTAL], l->total_ns);
	if (l->holds) {
		value_u(&v[L_AVG], l->total_ns / l->holds);
		value_u(&v[L_MAX], l->max_ns);
	}
	fill_percentiles(t, l, v);
	fill_now(t, l, v);
}

static void rank_lock(void *ctx, size_t row, struct row_rank *ret)
{
	const struct holds *t = ctx;
	const struct holdsnap_lock *l = &t->s->locks[row];

	*ret = (struct row_rank){
		.id = l->addr << 2 | l->kind, .order = l->total_ns, .tie = l->acquired};
}

const struct table_kind query_holds_kind = {"holds", lock_columns, L_COLUMNS, fill_lock, rank_lock};

enum { C_CALLER, C_STACK, C_KIND, C_HOLDS, C_TOTAL, C_PCT, C_AVG, C_MAX, C_COLUMNS };

static const struct column chain_columns[C_COLUMNS] = {
	[C_CALLER] = {"taken_in", "TAKEN IN", "function that acquired the lock", COLUMN_TEXT, 20, 0,
		      SR},
	[C_STACK] = {"taken_by", "CALL CHAIN",
		     "call chain that acquired the lock, innermost function first", COLUMN_TEXT, 30,
		     1, SR | W},
	[C_KIND] = {COL_KIND, 7, 2, SR},
	[C_HOLDS] = {COL_HOLDS, 7, 0, SR},
	[C_TOTAL] = {COL_HOLD_TOTAL, 8, 0, SR},
	[C_PCT] = {COL_HOLD_PCT, 5, 1, SR},
	[C_AVG] = {COL_HOLD_AVG, 8, 1, SR},
	[C_MAX] = {COL_HOLD_MAX, 8, 1, SR},
};

static double share(const struct holds *t, uint64_t ns)
{
	return t->total_ns ? 100 * (double)ns / (double)t->total_ns : 0;
}

static const char *chain_text(struct holds *t, const struct holdsnap_chain *c, uint32_t from,
			      uint32_t n)
{
	const char *text = NULL;

	for (uint32_t i = from; i < n; i++) {
		struct query *q = t->q;
		const char *name = query_func_name(q, query_func(q, t->s->frames[c->frame + i]));
		name = name ? name : "?";
		text = text ? arena_printf(&q->arena, "%s < %s", text, name)
			    : arena_printf(&q->arena, "%s", name);
		if (!text)
			break;
	}
	return text;
}

static void fill_chain(void *ctx, size_t row, uint64_t want, struct value *v)
{
	struct holds *t = ctx;
	const struct holdsnap_chain *c = &t->s->chains[row];

	if (want & table_bit(C_CALLER))
		value_s(&v[C_CALLER], c->n_frames ? chain_text(t, c, 0, 1) : "[others]");
	if (want & table_bit(C_STACK))
		value_s(&v[C_STACK], chain_text(t, c, 0, c->n_frames));
	value_s(&v[C_KIND], holdsnap_kind_name(c->kind));
	value_u(&v[C_HOLDS], c->holds);
	value_u(&v[C_TOTAL], c->total_ns);
	value_d(&v[C_PCT], share(t, c->total_ns));
	value_u(&v[C_AVG], c->holds ? c->total_ns / c->holds : 0);
	value_u(&v[C_MAX], c->max_ns);
}

static void rank_chain(void *ctx, size_t row, struct row_rank *ret)
{
	const struct holds *t = ctx;
	const struct holdsnap_chain *c = &t->s->chains[row];
	uint64_t id = c->kind;

	for (uint32_t i = 0; i < c->n_frames; i++)
		id = id * 31 + t->s->frames[c->frame + i];
	*ret = (struct row_rank){.id = id, .order = c->total_ns, .tie = c->holds};
}

const struct table_kind query_holds_chains_kind = {"holdchains", chain_columns, C_COLUMNS,
						   fill_chain, rank_chain};

enum { T_TASK, T_PID, T_TID, T_COMM, T_HOLDS, T_TOTAL, T_PCT, T_AVG, T_MAX, T_COLUMNS };

static const struct column task_columns[T_COLUMNS] = {
	[T_TASK] = {COL_TASK, 22, 0, S | W}, [T_PID] = {COL_PID, 7, 9, R},
	[T_TID] = {COL_TID, 7, 9, R},	     [T_COMM] = {COL_COMM, 16, 9, R},
	[T_HOLDS] = {COL_HOLDS, 7, 0, SR},   [T_TOTAL] = {COL_HOLD_TOTAL, 8, 0, SR},
	[T_PCT] = {COL_HOLD_PCT, 5, 1, SR},  [T_AVG] = {COL_HOLD_AVG, 8, 1, SR},
	[T_MAX] = {COL_HOLD_MAX, 8, 1, SR},
};

static void fill_task(void *ctx, size_t row, uint64_t want, struct value *v)
{
	struct holds *t = ctx;
	const struct holdsnap_task *k = &t->s->tasks[row];
	const char *comm = holdsnap_text(t->s, k->comm);

	(void)want;
	value_s(&v[T_TASK], k->tid ? query_slash(&t->q->arena, comm, k->tid, "-") : "[others]");
	value_task(&v[T_PID], k->pid);
	value_task(&v[T_TID], k->tid);
	value_s(&v[T_COMM], comm);
	value_u(&v[T_HOLDS], k->holds);
	value_u(&v[T_TOTAL], k->total_ns);
	value_d(&v[T_PCT], share(t, k->total_ns));
	value_u(&v[T_AVG], k->holds ? k->total_ns / k->holds : 0);
	value_u(&v[T_MAX], k->max_ns);
}

static void rank_task(void *ctx, size_t row, struct row_rank *ret)
{
	const struct holds *t = ctx;
	const struct holdsnap_task *k = &t->s->tasks[row];

	*ret = (struct row_rank){.id = (uint32_t)k->tid, .order = k->total_ns, .tie = k->holds};
}

const struct table_kind query_holds_tasks_kind = {"holdtasks", task_columns, T_COLUMNS, fill_task,
						  rank_task};

static int answer(struct query *q, const struct table_kind *kind, const struct query_spec *s,
		  struct table *ret, struct error *err)
{
	struct holds t = {.q = q};
	struct row_source src = {.kind = kind, .ctx = &t};

	if (query_sync(q) < 0)
		return query_enomem(err, "holds of locks");
	t.s = query_holds_snap(q);
	for (size_t i = 0; t.s && i < t.s->n_sums; i++)
		t.total_ns += t.s->sums[i].total_ns;
	if (t.s)
		src.n = kind == &query_holds_kind	   ? t.s->n_locks
			: kind == &query_holds_chains_kind ? t.s->n_chains
							   : t.s->n_tasks;
	return rows_answer(q, s, &src, ret, err);
}

int query_holds(struct query *q, const struct query_spec *s, struct table *ret, struct error *err)
{
	return answer(q, &query_holds_kind, s, ret, err);
}

int query_holds_chains(struct query *q, const struct query_spec *s, struct table *ret,
		       struct error *err)
{
	return answer(q, &query_holds_chains_kind, s, ret, err);
}

int query_holds_tasks(struct query *q, const struct query_spec *s, struct table *ret,
		      struct error *err)
{
	return answer(q, &query_holds_tasks_kind, s, ret, err);
}
