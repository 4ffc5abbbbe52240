// SPDX-License-Identifier: GPL-2.0-only
/*
 * The activity of chosen tasks, by cause: sums of the model's cells, or with a window of the
 * records in it, each cut to the window. The present activity of a task is added up to the time of
 * the model.
 */
#include "why.h"
#include "blocked-rows.h"
#include "group.h"
#include "internal.h"
#include "kontend/columns.h"
#include "kontend/hash.h"
#include "kontend/mem.h"
#include "kontend/query-why.h"
#include "kontend/runrec.h"
#include "names/names.h"
#include "rows.h"

#include <errno.h>
#include <string.h>

enum {
	C_DOES,
	C_WHY,
	C_PCT,
	C_TIME,
	C_TIMES,
	C_MEAN,
	C_MOST,
	C_WHOM,
	C_AT,
	C_SYSCALL,
	C_ON,
	C_WHOM_PCT,
	C_AT_REASON,
	C_SYSCALL_REASON,
	C_ON_REASON,
	C_CAUSE,
	C_LOCK,
	C_COLUMNS
};

static const struct column columns[C_COLUMNS] = {
	[C_DOES] = {"does", "TASKS WERE",
		    "running, runnable: able to run, and without a CPU; blocked, or not known",
		    COLUMN_TEXT, 10, 0, SR},
	[C_WHY] = {"why", "WHY",
		   "of a blocked task: for what it sleeps, by its calls, or for which lock; of a "
		   "runnable one: a task that had its CPU meanwhile",
		   COLUMN_TEXT, 20, 0, SR | W},
	[C_PCT] = {"time_pct", "TIME%", "share in the time of the tasks", COLUMN_PCT, 5, 0, SR},
	[C_TIME] = {"spent_ns", "TIME", "time of all tasks in which that was so", COLUMN_NS, 6, 0,
		    SR},
	[C_TIMES] = {"times", "TIMES", "how often; what goes on counts", COLUMN_COUNT, 6, 1, SR},
	[C_MEAN] = {"mean_ns", "MEAN", "time of one, on average", COLUMN_NS, 6, 2, SR},
	[C_MOST] = {"most_ns", "LONGEST", "the longest", COLUMN_NS, 7, 1, SR},
	[C_WHOM] = {"ended_by", "ENDED BY",
		    "task that woke it, timer or interrupt that ended most of that time",
		    COLUMN_TEXT, 14, 0, SR},
	[C_WHOM_PCT] = {"ended_by_pct", "ENDED%", "its share in the time of the row", COLUMN_PCT, 6,
			4, SR},
	[C_AT] = {COL_AT, 20, 0, SR},
	[C_SYSCALL] = {COL_SYSCALL, 10, 1, SR},
	[C_ON] = {COL_ON, 12, 2, SR},
	[C_AT_REASON] = {COL_AT_REASON, 16, 9, R},
	[C_SYSCALL_REASON] = {COL_SYSCALL_REASON, 16, 9, R},
	[C_ON_REASON] = {COL_ON_REASON, 16, 9, R},
	[C_CAUSE] = {"sleep_cause", "CAUSE", "for what a blocked task sleeps, without the lock",
		     COLUMN_TEXT, 16, 9, R},
	[C_LOCK] = {"for_lock", "FOR LOCK", "name of the lock for which it waited", COLUMN_TEXT, 16,
		    9, R},
};

struct why_row {
	uint8_t kind;	    /* enum runs_kind; RUNS_KINDS: not known */
	uint8_t cause;	    /* enum sleep_cause */
	uint32_t lock;	    /* + 1 */
	struct runs_who by; /* of READY: one of them, by name */
	bool is_several;
	uint64_t n, total_ns, max_ns;
	const char *end; /* who ended most, of RUNS_BLOCKED */
	uint64_t end_ns;
	uint32_t on; /* of the longest */
};

/* The time of a row that a call chain slept. */
struct why_part {
	uint32_t row, stack;
	uint64_t ns;
};

/* The time of a row that one task, or a kind of interrupt, has ended. */
struct why_ended {
	const char *text;
	uint64_t ns;
};

