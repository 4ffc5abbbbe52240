// SPDX-License-Identifier: GPL-2.0-only
/* Lines above a table that say what it does not show, why, and what gives it. */
#include "note.h"
#include "kontend/query-lock.h"
#include "kontend/text.h"
#include "kontend/units.h"
#include "widgets/layout.h"

#include <stdio.h>
#include <string.h>

enum { ROWS_KEPT = 6 };

/* A look that is much older than a refresh says little of now. */
#define STALE_NS 3000000000ull

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
	if (!look.refused && *look.no_readers && strstr(what, "holders")) {
		const char *why =
			arena_printf(&v->query->arena, "not known: which tasks are readers: %s",
				     look.no_readers);
		return why ? view_draw_note(s, r, y, ROLE_WARN, why) : 0;
	}
	if (!look.refused)
		return 0;
	const char *text = arena_printf(&v->query->arena, "not known: %s: %s%s", what, look.reason,
					view_advice(look.reason));
	return text ? view_draw_note(s, r, y, ROLE_WARN, text) : 0;
}

/* "via bpf, cost 120us, 0.3s ago", or what of it fits into @room. */
static void how_text(const struct view_moment *m, int room, char *buf, size_t size)
{
	const char *method = m->method ? m->method : "?";
	char age[UNITS_BUF], ago[UNITS_BUF + 8] = "";

	if (m->age_ns)
		snprintf(ago, sizeof(ago), ", %s ago", units_ns(age, m->age_ns));
	for (size_t i = 0; i < sizeof(m->costs) / sizeof(*m->costs); i++) {
		snprintf(buf, size, "via %s, %s%s", method, m->costs[i], ago);
		if (text_width(buf) <= room)
			return;
	}
	snprintf(buf, size, "via %s%s", method, ago);
	if (text_width(buf) > room)
		*buf = '\0';
}

static int draw_damage(struct view *v, struct screen *s, struct rect r, int y,
		       const struct view_moment *m)
{
	struct arena *a = &v->query->arena;
	const char *text = "";

	if (m->incomplete)
		text = arena_printf(a, "%u lists changed while they were read: rows may be missing",
				    m->incomplete);
	if (text && m->dropped)
		text = arena_printf(a, "%s%sno room for %u %s", text, *text ? "; " : "", m->dropped,
				    m->dropped_what);
	return text && *text ? view_draw_note(s, r, y, ROLE_WARN, text) : 0;
}

int view_draw_moment(struct view *v, struct screen *s, struct rect r, int x,
		     const struct view_moment *m)
{
	const char *text = "";
	char how[160] = "";
	int y = 1;

	how_text(m, r.w - 3 - x, how, sizeof(how));
	screen_put(s, r, r.w - 1 - text_width(how), 0, m->age_ns > STALE_NS ? ROLE_WARN : ROLE_DIM,
		   how);
	y += draw_damage(v, s, r, y, m);
	if (*m->missing)
		text = arena_printf(&v->query->arena, "not known: %s%s%s%s", m->missing,
				    *m->reason ? ": " : "", m->reason, view_advice(m->reason));
	return text && *text ? y + view_draw_note(s, r, y, ROLE_WARN, text) : y;
}
