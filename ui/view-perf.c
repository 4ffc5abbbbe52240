// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lines on top of the views slots, contexts and events: these show one moment, and not all ways
 * of looking see all of it. So the first line says how and when, and the next ones what is missing,
 * why, and what gives it.
 */
#include "view-perf.h"
#include "kontend/layout.h"
#include "kontend/line.h"
#include "kontend/text.h"
#include "kontend/units.h"

#include <stdio.h>
#include <string.h>

/* A look that is much older than a refresh says little of now. */
#define STALE_NS 3000000000ull

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

/* "via bpf, cost slots 120us/s, events 1.90ms/s, 0.3s ago", or what of it fits into @room. */
static void how_text(const struct query_perf_sum *p, enum query_perf_part part, int room, char *buf,
		     size_t size)
{
	char cost[96], age[UNITS_BUF], ago[UNITS_BUF + 8] = "";
	const char *method = query_perf_method_name(p->method);
	uint64_t age_ns = p->look[part].age_ns;

	if (age_ns)
		snprintf(ago, sizeof(ago), ", %s ago", units_ns(age, age_ns));
	method = method ? method : "?";
	snprintf(buf, size, "via %s, %s%s", method,
		 query_perf_cost_text(p, part, true, cost, sizeof(cost)), ago);
	if (text_width(buf) > room)
		snprintf(buf, size, "via %s, %s%s", method,
			 query_perf_cost_text(p, part, false, cost, sizeof(cost)), ago);
	if (text_width(buf) > room)
		snprintf(buf, size, "via %s%s", method, ago);
	if (text_width(buf) > room)
		*buf = '\0';
}

static int draw_damage(struct view *v, struct screen *s, struct rect r, int y,
		       const struct query_perf_look *p)
{
	struct arena *a = &v->query->arena;
	const char *text = "";

	if (p->incomplete)
		text = arena_printf(a, "%u lists changed while they were read: rows may be missing",
				    p->incomplete);
	if (text && p->dropped)
		text = arena_printf(a, "%s%sno room for %u events, contexts or descriptors", text,
				    *text ? "; " : "", p->dropped);
	return text && *text ? view_draw_note(s, r, y, ROLE_WARN, text) : 0;
}

static int draw_missing(struct view *v, struct screen *s, struct rect r, int y,
			const struct query_perf_sum *p)
{
	if (!p->missing)
		return 0;
	const char *text = arena_printf(&v->query->arena, "not known: %s%s%s%s",
					query_perf_missing_text(v->query, p->missing),
					*p->reason ? ": " : "", p->reason, view_advice(p->reason));
	return text ? view_draw_note(s, r, y, ROLE_WARN, text) : 0;
}

int view_perf_head(struct view *v, struct screen *s, struct rect r, const struct query_perf_sum *p,
		   const struct view_perf_top *top)
{
	enum query_perf_part part = top->part;
	char how[160] = "";
	int y = 1;

	if (!p->known)
		return 0;
	struct line l = {.s = s, .r = r, .x = 1};
	top->figures(p, &l);
	how_text(p, part, r.w - 3 - l.x, how, sizeof(how));
	screen_put(s, r, r.w - 1 - text_width(how), 0,
		   p->look[part].age_ns > STALE_NS ? ROLE_WARN : ROLE_DIM, how);
	y += draw_damage(v, s, r, y, &p->look[part]);
	return y + draw_missing(v, s, r, y, p);
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