struct why_rows {
	struct query *q;
	const struct runs *of;
	struct why_stacks stacks;
	int32_t tid; /* 0: all */
	bool has_window;
	uint64_t begin_ns; /* of the window, or of the sums */
	struct why_row *rows;
	struct why_ended *ended;
	struct why_part *parts;
	size_t n, cap, n_ended, cap_ended, n_parts, cap_parts;
	struct map64 at, ended_at, parts_at;
	uint64_t all_ns;
};

static void free_rows(struct why_rows *w)
{
	mem_free(w->rows);
	mem_free(w->ended);
	mem_free(w->parts);
	map64_deinit(&w->parts_at);
	map64_deinit(&w->at);
	map64_deinit(&w->ended_at);
}

static uint64_t name_key(const struct runs_who *w)
{
	return hash_bytes(HASH_START, w->comm, strnlen(w->comm, RUNS_COMM)) + (w->tid != 0);
}

static uint64_t who_key(const struct runs_who *w)
{
	return hash_bytes(HASH_START + (uint32_t)w->tid, w->comm, strnlen(w->comm, RUNS_COMM));
}

static uint64_t row_key(const struct why_row *r)
{
	uint64_t h = hash_u64((uint64_t)r->kind << 16 ^ r->cause);

	return hash_u64(h ^ (uint64_t)r->lock << 32 ^
			(r->kind == RUNS_READY ? name_key(&r->by) : 0));
}

static struct why_row *find_row(struct why_rows *w, const struct why_row *like)
{
	const uint64_t key = row_key(like);
	const uint32_t *known = map64_get(&w->at, key);

	if (known)
		return &w->rows[*known];
	if (mem_grow(&w->rows, &w->cap, w->n, sizeof(*w->rows)) ||
	    map64_put(&w->at, key, (uint32_t)w->n))
		return NULL;
	w->rows[w->n] = *like;
	return &w->rows[w->n++];
}

static int add_ended(struct why_rows *w, const struct why_row *row, const struct runs_cell *c)
{
	enum why_end end = why_end_of(&w->stacks, c->waker_stack, c->other.tid);
	const uint32_t nth = (uint32_t)(row - w->rows);
	const uint64_t who = end == WHY_END_TASK ? who_key(&c->other) : (uint64_t)end;
	const uint64_t key = hash_u64(hash_u64(nth) ^ who);
	const uint32_t *known = map64_get(&w->ended_at, key);
	const size_t at = known ? *known : w->n_ended;

	if (!known) {
		if (mem_grow(&w->ended, &w->cap_ended, w->n_ended, sizeof(*w->ended)) ||
		    map64_put(&w->ended_at, key, (uint32_t)w->n_ended))
			return -ENOMEM;
		w->ended[w->n_ended++] =
			(struct why_ended){why_end_text(&w->stacks, c->waker_stack, &c->other), 0};
	}
	struct why_ended *e = &w->ended[at];
	e->ns += c->total_ns;
	if (e->ns > w->rows[nth].end_ns) {
		w->rows[nth].end_ns = e->ns;
		w->rows[nth].end = e->text;
	}
	return 0;
}

/* Where there was no room for pairs of tasks, only the chain of the wakeup says it. */
static bool is_end_known(const struct runs_cell *c)
{
	return c->other.tid >= 0 || c->waker_stack;
}

static int add_part(struct why_rows *w, struct why_row *row, const struct runs_cell *c)
{
	const uint32_t nth = (uint32_t)(row - w->rows);
	const uint64_t key = (uint64_t)nth << 32 | c->stack;
	const uint32_t *known = map64_get(&w->parts_at, key);
	const size_t at = known ? *known : w->n_parts;

	if (!known) {
		if (mem_grow(&w->parts, &w->cap_parts, w->n_parts, sizeof(*w->parts)) ||
		    map64_put(&w->parts_at, key, (uint32_t)w->n_parts))
			return -ENOMEM;
		w->parts[w->n_parts++] = (struct why_part){nth, c->stack, 0};
	}
	w->parts[at].ns += c->total_ns;
	if (c->max_ns == row->max_ns)
		row->on = c->on;
	return 0;
}

