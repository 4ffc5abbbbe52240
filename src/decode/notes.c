// SPDX-License-Identifier: GPL-2.0-only
/*
 * Notes about a recording. A hostile file may have millions of them, so equal ones are counted, and
 * of different ones a bounded number is kept. Damage pushes out notes of other kinds, as it matters
 * more: the sum of bad records covers all of it in any case.
 */
#include "kontend/notes.h"
#include "kontend/mem.h"
#include "kontend/record.h"

#include <errno.h>
#include <string.h>

const char *notes_kind(enum note_kind k)
{
	static const char *const names[NOTE_KINDS] = {
		[NOTE_OTHER] = "other",
		[NOTE_DAMAGE] = "damage",
		[NOTE_UNKNOWN] = "unknown",
		[NOTE_NAMES] = "names",
	};

	return names[k < NOTE_KINDS ? k : NOTE_OTHER];
}

/* Returns the bad records of that note. */
static uint64_t parse(const struct record *r, struct note *ret)
{
	const char *text = r->data, *end = r->len ? memchr(text, 0, r->len) : NULL;
	size_t len = end ? (size_t)(end - text) : r->len;
	size_t n = len < sizeof(ret->text) ? len : sizeof(ret->text) - 1;
	struct record_note tail = {.offset = NOTE_NOWHERE};

	if (end && r->len - len - 1 == sizeof(tail))
		memcpy(&tail, end + 1, sizeof(tail));
	*ret = (struct note){.offset = tail.offset,
			     .count = 1,
			     .kind = tail.kind < NOTE_KINDS ? (enum note_kind)tail.kind
							    : NOTE_OTHER};
	if (n)
		memcpy(ret->text, text, n);
	return tail.bad;
}

static struct note *find(const struct notes *n, const struct note *is)
{
	for (size_t i = 0; i < n->n; i++)
		if (n->items[i].kind == is->kind && !strcmp(n->items[i].text, is->text))
			return &n->items[i];
	return NULL;
}

/* False: there is no room for it. */
static bool make_room(struct notes *n, const struct note *is)
{
	if (n->n < NOTES_MOST)
		return true;
	if (is->kind != NOTE_DAMAGE || n->n_damage == n->n) {
		n->left_out++;
		return false;
	}
	n->left_out += n->items[--n->n].count;
	return true;
}

int notes_take(struct notes *n, const struct record *r)
{
	struct note is;
	uint64_t bad = parse(r, &is);
	struct note *known = find(n, &is);

	n->bad = n->bad < UINT64_MAX - bad ? n->bad + bad : UINT64_MAX;
	if (known)
		known->count++;
	if (known || !make_room(n, &is))
		return 0;
	if (mem_grow(&n->items, &n->cap, n->n, sizeof(*n->items)))
		return -ENOMEM;
	size_t at = is.kind == NOTE_DAMAGE ? n->n_damage++ : n->n;
	memmove(&n->items[at + 1], &n->items[at], (n->n - at) * sizeof(*n->items));
	n->items[at] = is;
	n->n++;
	return 0;
}

void notes_deinit(struct notes *n)
{
	mem_free(n->items);
	*n = (struct notes){0};
}
