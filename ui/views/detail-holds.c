// SPDX-License-Identifier: GPL-2.0-only
/* In the page of a lock: how long it is held, waited for or not, where --holds measures that. */
#include "detail.h"
#include "kontend/query-holds.h"
#include "kontend/screen.h"

enum { ROOM_H = 14 };

int detail_ask_holds(const struct view *v, struct detail_page *p)
{
	const struct query_scope *s = &v->scope;

	return s->mask == 1u << BY_LOCK ? query_holds_page(v->query, s->id[BY_LOCK], &p->holds) : 0;
}

int detail_holds_lines(const struct detail_page *p, struct rect r)
{
	return r.h >= ROOM_H ? (int)p->holds.n : p->holds.n > 0;
}

void detail_draw_holds(const struct detail_page *p, struct screen *s)
{
	struct line l = {.s = s, .r = p->r_holds, .x = 1};

	for (int i = 0; i < p->r_holds.h && i < (int)p->holds.n; i++) {
		line_put(&l, i ? ROLE_DIM : ROLE_NORMAL, p->holds.lines[i]);
		l.x = 1;
		l.y++;
	}
}
