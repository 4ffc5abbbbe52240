// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes call chains from dumps of user stacks when their sample is applied: at that time the
 * mappings of the process are those of the sample. Unwind tables made from mappings are cached for
 * the address spaces that were sampled last, by the version of their mappings: children that still
 * have the mappings of their parent share its tables, and a process that maps another file gets new
 * ones. So there are few tables, whatever the number of processes.
 *
 * Files are found in the same way as for the names of functions, but in tables of our own: frames
 * are part of the model, while names are loaded and dropped with the screen.
 */
#include "engine-int.h"
#include "kontend/profile.h"
#include "kontend/srclines.h"
#include "kontend/stack.h"

#include "kontend/cfiset.h"
#include "kontend/map-numbers.h"
#include "kontend/mem.h"
#include "kontend/unwind.h"

#include <errno.h>
#include <string.h>

enum { PLACES = 24 };

struct place {
	uint64_t version; /* 0: free */
	uint64_t used;	  /* number of the sample that used it last */
	struct unwind_space *space;
	struct unwind_map *maps;
};

struct engine_unwind {
	struct profile_unwinder profile;
	size_t recorded; /* number of files whose tables the recording had */
	const struct engine *engine;
	struct usersyms *files;
	struct unwind *unwind;
	bool tried, failed;
	struct map_numbers numbers; /* numbers of the files, + 1; 0: not looked up yet */
	struct place places[PLACES];
	uint64_t samples;
	struct unwind_frame frames[STACK_MAX_FRAMES];
};

static const struct cfisnap *recorded(void *ctx, uint32_t file)
{
	const struct engine_unwind *u = ctx;
	const struct model *m = u->engine->model;

	for (size_t i = 0; i < u->numbers.n; i++)
		if (u->numbers.v[i] == file + 1)
			return cfiset_find(m->cfi,
					   map_object_get(m->profile->spaces.objects, (uint32_t)i));
	return NULL;
}

/* In a recording, tables may come after the first samples that need them. */
static void look_again(struct engine_unwind *u)
{
	size_t n = cfiset_count(u->engine->model->cfi);

	if (n == u->recorded)
		return;
	u->recorded = n;
	unwind_look_again(u->unwind);
	for (size_t i = 0; i < PLACES; i++)
		u->places[i].version = 0;
}

static int open_files(struct engine_unwind *u)
{
	struct usersyms_config c = engine_files(u->engine, u->engine->model);
	struct unwind_config how = {
		.machine = u->engine->model->host->machine, .recorded = recorded, .ctx = u};
	struct error err = {0};

	u->tried = true;
	int r = usersyms_new(&u->files, &c, &err);
	r = r < 0 ? r : unwind_new(&u->unwind, u->files, &how, &err);
	u->failed = r < 0;
	return r;
}

/* A mapping without a file has no unwind tables. */
static uint32_t file_of(struct engine_unwind *u, uint32_t object)
{
	const struct map_objects *all = u->engine->model->profile->spaces.objects;
	const struct map_object *o = map_object_get(all, object);
	uint32_t *number =
		!o || map_is_memory(o->path) ? NULL : map_numbers_at(&u->numbers, all, object);
	uint32_t file;

	if (!number)
		return UNWIND_NO_OBJECT;
	if (*number)
		return *number - 1;
	if (engine_file(u->engine->model, o, u->files, &file) < 0)
		return UNWIND_NO_OBJECT;
	*number = file + 1;
	return file;
}

static bool set_maps(struct engine_unwind *u, struct place *p, const struct map_space *space)
{
	struct unwind_map *maps = mem_calloc(space->n, sizeof(*maps));

	if (!maps)
		return false;
	for (size_t i = 0; i < space->n; i++) {
		const struct map_range *r = &space->ranges[i];
		maps[i] = (struct unwind_map){r->start, r->end, r->pgoff, file_of(u, r->object)};
	}
	unwind_space_set(p->space, maps, space->n);
	mem_free(p->maps);
	p->maps = maps;
	p->version = space->version;
	return true;
}

/*
 * The place of this address space. If it has none, the place that was not used for the longest
 * time.
 */
static struct place *place_of(struct engine_unwind *u, const struct map_space *space)
{
	struct place *oldest = &u->places[0];

