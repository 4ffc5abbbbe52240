// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables of symbols that took long to read are kept in files (symcache.h). One is taken instead of
 * reading if it is of the very file that would be read: a build id alone could be given to any
 * file, and separate symbols may have been installed since. It is looked for when it is known which
 * file that is, and written when there is nothing else to do, while its names are shown already.
 *
 * Without the cache nothing is different but the time, so that it has no place is not worth a word.
 */
#include "keep.h"
#include "kontend/clock.h"
#include "kontend/mem.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Below this, reading it again is as good. */
static const uint64_t LEAST_NS = 10000000;

static bool file_of(const struct elfimg *e, struct symcache_file *ret)
{
	struct stat st;

	if (e->fd < 0 || e->mem || fstat(e->fd, &st) < 0)
		return false;
	*ret = symcache_file_of(&st);
	return true;
}

/* False: there is nothing to keep it by. */
static bool set_key(struct usersym_load *l)
{
	struct symcache_key *k = &l->image->key;

	*k = (struct symcache_key){.id_len = l->image->id_len};
	memcpy(k->id, l->image->id, l->image->id_len);
	if (l->debug.sections && !file_of(&l->debug, &k->debug))
		k->id_len = 0;
	if (!file_of(&l->main, &k->program))
		k->id_len = 0;
	return k->id_len > 0;
}

bool usersym_keep_find(struct usersyms *u, struct usersym_load *l)
{
	if (!u->config.keep || !set_key(l))
		return false;
	int r = l->image->distrusted ? -ENOENT : symcache_find(&l->image->table, &l->image->key);
	if (r == -EBADMSG)
		usersym_keep_damaged(u, l->object->path);
	return r == 0;
}

void usersym_keep_damaged(struct usersyms *u, const char *path)
{
	if (!*u->note)
		snprintf(u->note, sizeof(u->note),
			 "The symbols that were kept of %.200s are damaged: they are read again",
			 path);
}

void usersym_keep_want(const struct usersyms *u, struct usersym_load *l)
{
	uint64_t least = u->config.keep_least_ns ? u->config.keep_least_ns : LEAST_NS;

	l->image->keep =
		l->image->key.id_len && l->spent_ns >= least && l->image->answer == USERSYM_OK;
}

/* One that could not be begun, for want of a folder or of room, is not tried again. */
static bool begin_next(struct usersyms *u)
{
	uint64_t most = u->config.keep_most ? u->config.keep_most : SYMCACHE_MOST;

	for (size_t i = 0; i < u->n_images; i++) {
		struct usersym_image *x = u->images[i];
		if (!x->keep)
			continue;
		x->keep = false;
		if (symcache_write_begin(&u->keeping, &x->table, &x->key, most) == 0)
			return true;
	}
	return false;
}

bool usersym_keep_step(struct usersyms *u)
{
	if (!u->config.keep || (!u->keeping.table && !begin_next(u)))
		return false;
	int r = symcache_write_step(&u->keeping);
	if (r < 0 && !*u->note)
		snprintf(u->note, sizeof(u->note), "Symbols of programs cannot be kept: %s",
			 strerror(-r));
	/* The next one would not fare better. */
	u->config.keep = r >= 0;
	return u->config.keep;
}

enum usersym_answer usersym_keep_lost(struct usersyms *u, uint32_t object)
{
	const struct usersym_object *o = u->objects[object];

	usersym_keep_damaged(u, o->path);
	o->image->distrusted = true;
	return usersym_reload(u, object);
}

int usersyms_kept(size_t *ret_n, uint64_t *ret_size)
{
	return symcache_usage(ret_n, ret_size);
}
