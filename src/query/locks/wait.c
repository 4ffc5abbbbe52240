// SPDX-License-Identifier: GPL-2.0-only
/*
 * A wait in flight, with the calls of the waiting task and those of the holder of the lock side by
 * side: the row of the waiters table, whose lists of calls are cut into lines here.
 */
#include "../rows.h"
#include "kontend/query-wait.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { C_STACK, C_OWNER_STACK, C_COLUMNS };

static const struct column columns[C_COLUMNS] = {
	[C_STACK] = {"stack", "WAITS IN", "calls of the task that waits, the innermost first",
		     COLUMN_TEXT, 24, 0, COLUMN_SCREEN | COLUMN_WIDE},
	[C_OWNER_STACK] = {"owner_stack", "HOLDER IS IN",
			   "calls of the task that holds the lock, the innermost first",
			   COLUMN_TEXT, 24, 1, COLUMN_SCREEN | COLUMN_WIDE},
};

struct calls {
	struct query *q;
	const char *lists[C_COLUMNS]; /* a line for each call; NULL: not known */
};

static size_t count(const char *list)
{
	size_t n = list != NULL;

	for (; list && *list; list++)
		n += *list == '\n';
	return n;
}

static const char *nth(struct query *q, const char *list, size_t n)
{
	while (list && n--) {
		list = strchr(list, '\n');
		list = list ? list + 1 : NULL;
	}
	return list ? arena_printf(&q->arena, "%.*s", (int)strcspn(list, "\n"), list) : NULL;
}

static void fill(void *ctx, size_t row, uint64_t want, struct value *v)
{
	const struct calls *c = ctx;

	(void)want;
	for (int i = 0; i < C_COLUMNS; i++)
		value_s(&v[i], nth(c->q, c->lists[i], row));
}

static void rank(void *ctx, size_t row, struct row_rank *ret)
{
	(void)ctx;
	*ret = (struct row_rank){.id = row + 1, .order = UINT64_MAX / 2 - row};
}

static const struct table_kind calls_kind = {"calls", columns, C_COLUMNS, fill, rank};

/* "worker/812": which task is to take a free lock. */
static const char *next_of(struct query *q, const struct table *t, size_t row)
{
	const struct value *tid = table_cell(t, row, "next_tid");
	const char *comm = table_text(t, row, "next_comm");

	return tid->known ? arena_printf(&q->arena, "%s/%" PRId64, comm ? comm : "-", tid->i)
			  : NULL;
}

/* The table with all values of that one row only. */
static int find_wait(struct query *q, uint64_t id, struct table *t, size_t *ret_row,
		     struct error *err)
{
	struct query_spec spec = {.window_n = 1};
	int r = query_wait_rows(q, &spec, NULL, t, err);

	if (r < 0)
		return r;
	*ret_row = spec.window_first = table_row(t, id);
	return *ret_row == SIZE_MAX ? -ENOENT : query_wait_rows(q, &spec, NULL, t, err);
}

int query_wait(struct query *q, uint64_t row, const struct query_spec *s, struct query_wait *ret,
	       struct error *err)
{
	struct table t;
	size_t at;
	int r = find_wait(q, row, &t, &at, err);

	if (r < 0)
		return r;
	const struct value *since = table_cell(&t, at, "since_ns");
	*ret = (struct query_wait){
		.task = table_text(&t, at, "task"),
		.kind = table_text(&t, at, "kind"),
		.name = table_text(&t, at, "name"),
		.phase = table_text(&t, at, "phase"),
		.holder = table_text(&t, at, "holder"),
		.certainty = table_text(&t, at, "owner_certainty"),
		.next = next_of(q, &t, at),
		.is = table_text(&t, at, "holder_is"),
		.at = table_text(&t, at, "at"),
		.syscall = table_text(&t, at, "syscall"),
		.owner_at = table_text(&t, at, "owner_at"),
		.since_ns = since->u,
		.ended_ns = table_u64(&t, at, "ended_ns"),
		.ended = table_u64(&t, at, "ended"),
		.lock_id = table_u64(&t, at, "lock_id"),
		.approx = since->approx,
	};
	struct calls c = {q, {table_text(&t, at, "stack"), table_text(&t, at, "owner_stack")}};
	size_t n = count(c.lists[C_STACK]), n_owner = count(c.lists[C_OWNER_STACK]);
	struct row_source src = {.kind = &calls_kind, .n = n > n_owner ? n : n_owner, .ctx = &c};
	return rows_answer(q, s, &src, &ret->calls, err);
}
