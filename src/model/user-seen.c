// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/user-seen.h"

#include <stdio.h>

static struct user_counts counts_of(const struct usersnap_head *h)
{
	return (struct user_counts){.sleeps = h->sleeps,
				    .unproven = h->unproven,
				    .unproven_ns = h->unproven_ns,
				    .unknown = h->unknown,
				    .foreign = h->foreign,
				    .dropped = h->dropped,
				    .missed = h->missed,
				    .off_ns = h->off_ns};
}

void user_seen_take(struct user_seen *u, const struct usersnap *s)
{
	const struct usersnap_head *h = &s->head;

	snprintf(u->reason, sizeof(u->reason), "%s", usersnap_text(s, h->reason));
	if (h->reason || h->time_ns <= u->seen_ns)
		return;
	/* The first one of a part has counts of the time before it; another measurement has none.
	 */
	if (!u->seen_ns && !h->is_first)
		u->before = counts_of(h);
	else if (u->from_ns != h->from_ns)
		u->before = (struct user_counts){0};
	u->now = counts_of(h);
	u->from_ns = h->from_ns;
	u->seen_ns = h->time_ns;
	u->level = h->level;
}

void user_seen_zero(struct user_seen *u)
{
	u->before = u->now;
}

static uint64_t grown(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

bool user_seen_counts(const struct user_seen *u, struct user_counts *ret)
{
	const struct user_counts *n = &u->now, *b = &u->before;

	*ret = (struct user_counts){.sleeps = grown(n->sleeps, b->sleeps),
				    .unproven = grown(n->unproven, b->unproven),
				    .unproven_ns = grown(n->unproven_ns, b->unproven_ns),
				    .unknown = grown(n->unknown, b->unknown),
				    .foreign = grown(n->foreign, b->foreign),
				    .dropped = grown(n->dropped, b->dropped),
				    .missed = grown(n->missed, b->missed),
				    .off_ns = grown(n->off_ns, b->off_ns)};
	return u->seen_ns && !*u->reason;
}
