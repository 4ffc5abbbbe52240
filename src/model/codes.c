// SPDX-License-Identifier: GPL-2.0-only
/* Functions that interpreters run. They get their numbers once, as they come. */
#include "kontend/codes.h"
#include "kontend/hash.h"
#include "kontend/map64.h"
#include "kontend/mem.h"
#include "kontend/strpool.h"

#include <string.h>

struct codes {
	struct strpool names;
	struct code **items; /* the first stands for none */
	size_t n, cap;
	struct map64 index; /* hash of what it is -> number */
	unsigned refs;
};

static int add(struct codes *c, const char *function, const char *file)
{
	struct code *item = mem_calloc(1, sizeof(*item));

	if (item && mem_grow(&c->items, &c->cap, c->n, sizeof(*c->items)) == 0) {
		*item = (struct code){function, file};
		c->items[c->n++] = item;
		return 0;
	}
	mem_free(item);
	return -1;
}

struct codes *codes_new(void)
{
	struct codes *c = mem_calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->refs = 1;
	if (add(c, "", "") == 0)
		return c;
	codes_unref(c);
	return NULL;
}

struct codes *codes_ref(struct codes *c)
{
	c->refs++;
	return c;
}

void codes_unref(struct codes *c)
{
	if (!c || --c->refs)
		return;
	for (size_t i = 0; i < c->n; i++)
		mem_free(c->items[i]);
	mem_free(c->items);
	strpool_deinit(&c->names);
	map64_deinit(&c->index);
	mem_free(c);
}

/* 0: no room, or no memory. */
static uint32_t number_of(struct codes *c, const char *function, const char *file)
{
	uint64_t key = hash_text(hash_text(HASH_START, function), file);
	const uint32_t *known;

	for (; (known = map64_get(&c->index, key)); key++)
		if (!strcmp(c->items[*known]->function, function) &&
		    !strcmp(c->items[*known]->file, file))
			return *known;
	uint32_t number = (uint32_t)c->n;
	function = number <= CODES_MOST ? strpool_intern(&c->names, function) : NULL;
	file = function ? strpool_intern(&c->names, file) : NULL;
	if (!file || add(c, function, file) < 0)
		return 0;
	return map64_put(&c->index, key, number) == 0 ? number : 0;
}

uint64_t codes_frame(struct codes *c, const char *function, const char *file, uint32_t line)
{
	uint32_t number = number_of(c, function, file);

	return number ? map_code_frame(number, line) : 0;
}

const struct code *codes_get(const struct codes *c, uint64_t frame)
{
	uint32_t number = map_code_number(frame);

	return map_frame_is_code(frame) && number && number < c->n ? c->items[number] : NULL;
}

size_t codes_bytes(const struct codes *c)
{
	return c->cap * sizeof(*c->items) + c->n * sizeof(**c->items);
}
