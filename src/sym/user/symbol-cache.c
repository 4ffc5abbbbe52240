// SPDX-License-Identifier: GPL-2.0-only
/*
 * Caches of symbol tables, on disk and in memory.
 * Tables that took long to read are written to files (cachefile.h). A cached table is used only if
 * it was made from the very file that would be read: any file could have that build id, and
 * separate symbols may have been installed since. It is looked up when that file is known, and
 * written when there is nothing else to do, while its names are shown already. Without a folder for
 * the cache only the time differs, so there is no message.
 * The memory of tables is limited: a machine starts new programs all the time, and each sampled one
 * has its table read. Callers cache names, so nothing shows which tables are no longer needed: the
 * least recently used ones are dropped, and read again if needed.
 */
#include "internal.h"

#include "kontend/clock.h"
#include "kontend/mem.h"
#include "kontend/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* LEAST: a table that took less is read again. MOST: limit of all files, and of each. */
static const uint64_t LEAST_NS = 10000000, MOST = 1ull << 30;
enum { UNLOAD_ROUNDS = 32 };
static const uint64_t TABLES_MOST = 64 << 20, JIT_REST_NS = 60000000000;

/* Identity of a cached table. */
struct stamp {
	uint8_t id[USERSYM_ID_MAX];
	uint32_t id_len;
	struct usersym_file program, debug; /* debug: separate symbols; zeros: none */
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

/* False: nothing identifies the table. */
static bool set_key(struct usersym_load *l)
{
	struct usersym_image *i = l->image;
	struct stamp s = {.id_len = i->id_len};

	_Static_assert(sizeof(s) <= CACHEFILE_STAMP && 2 * USERSYM_ID_MAX + 5 < CACHEFILE_NAME,
		       "room");
	/* The format covers these parts, and which symbols become entries. */
	i->key = (struct cachefile_key){.folder = "symbols", .form = {"symtab 3"}};
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
			 "The cached symbols of '%.200s' are damaged and are read again", path);
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

/* If there is no folder or no space for a table, it is not tried again. */
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
		snprintf(u->note, sizeof(u->note), "Cannot cache symbols of programs: %s",
			 strerror(-r));
	/* The next one would fail, too. */
	u->config.keep = r >= 0;
	return u->config.keep;
}

int usersyms_kept(size_t *ret_n, uint64_t *ret_size)
{
	return cachefile_usage("symbols", ret_n, ret_size);
}

/* Tables in cache files take no memory of the process. */
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

/* Mapped pages count as ours, and of a table that is looked up, few are needed again. */
static void unload_kept(const struct usersyms *u)
{
	for (size_t i = 0; i < u->n_images; i++)
		if (u->images[i]->table.kept)
			cachefile_unload(u->images[i]->table.kept);
}

/* False while a table is being read or written. */
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

/* It is not read again at once: it would be dropped again. */
static void forget_jit(struct usersym_jit *j)
{
	symtab_deinit(&j->table);
	jitdump_deinit(&j->dump);
	j->table.latest = true;
	j->read = j->written_ns = 0;
	j->next_ns = clock_now_ns() + JIT_REST_NS;
}

/* Returns the bytes freed; 0: nothing can be dropped. */
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
	u->dropped += jit || image;
	return bytes;
}

static uint64_t most_of(const struct usersyms *u)
{
	return u->config.tables_most ? u->config.tables_most : TABLES_MOST;
}

uint64_t usersyms_dropped(const struct usersyms *u)
{
	return u->dropped;
}

bool usersyms_is_worn(const struct usersyms *u)
{
	return !u->load.object && u->names.arena.used_bytes + u->fixed_bytes > most_of(u) / 2;
}

void usersyms_tidy(struct usersyms *u)
{
	uint64_t most = most_of(u), now, freed;

	if (++u->rounds % UNLOAD_ROUNDS == 0)
		unload_kept(u);
	if (!u->grown || u->load.object)
		return;
	u->grown = false;
	now = bytes_of_all(u);
	if (now <= most)
		return;
	/* Frees some more than needed, so that not every new file starts this. */
	while (now > most - most / 4 && (freed = forget_oldest(u)))
		now -= freed;
}
