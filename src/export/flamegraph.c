// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flame graphs as SVG. A box is a group with the attributes that the script needs to move it: left
 * edge and width as parts of the whole, and its level. The first line of a box's title is its name.
 * Names come from untrusted programs, so they are cleaned and escaped. Boxes too narrow to be seen
 * are left out and counted in the line at the bottom.
 */
#include "kontend/flamegraph.h"
#include "kontend/pathgroup.h"
#include "kontend/query-flame-diff.h"
#include "kontend/query-tree.h"
#include "kontend/text.h"
#include "kontend/units.h"
#include "kontend/xml.h"

#include <errno.h>
#include <inttypes.h>

enum {
	WIDTH = 1200,
	ROW = 17,
	TOP = 44,
	BOTTOM = 48,
	ABOUT = 20, /* below the boxes: what the pointer is on, then the legend */
	LEGEND = 40,
	SWATCH = 14,
	LABEL = 200, /* bytes of a name in a box */
	SIDE = 70,   /* characters of the name of a side */
};

static const double NARROWEST = 0.1, LETTER = 7.3; /* a box, the width of a letter: pixels */

struct graph {
	const struct query_tree *tree;
	const struct query_span *spans;
	bool by_wait, blame;
	const struct query_flame_diff *diff; /* NULL: it is of one side */
	uint64_t total;
	unsigned levels;
	size_t left_out;
	FILE *out;
};

static uint64_t weight(const struct graph *g, const struct query_node *n)
{
	return g->by_wait ? n->total_ns : n->n;
}

static void put_escaped(FILE *out, const char *text, size_t most)
{
	char clean[1024];

	xml_put(out, text_clean(clean, sizeof(clean), text), most);
}

static size_t count_characters(const char *s)
{
	uint32_t ch;
	size_t n = 0;

	for (; *s; n++)
		s += text_decode(s, &ch);
	return n;
}

/* The colour is an attribute of each box, for viewers that ignore style sheets. */
static const struct {
	const char *name, *fill;
} classes[] = {
	[FRAME_NAME] = {"task", "#b8c4ce"},
	[FRAME_USER] = {"user", "#9fcf9f"},
	[FRAME_KERNEL] = {"kernel", "#f0c674"},
	[FRAME_LOCK] = {"lock", "#e58b76"},
};

/* Of differences: from much less to much more in B. */
static const char *const changes[] = {"#5a98d6", "#93c0e8", "#cfe3f3", "#e4e4e4",
				      "#f9d9ce", "#f2a48f", "#e8694f"};

/* @node: its place in the tree; SIZE_MAX: all. */
static uint64_t side_of(const struct graph *g, size_t node, enum flame_side side)
{
	return node == SIZE_MAX ? g->diff->all[side] : g->diff->of[side][node];
}

static const char *fill_of(const struct graph *g, size_t node, enum query_frame kind)
{
	if (!g->diff)
		return classes[kind].fill;
	return changes[query_flame_diff_change(side_of(g, node, FLAME_A),
					       side_of(g, node, FLAME_B)) +
		       FLAME_CHANGES];
}

/* As much of the name as fits, by the rule of the script; nothing where three characters fit or
 * less. */
static void put_label(struct graph *g, const char *name, double x, double w, int y)
{
	char clean[LABEL];
	size_t fits = w > 6 ? (size_t)((w - 6) / LETTER) : 0, n;

	n = count_characters(text_clean(clean, sizeof(clean), name));
	fprintf(g->out, "<text x=\"%.1f\" y=\"%d\">", x + 3, y + ROW - 5);
	if (n <= fits) {
		put_escaped(g->out, clean, n);
	} else if (fits > 3) {
		put_escaped(g->out, clean, fits - 2);
		fputs("..", g->out);
	}
	fputs("</text>", g->out);
}

static const char *amount(const struct graph *g, char buf[UNITS_BUF], uint64_t v)
{
	return g->by_wait ? units_ns(buf, v) : units_count(buf, v);
}

/* "waited A 1.20s, B 3.40s: +2.20s" */
static void put_sides(struct graph *g, size_t node)
{
	const uint64_t a = side_of(g, node, FLAME_A), b = side_of(g, node, FLAME_B);
	char text[3][UNITS_BUF];

	fprintf(g->out, "\n%s A %s, B %s: %s%s</title>", g->by_wait ? "waited" : "samples",
		amount(g, text[0], a), amount(g, text[1], b), b < a ? "-" : "+",
		amount(g, text[2], b < a ? a - b : b - a));
}

