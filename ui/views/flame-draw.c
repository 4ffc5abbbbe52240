// SPDX-License-Identifier: GPL-2.0-only
/*
 * How a flame graph looks: a line that says what is shown, the boxes, and two lines about the
 * selected one. The first cell of a box says what it is of, so that boxes are apart and of a kind
 * without colours as well.
 */
#include "flame.h"
#include "hot.h"
#include "kontend/screen.h"
#include "kontend/text.h"
#include "kontend/units.h"
#include "widgets/layout.h"
#include "widgets/widget.h"

#include <stdio.h>

enum { STATUS_LINES = 2, NAME_LEAST = 4 };

static const struct {
	enum role role;
	const char *mark;
} kinds[] = {
	[FRAME_NAME] = {ROLE_FRAME_NAME, "│"},
	[FRAME_USER] = {ROLE_FRAME_USER, "│"},
	[FRAME_KERNEL] = {ROLE_FRAME_KERNEL, "·"},
	[FRAME_LOCK] = {ROLE_FRAME_LOCK, "■"},
};

/* Of two sides: from much less to much more in B. */
static const struct {
	enum role role;
	const char *mark;
} changes[] = {
	{ROLE_LESS_MOST, "-"}, {ROLE_LESS, "-"}, {ROLE_LESS_SOME, "-"}, {ROLE_FRAME_NAME, "="},
	{ROLE_MORE_SOME, "+"}, {ROLE_MORE, "+"}, {ROLE_MORE_MOST, "+"},
};

static uint64_t side_of(const struct flame_picture *p, uint32_t node, enum flame_side side)
{
	return node == FLAME_ALL ? p->diff.all[side] : p->diff.of[side][node];
}

static size_t change_of(const struct flame_picture *p, uint32_t node)
{
	return (size_t)(query_flame_diff_change(side_of(p, node, FLAME_A),
						side_of(p, node, FLAME_B)) +
			FLAME_CHANGES);
}

static uint64_t weight_of(const struct view_flame *f, const struct flame_picture *p, uint32_t node)
{
	if (node != FLAME_ALL)
		return flame_weight(&p->tree.nodes[node], f->by_wait);
	return f->by_wait ? p->tree.total_ns : p->tree.n_waits;
}

/* "- less  + more in B" that ends before column @x, where it fits. */
static void draw_changes(struct line *l, int x)
{
	static const char words[] = "  - less  + more in B";

	x -= text_width(words);
	if (x < l->x + 2)
		return;
	l->x = x;
	line_put(l, ROLE_NORMAL, "  ");
	line_put(l, ROLE_LESS, "-");
	line_put(l, ROLE_DIM, " less  ");
	line_put(l, ROLE_MORE, "+");
	line_put(l, ROLE_DIM, " more in B");
}

/* "│ user  · kernel  ■ lock path" that ends before column @x, where it fits. */
static void draw_legend(struct line *l, int x)
{

	for (enum query_frame k = FRAME_USER; k <= FRAME_LOCK; k++)
		x -= text_width(query_flame_frame_name(k)) + 4;
	if (x < l->x + 2)
		return;
	l->x = x;
	for (enum query_frame k = FRAME_USER; k <= FRAME_LOCK; k++) {
		line_put(l, ROLE_NORMAL, "  ");
		line_put(l, kinds[k].role, kinds[k].mark);
		line_printf(l, ROLE_DIM, " %s", query_flame_frame_name(k));
	}
}

static const char *weight_name(const struct view_flame *f)
{
	if (f->blame)
		return "blame";
	return f->by_wait ? "wait" : f->locks ? "lock paths" : "samples";
}

static const char *amount(const struct flame_picture *p, char buf[UNITS_BUF], uint64_t v)
{
	if (!v)
		return "·";
	return p->diff.by_wait ? units_ns(buf, v) : units_count(buf, v);
}

/* "A " and the name of the side, as far as there is room for that. */
static void put_side_name(const struct view_flame *f, const struct flame_picture *p, int side,
			  struct line *l)
{
	const char *name = app_versus_name(f->v.app, p->versus, side);
	const int room = (l->r.w - l->x - 30) / (2 - side);
	const int w = name && room > NAME_LEAST ? text_width(name) : 0;
	const struct rect at = {l->r.x + l->x + 2, l->r.y + l->y, w < room ? w : room, 1};

	line_put(l, ROLE_DIM, side ? "B " : "A ");
	if (!w)
		return;
	widget_text(l->s, at, 0, 0, at.w, ROLE_NORMAL, name);
	l->x += at.w + 1;
}

/* "A mysqld/812 1.20s  B mysqld/900 3.40s  +2.20s" */
static void put_sides(const struct view_flame *f, const struct flame_picture *p, uint32_t node,
		      struct line *l)
{
	const uint64_t a = side_of(p, node, FLAME_A), b = side_of(p, node, FLAME_B);
	char buf[UNITS_BUF];

