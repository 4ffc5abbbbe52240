// SPDX-License-Identifier: GPL-2.0-only
/*
 * Code that the kernel makes while it runs. Ranges are sorted by where they begin, and one ends
 * where the next begins: perf reports the trampolines that there are at its start as whole pages,
 * in which other code follows. A name and its place get their number once, also if they come again,
 * as when a recording is replayed from an earlier moment.
 */
#include "kontend/ksyms.h"
#include "kontend/bisect.h"
#include "kontend/hash.h"
#include "kontend/mem.h"
#include <errno.h>
#include <string.h>

struct ksym_set {
	struct strpool names;
	struct ksym *items; /* the first stands for none */
	size_t n, cap;
	struct map64 index;   /* hash of what it is -> number */
	struct map64 by_name; /* of the name and kind alone -> the first one */
	unsigned refs;
};

int ksyms_init(struct ksyms *k)
{
	*k = (struct ksyms){.set = mem_calloc(1, sizeof(*k->set))};
	if (!k->set)
		return -ENOMEM;
	k->set->refs = 1;
	if (mem_grow(&k->set->items, &k->set->cap, 0, sizeof(*k->set->items))) {
		ksyms_deinit(k);
		return -ENOMEM;
	}
	k->set->items[k->set->n++] = (struct ksym){0};
	return 0;
}

int ksyms_copy(struct ksyms *dst, const struct ksyms *src)
{
	*dst = *src;
	dst->ranges = mem_dup(src->ranges, src->n, sizeof(*src->ranges));
	dst->cap = src->n;
	src->set->refs++;
	if (!src->n || dst->ranges)
		return 0;
	ksyms_deinit(dst);
	return -ENOMEM;
}

void ksyms_deinit(struct ksyms *k)
{
	struct ksym_set *s = k->set;

	if (s && !--s->refs) {
		strpool_deinit(&s->names);
		map64_deinit(&s->index);
		map64_deinit(&s->by_name);
		mem_free(s->items);
		mem_free(s);
	}
	mem_free(k->ranges);
	*k = (struct ksyms){0};
}

static bool is_same(const struct ksym *a, const struct ksym *b)
{
	return a->start == b->start && a->len == b->len && a->name == b->name &&
	       a->is_bpf == b->is_bpf;
}

/* The first one with the same name, or @number. 0: no memory. */
static uint32_t first_of(struct ksym_set *s, const struct ksym *of, uint32_t number)
{
	uint64_t key = hash_add(hash_u64((uintptr_t)of->name), of->is_bpf);
	const uint32_t *known;

	for (; (known = map64_get(&s->by_name, key)); key++)
		if (s->items[*known].name == of->name && s->items[*known].is_bpf == of->is_bpf)
			return *known;
	return map64_put(&s->by_name, key, number) ? 0 : number;
}

/* The number of @what, made if new; 0: there is no room, or -ENOMEM. */
static int number_of(struct ksym_set *s, struct ksym *what, const char *name)
{
	const uint32_t *known;
	uint64_t key;

	what->name = strpool_find(&s->names, name, strlen(name));
	if (!what->name && s->n > KSYMS_MOST)
		return 0;
	if (!what->name)
		what->name = strpool_intern(&s->names, name);
	if (!what->name)
		return -ENOMEM;
	key = hash_add(hash_u64(what->start), (uint64_t)what->len << 1 | what->is_bpf);
	for (key = hash_add(key, (uintptr_t)what->name); (known = map64_get(&s->index, key)); key++)
		if (is_same(&s->items[*known], what))
			return (int)*known;
	if (s->n > KSYMS_MOST)
		return 0;
	if (mem_grow(&s->items, &s->cap, s->n, sizeof(*s->items)))
		return -ENOMEM;
	uint32_t number = (uint32_t)s->n;
	what->first = first_of(s, what, number);
	if (!what->first || map64_put(&s->index, key, number))
		return -ENOMEM;
	s->items[s->n++] = *what;
	return (int)number;
}

static void take_out(struct ksyms *k, size_t from, size_t to)
{
	if (from == to)
		return;
	memmove(k->ranges + from, k->ranges + to, (k->n - to) * sizeof(*k->ranges));
	k->n -= to - from;
	if (!k->n)
		k->low = k->high = 0;
}

