/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_NEAREST_H
#define KONTEND_NEAREST_H

#include <stddef.h>

/*
 * "Did you mean ...?": finds the names with the fewest changed, missing, added or swapped letters.
 * Names that differ in more than a third of their length are not proposed.
 */
enum { NEAREST_NAMES = 3 };

/* `= {.word = WORD}` starts a search. */
struct nearest {
	const char *word;
	const char *names[NEAREST_NAMES]; /* the nearest first; borrowed */
	unsigned distance[NEAREST_NAMES];
	size_t n;
};

/* Keeps @name if it is similar, each name once. */
void nearest_consider(struct nearest *n, const char *name);

#endif
