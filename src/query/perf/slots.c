// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table "slots", a row for each CPU and pool of breakpoint slots, and the board over it, a cell
 * a slot. The kernel does not assign slots: it counts. On a CPU there must be room for all of the
 * CPU's own breakpoints and, beside them, for those of the one task that has most of them valid
 * there. That sum is `used`, and the cells are coloured by its parts.
 */
#include "../internal.h"
#include "../rows.h"
#include "kontend/columns-probes.h"
#include "kontend/ended.h"
#include "kontend/map64.h"
#include "snapshot.h"

#include <errno.h>

enum {
	C_CPU,
	C_TYPE,
	C_SLOTS,
	C_USED,
	C_CPU_PINNED,
	C_TASK_MAX,
	C_FREE_CPU,
	C_FREE_TASK,
	C_IN_REGISTERS,
	C_HOLDERS,
	C_MOST_USED,
	C_COLUMNS
};

static const struct column columns[C_COLUMNS] = {
	[C_CPU] = {COL_CPU, 4, 0, SR},
	[C_TYPE] = {"type", "TYPE", "purpose of the slots: any, or exec and data apart",
		    COLUMN_TEXT, 4, 0, SR},
	[C_SLOTS] = {COL_SLOTS, 5, 0, SR},
	[C_USED] = {"used", "USED", "slots that are taken: by the CPU and by the task with most",
		    COLUMN_INT, 4, 0, SR},
	[C_CPU_PINNED] = {"cpu_pinned", "BY-CPU", "slots that breakpoints of the CPU take",
			  COLUMN_INT, 6, 1, SR},
	[C_TASK_MAX] = {"task_pinned_max", "BY-TASK",
			"slots that breakpoints of the task with most of them take", COLUMN_INT, 7,
			1, SR},
	[C_FREE_CPU] = {"free_cpu", "FREE-CPU", "slots free for another breakpoint of the CPU",
			COLUMN_INT, 8, 0, SR},
	[C_FREE_TASK] = {"free_task", "FREE-TASK",
			 "slots free for a task that has no breakpoint there yet", COLUMN_INT, 9, 0,
			 SR},
	[C_IN_REGISTERS] = {"in_registers", "NOW", "breakpoints in the debug registers now",
			    COLUMN_INT, 4, 2, SR},
	[C_HOLDERS] = {"holders", "HOLDERS", "holder of each slot that is taken", COLUMN_TEXT, 20,
		       0, SR | W | COLUMN_LIST},
	[C_MOST_USED] = {"most_used", "MOST",
			 "most slots that were taken at a time since the first snapshot",
			 COLUMN_INT, 4, 1, SR},
};

static const char *const type_names[] = {"any", "exec", "data"};

struct slots {
	struct query *q;
	struct query_perf p;
};

static uint64_t row_id(const struct snap_slots *s)
{
	return (uint64_t)s->cpu << 2 | (s->type & 3);
}

static bool is_cpu_bound(const struct snap_event *e, const struct snap_slots *c)
{
	return !e->target_tid && e->cpu == (int32_t)c->cpu && query_perf_in_pool(e, c->type);
}

static bool is_valid_for(const struct snap_event *e, const struct snap_slots *c)
{
	return e->target_tid && (e->cpu < 0 || e->cpu == (int32_t)c->cpu) &&
	       query_perf_in_pool(e, c->type);
}

/* The task with most breakpoints valid on @c, of several the one that comes first; 0: none. */
static int32_t biggest_task(const struct query_perf *p, const struct snap_slots *c)
{
	const struct perfsnap *s = p->snap;
	struct map64 count = {0};
	int32_t best = 0;
	uint32_t most = 0;

	for (size_t i = 0; i < s->n_events; i++) {
		if (!is_valid_for(&s->events[i], c))
			continue;
		uint64_t tid = (uint32_t)s->events[i].target_tid;
		const uint32_t *n = map64_get(&count, tid);
		/* Without memory a cell lacks its name, and that is all. */
		map64_put(&count, tid, n ? *n + 1 : 1);
	}
	for (size_t i = 0; i < s->n_events; i++) {
		const uint32_t *n = map64_get(&count, (uint32_t)s->events[i].target_tid);
		if (!s->events[i].target_tid || !n || *n <= most)
			continue;
		most = *n;
		best = s->events[i].target_tid;
	}
	map64_deinit(&count);
	return best;
}

