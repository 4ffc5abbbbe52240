// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table "hot": where CPUs spend their time, by function or by whatever else. Shares are of all
 * samples, weighted with what each stands for, as perf does it; so they are the same whether other
 * rows are shown or not.
 */
#include "list.h"
#include "../rows.h"
#include "kontend/columns-probes.h"
#include "kontend/profile.h"
#include "kontend/query-load.h"
#include "kontend/query-recorded.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include "kontend/text.h"
#include "kontend/units.h"
#include "kontend/usersyms.h"
#include "names/names.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

enum {
	C_PCT,
	C_SAMPLES,
	C_EVENT,
	C_WAIT_PCT = C_EVENT + HOT_EVENTS,
	C_WAIT,
	C_GROUP,
	C_FILE,
	C_OBJECT,
	C_SYMBOL,
	C_NAMES,
	C_PID,
	C_PROCESS,
	C_TID,
	C_TASK,
	C_CPU,
	C_STACK,
	C_SOURCE,
	C_TOP_CPU,
	C_MAX,
	C_MEDIAN,
	C_MIN,
	C_BY_CPU,
	C_NOTE,
	C_COLUMNS
};

enum { STACK_FRAMES = 24 };

#define EVENT_HELP "share of the samples of one of several events, which names the column"

static const struct column columns[C_COLUMNS] = {
	[C_PCT] = {"pct", "CPU%", "share of all samples", COLUMN_PCT, 5, 0, SR},
	[C_SAMPLES] = {COL_SAMPLES, 7, 3, SR},
	[C_EVENT] = {"event1_pct", "EVENT1%", EVENT_HELP, COLUMN_PCT, 8, 0, SR},
	[C_EVENT + 1] = {"event2_pct", "EVENT2%", EVENT_HELP, COLUMN_PCT, 8, 0, SR},
	[C_EVENT + 2] = {"event3_pct", "EVENT3%", EVENT_HELP, COLUMN_PCT, 8, 1, SR},
	[C_EVENT + 3] = {"event4_pct", "EVENT4%", EVENT_HELP, COLUMN_PCT, 8, 1, SR},
	[C_WAIT_PCT] = {"wait_pct", "WAIT%",
			"share of all waiting for locks that is in it and below it", COLUMN_PCT, 5,
			2, SR},
	[C_WAIT] = {COL_WAIT_BELOW, 6, 4, SR},
	[C_GROUP] = {COL_GROUP, 12, 1, SR},
	[C_FILE] = {COL_FILE, 18, 2, S},
	[C_OBJECT] = {COL_FILE_PATH, 18, 2, R},
	[C_SYMBOL] = {COL_FUNCTION, 24, 0, SR | W},
	[C_NAMES] = {COL_NAMES, 9, 0, R},
	[C_PID] = {COL_PID, 7, 1, SR},
	[C_PROCESS] = {"process", "PROCESS", "name of the process", COLUMN_TEXT, 16, 0, SR | W},
	[C_TID] = {COL_TID, 7, 1, SR},
	[C_TASK] = {"task", "TASK", "name of the task", COLUMN_TEXT, 16, 0, SR | W},
	[C_CPU] = {COL_CPU, 4, 0, SR},
	[C_STACK] = {COL_STACK, 40, 0, SR | W | COLUMN_LIST},
	[C_SOURCE] = {"source", "SOURCE", "line of source that the function begins in", COLUMN_TEXT,
		      24, 4, R},
	[C_TOP_CPU] = {"top_cpu", "TOP CPU", "CPU of whose samples the row has the greatest share",
		       COLUMN_INT, 7, 1, SR},
	[C_MAX] = {"max_pct", "MAX%", "share of the samples of TOP CPU", COLUMN_PCT, 5, 1, SR},
	[C_MEDIAN] = {"median_pct", "MED%", "share of the samples of a CPU: median of all CPUs",
		      COLUMN_PCT, 5, 2, SR},
	[C_MIN] = {"min_pct", "MIN%", "share of the samples of the CPU where it is smallest",
		   COLUMN_PCT, 5, 2, SR},
	[C_BY_CPU] = {"by_cpu", "BY CPU", "share of the samples of each CPU, CPU after CPU",
		      COLUMN_SERIES, 16, 2, S | W | COLUMN_SPREAD},
	[C_NOTE] =
		{"note", "NOTE",
		 "of a function without a name: the reason; of one that only tries to get locks: "
		 "why it has no waits",
		 COLUMN_TEXT, 24, 9, R},
};

