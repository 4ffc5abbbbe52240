// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel code in a recording. The kernel patches its code for this machine and for the measurement,
 * so a later reader could not find out what ran. Which functions will be hot is not known when a
 * recording begins; the functions that lock and account are known, and small together.
 */
#include "kontend/textsnap.h"
#include "kontend/mem.h"
#include "kontend/pathgroup.h"

#include <errno.h>
#include <string.h>

enum { MOST_FUNCTION = 16 << 10 };

static struct textsnap_item item_at(const uint8_t *payload, size_t i)
{
	struct textsnap_item item;

	memcpy(&item, payload + sizeof(struct textsnap_head) + i * sizeof(item), sizeof(item));
	return item;
}

bool textsnap_find(const void *payload, size_t len, uint64_t addr, const uint8_t **ret,
		   size_t *ret_len)
{
	struct textsnap_head head;

	if (len < sizeof(head))
		return false;
	memcpy(&head, payload, sizeof(head));
	if (head.n > (len - sizeof(head)) / sizeof(struct textsnap_item))
		return false;
	for (size_t i = 0; i < head.n; i++) {
		struct textsnap_item item = item_at(payload, i);

		if (item.addr != addr)
			continue;
		if (!item.len || item.at > len || item.len > len - item.at)
			return false;
		*ret = (const uint8_t *)payload + item.at;
		*ret_len = item.len;
		return true;
	}
	return false;
}

static bool is_wanted(const struct sym *s, const struct sym_entry *e)
{
	return (e->type == 't' || e->type == 'T') && !e->label &&
	       pathgroup_of(sym_text(s, e)) > PATH_IDLE;
}

/* Size up to the next symbol; 0: too long, or there is none. */
static size_t size_of(const struct sym *s, size_t i)
{
	uint64_t start = s->entries[i].addr, size;

	while (i < s->n && s->entries[i].addr == start)
		i++;
	size = i < s->n ? s->entries[i].addr - start : 0;
	return size <= MOST_FUNCTION ? (size_t)size : 0;
}

struct taking {
	char *out;
	size_t room, items, at, n; /* items: start of the bytes; at: end of the last of them */
};

static void take_one(struct taking *t, struct codesource *c, uint64_t addr, size_t size)
{
	struct textsnap_item item = {.addr = addr, .at = (uint32_t)t->at};
	size_t n = 0;

	if (!size || t->at + size > t->items + TEXTSNAP_BYTES || t->n == TEXTSNAP_MOST ||
	    c->read(c->ctx, addr, t->out + t->room + t->at, size, &n) < 0 || !n)
		return;
	item.len = (uint32_t)n;
	memcpy(t->out + t->room + sizeof(struct textsnap_head) + t->n * sizeof(item), &item,
	       sizeof(item));
	t->n++;
	t->at += n;
}

int textsnap_take(const struct sym *s, struct codesource *c, size_t room, char **ret,
		  size_t *ret_len)
{
	struct textsnap_head head = {0};
	struct taking t = {.room = room};
	size_t n = 0;

	for (size_t i = 0; i < s->n && n < TEXTSNAP_MOST; i++)
		n += is_wanted(s, &s->entries[i]);
	if (!n || !c->name)
		return -ENOENT;
	t.items = t.at = sizeof(head) + n * sizeof(struct textsnap_item);
	t.out = mem_calloc(room + t.items + TEXTSNAP_BYTES, 1);
	if (!t.out)
		return -ENOMEM;
	for (size_t i = 0; i < s->n && t.n < n; i++)
		if (is_wanted(s, &s->entries[i]))
			take_one(&t, c, s->entries[i].addr, size_of(s, i));
	head.n = (uint32_t)t.n;
	memcpy(t.out + room, &head, sizeof(head));
	if (!t.n) {
		mem_free(t.out);
		return -ENOENT;
	}
	*ret = t.out;
	*ret_len = t.at;
	return 0;
}
