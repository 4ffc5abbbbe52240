// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table "creations", a row a process that has created breakpoints since the first look: those
 * that live for a microsecond as well, where each creation has a record, else only those that a
 * look has found.
 */
#include "../internal.h"
#include "../rows.h"
#include "kontend/columns.h"
#include "kontend/map64.h"
#include "kontend/query-perf.h"
#include "kontend/text.h"
#include "snapshot.h"

#include <errno.h>
#include <inttypes.h>

enum { C_PROCESS, C_PID, C_COMM, C_CREATED, C_PER_S, C_OPENED, C_INHERITED, C_REFUSED, C_COLUMNS };

static const struct column columns[C_COLUMNS] = {
	[C_PROCESS] = {COL_PROCESS, 16, 0, S | W},
	[C_PID] = {COL_PID, 7, 9, R},
	[C_COMM] = {COL_COMM, 16, 9, R},
	[C_CREATED] = {"created", "CREATED", "breakpoints that the process created", COLUMN_COUNT,
		       7, 0, SR},
	[C_PER_S] = {"created_per_s", "CREATED/s",
		     "breakpoints created per second, since the first snapshot", COLUMN_RATE, 9, 2,
		     SR},
	[C_OPENED] = {"opened", "OPENED", "breakpoints created by perf_event_open() or ptrace()",
		      COLUMN_COUNT, 6, 1, SR},
	[C_INHERITED] =
		{"inherited", "INHERITED",
		 "breakpoints inherited by the threads and processes that the process started",
		 COLUMN_COUNT, 9, 1, SR},
	[C_REFUSED] = {"refused", "REFUSED",
		       "creations that found no slot: No space left on device; known only with "
		       "--creations",
		       COLUMN_COUNT, 7, 1, SR},
};

struct creations {
	struct query *q;
	struct query_perf p;
	uint64_t seen_ns; /* since the first look, whatever sums are of; 0: not known */
};

static uint64_t seen_ns(const struct snap_head *h)
{
	return h->creations_since_ns && h->time_ns > h->creations_since_ns
		       ? h->time_ns - h->creations_since_ns
		       : 0;
}

static void creations_fill(void *ctx, size_t row, uint64_t want, struct value *v)
{
	const struct creations *t = ctx;
	const struct perfsnap *s = t->p.snap;
	const struct snap_creator *c = &s->creators[row];
	bool each = s->head.creations == SNAP_CREATIONS_EVENTS;
	uint64_t created = c->opened + c->inherited;

	if (want & 1ull << C_PROCESS)
		value_s(&v[C_PROCESS],
			c->pid ? query_perf_task(t->q, &t->p, c->comm, c->pid) : "the kernel");
	value_task(&v[C_PID], c->pid);
	value_s(&v[C_COMM], perfsnap_text(s, c->comm));
	value_u(&v[C_CREATED], created);
	value_u(&v[C_OPENED], c->opened);
	value_u(&v[C_INHERITED], c->inherited);
	if (t->seen_ns)
		value_d(&v[C_PER_S], query_per_s(created, t->seen_ns));
	if (each)
		value_u(&v[C_REFUSED], c->refused);
	for (int k = C_CREATED; k <= C_INHERITED; k++)
		v[k].at_least = !each;
}

static void creations_rank(void *ctx, size_t row, struct row_rank *ret)
{
	const struct creations *t = ctx;
	const struct snap_creator *c = &t->p.snap->creators[row];

	/* Numbers of processes are used again, names with them are rarely. */
	*ret = (struct row_rank){.id = (uint64_t)(uint32_t)c->pid << 32 |
				       (uint32_t)text_hash(perfsnap_text(t->p.snap, c->comm)),
				 .order = c->opened + c->inherited,
				 .tie = c->refused};
}

const struct table_kind query_perf_creations_kind = {"creations", columns, C_COLUMNS,
						     creations_fill, creations_rank};

int query_perf_creations(struct query *q, const struct query_spec *s, struct table *ret,
			 struct error *err)
{
	struct creations t = {.q = q};
	struct row_source src = {.kind = &query_perf_creations_kind, .ctx = &t};
	int code = query_sync(q) < 0 ? -ENOMEM : query_perf(q, QUERY_PERF_SLOTS, &t.p);

	if (code == -ENOMEM)
		return query_enomem(err, "creations of breakpoints");
	t.seen_ns = code == 0 ? seen_ns(&t.p.snap->head) : 0;
	src.n = code == 0 ? t.p.snap->n_creators : 0;
	return rows_answer(q, s, &src, ret, err);
}

static const char *name_of(struct query *q, const struct query_perf *p,
			   const struct snap_creator *c)
{
	return c->pid ? query_perf_task(q, p, c->comm, c->pid) : "the kernel";
}

enum { NAMED = 3 }; /* of those that were refused */

/* The next one after @last in the order of @c->refused, then of rows; SIZE_MAX: none. */
static size_t next_refused(const struct perfsnap *s, size_t last)
{
	size_t best = SIZE_MAX;

	for (size_t i = 0; i < s->n_creators; i++) {
		uint64_t n = s->creators[i].refused;
		if (!n || (last != SIZE_MAX && (n > s->creators[last].refused ||
						(n == s->creators[last].refused && i <= last))))
			continue;
		if (best == SIZE_MAX || n > s->creators[best].refused)
			best = i;
	}
	return best;
}

static const char *refused_who(struct query *q, const struct query_perf *p)
{
	const struct perfsnap *s = p->snap;
	const char *text = "";
	size_t n = 0, all = 0;

	for (size_t i = 0; i < s->n_creators; i++)
		all += s->creators[i].refused != 0;
	for (size_t i = next_refused(s, SIZE_MAX); i != SIZE_MAX && n < NAMED; n++) {
		const struct snap_creator *c = &s->creators[i];
		text = all == 1 ? name_of(q, p, c)
				: arena_printf(&q->arena, "%s%s%s %" PRIu64, text, n ? ", " : "",
					       name_of(q, p, c), c->refused);
		if (!text)
			return NULL;
		i = next_refused(s, i);
	}
	return n < all ? arena_printf(&q->arena, "%s and %zu more", text, all - n) : text;
}

int query_perf_creations_sum(struct query *q, struct query_perf_creations_sum *ret)
{
	struct query_perf_creations_sum sum = {0};
	struct query_perf p;
	uint64_t most = 0;
	int code = query_sync(q) < 0 ? -ENOMEM : query_perf(q, QUERY_PERF_SLOTS, &p);

	sum.refused_who = "";
	*ret = sum;
	if (code < 0)
		return code == -ENOMEM ? code : 0;
	sum.how = (enum snap_creations)p.snap->head.creations;
	sum.lost = p.snap->head.creations_lost;
	sum.reason = perfsnap_text(p.snap, p.snap->head.creations_reason);
	for (size_t i = 0; i < p.snap->n_creators; i++) {
		const struct snap_creator *c = &p.snap->creators[i];
		uint64_t n = c->opened + c->inherited;
		sum.created += n;
		sum.refused += c->refused;
		if (n + c->refused <= most)
			continue;
		most = n + c->refused;
		sum.most = n;
		sum.who = name_of(q, &p, c);
	}
	sum.refused_who = refused_who(q, &p);
	if (!sum.refused_who)
		return -ENOMEM;
	*ret = sum;
	return 0;
}
