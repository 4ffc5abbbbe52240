// SPDX-License-Identifier: GPL-2.0-only
/*
 * The heat map as SVG: a rectangle for each cell with a wait, whose title has its figures; time
 * from left to right, longer waits above shorter ones, the scale of the colours below. The darker
 * the more, by the logarithm, as few cells have nearly all. Waits that go on are at the right.
 */
#include "kontend/heatmap.h"
#include "kontend/query-heatmap.h"
#include "kontend/units.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum {
	WIDTH = 1200,
	LEFT = 70,
	RIGHT = 100,
	TOP = 44,
	ROW = 14,
	AXIS = 22,
	SCALE = 40,
	COLUMNS = 240,
	ROWS = 48,
	TICKS = 10,
};

/* The lightest is still seen on white. */
static const char *const colors[] = {"#f2c76b", "#efad4b", "#e8923a", "#dc7331",
				     "#c5502b", "#9f302b", "#6d1a2d", "#3b0f25"};
enum { LEVELS = sizeof(colors) / sizeof(*colors) };

struct picture {
	const struct query_heatmap *map;
	bool by_wait;
	uint64_t least, most;
	double column; /* width of one, pixels */
	int height;    /* of the map */
	FILE *out;
};

static int row_y(const struct picture *p, uint32_t row)
{
	return TOP + p->height - (int)(row + 1) * ROW;
}

static double column_x(const struct picture *p, uint32_t column)
{
	return LEFT + column * p->column;
}

static const char *times(char *buf, const struct picture *p, uint32_t column)
{
	return units_ns(buf, column * p->map->column_ns);
}

static void put_cell(const struct picture *p, uint32_t column, uint32_t row)
{
	const struct query_heatmap *h = p->map;
	const struct query_heatmap_cell *c = query_heatmap_at(h, column, row);
	const unsigned level = query_heatmap_cell_level(h, c, p->by_wait, LEVELS);
	char from[UNITS_BUF], to[UNITS_BUF], a[UNITS_BUF], b[UNITS_BUF], sum[UNITS_BUF];

	if (!level)
		return;
	fprintf(p->out,
		"<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"%s\"><title>%s to "
		"%s: %" PRIu64 " waits of %s to %s, %s</title></rect>\n",
		column_x(p, column), row_y(p, row), p->column, ROW, colors[level - 1],
		times(from, p, column), times(to, p, column + 1), c->n,
		units_ns(a, query_heatmap_lower(h, row)), units_ns(b, query_heatmap_upper(h, row)),
		units_ns(sum, c->ns));
}

static void put_cells(const struct picture *p)
{
	for (uint32_t row = 0; row < p->map->rows; row++)
		for (uint32_t column = 0; column < p->map->columns; column++)
			put_cell(p, column, row);
}

/* Tasks that wait by now, beside the row of their length. */
static void put_now(const struct picture *p)
{
	char buf[UNITS_BUF];

	for (uint32_t row = 0; row < p->map->rows; row++)
		if (p->map->now[row])
			fprintf(p->out, "<text x=\"%d\" y=\"%d\">%s still wait</text>\n",
				WIDTH - RIGHT + 6, row_y(p, row) + ROW - 3,
				units_count(buf, p->map->now[row]));
}

/* Lengths at whole octaves, as far as there is room for them. */
static void put_lengths(const struct picture *p)
{
	const struct query_heatmap *h = p->map;
	char buf[UNITS_BUF];
	int above = INT32_MAX;

	for (uint32_t row = 0; row < h->rows; row++) {
		const uint64_t ns = query_heatmap_lower(h, row);
		if ((ns & (ns - 1)) || row_y(p, row) + ROW > above - ROW)
			continue;
		above = row_y(p, row) + ROW;
		fprintf(p->out,
			"<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n"
			"<path d=\"M%d %dH%d\" stroke=\"#ddd\"/>\n",
			LEFT - 6, above, units_ns(buf, ns), LEFT, above, WIDTH - RIGHT);
	}
}

/* 1, 2 or 5 of a power of ten, so that there are not too many. */
static uint64_t tick_ns(const struct picture *p)
{
	static const uint64_t steps[] = {1, 2, 5};
	const uint64_t all = p->map->columns * p->map->column_ns;

	for (uint64_t power = 1; power < UINT64_MAX / 100; power *= 10)
		for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
			if (all / (steps[i] * power) <= TICKS)
				return steps[i] * power;
	return all;
}