static void end_covered(struct ksyms *k, uint64_t start, uint64_t end)
{
	size_t from = BISECT(k->ranges, k->n, start, start - 1);

	if (from && k->ranges[from - 1].end > start)
		k->ranges[from - 1].end = start;
	take_out(k, from, BISECT(k->ranges, k->n, start, end - 1));
}

static void end_at(struct ksyms *k, uint64_t start)
{
	size_t after = BISECT(k->ranges, k->n, start, start);

	if (after && k->ranges[after - 1].start == start)
		take_out(k, after - 1, after);
}

static int put(struct ksyms *k, const struct ksym_range *r)
{
	if (mem_grow(&k->ranges, &k->cap, k->n, sizeof(*k->ranges)))
		return -ENOMEM;
	size_t at = BISECT(k->ranges, k->n, start, r->start);
	memmove(k->ranges + at + 1, k->ranges + at, (k->n - at) * sizeof(*k->ranges));
	k->ranges[at] = *r;
	k->low = !k->n++ || r->start < k->low ? r->start : k->low;
	k->high = r->end > k->high ? r->end : k->high;
	return 0;
}

int ksyms_event(struct ksyms *k, const struct event *ev)
{
	struct ksym what = {.start = map_kernel_frame(ev->ksym.start),
			    .len = ev->ksym.len,
			    .is_bpf = ev->ksym.is_bpf};
	struct ksym_range r = {.start = what.start, .end = what.start + what.len};

	if (ev->ksym.is_gone) {
		end_at(k, what.start);
		return 0;
	}
	if (what.len > KSYMS_LONGEST || r.end <= r.start) {
		k->dropped++;
		return 0;
	}
	if (ev->time)
		end_covered(k, r.start, r.end);
	else
		end_at(k, r.start);
	int number = number_of(k->set, &what, ev->ksym.name);
	if (number <= 0) {
		k->dropped += !number;
		return number;
	}
	r.number = (uint32_t)number;
	return put(k, &r);
}

uint64_t ksyms_find(const struct ksyms *k, uint64_t frame)
{
	size_t after = BISECT(k->ranges, k->n, start, frame);
	const struct ksym_range *r = after ? &k->ranges[after - 1] : NULL;

	if (!r || frame >= r->end)
		return frame;
	return map_ksym_frame(r->number, (uint32_t)(frame - k->set->items[r->number].start));
}

const uint64_t *ksyms_chain(const struct ksyms *k, const uint64_t *frames, uint32_t n,
			    uint64_t *buf)
{
	uint32_t i = 0;

	if (!k->n)
		return frames;
	while (i < n && map_kernel_frame(frames[i]) - k->low >= k->high - k->low)
		i++;
	if (i == n)
		return frames;
	memcpy(buf, frames, n * sizeof(*buf));
	for (; i < n; i++) {
		uint64_t at = map_kernel_frame(frames[i]), found = ksyms_frame(k, at);
		buf[i] = found == at ? frames[i] : found;
	}
	return buf;
}

const struct ksym *ksyms_get(const struct ksyms *k, uint64_t frame)
{
	uint32_t number = map_ksym_number(frame);

	return map_frame_is_ksym(frame) && number && number < k->set->n ? &k->set->items[number]
									: NULL;
}

uint64_t ksyms_address(const struct ksyms *k, uint64_t frame)
{
	const struct ksym *s = ksyms_get(k, frame);

	return map_kernel_address(s ? s->start + map_ksym_offset(frame) : frame);
}

const uint64_t *ksyms_addresses(const struct ksyms *k, const uint64_t *frames, uint32_t n,
				uint64_t *buf)
{
	uint32_t i = 0;

	while (i < n && !map_frame_is_ksym(frames[i]))
		i++;
	if (i == n)
		return frames;
	for (i = 0; i < n; i++)
		buf[i] = map_frame_is_ksym(frames[i]) ? ksyms_address(k, frames[i]) : frames[i];
	return buf;
}

size_t ksyms_bytes(const struct ksyms *k)
{
	const struct ksym_set *s = k->set;

	return k->cap * sizeof(*k->ranges) + s->cap * sizeof(*s->items) + s->names.arena.used_bytes;
}
