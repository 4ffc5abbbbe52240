// SPDX-License-Identifier: GPL-2.0-only
/*
 * The call chains as a flame graph: a box a function, as wide as its share, above the box of its
 * caller. Frames are known by the path that leads to them, so the selection and what was zoomed
 * into stay where they are while samples come. Boxes of the last frame are kept for the moves
 * between two.
 */
#include "flame.h"
#include "hot.h"
#include "kontend/mem.h"
#include "kontend/text.h"
#include "widgets/layout.h"
#include "widgets/widget.h"

#include <errno.h>
#include <string.h>

static struct view_flame *of_view(struct view *v)
{
	return (struct view_flame *)v;
}

static uint32_t find_node(const struct query_tree *t, uint64_t id)
{
	for (uint32_t i = 0; id && i < t->n; i++)
		if (t->nodes[i].id == id)
			return i;
	return FLAME_ALL;
}

static int keep_spots(struct view_flame *f, const struct flame_picture *p)
{
	f->n_spots = 0;
	while (f->cap_spots < p->n)
		if (mem_grow(&f->spots, &f->cap_spots, f->cap_spots, sizeof(*f->spots)) < 0)
			return -ENOMEM;
	for (size_t i = 0; i < p->n; i++) {
		const struct flame_box *b = &p->boxes[i];
		const struct query_node *n = b->node == FLAME_ALL ? NULL : &p->tree.nodes[b->node];
		f->spots[f->n_spots++] = (struct flame_spot){
			.id = n ? n->id : 0,
			.addr = n ? n->addr : 0,
			.x = b->x,
			.w = b->w,
			.level = b->level,
			.matches = n && *p->match && text_contains(n->name, p->match),
		};
	}
	return 0;
}

/* Of both sides where two are compared. */
static int ask_weight(struct view_flame *f, const struct query_flame_spec *spec,
		      struct flame_picture *p, struct error *err)
{
	p->versus = app_versus(f->v.app, f->groups, spec, &p->why_not);
	p->compares = p->versus != VERSUS_NONE;
	if (!p->compares)
		return query_flame(f->v.query, spec, &p->tree);
	int r = app_versus_flame(f->v.app, p->versus, spec, &p->diff, err);
	p->tree = p->diff.tree;
	return r;
}

static int ask_tree(struct view_flame *f, struct flame_picture *p, struct error *err)
{
	struct query_flame_spec spec = {.scope = f->v.scope,
					.zoom = &f->zoom,
					.locks = f->locks,
					.by_wait = f->by_wait,
					.blame = f->blame,
					.boxes_only = true};
	int r = ask_weight(f, &spec, p, err);

	if (r == 0 && !f->opened && !p->tree.n_waits && !f->by_wait &&
	    (p->tree.total_ns || p->compares)) {
		f->by_wait = spec.by_wait = true;
		r = ask_weight(f, &spec, p, err);
	}
	f->opened |= r == 0 && (p->tree.n_waits || p->tree.total_ns);
	return r;
}

static int ask_picture(struct view_flame *f, struct flame_picture *p, int w, struct error *err)
{
	const char *filter = app_row_filter(f->v.app);
	int r = query_hot_sum(f->v.query, &f->zoom, &p->sum);

	if (r == 0)
		r = ask_tree(f, p, err);
	if (r < 0)
		return r;
	p->match = *filter && app_search_is_filter(f->v.app) ? filter : app_search(f->v.app);
	p->root = find_node(&p->tree, f->n_roots ? f->roots[f->n_roots - 1] : 0);
	if (p->root != FLAME_ALL && !flame_weight(&p->tree.nodes[p->root], f->by_wait))
		p->root = FLAME_ALL;
	p->boxes = arena_alloc(&f->v.query->arena, (p->tree.n + 1) * sizeof(*p->boxes));
	if (!p->boxes)
		return -ENOMEM;
	p->n = flame_place(&p->tree, f->by_wait, p->root, w, p->boxes);
	return keep_spots(f, p);
}

size_t flame_selected(const struct view_flame *f)
{
	for (size_t i = 0; i < f->n_spots; i++)
		if (f->spots[i].id == f->selected)
			return i;
	return 0;
}

static void select_spot(struct view_flame *f, size_t i)
{
	if (i < f->n_spots)
		f->selected = f->spots[i].id;
}

