// SPDX-License-Identifier: GPL-2.0-only
/*
 * What tables of symbols take is bounded: a machine runs ever new programs, and each that was once
 * sampled has had its table read. Which one is not needed any more nobody can tell, as names are
 * cached by those who ask: so the ones go that were not looked into for longest. What is asked for
 * again is read again.
 */
#include "internal.h"

#include "kontend/clock.h"
#include "kontend/mem.h"

static const uint64_t TABLES_MOST = 64 << 20, JIT_REST_NS = 60000000000;

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
	return i->answer == USERSYM_OK && u->load.image != i && u->keeping.table != &i->table &&
	       bytes_of(&i->table);
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