#define EVENTS (((1u << HOT_EVENTS) - 1) << C_EVENT)
#define COMMON (1u << C_PCT | EVENTS | 1u << C_SAMPLES)

/* The columns of a row, by dimension. */
static const struct {
	const char *name;
	unsigned columns;
} bys[QUERY_HOT_BYS] = {
	[HOT_SYMBOL] = {"symbol", COMMON | 1u << C_WAIT_PCT | 1u << C_WAIT | 1u << C_GROUP |
					  1u << C_FILE | 1u << C_SYMBOL | 1u << C_NAMES |
					  1u << C_SOURCE | 1u << C_NOTE},
	[HOT_OBJECT] = {"object", COMMON | 1u << C_FILE},
	[HOT_PROCESS] = {"process", COMMON | 1u << C_GROUP | 1u << C_PID | 1u << C_PROCESS},
	[HOT_TASK] = {"task", COMMON | 1u << C_GROUP | 1u << C_PID | 1u << C_TID | 1u << C_TASK},
	[HOT_GROUP] = {"group", COMMON | 1u << C_GROUP | 1u << C_TOP_CPU | 1u << C_MAX |
					1u << C_MEDIAN | 1u << C_MIN | 1u << C_BY_CPU},
	[HOT_CPU] = {"cpu", COMMON | 1u << C_CPU | 1u << C_GROUP},
	[HOT_STACK] = {"stack", COMMON | 1u << C_GROUP | 1u << C_STACK},
};

const char *query_hot_by_name(enum query_hot_by by)
{
	return by < QUERY_HOT_BYS ? bys[by].name : "?";
}

int query_hot_by_parse(const char *s, enum query_hot_by *ret)
{
	for (int i = 0; i < QUERY_HOT_BYS; i++) {
		if (!strcmp(s, bys[i].name)) {
			*ret = (enum query_hot_by)i;
			return 0;
		}
	}
	return -EINVAL;
}

const char *query_hot_group_name(const struct query *q, enum path_group g)
{
	return pathgroup_title(q->engine->groups, g);
}

/* The group that most of its samples in lock paths are in. */
static const char *main_group(const struct query *q, const struct hot_row *r)
{
	int best = PATH_NONE;

	for (int g = PATH_IRQ_OFF; g < PATH_ALL; g++)
		if (r->groups[g] > (best ? r->groups[best] : 0))
			best = g;
	return query_hot_group_name(q, (enum path_group)best);
}

static const char *chain_text(struct query *q, uint32_t stack)
{
	const struct stack_table *t = &q->model->profile->stacks;
	uint32_t funcs[2 * STACK_MAX_FRAMES], n = t->stacks[stack].n;
	const char *text = NULL;

	n = query_chain_funcs(q, stack_frames(t, stack), n, funcs, 2 * STACK_MAX_FRAMES);
	for (uint32_t i = 0; i < n && i < STACK_FRAMES; i++) {
		const char *name = query_func_name(q, funcs[i]);
		text = text ? arena_printf(&q->arena, "%s\n%s", text, name ? name : "?") : name;
	}
	return text;
}

static const char *source_of(struct query *q, uint64_t start)
{
	const struct srclines_place *p;
	const char *why;

	if (query_place(q, start, false, &p, &why) != SRCLINES_OK)
		return NULL;
	return query_place_text(q, &p->frames[0]);
}

