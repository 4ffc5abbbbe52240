// SPDX-License-Identifier: GPL-2.0-only
/*
 * From keys and clicks to commands, and the commands that the app does itself; all others go to the
 * view on top. A key, a palette line and a click on the key bar take the same way from here on.
 */
#include "kontend/query-cost.h"
#include "kontend/units.h"
#include "priv.h"
#include "widgets/layout.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *command_name(enum command c)
{
	for (const struct command_info *i = command_table; i->command; i++)
		if (i->command == c)
			return i->name;
	return "click";
}

int app_to_view(struct app *a, enum command c, const struct command_arg *arg)
{
	struct view *v = app_keys(a);

	a->side.acts = a->side.has_keys;
	int r = v->ops->command ? v->ops->command(v, c, arg) : VIEW_UNHANDLED;
	a->side.acts = false;
	if (r < 0)
		app_say(a, ROLE_ERROR, "%s: %s", command_name(c), strerror(-r));
	return r;
}

void app_say_unhandled(struct app *a, enum command c, const struct command_arg *arg)
{
	if (c == CMD_CLICK || c == CMD_DCLICK)
		return;
	if (c == CMD_SCROLL_LEFT || c == CMD_SCROLL_RIGHT) {
		app_say(a, ROLE_DIM, "There are no more columns here");
		return;
	}
	if (c == CMD_BY_NEXT || c == CMD_BY_PREV) {
		app_choose_groups(a);
		return;
	}
	app_say(a, ROLE_DIM,
		arg->text ? "'%s %s' does nothing in this view"
			  : "'%s%s' does nothing in this view",
		command_name(c), arg->text ? arg->text : "");
}

static void set_delay(struct app *a, uint64_t ns)
{
	if (ns < APP_DELAY_MIN_NS)
		ns = APP_DELAY_MIN_NS;
	if (ns > APP_DELAY_MAX_NS)
		ns = APP_DELAY_MAX_NS;
	a->delay_ns = ns;
	source_set_tick(a->engine->source, ns);
	app_say(a, ROLE_NORMAL, "refresh every %gs", (double)ns / 1e9);
}

static void step_delay(struct app *a, int step)
{
	static const uint64_t steps_ms[] = {100, 200, 500, 1000, 2000, 5000, 10000, 30000, 60000};
	enum { STEPS = sizeof(steps_ms) / sizeof(steps_ms[0]) };
	size_t at = 0;

	while (at < STEPS - 1 && steps_ms[at] * 1000000 < a->delay_ns)
		at++;
	if (step > 0 && at < STEPS - 1)
		at++;
	if (step < 0 && at > 0)
		at--;
	set_delay(a, steps_ms[at] * 1000000);
}

static void delay_from(struct app *a, const char *text)
{
	uint64_t ns;

	if (!text || units_parse_ns(text, &ns) < 0)
		app_say(a, ROLE_ERROR, "delay wants a time from 100ms to 60s, as in: delay 2s");
	else
		set_delay(a, ns);
}

static void say_cost(struct app *a)
{
	struct query_cost c = query_cost(&a->query);
	char text[QUERY_COST_TEXT];

	if (c.known)
		app_say(a, ROLE_NORMAL, "kontend itself: %s",
			query_cost_text(&c, text, sizeof(text)));
	else
		app_say(a, ROLE_ERROR, "what kontend itself costs is not in this recording");
}

static void show_root(struct app *a, size_t root)
{
	if (root >= a->n_roots) {
		app_say(a, ROLE_DIM,
			"There is no such view: Tab goes through all, :view NAME to one");
		return;
	}
	while (a->n_stack)
		app_pop(a);
	a->root = root;
}

static size_t find_key(const struct app *a, char key)
{
	size_t i = 0;

	while (i < a->n_roots && a->roots[i].view->ops->digit != key)
		i++;
	return i;
}

/* 0 again leads from chains, the present holders, to blame, those of a time, and back. */
static size_t root_of_key(const struct app *a, char key)
{
	size_t found = find_key(a, key);

	if (key == '0' && found == a->root && !a->n_stack)
		return find_key(a, 'W');
	return found;
}

/* Letters and names of the view blame with one of its column sets. */
static const struct {
	char key;
	const char *name, *set;
} view_sets[] = {{'W', NULL, "waits"}, {'O', "held", "held"}, {'D', "did", "did"}};

/* False: it is the name or key of no column set. */
static bool go_to_set(struct app *a, const struct command_arg *arg)
{
	for (size_t i = 0; i < sizeof(view_sets) / sizeof(*view_sets); i++) {
		const char *name = view_sets[i].name;

		if (arg->n ? arg->n != view_sets[i].key
			   : !name || !arg->text || strcmp(arg->text, name) != 0)
			continue;
		show_root(a, find_key(a, 'W'));
		(void)app_to_view(a, CMD_SET, &(struct command_arg){.text = view_sets[i].set});
		return true;
	}
	return false;
}

