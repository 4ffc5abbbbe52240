// SPDX-License-Identifier: GPL-2.0-only
/* `kontend demo`: the built-in workload in the foreground. */
#include "kontend/demo.h"
#include "kontend/rights.h"
#include "verbs.h"

#include <stdio.h>

static void say_missing(const struct error *err)
{
	fprintf(stderr, "kontend: %s\n", err->text);
}

int cmd_demo(const struct opts *o)
{
	struct demo_options d = {.duration_ns = o->duration_ns,
				 .threads = (unsigned)o->threads,
				 .ready = rights_give_up,
				 .missing = o->verbose ? say_missing : NULL};
	struct error err = {0};

	if (o->kinds && demo_kinds_parse(o->kinds, &d.kinds, &err) < 0)
		return cmd_fail(CMD_EXIT_USAGE, &err);
	if (o->verbose)
		cmd_say(o, "contending for locks%s", d.duration_ns ? "" : " until Ctrl-C");
	if (demo_run(&d, &err) < 0)
		return cmd_fail(CMD_EXIT_FAILURE, &err);
	return CMD_EXIT_OK;
}