static void fill_task(struct query *q, const struct hot_row *r, struct value *v)
{
	const struct task *t = &q->model->tasks->tasks[r->first.task];
	const char *process = query_process_comm(q, r->first.task);

	if (r->first.task == TASK_OTHER) {
		value_s(&v[C_PROCESS], hot_no_task(q));
		value_s(&v[C_TASK], hot_no_task(q));
		return;
	}
	value_i(&v[C_PID], taskid_number(t->pid));
	value_i(&v[C_TID], taskid_number(t->tid));
	value_s(&v[C_PROCESS], process ? process : query_task_comm(q, r->first.task));
	value_s(&v[C_TASK], query_task_comm(q, r->first.task));
}

static void fill_spread(const struct hot_rows *h, enum path_group g, struct value *v)
{
	struct query_hot_spread s;

	if (query_hot_spread(h->q, &h->cpus, g, &s) < 0) {
		h->q->cache->failed = true;
		return;
	}
	value_i(&v[C_TOP_CPU], s.cpu);
	value_d(&v[C_MAX], s.max);
	value_d(&v[C_MEDIAN], s.median);
	value_d(&v[C_MIN], s.min);
	v[C_BY_CPU].series = s.shares;
	v[C_BY_CPU].n = (uint32_t)h->cpus.n;
	v[C_BY_CPU].known = true;
}

static void fill_object(const char *object, struct value *v)
{
	const char *slash = object ? strrchr(object, '/') : NULL;

	value_s(&v[C_OBJECT], object);
	value_s(&v[C_FILE], slash && slash[1] ? slash + 1 : object);
}

/* Anonymous memory of one process looks like that of another: the name of the process is added. */
static void fill_owner(struct query *q, uint64_t frame, struct value *v)
{
	const struct map_object *o = map_frame_is_kernel(frame) || map_frame_is_mark(frame)
					     ? NULL
					     : map_object_get(q->model->profile->spaces.objects,
							      map_frame_object(frame));

	if (o && o->pid && v->known && map_is_memory(o->path))
		value_s(v, arena_printf(&q->arena, "%s/%d", v->s, o->pid));
}

static const char *note_of(struct query *q, const struct hot_row *r)
{
	const char *name = map_frame_is_kernel(r->key) ? query_func_name(q, r->func) : NULL;
	const char *unnamed = q->cache->funcs[r->func].unnamed;

	if (unnamed)
		return unnamed;
	if (q->cache->funcs[r->func].trusted)
		return usersym_trusted_note;
	return name && sym_is_trylock(name) ? sym_trylock_note : NULL;
}

static double share_of(const struct hot_rows *h, const struct hot_row *r)
{
	return units_percent(r->weight, h->weight);
}

/* Drops rows below the limit; returns the number of rows left in front. */
static size_t drop_narrow(struct hot_rows *h, double percent_limit)
{
	size_t n = 0;

	for (size_t i = 0; i < h->n; i++)
		if (share_of(h, &h->rows[i]) >= percent_limit)
			h->rows[n++] = h->rows[i];
	return n;
}

