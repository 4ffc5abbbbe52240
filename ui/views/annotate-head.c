// SPDX-License-Identifier: GPL-2.0-only
/*
 * The function shown, and how: its share, where its code is from, then the settings with
 * their keys. Parts without room are left out as a whole, the least important first; of a name that
 * is too long the end is.
 */
#include "annotate.h"
#include "kontend/screen.h"
#include "kontend/text.h"
#include "kontend/units.h"
#include "widgets/layout.h"
#include "widgets/widget.h"

#include <stdio.h>
#include <string.h>

/* Those with the highest number are left out first; 0 is always there. */
struct part {
	char text[200];
	enum role role;
	int drop;
};

enum { PARTS = 10, GAP = 2, NARROW = 72 };

struct parts {
	struct part items[PARTS];
	size_t n;
};

static void add_part(struct parts *p, int drop, enum role role, const char *text)
{
	struct part *one = &p->items[p->n++];

	text_clean(one->text, sizeof(one->text), text);
	one->role = role;
	one->drop = drop;
}

static int width(const struct parts *p, int drop)
{
	int w = 1;

	for (size_t i = 0; i < p->n; i++)
		if (p->items[i].drop < drop)
			w += text_width(p->items[i].text) + GAP;
	return w - GAP;
}

static void draw(const struct parts *p, struct screen *s, struct rect r)
{
	int drop = PARTS + 1, x = 1;

	while (drop > 1 && width(p, drop) > r.w)
		drop--;
	for (size_t i = 0; i < p->n; i++) {
		const struct part *one = &p->items[i];
		int w = text_width(one->text);

		if (one->drop >= drop)
			continue;
		widget_text(s, r, x, 0, x + w > r.w ? r.w - x : w, one->role, one->text);
		x += w + GAP;
	}
}

/* "live text (patched)", "text of the recording", the file's path. */
static const char *source_of(const struct query_annotate *a)
{
	if (!a->source)
		return "no code";
	if (a->live)
		return "live text (patched)";
	return !strcmp(a->source, "recording") ? "text of the recording" : a->source;
}

static void add_counts(struct parts *p, const struct query_annotate *a)
{
	char buf[UNITS_BUF], all[UNITS_BUF], text[80];

	snprintf(text, sizeof(text), "%s%%", units_pct(buf, a->samples ? a->pct : 0));
	add_part(p, 1, ROLE_NORMAL, text);
	snprintf(text, sizeof(text), "%s/%s samples", units_count(buf, a->samples),
		 units_count(all, a->all_samples));
	add_part(p, 2, ROLE_NORMAL, text);
	if (a->waits && a->wait_ns) {
		snprintf(text, sizeof(text), "waited below %s", units_ns(buf, a->wait_ns));
		add_part(p, 5, ROLE_NORMAL, text);
	}
	if (a->size) {
		snprintf(text, sizeof(text), "%llu bytes", (unsigned long long)a->size);
		add_part(p, 7, ROLE_DIM, text);
	}
}

static void draw_what(const struct query_annotate *a, struct screen *s, struct rect r)
{
	struct parts p = {0};

	add_part(&p, 4, ROLE_DIM, "annotate");
	add_part(&p, 0, ROLE_BOLD, a->symbol);
	add_counts(&p, a);
	add_part(&p, 3, a->source ? ROLE_DIM : ROLE_WARN, source_of(a));
	if (a->note)
		add_part(&p, 5, ROLE_WARN, a->note);
	if (a->recorded)
		add_part(&p, 6, ROLE_DIM, "names: from the recording");
	if (strcmp(a->object, source_of(a)) != 0)
		add_part(&p, 6, ROLE_DIM, a->object);
	draw(&p, s, r);
}

static void setting(struct line *l, const char *value, const char *key)
{
	line_put(l, ROLE_BOLD, value);
	line_printf(l, ROLE_DIM, " [%s]  ", key);
}

static void draw_settings(const struct view_annotate *o, const struct query_annotate *a,
			  struct screen *s, struct rect r)
{
	struct annotate_rank rank = annotate_rank(a, o->unit, o->line);
	char right[80];
	struct line l = {.s = s, .r = r, .x = 1};
	int n = rank.rank ? snprintf(right, sizeof(right), "hot %zu/%zu", rank.rank, rank.n)
			  : snprintf(right, sizeof(right), "%zu hot", rank.n);

	if (r.w >= NARROW && a->n)
		snprintf(right + n, sizeof(right) - (size_t)n, "  line %zu/%zu", o->line + 1, a->n);
	int at = r.w - 1 - text_width(right);
	l.r.w = at > 0 ? at - 1 : r.w;
	setting(&l, annotate_unit_name(o->unit), "t");
	setting(&l, o->addresses ? "addresses" : "offsets", "a");
	if (a->source)
		setting(&l, o->bytes ? "bytes" : "no bytes", "o");
	if (!a->lines_why && a->source)
		setting(&l, o->no_source ? "no source" : "source", "s");
	screen_put(s, r, at, 0, ROLE_DIM, right);
}

void annotate_draw_head(const struct view_annotate *o, const struct query_annotate *a,
			struct screen *s, struct rect r)
{
	draw_what(a, s, r);
	draw_settings(o, a, s, layout_below(r, 1));
}
