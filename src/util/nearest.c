// SPDX-License-Identifier: GPL-2.0-only
/*
 * Optimal string alignment. A name that begins with the word counts as one letter away. Words
 * longer than a row of the table only match names that they begin.
 */
#include "kontend/nearest.h"

#include <stdbool.h>
#include <string.h>

enum { NEAREST_LEN = 32 };

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static unsigned distance(const char *a, const char *b)
{
	unsigned d[NEAREST_LEN + 1][NEAREST_LEN + 1];
	size_t n = strlen(a), m = strlen(b);

	if (n > NEAREST_LEN || m > NEAREST_LEN)
		return NEAREST_LEN;
	for (size_t i = 0; i <= n; i++) {
		for (size_t j = 0; j <= m; j++) {
			if (!i || !j) {
				d[i][j] = (unsigned)(i + j);
				continue;
			}
			d[i][j] = least(least(d[i - 1][j], d[i][j - 1]) + 1,
					d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
		}
	}
	return d[n][m];
}

/* Inserts after equally similar names, so that the first of them stays first. */
static void insert(struct nearest *n, const char *name, unsigned d)
{
	size_t at = 0;

	while (at < n->n && n->distance[at] <= d)
		at++;
	if (at == NEAREST_NAMES)
		return;
	if (n->n < NEAREST_NAMES)
		n->n++;
	for (size_t i = n->n - 1; i > at; i--) {
		n->names[i] = n->names[i - 1];
		n->distance[i] = n->distance[i - 1];
	}
	n->names[at] = name;
	n->distance[at] = d;
}

void nearest_consider(struct nearest *n, const char *name)
{
	size_t len = strlen(n->word);
	bool begins = len >= 2 && strncmp(n->word, name, len) == 0;
	unsigned d = begins ? 1 : distance(n->word, name);

	if (d >= NEAREST_LEN || d > (strlen(name) + 2) / 3)
		return;
	for (size_t i = 0; i < n->n; i++)
		if (strcmp(n->names[i], name) == 0)
			return;
	insert(n, name, d);
}
