// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which columns a table shows when there is no room for all. The query gives every key the same
 * columns with one order of importance; what matters differs by key and by how deep one is: by
 * caller the caller is the row's name, below a lock the lock's own name says nothing new. A fit is
 * a list of such changes, made on a copy of the columns that the view keeps.
 */
#include "kontend/damage.h"
#include "kontend/engine.h"
#include "kontend/locktype.h"
#include "kontend/model-cpu.h"
#include "kontend/model.h"
#include "kontend/view.h"

#include <string.h>

enum { FITS = 6 };

/* Keys whose rows have one type of lock: call sites of two types are two rows. */
enum { TYPED = 1 << BY_LOCK | 1 << BY_TYPE | 1 << BY_CALLER };

/* Of a lock the task that keeps all others waiting comes before how often they do. */
static const struct view_fit fits[QUERY_BYS][FITS] = {
	[BY_LOCK] = {{"holder", 1, 0},
		     {"p99_ns", 0, 0},
		     {"cont_per_s", 2, 0},
		     {"avg_ns", 2, 0},
		     {"caller", 2, 0}},
	[BY_CALLER] = {{"caller", 0, 0}, {"name", 5, 0}},
	[BY_TASK] = {{"name", 1, 0}},
	[BY_PROCESS] = {{"name", 1, 0}},
	[BY_TYPE] = {{"name", VIEW_HIDE, 0}, {"caller", 6, 16}, {"spark", 1, 0}, {"locks", 2, 0}},
	[BY_CPU] = {{"kind", 8, 0}, {"name", 8, 0}, {"caller", 4, 16}, {"spark", 1, 0}},
	[BY_CGROUP] = {{"kind", 8, 0}, {"name", 8, 0}},
	[BY_OWNER] = {{"holder", 0, 0}, {"name", 4, 0}},
	[BY_SYSCALL] = {{"syscall", 0, 12}, {"name", 2, 0}},
	[BY_AT] = {{"at", 0, 0}, {"name", 2, 0}, {"caller", 5, 0}},
	[BY_STACK] = {{"name", 6, 0}, {"caller", VIEW_HIDE, 0}, {"locks", VIEW_HIDE, 0}},
};

/* The width of all types but for a few, and all tables have it. */
enum { KIND_WIDTH = 10 };

/* Room for the mode of the longest type that is waited for; .key NULL: there is enough. */
static struct view_fit fit_kind(const struct view *v)
{
	const struct model_type *types = v->query->model->types;
	struct view_fit f = {.width = KIND_WIDTH};

	for (int i = 0; i < LOCK_TYPES; i++) {
		size_t len = strlen(locktype_name((enum lock_type)i));
		if (len <= f.width ||
		    !(types[i].contended || types[i].waited_ns || types[i].rate_wait_ns))
			continue;
		f.key = "kind";
		f.width = (uint8_t)len;
	}
	return f;
}

static void fit_column(struct column *columns, size_t n, const struct view_fit *f)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(columns[i].key, f->key) != 0)
			continue;
		if (f->priority == VIEW_HIDE)
			columns[i].flags &= (uint8_t)~COLUMN_SCREEN;
		else
			columns[i].priority = f->priority;
		if (f->width)
			columns[i].width = f->width;
	}
}

void view_fit_columns(struct table *t, struct view_columns *store, const struct view_fit *fit,
		      size_t n)
{
	if (t->n_columns > VIEW_COLUMNS)
		return;
	if (t->n_columns && t->columns != store->list)
		memcpy(store->list, t->columns, t->n_columns * sizeof(*store->list));
	for (size_t i = 0; i < n && fit[i].key; i++)
		fit_column(store->list, t->n_columns, &fit[i]);
	t->columns = store->list;
}

/* Where the page beside a list has it, tasks that wait now have a column if most rows have some. */
static const struct view_fit now_if_any = {"waiting", 1, 0};

/* Holders are known if a snapshot of the locks has been taken. */
static bool has_holders(const struct table *t)
{
	size_t col = table_column(t, "holder");

	return col != SIZE_MAX && t->columns[col].flags & COLUMN_SCREEN;
}

void view_fit_locks(const struct view *v, struct table *t, struct view_columns *store,
		    enum query_by by)
{
	uint32_t mask = v->scope.mask;
	struct view_fit all[FITS + 6] = {fit_kind(v)};
	size_t n = all[0].key != NULL;

	all[n++] = now_if_any;
	for (size_t i = 0; i < FITS && fits[by][i].key && (by != BY_LOCK || has_holders(t)); i++)
		all[n++] = fits[by][i];
	if (mask & 1u << BY_LOCK && by != BY_LOCK)
		all[n++] = (struct view_fit){"name", VIEW_HIDE, 0};
	if (mask & TYPED && by != BY_LOCK && by != BY_TYPE)
		all[n++] = (struct view_fit){"kind", VIEW_HIDE, 0};
	if (mask & (1u << BY_CALLER | 1u << BY_STACK) && by != BY_CALLER)
		all[n++] = (struct view_fit){"caller", VIEW_HIDE, 0};
	view_fit_columns(t, store, all, n);
}

void view_fit_waiters(const struct view *v, struct table *t, struct view_columns *store)
{
	const struct model_damage *d = v->query->model->damage;
	uint32_t mask = v->scope.mask;
	struct view_fit all[7] = {fit_kind(v)};
	size_t n = all[0].key != NULL;

	if (!d->lost && !d->dropped)
		all[n++] = (struct view_fit){"doubtful", VIEW_HIDE, 0};
	if (mask & 1u << BY_LOCK)
		all[n++] = (struct view_fit){"name", VIEW_HIDE, 0};
	if (mask & 1u << BY_TASK)
		all[n++] = (struct view_fit){"task", VIEW_HIDE, 0};
	if (mask & (1u << BY_CALLER | 1u << BY_STACK))
		all[n++] = (struct view_fit){"caller", VIEW_HIDE, 0};
	if (mask & 1u << BY_CPU)
		all[n++] = (struct view_fit){"cpu", VIEW_HIDE, 0};
	view_fit_columns(t, store, all, n);
}

void view_fit_types(const struct view *v, struct table *t, struct view_columns *store)
{
	const struct view_fit all[] = {
		{"name", VIEW_HIDE, 0}, {"caller", 6, 12},  {"locks", 5, 0},
		{"spark", 6, 0},	{"wait_pct", 2, 0}, {"avg_ns", 3, 0},
		{"max_ns", 3, 0},	now_if_any,	    fit_kind(v),
	};

	view_fit_columns(t, store, all, sizeof(all) / sizeof(*all));
}
