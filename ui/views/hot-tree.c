// SPDX-License-Identifier: GPL-2.0-only
/*
 * The call paths of a row of the profile, with two weights: how often CPUs were seen there, and how
 * long was waited for locks on the same paths. Of a function the tree goes to its callers, or
 * turned round to what it called.
 */
#include "flame.h"
#include "hot.h"
#include "kontend/screen.h"
#include "kontend/units.h"
#include "widgets/layout.h"

#include <errno.h>

static struct view_hot_tree *of_view(struct view *v)
{
	return (struct view_hot_tree *)v;
}

static void draw_head(const struct view_hot_tree *o, const struct query_tree *t, struct screen *s,
		      struct rect r)
{
	struct line l = {.s = s, .r = r, .x = 1};
	char buf[UNITS_BUF];

	hot_draw_zoom(&o->zoom, &l);
	line_printf(&l, ROLE_BOLD, "%s", units_count(buf, t->n_waits));
	line_put(&l, ROLE_DIM, " samples");
	if (t->total_ns) {
		line_put(&l, ROLE_DIM, "  waited ");
		line_put(&l, ROLE_BOLD, units_ns(buf, t->total_ns));
	}
	line_put(&l, ROLE_DIM, "  percent of ");
	line_put(&l, ROLE_BOLD, o->by_wait ? "wait" : "samples");
	line_put(&l, ROLE_DIM, " [c]  ");
	if (o->by == HOT_SYMBOL)
		line_put(&l, ROLE_BOLD, o->inverted ? "what it calls" : "its callers");
	else
		line_put(&l, ROLE_BOLD, o->inverted ? "outermost first" : "innermost first");
	line_put(&l, ROLE_DIM, " [i]");
	if (t->recorded)
		line_put(&l, ROLE_DIM, "  names: from the recording");
	view_draw_window(&o->v, s, r);
}

static void draw_view(struct view *v, struct screen *s, struct rect r)
{
	struct view_hot_tree *o = of_view(v);
	struct query_hot_tree_spec spec = {.by = o->by,
					   .row = v->row,
					   .locks = o->locks,
					   .inverted = o->inverted,
					   .by_wait = o->by_wait,
					   .zoom = &o->zoom};
	struct tree_style style = {.by_count = !o->by_wait,
				   .samples = true,
				   .limit = app_percent_limit(v->app),
				   .search = app_search(v->app),
				   .empty = "no samples of it in the time shown"};
	struct error err = {0};
	struct query_tree t;

	if (query_hot_tree(v->query, &spec, &t) < 0) {
		error_enomem(&err, "the call tree");
		view_draw_error(s, r, &err);
		return;
	}
	draw_head(o, &t, s, r);
	tree_widget_draw(&o->pane.tree, s, layout_below(r, 1), &t, &style);
	hot_load_names(v);
}

/* Of what the tree is about, or, as a function is in many chains, of all. */
static int open_flame(struct view_hot_tree *o)
{
	struct query_zoom zoom = o->zoom;

	if (o->by != HOT_SYMBOL && query_hot_zoom(o->v.query, o->by, o->v.row, &zoom) == -ENOMEM)
		return -ENOMEM;
	return flame_open_samples(&o->v, &zoom, o->locks);
}

static int take_command(struct view *v, enum command c, const struct command_arg *arg)
{
	struct view_hot_tree *o = of_view(v);

	switch (c) {
	case CMD_INVERT:
		o->inverted = !o->inverted;
		return 0;
	case CMD_COUNT_WAIT:
		o->by_wait = !o->by_wait;
		return 0;
	case CMD_ANNOTATE:
		if (o->by == HOT_SYMBOL)
			return annotate_open_row(v, v->row);
		return VIEW_UNHANDLED;
	case CMD_FLAME:
		return open_flame(o);
	case CMD_LOCK_PATHS:
		o->locks = !o->locks;
		return 0;
	default:
		break;
	}
	int code = tree_widget_command(&o->pane.tree, c, arg);
	if (code != WIDGET_ENTER)
		return code;
	app_say(v->app, ROLE_NORMAL, "the call path ends here; i turns the tree round");
	return 0;
}

static int init_view(struct view *v)
{
	of_view(v)->pane.is_tree = true;
	of_view(v)->pane.tree.open_depth = 3;
	return 0;
}

static void deinit_view(struct view *v)
{
	pane_deinit(&of_view(v)->pane);
}

int hot_open_tree(struct view *v, enum query_hot_by by, bool locks, const struct query_zoom *zoom,
		  uint64_t row)
{
	const char *title = query_hot_title(v->query, by, row);

	if (!title) {
		app_say(v->app, ROLE_NORMAL, "it has no samples any more");
		return 0;
	}
	int r = app_push_row(v->app, &view_hot_tree, row, title);
	struct view *top = app_shown(v->app);
	if (r == 0 && top->ops == &view_hot_tree) {
		of_view(top)->by = by;
		of_view(top)->locks = locks;
		of_view(top)->zoom = *zoom;
	}
	return r;
}

static const struct view_key keys[] = {
	{CMD_COUNT_WAIT, "count/wait"}, {CMD_INVERT, "invert"},		{CMD_FLAME, "flame"},
	{CMD_ANNOTATE, "code"},		{CMD_LOCK_PATHS, "lock paths"}, {CMD_NONE, NULL},
};

const struct view_ops view_hot_tree = {
	.keys = keys,
	.name = "hot-tree",
	.title = "hot",
	.help = "The call paths of what was opened: samples, and what was waited for locks on the "
		"same paths. c weighs by samples or by wait, i turns the tree round: to what a "
		"function calls, or to the outermost functions. + and - open and close a call, E "
		"and C all of them, l leaves out what is not in a lock path.",
	.size = sizeof(struct view_hot_tree),
	.init = init_view,
	.deinit = deinit_view,
	.draw = draw_view,
	.command = take_command,
};
