// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table "holders": every breakpoint there is, whichever program made it, with the process that
 * keeps it and where it is set. Where only descriptors are known (no BPF), a row is a descriptor of
 * some perf event. Its own order is the kind, then the process.
 */
#include "../internal.h"
#include "../rows.h"
#include "../snapshots.h"
#include "kontend/columns-probes.h"
#include "kontend/taskid.h"
#include "snapshot.h"

#include <errno.h>
#include <linux/perf_event.h>

enum {
	C_HOLDER,
	C_KIND,
	C_PID,
	C_COMM,
	C_HOLDER_PIDS,
	C_FD,
	C_ADDR,
	C_WHERE,
	C_LEN,
	C_RWX,
	C_BOUND,
	C_CPU,
	C_TARGET_TID,
	C_TARGET,
	C_STATE,
	C_OWNER,
	C_OWNER_PID,
	C_HITS,
	C_ID,
	C_ENDED,
	C_LAST_SEEN,
	C_COLUMNS
};

static const struct column columns[C_COLUMNS] = {
	[C_HOLDER] = {COL_KEEPER, 14, 0, S},
	[C_KIND] = {COL_EVENT_KIND, 9, 0, SR},
	[C_PID] = {COL_KEEPER_PID, 7, 9, R},
	[C_COMM] = {COL_COMM, 16, 9, R},
	[C_HOLDER_PIDS] = {COL_KEEPERS, 11, 6, R | COLUMN_LIST | COLUMN_NUMBERS},
	[C_FD] = {COL_FD, 4, 3, SR},
	[C_ADDR] = {"addr", "ADDRESS", "address that is watched", COLUMN_ADDR, 18, 4, SR},
	[C_WHERE] = {"where", "SYMBOL",
		     "symbol that is watched, or object and offset, or the address", COLUMN_TEXT,
		     14, 0, SR | W},
	[C_LEN] = {"len", "LEN", "bytes that are watched", COLUMN_INT, 3, 3, SR},
	[C_RWX] = {"bp_type", "RWX", "R read, W write, X execute", COLUMN_TEXT, 3, 0, SR},
	[C_BOUND] = {"bound", "BOUND", "task or CPU that the breakpoint is for", COLUMN_TEXT, 12, 0,
		     S},
	[C_CPU] = {COL_BOUND_CPU, 4, 9, R},
	[C_TARGET_TID] = {COL_TARGET_TID, 7, 9, R},
	[C_TARGET] = {COL_TARGET, 16, 9, R},
	[C_STATE] = {COL_EVENT_STATE, 8, 1, SR},
	[C_OWNER] = {COL_OPENER, 14, 5, S},
	[C_OWNER_PID] = {COL_OPENER_PID, 7, 9, R},
	[C_HITS] = {COL_HITS_PER_S, 6, 2, SR},
	[C_ID] = {COL_EVENT_ID, 8, 9, R},
	[C_ENDED] = {COL_ENDED, 5, 9, R},
	[C_LAST_SEEN] = {COL_LAST_SEEN, 9, 0, R},
};

struct holders {
	struct query *q;
	struct query_perf p;
	uint32_t *event;	  /* of a row */
	size_t n;		  /* rows of breakpoints there are */
	bool only_fds;		  /* rows are descriptors */
	struct query_ended ended; /* the rows after those */
	struct query_perf then;	  /* where they are */
};

static void fill_fd(const struct holders *t, size_t row, struct value *v)
{
	const struct snap_holder *h = &t->p.snap->holders[row];

	value_s(&v[C_HOLDER], query_perf_task(t->q, &t->p, h->comm, h->pid));
	value_s(&v[C_KIND], "perf fd");
	value_i(&v[C_PID], taskid_number(h->pid));
	value_s(&v[C_COMM], perfsnap_text(t->p.snap, h->comm));
	value_s(&v[C_HOLDER_PIDS], arena_printf(&t->q->arena, "%d", taskid_number(h->pid)));
	value_i(&v[C_FD], h->fd);
}

static void fill_keeper(const struct holders *t, size_t i, struct value *v)
{
	struct query_keeper k = query_perf_keeper(&t->p, i);

	value_s(&v[C_KIND], k.kind);
	value_s(&v[C_HOLDER], query_perf_task(t->q, &t->p, k.comm, k.pid));
	value_task(&v[C_PID], k.pid);
	value_s(&v[C_COMM], k.pid ? perfsnap_text(t->p.snap, k.comm) : "");
	v[C_FD] = (struct value){.i = k.fd, .known = k.fd >= 0};
	value_s(&v[C_HOLDER_PIDS], query_perf_holder_pids(t->q, &t->p, i));
}

