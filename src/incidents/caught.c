// SPDX-License-Identifier: GPL-2.0-only
/* The triggers of a command line, for verbs that list or show the incidents these catch. */
#include "kontend/caught.h"

#include <errno.h>

/* A trigger on more than single waits is about long ones: 1us doubled to the last threshold. */
static const uint64_t LONG_NS = 16384000;

static size_t count(const struct opts *o)
{
	size_t n = 0;

	while (n < OPTS_LIST_MAX && o->triggers[n])
		n++;
	return n;
}

int caught_check(const struct opts *o, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < count(o); i++)
		r = trigger_check(o->triggers[i], err);
	return r;
}

int caught_begin(struct caught *c, struct engine *e, const struct opts *o, struct error *err)
{
	size_t n = count(o);

	if (!n)
		return 0;
	int r = triggers_new(&c->triggers, e, o->triggers, n, err);
	if (r == 0 && o->cooldown_ns)
		triggers_cooldown(c->triggers, o->cooldown_ns);
	return r;
}

/* Before further incidents are taken, one of which may be of the same trigger. */
static void follow(struct caught *c)
{
	for (size_t i = 0; i < TRIGGERS_MOST; i++)
		if (c->latest[i])
			(void)triggers_follow(c->triggers, &c->all.list[c->latest[i] - 1]);
}

size_t caught_take(struct caught *c)
{
	size_t before = c->all.n;
	struct incident in;

	if (!c->triggers)
		return 0;
	follow(c);
	while (triggers_next(c->triggers, &in, NULL) == 1) {
		size_t n = c->all.n;
		query_incidents_add(&c->all, &in);
		if (c->all.n > n)
			c->latest[in.trigger] = n + 1;
	}
	const struct triggers_count n = triggers_count(c->triggers);
	c->all.again = n.again;
	c->all.lost = n.fired + n.lost - (c->all.n - c->given);
	return c->all.n - before;
}

void caught_add(struct caught *c, const struct incident *in)
{
	size_t n = c->all.n;

	query_incidents_add(&c->all, in);
	c->given += c->all.n - n;
}

void caught_end(struct caught *c)
{
	triggers_free(c->triggers);
	query_incidents_deinit(&c->all);
	*c = (struct caught){0};
}

uint64_t caught_floor_ns(const struct opts *o)
{
	uint64_t least = o->triggers[0] ? LONG_NS : 0;

	for (size_t i = 0; i < OPTS_LIST_MAX && o->triggers[i]; i++) {
		uint64_t ns = trigger_least_ns(o->triggers[i]);
		least = ns < least ? ns : least;
	}
	return least;
}
