// SPDX-License-Identifier: GPL-2.0-only
/*
 * The longest waits of each second. Of a storm nearly every wait is shorter than the shortest that
 * is kept, which costs a comparison; the others replace it.
 */
#include "kontend/longest-recent.h"

#include <string.h>

static const uint64_t SECOND_NS = 1000000000;

void longest_recent_clear(struct longest_recent *p)
{
	memset(p, 0, sizeof(*p));
}

static void find_shortest(struct longest_recent *p, struct longest_recent_second *s)
{
	s->shortest = 0;
	for (uint32_t i = 1; i < s->n; i++)
		if (longest_recent_ns(&s->waits[i]) < longest_recent_ns(&s->waits[s->shortest]))
			s->shortest = i;
	p->floor_ns = s->n < LONGEST_EACH ? 0 : longest_recent_ns(&s->waits[s->shortest]);
}

static void begin_second(struct longest_recent *p, uint64_t second)
{
	p->at = (p->at + 1) % (LONGEST_SECONDS + 1);
	p->seconds[p->at].second = second;
	p->seconds[p->at].n = 0;
	p->until_ns = (second + 1) * SECOND_NS;
	p->floor_ns = 0;
}

void longest_recent_add(struct longest_recent *p, const struct wait *w, uint64_t end_ns)
{
	if (end_ns >= p->until_ns)
		begin_second(p, end_ns / SECOND_NS);
	struct longest_recent_second *s = &p->seconds[p->at];
	uint32_t at = s->n < LONGEST_EACH ? s->n++ : s->shortest;

	s->waits[at] = (struct longest_recent_wait){*w, end_ns};
	find_shortest(p, s);
}

struct longest_recent_wait *longest_recent_at(struct longest_recent *p, uint32_t i)
{
	for (uint32_t k = 0; k <= LONGEST_SECONDS; k++) {
		if (i < p->seconds[k].n)
			return &p->seconds[k].waits[i];
		i -= p->seconds[k].n;
	}
	return NULL;
}

uint32_t longest_recent_list(const struct longest_recent *p, uint64_t now_ns,
			     const struct longest_recent_wait *ret[LONGEST_MOST])
{
	uint32_t n = 0;

	for (uint32_t k = 0; k <= LONGEST_SECONDS; k++)
		for (uint32_t i = 0; i < p->seconds[k].n; i++) {
			const struct longest_recent_wait *w = &p->seconds[k].waits[i];
			if (w->end_ns + LONGEST_NS >= now_ns)
				ret[n++] = w;
		}
	return n;
}
