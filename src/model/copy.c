// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies of a model, for going back in time. The tables refer to each other by index, so a copy is
 * that of flat arrays; only series have memory of their own; names (comms, cgroup paths) and
 * snapshots are shared, as they never change. A copy holds what is in use, not what was reserved.
 */
#include "file-holds.h"
#include "internal.h"
#include "kontend/cfiset.h"
#include "kontend/funcset.h"
#include "kontend/lockname.h"
#include "kontend/mem.h"
#include "kontend/wait-on.h"
#include "tables.h"
#include <errno.h>
#include <string.h>

static int copy_locks(struct lock_table *dst, const struct lock_table *src)
{
	*dst = *src;
	dst->index = dst->others = (struct map64){0};
	dst->cap = src->n;
	dst->locks = mem_dup(src->locks, src->n, sizeof(*src->locks));
	if (!dst->locks)
		return -ENOMEM;
	/* A copy that fails halfway shares no series, either. */
	for (size_t i = 0; i < dst->n; i++)
		dst->locks[i].wait_series = (struct series){0};
	for (size_t i = 0; i < dst->n; i++)
		if (series_copy(&dst->locks[i].wait_series, &src->locks[i].wait_series))
			return -ENOMEM;
	int code = map64_copy(&dst->index, &src->index);
	return code ? code : map64_copy(&dst->others, &src->others);
}

static int copy_waits(struct wait_pool *dst, const struct wait_pool *src)
{
	*dst = *src;
	dst->cap = src->high;
	dst->waits = mem_dup(src->waits, src->high, sizeof(*src->waits));
	return dst->waits ? 0 : -ENOMEM;
}

/* The slot array has twice the capacity; both are taken as they are, cells only as far as used. */
static int copy_cells(struct cell_table *dst, const struct cell_table *src)
{
	*dst = *src;
	dst->cells = mem_calloc(src->cap, sizeof(*src->cells));
	dst->more = mem_dup(src->more, src->n_more, sizeof(*src->more));
	dst->cap_more = src->n_more;
	dst->slots = mem_dup(src->slots, src->mask + 1, sizeof(*src->slots));
	dst->touched = mem_dup(src->touched, cell_words(src), sizeof(*src->touched));
	dst->recent = (struct recent){0};
	dst->heat = (struct heat){0};
	dst->hists.cap_groups = src->hists.n_groups;
	dst->hists.groups =
		mem_dup(src->hists.groups, src->hists.n_groups, sizeof(*src->hists.groups));
	if (!dst->cells || !dst->more || !dst->slots || !dst->touched || !dst->hists.groups ||
	    recent_copy(&dst->recent, &src->recent) || heat_copy(&dst->heat, &src->heat))
		return -ENOMEM;
	for (size_t i = 0; i < src->n; i++)
		dst->cells[i] = src->cells[i];
	return 0;
}

static int copy_cpus(struct model *dst, const struct model *src)
{
	dst->cpus = mem_dup(src->cpus, src->n_cpus, sizeof(*src->cpus));
	if (src->n_cpus && !dst->cpus)
		return -ENOMEM;
	dst->n_cpus = src->n_cpus;
	for (uint32_t i = 0; i < dst->n_cpus; i++)
		dst->cpus[i].n_series = dst->cpus[i].wait_series = (struct series){0};
	for (uint32_t i = 0; i < dst->n_cpus; i++)
		if (series_copy(&dst->cpus[i].n_series, &src->cpus[i].n_series) ||
		    series_copy(&dst->cpus[i].wait_series, &src->cpus[i].wait_series))
			return -ENOMEM;
	return 0;
}

static int copy_series(struct model *dst, const struct model *src)
{
	for (unsigned i = 0; i < LOCK_TYPES; i++)
		if (series_copy(&dst->types[i].wait_series, &src->types[i].wait_series))
			return -ENOMEM;
	if (series_copy(dst->n_series, src->n_series) ||
	    series_copy(dst->wait_series, src->wait_series))
		return -ENOMEM;
	return series_copy(dst->waiting_series, src->waiting_series);
}

/* Copies the figures that point to no other memory. */
static void copy_figures(struct model *dst, const struct model *src)
{
	*dst->limits = *src->limits;
	*dst->host = *src->host;
	*dst->past = *src->past;
	*dst->damage = *src->damage;
	*dst->loss = *src->loss;
	*dst->before = *src->before;
	*dst->shorts = *src->shorts;
	*dst->user_releases = *src->user_releases;
	*dst->user_seen = *src->user_seen;
	*dst->ons = *src->ons;
	*dst->looks = *src->looks;
	*dst->preempted = *src->preempted;
	memcpy(dst->n_snapshots, src->n_snapshots, SNAPSHOT_KINDS * sizeof(*src->n_snapshots));
	for (unsigned i = 0; i < LOCK_TYPES; i++) {
		dst->types[i] = src->types[i];
		dst->types[i].wait_series = (struct series){0};
	}
}

int model_copy(struct model *dst, const struct model *src)
{
	struct model_tables *t = mem_calloc(1, sizeof(*t));

	*dst = (struct model){0};
	if (!t)
		return -ENOMEM;
	*dst = *src;
	/* Tables with memory of their own are empty at first, so a failure is safe at any point. */
	model_use_tables(dst, t);
	dst->cpus = NULL;
	dst->n_cpus = 0;
	dst->ended = NULL;
	copy_figures(dst, src);
	snapshot_set_copy(dst->snapshots, src->snapshots);
	snapshot_set_copy(dst->snapshots_before, src->snapshots_before);
	lockname_set_ref(dst->lock_names);
	funcset_ref(dst->funcs);
	cfiset_ref(dst->cfi);

	if (!task_table_copy(dst->tasks, src->tasks) && !copy_locks(dst->locks, src->locks) &&
	    !stack_table_copy(dst->stacks, src->stacks) && !copy_waits(dst->waits, src->waits) &&
	    !untracked_table_copy(dst->untracked, src->untracked) &&
	    !file_holds_copy(dst->file_holds, src->file_holds) &&
	    !copy_cells(dst->cells, src->cells) && !copy_cells(dst->held, src->held) &&
	    !copy_cells(dst->handed, src->handed) && !copy_cells(dst->mm_held, src->mm_held) &&
	    !holds_copy(dst->holds, src->holds) && !lockqueues_copy(dst->queues, src->queues) &&
	    !blocked_copy(dst->blocked, src->blocked) && !sleeps_copy(dst->sleeps, src->sleeps) &&
	    !runs_copy(dst->runs, src->runs) && !blame_copy(dst->blame, src->blame) &&
	    !copy_cpus(dst, src) && !copy_series(dst, src) &&
	    !rotation_copy(dst->rotation, src->rotation) &&
	    !profile_copy(dst->profile, src->profile) && !mmlock_copy(dst->mmlocks, src->mmlocks))
		return 0;
	model_deinit(dst);
	return -ENOMEM;
}