static size_t next_match(const struct view_flame *f, size_t at, bool forward)
{
	for (size_t n = 1; n <= f->n_spots; n++) {
		size_t i = (at + (forward ? n : f->n_spots - n)) % f->n_spots;
		if (f->spots[i].matches)
			return i;
	}
	return at;
}

/* Not before it is drawn: what was asked for may have changed what matches. */
static void jump(struct view_flame *f)
{
	if (f->search && f->n_spots)
		select_spot(f, next_match(f, flame_selected(f), f->search > 0));
	f->search = 0;
}

static void flame_draw(struct view *v, struct screen *s, struct rect r)
{
	struct view_flame *f = of_view(v);
	struct flame_picture p = {0};
	struct error err = {0};

	if (ask_picture(f, &p, r.w, &err) < 0) {
		if (!err.code)
			error_enomem(&err, "the flame graph");
		view_draw_error(s, r, &err);
		return;
	}
	jump(f);
	flame_draw_picture(f, &p, s, r);
	hot_load_names(v);
}

/* The box below it: on the level below, and not right of where it begins. */
static size_t parent_of(const struct view_flame *f, size_t at)
{
	const struct flame_spot *of = &f->spots[at];

	for (size_t i = at; i-- > 0;)
		if (f->spots[i].level + 1 == of->level && f->spots[i].x <= of->x)
			return i;
	return at;
}

/* The widest of the boxes above it. */
static size_t child_of(const struct view_flame *f, size_t at)
{
	const struct flame_spot *of = &f->spots[at];
	size_t best = at;

	for (size_t i = at + 1; i < f->n_spots && f->spots[i].level > of->level; i++)
		if (f->spots[i].level == of->level + 1 &&
		    (best == at || f->spots[i].w > f->spots[best].w))
			best = i;
	return best;
}

/* The next one on the level, to the right or left. */
static size_t beside(const struct view_flame *f, size_t at, bool right)
{
	for (size_t i = at; right ? ++i < f->n_spots : i-- > 0;)
		if (f->spots[i].level == f->spots[at].level)
			return i;
	return at;
}

static size_t root_of(const struct view_flame *f)
{
	for (size_t i = 0; f->n_roots && i < f->n_spots; i++)
		if (f->spots[i].id == f->roots[f->n_roots - 1])
			return i;
	return 0;
}

/* @steps levels away from the root, or to it. Nowhere before the first frame was drawn. */
static size_t climb(const struct view_flame *f, size_t at, bool outwards, int steps)
{
	for (int i = 0; f->n_spots && i < steps; i++)
		at = outwards ? child_of(f, at) : parent_of(f, at);
	return at;
}

/* False when @c is no move. */
static bool move(struct view_flame *f, enum command c)
{
	size_t at = flame_selected(f);
	int page = f->rect.h > 1 ? f->rect.h - 1 : 1;

	switch (c) {
	case CMD_UP:
	case CMD_DOWN:
		at = climb(f, at, (c == CMD_DOWN) == f->icicle, 1);
		break;
	case CMD_PGUP:
	case CMD_PGDN:
		at = climb(f, at, (c == CMD_PGDN) == f->icicle, page);
		break;
	case CMD_TOP:
		at = root_of(f);
		break;
	case CMD_BOTTOM:
		at = climb(f, at, true, FLAME_DEPTH);
		break;
	case CMD_LEFT:
	case CMD_RIGHT:
		at = beside(f, at, c == CMD_RIGHT);
		break;
	default:
		return widget_search(c, &f->search);
	}
	select_spot(f, at);
	return true;
}

static int zoom_in(struct view_flame *f)
{
	size_t at = flame_selected(f);

	if (!f->n_spots || f->spots[at].level <= f->spots[root_of(f)].level) {
		app_say(f->v.app, ROLE_NORMAL,
			"this frame has the whole width; the arrows go to others, Esc zooms out");
	} else if (f->n_roots == FLAME_ROOTS) {
		app_say(f->v.app, ROLE_NORMAL, "no deeper: Esc zooms out");
	} else {
		f->roots[f->n_roots++] = f->spots[at].id;
		f->bottom = f->spots[at].level > 1 ? f->spots[at].level - 1u : 0;
	}
	return 0;
}

static int zoom_out(struct view_flame *f)
{
	if (!f->n_roots)
		return VIEW_UNHANDLED;
	f->selected = f->roots[--f->n_roots];
	return 0;
}

