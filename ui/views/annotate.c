// SPDX-License-Identifier: GPL-2.0-only
/*
 * The instructions of a function: the share of its samples that each has, the time spent waiting
 * for locks below each call, and where jumps go. The view opens at the hottest instruction; Enter
 * follows jumps and calls. Without the code, the first lines say why, and rows show the offsets of
 * the sampled places. Between two frames the view knows only the number of lines; a command that
 * needs more queries again.
 *
 * Rows are the instructions. A line of the source precedes each instruction whose line differs from
 * that of the instruction before. The compiler mixes lines, so one line may appear several times.
 */
#include "annotate.h"
#include "hot.h"
#include "kontend/bisect.h"
#include "kontend/text.h"
#include "widgets/layout.h"
#include "widgets/widget.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *annotate_unit_name(enum annotate_unit u)
{
	static const char *const names[ANNOTATE_UNITS] = {"percent", "samples", "period", "wait"};

	return u < ANNOTATE_UNITS ? names[u] : NULL;
}

uint64_t annotate_value(const struct query_code_line *l, enum annotate_unit u)
{
	if (u == ANNOTATE_SAMPLES)
		return l->samples;
	return u == ANNOTATE_WAIT ? l->wait_ns : l->weight;
}

/* Returns true if @a ranks before @b; equal lines rank in the order of the code. */
static bool ranks_before(const struct query_annotate *q, enum annotate_unit u, size_t a, size_t b)
{
	uint64_t x = annotate_value(&q->lines[a], u), y = annotate_value(&q->lines[b], u);

	return x != y ? x > y : a < b;
}

size_t annotate_hottest(const struct query_annotate *a, enum annotate_unit u)
{
	return annotate_rank(a, u, SIZE_MAX).next;
}

struct annotate_rank annotate_rank(const struct query_annotate *a, enum annotate_unit u,
				   size_t line)
{
	struct annotate_rank r = {.next = SIZE_MAX, .prev = SIZE_MAX};
	bool is_hot = line < a->n && annotate_value(&a->lines[line], u);
	size_t first = SIZE_MAX, last = SIZE_MAX;

	r.rank = is_hot;
	for (size_t i = 0; i < a->n; i++) {
		if (!annotate_value(&a->lines[i], u))
			continue;
		r.n++;
		if (first == SIZE_MAX || ranks_before(a, u, i, first))
			first = i;
		if (last == SIZE_MAX || ranks_before(a, u, last, i))
			last = i;
		if (!is_hot || i == line)
			continue;
		if (ranks_before(a, u, i, line)) {
			r.rank++;
			if (r.prev == SIZE_MAX || ranks_before(a, u, r.prev, i))
				r.prev = i;
		} else if (r.next == SIZE_MAX || ranks_before(a, u, i, r.next)) {
			r.next = i;
		}
	}
	r.next = r.next == SIZE_MAX ? first : r.next;
	r.prev = r.prev == SIZE_MAX ? last : r.prev;
	return r;
}

size_t annotate_line_at(const struct query_annotate *a, uint64_t offset)
{
	size_t n = BISECT(a->lines, a->n, offset, offset);

	return n ? n - 1 : 0;
}

static struct view_annotate *of_view(struct view *v)
{
	return (struct view_annotate *)v;
}

static void go_to(struct view_annotate *o, size_t line)
{
	o->line = line;
	o->moved = true;
	o->jumped = true;
}

/* At first: the place that was asked for, if it is within the function, else the hottest line. */
static void place(struct view_annotate *o, const struct query_annotate *a)
{
	size_t hottest = annotate_hottest(a, o->unit);

	if (hottest == SIZE_MAX && a->waits && !a->samples)
		hottest = annotate_hottest(a, ANNOTATE_WAIT);
	if (o->v.row > a->start && a->n)
		go_to(o, annotate_line_at(a, o->v.row - a->start));
	else if (hottest != SIZE_MAX)
		go_to(o, hottest);
	o->placed = a->n > 0 && !a->loading;
}