/* @has_ended: who ended it is known. */
static int add_cell(struct why_rows *w, const struct runs_cell *c, bool has_ended)
{
	struct why_row like = {.kind = c->kind};

	if (!c->total_ns)
		return 0;
	if (c->kind == RUNS_BLOCKED) {
		like.cause = (uint8_t)why_cause(&w->stacks, c->stack, c->state, c->lock);
		like.lock = c->lock;
	} else if (c->kind == RUNS_READY) {
		like.by = c->other;
	}
	struct why_row *r = find_row(w, &like);
	if (!r)
		return -ENOMEM;
	r->is_several |= c->kind == RUNS_READY && r->by.tid != c->other.tid;
	r->n += c->n;
	r->total_ns += c->total_ns;
	r->max_ns = c->max_ns > r->max_ns ? c->max_ns : r->max_ns;
	w->all_ns += c->total_ns;
	if (c->kind != RUNS_BLOCKED)
		return 0;
	int code = add_part(w, r, c);
	return code == 0 && has_ended && is_end_known(c) ? add_ended(w, r, c) : code;
}

static int add_time(struct why_rows *w, struct runs_cell *c, uint64_t from_ns, uint64_t to_ns,
		    bool has_ended)
{
	from_ns = from_ns > w->begin_ns ? from_ns : w->begin_ns;
	if (!from_ns || to_ns <= from_ns)
		return 0;
	c->n = 1;
	c->total_ns = c->max_ns = to_ns - from_ns;
	return add_cell(w, c, has_ended);
}

static int add_ready(struct why_rows *w, const struct runs_pause *p, uint64_t to_ns)
{
	struct runs_cell ready = {.kind = RUNS_READY};
	int code = 0;

	for (unsigned i = 0; code == 0 && i <= RUNS_BYS; i++) {
		uint64_t ns = runs_ready(p, w->begin_ns, to_ns, i, &ready.other);
		code = ns ? add_time(w, &ready, to_ns - ns, to_ns, false) : 0;
	}
	return code;
}

/* @now_ns: it lasts until then; 0: it is over. */
static int add_pause(struct why_rows *w, const struct runs_pause *p, uint64_t now_ns)
{
	struct runs_cell run = {.kind = RUNS_RUNNING};
	struct runs_cell sleep = runs_sleep_cell(p);
	uint64_t until = p->off_ns ? p->off_ns : now_ns;
	int code = p->on_ns ? add_time(w, &run, p->on_ns, until, false) : 0;

	if (code < 0 || !p->off_ns || p->state == RUNREC_ENDED)
		return code;
	if (p->state == RUNREC_READY)
		return add_ready(w, p, p->in_ns ? p->in_ns : now_ns);
	code = add_time(w, &sleep, p->off_ns, p->woken_ns ? p->woken_ns : now_ns, p->woken_ns);
	if (code < 0 || !p->woken_ns)
		return code;
	return add_ready(w, p, p->in_ns ? p->in_ns : now_ns);
}

static bool is_wanted(const struct runs_task *t, int32_t tid)
{
	return tid ? t->who.tid == tid : t->is_chosen;
}

static int add_now(struct why_rows *w, const struct runs_task *t)
{
	const uint64_t now_ns = w->q->engine->model->now_ns;
	struct runs_cell run = {.kind = RUNS_RUNNING};

	if (t->has_ended)
		return 0;
	if (t->is_open)
		return add_pause(w, &t->open, now_ns);
	return add_time(w, &run, t->runs_since_ns, now_ns, false);
}

static int add_lost(struct why_rows *w)
{
	const struct why_row like = {.kind = RUNS_KINDS};
	uint64_t lost_ns = 0;

	for (uint32_t i = 0; i < w->of->n_tasks; i++)
		if (is_wanted(&w->of->tasks[i], w->tid))
			lost_ns += w->of->tasks[i].lost_ns;
	if (!lost_ns || w->has_window)
		return 0;
	struct why_row *r = find_row(w, &like);
	if (!r)
		return -ENOMEM;
	r->total_ns = lost_ns;
	w->all_ns += lost_ns;
	return 0;
}

static int add_kept(struct why_rows *w)
{
	const struct runs *r = w->of;
	uint32_t first = r->n_kept > RUNS_KEPT ? r->n_kept - RUNS_KEPT : 0;
	int code = 0;

	for (uint32_t i = first; code == 0 && i < r->n_kept; i++) {
		const struct runs_pause *p = runs_at(r, i + 1);
		if (p && p->in_ns > w->begin_ns && is_wanted(&r->tasks[p->task], w->tid))
			code = add_pause(w, p, 0);
	}
	return code;
}

