// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend tour`: the screen with callouts. What there is to see is the demo, or a recording: one
 * that is named, or where nobody may measure the one that is installed.
 */
#include "kontend/privs.h"
#include "verbs.h"
#include "version.h"

#include <errno.h>
#include <linux/capability.h>
#include <unistd.h>

/* What the tour has an incident of: the demo holds locks for so long, now and then. */
static const char caught[] = "wait>300ms";

static bool may_measure(void)
{
	uint64_t have = privs_now();

	return have & (1ull << CAP_PERFMON | 1ull << CAP_SYS_ADMIN);
}

int cmd_tour(const struct opts *o)
{
	struct opts screen = *o;
	struct error err = {0};

	screen.tour = true;
	screen.triggers[0] = caught;
	if (o->topic || !may_measure()) {
		screen.verb = VERB_REPLAY;
		screen.topic = o->topic ? o->topic : KONTEND_SAMPLE;
		if (!o->topic && access(KONTEND_SAMPLE, R_OK) != 0) {
			error_errno(&err, -errno,
				    "You may not measure here, and the recording for the tour, %s, "
				    "cannot be read; give one, as in 'kontend tour kontend.data'",
				    KONTEND_SAMPLE);
			return cmd_fail(CMD_EXIT_FAILURE, &err);
		}
		return cmd_replay(&screen);
	}
	screen.verb = VERB_LIVE;
	screen.demo = true;
	return cmd_live(&screen);
}
