// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames as places in files. A function inlined at a frame is a line of the same place, before that
 * of the function around it, as stores of profiles have it. A place without a name is kept with its
 * file: a reader who has that file may find the name by the build id.
 */
#include "kontend/buildids.h"
#include "kontend/mem.h"
#include "kontend/profile.h"
#include "kontend/snapshot.h"
#include "kontend/vmlinux.h"
#include "names.h"

#include <string.h>

static const char kernel_name[] = "[kernel.kallsyms]", kernel_object[] = "[kernel]";

static void *fail(struct places *p)
{
	p->failed = true;
	return NULL;
}

/* Files of the kernel are few: the list is short where there are no programs in it. */
static const struct query_code *find_kernel(const struct places *p, const char *name)
{
	for (size_t i = 0; i < p->n_codes; i++)
		if (p->codes[i]->is_kernel && !strcmp(p->codes[i]->name, name))
			return p->codes[i];
	return NULL;
}

static struct query_code *add_code(struct places *p, const char *name)
{
	struct query_code *c = arena_alloc(&p->q->arena, sizeof(*c));

	if (!c || mem_grow(&p->codes, &p->cap_codes, p->n_codes, sizeof(*p->codes)) < 0)
		return fail(p);
	*c = (struct query_code){.name = name};
	p->codes[p->n_codes++] = c;
	return c;
}

/* @object: "[kernel]", or a module's name in brackets. */
static const struct query_code *kernel_code(struct places *p, const char *object)
{
	bool is_module = strcmp(object, kernel_object) != 0;
	const char *name = is_module ? object : kernel_name;
	const struct query_code *known = find_kernel(p, name);
	struct query_code *c = known ? NULL : add_code(p, name);
	struct vmlinux v;

	if (!c)
		return known;
	c->is_kernel = true;
	if (query_kernel_build_id(p->q, is_module ? object : NULL, &v)) {
		memcpy(c->build_id, v.build_id, v.build_id_len);
		c->build_id_len = v.build_id_len;
	}
	return c;
}

/* A recorded build id comes first; else that of the file that names are from. */
static void find_build_id(struct query *q, uint32_t number, const struct map_object *o,
			  struct query_code *c)
{
	const struct snapshot *ids = snapshot_set_get(q->model->snapshots, SNAPSHOT_BUILD_IDS);
	struct buildid id = {.len = o->id_len};

	memcpy(id.id, o->id, sizeof(id.id));
	if (!id.len && ids && !buildids_find(ids->bytes, ids->len, o->path, &id))
		id.len = 0;
	if (id.len) {
		memcpy(c->build_id, id.id, sizeof(c->build_id));
		c->build_id_len = id.len;
	} else {
		c->build_id_len = query_user_build_id(q, number, c->build_id);
	}
}

static const struct query_code *user_code(struct places *p, uint64_t frame)
{
	uint32_t number = map_frame_object(frame);
	const struct map_object *o = map_object_get(p->q->model->profile->spaces.objects, number);
	const uint32_t *known = map64_get(&p->files, number);

	if (known)
		return p->codes[*known];
	if (!o)
		return NULL;
	struct query_code *c = add_code(p, o->path);
	if (!c || map64_put(&p->files, number, (uint32_t)p->n_codes - 1) < 0)
		return fail(p);
	find_build_id(p->q, number, o, c);
	return c;
}

/* NULL: there is none but its address. */
static const char *name_of(struct query *q, uint64_t frame, uint32_t func)
{
	const char *name = func ? query_func_name(q, func) : NULL;

	if (map_frame_is_mark(frame))
		return name;
	if (map_frame_is_kernel(frame))
		return name && strncmp(name, "0x", 2) ? name : "[unknown]";
	return func && map_frame_object(frame) && !q->cache->funcs[func].unnamed ? name : NULL;
}

/* The source line of the place from debug information; 0: none, or not yet. */
static size_t lines_of(struct places *p, uint64_t frame, bool is_return, const char *name,
		       struct query_line *ret)
{
	struct query *q = p->q;
	const struct srclines_place *found;
	const char *why;

	if (!p->lines || map_frame_is_mark(frame) ||
	    (!q->engine->lines && !map_frame_is_code(frame)) ||
	    query_place(q, frame, is_return, &found, &why) != SRCLINES_OK)
		return 0;
	/* Their texts stay as long as the query. */
	for (size_t i = 0; i < found->n; i++) {
		const struct srclines_frame *f = &found->frames[i];
		const char *own = i + 1 == found->n && name ? name : f->function;
		ret[i] = (struct query_line){.function = *own ? own : "[unknown]",
					     .file = *f->file ? f->file : NULL,
					     .line = f->line};
	}
	return found->n;
}

static const struct query_place *make_place(struct places *p, uint64_t frame, bool is_return)
{
	struct query *q = p->q;
	struct query_place *at = arena_alloc(&q->arena, sizeof(*at));
	struct query_line lines[SRCLINES_FRAMES];
	uint32_t func = query_func(q, frame);

	if (!at || !func)
		return fail(p);
	const char *name = name_of(q, frame, func);
	at->n_lines = lines_of(p, frame, is_return, name, lines);
	if (!at->n_lines && name)
		lines[at->n_lines++] = (struct query_line){.function = name};
	struct query_line *kept = arena_alloc(&q->arena, (at->n_lines + 1) * sizeof(*kept));
	if (!kept)
		return fail(p);
	memcpy(kept, lines, at->n_lines * sizeof(*kept));
	at->lines = kept;
	if (map_frame_is_kernel(frame))
		at->code = kernel_code(p, q->cache->funcs[func].object);
	else if (!map_frame_is_mark(frame))
		at->code = user_code(p, frame);
	if (at->code && !at->code->is_kernel)
		at->offset = map_frame_offset(frame);
	return p->failed ? NULL : at;
}

static const struct query_place *place_of(struct places *p, uint64_t frame, bool is_return)
{
	const uint32_t *known = map64_get(&p->known[is_return], frame);

	if (known)
		return p->all[*known];
	const struct query_place *made = make_place(p, frame, is_return);
	if (!made || mem_grow(&p->all, &p->cap, p->n, sizeof(*p->all)) < 0 ||
	    map64_put(&p->known[is_return], frame, (uint32_t)p->n) < 0)
		return fail(p);
	return p->all[p->n++] = made;
}

void places_of_chain(struct places *p, const uint64_t *frames, uint32_t from, uint32_t n,
		     const struct query_place **ret)
{
	for (uint32_t i = from; i < n; i++) {
		/*
		 * The sampled address, or that of the entry into the kernel, is exact; others are
		 * return addresses.
		 */
		bool is_return =
			i && map_frame_is_kernel(frames[i]) == map_frame_is_kernel(frames[i - 1]);
		ret[i - from] = place_of(p, frames[i], is_return);
	}
}

void places_deinit(struct places *p)
{
	map64_deinit(&p->known[0]);
	map64_deinit(&p->known[1]);
	map64_deinit(&p->files);
	mem_free(p->all);
	mem_free(p->codes);
}
