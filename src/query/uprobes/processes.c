// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table "upprocs": a row a process that probes count in, or that has an area of slots, and one
 * row for the probes that count in all processes, as their hits are not known by process.
 */
#include "../internal.h"
#include "../rows.h"
#include "kontend/columns-probes.h"
#include "kontend/task.h"
#include "snapshot.h"

#include <errno.h>
#include <inttypes.h>

enum {
	C_PROCESS,
	C_PID,
	C_COMM,
	C_PROBES,
	C_OUT_OF_LINE,
	C_HITS_PER_S,
	C_CPU_PCT,
	C_USED,
	C_WAITING,
	C_COLUMNS
};

static const struct column columns[C_COLUMNS] = {
	[C_PROCESS] = {COL_PROCESS, 18, 0, S | W},
	[C_PID] = {COL_PROBED_PID, 7, 9, R},
	[C_COMM] = {COL_COMM, 16, 9, R},
	[C_PROBES] = {"probes", "PROBES", "probes that count only in the process", COLUMN_COUNT, 6,
		      0, SR},
	[C_OUT_OF_LINE] = {"out_of_line", "SLOW",
			   "probes that count only in the process and run out of line",
			   COLUMN_COUNT, 4, 2, SR},
	[C_HITS_PER_S] = {COL_HITS_PER_S, 6, 0, SR},
	[C_CPU_PCT] = {COL_HITS_CPU_PCT, 5, 1, SR},
	[C_USED] = {COL_XOL_USED, 4, 1, SR},
	[C_WAITING] = {COL_XOL_WAITING, 7, 1, SR},
};

struct process {
	int32_t pid; /* 0: all of them */
	const char *comm;
	uint32_t probes, out_of_line;
	bool has_rate, has_cost;
	double rate, cpu_pct;
	const struct upsnap_area *area; /* NULL: none */
};

struct processes {
	struct query *q;
	const struct upsnap *s;
	bool average;
	struct process *rows;
	size_t n;
};

/* The name from events, "" if they have none. */
static const char *comm_of(const struct query *q, int32_t pid)
{
	const struct task_table *t = q->model->tasks;
	const uint32_t *at = map64_get(&t->by_tid, (uint32_t)pid);

	return at && t->tasks[*at].comm ? t->tasks[*at].comm : "";
}

/* There are as many as snapshots have areas and probes at most. */
static struct process *get_process(struct processes *t, int32_t pid)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->rows[i].pid == pid)
			return &t->rows[i];
	t->rows[t->n] = (struct process){
		.pid = pid, .comm = pid ? comm_of(t->q, pid) : "", .has_cost = true};
	return &t->rows[t->n++];
}

static void add_probe(struct processes *t, const struct upsnap_probe *p)
{
	struct process *r = get_process(t, p->filter_pid);
	double rate;

	r->probes++;
	r->out_of_line += p->class_ == UPSNAP_OUT_OF_LINE;
	if (p->owner_pid == p->filter_pid && !*r->comm)
		r->comm = upsnap_text(t->s, p->owner_comm);
	if (!query_uprobe_rate(t->s, p, t->average, &rate))
		return;
	r->has_rate = true;
	r->rate += rate;
	r->cpu_pct += rate * (double)p->cost_ns / 1e7;
	r->has_cost &= p->cost_ns || rate <= 0;
}

static int collect(struct processes *t)
{
	const struct upsnap *s = t->s;

	t->rows = arena_alloc(&t->q->arena, (s->n_areas + s->n_probes + 1) * sizeof(*t->rows));
	if (!t->rows)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_areas; i++) {
		struct process *r = get_process(t, s->areas[i].pid);
		r->area = &s->areas[i];
		r->comm = upsnap_text(s, s->areas[i].comm);
	}
	for (size_t i = 0; i < s->n_probes; i++)
		add_probe(t, &s->probes[i]);
	return 0;
}

static void fill(void *ctx, size_t row, uint64_t want, struct value *v)
{
	const struct processes *t = ctx;
	const struct process *p = &t->rows[row];
	bool tasks = !(t->s->head.missing & UPSNAP_NO_TASKS);

	(void)want;
	value_s(&v[C_PROCESS],
		p->pid ? query_slash(&t->q->arena, p->comm, p->pid, "?") : "all processes");
	value_task(&v[C_PID], p->pid);
	value_s(&v[C_COMM], p->comm);
	value_u(&v[C_PROBES], p->probes);
	value_u(&v[C_OUT_OF_LINE], p->out_of_line);
	v[C_HITS_PER_S] = (struct value){.d = p->rate, .known = p->has_rate};
	v[C_CPU_PCT] = (struct value){
		.d = p->cpu_pct, .known = p->has_rate && p->has_cost, .approx = true};
	if (!p->area)
		return;
	v[C_USED] = (struct value){.u = (uint64_t)p->area->used, .known = p->area->used >= 0};
	v[C_WAITING] = (struct value){.u = p->area->waiting, .known = tasks};
}

/* By what they cost; then by hits. */
static void rank(void *ctx, size_t row, struct row_rank *ret)
{
	const struct process *p = &((const struct processes *)ctx)->rows[row];

	*ret = (struct row_rank){.id = (uint32_t)p->pid + 1ull,
				 .order = (uint64_t)(p->cpu_pct * 1e6),
				 .tie = (uint64_t)p->rate};
}

const struct table_kind query_uprobe_processes_kind = {"upprocs", columns, C_COLUMNS, fill, rank};

int query_uprobe_processes(struct query *q, const struct query_spec *s, struct table *ret,
			   struct error *err)
{
	struct processes t = {.q = q, .average = s->average};
	struct row_source src = {.kind = &query_uprobe_processes_kind, .ctx = &t};
	int code = query_sync(q) < 0 ? -ENOMEM : query_uprobe(q, &t.s);

	if (code == 0)
		code = collect(&t);
	if (code == -ENOMEM)
		return query_enomem(err, "processes with uprobes");
	src.n = t.n;
	return rows_answer(q, s, &src, ret, err);
}