static int make_rows(struct why_rows *w, struct query *q, int32_t tid)
{
	*w = (struct why_rows){.q = q, .of = q->engine->model->runs, .tid = tid};
	w->has_window = query_has_window(q);
	w->begin_ns = w->has_window && query_window_begin(q) > w->of->from_ns
			      ? query_window_begin(q)
			      : w->of->from_ns;
	int code = why_stacks_init(&w->stacks, q);
	const struct runs *r = w->of;

	if (code == 0 && w->has_window)
		code = add_kept(w);
	else
		for (uint32_t i = 0; code == 0 && i < r->n_cells; i++)
			if (is_wanted(&r->tasks[r->cells[i].task], tid))
				code = add_cell(w, &r->cells[i], true);
	for (uint32_t i = 0; code == 0 && i < r->n_tasks; i++)
		if (is_wanted(&r->tasks[i], tid))
			code = add_now(w, &r->tasks[i]);
	return code < 0 ? code : add_lost(w);
}

static const char *kept_off_by(struct query *q, const struct why_row *r)
{
	const struct runs_who *by = &r->by;

	if (by->tid < 0)
		return "other tasks";
	if (!by->tid)
		return "an idle CPU that woke up";
	if (r->is_several)
		return arena_printf(&q->arena, "several %s", query_in_words(q, by->comm));
	return query_slash(&q->arena, query_in_words(q, by->comm), by->tid, "-");
}

/*
 * The call chain that slept most of it, of those whose line is known if there is one: the first
 * sleep in a piece of code has none.
 */
static const struct query_origin *origin_of(struct why_rows *w, uint32_t row, bool *ret_several)
{
	const struct query_origin *best = query_run_origin(w->q, w->of, 0);
	uint64_t best_ns = 0;

	*ret_several = false;
	for (size_t i = 0; i < w->n_parts; i++) {
		const struct why_part *p = &w->parts[i];
		if (p->row != row)
			continue;
		const struct query_origin *o = query_run_origin(w->q, w->of, p->stack);
		const bool is_better = o->at && !best->at;
		*ret_several |= best_ns && o->at_id != best->at_id;
		if (is_better || (p->ns > best_ns && !best->at == !o->at)) {
			best = o;
			best_ns = p->ns;
		}
	}
	return best;
}

static void fill_origin(struct why_rows *w, size_t i, struct value *v)
{
	bool several;
	const struct query_origin *o = origin_of(w, (uint32_t)i, &several);

	query_fill_syscall(o, &v[C_SYSCALL], &v[C_SYSCALL_REASON]);
	query_fill_at(o, &v[C_AT], &v[C_AT_REASON]);
	v[C_AT].approx |= several && o->at;
	const char *why, *on = why_on(&w->stacks, w->rows[i].on, &why);
	value_s(&v[C_ON], on);
	if (!on)
		value_s(&v[C_ON_REASON], why);
}

static void fill_cause(struct why_rows *w, const struct why_row *r, struct value *v)
{
	struct query *q = w->q;
	const char *cause = blocked_cause_words((enum sleep_cause)r->cause);
	const char *lock = r->lock ? query_lock_name(q, r->lock - 1) : NULL;

	value_s(&v[C_CAUSE], cause);
	value_s(&v[C_LOCK], lock);
	const char *words = why_cause_text(&w->stacks, (enum sleep_cause)r->cause, r->lock);
	value_s(&v[C_WHY], lock ? arena_printf(&q->arena, "%s %s", words, lock) : words);
	value_s(&v[C_WHOM], r->end);
	if (r->end_ns)
		value_d(&v[C_WHOM_PCT], 100 * (double)r->end_ns / (double)r->total_ns);
}

