// SPDX-License-Identifier: GPL-2.0-only
/* Incidents on the screen: a line when one comes, and the way back to its moment. */
#include "kontend/query-incidents.h"
#include "priv.h"

void app_incidents_take(struct app *a)
{
	const struct query_incidents *all = a->query.incidents;
	size_t n = a->catcher ? a->catcher->take(a->catcher->arg) : 0;

	a->dirty |= n != 0;
	if (!n || a->time.is_replay)
		return;
	const struct incident *in = &all->list[all->n - 1];
	app_say(a, ROLE_WARN, "incident: %s%s%s%s%s; I has %s", in->fired,
		*in->lock_name ? " for " : "", in->lock_name, *in->because ? ", held by " : "",
		in->because, all->n == 1 ? "it" : "them all");
}

void app_go_to(struct app *a, uint64_t ns, const char *view)
{
	if (!a->time.line && !app_history_travel(a)) {
		if (!a->history)
			app_say(a, ROLE_DIM, "Nothing of before is kept here");
		return;
	}
	if (ns < timeline_begin_ns(a->time.line))
		app_say(a, ROLE_WARN, "That moment is not kept any more: this is the earliest");
	app_time_go(a, ns);
	app_command(a, CMD_VIEW, &(struct command_arg){.text = view});
}