static int click(struct view_flame *f, enum command c, const struct command_arg *arg)
{
	if (!widget_inside(f->rect, arg))
		return VIEW_UNHANDLED;
	int x = arg->x - f->rect.x, line = arg->y - f->rect.y;
	size_t level = f->bottom + (size_t)(f->icicle ? line : f->rect.h - 1 - line);

	for (size_t i = 0; i < f->n_spots; i++) {
		const struct flame_spot *b = &f->spots[i];
		if (b->level != level || x < b->x || x >= b->x + b->w)
			continue;
		select_spot(f, i);
		return c == CMD_DCLICK ? zoom_in(f) : 0;
	}
	return 0;
}

static int annotate(struct view_flame *f)
{
	uint64_t addr = f->n_spots ? f->spots[flame_selected(f)].addr : 0;

	if (addr)
		return app_push_row(f->v.app, &view_annotate, addr, f->name);
	app_say(f->v.app, ROLE_NORMAL, "instructions are of functions");
	return 0;
}

/* Samples, wait, blame; of some waits there are no samples. */
static int set_weight(struct view_flame *f)
{
	const bool blame = f->by_wait && !f->blame;

	f->by_wait = f->v.scope.mask || !f->by_wait || blame;
	f->blame = blame;
	return 0;
}

static int flame_command(struct view *v, enum command c, const struct command_arg *arg)
{
	struct view_flame *f = of_view(v);

	if (move(f, c))
		return 0;
	switch (c) {
	case CMD_ENTER:
		return zoom_in(f);
	case CMD_BACK:
		return zoom_out(f);
	case CMD_CLICK:
	case CMD_DCLICK:
		return click(f, c, arg);
	case CMD_COUNT_WAIT:
		return set_weight(f);
	case CMD_INVERT:
		f->icicle = !f->icicle;
		return 0;
	case CMD_LOCK_PATHS:
		f->locks = !f->locks;
		return 0;
	case CMD_ANNOTATE:
		return annotate(f);
	default:
		return VIEW_UNHANDLED;
	}
}

static void flame_deinit(struct view *v)
{
	mem_free(of_view(v)->spots);
}

static struct view_flame *open_view(struct view *v, const struct query_scope *scope, int *ret)
{
	*ret = app_push(v->app, &view_flame, scope, "flame graph");
	struct view *top = app_shown(v->app);

	return *ret == 0 && top->ops == &view_flame ? of_view(top) : NULL;
}

int flame_open_waits(struct view *v, const struct query_scope *scope)
{
	int r;
	struct view_flame *f = open_view(v, scope, &r);

	if (f)
		f->by_wait = f->opened = true;
	return r;
}

int flame_open_groups(struct view *v, const struct query_scope *scope)
{
	int r;
	struct view_flame *f = open_view(v, scope, &r);

	if (f)
		f->groups = f->by_wait = f->opened = true;
	return r;
}

int flame_open_samples(struct view *v, const struct query_zoom *zoom, bool locks)
{
	const struct query_scope none = {0};
	int r;
	struct view_flame *f = open_view(v, &none, &r);

	if (f && zoom)
		f->zoom = *zoom;
	if (f)
		f->locks = locks;
	return r;
}

static const struct view_key keys[] = {
	{CMD_ENTER, "in"},
	{CMD_BACK, "out"},
	{CMD_FILTER, "mark"},
	{CMD_COUNT_WAIT, "count/wait"},
	{CMD_INVERT, "invert"},
	{CMD_ANNOTATE, "code"},
	{CMD_LOCK_PATHS, "lock paths"},
	{CMD_NONE, NULL},
};

const struct view_ops view_flame = {
	.keys = keys,
	.name = "flame",
	.title = "flame graph",
	.help = "All call chains at once: each function is a box as wide as its share of the "
		"samples, or of the waiting for locks, and is above its caller; c switches, "
		"also to blame: who held the locks at the bottom, with the call chain in which it "
		"got them and what it did, and above the lock who was waiting because of it. "
		"Colours, and the mark at the left edge, distinguish functions of programs, of the "
		"kernel and of locks. The arrows go from box to box, Enter gives one the whole "
		"width, Esc "
		"takes that back. / marks the functions that match and says what share they have, "
		"n and N go through them; with both marks set, after F on two rows, or with "
		"replay --against the graph is of both: + and red is "
		"more in B, - and blue less; i puts the outermost functions on top, l leaves out "
		"what "
		"is in no lock path, a shows the instructions.",
	.tables = "flame",
	.compares = true,
	.size = sizeof(struct view_flame),
	.deinit = flame_deinit,
	.draw = flame_draw,
	.command = flame_command,
};
