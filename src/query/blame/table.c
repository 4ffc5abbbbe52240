// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table "blame" of up to three column sets. Each set sums up cells of its own into groups; a
 * group's id is made of what the row is, so groups of equal id are one row. A set asks for its own
 * groups alone and has the rows of these; with all columns the rows are those of all sets.
 */
#include "../chains/graph.h"
#include "columns.h"
#include "kontend/map64.h"
#include "kontend/query-blame.h"
#include "kontend/wait.h"
#include "rows.h"

#include <errno.h>

#define NONE UINT32_MAX

struct blame_row {
	uint64_t id;
	uint32_t of[BLAME_SETS]; /* the group of each set, or NONE */
};

struct blame_table {
	struct query *q;
	enum blame_set set;
	bool has[BLAME_SETS]; /* that are asked for, and can be known */
	struct blame_rows waits, did;
	struct blame_holds held;
	struct blame_row *rows;
	size_t n, cap;
	double lost_share; /* of what was waited with LOST known, over all rows; 1: of none */
};

static const struct {
	const char *name;
	const struct table_kind *kind;
	const char *sort;
	enum query_blame_by by;
	const char *what;
} sets[BLAME_SETS] = {
	[BLAME_WAITS] = {"waits", &query_blame_kind, "waited_ns", BLAME_BY_TASK, "tasks to blame"},
	[BLAME_HELD] = {"held", &query_blame_held_kind, "waited_ns", BLAME_BY_TASK, "held locks"},
	[BLAME_DID] = {"did", &query_blame_did_kind, "time_ns", BLAME_BY_LOCK, "holders"},
};

const char *query_blame_set_name(enum blame_set set)
{
	return set < BLAME_SETS ? sets[set].name : "?";
}

bool query_blame_has(enum blame_set set, enum query_blame_by by)
{
	return set == BLAME_WAITS || by != BLAME_BY_STATE;
}

enum query_blame_by query_blame_default(enum blame_set set)
{
	return set < BLAME_SETS ? sets[set].by : BLAME_BY_TASK;
}

static const struct blame_group *group_of(const struct blame_rows *b, uint32_t at)
{
	return at == NONE ? NULL : &b->g[at];
}

static struct group *held_of(struct blame_table *t, const struct blame_row *r)
{
	return r->of[BLAME_HELD] == NONE ? NULL : &t->held.gs.g[r->of[BLAME_HELD]];
}

/* A row of which waits say nothing has the lock and function of another set. */
static void fill_lock_of_others(const struct blame_row *r, struct value *v)
{
	static const uint8_t to[] = {C_KIND, C_LOCK, C_NAME, C_LOCKS, C_CALLER};
	static const uint8_t did[] = {C_DID_KIND, C_DID_LOCK, C_DID_NAME, C_DID_LOCKS,
				      C_DID_CALLER};
	static const uint8_t held[] = {C_HELD_KIND, C_HELD_LOCK, C_HELD_NAME, C_HELD_LOCKS,
				       C_HELD_CALLER};
	const uint8_t *from = r->of[BLAME_DID] == NONE ? held : did;

	for (size_t i = 0; i < sizeof(to); i++)
		v[to[i]] = v[from[i]];
}

void blame_fill(void *ctx, size_t row, uint64_t want, struct value *v)
{
	struct blame_table *t = ctx;
	const struct blame_row *r = &t->rows[row];

	if (t->has[BLAME_HELD])
		blame_fill_held(&t->held, held_of(t, r), want, v);
	if (t->has[BLAME_DID])
		blame_fill_did(&t->did, group_of(&t->did, r->of[BLAME_DID]), want, v);
	if (t->has[BLAME_WAITS])
		blame_fill_waits(&t->waits, group_of(&t->waits, r->of[BLAME_WAITS]), want, v);
	if (r->of[BLAME_WAITS] == NONE)
		fill_lock_of_others(r, v);
}

/*
 * Without a wait nothing more would have been done while CPUs were all busy: what is lost comes
 * first, then what is waited. A row whose LOST is not known has the share of the others.
 */
static uint64_t order_of(const struct blame_table *t, const struct blame_group *g)
{
	return g->cost.is_lost ? g->cost.lost_ns : (uint64_t)((double)g->ns * t->lost_share);
}

static double share_of_lost(const struct blame_rows *b)
{
	double lost = 0, waited = 0;

	for (size_t i = 0; i < b->n; i++) {
		const struct blame_group *g = &b->g[i];
		lost += g->cost.is_lost ? (double)g->cost.lost_ns : 0;
		waited += g->cost.is_lost ? (double)g->ns : 0;
	}
	return waited > 0 ? lost / waited : 1;
}

void blame_rank(void *ctx, size_t row, struct row_rank *ret)
{
	struct blame_table *t = ctx;
	const struct blame_row *r = &t->rows[row];
	const struct blame_group *g =
		t->set == BLAME_HELD
			? NULL
			: group_of(t->set == BLAME_DID ? &t->did : &t->waits, r->of[t->set]);
	const struct group *held = t->set == BLAME_HELD ? held_of(t, r) : NULL;

	*ret = (struct row_rank){.id = r->id,
				 .order = g && t->set == BLAME_WAITS ? order_of(t, g) : 0,
				 .tie = g      ? g->ns
					: held ? held->n
					       : 0};
}

