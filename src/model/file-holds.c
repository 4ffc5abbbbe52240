// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which process has which file locked, by tracepoints at each try, as recordings of perf have them:
 * there no wait says who has the lock. The tracepoint names the lock that is in the way by an
 * address that belongs to no task; but a recording has the tries by which processes took their
 * locks, and gave them back. Locks that are older are not known.
 *
 * The owner is an open file or, of fcntl(), a process, so a lock that a child gives back is found.
 * Entries are in sets by file, of a fixed number: where there are more, the oldest are forgotten.
 */
#include "file-holds.h"
#include "kontend/event.h"
#include "kontend/filelock.h"
#include "kontend/hash.h"
#include "kontend/mem.h"

#include <errno.h>

static struct file_hold *set_of(const struct file_holds *h, uint64_t file)
{
	return &h->v[hash_u64(file) % FILE_HOLD_SETS * FILE_HOLD_WAYS];
}

static bool overlaps(const struct file_hold *a, uint64_t start, uint64_t past)
{
	return a->start < past && start < a->past;
}

/* In a free place, or that of the oldest. */
static void put(struct file_hold *set, const struct file_hold *new)
{
	struct file_hold *to = set;

	for (int i = 1; i < FILE_HOLD_WAYS && to->owner; i++)
		if (!set[i].owner || set[i].since_ns < to->since_ns)
			to = &set[i];
	*to = *new;
}

/* Takes the bytes out of what the owner has. */
static void cut(struct file_hold *set, const struct file_hold *c)
{
	for (int i = 0; i < FILE_HOLD_WAYS; i++) {
		struct file_hold *v = &set[i], after = *v;
		if (v->owner != c->owner || v->file != c->file || !overlaps(v, c->start, c->past))
			continue;
		after.start = c->past;
		if (v->start < c->start)
			v->past = c->start;
		else
			v->owner = 0;
		if (after.start < after.past)
			put(set, &after);
	}
}

static bool has_already(const struct file_hold *set, const struct file_hold *c)
{
	for (int i = 0; i < FILE_HOLD_WAYS; i++)
		if (set[i].owner == c->owner && set[i].file == c->file &&
		    set[i].start == c->start && set[i].past == c->past && set[i].reads == c->reads)
			return true;
	return false;
}

int file_holds_take(struct file_holds *h, const struct event *ev)
{
	const struct file_hold new = {.file = ev->end.lock,
				      .owner = ev->end.owner_file,
				      .start = ev->end.start,
				      .past = ev->end.past,
				      .since_ns = ev->time,
				      .pid = ev->pid,
				      .reads = ev->end.reads};

	if (!h->v && !(h->v = mem_calloc(FILE_HOLD_SETS * FILE_HOLD_WAYS, sizeof(*h->v))))
		return -ENOMEM;
	struct file_hold *set = set_of(h, new.file);
	if (!ev->end.gives_back && has_already(set, &new))
		return 0;
	cut(set, &new);
	if (!ev->end.gives_back)
		put(set, &new);
	return 0;
}

const struct file_hold *file_holds_find(const struct file_holds *h, const struct event *ev)
{
	uint64_t file = ev->begin.file ? ev->begin.file : ev->begin.lock;
	uint64_t past = ev->begin.past ? ev->begin.past : FILELOCK_EOF;
	bool reads = ev->begin.flags & FILELOCK_READS;
	const struct file_hold *found = NULL;

	for (int i = 0; h->v && i < FILE_HOLD_WAYS; i++) {
		const struct file_hold *v = &set_of(h, file)[i];
		if (v->owner && v->owner != ev->begin.owner_file && v->file == file &&
		    overlaps(v, ev->begin.start, past) && !(reads && v->reads) &&
		    (!found || v->since_ns < found->since_ns))
			found = v;
	}
	return found;
}

int file_holds_copy(struct file_holds *dst, const struct file_holds *src)
{
	dst->v = src->v ? mem_dup(src->v, FILE_HOLD_SETS * FILE_HOLD_WAYS, sizeof(*src->v)) : NULL;
	return src->v && !dst->v ? -ENOMEM : 0;
}

size_t file_holds_bytes(const struct file_holds *h)
{
	return h->v ? FILE_HOLD_SETS * FILE_HOLD_WAYS * sizeof(*h->v) : 0;
}

void file_holds_deinit(struct file_holds *h)
{
	mem_free(h->v);
	*h = (struct file_holds){0};
}
