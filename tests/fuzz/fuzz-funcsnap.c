// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as names and code of functions: what is decoded refers to nothing that is not there,
 * finds what it has, and written again it reads as the same. The same bytes as build ids: reading
 * them ends, and a path that was met is found.
 */
#include "fuzz.h"
#include "kontend/buildids.h"
#include "kontend/funcsnap.h"
#include "kontend/mem.h"
#include <string.h>

static bool is_text(const struct funcsnap *s, uint32_t offset)
{
	return !offset || offset + strlen(funcsnap_text(s, offset)) < s->n_strings;
}

static void check_references(const struct funcsnap *s)
{
	for (size_t i = 0; i < s->n_objects; i++)
		fuzz_require(is_text(s, s->objects[i].path) && s->objects[i].id_len <= 20);
	for (size_t i = 0; i < s->n_funcs; i++) {
		const struct funcsnap_func *f = &s->funcs[i];
		const struct funcsnap_func *found = funcsnap_find(s, f->object, f->start);
		fuzz_require(f->object <= s->n_objects && is_text(s, f->name));
		fuzz_require(f->code <= s->n_code && f->code_len <= s->n_code - f->code);
		fuzz_require(found && found->object == f->object && found->start == f->start);
	}
}

static void check_again(const struct funcsnap *s)
{
	struct funcsnap t = {0};
	size_t len = funcsnap_size(s);
	char *p = mem_calloc(2, len);

	fuzz_require(p != NULL);
	funcsnap_encode(s, p);
	fuzz_require(funcsnap_decode(&t, p, len) == 0 && funcsnap_size(&t) == len);
	funcsnap_encode(&t, p + len);
	fuzz_require(memcmp(p, p + len, len) == 0);
	mem_free(p);
	funcsnap_deinit(&t);
}

static void check_build_ids(const uint8_t *data, size_t size)
{
	struct buildid one, found;
	size_t at = 0, next;

	for (; (next = buildids_next(data, size, at, &one)); at = next) {
		fuzz_require(next > at && next <= size && one.len <= BUILDIDS_ID);
		if (!one.kernel && one.len)
			fuzz_require(buildids_find(data, size, one.path, &found) &&
				     !strcmp(one.path, found.path));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct funcsnap s = {0};

	if (funcsnap_decode(&s, data, size) == 0) {
		check_references(&s);
		check_again(&s);
	}
	funcsnap_deinit(&s);
	check_build_ids(data, size);
	return 0;
}