static struct blame_row *add_row(struct blame_table *t, uint64_t id)
{
	if (arena_grow(&t->q->arena, &t->rows, &t->cap, t->n, sizeof(*t->rows)))
		return NULL;
	t->rows[t->n] = (struct blame_row){id, {NONE, NONE, NONE}};
	return &t->rows[t->n++];
}

/* The row of a group; rows that another set has as well are one. */
static int put_group(struct blame_table *t, struct map64 *index, enum blame_set set, uint64_t id,
		     size_t group)
{
	const uint32_t *known = map64_get(index, id);
	struct blame_row *r = known ? &t->rows[*known] : add_row(t, id);

	if (!r || (!known && map64_put(index, id, (uint32_t)(t->n - 1)) < 0))
		return -ENOMEM;
	r->of[set] = (uint32_t)group;
	return 0;
}

static int join(struct blame_table *t, struct map64 *index)
{
	int r = 0;

	for (size_t i = 0; r == 0 && t->has[BLAME_WAITS] && i < t->waits.n; i++)
		r = put_group(t, index, BLAME_WAITS, t->waits.g[i].id, i);
	for (size_t i = 0; r == 0 && t->has[BLAME_DID] && i < t->did.n; i++)
		r = put_group(t, index, BLAME_DID, t->did.g[i].id, i);
	for (size_t i = 0; r == 0 && t->has[BLAME_HELD] && i < t->held.gs.n; i++)
		r = put_group(t, index, BLAME_HELD, t->held.gs.g[i].id, i);
	return r;
}

static int sum_up(struct blame_table *t, const struct query_spec *s)
{
	struct map64 index = {0};
	int r = t->has[BLAME_WAITS] ? blame_rows_sum(&t->waits) : 0;

	t->lost_share = share_of_lost(&t->waits);
	if (r == 0 && t->has[BLAME_DID])
		r = blame_rows_sum(&t->did);
	if (r == 0 && t->has[BLAME_HELD])
		r = blame_holds_sum(&t->held, &s->scope);
	if (r == 0)
		r = join(t, &index);
	map64_deinit(&index);
	return r;
}

/* Columns that need reported releases are not shown without these. */
static struct column *columns_by(struct query *q, const struct table_kind *kind,
				 enum query_blame_by by)
{
	struct column *c = rows_columns_by(q, kind, by);

	for (size_t i = C_HELD_EXACT; c && kind == &query_blame_held_kind &&
				      !query_blame_has_releases(q) && i <= C_HELD_HANDED_MAX;
	     i++)
		c[i].flags = COLUMN_REPORT;
	if (c && by != BLAME_BY_AT && !query_has_program(q))
		c[C_AT].flags = COLUMN_REPORT;
	/* Nor what waits cost, where nothing has shown while CPUs were idle. */
	for (size_t i = C_LOST; c && !q->model->waits->lost.shown && i <= C_PAR; i++)
		c[i].flags &= (uint8_t)~COLUMN_SCREEN;
	return c;
}

/* Where no task sleeps for something else than a lock, no chain ends there. 0 or -ENOMEM. */
static int find_ends(struct blame_table *t, struct column *columns)
{
	struct chain_graph *g = arena_alloc(&t->q->arena, sizeof(*g));
	int r = g ? 0 : -ENOMEM;
	bool any = false;

	if (r == 0 && t->has[BLAME_WAITS] && t->waits.by == BLAME_BY_TASK &&
	    chain_sleeps_most(t->q))
		r = chain_graph_make(t->q, t->waits.now = g);
	for (uint32_t i = 0; r == 0 && !any && i < g->n_waits; i++)
		any = g->waits[i].sleep != NULL;
	if (!any)
		columns[C_ENDS].flags &= ~COLUMN_SCREEN;
	return r;
}

int query_blame(struct query *q, const struct query_blame_spec *b, const struct query_spec *s,
		struct table *ret, struct error *err)
{
	bool is_known = !query_blame_why_not(q);
	struct blame_table t = {
		.q = q,
		.set = b->set,
		.waits = {.q = q, .by = b->by},
		.did = {.q = q, .by = b->by, .did = true, .scope = &s->scope},
		.held = {.q = q, .by = blame_key(b->by), .whole = q->model},
	};
	const struct table_kind *kind = sets[b->set].kind;
	bool by_lost = b->set == BLAME_WAITS && q->model->waits->lost.shown;
	struct row_source src = {.kind = b->all ? &query_blame_all_kind : kind,
				 .sort = by_lost ? NULL : sets[b->set].sort,
				 .keeps = !b->all && b->set != BLAME_HELD && q->keeps,
				 .ctx = &t};
	struct query_spec spec = *s;

	for (unsigned set = 0; set < BLAME_SETS; set++)
		t.has[set] = b->all ? query_blame_has(set, b->by) && (set == BLAME_HELD || is_known)
				    : set == (unsigned)b->set;
	spec.by = blame_key(b->by);
	struct column *columns = columns_by(q, src.kind, b->by);
	src.columns = columns;
	src.keys = b->all ? columns_by(q, kind, b->by) : src.columns;
	int r = !columns || !src.keys || query_sync(q) < 0 || query_origins_load(q) < 0 ||
		sum_up(&t, s) < 0 || find_ends(&t, columns) < 0;
	src.n = t.n;
	r = r ? query_enomem(err, sets[b->set].what) : rows_answer(q, &spec, &src, ret, err);
	if (t.waits.now)
		chain_graph_deinit(t.waits.now);
	return r;
}
