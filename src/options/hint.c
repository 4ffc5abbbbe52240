// SPDX-License-Identifier: GPL-2.0-only
/* "Did you mean ...?" for names of options and verbs. */
#include "kontend/nearest.h"
#include "kontend/opts.h"

const char *opts_nearest(enum opts_verb verb, const char *word)
{
	struct nearest n = {.word = word};

	for (const struct opts_info *o = opts_table; o->name; o++)
		if (o->verbs & 1u << verb)
			nearest_consider(&n, o->name);
	return n.names[0];
}

const char *opts_nearest_verb(const char *word)
{
	struct nearest n = {.word = word};

	for (unsigned v = 0; v < VERBS; v++) {
		const struct opts_verb_info *i = opts_verb_info((enum opts_verb)v);

		if (i->hidden)
			continue;
		nearest_consider(&n, i->name);
		if (i->alias)
			nearest_consider(&n, i->alias);
	}
	return n.names[0];
}
