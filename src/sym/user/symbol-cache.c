// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables of symbols on disk and in memory.
 *
 * Those that took long to read are kept in files (cachefile.h). One is taken instead of reading if
 * it is of the very file that would be read: a build id alone could be given to any file, and
 * separate symbols may have been installed since. It is looked for when it is known which file that
 * is, and written when there is nothing else to do, while its names are shown already. Without a
 * place for such files nothing is different but the time, so that is not worth a word.
 *
 * What tables take in memory is bounded: a machine runs ever new programs, and each that was once
 * sampled has had its table read. Which one is not needed any more nobody can tell, as names are
 * cached by those who ask: so the ones go that were not looked into for longest. What is asked for
 * again is read again.
 */
#include "internal.h"

#include "kontend/clock.h"
#include "kontend/mem.h"
#include "kontend/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* LEAST: what is faster than this is as well read again. MOST: of all files, and one of them. */
static const uint64_t LEAST_NS = 10000000, MOST = 1ull << 30;
static const uint64_t TABLES_MOST = 64 << 20, JIT_REST_NS = 60000000000;

/* What a kept table is of. */
struct stamp {
	uint8_t id[USERSYM_ID_MAX];
	uint32_t id_len;
	struct usersym_file program, debug; /* debug: separate symbols; zeros: there are none */
};

struct usersym_file usersym_file_of(const struct stat *st)
{
	return (struct usersym_file){
		.ino = st->st_ino,
		.size = (uint64_t)st->st_size,
		.mtime_ns =
			(uint64_t)st->st_mtim.tv_sec * 1000000000 + (uint64_t)st->st_mtim.tv_nsec,
		.ctime_ns =
			(uint64_t)st->st_ctim.tv_sec * 1000000000 + (uint64_t)st->st_ctim.tv_nsec,
	};
}

static bool file_of(const struct elfimg *e, struct usersym_file *ret)
{
	struct stat st;

	if (e->fd < 0 || e->mem || fstat(e->fd, &st) < 0)
		return false;
	*ret = usersym_file_of(&st);
	return true;
}

/* False: there is nothing to keep it by. */
static bool set_key(struct usersym_load *l)
{
	struct usersym_image *i = l->image;
	struct stamp s = {.id_len = i->id_len};

	_Static_assert(sizeof(s) <= CACHEFILE_STAMP && 2 * USERSYM_ID_MAX + 5 < CACHEFILE_NAME,
		       "room");
	/* The form is that of the parts, and of which symbols become entries. */
	i->key = (struct cachefile_key){.folder = "symbols", .form = {"symtab 2"}};
	if (!i->id_len || !file_of(&l->main, &s.program) ||
	    (l->debug.sections && !file_of(&l->debug, &s.debug)))
		return false;
	memcpy(s.id, i->id, i->id_len);
	memcpy(i->key.stamp, &s, sizeof(s));
	text_hex(i->key.name, i->id, i->id_len);
	strcat(i->key.name, ".syms");
	return true;
}

static void say_damaged(struct usersyms *u, const char *path)
{
	if (!*u->note)
		snprintf(u->note, sizeof(u->note),
			 "The symbols that were kept of %.200s are damaged: they are read again",
			 path);
}

bool symbol_cache_find(struct usersyms *u, struct usersym_load *l)
{
	struct cachefile *k;

	if (!u->config.keep || !set_key(l) || l->image->distrusted)
		return false;
	int r = cachefile_open(&k, &l->image->key);
	if (r == 0 && !symtab_from_kept(&l->image->table, k)) {
		cachefile_close(k);
		r = -EBADMSG;
	}
	if (r == -EBADMSG)
		say_damaged(u, l->object->path);
	return r == 0;
}

enum usersym_answer symbol_cache_lost(struct usersyms *u, uint32_t object)
{
	const struct usersym_object *o = u->objects[object];

	say_damaged(u, o->path);
	o->image->distrusted = true;
	return usersym_reload(u, object);
}

void symbol_cache_want(const struct usersyms *u, struct usersym_load *l)
{
	uint64_t least = u->config.keep_least_ns ? u->config.keep_least_ns : LEAST_NS;

	l->image->keep =
		*l->image->key.name && l->spent_ns >= least && l->image->answer == USERSYM_OK;
}

