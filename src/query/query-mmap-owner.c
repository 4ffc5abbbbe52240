// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which locks are mmap_locks, and whose: by the names that snapshots of locks told. Of a process
 * that was gone before its lock was looked at only the slab cache is known, mm_struct, whose only
 * reader-writer semaphore is the mmap_lock: it is a row of its own, by its address. Ids hold the
 * process id, or a hash of the path, so that a row stays one when a program is executed anew.
 */
#include "query-mmap.h"
#include "query-queues.h"

#include <inttypes.h>
#include <string.h>

enum { MODE_SHIFT = 32, READER = 1, WRITER = 2, MODES = 3 };

bool query_mmap_owner(const struct query *q, uint64_t addr, struct query_mmap_owner *ret)
{
	const struct lockname *n = query_lock_object(q, addr);

	if (n && n->kind == LOCKSNAP_MMAP) {
		*ret = (struct query_mmap_owner){n->pid, n->comm, n->text};
		return true;
	}
	*ret = (struct query_mmap_owner){0, "", ""};
	return n && n->kind == LOCKSNAP_SLAB && strcmp(n->text, "mm_struct") == 0;
}

/* FNV-1a: a path has the same id in every session. */
static uint64_t hash_text(const char *s)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3ull;
	return h;
}

uint64_t query_mmap_row_id(enum query_by by, const struct query_mmap_owner *o, uint64_t addr,
			   bool reader)
{
	uint64_t mode = reader ? READER : WRITER;

	if (by == BY_MMAP_MEMCG)
		return (hash_text(o->memcg) & ~(uint64_t)MODES) | mode;
	if (o->pid > 0)
		return mode << MODE_SHIFT | (uint32_t)o->pid;
	return lock_key(addr, reader ? LOCK_RWSEM_R : LOCK_RWSEM_W);
}

uint64_t query_mmap_id(const struct query *q, enum query_by by, uint32_t lock)
{
	const struct lock *l = &q->model->locks.locks[lock];
	const char *mode = locktype_mode((enum lock_type)l->type);
	struct query_mmap_owner o;

	if (!mode[0] || !l->addr || !query_mmap_owner(q, l->addr, &o))
		return 0;
	return query_mmap_row_id(by, &o, l->addr, mode[0] == 'R');
}

/* The lock whose row it is, to know what it is called. */
static const struct lockname *find(const struct query *q, enum query_by by, uint64_t id)
{
	const struct lockname_set *s = q->model->lock_names;

	for (size_t i = 0; s && i < s->n; i++) {
		const struct lockname *n = &s->names[i];
		struct query_mmap_owner o;
		if (query_mmap_owner(q, n->addr, &o) &&
		    (query_mmap_row_id(by, &o, n->addr, true) == id ||
		     query_mmap_row_id(by, &o, n->addr, false) == id))
			return n;
	}
	return NULL;
}

const char *query_mmap_title(struct query *q, enum query_by by, uint64_t id)
{
	const struct lockname *n = find(q, by, id);
	struct query_mmap_owner o;

	if (!n || !query_mmap_owner(q, n->addr, &o))
		return "mmap_lock";
	char mode = query_mmap_row_id(by, &o, n->addr, true) == id ? 'R' : 'W';
	if (by == BY_MMAP_MEMCG)
		return arena_printf(&q->arena, "mmap_lock %c of %s", mode,
				    *o.memcg ? o.memcg : "no known memcg");
	if (!o.pid)
		return arena_printf(&q->arena, "mmap_lock %c 0x%" PRIx64, mode, n->addr);
	return arena_printf(&q->arena, "mmap_lock %c %s/%" PRId32, mode, *o.comm ? o.comm : "-",
			    o.pid);
}

int query_mmap_sum(struct query *q, struct query_mmap_sum *ret)
{
	const struct locksnap *s = query_queues(q);

	*ret = (struct query_mmap_sum){.known = q->model->lock_names && q->model->lock_names->n,
				       .reason = s ? locksnap_text(s, s->head.reason) : ""};
	return 0;
}

const char *query_mmap_none(struct query *q, const struct query_mmap_sum *s)
{
	const char *text = "nobody has waited for an mmap_lock yet";

	if (!s->known && *s->reason)
		text = arena_printf(&q->arena, "which locks are mmap_locks is not known: %s",
				    s->reason);
	else if (!s->known)
		text = "no snapshot of locks says which are mmap_locks";
	return text ? text : "";
}
