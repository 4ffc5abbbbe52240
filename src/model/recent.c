// SPDX-License-Identifier: GPL-2.0-only
/*
 * The log of what came lately. It grows by appending; what is too old, or has no room, leaves at
 * the front a quarter of the room at a time, so that moving the rest costs each entry a constant.
 */
#include "kontend/recent.h"
#include "kontend/mem.h"
#include <errno.h>
#include <string.h>

/* The longest window, and a tick that may be as long again. */
static const uint64_t MOST_NS = 60000000000ull;

enum { FIRST_WORDS = 1024, FEW_TICKS = 16 };

void recent_deinit(struct recent *r)
{
	mem_free(r->words);
	mem_free(r->ticks);
	*r = (struct recent){0};
}

int recent_copy(struct recent *dst, const struct recent *src)
{
	*dst = *src;
	dst->cap = src->n;
	dst->cap_ticks = src->n_ticks;
	dst->words = src->n ? mem_dup(src->words, src->n, sizeof(*src->words)) : NULL;
	dst->ticks = src->n_ticks ? mem_dup(src->ticks, src->n_ticks, sizeof(*src->ticks)) : NULL;
	if ((!src->n || dst->words) && (!src->n_ticks || dst->ticks))
		return 0;
	recent_deinit(dst);
	return -ENOMEM;
}

void recent_clear(struct recent *r)
{
	r->n = r->open = r->n_ticks = 0;
	r->spilt = false;
	r->dropped_ns = 0;
}

size_t recent_bytes(const struct recent *r)
{
	return r->cap * sizeof(*r->words) + r->cap_ticks * sizeof(*r->ticks);
}

static size_t end_of(const struct recent *r, size_t tick)
{
	return tick + 1 < r->n_ticks ? r->ticks[tick + 1].first : r->open;
}

/* The @n oldest ticks go. */
static void drop(struct recent *r, size_t n)
{
	if (!n)
		return;
	size_t first = end_of(r, n - 1);
	if (r->n > first) /* ticks without any word have no memory for words */
		memmove(r->words, r->words + first, (r->n - first) * sizeof(*r->words));
	memmove(r->ticks, r->ticks + n, (r->n_ticks - n) * sizeof(*r->ticks));
	r->n -= first;
	r->open -= first;
	r->n_ticks -= n;
	for (size_t i = 0; i < r->n_ticks; i++)
		r->ticks[i].first -= first;
}

/* The number of ticks that no window needs any more. */
static size_t count_old(const struct recent *r)
{
	uint64_t now = r->n_ticks ? r->ticks[r->n_ticks - 1].end_ns : 0;
	size_t n = 0;

	while (n < r->n_ticks && now - r->ticks[n].end_ns > MOST_NS)
		n++;
	return n;
}

static bool grow(struct recent *r)
{
	size_t cap = r->cap ? r->cap * 2 : FIRST_WORDS;

	if (r->cap >= r->max)
		return false;
	cap = cap < r->max ? cap : r->max;
	uint64_t *words = mem_resize(r->words, cap, sizeof(*words));
	if (!words)
		return false;
	r->words = words;
	r->cap = cap;
	return true;
}

/* Gives up ticks that a window may ask for, until a quarter of the room is free. */
static void give_up(struct recent *r)
{
	size_t n = 0;

	while (n < r->n_ticks && r->n - (n ? end_of(r, n - 1) : 0) > r->cap / 4 * 3)
		n++;
	if (!n)
		return;
	r->dropped_ns = r->ticks[n - 1].end_ns;
	drop(r, n);
}

static bool make_room(struct recent *r, size_t n)
{
	size_t old = count_old(r);

	if (old && end_of(r, old - 1) >= r->cap / 4)
		drop(r, old);
	if (r->n + n > r->cap && !grow(r))
		give_up(r);
	return r->n + n <= r->cap;
}

