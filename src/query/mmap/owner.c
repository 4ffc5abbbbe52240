// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds out which locks are mmap_locks, and of which process: by the names in lock snapshots, else
 * by the lock's own events. If a process ended before a snapshot named its lock, and without
 * events, only the slab cache is known, mm_struct, whose only reader-writer semaphore is the
 * mmap_lock: then it is a row of its own, by its address. Ids contain the process id, or a hash of
 * the path, so that a row stays the same when the program runs again.
 */
#include "kontend/lock.h"
#include "kontend/lockname.h"
#include "kontend/locksnap.h"
#include "kontend/mmlevel.h"
#include "kontend/mmlock.h"
#include "kontend/task.h"
#include "kontend/text.h"
#include "list.h"

#include <inttypes.h>
#include <string.h>

enum { MODE_SHIFT = 32, READER = 1, WRITER = 2, MODES = 3 };

/* A living task's index; TASK_OTHER: there is none. */
static uint32_t task_of(const struct query *q, int32_t pid)
{
	const uint32_t *at = map64_get(&q->model->tasks->by_tid, (uint32_t)pid);

	return at && *at < q->model->tasks->n ? *at : TASK_OTHER;
}

/*
 * The id in an event is one of the memory controller's hierarchy, the names that are known are of
 * the one that perf knows. It is the same one where the path leads to the task's own group.
 */
static const char *memcg_by_id(const struct query *q, const struct mmlock_mm *m, uint32_t task)
{
	const struct task_table *t = q->model->tasks;
	const char *path = m->memcg_id ? task_cgroup_path(t, m->memcg_id) : NULL;
	const char *own = task ? task_cgroup_path(t, t->tasks[task].cgroup) : NULL;
	size_t len = path ? strlen(path) : 0;

	if (!own || !len || strncmp(own, path, len) != 0)
		return "";
	return !own[len] || own[len] == '/' || path[len - 1] == '/' ? path : "";
}

/* The process of an address space by its events. */
static void by_events(const struct query *q, const struct mmlock_mm *m,
		      struct query_mmap_owner *ret)
{
	uint32_t task = m->over ? TASK_OTHER : task_of(q, m->pid);
	const char *comm = m->over ? m->comm : task ? q->model->tasks->tasks[task].comm : NULL;

	*ret = (struct query_mmap_owner){.pid = m->pid,
					 .comm = comm ? comm : "",
					 .memcg = m->memcg ? m->memcg : memcg_by_id(q, m, task)};
}

static const struct mmlock_mm *mm_at(const struct query *q, uint64_t addr)
{
	const struct mmlocks *l = q->model->mmlocks;
	const uint32_t *at = l->lock_offset ? map64_get(&l->by_mm, addr - l->lock_offset) : NULL;

	return at && *at < l->n ? &l->mms[*at] : NULL;
}

static void by_end(const struct lock_end *end, struct query_mmap_owner *ret)
{
	*ret = (struct query_mmap_owner){.pid = end->pid,
					 .comm = end->comm ? end->comm : "",
					 .memcg = end->memcg ? end->memcg : ""};
}

/* The path of who waited for it, where perf knows tasks by their memory cgroups. */
static const char *memcg_of_waiter(const struct query *q, const struct lock *l)
{
	const struct model *m = q->model;
	bool reported = l && l->cgroup && m->mmlocks->how->memcg_reported;
	const char *path = reported ? task_cgroup_path(m->tasks, l->cgroup) : NULL;

	return path ? path : "";
}

static bool find_owner(const struct query *q, uint64_t addr, const struct lock *l,
		       struct query_mmap_owner *ret)
{
	const struct lockname *n = query_lock_object(q, addr, l ? l->begin_ns : q->model->now_ns);
	const struct mmlock_mm *m = l && l->over ? NULL : mm_at(q, addr);

	*ret = (struct query_mmap_owner){.comm = "", .memcg = ""};
	if (m)
		by_events(q, m, ret);
	else if (l && l->end.pid)
		by_end(&l->end, ret);
	if (n && n->kind == LOCKSNAP_MMAP)
		*ret = (struct query_mmap_owner){
			.pid = n->pid, .comm = n->comm, .memcg = *n->text ? n->text : ret->memcg};
	else if (!ret->pid && !m)
		return n && ((n->kind == LOCKSNAP_SLAB && strcmp(n->text, "mm_struct") == 0) ||
			     (n->kind == LOCKSNAP_OBJECT && strcmp(n->what, "mmap_lock") == 0));
	return true;
}

