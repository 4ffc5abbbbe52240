// SPDX-License-Identifier: GPL-2.0-only
/*
 * An array with an index by address. A full array is cleared: names are searched again now and
 * then, and are added again.
 */
#include "internal.h"

#include <string.h>

void locks_objects_deinit(struct locks_objects *o)
{
	map64_deinit(&o->at);
}

size_t locks_objects_ask(const struct locks_objects *o, struct raw_lock_object *ret)
{
	for (size_t i = 0; i < o->n; i++)
		ret[i] = o->known[i].of;
	return o->n;
}

static bool is_same(const struct raw_lock_file *a, const struct raw_lock_file *b)
{
	return a->ino == b->ino && a->generation == b->generation && a->dev == b->dev;
}

/* Moves the last one into its place. */
static void forget(struct locks_objects *o, size_t i)
{
	map64_del(&o->at, o->known[i].of.addr);
	o->known[i] = o->known[--o->n];
	if (i < o->n)
		/* The key exists, so no memory is needed. */
		(void)map64_put(&o->at, o->known[i].of.addr, (uint32_t)i);
}

void locks_objects_take(struct locks_objects *o, const struct raw_lock_object *read)
{
	o->n_ended = 0;
	for (size_t i = o->n; i-- > 0;) {
		if (is_same(&read[i].file, &o->known[i].named))
			continue;
		o->ended[o->n_ended++] = o->known[i].of.addr;
		forget(o, i);
	}
}

void locks_objects_add(struct locks_objects *o, const struct raw_lock_name *n)
{
	const uint32_t *at = map64_get(&o->at, n->addr);
	size_t i = at ? *at : o->n;

	if (!n->inode)
		return;
	if (i == RAW_LOCK_OBJECTS) {
		map64_clear(&o->at);
		o->n = i = 0;
	}
	if (!at && map64_put(&o->at, n->addr, (uint32_t)i) < 0)
		return;
	o->known[i] = (struct locks_object){
		.of = {.addr = n->addr, .inode = n->inode, .kind = n->kind}, .named = n->file};
	o->n += !at;
}
