// SPDX-License-Identifier: GPL-2.0-only
/*
 * Address spaces. Ranges of one are kept sorted and never overlap: a new mapping cuts what it
 * covers, as mmap(2) with MAP_FIXED does, so that finding one is a bisection. A child starts with
 * its parent's, by reference; a process that changes a shared one gets a copy first, and so do
 * copies of the whole model. perf does not report unmapping: an unmapped range stays until it is
 * mapped over or the process executes another program, which can name a stale frame, never a living
 * one wrongly.
 */
#include "kontend/maps.h"
#include "kontend/bisect.h"
#include "kontend/hash.h"
#include "kontend/mem.h"
#include "kontend/oldest.h"
#include <errno.h>
#include <string.h>

enum { MOST_RANGES = 1 << 16, MOST_SPACES = 1 << 16, FORGET_AT = 4096, KEEP_LATEST = 2048 };

int map_spaces_init(struct map_spaces *s)
{
	*s = (struct map_spaces){0};
	s->objects = map_objects_new();
	return s->objects ? 0 : -ENOMEM;
}

static void unref(struct map_space *space)
{
	if (!space || --space->refs)
		return;
	mem_free(space->ranges);
	mem_free(space);
}

void map_spaces_deinit(struct map_spaces *s)
{
	for (size_t i = 0; i < s->n; i++)
		unref(s->spaces[i]);
	mem_free(s->spaces);
	map64_deinit(&s->by_pid);
	map_objects_unref(s->objects);
	*s = (struct map_spaces){0};
}

int map_spaces_copy(struct map_spaces *dst, const struct map_spaces *src)
{
	*dst = (struct map_spaces){.objects = map_objects_some(src->objects, NULL),
				   .dropped = src->dropped};
	if (!dst->objects)
		return -ENOMEM;
	dst->spaces = mem_dup(src->spaces, src->n, sizeof(struct map_space *));
	if ((src->n && !dst->spaces) || map64_copy(&dst->by_pid, &src->by_pid)) {
		map_spaces_deinit(dst);
		return -ENOMEM;
	}
	dst->n = dst->cap = src->n;
	dst->free_from = src->free_from;
	dst->forget_at = src->forget_at;
	for (size_t i = 0; i < dst->n; i++)
		if (dst->spaces[i])
			dst->spaces[i]->refs++;
	return 0;
}

/* A place for the space of @pid, which has none yet. */
static struct map_space **place_of(struct map_spaces *s, int32_t pid)
{
	size_t i = s->free_from;

	while (i < s->n && s->spaces[i])
		i++;
	s->free_from = i;
	if (i >= MOST_SPACES)
		return NULL;
	if (i == s->n) {
		if (mem_grow(&s->spaces, &s->cap, s->n, sizeof(struct map_space *)))
			return NULL;
		s->spaces[s->n++] = NULL;
	}
	return map64_put(&s->by_pid, (uint32_t)pid, (uint32_t)i) ? NULL : &s->spaces[i];
}

static struct map_space *space_dup(const struct map_space *from)
{
	struct map_space *copy = mem_calloc(1, sizeof(*copy));

	if (!copy)
		return NULL;
	copy->refs = 1;
	copy->version = from ? from->version : 0;
	if (from && from->n) {
		copy->ranges = mem_dup(from->ranges, from->n, sizeof(*from->ranges));
		if (!copy->ranges) {
			mem_free(copy);
			return NULL;
		}
		copy->n = copy->cap = from->n;
	}
	return copy;
}

/* The space of @pid, made if absent, for it alone. */
static struct map_space *own_space(struct map_spaces *s, int32_t pid)
{
	const uint32_t *known = map64_get(&s->by_pid, (uint32_t)pid);
	struct map_space **at = known ? &s->spaces[*known] : NULL, *copy;

