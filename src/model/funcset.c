// SPDX-License-Identifier: GPL-2.0-only
/* Names and code of functions, as far as the recording has them. */
#include "kontend/funcset.h"
#include "kontend/funcsnap.h"
#include "kontend/mem.h"

#include <errno.h>

struct funcset {
	struct funcsnap snap;
	uint64_t changes;
	unsigned refs;
};

struct funcset *funcset_new(void)
{
	struct funcset *s = mem_calloc(1, sizeof(*s));

	if (s)
		s->refs = 1;
	return s;
}

struct funcset *funcset_ref(struct funcset *s)
{
	s->refs++;
	return s;
}

void funcset_unref(struct funcset *s)
{
	if (!s || --s->refs)
		return;
	funcsnap_deinit(&s->snap);
	mem_free(s);
}

const struct funcsnap *funcset_snap(const struct funcset *s)
{
	return &s->snap;
}

uint64_t funcset_changes(const struct funcset *s)
{
	return s->changes;
}

int funcset_take(struct funcset *s, const void *payload, size_t len)
{
	struct funcsnap more = {0};
	int r = funcsnap_decode(&more, payload, len);

	if (r == 0)
		r = funcsnap_merge(&s->snap, &more);
	funcsnap_deinit(&more);
	/* A failure halfway has changed something, too. */
	s->changes += r > 0 || r == -ENOMEM;
	return r < 0 ? r : 0;
}
