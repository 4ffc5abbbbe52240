// SPDX-License-Identifier: GPL-2.0-only
/* The lines on top of the views slots, contexts and events. */
#include "perf.h"
#include "kontend/text.h"
#include "kontend/units.h"
#include "note.h"
#include "widgets/line.h"

void view_perf_opened(const struct query_perf_sum *p, struct line *l)
{
	static const char label[] = "  created ";
	char buf[UNITS_BUF];
	const char *rate = p->opened_per_s > 0 ? units_rate(buf, p->opened_per_s) : "·";

	/* A number that is cut off would be another one. */
	if (!p->opened_known || l->x + text_width(label) + text_width(rate) + 2 > l->r.w)
		return;
	line_put(l, ROLE_DIM, label);
	line_printf(l, ROLE_NORMAL, "%s/s", rate);
}

int view_perf_head(struct view *v, struct screen *s, struct rect r, const struct query_perf_sum *p,
		   const struct view_perf_top *top)
{
	const struct query_perf_look *look = &p->look[top->part];
	struct line l = {.s = s, .r = r, .x = 1};
	char both[96], one[96];

	if (!p->known)
		return 0;
	top->figures(p, &l);
	return view_draw_moment(
		v, s, r, l.x,
		&(struct view_moment){
			.method = query_perf_method_name(p->method),
			.costs = {query_perf_cost_text(p, top->part, true, both, sizeof(both)),
				  query_perf_cost_text(p, top->part, false, one, sizeof(one))},
			.age_ns = look->age_ns,
			.incomplete = look->incomplete,
			.dropped = look->dropped,
			.dropped_what = "events, contexts or descriptors",
			.missing = query_perf_missing_text(v->query, p->missing),
			.reason = p->reason,
		});
}

const char *view_perf_empty(struct view *v, const struct table *t, const struct query_perf_sum *p,
			    uint32_t needs, const char *none)
{
	const char *text = none;

	if (!p->known)
		text = p->reason;
	else if (t->n_total)
		text = view_empty_text(v, t);
	else if (p->missing & needs)
		text = "not known, for the reason above";
	return text ? text : "";
}
