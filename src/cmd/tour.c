// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend tour`: the screen with callouts. It shows the demo, or a recording: one that is named,
 * or, for users who may not measure, the one that is installed.
 */
#include "kontend/privs.h"
#include "sample.h"
#include "verbs.h"

#include <linux/capability.h>

/* The incident of the tour: the demo holds locks for so long, now and then. */
static const char caught[] = "wait>300ms";

static bool may_measure(void)
{
	uint64_t have = privs_now();

	return have & (1ull << CAP_PERFMON | 1ull << CAP_SYS_ADMIN);
}

int cmd_tour(const struct opts *o)
{
	struct opts screen = *o;
	char sample[SAMPLE_PATH];
	struct error err = {0};

	screen.tour = true;
	screen.triggers[0] = caught;
	if (o->topic || !may_measure()) {
		screen.verb = VERB_REPLAY;
		if (!o->topic && sample_path(sample, &err) < 0)
			return cmd_fail(CMD_EXIT_FAILURE, &err);
		screen.topic = o->topic ? o->topic : sample;
		return cmd_replay(&screen);
	}
	screen.verb = VERB_LIVE;
	screen.demo = true;
	return cmd_live(&screen);
}
