// SPDX-License-Identifier: GPL-2.0-only
/* A part of the CPU time of all CPUs, as --max-overhead takes it. */
#include "kontend/opts-overhead.h"
#include "kontend/trigger.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Default while waiting for incidents, which may take weeks; the screen has none. */
static const uint32_t INCIDENTS_PPM = 10000;
/* For triggers about several waits, those count as long: 1us doubled up to the last threshold. */
static const uint64_t LONG_NS = 16384000;

int opts_overhead(const struct opts *o, uint32_t *ret_ppm, struct error *err)
{
	const char *text = o->max_overhead;
	char *end;

	*ret_ppm = !text && o->verb == VERB_RECORD && o->triggers[0] ? INCIDENTS_PPM : 0;
	if (!text || strcmp(text, "off") == 0)
		return 0;
	double percent = strtod(text, &end);
	if (*text < '0' || *text > '9' || (strcmp(end, "%") != 0 && *end) || percent < 0.01 ||
	    percent > 100)
		return error_set(err, -EINVAL,
				 "--max-overhead '%s': give a percentage of the CPU time of all "
				 "CPUs from 0.01%% to 100%%, like 1%%, or off",
				 text);
	*ret_ppm = (uint32_t)(percent * 10000 + 0.5);
	return 0;
}

uint64_t opts_overhead_floor_ns(const struct opts *o)
{
	uint64_t least = o->triggers[0] ? LONG_NS : 0;

	for (size_t i = 0; i < OPTS_LIST_MAX && o->triggers[i]; i++) {
		uint64_t ns = trigger_least_ns(o->triggers[i]);
		least = ns < least ? ns : least;
	}
	return least;
}
