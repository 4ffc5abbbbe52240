// SPDX-License-Identifier: GPL-2.0-only
/* Incidents that triggers have caught. Enter goes to the moment of a row, and shows the tasks that
 * caused the waiting.
 */
#include "kontend/query-incidents.h"
#include "kontend/units.h"
#include "list.h"

static int ask_rows(struct list_view *l, struct query_spec *spec, struct table *ret,
		    struct error *err)
{
	return query_incidents(l->v.query, spec, ret, err);
}

static int draw_head(struct list_view *l, struct screen *s, struct rect r, const struct table *t)
{
	const struct query_incidents *all = l->v.query->incidents;
	struct line line = {.s = s, .r = r, .x = 1};
	char n[UNITS_BUF];

	(void)t;
	if (!all)
		return 0;
	line_printf(&line, all->n ? ROLE_WARN : ROLE_BOLD, "%zu incident%s", all->n,
		    all->n == 1 ? "" : "s");
	if (all->again)
		line_printf(&line, ROLE_NORMAL, ", again within the cooldown: %s times",
			    units_count(n, all->again));
	if (all->lost)
		line_printf(&line, ROLE_WARN, ", not in the list: %s", units_count(n, all->lost));
	const uint64_t row = l->pane.table.selected;
	const char *chain = row && row <= all->n ? all->list[row - 1].chain : "";
	if (!*chain)
		return 1;
	line = (struct line){.s = s, .r = layout_below(r, 1), .x = 1};
	line_put(&line, ROLE_DIM, "chain: ");
	line_put(&line, ROLE_NORMAL, chain);
	return 2;
}

static const char *empty_text(struct list_view *l, const struct table *t)
{
	(void)t;
	return l->v.query->incidents ? "no trigger has fired yet"
				     : "nothing is watched for: --trigger 'wait>50ms' does";
}

static int open_row(struct list_view *l)
{
	const struct query_incidents *all = l->v.query->incidents;
	uint64_t row = l->pane.table.selected;

	if (all && row && row <= all->n)
		app_go_to(l->v.app, all->list[row - 1].fired_ns, "chains");
	return 0;
}

static const struct list_ops ops = {
	.ask = ask_rows,
	.head = draw_head,
	.empty = empty_text,
	.open = open_row,
	.heat = "worst_ns",
};

static const struct view_key keys[] = {
	{CMD_ENTER, "go there"}, {CMD_FILTER, "filter"}, {CMD_SORT, "sort"}, {CMD_NONE, NULL}};

const struct view_ops view_incidents = {
	.name = "incidents",
	.title = "incidents",
	.digit = 'I',
	.keys = keys,
	.help = "What have triggers caught? A row each time that a condition of --trigger became "
		"true: kontend-trigger(7) lists the conditions. WHAT FIRED has the values at that "
		"moment, WORST the longest wait until it was over. BECAUSE OF is the holder of the "
		"lock, or the task that is waited for. CHAIN is the way from the task to what it "
		"waited for in the end, which the second line has for the selected row. Enter "
		"goes back to that moment, if it is still kept, and shows the chains of waits; on "
		"the ribbon it is a !.",
	.tables = "incidents",
	.size = sizeof(struct list_view),
	LIST_VIEW(&ops),
};
