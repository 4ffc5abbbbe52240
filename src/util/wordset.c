// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/wordset.h"
#include "kontend/hash.h"
#include "kontend/mem.h"

#include <string.h>

enum { FIRST_SLOTS = 256 };

static uint64_t wordset_hash(const uint64_t *words, size_t n)
{
	uint64_t h = n;

	for (size_t i = 0; i < n; i++)
		h = hash_u64(h * 31 + words[i]);
	return h;
}

static uint32_t wordset_lookup(const struct wordset *s, uint64_t hash, const uint64_t *words,
			       size_t n)
{
	if (!s->slots)
		return 0;
	for (size_t at = hash & s->mask; s->slots[at]; at = (at + 1) & s->mask) {
		const struct wordset_run *r = &s->runs[s->slots[at] - 1];
		if (r->hash == hash && r->n == n &&
		    !memcmp(s->words + r->first, words, n * sizeof(*words)))
			return s->slots[at];
	}
	return 0;
}

uint32_t wordset_find(const struct wordset *s, const uint64_t *words, size_t n)
{
	return wordset_lookup(s, wordset_hash(words, n), words, n);
}

static void wordset_place(struct wordset *s, uint32_t number)
{
	size_t at = s->runs[number - 1].hash & s->mask;

	while (s->slots[at])
		at = (at + 1) & s->mask;
	s->slots[at] = number;
}

/* At least half of the slots stay free. */
static int wordset_grow(struct wordset *s)
{
	size_t n = s->slots ? (s->mask + 1) * 2 : FIRST_SLOTS;

	if (s->slots && s->n * 2 < s->mask)
		return 0;
	uint32_t *slots = mem_calloc(n, sizeof(*slots));
	if (!slots)
		return -1;
	mem_free(s->slots);
	s->slots = slots;
	s->mask = n - 1;
	for (uint32_t i = 1; i <= s->n; i++)
		wordset_place(s, i);
	return 0;
}

static int wordset_room(struct wordset *s, size_t n)
{
	size_t cap = s->cap_words ? s->cap_words : FIRST_SLOTS;

	while (cap - s->n_words < n)
		cap *= 2;
	uint64_t *p = cap > s->cap_words ? mem_resize(s->words, cap, sizeof(*p)) : s->words;
	if (!p)
		return -1;
	s->words = p;
	s->cap_words = cap;
	return 0;
}

uint32_t wordset_get(struct wordset *s, const uint64_t *words, size_t n)
{
	uint64_t hash = wordset_hash(words, n);
	uint32_t known = wordset_lookup(s, hash, words, n);

	if (known)
		return known;
	if (wordset_grow(s) < 0 || wordset_room(s, n) < 0 ||
	    mem_grow(&s->runs, &s->cap, s->n, sizeof(*s->runs)) < 0)
		return 0;
	memcpy(s->words + s->n_words, words, n * sizeof(*words));
	s->runs[s->n++] = (struct wordset_run){hash, s->n_words, n};
	s->n_words += n;
	wordset_place(s, (uint32_t)s->n);
	return (uint32_t)s->n;
}

void wordset_deinit(struct wordset *s)
{
	mem_free(s->runs);
	mem_free(s->words);
	mem_free(s->slots);
	*s = (struct wordset){0};
}
