// SPDX-License-Identifier: GPL-2.0-only
/* When files of incidents are looked through, and what is said of it. */
#include "incident-keep.h"
#include "kontend/clock.h"
#include "kontend/units.h"
#include "verbs.h"

#include <inttypes.h>

static const uint64_t EVERY_NS = 600000000000;

/* What goes wrong each time is said once. */
static void say(struct incident_keep *k, const struct opts *o, const struct error *err)
{
	const struct retain_stat *s = &k->stat;
	char gone[UNITS_BUF], bytes[UNITS_BUF];

	if (err->code && !k->failed)
		cmd_say_as(o, JOURNAL_WARNING, "%s", err->text);
	k->failed = err->code != 0;
	if (s->removed)
		cmd_say(o,
			"removed the oldest %" PRIu64 " files of incidents, %s; %" PRIu64
			" stay, %s",
			s->removed, units_bytes(gone, s->removed_bytes), s->files,
			units_bytes(bytes, s->bytes));
}

void incident_keep_now(struct incident_keep *k, const struct opts *o)
{
	const struct retain_limits l = {
		.age_ns = o->max_age_ns, .bytes = o->max_size, .files = o->max_files};
	uint64_t now = retain_now(&k->clock, clock_ns(CLOCK_REALTIME), clock_ns(CLOCK_BOOTTIME));
	struct error err = {0};

	retain_apply(k->dir, &l, now, &k->stat, &err);
	k->next_ns = clock_now_ns() + EVERY_NS;
	say(k, o, &err);
}

void incident_keep_round(struct incident_keep *k, const struct opts *o)
{
	if (clock_now_ns() >= k->next_ns)
		incident_keep_now(k, o);
}
