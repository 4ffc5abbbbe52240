// SPDX-License-Identifier: GPL-2.0-only
/* When old files of incidents are looked for and removed, and the messages about it. */
#include "incident-retention.h"
#include "kontend/clock.h"
#include "kontend/cmd.h"
#include "kontend/units.h"

#include <inttypes.h>

static const uint64_t EVERY_NS = 600000000000;

void incident_retention_ask(struct incident_retention *k, const struct opts *o,
			    struct retain_limits *ret, uint64_t *ret_now_ns)
{
	*ret = (struct retain_limits){
		.age_ns = o->max_age_ns, .bytes = o->max_size, .files = o->max_files};
	*ret_now_ns = retain_now(&k->clock, clock_ns(CLOCK_REALTIME), clock_ns(CLOCK_BOOTTIME));
}

/* An error that occurs each time is printed once. */
void incident_retention_done(struct incident_retention *k, const struct opts *o,
			     const struct retain_stat *s, const struct error *err)
{
	char gone[UNITS_BUF], bytes[UNITS_BUF];

	k->stat = *s;
	k->next_ns = clock_now_ns() + EVERY_NS;
	if (err->code && !k->failed)
		cmd_say_as(o, JOURNAL_WARNING, "older incidents stay: %s", err->text);
	k->failed = err->code != 0;
	if (s->removed)
		cmd_say(o,
			"removed the oldest %" PRIu64 " files of incidents, %s; %" PRIu64
			" stay, %s",
			s->removed, units_bytes(gone, s->removed_bytes), s->files,
			units_bytes(bytes, s->bytes));
}

void incident_retention_now(struct incident_retention *k, const struct opts *o)
{
	struct retain_limits l;
	struct retain_stat s;
	struct error err = {0};
	uint64_t now;

	incident_retention_ask(k, o, &l, &now);
	retain_apply(k->dir, &l, now, &s, &err);
	incident_retention_done(k, o, &s, &err);
}

void incident_retention_round(struct incident_retention *k, const struct opts *o)
{
	if (clock_now_ns() >= k->next_ns)
		incident_retention_now(k, o);
}
