/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_NEAREST_H
#define KONTEND_NEAREST_H

#include <stddef.h>

/*
 * "Did you mean ...?": the names with the least number of changed, missing, added or swapped
 * letters. Names further than a third of their length are no help and are not proposed.
 */
enum { NEAREST_NAMES = 3 };

/* `= {.word = WORD}` is a search that has seen nothing yet. */
struct nearest {
	const char *word;
	const char *names[NEAREST_NAMES]; /* the nearest first; borrowed */
	unsigned distance[NEAREST_NAMES];
	size_t n;
};

/* Keeps @name if it is near, each once. */
void nearest_consider(struct nearest *n, const char *name);

#endif
