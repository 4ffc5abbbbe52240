/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_EXPORT_PPROF_SET_H
#define KONTEND_EXPORT_PPROF_SET_H

#include <stddef.h>
#include <stdint.h>

/*
 * A set of runs of words: equal runs have the same number, for example a function with a name and a
 * file. `= {0}` is empty.
 */
struct wordset {
	struct pprof_run {
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
/* The same, but adds a new run; 0: no memory. */
uint32_t wordset_get(struct wordset *s, const uint64_t *words, size_t n);
static inline const uint64_t *wordset_words(const struct wordset *s, size_t number)
{
	return s->words + s->runs[number - 1].first;
}
void wordset_deinit(struct wordset *s);

#endif