	if (at && (*at)->refs == 1)
		return *at;
	copy = space_dup(at ? *at : NULL);
	if (!copy)
		return NULL;
	if (!at)
		at = place_of(s, pid);
	if (!at) {
		unref(copy);
		return NULL;
	}
	unref(*at);
	*at = copy;
	return copy;
}

/* Index of the first range that ends after @addr. */
static size_t first_behind(const struct map_space *space, uint64_t addr)
{
	return BISECT(space->ranges, space->n, end, addr);
}

static int make_room(struct map_space *space, size_t more)
{
	while (space->cap < space->n + more) {
		size_t used = space->cap;
		if (mem_grow(&space->ranges, &space->cap, used, sizeof(*space->ranges)))
			return -ENOMEM;
	}
	return 0;
}

/* Puts @r in, and cuts or takes out those that it covers: at most two pieces stay of them. */
static int insert(struct map_space *space, const struct map_range *r)
{
	size_t from = first_behind(space, r->start), to = from, k = 0;
	struct map_range left, right, put[3];

	if (make_room(space, 2))
		return -ENOMEM;
	while (to < space->n && space->ranges[to].start < r->end)
		to++;
	if (to > from) {
		left = space->ranges[from];
		right = space->ranges[to - 1];
		if (left.start < r->start) {
			left.end = r->start;
			put[k++] = left;
		}
	}
	put[k++] = *r;
	if (to > from && right.end > r->end) {
		right.pgoff += r->end - right.start;
		right.start = r->end;
		put[k++] = right;
	}
	memmove(space->ranges + from + k, space->ranges + to,
		(space->n - to) * sizeof(*space->ranges));
	memcpy(space->ranges + from, put, k * sizeof(*put));
	space->n = space->n + k - (to - from);
	return 0;
}

int map_spaces_add(struct map_spaces *s, const struct event *ev)
{
	uint64_t end = ev->mmap.start + ev->mmap.len;
	struct map_range r = {.start = ev->mmap.start, .end = end, .pgoff = ev->mmap.pgoff};
	struct map_space *space;
	bool memory;

	if (end <= ev->mmap.start || ev->pid < 0)
		return 0;
	space = own_space(s, ev->pid);
	if (!space)
		return -ENOMEM;
	memory = map_is_memory(ev->mmap.path);
	r.object = map_objects_find(s->objects, ev, memory);
	if (!r.object || space->n >= MOST_RANGES) {
		s->dropped++;
		return 0;
	}
	space->version = ++s->objects->version;
	/* Memory that is no file has only addresses. */
	if (memory)
		r.pgoff = r.start;
	return insert(space, &r);
}

int map_spaces_fork(struct map_spaces *s, int32_t pid, int32_t parent)
{
	const uint32_t *known = map64_get(&s->by_pid, (uint32_t)parent);
	struct map_space *from = known ? s->spaces[*known] : NULL, **at;

	map_spaces_clear(s, pid);
	if (!from)
		return 0;
	at = place_of(s, pid);
	if (!at)
		return -ENOMEM;
	from->refs++;
	*at = from;
	return 0;
}

void map_spaces_clear(struct map_spaces *s, int32_t pid)
{
	const uint32_t *known = map64_get(&s->by_pid, (uint32_t)pid);

	if (!known)
		return;
	unref(s->spaces[*known]);
	s->spaces[*known] = NULL;
	if (*known < s->free_from)
		s->free_from = *known;
	map64_del(&s->by_pid, (uint32_t)pid);
}

const struct map_space *map_spaces_of(const struct map_spaces *s, int32_t pid)
{
	const uint32_t *known = map64_get(&s->by_pid, (uint32_t)pid);

	return known ? s->spaces[*known] : NULL;
}

uint64_t map_space_frame(const struct map_space *space, uint64_t addr)
{
	const uint64_t mask = (1ull << MAP_OFFSET_BITS) - 1;
	size_t i = space ? first_behind(space, addr) : 0;

	if (!space || i >= space->n || space->ranges[i].start > addr)
		return addr & mask;
	const struct map_range *r = &space->ranges[i];
	return (uint64_t)r->object << MAP_OFFSET_BITS | ((addr - r->start + r->pgoff) & mask);
}

