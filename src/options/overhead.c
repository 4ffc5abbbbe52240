// SPDX-License-Identifier: GPL-2.0-only
/* A part of the CPU time of all CPUs, as --max-overhead takes it. */
#include "kontend/number.h"
#include "kontend/opts-overhead.h"

#include <errno.h>
#include <string.h>

/* Default while waiting for incidents, which may take weeks; the screen has none. */
static const uint32_t INCIDENTS_PPM = 10000;

int opts_overhead(const struct opts *o, uint32_t *ret_ppm, struct error *err)
{
	const char *text = o->max_overhead, *at = text;
	double percent;

	*ret_ppm = !text && o->verb == VERB_RECORD && o->triggers[0] ? INCIDENTS_PPM : 0;
	if (!text || strcmp(text, "off") == 0)
		return 0;
	if (number_take_decimal(&at, &percent) < 0 || (strcmp(at, "%") != 0 && *at) ||
	    percent < 0.01 || percent > 100)
		return error_set(err, -EINVAL,
				 "--max-overhead '%s': give a percentage of the CPU time of all "
				 "CPUs from 0.01%% to 100%%, like 1%%, or off",
				 text);
	*ret_ppm = (uint32_t)(percent * 10000 + 0.5);
	return 0;
}