static void go_to_view(struct app *a, const struct command_arg *arg)
{
	const char *name = arg->text;

	if (go_to_set(a, arg))
		return;
	if (arg->n > 0) {
		show_root(a, root_of_key(a, (char)arg->n));
		return;
	}
	for (size_t i = 0; name && i < a->n_roots; i++) {
		if (!strcmp(a->roots[i].view->ops->name, name)) {
			show_root(a, i);
			return;
		}
	}
	app_say(a, ROLE_ERROR, "No view is called '%s': Tab completes", name ? name : "");
}

/*
 * The next pane of the page, after the last one of a view the page beside it, and after that the
 * next view; a page stays.
 */
static void next_view(struct app *a, enum command c)
{
	const struct command_arg wraps = {.n = a->n_stack > 0};
	size_t step = c == CMD_VIEW_NEXT ? 1 : a->n_roots - 1;

	if (app_to_view(a, c, &wraps) != VIEW_UNHANDLED || app_side_tab(a, c == CMD_VIEW_NEXT))
		return;
	if (a->n_stack > 0)
		app_say(a, ROLE_NORMAL, "no other pane here has rows; Esc goes back");
	else
		show_root(a, (a->root + step) % a->n_roots);
}

static void help(struct app *a)
{
	const struct query_scope none = {0};
	int r;

	if (app_top(a)->view->ops == &view_help) {
		if (app_to_view(a, CMD_HELP, &(struct command_arg){0}) == VIEW_UNHANDLED)
			app_pop(a);
		return;
	}
	r = app_push(a, &view_help, &none, "help");
	if (r < 0)
		app_say(a, ROLE_ERROR, "Cannot open the help: %s", strerror(-r));
}

/* A view that was gone into, as a flame graph can be, is left step by step, and its filter first.
 */
static void back(struct app *a)
{
	const struct command_arg none = {0};

	if (app_to_view(a, CMD_BACK, &none) != VIEW_UNHANDLED || app_side_leave(a))
		return;
	if (app_filter(a)[0])
		app_set_filter(a, "");
	else if (a->n_stack)
		app_pop(a);
	else if (!app_part_clear(a) && !app_marks_clear(a) && !app_time_clear(a))
		app_say(a, ROLE_DIM, "This is the first screen; q quits");
}

static void repaint(struct app *a)
{
	if (a->display->ops->redraw)
		a->display->ops->redraw(a->display);
}

/* Leaving the help returns to the view where it was opened. */
static void leave(struct app *a)
{
	if (app_top(a)->view->ops == &view_help)
		app_pop(a);
	else
		a->done = true;
}

/* Of the page that has the keys, which may be the one beside the view. */
static void open_heat(struct app *a)
{
	a->side.acts = a->side.has_keys;
	int r = app_push(a, &view_heat, &app_keys(a)->scope, "heat map");

	a->side.acts = false;
	if (r < 0)
		app_say(a, ROLE_ERROR, "Cannot open the heat map: %s", strerror(-r));
}

/* False when the command is not the app's. */
static bool own_command(struct app *a, enum command c, const struct command_arg *arg)
{
	switch (c) {
	case CMD_QUIT:
		leave(a);
		return true;
	case CMD_BACK:
		back(a);
		return true;
	case CMD_HELP:
		help(a);
		return true;
	case CMD_FILTER:
		app_find_filter(a, arg->text);
		return true;
	case CMD_CLEAR_FILTER:
		app_set_filter(a, "");
		repaint(a);
		return true;
	case CMD_REDRAW:
		repaint(a);
		return true;
	case CMD_SEARCH:
		app_find_text(a, arg->text);
		return true;
	case CMD_SEARCH_NEXT:
	case CMD_SEARCH_PREV:
		app_find_next(a, c);
		return true;
	case CMD_HEAT:
		open_heat(a);
		return true;
	case CMD_PALETTE:
		a->prompt.mode = app_mode(a);
		prompt_open(&a->prompt, PROMPT_PALETTE, "");
		return true;
	default:
		return false;
	}
}

