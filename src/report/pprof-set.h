/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_REPORT_PPROF_SET_H
#define KONTEND_REPORT_PPROF_SET_H

#include <stddef.h>
#include <stdint.h>

/*
 * Runs of words, each kept once: its number stands for what the words say, as a function of a name
 * and a file. `= {0}` is empty.
 */
struct wordset {
	struct pprof_run {
		uint64_t hash;
		size_t first; /* in `words` */
		size_t n;
	} * runs; /* number 1 is the first */
	size_t n, cap;
	uint64_t *words;
	size_t n_words, cap_words;
	uint32_t *slots; /* open addressing on the hash; 0: free */
	size_t mask;
};

/* Its number; 0: it is not there. */
uint32_t wordset_find(const struct wordset *s, const uint64_t *words, size_t n);
/* The same, added if it is new; 0: no memory. */
uint32_t wordset_get(struct wordset *s, const uint64_t *words, size_t n);
static inline const uint64_t *wordset_words(const struct wordset *s, size_t number)
{
	return s->words + s->runs[number - 1].first;
}
void wordset_deinit(struct wordset *s);

#endif