uint64_t map_spaces_frame(struct map_spaces *s, const struct map_space *space, uint64_t addr)
{
	if (!space)
		return map_space_frame(space, addr);
	struct map_place *p = &s->places[hash_u64(addr ^ space->version << 40) % MAP_PLACES];
	if (p->version != space->version || p->addr != addr)
		*p = (struct map_place){space->version, addr, map_space_frame(space, addr)};
	return p->frame;
}

bool map_spaces_crowded(const struct map_spaces *s)
{
	return s->objects->in_use >= (s->forget_at ? s->forget_at : FORGET_AT);
}

static void keep_mapped(const struct map_spaces *s, uint8_t *keep)
{
	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; s->spaces[i] && k < s->spaces[i]->n; k++)
			keep[s->spaces[i]->ranges[k].object] = 1;
}

/* Objects that no process maps any more. */
struct unmapped {
	const struct map_objects *objects;
	const uint8_t *keep;
};

static uint64_t reported_of(const void *ctx, const void *item)
{
	const struct unmapped *u = ctx;
	const struct map_object *o = item;

	return o->path && !u->keep[o - u->objects->items] ? o->reported : 0;
}

/* Marks the latest objects in @keep; returns their number. */
static size_t keep_latest(const struct map_objects *o, uint8_t *keep)
{
	const struct unmapped u = {o, keep};
	size_t mapped = 0;

	for (size_t i = 1; i < o->n; i++)
		mapped += keep[i] != 0;
	size_t others = o->in_use - 1 - mapped;
	if (others <= KEEP_LATEST) {
		memset(keep, 1, o->n);
		return o->in_use;
	}
	uint64_t until = oldest_until(o->items, o->n, sizeof(*o->items), reported_of, &u,
				      others - KEEP_LATEST);
	for (size_t i = 1; i < o->n; i++)
		keep[i] |= o->items[i].reported > until;
	return mapped + KEEP_LATEST;
}

int map_spaces_forget(struct map_spaces *s, uint8_t **ret_keep)
{
	struct map_objects *old = s->objects, *some;
	uint8_t *keep = mem_calloc(old->n, 1);

	if (!keep)
		return -ENOMEM;
	keep_mapped(s, keep);
	size_t kept = keep_latest(old, keep);
	some = map_objects_some(old, keep);
	if (!some) {
		mem_free(keep);
		return -ENOMEM;
	}
	s->objects = some;
	/* When most are in use it is not done for each that comes. */
	s->forget_at = kept * 2 < FORGET_AT ? 0 : kept * 2;
	map_objects_unref(old);
	*ret_keep = keep;
	return 0;
}

size_t map_spaces_bytes(const struct map_spaces *s)
{
	const struct map_objects *o = s->objects;
	size_t n = s->cap * sizeof(struct map_space *) + o->cap * sizeof(*o->items) +
		   o->names.arena.used_bytes +
		   (o->index.slots ? (o->index.mask + 1) * sizeof(*o->index.slots) : 0);

	for (size_t i = 0; i < s->n; i++)
		if (s->spaces[i])
			n += s->spaces[i]->cap * sizeof(struct map_range) / s->spaces[i]->refs;
	return n + (s->by_pid.slots ? (s->by_pid.mask + 1) * sizeof(*s->by_pid.slots) : 0);
}

void map_frames_forget(uint64_t *frames, size_t n, const uint8_t *keep, size_t n_keep)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t object = map_frame_object(frames[i]);

		if (map_frame_is_user(frames[i]) && object < MAP_OBJECTS &&
		    (object >= n_keep || !keep[object]))
			frames[i] = map_frame_mark(MAP_MARK_ENDED);
	}
}
