/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_REPORT_PPROF_SET_H
#define KONTEND_REPORT_PPROF_SET_H

#include <stddef.h>
#include <stdint.h>

/*
 * Runs of words, each kept once: its number stands for what the words say, as a function of a name
 * and a file. `= {0}` is empty.
 */
struct pprof_set {
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
uint32_t pprof_set_find(const struct pprof_set *s, const uint64_t *words, size_t n);
/* The same, added if it is new; 0: no memory. */
uint32_t pprof_set_get(struct pprof_set *s, const uint64_t *words, size_t n);
static inline const uint64_t *pprof_set_words(const struct pprof_set *s, size_t number)
{
	return s->words + s->runs[number - 1].first;
}
void pprof_set_deinit(struct pprof_set *s);

#endif