static const char *who_keeps(const struct slots *t, size_t event)
{
	struct query_keeper k = query_perf_keeper(&t->p, event);
	const struct snap_event *e = &t->p.snap->events[event];

	if (k.pid)
		return query_perf_task(t->q, &t->p, k.comm, k.pid);
	return e->target_pid ? query_perf_task(t->q, &t->p, e->target_comm, e->target_pid) : k.kind;
}

static bool is_in_register(const struct query_perf *p, const struct snap_slots *c, size_t event)
{
	for (size_t i = 0; i < p->snap->n_registers; i++) {
		const struct snap_register *r = &p->snap->registers[i];
		if (r->cpu == c->cpu && r->type == c->type && r->event == event + 1)
			return true;
	}
	return false;
}

static int32_t registers_of(const struct perfsnap *s, const struct snap_slots *c)
{
	int32_t n = 0;

	for (size_t i = 0; i < s->n_registers; i++)
		n += s->registers[i].cpu == c->cpu && s->registers[i].type == c->type;
	return n;
}

static void put_cell(const struct slots *t, const struct snap_slots *c, struct query_cell *cell,
		     enum query_cell_kind kind, size_t event)
{
	*cell = (struct query_cell){
		.kind = kind,
		.in_register = is_in_register(&t->p, c, event),
		.who = who_keeps(t, event),
		.event_id = t->p.snap->events[event].id,
	};
}

/* Cells of one kind: those events that are known, then as many as the kernel counts beyond. */
static size_t put_cells(const struct slots *t, const struct snap_slots *c, struct query_cell *cells,
			size_t n, size_t most, enum query_cell_kind kind, int32_t task)
{
	const struct perfsnap *s = t->p.snap;
	int32_t counted = kind == CELL_CPU ? c->cpu_pinned : c->task_pinned_max;
	size_t end = counted > 0 ? n + (size_t)counted : n;

	for (size_t i = 0; i < s->n_events && n < end && n < most; i++) {
		const struct snap_event *e = &s->events[i];
		bool is_one = kind == CELL_CPU ? is_cpu_bound(e, c)
					       : e->target_tid == task && is_valid_for(e, c);
		if (is_one)
			put_cell(t, c, &cells[n++], kind, i);
	}
	for (; n < end && n < most; n++)
		cells[n] = (struct query_cell){.kind = kind, .who = ""};
	return n;
}

static const struct query_cell *make_board(const struct slots *t, const struct snap_slots *c,
					   size_t *ret_n)
{
	size_t most = c->slots > 0 ? (size_t)c->slots : 0, n = 0;
	struct query_cell *cells = arena_alloc(&t->q->arena, (most + 1) * sizeof(*cells));

	*ret_n = cells ? most : 0;
	if (!cells)
		return NULL;
	for (size_t i = 0; i < most; i++)
		cells[i] = (struct query_cell){.kind = c->cpu_pinned < 0 ? CELL_UNKNOWN : CELL_FREE,
					       .who = ""};
	n = put_cells(t, c, cells, n, most, CELL_CPU, 0);
	n = put_cells(t, c, cells, n, most, CELL_TASK, biggest_task(&t->p, c));
	for (; c->task_pinned_max < 0 && n < most; n++)
		cells[n].kind = CELL_UNKNOWN;
	return cells;
}

const struct query_cell *query_perf_board(struct query *q, uint64_t id, size_t *ret_n)
{
	struct slots t = {.q = q};

	*ret_n = 0;
	if (query_perf(q, QUERY_PERF_SLOTS, &t.p) < 0)
		return NULL;
	for (size_t i = 0; i < t.p.snap->n_slots; i++)
		if (row_id(&t.p.snap->slots[i]) == id)
			return make_board(&t, &t.p.snap->slots[i], ret_n);
	return NULL;
}

