// SPDX-License-Identifier: GPL-2.0-only
/*
 * Numbers as shapes: bars in eighths of a column, sparklines in eight levels, a histogram, a graph
 * over time in eighths of a line. A value above zero always shows at least the smallest shape,
 * since "a little" and "nothing" are different answers. ASCII looks are the screen's business.
 */
#include "kontend/query-hist.h"
#include "kontend/units.h"
#include "widget.h"
#include <stdio.h>

static const char *const levels[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
static const char *const eighths[] = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};

enum role widget_heat(double share)
{
	if (share < 0.05)
		return ROLE_HEAT_LOW;
	return share < 0.2 ? ROLE_HEAT_MID : ROLE_HEAT_HIGH;
}

void widget_bar(struct screen *s, struct rect r, int x, int y, int w, double share, enum role role)
{
	int left = (int)(share * w * 8 + 0.5);

	if (!(share > 0) || w <= 0)
		return;
	if (share > 1)
		left = w * 8;
	if (left < 1)
		left = 1;
	for (int i = 0; i < w && left > 0; i++, left -= 8)
		screen_put(s, r, x + i, y, role, eighths[left < 8 ? left : 8]);
}

uint64_t widget_series_max(const uint64_t *v, uint32_t n)
{
	uint64_t max = 0;

	for (uint32_t i = 0; i < n; i++)
		max = v[i] > max ? v[i] : max;
	return max;
}

/* Height of @v in units, of which @max has @units: 0 for zero alone. */
static int height(uint64_t v, uint64_t max, int units)
{
	int h;

	if (!v || !max)
		return 0;
	h = (int)((double)v / (double)max * units + 0.5);
	if (h > units)
		return units;
	return h < 1 ? 1 : h;
}

void widget_sparkline(struct screen *s, struct rect r, int x, int y, int w, const uint64_t *v,
		      uint32_t n, uint64_t max)
{
	uint32_t shown = w > 0 && n > (uint32_t)w ? (uint32_t)w : n;

	if (w <= 0)
		return;
	if (!max)
		max = widget_series_max(v, n);
	for (uint32_t i = 0; i < shown; i++)
		screen_put(s, r, x + w - (int)shown + (int)i, y, ROLE_GRAPH,
			   levels[height(v[n - shown + i], max, 8)]);
}

/* Where there are more than columns, each shows the greatest of some. */
void widget_spread(struct screen *s, struct rect r, const uint64_t *v, uint32_t n, uint64_t max)
{
	uint32_t w = r.w > 0 ? (uint32_t)r.w : 0, shown = n < w ? n : w;

	for (uint32_t i = 0; i < shown; i++) {
		uint32_t from = (uint32_t)((uint64_t)i * n / shown);
		uint32_t to = (uint32_t)((uint64_t)(i + 1) * n / shown);

		screen_put(s, r, (int)i, 0, ROLE_GRAPH,
			   levels[height(widget_series_max(v + from, to - from), max, 8)]);
	}
}

void widget_graph(struct screen *s, struct rect r, const uint64_t *v, uint32_t n, uint64_t max)
{
	uint32_t shown = r.w > 0 && n > (uint32_t)r.w ? (uint32_t)r.w : n;

	if (r.w <= 0 || r.h <= 0)
		return;
	if (!max)
		max = widget_series_max(v, n);
	for (uint32_t i = 0; i < shown; i++) {
		int left = height(v[n - shown + i], max, r.h * 8);

		for (int y = r.h - 1; y >= 0 && left > 0; y--, left -= 8)
			screen_put(s, r, r.w - (int)shown + (int)i, y, ROLE_GRAPH,
				   levels[left < 8 ? left : 8]);
	}
}

/* Some bars drawn as one line. */
struct group {
	size_t first, last;
	uint64_t n;
};

static struct group group_at(const struct query_hist *h, size_t per_line, size_t line)
{
	struct group g = {.first = line * per_line};

	g.last = g.first + per_line < h->n ? g.first + per_line - 1 : h->n - 1;
	for (size_t i = g.first; i <= g.last; i++)
		g.n += h->bars[i].n;
	return g;
}

static int note_value(struct screen *s, struct rect line, int x, const char *name, uint64_t value)
{
	char buf[UNITS_BUF];

	return screen_printf(s, line, x, 0, ROLE_BOLD, " %s %s", name, units_ns(buf, value));
}

static void hist_line(struct screen *s, struct rect line, const struct query_hist *h,
		      const struct group *g, uint64_t max)
{
	uint64_t lower = h->bars[g->first].lower_ns, upper = h->bars[g->last].upper_ns;
	char buf[UNITS_BUF];
	int bar_w = line.w - 17 - 12, x = 17;
	double share = max ? (double)g->n / (double)max : 0;

	if (bar_w < 4)
		bar_w = 4;
	screen_printf(s, line, 0, 0, ROLE_NORMAL, "%7s", units_ns(buf, lower));
	screen_printf(s, line, 8, 0, g->n ? ROLE_NORMAL : ROLE_DIM, "%7s",
		      g->n ? units_count(buf, g->n) : "·");
	widget_bar(s, line, x, 0, bar_w, share, ROLE_GRAPH);
	x += (int)(share * bar_w) + 1;
	if (h->p50_ns >= lower && h->p50_ns < upper)
		x = note_value(s, line, x, "p50", h->p50_ns);
	if (h->p90_ns >= lower && h->p90_ns < upper)
		x = note_value(s, line, x, "p90", h->p90_ns);
	if (h->p99_ns >= lower && h->p99_ns < upper)
		x = note_value(s, line, x, "p99", h->p99_ns);
	if (g->last == h->n - 1)
		note_value(s, line, x, "max", h->max_ns);
}

void widget_hist(struct screen *s, struct rect r, const struct query_hist *h)
{
	size_t lines, per_line;
	uint64_t max = 0;

	if (r.h < 1 || r.w < 1)
		return;
	if (!h->n) {
		widget_text(s, r, 0, 0, r.w, ROLE_DIM, "no wait has ended yet");
		return;
	}
	per_line = (h->n + (size_t)r.h - 1) / (size_t)r.h;
	lines = (h->n + per_line - 1) / per_line;
	for (size_t i = 0; i < lines; i++) {
		struct group g = group_at(h, per_line, i);

		max = g.n > max ? g.n : max;
	}
	for (size_t i = 0; i < lines; i++) {
		struct group g = group_at(h, per_line, i);

		hist_line(s, (struct rect){r.x, r.y + (int)i, r.w, 1}, h, &g, max);
	}
}

void widget_rule(struct screen *s, struct rect r, int y, const char *title)
{
	struct rect line = {r.x, r.y + y, r.w, 1};

	if (y < 0 || y >= r.h)
		return;
	screen_fill(s, line, 0x2500, ROLE_DIM);
	if (title && *title)
		screen_printf(s, line, 1, 0, ROLE_BOLD, " %s ", title);
}