void recent_add_slowly(struct recent *r, enum recent_kind kind, size_t index, uint64_t value)
{
	uint64_t high = value >> RECENT_VALUE_BITS;

	if (!r->spilt && !make_room(r, 2)) {
		recent_pack(r);
		/* Else it would be packed again in a moment. */
		r->spilt = !make_room(r, r->max / 8);
	}
	if (r->spilt)
		return;
	if (high)
		r->words[r->n++] = recent_word(RECENT_HIGH, index, high);
	r->words[r->n++] = recent_word(kind, index, recent_value(value));
}

enum { PAIR_MOST = (1 << 24) - 1, MANY_PAIRS = 64 };

void recent_add_many(struct recent *r, size_t index, const struct recent_block *b, unsigned bucket)
{
	const size_t head = sizeof(*b) / sizeof(*r->words);
	uint64_t left = b->n;

	if (!r->max || r->spilt)
		return;
	if (!make_room(r, 1 + head + MANY_PAIRS / 2)) {
		recent_pack(r);
		r->spilt = !make_room(r, r->max / 8) || r->max / 8 < 1 + head + MANY_PAIRS / 2;
	}
	if (r->spilt)
		return;
	size_t first = r->n++;
	memcpy(r->words + r->n, b, sizeof(*b));
	r->n += head;
	for (unsigned i = 0; left && i < MANY_PAIRS; i++) {
		uint64_t n = left < PAIR_MOST ? left : PAIR_MOST;
		uint64_t pair = (uint64_t)bucket << 24 | n;
		if (i % 2)
			r->words[r->n - 1] |= pair << 32;
		else
			r->words[r->n++] = pair;
		left -= n;
	}
	r->words[first] = recent_word(RECENT_BLOCK, index, r->n - first - 1);
}

/* The tick has a hole: no window reaches over it. */
static void forget(struct recent *r, uint64_t end_ns)
{
	recent_clear(r);
	r->dropped_ns = end_ns;
}

void recent_tick(struct recent *r, uint64_t begin_ns, uint64_t end_ns)
{
	if (!r->max)
		return;
	recent_pack(r);
	if (r->n_ticks == r->cap_ticks && r->n_ticks >= FEW_TICKS)
		drop(r, count_old(r));
	if (r->spilt || mem_grow(&r->ticks, &r->cap_ticks, r->n_ticks, sizeof(*r->ticks))) {
		forget(r, end_ns);
		return;
	}
	r->ticks[r->n_ticks++] = (struct recent_tick){begin_ns, end_ns, r->open};
	r->open = r->n;
}

void recent_remap(struct recent *r, const uint32_t *map)
{
	if (!map) {
		forget(r, r->n_ticks ? r->ticks[r->n_ticks - 1].end_ns : 1);
		r->spilt = true;
		return;
	}
	for (size_t i = 0; i < r->n; i++) {
		uint64_t w = r->words[i];

		r->words[i] = recent_word(recent_kind(w), map[recent_index(w)], recent_value(w));
		if (recent_kind(w) == RECENT_BLOCK)
			i += recent_value(w);
	}
}

struct recent_window recent_find(const struct recent *r, uint64_t window_ns)
{
	struct recent_window w = {.first = r->open};
	size_t i = r->n_ticks;

	if (!i) {
		w.is_short = r->dropped_ns != 0;
		return w;
	}
	w.begin_ns = w.end_ns = r->ticks[i - 1].end_ns;
	/* Ticks are about as long as they should be: half of one more or less is the same. */
	while (i > 0) {
		const struct recent_tick *t = &r->ticks[i - 1];
		uint64_t half = (t->end_ns - t->begin_ns) / 2;

		if (i < r->n_ticks && w.end_ns - t->begin_ns > window_ns + half)
			break;
		w.begin_ns = t->begin_ns;
		w.first = t->first;
		i--;
	}
	const uint64_t half = (r->ticks[i].end_ns - r->ticks[i].begin_ns) / 2;
	w.is_short = !i && r->dropped_ns && w.end_ns - w.begin_ns + half < window_ns;
	return w;
}