static bool session_command(struct app *a, enum command c, const struct command_arg *arg)
{
	switch (c) {
	case CMD_PAUSE:
		app_history_pause(a);
		return true;
	case CMD_STOP_ON:
		app_stop_on(a, arg->text);
		return true;
	case CMD_ZERO:
		model_zero(a->engine->model);
		app_say(a, ROLE_NORMAL, "counting from now again");
		return true;
	case CMD_WINDOW:
		app_window_command(a, arg->text);
		return true;
	case CMD_MARK:
		app_mark(a, arg->text);
		return true;
	case CMD_VERSUS:
		if (arg->text)
			app_versus_text(a, arg->text);
		return arg->text;
	case CMD_SLOWER:
	case CMD_FASTER:
		step_delay(a, c == CMD_SLOWER ? 1 : -1);
		return true;
	case CMD_DELAY:
		delay_from(a, arg->text);
		return true;
	case CMD_COST:
		say_cost(a);
		return true;
	case CMD_TOUR:
		app_tour_begin(a);
		return true;
	case CMD_WHY:
		app_sums_why(a);
		return true;
	case CMD_SAVE:
		app_save(a, arg->text);
		return true;
	case CMD_COPY:
		app_copy(a);
		return true;
	case CMD_SUSPEND:
		a->display->ops->suspend(a->display);
		return true;
	case CMD_VIEW:
		go_to_view(a, arg);
		return true;
	case CMD_SIDE:
		app_side_turn(a);
		return true;
	case CMD_VIEW_NEXT:
	case CMD_VIEW_PREV:
		next_view(a, c);
		return true;
	default:
		return false;
	}
}

void app_command(struct app *a, enum command c, const struct command_arg *arg)
{
	int r;

	a->dirty = true;
	if (c == CMD_STEP && app_tour_is_offered(a))
		c = CMD_TOUR;
	if (app_time_command(a, c, arg) || app_choose(a, c, arg) || own_command(a, c, arg) ||
	    session_command(a, c, arg))
		return;
	r = app_to_view(a, c, arg);
	app_choose_explain(a);
	if (r == VIEW_UNHANDLED && c == CMD_LEFT)
		back(a);
	else if (r == VIEW_UNHANDLED && c == CMD_RIGHT && !app_side_enter(a))
		app_command(a, CMD_ENTER, arg);
	else if (r == VIEW_UNHANDLED && c == CMD_EXPAND && !a->time.is_replay)
		step_delay(a, -1);
	else if (r == VIEW_UNHANDLED && c == CMD_COLLAPSE && !a->time.is_replay)
		step_delay(a, 1);
	else if (r == VIEW_UNHANDLED && c != CMD_RIGHT)
		app_say_unhandled(a, c, arg);
}

static void palette(struct app *a, const char *line)
{
	struct command_arg arg;
	enum command c = command_parse(a->prompt.mode, line, &arg);

	if (c)
		app_command(a, c, &arg);
	else if (line[strspn(line, " :")])
		app_say(a, ROLE_ERROR, "No command is called '%s': Tab completes, ? lists them",
			line);
}

static void prompt_input(struct app *a, uint32_t key)
{
	enum prompt_kind kind = a->prompt.kind;
	int r = prompt_key(&a->prompt, key);
	char line[PROMPT_TEXT];

	/* A command of the palette may open the next prompt. */
	snprintf(line, sizeof(line), "%s", a->prompt.text);
	if (r == PROMPT_DONE || r == PROMPT_CANCEL)
		a->prompt.kind = PROMPT_NONE;
	if (kind == PROMPT_FILTER && r)
		app_find_typed(a, line, r == PROMPT_CANCEL);
	else if (kind == PROMPT_SEARCH && r == PROMPT_DONE)
		app_find_text(a, line);
	else if (kind == PROMPT_PALETTE && r == PROMPT_DONE)
		palette(a, line);
	else if (r == PROMPT_DONE && line[strspn(line, " ")])
		app_command(a, kind == PROMPT_GO ? CMD_JUMP : CMD_CUT,
			    &(struct command_arg){.text = line});
}

void app_key(struct app *a, const struct display_input *in)
{
	struct command_arg arg;
	enum command c;

	a->dirty = true;
	if (in->key == KEY_K_RESIZE)
		return;
	/*
	 * A key is about the rows on the screen. They exist once a view is drawn, and are of the
	 * snapshots of that frame; a command shall find the newest.
	 */
	if (a->drawn != app_top(a)->view ||
	    a->drawn_snapshots != model_n_snapshots(a->engine->model))
		app_draw(a);
	if (a->choose.kind) {
		app_choose_key(a, in);
		return;
	}
	if (in->key >= KEY_K_CLICK && in->key <= KEY_K_WHEEL_DOWN) {
		if (!a->prompt.kind) {
			a->message[0] = '\0';
			app_mouse(a, in);
		}
		return;
	}
	if (a->prompt.kind) {
		prompt_input(a, in->key);
		return;
	}
	a->message[0] = '\0';
	if (app_tour_key(a, in->key))
		return;
	c = command_of_key(app_mode(a), in->key, &arg);
	if (c)
		app_command(a, c, &arg);
}