bool query_mmap_owner(const struct query *q, uint64_t addr, const struct lock *l,
		      struct query_mmap_owner *ret)
{
	bool found = find_owner(q, addr, l, ret);

	if (found && !*ret->memcg) {
		ret->memcg = memcg_of_waiter(q, l);
		ret->memcg_guessed = *ret->memcg;
	}
	return found;
}

uint64_t query_mmap_owner_of(const struct query *q, size_t i, struct query_mmap_owner *ret)
{
	const struct mmlocks *l = q->model->mmlocks;
	const struct mmlock_mm *m = &l->mms[i];
	uint64_t addr = m->mm + l->lock_offset;

	if (i == 0)
		*ret = (struct query_mmap_owner){.comm = "other", .memcg = ""};
	else if (m->over || !l->lock_offset || !query_mmap_owner(q, addr, NULL, ret))
		by_events(q, m, ret);
	return addr;
}

uint64_t query_mmap_row_id(enum query_by by, const struct query_mmap_owner *o, uint64_t addr,
			   bool reader)
{
	uint64_t mode = reader ? READER : WRITER;

	if (by == BY_MMAP_MEMCG)
		return (text_hash(o->memcg) & ~(uint64_t)MODES) | mode;
	if (o->pid > 0)
		return mode << MODE_SHIFT | (uint32_t)o->pid;
	return lock_key(addr, reader ? LOCK_RWSEM_R : LOCK_RWSEM_W);
}

uint64_t query_mmap_id(const struct query *q, enum query_by by, uint32_t lock)
{
	const struct lock *l = &q->model->locks->locks[lock];
	const char *mode = locktype_mode((enum lock_type)l->type);
	struct query_mmap_owner o;

	if (!mode[0] || !l->addr || !query_mmap_owner(q, l->addr, l, &o))
		return 0;
	return query_mmap_row_id(by, &o, l->addr, mode[0] == 'R');
}

static bool is_row(enum query_by by, const struct query_mmap_owner *o, uint64_t addr, uint64_t id)
{
	return query_mmap_row_id(by, o, addr, true) == id ||
	       query_mmap_row_id(by, o, addr, false) == id;
}

/* The owner of row @id, of which a lock has a name. */
static bool find_named(const struct query *q, enum query_by by, uint64_t id,
		       struct query_mmap_owner *ret, uint64_t *ret_addr)
{
	const struct lockname_set *s = q->model->lock_names;

	for (size_t i = 0; s && i < s->n; i++) {
		*ret_addr = s->names[i].addr;
		if (query_mmap_owner(q, *ret_addr, NULL, ret) && is_row(by, ret, *ret_addr, id))
			return true;
	}
	return false;
}

/* The same of one that was waited for. */
static bool find_waited(const struct query *q, enum query_by by, uint64_t id,
			struct query_mmap_owner *ret, uint64_t *ret_addr)
{
	const struct lock_table *t = q->model->locks;

	for (size_t i = LOCK_TYPES; i < t->n; i++) {
		const struct lock *l = &t->locks[i];
		*ret_addr = l->addr;
		if (l->addr && *locktype_mode((enum lock_type)l->type) &&
		    query_mmap_owner(q, l->addr, l, ret) && is_row(by, ret, l->addr, id))
			return true;
	}
	return false;
}

/* The same for an address space that only events know. */
static bool find_seen(const struct query *q, enum query_by by, uint64_t id,
		      struct query_mmap_owner *ret, uint64_t *ret_addr)
{
	for (size_t i = 0; i < q->model->mmlocks->n; i++) {
		*ret_addr = query_mmap_owner_of(q, i, ret);
		if (is_row(by, ret, *ret_addr, id))
			return true;
	}
	return false;
}

const char *query_mmap_title(struct query *q, enum query_by by, uint64_t id)
{
	struct query_mmap_owner o;
	uint64_t addr;

	if (!find_waited(q, by, id, &o, &addr) && !find_named(q, by, id, &o, &addr) &&
	    !find_seen(q, by, id, &o, &addr))
		return "mmap_lock";
	char mode = query_mmap_row_id(by, &o, addr, true) == id ? 'R' : 'W';
	if (by == BY_MMAP_MEMCG)
		return arena_printf(&q->arena, "mmap_lock %c of %s", mode,
				    *o.memcg ? o.memcg : "no known memcg");
	if (!o.pid)
		return arena_printf(&q->arena, "mmap_lock %c 0x%" PRIx64, mode, addr);
	return arena_printf(&q->arena, "mmap_lock %c %s", mode,
			    query_slash(&q->arena, o.comm, o.pid, "-"));
}