static void put_times(const struct picture *p)
{
	const uint64_t step = tick_ns(p), all = p->map->columns * p->map->column_ns;
	const int y = TOP + p->height;
	char buf[UNITS_BUF];

	for (uint64_t ns = 0; ns < all; ns += step) {
		const double x = LEFT + (double)ns / (double)p->map->column_ns * p->column;
		fprintf(p->out,
			"<path d=\"M%.2f %dv4\" stroke=\"#888\"/>\n"
			"<text x=\"%.2f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
			x, y, x, y + 16, ns ? units_ns(buf, ns) : "0");
	}
	fprintf(p->out,
		"<text x=\"%d\" y=\"%d\" text-anchor=\"end\">time</text>\n"
		"<text x=\"%d\" y=\"%d\" text-anchor=\"end\">length</text>\n",
		WIDTH - 6, y + 16, LEFT - 6, TOP - 6);
}

/* The least number that has @level. */
static uint64_t level_begin(const struct picture *p, unsigned level)
{
	uint64_t low = p->least, high = p->most;

	while (low < high) {
		uint64_t mid = low + (high - low) / 2;
		if (query_heatmap_level(mid, p->least, p->most, LEVELS) >= level)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

static void put_scale(const struct picture *p)
{
	const int y = TOP + p->height + AXIS + 10;
	char buf[UNITS_BUF];
	int x = LEFT;

	for (unsigned i = 0; i < LEVELS; i++) {
		const uint64_t v = level_begin(p, i + 1);
		/* With few waits in a cell some have none. */
		if (query_heatmap_level(v, p->least, p->most, LEVELS) != i + 1)
			continue;
		fprintf(p->out,
			"<rect x=\"%d\" y=\"%d\" width=\"16\" height=\"14\" fill=\"%s\"/>"
			"<text x=\"%d\" y=\"%d\">%s</text>\n",
			x, y, colors[i], x + 22, y + 12,
			p->by_wait ? units_ns(buf, v) : units_count(buf, v));
		x += 90;
	}
	fprintf(p->out, "<text x=\"%d\" y=\"%d\">%s in a cell</text>\n", x, y + 12,
		p->by_wait ? "or more waited" : "waits or more");
}

static void put_head(const struct picture *p)
{
	const struct query_heatmap *h = p->map;
	const int height = TOP + p->height + AXIS + SCALE;
	char n[UNITS_BUF], sum[UNITS_BUF], missing[UNITS_BUF];

	fprintf(p->out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%d\" "
		"height=\"%d\" viewBox=\"0 0 %d %d\" font-family=\"monospace\" font-size=\"12\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fafafa\"/>\n"
		"<text font-size=\"15\" x=\"%d\" y=\"22\" text-anchor=\"middle\">",
		WIDTH, height, WIDTH, height, WIDTH / 2);
	fprintf(p->out, "%s waits for locks, %s, by when they ended and their length",
		units_count(n, h->n), units_ns(sum, h->ns));
	if (h->kept_ns > h->begin_ns)
		fprintf(p->out, "; no room for the first %s",
			units_ns(missing, h->kept_ns - h->begin_ns));
	fprintf(p->out,
		"</text>\n<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
		LEFT, TOP, WIDTH - LEFT - RIGHT, p->height);
}

int heatmap_write(struct query *q, const struct heatmap_spec *s, FILE *out, struct error *err)
{
	const struct query_heatmap_spec spec = {
		.scope = s->scope, .columns = COLUMNS, .rows = ROWS};
	struct query_heatmap h;

	if (query_heatmap(q, &spec, &h) < 0)
		return error_enomem(err, "the heat map");
	if (!h.n && !h.n_inflight)
		return error_set(err, -ENODATA, "Cannot draw a heat map: there are no waits");
	const struct picture p = {.map = &h,
				  .by_wait = s->by_wait,
				  .least = s->by_wait ? h.least_ns : 1,
				  .most = s->by_wait ? h.most_ns : h.most_n,
				  .column = (double)(WIDTH - LEFT - RIGHT) / h.columns,
				  .height = (int)h.rows * ROW,
				  .out = out};
	errno = 0;
	put_head(&p);
	put_lengths(&p);
	put_cells(&p);
	put_now(&p);
	put_times(&p);
	put_scale(&p);
	fputs("</svg>\n", out);
	if (fflush(out) != 0 || ferror(out))
		return error_errno(err, errno ? -errno : -EIO, "Cannot write all of the picture");
	return 0;
}
