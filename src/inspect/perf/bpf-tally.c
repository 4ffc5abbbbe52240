// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hits between two snapshots of one kind. A rate needs two counts that are of the times of the
 * snapshots; the kernel adds up what a counter of the PMU has counted only when its event leaves
 * the PMU or is read, and until then the sum is of before.
 */
#include "bpf-int.h"
#include "kontend/mem.h"

#include <errno.h>

uint64_t record_counter_hits(struct record_counter *s, const struct raw_event *r, bool is_current)
{
	const uint32_t *at = r->id ? map64_get(&s->at, r->id) : NULL;
	const struct counted *before = at ? &s->counted[*at] : NULL;

	if (mem_grow(&s->next, &s->cap_next, s->n_next, sizeof(*s->next)) == 0)
		s->next[s->n_next++] = (struct counted){r->id, r->count, is_current};
	if (!before || !before->is_current || !is_current || r->count < before->count)
		return UINT64_MAX;
	return r->count - before->count;
}

int record_counter_turn(struct record_counter *s)
{
	struct counted *counted = s->counted;
	size_t cap = s->cap;

	s->counted = s->next;
	s->cap = s->cap_next;
	s->n = s->n_next;
	s->next = counted;
	s->cap_next = cap;
	s->n_next = 0;
	map64_clear(&s->at);
	for (size_t k = 0; k < s->n; k++)
		if (map64_put(&s->at, s->counted[k].id, (uint32_t)k) < 0)
			return -ENOMEM;
	return 0;
}

void record_counter_deinit(struct record_counter *s)
{
	map64_deinit(&s->at);
	mem_free(s->counted);
	mem_free(s->next);
	*s = (struct record_counter){0};
}
