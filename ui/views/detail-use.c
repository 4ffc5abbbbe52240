// SPDX-License-Identifier: GPL-2.0-only
/*
 * In the page of a lock: how evenly tasks use it. One line with Jain's index and as many tasks as
 * there is room for, those that had it longest first.
 */
#include "detail.h"
#include "kontend/query-use.h"
#include "kontend/screen.h"
#include "kontend/units.h"

enum { ROOM_H = 18 };

int detail_ask_use(const struct view *v, struct detail_page *p)
{
	const struct query_scope *s = &v->scope;

	return s->mask == 1u << BY_LOCK ? query_use_lock(v->query, s->id[BY_LOCK], &p->use) : 0;
}

int detail_use_lines(const struct detail_page *p, struct rect r)
{
	return p->use.held_ns && p->use.n > 1 && r.h >= ROOM_H;
}

void detail_draw_use(const struct view *v, const struct detail_page *p, struct screen *s)
{
	struct line l = {.s = s, .r = p->r_use, .x = 1};

	if (!p->r_use.h)
		return;
	line_printf(&l, ROLE_DIM, "used by %u tasks, Jain's index ", p->use.n);
	line_printf(&l, ROLE_BOLD, "%.2f", p->use.jain);
	line_put(&l, ROLE_DIM, ":");
	for (uint32_t i = 0; i < p->use.n && p->use.v[i].held_ns; i++) {
		const char *text = query_use_text(v->query, &p->use, i);
		/* Of the others none, even if its text is shorter: they are in order. */
		if (text && !line_whole(&l, ROLE_NORMAL, "%s %s", i ? ";" : "", text))
			break;
	}
	if (!p->use.has_cpu)
		line_whole(&l, ROLE_DIM, "  CPU n/a: %s", p->use.no_cpu);
}
