// SPDX-License-Identifier: GPL-2.0-only
/* `help` and `version`: both print from tables and the build's own facts. `help keys` is a card of
 * keys, `help VIEW` a part of the manual. */
#include "build-features.h"
#include "help-view.h"
#include "kontend/command.h"
#include "verbs.h"
#include "version.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int put_card(void)
{
	char line[COMMAND_CARD_LINE];

	for (unsigned i = 0; command_card_line(i, line); i++)
		puts(line);
	return cmd_flush(CMD_EXIT_OK);
}

int cmd_help(const struct opts *o)
{
	struct error err = {0};

	if (!o->topic) {
		opts_help_all(stdout);
		return cmd_flush(CMD_EXIT_OK);
	}
	if (strcmp(o->topic, "keys") == 0)
		return put_card();
	enum opts_verb v = opts_verb_find(o->topic);
	if (v != VERBS) {
		opts_help(v, stdout);
		return cmd_flush(CMD_EXIT_OK);
	}
	if (help_view(o->topic, stdout))
		return cmd_flush(CMD_EXIT_OK);
	const char *hint = opts_nearest_verb(o->topic);
	if (hint)
		error_set(&err, -EINVAL,
			  "There is no verb '%s', and no view: did you mean '%s'? See 'kontend "
			  "--help'",
			  o->topic, hint);
	else
		error_set(&err, -EINVAL,
			  "There is no verb '%s', and no view: see 'kontend --help', and '?' on "
			  "the screen",
			  o->topic);
	return cmd_fail(CMD_EXIT_USAGE, &err);
}

/* Features of this build. Whether they work on this machine is the doctor's business. */
static void put_features(void)
{
	static const struct {
		const char *name;
		bool has;
		const char *library, *what;
	} features[] = {KONTEND_FEATURES};

	for (size_t i = 0; i < sizeof(features) / sizeof(*features); i++)
		printf("  %-12s [%s]  %-24s %s\n", features[i].name,
		       features[i].has ? " on " : " off", features[i].library, features[i].what);
}

int cmd_version(const struct opts *o)
{
	printf("kontend %s\n", KONTEND_VERSION);
	if (o->features)
		put_features();
	return cmd_flush(CMD_EXIT_OK);
}
