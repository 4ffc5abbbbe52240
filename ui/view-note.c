// SPDX-License-Identifier: GPL-2.0-only
/* Lines above a table that say what it does not show, why, and what gives it. */
#include "kontend/layout.h"
#include "kontend/query-lock.h"
#include "kontend/view.h"

#include <string.h>

enum { ROWS_KEPT = 6 };

int view_draw_note(struct screen *s, struct rect r, int y, enum role role, const char *text)
{
	struct rect room = layout_below(r, y);
	int lines = 0;

	room.h = room.h > ROWS_KEPT ? room.h - ROWS_KEPT : 0;
	view_draw_text(s, room, role, text);
	for (const char *at = text; *at && lines < room.h; lines++) {
		at += view_wrap(at, r.w < 100 ? r.w - 2 : 98);
		at += strspn(at, " ");
	}
	return lines;
}

const char *view_advice(const char *reason)
{
	return strstr(reason, "CAP_BPF") ? ". Run as root, or as 'kontend doctor' says" : "";
}

int view_draw_no_look(struct view *v, struct screen *s, struct rect r, int y, const char *what)
{
	struct query_lock_look look;

	query_lock_look(v->query, &look);
	if (!look.refused)
		return 0;
	const char *text = arena_printf(&v->query->arena, "not known: %s: %s%s", what, look.reason,
					view_advice(look.reason));
	return text ? view_draw_note(s, r, y, ROLE_WARN, text) : 0;
}