static void hot_fill(void *ctx, size_t row, uint64_t want, struct value *v)
{
	const struct hot_rows *h = ctx;
	const struct hot_row *r = &h->rows[row];
	struct query *q = h->q;

	value_d(&v[C_PCT], share_of(h, r));
	value_u(&v[C_SAMPLES], r->n);
	for (unsigned i = 0; h->events.n_slots > 1 && i < h->events.n; i++)
		value_d(&v[C_EVENT + i],
			100.0 * (double)r->of_event[i] / (double)(UINT64_C(1) << 40));
	if (h->by == HOT_SYMBOL) {
		value_u(&v[C_WAIT], r->wait_ns);
		value_d(&v[C_WAIT_PCT], units_percent(r->wait_ns, h->wait_ns));
		value_s(&v[C_SYMBOL], query_func_name(q, r->func));
		value_s(&v[C_NOTE], note_of(q, r));
		value_s(&v[C_NAMES], q->cache->funcs[r->func].recorded ? "recording" : NULL);
		if (want & 1ull << C_SOURCE && (h->lines || want != UINT64_MAX))
			value_s(&v[C_SOURCE], source_of(q, r->key));
	}
	if (h->by == HOT_SYMBOL || h->by == HOT_OBJECT)
		fill_object(hot_object_name(q, r->func), v);
	if (h->by == HOT_SYMBOL)
		fill_owner(q, r->key, &v[C_FILE]);
	if (h->by == HOT_PROCESS || h->by == HOT_TASK)
		fill_task(q, r, v);
	if (h->by == HOT_CPU)
		value_i(&v[C_CPU], r->first.cpu);
	if (h->by == HOT_STACK && want & 1ull << C_STACK)
		value_s(&v[C_STACK], chain_text(q, r->first.stack));
	if (h->by != HOT_OBJECT)
		value_s(&v[C_GROUP], main_group(q, r));
	if (h->by == HOT_GROUP && !v[C_GROUP].known)
		value_s(&v[C_GROUP], "other");
	if (h->by == HOT_GROUP)
		fill_spread(h, (enum path_group)r->key, v);
	if (!(bys[h->by].columns & 1u << C_TID))
		v[C_TID].known = v[C_TASK].known = false;
}

static void hot_rank(void *ctx, size_t row, struct row_rank *ret)
{
	const struct hot_row *r = &((const struct hot_rows *)ctx)->rows[row];

	*ret = (struct row_rank){.id = r->id, .order = r->weight, .tie = r->n};
}

const struct table_kind query_hot_kind = {"hot", columns, C_COLUMNS, hot_fill, hot_rank};

/* The columns with values for such rows; the others are reported as unknown. */
static const struct column *columns_of(const struct hot_rows *h)
{
	struct column *c = rows_columns(h->q, &query_hot_kind);
	unsigned shown = h->events.n_slots > 1 ? h->events.n : 0;

	if (!c)
		return NULL;
	for (unsigned i = 0; i < C_COLUMNS; i++)
		if (!(bys[h->by].columns & 1u << i))
			c[i].flags &= (uint8_t)~COLUMN_SCREEN;
	for (unsigned i = 0; i < HOT_EVENTS; i++) {
		struct column *e = &c[C_EVENT + i];
		const char *name = i < shown ? h->events.names[i] : NULL;
		if (!name)
			e->flags &= (uint8_t)~COLUMN_SCREEN;
		else
			e->title =
				arena_printf(&h->q->arena, "%.*s%%", (int)strcspn(name, " "), name);
		if (!e->title)
			return NULL;
		e->width =
			name ? (uint8_t)(strlen(e->title) < 20 ? strlen(e->title) : 20) : e->width;
	}
	return c;
}

static int answer(struct hot_rows *h, const struct query_hot_spec *s, struct table *ret,
		  struct error *err)
{
	struct row_source src = {
		.kind = &query_hot_kind, .columns = columns_of(h), .n = h->n, .ctx = h};

	if (!src.columns)
		return query_enomem(err, "profile");
	int r = rows_answer(h->q, &s->rows, &src, ret, err);
	ret->n_total = h->total;
	return r;
}

static int sum_up(struct query *q, const struct query_hot_spec *s, struct hot_rows *ret,
		  struct error *err)
{
	*ret = (struct hot_rows){
		.q = q, .by = s->by, .locks = s->locks, .lines = s->lines, .zoom = s->zoom};
	if (query_sync(q) < 0 || hot_sum(ret) < 0 ||
	    (s->by == HOT_GROUP && query_hot_cpus(q, s->zoom, &ret->cpus) < 0))
		return query_enomem(err, "profile");
	ret->total = ret->n;
	ret->n = drop_narrow(ret, s->percent_limit);
	return 0;
}

int query_hot(struct query *q, const struct query_hot_spec *s, struct table *ret, struct error *err)
{
	struct hot_rows h;
	int r = sum_up(q, s, &h, err);

	return r < 0 ? r : answer(&h, s, ret, err);
}

