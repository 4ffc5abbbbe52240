/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_WORDSET_H
#define KONTEND_WORDSET_H

#include <stddef.h>
#include <stdint.h>

/*
 * A set of runs of 64-bit words: each different run has a number, from 1, in the order of first
 * use. For example a function is a run of two words, name and file. It owns copies of the words and
 * never forgets a run. `= {0}` is empty.
 */
struct wordset {
	struct wordset_run {
		uint64_t hash;
		size_t first; /* index in `words` */
		size_t n;
	} * runs; /* number 1 is the first */
	size_t n, cap;
	uint64_t *words;
	size_t n_words, cap_words;
	uint32_t *slots; /* open addressing on the hash; 0: free */
	size_t mask;
};

/* The number of the run; 0: it is not in the set. */
uint32_t wordset_find(const struct wordset *s, const uint64_t *words, size_t n);
/* The same, but adds a run that is not in the set; 0: no memory. */
uint32_t wordset_get(struct wordset *s, const uint64_t *words, size_t n);
/* The words of a run, valid until the next wordset_get(). */
static inline const uint64_t *wordset_words(const struct wordset *s, size_t number)
{
	return s->words + s->runs[number - 1].first;
}
/* Frees all, and leaves an empty set. */
void wordset_deinit(struct wordset *s);

#endif
