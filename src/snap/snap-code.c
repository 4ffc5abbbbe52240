// SPDX-License-Identifier: GPL-2.0-only
/*
 * A snapshot as bytes: a magic number, then sections, each with the number and the size of its
 * items in front, 8-byte aligned. A reader takes of each item what it knows: the front of a longer
 * one, zeros behind a shorter one. Unknown sections are passed over. So fields and sections can be
 * added without a new version; a change of meaning needs a new one.
 */
#include "kontend/cursor.h"
#include "kontend/mem.h"
#include "kontend/snap.h"

#include <errno.h>
#include <string.h>

static const uint64_t MAGIC = 0x31504e5346524550ull; /* "PERFSNP1" */

/* Of one array. Small items that claim to be many must not become much memory. */
enum { ITEMS_MAX = 1 << 17 };

/* Sections by their number in the bytes. */
enum { S_HEAD = 1, S_SLOTS, S_REGISTERS, S_EVENTS, S_HOLDERS, S_CONTEXTS, S_STRINGS, S_END };

struct section {
	uint32_t number, item_size;
	uint64_t count;
};

/* A section's array in a snap, to write from. */
struct view {
	const void *items;
	size_t size, n;
};

static struct view view_of(const struct snap *s, int number)
{
	switch (number) {
	case S_HEAD:
		return (struct view){&s->head, sizeof(s->head), 1};
	case S_SLOTS:
		return (struct view){s->slots, sizeof(*s->slots), s->n_slots};
	case S_REGISTERS:
		return (struct view){s->registers, sizeof(*s->registers), s->n_registers};
	case S_EVENTS:
		return (struct view){s->events, sizeof(*s->events), s->n_events};
	case S_HOLDERS:
		return (struct view){s->holders, sizeof(*s->holders), s->n_holders};
	case S_CONTEXTS:
		return (struct view){s->contexts, sizeof(*s->contexts), s->n_contexts};
	default:
		return (struct view){s->strings, 1, s->n_strings};
	}
}

static size_t aligned(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

size_t snap_size(const struct snap *s)
{
	size_t size = sizeof(MAGIC);

	for (int i = S_HEAD; i < S_END; i++) {
		struct view v = view_of(s, i);
		size += sizeof(struct section) + aligned(v.n * v.size);
	}
	return size;
}

void snap_encode(const struct snap *s, void *ret)
{
	char *p = ret;

	memcpy(p, &MAGIC, sizeof(MAGIC));
	p += sizeof(MAGIC);
	for (int i = S_HEAD; i < S_END; i++) {
		struct view v = view_of(s, i);
		struct section head = {(uint32_t)i, (uint32_t)v.size, v.n};
		size_t len = v.n * v.size;
		memcpy(p, &head, sizeof(head));
		p += sizeof(head);
		if (len)
			memcpy(p, v.items, len);
		memset(p + len, 0, aligned(len) - len);
		p += aligned(len);
	}
}

/* @n items of @have bytes at @from into an array of items of @want bytes. */
static int take(void *items, size_t *n, size_t *cap, size_t want, const struct section *h,
		const char *from)
{
	char *to;

	memcpy(&to, items, sizeof(to));
	if (*cap < h->count) {
		to = mem_resize(to, h->count, want);
		if (!to)
			return -ENOMEM;
		memcpy(items, &to, sizeof(to));
		*cap = h->count;
	}
	size_t both = h->item_size < want ? h->item_size : want;
	for (size_t i = 0; i < h->count; i++) {
		memcpy(to + i * want, from + i * h->item_size, both);
		memset(to + i * want + both, 0, want - both);
	}
	*n = h->count;
	return 0;
}

static int take_section(struct snap *s, const struct section *h, const char *from)
{
	struct snap_head *head = &s->head;
	size_t one = 0, cap_head = 1;

	switch (h->number) {
	case S_HEAD:
		return h->count == 1 ? take(&head, &one, &cap_head, sizeof(*head), h, from)
				     : -EBADMSG;
	case S_SLOTS:
		return take(&s->slots, &s->n_slots, &s->cap_slots, sizeof(*s->slots), h, from);
	case S_REGISTERS:
		return take(&s->registers, &s->n_registers, &s->cap_registers,
			    sizeof(*s->registers), h, from);
	case S_EVENTS:
		return take(&s->events, &s->n_events, &s->cap_events, sizeof(*s->events), h, from);
	case S_HOLDERS:
		return take(&s->holders, &s->n_holders, &s->cap_holders, sizeof(*s->holders), h,
			    from);
	case S_CONTEXTS:
		return take(&s->contexts, &s->n_contexts, &s->cap_contexts, sizeof(*s->contexts), h,
			    from);
	case S_STRINGS:
		return h->item_size == 1
			       ? take(&s->strings, &s->n_strings, &s->cap_strings, 1, h, from)
			       : -EBADMSG;
	default:
		return 0;
	}
}

static int next_section(struct snap *s, struct cursor *c)
{
	struct section h;
	const void *p = cursor_bytes(c, sizeof(h));

	if (!p)
		return -EBADMSG;
	memcpy(&h, p, sizeof(h));
	if (!h.item_size || h.count > cursor_left(c) / h.item_size)
		return -EBADMSG;
	if (h.number != S_STRINGS && h.count > ITEMS_MAX)
		return -EBADMSG;
	const char *items = cursor_bytes(c, aligned((size_t)h.count * h.item_size));
	return items ? take_section(s, &h, items) : -EBADMSG;
}

/* Are the @n texts at @offsets inside of the block? */
static bool texts_fit(const struct snap *s, const uint32_t *offsets, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (offsets[i] && offsets[i] >= s->n_strings)
			return false;
	return true;
}

static bool event_fits(const struct snap *s, const struct snap_event *e)
{
	const uint32_t texts[] = {e->owner_comm, e->target_comm, e->tracer_comm,
				  e->pmu,	 e->name,	 e->where};

	return e->context <= s->n_contexts && texts_fit(s, texts, 6);
}

/* Whatever is referred to is there. */
static bool fits(const struct snap *s)
{
	bool ok = !s->n_strings || (!s->strings[0] && !s->strings[s->n_strings - 1]);

	ok = ok && texts_fit(s, &s->head.reason, 1);
	for (size_t i = 0; ok && i < s->n_events; i++)
		ok = event_fits(s, &s->events[i]);
	for (size_t i = 0; ok && i < s->n_registers; i++)
		ok = s->registers[i].event <= s->n_events;
	for (size_t i = 0; ok && i < s->n_holders; i++)
		ok = s->holders[i].event <= s->n_events && texts_fit(s, &s->holders[i].comm, 1);
	for (size_t i = 0; ok && i < s->n_contexts; i++)
		ok = texts_fit(s, &s->contexts[i].comm, 1);
	return ok;
}

int snap_decode(struct snap *s, const void *data, size_t len)
{
	struct cursor c = cursor_make(data, len);
	int code = 0;

	snap_clear(s);
	if (cursor_u64(&c) != MAGIC)
		return -EPROTO;
	while (!code && cursor_left(&c))
		code = next_section(s, &c);
	if (!code && !fits(s))
		code = -EBADMSG;
	if (code)
		snap_clear(s);
	return code;
}
