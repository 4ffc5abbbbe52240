// SPDX-License-Identifier: GPL-2.0-only
/*
 * The longest waits of each second. Of a storm nearly every wait is shorter than the shortest that
 * is kept, which costs a comparison; the others replace it.
 */
#include "kontend/past.h"

#include <string.h>

static const uint64_t SECOND_NS = 1000000000;

void past_clear(struct past *p)
{
	memset(p, 0, sizeof(*p));
}

static void find_shortest(struct past *p, struct past_second *s)
{
	s->shortest = 0;
	for (uint32_t i = 1; i < s->n; i++)
		if (past_ns(&s->waits[i]) < past_ns(&s->waits[s->shortest]))
			s->shortest = i;
	p->floor_ns = s->n < PAST_EACH ? 0 : past_ns(&s->waits[s->shortest]);
}

static void begin_second(struct past *p, uint64_t second)
{
	p->at = (p->at + 1) % (PAST_SECONDS + 1);
	p->seconds[p->at].second = second;
	p->seconds[p->at].n = 0;
	p->until_ns = (second + 1) * SECOND_NS;
	p->floor_ns = 0;
}

void past_add(struct past *p, const struct wait *w, uint64_t end_ns)
{
	if (end_ns >= p->until_ns)
		begin_second(p, end_ns / SECOND_NS);
	struct past_second *s = &p->seconds[p->at];
	uint32_t at = s->n < PAST_EACH ? s->n++ : s->shortest;

	s->waits[at] = (struct past_wait){*w, end_ns};
	find_shortest(p, s);
}

struct past_wait *past_at(struct past *p, uint32_t i)
{
	for (uint32_t k = 0; k <= PAST_SECONDS; k++) {
		if (i < p->seconds[k].n)
			return &p->seconds[k].waits[i];
		i -= p->seconds[k].n;
	}
	return NULL;
}

uint32_t past_list(const struct past *p, uint64_t now_ns, const struct past_wait *ret[PAST_MOST])
{
	uint32_t n = 0;

	for (uint32_t k = 0; k <= PAST_SECONDS; k++)
		for (uint32_t i = 0; i < p->seconds[k].n; i++) {
			const struct past_wait *w = &p->seconds[k].waits[i];
			if (w->end_ns + PAST_NS >= now_ns)
				ret[n++] = w;
		}
	return n;
}
