// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds a function in the file by name. An exported function wins over local ones of the same name;
 * several local ones are an error that lists their offsets. An unknown name gets suggestions of
 * similar names. A name ends before "@VERSION".
 */
#include "kontend/binary.h"
#include "kontend/nearest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { OTHERS = 4 };

struct search {
	const char *name;
	size_t len;
	struct binary_entry best;
	bool found;
	uint64_t others[OTHERS]; /* offsets of local functions of this name */
	size_t n_others;
	struct nearest near;
};

static bool is_named(const struct search *s, const char *name)
{
	return !strncmp(name, s->name, s->len) && (!name[s->len] || name[s->len] == '@');
}

static void note_other(struct search *s, const struct binary_entry *e)
{
	for (size_t i = 0; i < s->n_others; i++)
		if (s->others[i] == e->offset)
			return;
	if (s->n_others < OTHERS)
		s->others[s->n_others++] = e->offset;
}

static void look_at(void *arg, const struct binary_entry *e)
{
	struct search *s = arg;

	if (e->offset == UINT64_MAX)
		return;
	if (!is_named(s, e->name)) {
		if (!s->found && e->kind == BINARY_FUNCTION)
			nearest_consider(&s->near, e->name);
		return;
	}
	if (!e->global && e->kind == BINARY_FUNCTION)
		note_other(s, e);
	if (!s->found || (e->global && !s->best.global))
		s->best = *e;
	s->found = true;
}

static int not_there(const struct search *s, const char *path, struct error *err)
{
	char names[400] = "";
	size_t at = 0;

	for (size_t i = 0; i < s->near.n && at < sizeof(names); i++)
		at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%.100s",
				       !i		    ? ": did you mean "
				       : i + 1 == s->near.n ? " or "
							    : ", ",
				       s->near.names[i]);
	return error_set(err, -ENOENT, "'%s' has no function '%s'%s%s", path, s->name, names,
			 *names ? "?" : "; or give an offset in the file: BINARY:OFFSET");
}

static int ambiguous(const struct search *s, const char *path, struct error *err)
{
	char places[128] = "";
	size_t at = 0;

	for (size_t i = 0; i < s->n_others && at < sizeof(places); i++)
		at += (size_t)snprintf(places + at, sizeof(places) - at, "%s0x%" PRIx64,
				       i ? ", " : "", s->others[i]);
	return error_set(
		err, -EINVAL,
		"'%s' has more than one function '%s': give one of their offsets instead of "
		"the name: %s",
		path, s->name, places);
}

static int check(struct binary *b, const struct search *s, const char *path, uint64_t into,
		 struct error *err)
{
	const struct binary_entry *e = &s->best;

	if (!e->global && s->n_others > 1)
		return ambiguous(s, path, err);
	if (e->kind == BINARY_VARIABLE)
		return error_set(err, -EINVAL, "'%s' in '%s' is a variable, not a function", path,
				 s->name);
	if (e->kind == BINARY_CHOOSER)
		return error_set(
			err, -EINVAL,
			"'%s': '%s' only chooses one of several functions, once when "
			"programs start (STT_GNU_IFUNC): probe the function that it chooses",
			path, s->name);
	if (e->size && into >= e->size)
		return error_set(err, -EINVAL,
				 "'%s': %s+0x%" PRIx64 " is outside of the function, which has "
				 "0x%" PRIx64 " bytes",
				 path, s->name, into, e->size);
	if (!binary_is_code(b, e->offset + into))
		return error_set(err, -EINVAL, "'%s': there is no code at %s+0x%" PRIx64, path,
				 s->name, into);
	return 0;
}

int binary_locate(struct binary *b, const char *path, const char *name, uint64_t into,
		  uint64_t *ret_offset, struct error *err)
{
	struct search s = {.name = name, .len = strlen(name), .near = {.word = name}};

	if (!binary_walk(b, look_at, &s))
		return error_set(err, -ENOENT,
				 "'%s' has no function names: give an offset as BINARY:OFFSET",
				 path);
	if (!s.found)
		return not_there(&s, path, err);
	int code = check(b, &s, path, into, err);
	if (code == 0)
		*ret_offset = s.best.offset + into;
	return code;
}
