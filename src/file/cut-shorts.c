// SPDX-License-Identifier: GPL-2.0-only
/* The sums of short waits at the beginning and at the end of a cut. */
#include "cut-shorts.h"
#include "kontend/mem.h"
#include "kontend/shorts-between.h"

#include <errno.h>

int cut_shorts_at(const struct cut_shorts *s, const struct record *r, uint64_t at_ns,
		  struct record *ret)
{
	const size_t head = sizeof(struct record_snapshot);

	return s->last ? shorts_between((const char *)s->last + head, s->len - head, s->last_ns, r,
					at_ns, ret)
		       : 0;
}

int cut_shorts_took(struct cut_shorts *s, const struct record *r)
{
	void *copy = mem_dup(r->data, r->len, 1);

	if (!copy)
		return -ENOMEM;
	mem_free(s->last);
	s->last = copy;
	s->len = r->len;
	(void)shorts_between_is(r, &s->last_ns);
	return 0;
}

bool cut_shorts_lacks(const struct cut_shorts *s, uint64_t until_ns)
{
	return s->last && s->last_ns < until_ns;
}

void cut_shorts_deinit(struct cut_shorts *s)
{
	mem_free(s->last);
	*s = (struct cut_shorts){0};
}
