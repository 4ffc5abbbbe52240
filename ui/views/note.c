// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines above a table: notes about data that the table does not show, why, and how to get them; and
 * the first lines of views that show snapshots. Each function leaves room for ROWS_KEPT rows.
 */
#include "note.h"
#include "kontend/query-lock.h"
#include "kontend/screen.h"
#include "kontend/text.h"
#include "kontend/units.h"
#include "widgets/layout.h"

#include <stdio.h>
#include <string.h>

enum { ROWS_KEPT = 6 };

/* A snapshot that is much older than a refresh says little about the present. */
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

/* "via bpf, cost 120us, 0.3s ago", or as much of it as fits into @room. */
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

void view_perf_opened(const struct query_perf_sum *p, struct line *l)
{
	static const char label[] = "  created ";
	char buf[UNITS_BUF];
	const char *rate = p->opened_per_s > 0 ? units_rate(buf, p->opened_per_s) : "·";

	/* A number that is cut off would read as another number. */
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
