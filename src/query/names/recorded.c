// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names and code of functions out of the recording. Files have other numbers in it than in the
 * model; the numbers are matched once a file, by its path and the rest of its mapping, and again
 * when the recording has brought more functions.
 */
#include "names.h"

#include "kontend/funcset.h"
#include "kontend/map-numbers.h"
#include "kontend/mem.h"
#include "kontend/profile.h"

#include <errno.h>
#include <string.h>

struct query_recorded {
	const struct funcset *of; /* what the numbers below are of */
	uint64_t changes;
	struct map_numbers objects; /* index + 1, NONE, or 0: not looked for */
};

#define NONE UINT32_MAX

void query_recorded_deinit(struct query *q)
{
	if (!q->recorded)
		return;
	map_numbers_deinit(&q->recorded->objects);
	mem_free(q->recorded);
	q->recorded = NULL;
}

/* NULL: there are none, or q->cache->failed. */
static struct query_recorded *reported(struct query *q)
{
	const struct funcset *s = q->model->funcs;
	struct query_recorded *r = q->recorded;

	if (!s || !funcset_snap(s)->n_funcs)
		return NULL;
	if (!r)
		r = q->recorded = mem_calloc(1, sizeof(*r));
	if (r && (r->of != s || r->changes != funcset_changes(s))) {
		r->of = s;
		r->changes = funcset_changes(s);
		map_numbers_forget(&r->objects);
	}
	q->cache->failed |= !r;
	return r;
}

static bool is_it(const struct funcsnap *s, const struct funcsnap_object *a,
		  const struct map_object *b)
{
	if (a->maj != b->maj || a->min != b->min || a->ino != b->ino ||
	    strcmp(funcsnap_text(s, a->path), b->path) != 0)
		return false;
	if (b->id_len && (a->id_len != b->id_len || memcmp(a->id, b->id, b->id_len) != 0))
		return false;
	return !map_is_memory(b->path) || a->pid == b->pid;
}

/* Index + 1 in the snapshot; 0: it has none of it. */
static uint32_t object_of(struct query *q, struct query_recorded *r, uint32_t object)
{
	const struct map_objects *all = q->model->profile->spaces.objects;
	const struct map_object *o = map_object_get(all, object);

	uint32_t *known = o ? map_numbers_at(&r->objects, all, object) : NULL;

	q->cache->failed |= o && !known;
	if (!known)
		return 0;
	const struct funcsnap *s = funcset_snap(r->of);
	for (size_t i = 0; !*known && i < s->n_objects; i++)
		if (is_it(s, &s->objects[i], o))
			*known = (uint32_t)i + 1;
	if (!*known)
		*known = NONE;
	return *known == NONE ? 0 : *known;
}

const struct funcsnap_func *recorded_func(struct query *q, uint64_t frame)
{
	struct query_recorded *r = reported(q);

	if (!r)
		return NULL;
	if (map_frame_is_kernel(frame))
		return funcsnap_find(funcset_snap(r->of), 0, frame);
	uint32_t object = object_of(q, r, map_frame_object(frame));
	return object ? funcsnap_find(funcset_snap(r->of), object, map_frame_offset(frame)) : NULL;
}

const char *recorded_variable(struct query *q, const struct lockname *n)
{
	const struct funcset *set = q->model->funcs;
	const struct funcsnap *s = set ? funcset_snap(set) : NULL;

	for (size_t i = 0; s && i < s->n_objects; i++) {
		const struct funcsnap_object *o = &s->objects[i];
		if (o->ino != n->ino || (o->maj << 20 | o->min) != n->dev ||
		    strcmp(funcsnap_text(s, o->path), n->text) != 0)
			continue;
		const struct funcsnap_func *f =
			funcsnap_find(s, (uint32_t)i + 1, FUNCSNAP_DATA | n->start);
		if (f && f->start == (FUNCSNAP_DATA | n->start))
			return funcsnap_text(s, f->name);
	}
	return NULL;
}

const char *recorded_name(const struct query *q, const struct funcsnap_func *f)
{
	return funcsnap_text(funcset_snap(q->model->funcs), f->name);
}

bool recorded_bytes(struct query *q, uint64_t start, const uint8_t **ret, size_t *ret_n)
{
	const struct funcsnap_func *f = recorded_func(q, start);
	uint64_t at = map_frame_is_kernel(start) ? start : map_frame_offset(start);

	if (!f || f->start != at || !f->code_len)
		return false;
	*ret = funcset_snap(q->model->funcs)->code + f->code;
	*ret_n = f->code_len;
	return true;
}