/* "gdb/812\ngdb/812\napp/931": the holder of each cell that is taken, as far as it is known. */
static const char *holders_text(const struct slots *t, const struct snap_slots *c)
{
	size_t n;
	const struct query_cell *cells = make_board(t, c, &n);
	const char *text = NULL;

	for (size_t i = 0; i < n; i++) {
		if (!*cells[i].who)
			continue;
		text = text ? arena_printf(&t->q->arena, "%s\n%s", text, cells[i].who)
			    : cells[i].who;
		if (!text)
			break;
	}
	return text ? text : "";
}

/* Wider than what files have: sums of that may be anything. */
static void value_known(struct value *v, int64_t n, bool known)
{
	v->i = n;
	v->known = known;
}

/* At a time, since the first look; -1: not known. */
static int64_t most_used(const struct slots *t, const struct snap_slots *c)
{
	int64_t seen = ended_most_used(t->q->model->ended, c->cpu, c->type);
	int64_t reported = (int64_t)c->most - 1;

	return reported > seen ? reported : seen;
}

static void slots_fill(void *ctx, size_t row, uint64_t want, struct value *v)
{
	const struct slots *t = ctx;
	const struct snap_slots *c = &t->p.snap->slots[row];
	bool cpu = c->cpu_pinned >= 0, task = c->task_pinned_max >= 0, slots = c->slots >= 0;
	int64_t used = (cpu ? (int64_t)c->cpu_pinned : 0) + (task ? c->task_pinned_max : 0);

	value_i(&v[C_CPU], c->cpu);
	value_s(&v[C_TYPE], c->type < 3 ? type_names[c->type] : "?");
	value_known(&v[C_SLOTS], c->slots, slots);
	value_known(&v[C_USED], used, cpu);
	/* At least so many: what the tasks have there is not known. */
	v[C_USED].approx = !task;
	int64_t most = most_used(t, c);
	value_known(&v[C_MOST_USED], most, most >= 0);
	v[C_MOST_USED].at_least = t->p.snap->head.creations != SNAP_CREATIONS_EVENTS;
	value_known(&v[C_CPU_PINNED], c->cpu_pinned, cpu);
	value_known(&v[C_TASK_MAX], c->task_pinned_max, task);
	value_known(&v[C_FREE_CPU], c->slots - used, slots && cpu && task);
	value_known(&v[C_FREE_TASK], (int64_t)c->slots - c->cpu_pinned, slots && cpu);
	value_known(&v[C_IN_REGISTERS], registers_of(t->p.snap, c),
		    !(t->p.snap->head.missing & SNAP_NO_REGISTERS));
	if (want & 1ull << C_HOLDERS) {
		v[C_HOLDERS].s = holders_text(t, c);
		v[C_HOLDERS].known = !(t->p.snap->head.missing & SNAP_NO_EVENTS);
	}
}

static void slots_rank(void *ctx, size_t row, struct row_rank *ret)
{
	const struct slots *t = ctx;
	uint64_t id = row_id(&t->p.snap->slots[row]);

	*ret = (struct row_rank){.id = id, .order = UINT64_MAX - id};
}

const struct table_kind query_perf_slots_kind = {"slots", columns, C_COLUMNS, slots_fill,
						 slots_rank};

int query_perf_slots(struct query *q, const struct query_spec *s, struct table *ret,
		     struct error *err)
{
	struct slots t = {.q = q};
	struct row_source src = {.kind = &query_perf_slots_kind, .ctx = &t};
	int code = query_sync(q) < 0 ? -ENOMEM : query_perf(q, QUERY_PERF_SLOTS, &t.p);

	if (code == -ENOMEM)
		return query_enomem(err, "slots");
	src.n = code == 0 ? t.p.snap->n_slots : 0;
	return rows_answer(q, s, &src, ret, err);
}