static bool is_match(const struct view_annotate *o, const struct query_code_line *l,
		     const char *search)
{
	char buf[QUERY_ANNOTATE_TEXT], source[ANNOTATE_SOURCE];

	return text_contains(query_annotate_text(l, buf), search) ||
	       (!o->no_source && text_contains(annotate_source(l, source), search));
}

static void search_line(struct view_annotate *o, const struct query_annotate *a)
{
	const char *search = app_search(o->v.app);
	size_t step = o->search > 0 ? 1 : a->n - 1;

	o->search = 0;
	for (size_t i = 1, at = o->line; *search && i <= a->n; i++) {
		at = (at + step) % a->n;
		if (is_match(o, &a->lines[at], search)) {
			go_to(o, at);
			return;
		}
	}
	if (*search)
		app_say(o->v.app, ROLE_WARN, "'%s' is not in this function", search);
}

/* The chosen line in this frame's lines. */
static void follow(struct view_annotate *o, const struct query_annotate *a)
{
	o->n = a->n;
	o->waits = a->waits;
	o->lines_why = a->lines_why;
	if (!o->moved)
		o->line = annotate_line_at(a, o->offset);
	if (o->line >= a->n)
		o->line = a->n ? a->n - 1 : 0;
	if (!o->placed)
		place(o, a);
	if (o->search && a->n)
		search_line(o, a);
	o->offset = o->line < a->n ? a->lines[o->line].offset : 0;
	o->moved = false;
}

static int draw_function(struct view_annotate *o, struct screen *s, struct rect r,
			 struct error *err)
{
	enum { REASON = 2 };
	struct query_annotate a;
	int code = query_annotate(o->v.query, o->v.row, &a, err);

	if (code < 0)
		return code;
	follow(o, &a);
	annotate_draw_head(o, &a, s, r);
	r = layout_below(r, ANNOTATE_HEAD);
	if (!a.source) {
		view_draw_text(s, (struct rect){r.x, r.y, r.w, REASON}, ROLE_DIM, a.why);
		r = layout_below(r, REASON);
	}
	return annotate_draw_list(o, &a, s, r);
}

static void draw_view(struct view *v, struct screen *s, struct rect r)
{
	struct error err = {0};

	if (draw_function(of_view(v), s, r, &err) < 0) {
		if (!err.code)
			error_enomem(&err, "the instructions");
		view_draw_error(s, r, &err);
	}
	hot_load_names(v);
}

static void set_unit(struct view_annotate *o, const char *name)
{
	enum annotate_unit u = o->unit;

	if (!name)
		u = (u + 1) % ANNOTATE_UNITS;
	else
		for (u = 0; u < ANNOTATE_UNITS && strcmp(annotate_unit_name(u), name) != 0;)
			u++;
	if (u == ANNOTATE_WAIT && !o->waits && !name)
		u = ANNOTATE_PCT;
	if (u == ANNOTATE_UNITS)
		app_say(o->v.app, ROLE_WARN, "unit %s? One of: percent samples period wait", name);
	else if (u == ANNOTATE_WAIT && !o->waits)
		app_say(o->v.app, ROLE_WARN,
			"waits for locks are known below functions of the "
			"kernel, not of programs");
	else
		o->unit = u;
}

static void show_source(struct view_annotate *o)
{
	if (o->lines_why)
		app_say(o->v.app, ROLE_NORMAL, "lines of the source: %s", o->lines_why);
	else
		o->no_source = !o->no_source;
}

/* Through the lines that have any of the unit. */
static void go_hot(struct view_annotate *o, const struct query_annotate *a, enum command c)
{
	struct annotate_rank r = annotate_rank(a, o->unit, o->line);
	size_t to = c == CMD_HOT_NEXT	? r.next
		    : c == CMD_HOT_PREV ? r.prev
					: annotate_hottest(a, o->unit);

	if (to == SIZE_MAX)
		app_say(o->v.app, ROLE_NORMAL,
			o->unit == ANNOTATE_WAIT ? "nothing was waited below this function"
						 : "this function has no samples");
	else
		go_to(o, to);
}

