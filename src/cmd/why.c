// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend why`: the report of what chosen tasks did. A recording has the tasks that were chosen
 * when it was made.
 */
#include "kontend/query-why.h"
#include "verbs.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

static bool is_one_number(const char *s)
{
	size_t n = 0;

	while (isdigit((unsigned char)s[n]))
		n++;
	return n && n < 10 && !s[n];
}

static int check(const struct opts *o, struct error *err)
{
	if (!o->input && !o->pids && !o->tids && !o->command)
		return error_set(err, -EINVAL,
				 "Give --pid, --tid or a command: each switch of a chosen task is "
				 "recorded, so all tasks would be too many");
	if (o->input && o->pids)
		return error_set(err, -EINVAL,
				 "A recording has the tasks that were chosen when it was made; "
				 "--tid chooses one of them, not --pid");
	if (o->input && o->tids && !is_one_number(o->tids))
		return error_set(err, -EINVAL, "--tid '%s': give one thread of the recording",
				 o->tids);
	return 0;
}

int cmd_why(const struct opts *o)
{
	struct opts report = *o;
	struct error err = {0};

	if (check(o, &err) < 0)
		return cmd_fail(CMD_EXIT_USAGE, &err);
	report.verb = VERB_REPORT;
	report.view = query_why_kind.name;
	report.why = !o->input;
	return cmd_report(&report);
}