/* One that could not be begun, for want of a folder or of room, is not tried again. */
static bool begin_next(struct usersyms *u)
{
	uint64_t most = u->config.keep_most ? u->config.keep_most : MOST;

	for (size_t i = 0; i < u->n_images; i++) {
		struct usersym_image *x = u->images[i];
		const struct symtab *t = &x->table;
		const struct cachefile_part parts[] = {{t->entries, t->n * sizeof(*t->entries)},
						       {t->text, t->text_len}};
		if (!x->keep)
			continue;
		x->keep = false;
		if (cachefile_write_begin(&u->keeping, &x->key, parts, most) == 0)
			return true;
	}
	return false;
}

bool symbol_cache_step(struct usersyms *u)
{
	if (!u->config.keep || (!u->keeping.parts[0].bytes && !begin_next(u)))
		return false;
	int r = cachefile_write_step(&u->keeping);
	if (r < 0 && !*u->note)
		snprintf(u->note, sizeof(u->note), "Symbols of programs cannot be kept: %s",
			 strerror(-r));
	/* The next one would not fare better. */
	u->config.keep = r >= 0;
	return u->config.keep;
}

int usersyms_kept(size_t *ret_n, uint64_t *ret_size)
{
	return cachefile_usage("symbols", ret_n, ret_size);
}

/* Tables that are kept in files take no memory of ours. */
static uint64_t bytes_of(const struct symtab *t)
{
	uint64_t shown = t->cap_shown * sizeof(*t->shown) + (t->shown_at ? t->n * 4 : 0);

	return shown + (t->kept ? 0 : t->text_cap + t->cap * sizeof(*t->entries));
}

static uint64_t bytes_of_jit(const struct usersym_jit *j)
{
	return bytes_of(&j->table) + j->dump.cap * sizeof(*j->dump.codes);
}

static uint64_t bytes_of_all(const struct usersyms *u)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < u->n_images; i++)
		sum += bytes_of(&u->images[i]->table);
	for (size_t i = 0; i < u->n_jits; i++)
		sum += bytes_of_jit(u->jits[i]);
	return sum;
}

/* What is being read, or written to a file, is in use. */
static bool is_idle(const struct usersyms *u, const struct usersym_image *i)
{
	return i->answer == USERSYM_OK && u->load.image != i &&
	       u->keeping.parts[0].bytes != i->table.entries && bytes_of(&i->table);
}

static void forget_image(struct usersyms *u, struct usersym_image *image)
{
	symtab_deinit(&image->table);
	image->answer = USERSYM_PENDING;
	for (size_t i = 0; i < u->n_objects; i++)
		if (u->objects[i]->image == image)
			u->objects[i]->asked = false;
}

/* It is not read again at once: it would have to go again. */
static void forget_jit(struct usersym_jit *j)
{
	symtab_deinit(&j->table);
	jitdump_deinit(&j->dump);
	j->table.latest = true;
	j->read = j->written_ns = 0;
	j->next_ns = clock_now_ns() + JIT_REST_NS;
}

/* Bytes that became free; 0: there is nothing that could go. */
static uint64_t forget_oldest(struct usersyms *u)
{
	struct usersym_image *image = NULL;
	struct usersym_jit *jit = NULL;
	uint64_t oldest = UINT64_MAX;

	for (size_t i = 0; i < u->n_images; i++) {
		if (!is_idle(u, u->images[i]) || u->images[i]->used >= oldest)
			continue;
		image = u->images[i];
		oldest = image->used;
	}
	for (size_t i = 0; i < u->n_jits; i++) {
		if (!bytes_of_jit(u->jits[i]) || u->jits[i]->used >= oldest)
			continue;
		jit = u->jits[i];
		oldest = jit->used;
	}
	uint64_t bytes = jit ? bytes_of_jit(jit) : image ? bytes_of(&image->table) : 0;
	if (jit)
		forget_jit(jit);
	else if (image)
		forget_image(u, image);
	return bytes;
}

void usersyms_tidy(struct usersyms *u)
{
	uint64_t most = u->config.tables_most ? u->config.tables_most : TABLES_MOST, now, freed;

	if (!u->grown || u->load.object)
		return;
	u->grown = false;
	now = bytes_of_all(u);
	if (now <= most)
		return;
	/* Somewhat more than need be, so that it is not done for each file that comes. */
	while (now > most - most / 4 && (freed = forget_oldest(u)))
		now -= freed;
}
