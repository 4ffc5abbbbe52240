// SPDX-License-Identifier: GPL-2.0-only
/* Options that several verbs read in the same way. */
#include "kontend/query-verdict.h"
#include "kontend/query-zoom.h"
#include "verbs.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

int cmd_width(const struct opts *o)
{
	struct winsize w;

	if (o->output || ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) < 0)
		return 0;
	return w.ws_col;
}

unsigned cmd_threads(const struct opts *o)
{
	cpu_set_t set;

	if (o->threads)
		return (unsigned)o->threads;
	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return 2; /* more CPUs than the set has room for */
	return (unsigned)CPU_COUNT(&set);
}

char cmd_separator(const struct opts *o)
{
	if (!o->separator)
		return ',';
	return o->separator[0] == '\\' ? '\t' : o->separator[0];
}

double cmd_percent_limit(const struct opts *o)
{
	return o->percent_limit ? strtod(o->percent_limit, NULL) : 0;
}

int cmd_verdict(const struct opts *o, struct verdict_limits *ret, struct error *err)
{
	*ret = verdict_defaults;
	return o->verdict ? query_verdict_parse(o->verdict, ret, err) : 0;
}

int cmd_zoom(const struct opts *o, struct query_zoom *ret, struct error *err)
{
	int r = 0;

	*ret = (struct query_zoom){0};
	for (size_t i = 0; r == 0 && i < OPTS_LIST_MAX && o->zooms[i]; i++)
		r = query_zoom_parse(o->zooms[i], o->groups, ret, err);
	return r;
}