	for (size_t i = 0; i < PLACES; i++) {
		struct place *p = &u->places[i];
		if (p->version == space->version)
			return p;
		if (p->used < oldest->used)
			oldest = p;
	}
	if (!oldest->space && unwind_space_new(&oldest->space, u->unwind) < 0)
		return NULL;
	return set_maps(u, oldest, space) ? oldest : NULL;
}

/* The reason why a sample cannot be unwound; 0: it can be. */
static enum unwind_end why_not(struct engine_unwind *u, const struct map_space *space,
			       const struct event *ev)
{
	if (ev->sample.is_32bit)
		return UNWIND_32BIT;
	if (!u->tried)
		open_files(u);
	if (u->failed)
		return UNWIND_NONE;
	return space ? UNWIND_DONE : UNWIND_NO_MAPS;
}

static uint32_t frames(struct profile_unwinder *profile, const struct map_space *space,
		       const struct event *ev, uint64_t *ret, uint32_t most)
{
	struct engine_unwind *u = (struct engine_unwind *)profile;
	const struct unwind_sample s = {ev->sample.regs_mask, ev->sample.regs, ev->sample.stack,
					ev->sample.stack_len};
	enum unwind_end end = why_not(u, space, ev);
	struct place *p = NULL;
	size_t n = 0;

	if (most < 2)
		return 0;
	if (end == UNWIND_DONE) {
		look_again(u);
		p = place_of(u, space);
	}
	if (p) {
		p->used = ++u->samples;
		n = unwind_stack(p->space, &s, u->frames, most - 1, &end);
	}
	for (size_t i = 0; i < n; i++)
		ret[i] = map_space_frame(space, u->frames[i].at);
	if (!n && !ev->sample.is_kernel)
		ret[n++] = map_space_frame(space, ev->sample.ip);
	if (end != UNWIND_DONE)
		ret[n++] = map_frame_mark(end);
	return (uint32_t)n;
}

static int encode(const struct map_object *o, struct cfisnap *s, char **ret, size_t *ret_len)
{
	struct record_snapshot head = {.kind = SNAPSHOT_CFI, .version = CFISNAP_VERSION};
	size_t len = strlen(o->path) + 1;
	char *strings = mem_calloc(1, 1 + len);

	if (!strings)
		return -ENOMEM;
	memcpy(strings + 1, o->path, len);
	s->head.path = 1;
	s->head.maj = o->maj;
	s->head.min = o->min;
	s->head.ino = o->ino;
	s->head.id_len = o->id_len;
	memcpy(s->head.id, o->id, sizeof(o->id));
	s->strings = strings;
	s->n_strings = 1 + len;
	*ret_len = sizeof(head) + cfisnap_size(s);
	*ret = mem_calloc(1, *ret_len);
	if (*ret) {
		memcpy(*ret, &head, sizeof(head));
		cfisnap_encode(s, *ret + sizeof(head));
	}
	mem_free(strings);
	return *ret ? 1 : -ENOMEM;
}

int engine_tables(const struct engine *e, uint32_t object, char **ret, size_t *ret_len)
{
	struct engine_unwind *u = e->unwind;
	const struct map_objects *all = e->model->profile->spaces.objects;
	const struct map_object *o = map_object_get(all, object);
	const uint32_t *number = o ? map_numbers_at(&u->numbers, all, object) : NULL;
	struct cfisnap s;

	if (!number || !*number || !unwind_tables_get(u->unwind, *number - 1, &s))
		return 0;
	return s.n_bytes > CFISNAP_MOST ? -EFBIG : encode(o, &s, ret, ret_len);
}

int engine_unwind_new(struct engine_unwind **ret, struct engine *e)
{
	struct engine_unwind *u = mem_calloc(1, sizeof(*u));

	if (!u)
		return -ENOMEM;
	u->profile.frames = frames;
	u->engine = e;
	*ret = u;
	return 0;
}

struct profile_unwinder *engine_unwind_profile(struct engine_unwind *u)
{
	return &u->profile;
}

void engine_unwind_free(struct engine_unwind *u)
{
	if (!u)
		return;
	for (size_t i = 0; i < PLACES; i++) {
		unwind_space_free(u->places[i].space);
		mem_free(u->places[i].maps);
	}
	unwind_free(u->unwind);
	usersyms_free(u->files);
	map_numbers_deinit(&u->numbers);
	mem_free(u);
}
