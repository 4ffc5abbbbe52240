// SPDX-License-Identifier: GPL-2.0-only
/*
 * The address spaces. The events name one by its address, and who takes its lock is mostly one of
 * its own threads: the process is found out by a vote, since the one that forks takes the child's
 * lock, too, and others may read it. An address is used again: when the process ends, or executes
 * another program, its entry is closed and the next use of the address makes another one. When
 * there is no room, closed entries are summed up in the first one.
 */
#include "mmlock-int.h"
#include <errno.h>
#include <string.h>

enum { VOTES_MOST = 8, HIST_GROUPS_MOST = 1 << 15 };

int mmlock_init(struct mmlocks *l)
{
	*l = (struct mmlocks){.how = mem_calloc(1, sizeof(*l->how))};
	return l->how ? hist_pool_init(&l->hists, HIST_GROUPS_MOST) : -ENOMEM;
}

void mmlock_deinit(struct mmlocks *l)
{
	mem_free(l->how);
	mem_free(l->mms);
	mem_free(l->tasks);
	map64_deinit(&l->by_mm);
	map64_deinit(&l->by_tid);
	hist_pool_deinit(&l->hists);
	*l = (struct mmlocks){0};
}

static void vote(struct mmlock_mm *m, int32_t pid)
{
	if (pid <= 0)
		return;
	if (m->pid == pid) {
		m->votes += m->votes < VOTES_MOST;
	} else if (m->votes) {
		m->votes--;
	} else {
		m->pid = pid;
		m->votes = 1;
	}
}

static void add_times(struct mmlocks *l, struct mmlock_times *to, struct mmlock_times *from)
{
	if (!from->n)
		return;
	to->min_ns = !to->n || from->min_ns < to->min_ns ? from->min_ns : to->min_ns;
	to->max_ns = from->max_ns > to->max_ns ? from->max_ns : to->max_ns;
	to->n += from->n;
	to->total_ns += from->total_ns;
	hist_pool_move(&l->hists, to->hist, from->hist);
}

static void add_to_other(struct mmlocks *l, struct mmlock_mm *from)
{
	for (int w = 0; w < 2; w++) {
		struct mmlock_mode *to = &l->mms[0].mode[w];
		to->acquired += from->mode[w].acquired;
		to->failed += from->mode[w].failed;
		to->before += from->mode[w].before;
		to->squares += from->mode[w].squares;
		to->products += from->mode[w].products;
		add_times(l, &to->wait, &from->mode[w].wait);
		add_times(l, &to->hold, &from->mode[w].hold);
	}
}

/* Leaves those that are not over; 0 or -ENOMEM: then some cannot be found any more. */
static int fold_over(struct mmlocks *l)
{
	size_t n = 1;
	int code = 0;

	map64_clear(&l->by_mm);
	for (size_t i = 1; i < l->n; i++) {
		if (l->mms[i].over) {
			add_to_other(l, &l->mms[i]);
			continue;
		}
		l->mms[n] = l->mms[i];
		if (map64_put(&l->by_mm, l->mms[n].mm, (uint32_t)n) < 0)
			code = -ENOMEM;
		n++;
	}
	l->n = n;
	return code;
}

static struct mmlock_mm *add_mm(struct mmlocks *l, uint64_t mm)
{
	if (l->n == MMLOCK_MMS && fold_over(l) < 0)
		return NULL;
	if (l->n == MMLOCK_MMS)
		return &l->mms[0];
	if (mem_grow(&l->mms, &l->cap, l->n + 1, sizeof(*l->mms)) < 0)
		return NULL;
	if (!l->n)
		l->mms[l->n++] = (struct mmlock_mm){.mm = 0};
	if (map64_put(&l->by_mm, mm, (uint32_t)l->n) < 0)
		return NULL;
	l->mms[l->n] = (struct mmlock_mm){.mm = mm};
	return &l->mms[l->n++];
}

struct mmlock_mm *mmlock_mm_of(struct mmlocks *l, const struct event *ev, struct strpool *names)
{
	const uint32_t *known = map64_get(&l->by_mm, ev->mm.mm);
	bool is_there = known && !l->mms[*known].over;
	struct mmlock_mm *m = is_there ? &l->mms[*known] : add_mm(l, ev->mm.mm);

	if (!m || m == l->mms)
		return m;
	vote(m, ev->pid);
	m->memcg_id = ev->mm.memcg_id;
	if (ev->mm.memcg && !m->memcg)
		m->memcg = strpool_intern(names, ev->mm.memcg);
	return m;
}

void mmlock_end_mm(struct mmlocks *l, int32_t pid, const char *comm)
{
	for (size_t i = 1; i < l->n; i++) {
		struct mmlock_mm *m = &l->mms[i];
		if (m->pid != pid || m->over)
			continue;
		m->over = true;
		m->comm = comm;
	}
}

void mmlock_zero(struct mmlocks *l)
{
	size_t n = l->n ? 1 : 0;

	hist_pool_clear(&l->hists);
	map64_clear(&l->by_mm);
	if (n)
		memset(l->mms[0].mode, 0, sizeof(l->mms[0].mode));
	for (size_t i = 1; i < l->n; i++) {
		/* An entry that cannot be found again is dropped. */
		if (l->mms[i].over || map64_put(&l->by_mm, l->mms[i].mm, (uint32_t)n) < 0)
			continue;
		l->mms[n] = l->mms[i];
		memset(l->mms[n].mode, 0, sizeof(l->mms[n].mode));
		n++;
	}
	l->n = n;
	l->counts_before[0] = l->how->counted;
	l->counts_before[1] = l->how->counted_inside;
	l->counted = l->counted_inside = 0;
	l->size = l->sizes_squared = 0;
	l->got = l->got_before = 0;
	l->seen_ns = l->bursts = l->asked_only = l->held_only = l->release_only = 0;
	l->tried = l->downgraded = l->dropped = 0;
}

int mmlock_copy(struct mmlocks *dst, const struct mmlocks *src)
{
	*dst = *src;
	dst->cap = src->n;
	dst->cap_tasks = src->n_tasks;
	dst->by_mm = dst->by_tid = (struct map64){0};
	dst->how = mem_dup(src->how, 1, sizeof(*src->how));
	dst->mms = mem_dup(src->n ? src->mms : NULL, src->n, sizeof(*src->mms));
	dst->tasks = mem_dup(src->n_tasks ? src->tasks : NULL, src->n_tasks, sizeof(*src->tasks));
	dst->hists.cap_groups = src->hists.n_groups;
	dst->hists.groups =
		mem_dup(src->hists.groups, src->hists.n_groups, sizeof(*src->hists.groups));
	if (map64_copy(&dst->by_mm, &src->by_mm) == 0 &&
	    map64_copy(&dst->by_tid, &src->by_tid) == 0 && dst->how && dst->hists.groups &&
	    (dst->mms || !src->n) && (dst->tasks || !src->n_tasks))
		return 0;
	mmlock_deinit(dst);
	return -ENOMEM;
}

size_t mmlock_bytes(const struct mmlocks *l)
{
	return l->cap * sizeof(*l->mms) + l->cap_tasks * sizeof(*l->tasks) +
	       l->hists.cap_groups * sizeof(*l->hists.groups) +
	       (l->by_mm.slots ? (l->by_mm.mask + 1) * sizeof(*l->by_mm.slots) : 0) +
	       (l->by_tid.slots ? (l->by_tid.mask + 1) * sizeof(*l->by_tid.slots) : 0);
}