static void put_title(struct graph *g, const struct query_node *n, size_t node)
{
	char buf[UNITS_BUF];

	fputs("<title>", g->out);
	put_escaped(g->out, n->name, SIZE_MAX);
	if (n->object) {
		fputc('\n', g->out);
		put_escaped(g->out, n->object, SIZE_MAX);
	}
	if (g->diff) {
		put_sides(g, node);
		return;
	}
	if (n->n)
		fprintf(g->out, "\n%" PRIu64 " samples", n->n);
	if (n->total_ns)
		fprintf(g->out, "\nwaited %s", units_ns(buf, n->total_ns));
	fprintf(g->out, "\n%.2f%% of all, %.2f%% of caller</title>", n->pct, n->pct_parent);
}

static void put_box(struct graph *g, const struct query_node *n, size_t node, double from,
		    double part, unsigned level)
{
	const enum query_frame kind = query_flame_frame(n);
	double x = from * WIDTH, w = part * WIDTH;
	int y = TOP + (int)(g->levels - 1 - level) * ROW;

	fprintf(g->out, "<g class=\"box %s\" data-x=\"%.9f\" data-w=\"%.9f\" data-l=\"%u\">",
		classes[kind].name, from, part, level);
	put_title(g, n, node);
	fprintf(g->out, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>", x,
		y, w, ROW - 1, fill_of(g, node, kind));
	put_label(g, n->name, x, w, y);
	fputs("</g>\n", g->out);
}

static void put_boxes(struct graph *g)
{
	const struct query_node all = {.name = "all",
				       .n = g->tree->n_waits,
				       .total_ns = g->tree->total_ns,
				       .pct = 100,
				       .pct_parent = 100};

	put_box(g, &all, SIZE_MAX, 0, 1, 0);
	for (size_t i = 0; i < g->tree->n; i++) {
		const struct query_node *n = &g->tree->nodes[i];
		double part = (double)weight(g, n) / (double)g->total;
		if (part * WIDTH < NARROWEST)
			g->left_out += weight(g, n) > 0;
		else
			put_box(g, n, i, (double)g->spans[i].x / (double)g->total, part,
				n->depth + 1u);
	}
}

/* The number of levels with boxes that are wide enough, including the root. */
static unsigned count_levels(const struct graph *g)
{
	unsigned levels = 1;

	for (size_t i = 0; i < g->tree->n; i++) {
		const struct query_node *n = &g->tree->nodes[i];
		double w = (double)weight(g, n) / (double)g->total * WIDTH;
		if (w >= NARROWEST && n->depth + 2u > levels)
			levels = n->depth + 2u;
	}
	return levels;
}

static const char style[] =
	"text { pointer-events: none } .button { pointer-events: all; cursor: pointer }\n"
	".box { cursor: pointer } .box rect { stroke: #fff; stroke-width: 0.5 }\n"
	".box:hover rect { stroke: #000; stroke-width: 1 }\n"
	".above rect { opacity: 0.5 } .match rect { fill: #d77be0 }\n";

static void put_heading(struct graph *g)
{
	const char *const what = g->by_wait ? "Time waited for locks" : "CPU samples";
	char buf[UNITS_BUF], a[UNITS_BUF];

	if (g->diff)
		fprintf(g->out, "%s: A %s, B %s", what, amount(g, a, g->diff->all[FLAME_A]),
			amount(g, buf, g->diff->all[FLAME_B]));
	else if (g->by_wait)
		fprintf(g->out, "%s%s: %s", what, g->blame ? ", above who held them" : "",
			units_ns(buf, g->total));
	else
		fprintf(g->out, "%s: %" PRIu64, what, g->total);
}

/* "A: before.data; B: after.data; A as if in the time of B" */
static void put_names(struct graph *g)
{
	const struct query_flame_diff *d = g->diff;

	const char *between = "";

	fprintf(g->out, "<text x=\"%d\" y=\"38\" text-anchor=\"middle\">", WIDTH / 2);
	for (int side = 0; side < FLAME_SIDES; side++) {
		if (!d->name[side])
			continue;
		fprintf(g->out, "%s%c: ", between, 'A' + side);
		put_escaped(g->out, d->name[side], SIDE);
		between = "; ";
	}
	if (d->measured_ns[FLAME_A] != d->measured_ns[FLAME_B])
		fprintf(g->out, "%sA as if in the time of B", between);
	fputs("</text>\n", g->out);
}

static int put_swatch(struct graph *g, int x, int y, const char *fill)
{
	fprintf(g->out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"12\" fill=\"%s\"/>", x,
		y - 10, SWATCH, fill);
	return x + SWATCH;
}

static int put_word(struct graph *g, int x, int y, const char *word)
{
	fprintf(g->out, "<text x=\"%d\" y=\"%d\">%s</text>", x + 4, y, word);
	return x + 4 + (int)((double)count_characters(word) * LETTER) + 12;
}