/* Where a jump was followed from. */
static void remember(struct view_annotate *o, uint64_t offset)
{
	if (o->n_came_from == ANNOTATE_JUMPS)
		memmove(o->came_from, o->came_from + 1, --o->n_came_from * sizeof(*o->came_from));
	o->came_from[o->n_came_from++] = offset;
}

/* Enter went to the target of a jump: so Esc comes back from there first. */
static int back(struct view_annotate *o)
{
	if (!o->n_came_from)
		return VIEW_UNHANDLED;
	o->offset = o->came_from[--o->n_came_from];
	o->moved = false;
	o->jumped = true;
	return 0;
}

/* Where the chosen line goes. */
static int enter(struct view_annotate *o, const struct query_annotate *a)
{
	const struct query_code_line *l = o->line < a->n ? &a->lines[o->line] : NULL;

	if (!l || (l->kind != DISASM_JUMP && l->kind != DISASM_CALL)) {
		app_say(o->v.app, ROLE_NORMAL, "neither a jump nor a call: Enter follows these");
		return 0;
	}
	if (l->has_target && l->target >= a->start && l->target < a->start + a->size) {
		remember(o, l->offset);
		go_to(o, annotate_line_at(a, l->target - a->start));
		return 0;
	}
	if (!l->call) {
		app_say(o->v.app, ROLE_NORMAL,
			l->has_target ? "no function is known to be where it goes"
				      : "where it goes is known only when it runs");
		return 0;
	}
	return app_push_row(o->v.app, &view_annotate, l->target, l->call);
}

static int take_line_command(struct view_annotate *o, enum command c)
{
	struct query_annotate a;
	struct error err = {0};
	int code = query_annotate(o->v.query, o->v.row, &a, &err);

	if (code < 0)
		return code;
	if (c == CMD_ENTER)
		return enter(o, &a);
	go_hot(o, &a, c);
	return 0;
}

static int click(struct view_annotate *o, enum command c, const struct command_arg *arg)
{
	size_t row = widget_row_at(o->list, arg, 0, o->n_shown);

	if (row == SIZE_MAX)
		return 0;
	o->line = o->shown[row];
	o->moved = true;
	return c == CMD_DCLICK ? take_line_command(o, CMD_ENTER) : 0;
}

static int take_command(struct view *v, enum command c, const struct command_arg *arg)
{
	struct view_annotate *o = of_view(v);

	if (widget_search(c, &o->search))
		return 0;
	switch (c) {
	case CMD_ENTER:
	case CMD_HOTTEST:
	case CMD_HOT_NEXT:
	case CMD_HOT_PREV:
		return take_line_command(o, c);
	case CMD_BACK:
		return back(o);
	case CMD_UNIT:
		set_unit(o, arg->text);
		return 0;
	case CMD_BYTES:
		o->bytes = !o->bytes;
		return 0;
	case CMD_SOURCE:
		show_source(o);
		return 0;
	case CMD_ADDRESSES:
		o->addresses = !o->addresses;
		return 0;
	case CMD_CLICK:
	case CMD_DCLICK:
		return click(o, c, arg);
	default:
		if (!widget_move(c, o->n, o->n_instructions, &o->line))
			return VIEW_UNHANDLED;
		o->moved = true;
		return 0;
	}
}

int annotate_open_row(struct view *v, uint64_t row)
{
	const char *title = query_hot_title(v->query, HOT_SYMBOL, row);
	uint64_t start;

	if (!title || query_hot_start(v->query, row, &start) < 0) {
		app_say(v->app, ROLE_NORMAL, "it has no samples any more");
		return 0;
	}
	return app_push_row(v->app, &view_annotate, start, title);
}