static void fill_bound(const struct holders *t, const struct snap_event *e, struct value *v)
{
	const char *task = query_perf_task(t->q, &t->p, e->target_comm, e->target_tid);

	v[C_CPU] = (struct value){.i = e->cpu, .known = e->cpu >= 0};
	value_task(&v[C_TARGET_TID], e->target_tid);
	value_s(&v[C_TARGET], e->target_tid ? perfsnap_text(t->p.snap, e->target_comm) : "");
	if (e->target_tid && e->cpu >= 0)
		task = arena_printf(&t->q->arena, "%s cpu %d", task, e->cpu);
	value_s(&v[C_BOUND], e->target_tid ? task : arena_printf(&t->q->arena, "cpu %d", e->cpu));
}

static void fill_event(const struct holders *t, size_t i, uint64_t want, struct value *v)
{
	const struct perfsnap *s = t->p.snap;
	const struct snap_event *e = &s->events[i];
	fill_keeper(t, i, v);
	fill_bound(t, e, v);
	value_u(&v[C_ADDR], e->bp_addr);
	if (want & 1ull << C_WHERE)
		value_s(&v[C_WHERE], query_perf_where(t->q, &t->p, e));
	value_i(&v[C_LEN], (int64_t)e->bp_len);
	value_s(&v[C_RWX], query_perf_rwx(e->bp_type));
	value_s(&v[C_STATE], query_perf_state(e->state));
	value_s(&v[C_OWNER], query_perf_task(t->q, &t->p, e->owner_comm, e->owner_tid));
	value_task(&v[C_OWNER_PID], e->owner_pid);
	if (e->hits != UINT64_MAX && s->head.interval_ns)
		value_d(&v[C_HITS], query_per_s(e->hits, s->head.interval_ns));
	v[C_HITS].approx = (e->flags & SNAP_SHARED) != 0;
	value_i(&v[C_ID], (int64_t)e->id);
}

static void holders_fill(void *ctx, size_t row, uint64_t want, struct value *v)
{
	const struct holders *t = ctx;
	struct holders then = {.q = t->q, .p = t->then};

	if (row >= t->n) {
		fill_event(&then, t->ended.at[row - t->n], want, v);
		value_s(&v[C_STATE], "ended");
		query_ended_fill(t->q, &t->ended, row - t->n, &v[C_ENDED]);
		return;
	}
	value_u(&v[C_ENDED], 0);
	if (t->only_fds)
		fill_fd(t, row, v);
	else
		fill_event(t, t->event[row], want, v);
}

static void holders_rank(void *ctx, size_t row, struct row_rank *ret)
{
	const struct holders *t = ctx;
	const struct perfsnap *s = t->p.snap;

	if (row >= t->n) {
		ret->id = t->then.snap->events[t->ended.at[row - t->n]].id;
		*ret = (struct row_rank){.id = ret->id};
		return;
	}
	if (t->only_fds) {
		const struct snap_holder *h = &s->holders[row];
		*ret = (struct row_rank){.id = (uint64_t)h->pid << 32 | (uint32_t)h->fd};
		ret->order = UINT64_MAX - ret->id;
		return;
	}
	const struct snap_event *e = &s->events[t->event[row]];
	/* Breakpoints of CPUs first: they take a slot from every task. */
	*ret = (struct row_rank){.id = e->id,
				 .order = (e->target_tid ? 0 : 1ull << 63) | (~e->id >> 1)};
}

const struct table_kind query_perf_holders_kind = {"holders", columns, C_COLUMNS, holders_fill,
						   holders_rank};

static int collect(struct holders *t, size_t *ret_n)
{
	const struct perfsnap *s = t->p.snap;

	t->only_fds = (s->head.missing & SNAP_NO_EVENTS) != 0;
	t->event = arena_alloc(&t->q->arena, (s->n_events + 1) * sizeof(*t->event));
	if (!t->event)
		return -ENOMEM;
	*ret_n = t->only_fds ? s->n_holders : 0;
	for (size_t i = 0; i < s->n_events; i++)
		if (s->events[i].type == PERF_TYPE_BREAKPOINT)
			t->event[(*ret_n)++] = (uint32_t)i;
	return 0;
}

int query_perf_holders(struct query *q, const struct query_spec *s, struct table *ret,
		       struct error *err)
{
	struct holders t = {.q = q};
	struct row_source src = {.kind = &query_perf_holders_kind, .ctx = &t};
	int code = query_sync(q) < 0 ? -ENOMEM : query_perf(q, QUERY_PERF_SLOTS, &t.p);

	if (code == 0)
		code = collect(&t, &t.n);
	if (code != -ENOMEM)
		code = query_ended(q, ENDED_BREAKPOINT, &t.ended);
	if (code == 0 && t.ended.n)
		code = query_perf_of(q, &q->model->ended->perf, &t.then);
	src.n = t.n + t.ended.n;
	src.columns = query_ended_columns(q, &t.ended, &query_perf_holders_kind, C_ENDED);
	if (code == -ENOMEM || !src.columns)
		return query_enomem(err, "breakpoints");
	return rows_answer(q, s, &src, ret, err);
}
