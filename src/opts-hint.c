// SPDX-License-Identifier: GPL-2.0-only
/*
 * "Did you mean ...?": the name with the least number of changed, missing, added or swapped letters
 * (optimal string alignment), where a name that the word begins counts as near as one letter. Names
 * further than a third of their length are no help and are not proposed.
 */
#include "kontend/opts.h"

#include <string.h>

enum { HINT_LEN = 32 };

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static unsigned distance(const char *a, const char *b)
{
	unsigned d[HINT_LEN + 1][HINT_LEN + 1];
	size_t n = strlen(a), m = strlen(b);

	if (n > HINT_LEN || m > HINT_LEN)
		return HINT_LEN;
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

/* Keeps @name in *best when it is nearer to @word. */
static void consider(const char *word, const char *name, const char **best, unsigned *best_d)
{
	size_t len = strlen(word);
	unsigned d = len >= 2 && strncmp(word, name, len) == 0 ? 1 : distance(word, name);

	if (d < *best_d && d <= (strlen(name) + 2) / 3) {
		*best = name;
		*best_d = d;
	}
}

const char *opts_nearest(enum opts_verb verb, const char *word)
{
	const char *best = NULL;
	unsigned d = HINT_LEN;

	for (const struct opts_info *o = opts_table; o->name; o++)
		if (o->verbs & 1u << verb)
			consider(word, o->name, &best, &d);
	return best;
}

const char *opts_nearest_verb(const char *word)
{
	const char *best = NULL;
	unsigned d = HINT_LEN;

	for (unsigned v = 0; v < VERBS; v++) {
		const struct opts_verb_info *i = opts_verb_info((enum opts_verb)v);

		if (i->hidden)
			continue;
		consider(word, i->name, &best, &d);
		if (i->alias)
			consider(word, i->alias, &best, &d);
	}
	return best;
}
