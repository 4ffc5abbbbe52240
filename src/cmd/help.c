// SPDX-License-Identifier: GPL-2.0-only
/* `help` and `version`: both print from tables and the build's own facts. */
#include "verbs.h"
#include "version.h"

#include <errno.h>
#include <stdio.h>

int cmd_help(const struct opts *o)
{
	struct error err = {0};

	if (!o->topic) {
		opts_help_all(stdout);
		return cmd_flush(CMD_EXIT_OK);
	}
	enum opts_verb v = opts_verb_find(o->topic);
	if (v == VERBS) {
		const char *hint = opts_nearest_verb(o->topic);

		error_set(&err, -EINVAL, "There is no verb '%s': %s%s%s 'kontend --help'", o->topic,
			  hint ? "did you mean '" : "see", hint ? hint : "", hint ? "'? See" : "");
		return cmd_fail(CMD_EXIT_USAGE, &err);
	}
	opts_help(v, stdout);
	return cmd_flush(CMD_EXIT_OK);
}

int cmd_version(const struct opts *o)
{
	(void)o;
	printf("kontend %s\n", KONTEND_VERSION);
	return cmd_flush(CMD_EXIT_OK);
}