/* Lines of source are asked for by the first answer, and are no part of the sums. */
int query_hot_named(struct query *q, const struct query_hot_spec *s, struct table *ret,
		    struct error *err)
{
	struct hot_rows h;
	int r = s->by == HOT_STACK ? hot_load_chains(q) : hot_load_leaves(q);

	if (r < 0)
		return query_enomem(err, "profile");
	r = sum_up(q, s, &h, err);
	if (r == 0)
		r = answer(&h, s, ret, err);
	while (r == 0 && query_load_wait(q, QUERY_WAIT_NS)) {
		r = q->cache->valid ? 0 : sum_up(q, s, &h, err);
		r = r < 0 ? r : answer(&h, s, ret, err);
	}
	return r;
}

static const char *row_name(const struct hot_rows *h, const struct hot_row *r)
{
	struct query *q = h->q;
	const char *comm;

	if (r->first.task == TASK_OTHER && (h->by == HOT_PROCESS || h->by == HOT_TASK))
		return hot_no_task(q);
	switch (h->by) {
	case HOT_SYMBOL:
		return query_func_name(q, r->func);
	case HOT_OBJECT:
		return hot_object_name(q, r->func);
	case HOT_PROCESS:
		comm = query_process_name(q, r->first.task);
		return comm ? comm : "?";
	case HOT_TASK:
		comm = query_task_name(q, r->first.task);
		return comm ? comm : "?";
	case HOT_GROUP:
		comm = query_hot_group_name(q, (enum path_group)r->key);
		return *comm ? comm : "other";
	case HOT_CPU:
		return arena_printf(&q->arena, "cpu %u", r->first.cpu);
	default:
		return query_func_name(q, r->func);
	}
}

/* 0 with *ret among @h's rows; -ENOENT: it is gone; -ENOMEM. */
static int find_row(struct hot_rows *h, uint64_t id, const struct hot_row **ret)
{
	if (query_sync(h->q) < 0 || hot_sum(h) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < h->n; i++) {
		if (h->rows[i].id == id) {
			*ret = &h->rows[i];
			return 0;
		}
	}
	return -ENOENT;
}

const char *query_hot_title(struct query *q, enum query_hot_by by, uint64_t row)
{
	struct hot_rows h = {.q = q, .by = by};
	const struct hot_row *r;

	return find_row(&h, row, &r) < 0 ? NULL : row_name(&h, r);
}

int query_hot_start(struct query *q, uint64_t row, uint64_t *ret)
{
	struct hot_rows h = {.q = q, .by = HOT_SYMBOL};
	const struct hot_row *r;
	int code = find_row(&h, row, &r);

	if (code == 0)
		*ret = r->key;
	return code;
}

static const enum query_zoom_kind zoom_kinds[QUERY_HOT_BYS] = {
	[HOT_SYMBOL] = ZOOM_OBJECT,	[HOT_OBJECT] = ZOOM_OBJECT, [HOT_PROCESS] = ZOOM_PID,
	[HOT_TASK] = ZOOM_TASK,		[HOT_GROUP] = ZOOM_GROUP,   [HOT_CPU] = ZOOM_CPU,
	[HOT_STACK] = QUERY_ZOOM_KINDS,
};

int query_hot_zoom(struct query *q, enum query_hot_by by, uint64_t row, struct query_zoom *z)
{
	struct hot_rows h = {.q = q, .by = by};
	struct query_zoom_term t = {.kind = zoom_kinds[by]};
	const struct hot_row *r;
	const char *name, *slash;
	int code;

	if (t.kind == QUERY_ZOOM_KINDS)
		return -EINVAL;
	if (z->n == QUERY_ZOOM_TERMS)
		return -ENOSPC;
	code = find_row(&h, row, &r);
	if (code < 0)
		return code;
	name = t.kind == ZOOM_OBJECT ? hot_object_name(q, r->func) : row_name(&h, r);
	if (!name)
		return -ENOMEM;
	t.id = t.kind == ZOOM_OBJECT ? text_hash(name) : r->key;
	slash = t.kind == ZOOM_OBJECT ? strrchr(name, '/') : NULL;
	snprintf(t.name, sizeof(t.name), "%s", slash && slash[1] ? slash + 1 : name);
	z->terms[z->n++] = t;
	return 0;
}