	put_side_name(f, p, FLAME_A, l);
	line_put(l, ROLE_BOLD, amount(p, buf, a));
	line_put(l, ROLE_NORMAL, "  ");
	put_side_name(f, p, FLAME_B, l);
	line_put(l, ROLE_BOLD, amount(p, buf, b));
	line_printf(l, ROLE_NORMAL, "  %s%s",
		    a == b  ? ""
		    : b < a ? "-"
			    : "+",
		    amount(p, buf, b < a ? a - b : b - a));
}

static bool has_samples(const struct view_flame *f)
{
	return !f->v.scope.mask && !f->blame;
}

static void draw_head(const struct view_flame *f, const struct flame_picture *p, struct screen *s,
		      struct rect r)
{
	struct line l = {.s = s, .r = r, .x = 1};
	char buf[UNITS_BUF], window[APP_WINDOW_TEXT];

	app_window_text(f->v.app, window);
	hot_draw_zoom(&f->zoom, &l);
	line_put(&l, ROLE_DIM, "by ");
	line_put(&l, ROLE_BOLD, weight_name(f));
	line_put(&l, ROLE_DIM, " [c]  ");
	if (p->compares)
		put_sides(f, p, FLAME_ALL, &l);
	else if (has_samples(f))
		line_printf(&l, ROLE_NORMAL, "%s samples  ", units_count(buf, p->tree.n_waits));
	if (!p->compares)
		line_printf(&l, ROLE_NORMAL, "waited %s", units_ns(buf, p->tree.total_ns));
	if (*p->match) {
		uint64_t hit = flame_matched(&p->tree, f->by_wait, p->root, p->match);
		line_printf(&l, ROLE_DIM, "  %s ", p->match);
		line_printf(&l, ROLE_MATCH, "%s%%",
			    units_pct(buf, units_percent(hit, weight_of(f, p, p->root))));
	}
	if (f->n_roots && p->root == FLAME_ALL)
		line_put(&l, ROLE_WARN, "  zoomed to nothing: all shown");
	if (p->why_not)
		line_whole(&l, ROLE_WARN, "  %s", p->why_not);
	(p->compares ? draw_changes : draw_legend)(&l, r.w - 1 - text_width(window) - 2);
	view_draw_window(&f->v, s, r);
}

static void draw_box(const struct view_flame *f, const struct flame_picture *p, size_t i,
		     bool selected, struct screen *s, int y)
{
	const struct flame_box *b = &p->boxes[i];
	const struct query_node *n = b->node == FLAME_ALL ? NULL : &p->tree.nodes[b->node];
	const enum query_frame kind = n ? query_flame_frame(n) : FRAME_NAME;
	const size_t change = p->compares ? change_of(p, b->node) : 0;
	enum role role = selected	       ? ROLE_SELECTED
			 : f->spots[i].matches ? ROLE_MATCH
			 : p->compares	       ? changes[change].role
					       : kinds[kind].role;
	const char *mark = selected		 ? "›"
			   : f->spots[i].matches ? "•"
			   : p->compares	 ? changes[change].mark
						 : kinds[kind].mark;
	const struct rect cells = {f->rect.x + b->x, f->rect.y + y, b->w, 1};

	screen_fill(s, cells, ' ', role);
	screen_put(s, cells, 0, 0, role, mark);
	widget_text(s, cells, 1, 0, b->w - 1, role, n ? n->name : "all");
}

static void draw_boxes(struct view_flame *f, const struct flame_picture *p, struct screen *s)
{
	size_t levels = 0, page = f->rect.h > 0 ? (size_t)f->rect.h : 0, at = flame_selected(f);

	for (size_t i = 0; i < p->n; i++)
		levels = p->boxes[i].level >= levels ? p->boxes[i].level + 1u : levels;
	f->bottom = widget_scroll(f->bottom, p->boxes[at].level, levels, page);
	for (size_t i = 0; i < p->n; i++) {
		size_t level = p->boxes[i].level;
		if (level < f->bottom || level >= f->bottom + page)
			continue;
		int line = (int)(level - f->bottom);
		draw_box(f, p, i, i == at, s, f->icicle ? line : f->rect.h - 1 - line);
	}
}

/* The node below a box: its parent. */
static uint32_t parent_node(const struct query_tree *t, uint32_t node)
{
	uint16_t depth = t->nodes[node].depth;

	while (node > 0 && t->nodes[node].depth >= depth)
		node--;
	return t->nodes[node].depth < depth ? node : FLAME_ALL;
}

static void put_share(struct line *l, uint64_t part, uint64_t all, uint64_t parent)
{
	char buf[UNITS_BUF];

	if (!part)
		return;
	if (line_whole(l, ROLE_NORMAL, ", %s%% of all", units_pct(buf, units_percent(part, all))))
		line_whole(l, ROLE_NORMAL, ", %s%% of caller",
			   units_pct(buf, units_percent(part, parent)));
}