static void why_fill(void *ctx, size_t i, uint64_t want, struct value *v)
{
	static const char *const does[] = {[RUNS_RUNNING] = "running",
					   [RUNS_READY] = "runnable",
					   [RUNS_BLOCKED] = "blocked",
					   [RUNS_KINDS] = "not known"};
	struct why_rows *w = ctx;
	const struct why_row *r = &w->rows[i];

	(void)want;
	value_s(&v[C_DOES], does[r->kind]);
	if (r->kind == RUNS_BLOCKED) {
		fill_cause(w, r, v);
		fill_origin(w, i, v);
	} else if (r->kind == RUNS_READY)
		value_s(&v[C_WHY], kept_off_by(w->q, r));
	else if (r->kind == RUNS_KINDS)
		value_s(&v[C_WHY], "records were lost");
	value_d(&v[C_PCT], w->all_ns ? 100 * (double)r->total_ns / (double)w->all_ns : 0);
	value_u(&v[C_TIME], r->total_ns);
	if (!r->n)
		return;
	value_u(&v[C_TIMES], r->n);
	value_u(&v[C_MEAN], r->total_ns / r->n);
	value_u(&v[C_MOST], r->max_ns);
}

static void why_rank(void *ctx, size_t i, struct row_rank *ret)
{
	const struct why_row *r = &((const struct why_rows *)ctx)->rows[i];

	*ret = (struct row_rank){.id = row_key(r), .order = r->total_ns};
}

const struct table_kind query_why_kind = {"why", columns, C_COLUMNS, why_fill, why_rank};

int query_why(struct query *q, int32_t tid, const struct query_spec *s, struct table *ret,
	      struct error *err)
{
	struct why_rows w = {0};
	struct row_source src = {.kind = &query_why_kind, .ctx = &w};
	int code = query_sync(q) < 0 ? -ENOMEM : make_rows(&w, q, tid);

	if (code == 0 && w.of)
		code = query_run_origins_load(q, w.of);
	src.n = w.n;
	code = code < 0 ? query_enomem(err, "what tasks did") : rows_answer(q, s, &src, ret, err);
	free_rows(&w);
	return code;
}

/* The lower half of the id is that number: see query_id(). */
int32_t query_why_tid(const struct query *q, uint64_t id)
{
	const struct runs *r = q->engine->model->runs;

	return (uint32_t)id && map64_get(&r->by_tid, (uint32_t)id) ? (int32_t)(uint32_t)id : 0;
}

static void fill_sum(const struct why_rows *w, struct query_why_sum *ret)
{
	uint64_t *const parts[] = {[RUNS_RUNNING] = &ret->running_ns,
				   [RUNS_READY] = &ret->ready_ns,
				   [RUNS_BLOCKED] = &ret->blocked_ns,
				   [RUNS_KINDS] = &ret->unknown_ns};

	for (size_t i = 0; i < w->n; i++)
		*parts[w->rows[i].kind] += w->rows[i].total_ns;
	ret->all_ns = w->all_ns;
}

static void count_tasks(struct query *q, const struct runs *r, int32_t tid,
			struct query_why_sum *ret)
{
	const struct runs_task *one = NULL;

	for (uint32_t i = 0; i < r->n_tasks; i++)
		if (is_wanted(&r->tasks[i], tid)) {
			ret->tasks++;
			one = &r->tasks[i];
		}
	if (ret->tasks == 1)
		ret->task =
			query_slash(&q->arena, query_in_words(q, one->who.comm), one->who.tid, "-");
}

int query_why_sum(struct query *q, int32_t tid, struct query_why_sum *ret)
{
	const struct model *m = q->engine->model;
	struct why_rows w = {0};

	*ret = (struct query_why_sum){.none = ""};
	int code = query_sync(q) < 0 ? -ENOMEM : make_rows(&w, q, tid);
	if (code == 0) {
		count_tasks(q, w.of, tid, ret);
		fill_sum(&w, ret);
		ret->known = ret->tasks > 0;
		ret->span_ns = m->now_ns > w.begin_ns ? m->now_ns - w.begin_ns : 0;
		ret->missed = w.of->missed;
		ret->dropped = w.of->dropped;
		ret->is_short = w.has_window && w.of->kept_dropped_ns > w.begin_ns;
	}
	if (!ret->known)
		ret->none =
			w.of && w.of->n_tasks
				? "this task was not followed"
				: "no task was followed: measure or record with --why and --pid, "
				  "--tid or a command";
	free_rows(&w);
	return code;
}