int query_hot_sum(struct query *q, const struct query_zoom *zoom, struct query_hot_sum *ret)
{
	static const struct eventlist_event none = {0};
	const struct eventlist_event *chosen = query_recorded_main(q), *d = chosen ? chosen : &none;
	const char *names = query_recorded_names(q);
	if (!names)
		return -ENOMEM;
	struct query_hot_sum s = {.known = chosen,
				  .chains = d->chains,
				  .event = names,
				  .hz = d->freq && !strchr(names, ',') ? d->rate : 0,
				  .ever = q->model->profile->samples,
				  .unnamed = q->model->profile->ksyms.dropped,
				  .no_task_name = hot_no_task(q)};
	struct hot_rows h = {.q = q, .zoom = zoom};

	struct query_recorded recorded;

	if (query_sync(q) < 0 || !(h.groups = hot_groups(q)) || hot_find_share(q, d, &s) < 0 ||
	    query_recorded(q, &recorded) < 0)
		return -ENOMEM;
	s.hidden = recorded.hidden;
	const struct profile *p = h.p = query_profile(q);
	s.samples = p->samples;
	s.shortened = p->shortened;
	s.ended = p->ended;
	s.other = p->other;
	for (size_t i = 0; i < p->n; i++) {
		if (!hot_zoom_sample(&h, &p->cells[i]))
			continue;
		s.part += p->cells[i].n;
		s.no_task += p->cells[i].task == TASK_OTHER ? p->cells[i].n : 0;
		s.groups[h.groups[p->cells[i].stack]] += p->cells[i].n;
	}
	for (int g = PATH_IDLE + 1; g < PATH_ALL; g++)
		s.locks += s.groups[g];
	s.idle = s.groups[PATH_IDLE];
	s.per_s = query_per_s(p->samples,
			      query_has_window(q) ? query_rate_ns(q) : query_elapsed(q->model));
	*ret = s;
	return q->cache->failed ? -ENOMEM : 0;
}

static const char *text_at(const struct table *t, size_t row, size_t column)
{
	const struct value *v = column == SIZE_MAX ? NULL : table_value(t, row, column);

	return v && v->known ? v->s : NULL;
}

const char *query_hot_trylock(const struct table *t, size_t *at)
{
	size_t note = table_column(t, "note"), symbol = table_column(t, "symbol");

	for (; *at < t->n_rows; ++*at)
		if (text_at(t, *at, note) == sym_trylock_note && text_at(t, *at, symbol))
			return text_at(t, (*at)++, symbol);
	return NULL;
}

static bool is_reason(const char *note)
{
	return note && note != sym_trylock_note && note != usersym_trusted_note;
}

const char *query_hot_unnamed(const struct table *t, size_t *at, size_t *ret_rows)
{
	size_t note = table_column(t, "note"), before;
	const char *why = NULL;

	for (; !why && *at < t->n_rows; ++*at) {
		why = text_at(t, *at, note);
		for (before = 0; is_reason(why) && before < *at; before++)
			if (text_at(t, before, note) == why)
				break;
		why = is_reason(why) && before == *at ? why : NULL;
	}
	*ret_rows = 0;
	for (size_t i = 0; why && i < t->n_rows; i++)
		*ret_rows += text_at(t, i, note) == why;
	return why;
}

const char *query_hot_none(const struct query_hot_sum *s)
{
	if (!s->known)
		return "nothing is sampled: kontend -F 499, or kontend record -F 499 for a "
		       "recording, sees where CPUs spend their time";
	return s->ever ? "no samples in the time that is shown; w goes to another"
		       : "no samples yet";
}