static void draw_numbers(const struct view_flame *f, const struct flame_picture *p, uint32_t node,
			 struct line *l)
{
	const struct query_tree *t = &p->tree;
	const struct query_node *n = &t->nodes[node];
	uint32_t up = parent_node(t, node);
	char buf[UNITS_BUF];

	if (p->compares) {
		put_sides(f, p, node, l);
		put_share(l, flame_weight(n, f->by_wait), weight_of(f, p, FLAME_ALL),
			  weight_of(f, p, up));
		return;
	}
	if (has_samples(f)) {
		line_put(l, ROLE_BOLD, n->n ? units_count(buf, n->n) : "·");
		line_put(l, ROLE_DIM, " samples");
		put_share(l, n->n, t->n_waits, up == FLAME_ALL ? t->n_waits : t->nodes[up].n);
		line_put(l, ROLE_NORMAL, "  ");
	}
	line_put(l, ROLE_DIM, "waited ");
	line_put(l, ROLE_BOLD, n->total_ns ? units_ns(buf, n->total_ns) : "·");
	put_share(l, n->total_ns, t->total_ns,
		  up == FLAME_ALL ? t->total_ns : t->nodes[up].total_ns);
}

static void report_row(const struct view_flame *f, const struct flame_picture *p, uint32_t node,
		       struct screen *s)
{
	const struct query_node *n = &p->tree.nodes[node];
	char buf[UNITS_BUF];

	screen_row_put(s, n->name);
	if (n->object)
		screen_row_put(s, n->object);
	for (int side = 0; p->compares && side < FLAME_SIDES; side++)
		screen_row_put(s, amount(p, buf, side_of(p, node, (enum flame_side)side)));
	if (p->compares)
		return;
	if (has_samples(f))
		screen_row_put(s, units_count(buf, n->n));
	screen_row_put(s, units_ns(buf, n->total_ns));
}

static void draw_status(struct view_flame *f, const struct flame_picture *p, struct screen *s,
			struct rect r)
{
	const uint32_t node = p->boxes[flame_selected(f)].node;
	struct line first = {.s = s, .r = r, .x = 1}, second = {.s = s, .r = r, .x = 1, .y = 1};
	char buf[UNITS_BUF];

	if (node == FLAME_ALL) {
		line_put(&first, ROLE_BOLD, "all");
		if (p->compares) {
			put_sides(f, p, node, &second);
			return;
		}
		if (has_samples(f))
			line_printf(&second, ROLE_NORMAL, "%s samples  ",
				    units_count(buf, p->tree.n_waits));
		line_printf(&second, ROLE_NORMAL, "waited %s", units_ns(buf, p->tree.total_ns));
		return;
	}
	const struct query_node *n = &p->tree.nodes[node];
	snprintf(f->name, sizeof(f->name), "%s", n->name);
	line_put(&first, ROLE_BOLD, n->name);
	if (n->object)
		line_printf(&first, ROLE_DIM, "  %s", n->object);
	if (n->group > PATH_IDLE)
		line_printf(&first, ROLE_DIM, "  %s", query_hot_group_name(f->v.query, n->group));
	if (n->recorded)
		line_whole(&first, ROLE_DIM, "  name: from the recording");
	draw_numbers(f, p, node, &second);
}

static const char *why_empty(const struct view_flame *f, const struct flame_picture *p)
{
	const struct query_flame_spec spec = {
		.scope = f->v.scope, .zoom = &f->zoom, .by_wait = true, .blame = true};
	const char *refused = f->blame ? query_flame_no_blame(f->v.query, &spec) : NULL;

	if (refused)
		return refused;
	if (f->by_wait)
		return "nothing was waited for here in the time shown";
	if (!p->sum.samples)
		return query_hot_none(&p->sum);
	return f->locks ? "no sample is in a lock path here; l shows all" : "no sample is in here";
}

void flame_draw_picture(struct view_flame *f, const struct flame_picture *p, struct screen *s,
			struct rect r)
{
	int status = r.h > 2 * STATUS_LINES ? STATUS_LINES : 0;

	draw_head(f, p, s, r);
	f->rect = layout_below(r, 1);
	f->rect.h -= status;
	if (!weight_of(f, p, FLAME_ALL) || !p->n) {
		view_draw_text(s, layout_below(r, 2), ROLE_DIM, why_empty(f, p));
		f->n_spots = 0;
		return;
	}
	draw_boxes(f, p, s);
	const uint32_t node = p->boxes[flame_selected(f)].node;
	if (node != FLAME_ALL && screen_row_begin(s))
		report_row(f, p, node, s);
	if (status)
		draw_status(f, p, s, layout_below(r, r.h - status));
}