int annotate_open_path(struct view *v, const struct query_scope *scope)
{
	struct query_annotate a;
	struct error err = {0};
	uint64_t start;
	int code = query_annotate_path(v->query, scope, &start);

	if (code == 0)
		code = query_annotate(v->query, start, &a, &err);
	if (code == 0)
		code = app_push_row(v->app, &view_annotate, start, a.symbol);
	if (code != -ENOENT)
		return code;
	app_say(v->app, ROLE_NORMAL, "no call chain of its waits passes locking code");
	return 0;
}

const struct view_ops view_annotate = {
	.name = "annotate",
	.title = "annotate",
	.is_code = true,
	.help = "A function by its instructions, as they are in memory now or in the recording: "
		"the share of its samples that each has, and what is waited for locks below each "
		"call. Lines lead from jumps to where they go, ↑ and ↓ say where that is, ▶ marks "
		"the hottest line. Enter goes to the target of a jump, or into the function that "
		"is called; Esc comes back, from jumps as well. H goes to the hottest line, Tab "
		"through the others by "
		"their share; t counts samples, their period or waits instead, a shows addresses, "
		"o bytes, s lines of the source, where there is debug information, / searches.",
	.size = sizeof(struct view_annotate),
	.draw = draw_view,
	.command = take_command,
};

enum { SOURCE_TAB = 4 };

static bool has_source(const struct query_code_line *l)
{
	return l->place && l->place->frames[0].line && *l->place->frames[0].file;
}

static bool same_source(const struct query_code_line *a, const struct query_code_line *b)
{
	const struct srclines_frame *x = &a->place->frames[0], *y = &b->place->frames[0];

	return x->line == y->line && !strcmp(x->file, y->file) && !strcmp(x->function, y->function);
}

int annotate_rows(const struct query_annotate *a, bool source, struct arena *arena,
		  struct annotate_rows *ret)
{
	const struct query_code_line *before = NULL;

	*ret = (struct annotate_rows){
		.items = arena_alloc(arena, (2 * a->n + 1) * sizeof(*ret->items)),
		.of_line = arena_alloc(arena, (a->n + 1) * sizeof(*ret->of_line))};
	if (!ret->items || !ret->of_line)
		return -ENOMEM;
	for (size_t i = 0; i < a->n; i++) {
		const struct query_code_line *l = &a->lines[i];

		if (source && has_source(l) && (!before || !same_source(l, before)))
			ret->items[ret->n++] = (struct annotate_row){(uint32_t)i, true};
		before = has_source(l) ? l : NULL;
		ret->of_line[i] = (uint32_t)ret->n;
		ret->items[ret->n++] = (struct annotate_row){(uint32_t)i, false};
	}
	return 0;
}

/*
 * Copies a line without its indentation, since lines from different places have none in common, and
 * with blanks in place of tabs.
 */
static void put_source(char *to, size_t size, const char *text)
{
	size_t n = 0;

	text += strspn(text, " \t");
	for (; *text && n + SOURCE_TAB + 1 < size; text++) {
		memset(to + n, ' ', SOURCE_TAB);
		if (*text == '\t') {
			n += SOURCE_TAB;
			continue;
		}
		to[n++] = *text;
	}
	to[n] = '\0';
}

const char *annotate_source(const struct query_code_line *l, char buf[ANNOTATE_SOURCE])
{
	const struct srclines_frame *f = l->place ? &l->place->frames[0] : NULL;
	const char *file = f ? strrchr(f->file, '/') : NULL;
	char text[ANNOTATE_SOURCE / 2] = "";

	*buf = '\0';
	if (!f)
		return buf;
	if (l->source_text)
		put_source(text, sizeof(text), l->source_text);
	snprintf(buf, ANNOTATE_SOURCE, "%s:%u%s%.80s%s%s", file ? file + 1 : f->file, f->line,
		 l->place->n > 1 && *f->function ? " in " : "", l->place->n > 1 ? f->function : "",
		 *text ? "  " : "", text);
	return buf;
}