/* The meaning of the colours. */
static void put_legend(struct graph *g, int y)
{
	int x = 6;

	if (!g->diff) {
		for (enum query_frame kind = FRAME_NAME; kind <= FRAME_LOCK; kind++) {
			x = put_swatch(g, x, y, classes[kind].fill);
			x = put_word(g, x, y, query_flame_frame_name(kind));
		}
		fputc('\n', g->out);
		return;
	}
	x = put_word(g, x - 4, y, "less in B") - 6;
	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++)
		x = put_swatch(g, x, y, changes[i]);
	put_word(g, x, y, "more in B");
	fputc('\n', g->out);
}

static void put_head(struct graph *g)
{
	int height = TOP + (int)g->levels * ROW + BOTTOM;

	fprintf(g->out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%d\" "
		"height=\"%d\" viewBox=\"0 0 %d %d\" font-family=\"monospace\" font-size=\"12\">\n",
		WIDTH, height, WIDTH, height);
	fprintf(g->out, "<style>%s</style>\n", style);
	fprintf(g->out, "<rect width=\"100%%\" height=\"100%%\" fill=\"#fafafa\"/>\n");
	fprintf(g->out, "<text font-size=\"15\" x=\"%d\" y=\"22\" text-anchor=\"middle\">",
		WIDTH / 2);
	put_heading(g);
	fputs("</text>\n", g->out);
	if (g->diff)
		put_names(g);
	fprintf(g->out, "<text class=\"button\" display=\"none\" id=\"reset\" x=\"6\" "
			"y=\"22\">Show all"
			"</text>\n");
	fprintf(g->out,
		"<text class=\"button\" display=\"none\" id=\"search\" x=\"%d\" y=\"22\" "
		"text-anchor=\"end\">"
		"Search</text>\n",
		WIDTH - 6);
}

static void put_foot(struct graph *g)
{
	const int end = TOP + (int)g->levels * ROW, y = end + ABOUT;

	fprintf(g->out, "<text id=\"about\" x=\"6\" y=\"%d\">", y);
	if (g->left_out)
		fprintf(g->out, "%zu functions are too narrow to be shown", g->left_out);
	fprintf(g->out,
		"</text>\n<text id=\"matched\" x=\"%d\" y=\"%d\" text-anchor=\"end\"></text>\n",
		WIDTH - 6, y);
	put_legend(g, end + LEGEND);
	fprintf(g->out, "<script><![CDATA[\n%s]]></script>\n</svg>\n", flamegraph_script());
}

static int write_graph(struct graph *g, struct error *err)
{
	g->levels = count_levels(g);
	errno = 0;
	put_head(g);
	put_boxes(g);
	put_foot(g);
	if (fflush(g->out) != 0 || ferror(g->out))
		return error_errno(err, errno ? -errno : -EIO, "Cannot write all of the graph");
	return 0;
}

int flamegraph_write(struct query *q, const struct flamegraph_spec *s, FILE *out, struct error *err)
{
	const struct query_flame_spec spec = {
		.zoom = s->zoom, .by_wait = s->by_wait, .blame = s->blame};
	const char *why = s->blame ? query_flame_no_blame(q, &spec) : NULL;
	struct query_tree tree;

	if (why)
		return error_set(err, -ENODATA, "Cannot show blame: %s", why);
	if (query_flame_named(q, &spec, &tree) < 0)
		return error_enomem(err, "the sums of the call chains");
	struct graph g = {.tree = &tree, .by_wait = s->by_wait, .blame = s->blame, .out = out};
	g.spans = query_flame_spans(q, &tree, s->by_wait);
	if (!g.spans)
		return error_enomem(err, "the sums of the call chains");
	g.total = s->by_wait ? tree.total_ns : tree.n_waits;
	if (!g.total)
		return error_set(err, -ENODATA,
				 s->by_wait ? "Cannot draw a flame graph: there are no waits"
					    : "Cannot draw a flame graph: there are no samples; "
					      "take them with -F 499");
	return write_graph(&g, err);
}

int flamegraph_write_diff(const struct query_flame_diff *d, struct arena *arena, FILE *out,
			  struct error *err)
{
	struct graph g = {.tree = &d->tree, .by_wait = d->by_wait, .diff = d, .out = out};

	g.spans = query_flame_spans_in(arena, &d->tree, d->by_wait);
	if (!g.spans)
		return error_enomem(err, "the sums of the call chains");
	g.total = d->by_wait ? d->tree.total_ns : d->tree.n_waits;
	if (!g.total)
		return error_set(err, -ENODATA, "Cannot draw a flame graph: there are no %s",
				 d->by_wait ? "waits" : "samples");
	return write_graph(&g, err);
}
