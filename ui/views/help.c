// SPDX-License-Identifier: GPL-2.0-only
/*
 * Help, made again for each frame from what the program itself is made of: the text of the view one
 * came from, the columns of its tables, the table of commands. Only the meaning of the first line
 * is written here. At first it is one screen, with the keys that work in that view and what its
 * columns say; asked for again it is all, an array of lines in the query's arena, wrapped to the
 * width, of which the window shows a part.
 */
#include "kontend/arena.h"
#include "kontend/engine.h"
#include "kontend/query-damage.h"
#include "kontend/tables.h"
#include "kontend/text.h"
#include "pane.h"
#include "terms.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAX_TEXT_W = 100, KEYS_W = 22, SHORT_W = 15, COLUMNS_LEAST = 2, WORDS_MANY = 9 };

struct view_help {
	struct view v;
	size_t top, n_lines, height;
	int search; /* pending jump: +1, -1 */
	bool all;   /* not only the first screen */
};

struct help_line {
	struct help_line *next;
	enum role role; /* of the label */
	const char *label, *text;
	int indent; /* of the text */
};

struct page {
	const struct app *app;
	const struct notes *notes; /* about the recording */
	struct arena *arena;
	struct help_line *first, **end;
	size_t n;
	int w, h;
	bool failed;
};

static const struct {
	const char *field, *meaning;
	unsigned modes; /* enum command_mode, or-ed; 0 = all */
} header_fields[] = {
	{"live 1:23",
	 "measured now, for so long. PAUSED: the picture stands still while records wait "
	 "to be counted at resume; ended: nothing more will come",
	 COMMAND_LIVE | COMMAND_TRAVEL},
	{"T goes back 2:31",
	 "the kept minutes of a session that is paused: keys that go in time work there, and "
	 "the time by the clock on the wall is in the first line meanwhile. Space goes on",
	 COMMAND_TRAVEL},
	{"replay +0:41 of 2:00",
	 "a recording, the time by the clock on the wall, and how far it has been played. "
	 "\"counted from\": the begin of a range is marked, sums begin there; RANGE: its end, too, "
	 "and rates are averages of the range",
	 COMMAND_REPLAY},
	{"wait/s 2.46",
	 "the ribbon, all of the time there is: the worst of each cell, with what the top of the "
	 "row stands for (wait/s: so many tasks wait on average); log: logarithmic. More rows (R): "
	 "slots used, events short of time, what "
	 "rotation takes of a CPU, XOL slots used. A click goes there",
	 COMMAND_TRAVEL | COMMAND_REPLAY},
	{"x2", "how fast it is played, if it is", COMMAND_REPLAY},
	{"ev/s", "contentions a second: how much there is to measure"},
	{NULL, NULL}, /* query_damage_figures */
	{"no lock events",
	 "the recording has none, so that it says nothing about waits: see the profile (9)",
	 COMMAND_REPLAY},
	{"no ends",
	 "lock:contention_end was not recorded: how long waits lasted is not known, and none is "
	 "shown"},
	{"rings 90% full", "the fullest buffer of the last interval: soon records will be lost"},
	{"no symbols", "the kernel withholds addresses (kernel.kptr_restrict, CAP_SYSLOG): callers "
		       "and static locks are shown by address"},
	{"cost", "CPU time that kontend itself uses, in percent of one CPU",
	 COMMAND_LIVE | COMMAND_TRAVEL},
	{"every", "the refresh interval, over which rates are taken",
	 COMMAND_LIVE | COMMAND_TRAVEL},
};

static struct view_help *of_view(struct view *v)
{
	return (struct view_help *)v;
}

static void add_line(struct page *p, enum role role, const char *label, const char *text,
		     int indent)
{
	struct help_line *l = arena_alloc(p->arena, sizeof(*l));

	if (!l || !text) {
		p->failed = true;
		return;
	}
	*l = (struct help_line){NULL, role, label, text, indent};
	*p->end = l;
	p->end = &l->next;
	p->n++;
}

/* A label and its text, wrapped beside it. */
static void add_entry(struct page *p, enum role role, const char *label, const char *text,
		      int indent)
{
	int w = p->w - indent - 1;

	if (w < 20)
		w = 20;
	if (w > MAX_TEXT_W)
		w = MAX_TEXT_W;
	do {
		size_t n = view_wrap(text, w);
		add_line(p, role, label, arena_strndup(p->arena, text, n), indent);
		text += n;
		text += strspn(text, " ");
		label = "";
	} while (*text && !p->failed);
}

static const char *name_of(const struct view_ops *view)
{
	return view->set ? view->title : view->name;
}

static void add_title(struct page *p, const char *title)
{
	if (p->n)
		add_line(p, ROLE_NORMAL, "", "", 0);
	add_line(p, ROLE_TITLE, title, "", 0);
}

static void add_columns(struct page *p, const struct table_def *t)
{
	add_title(p,
		  arena_printf(p->arena, "columns: %s (with the names that reports have for them)",
			       t->title));
	for (size_t i = 0; i < t->kind->n_columns; i++) {
		const struct column *c = &t->kind->columns[i];
		const char *text = arena_printf(p->arena, "%s (%s)", c->help, c->key);
		if (c->flags & COLUMN_SCREEN)
			add_entry(p, ROLE_BOLD, c->title, text ? text : c->help, KEYS_W);
	}
}

/* With the names that reports have for their columns. */
static void add_tables(struct page *p, const char *s)
{
	while (s && *s) {
		size_t len = strcspn(s, " ");

		add_columns(p, tables_find(s, len));
		s += len + strspn(s + len, " ");
	}
}

static const char *keys_text(struct page *p, const struct command_info *info)
{
	char *all = NULL, name[16];

	for (size_t i = 0; i < 4 && info->keys[i]; i++) {
		command_key_name(info->keys[i], name);
		all = all ? arena_printf(p->arena, "%s %s", all, name)
			  : arena_printf(p->arena, "%s", name);
	}
	if (!all)
		all = arena_printf(p->arena, ":%s %s", info->name, info->arg ? info->arg : "");
	if (!all)
		p->failed = true;
	return all ? all : "";
}

static void add_keys(struct page *p)
{
	add_title(p, "keys (a : before a name is typed at the prompt that : opens)");
	for (const struct command_info *i = command_table; i->command != CMD_NONE; i++) {
		if (!i->help || !command_in(i, app_mode(p->app)))
			continue;
		const char *text = i->help;
		if (i->keys[0])
			text = arena_printf(p->arena, "%s (:%s%s%s)", i->help, i->name,
					    i->arg ? " " : "", i->arg ? i->arg : "");
		add_entry(p, ROLE_KEY, keys_text(p, i), text ? text : i->help, KEYS_W);
	}
}

static bool said_before(size_t root)
{
	for (size_t i = 0; i < root; i++)
		if (view_roots[i]->help == view_roots[root]->help)
			return true;
	return false;
}

static void add_views(struct page *p)
{
	add_title(p, "views");
	for (size_t i = 0; view_roots[i]; i++) {
		const struct view_ops *o = view_roots[i];
		const char *label = o->digit ? arena_printf(p->arena, "%c %s", o->digit, o->name)
					     : arena_printf(p->arena, ":view %s", o->name);
		const char *text =
			said_before(i) ? "The table of locks, beginning with this key." : o->help;
		add_entry(p, ROLE_KEY, label ? label : o->name, text, KEYS_W);
		for (const struct view_ops *const *set = o->sets; set && *set; set++)
			if (*set != o)
				add_entry(p, ROLE_KEY, (*set)->title, (*set)->help, KEYS_W);
	}
}

static void add_damage(struct page *p)
{
	for (const struct figure *f = query_damage_figures; f->key; f++)
		if (f->title)
			add_entry(p, ROLE_BOLD, f->title, f->help, KEYS_W);
}

/* About a recording: what is missing comes before what the first line means. */
static void add_notes(struct page *p)
{
	const struct notes *notes = p->notes;
	char text[NOTE_TEXT + 32];

	if (notes->n)
		add_title(p, "notes about this recording");
	for (size_t i = 0; i < notes->n; i++) {
		const struct note *n = &notes->items[i];
		size_t len = strlen(text_clean(text, NOTE_TEXT, n->text));

		if (n->count > 1)
			snprintf(text + len, sizeof(text) - len, " (%" PRIu64 " times)", n->count);
		add_entry(p, n->kind == NOTE_DAMAGE ? ROLE_WARN : ROLE_BOLD, notes_kind(n->kind),
			  text, KEYS_W);
	}
	if (notes->left_out)
		add_entry(p, ROLE_BOLD, "more",
			  arena_printf(p->arena, "%" PRIu64 " notes are left out", notes->left_out),
			  KEYS_W);
}

static void add_header(struct page *p)
{
	add_notes(p);
	add_title(p, "the first line: can this be trusted?");
	for (size_t i = 0; i < sizeof(header_fields) / sizeof(*header_fields); i++) {
		unsigned modes = header_fields[i].modes;

		if (!header_fields[i].field)
			add_damage(p);
		else if (!modes || modes & (unsigned)app_mode(p->app))
			add_entry(p, ROLE_BOLD, header_fields[i].field, header_fields[i].meaning,
				  KEYS_W);
	}
}

/* Keys that do the same in all views, where they are there at all. */
static const struct view_key everywhere[] = {
	{CMD_BACK, "back"},	  {CMD_VIEW_NEXT, "next pane, view"},
	{CMD_TOP, "top"},	  {CMD_BOTTOM, "bottom"},
	{CMD_SEARCH, "search"},	  {CMD_SEARCH_NEXT, "next match"},
	{CMD_PAUSE, "pause"},	  {CMD_PLAY, "play"},
	{CMD_STEP, "step"},	  {CMD_JUMP, "go to a time"},
	{CMD_WHY, "verdict"},	  {CMD_FASTER, "refresh faster"},
	{CMD_SLOWER, "slower"},	  {CMD_ZERO, "reset"},
	{CMD_COLUMNS, "columns"}, {CMD_SCROLL_RIGHT, "scroll"},
	{CMD_COPY, "copy row"},	  {CMD_SAVE, "save"},
	{CMD_PALETTE, "command"}, {CMD_QUIT, "quit"},
	{CMD_NONE, NULL},
};

static const struct command_info *info_of(const struct page *p, enum command c)
{
	for (const struct command_info *i = command_table; i->command; i++)
		if (i->command == c && i->keys[0] && command_in(i, app_mode(p->app)))
			return i;
	return NULL;
}

static bool has_key(const struct view_ops *o, enum command c)
{
	for (const struct view_key *k = o->keys; k && k->command; k++)
		if (k->command == c)
			return true;
	return false;
}

/* As much of the text as one line has room for. */
static void add_cut(struct page *p, enum role role, const char *label, const char *text)
{
	size_t room = view_wrap(text, p->w - SHORT_W - 2);

	add_line(p, role, label,
		 arena_printf(p->arena, "%.*s%s", (int)room, text, text[room] ? " …" : ""),
		 SHORT_W);
}

static void add_own_keys(struct page *p, const struct view_ops *from)
{
	char key[16];

	for (const struct view_key *k = from->keys; k && k->command; k++) {
		const struct command_info *i = info_of(p, k->command);
		const char *label =
			i ? arena_printf(p->arena, "%s", command_key_name(i->keys[0], key)) : NULL;
		if (i)
			add_cut(p, ROLE_KEY, label ? label : "", i->help);
	}
}

/* @line and one more key, or a new line where there is no room for it. */
static const char *add_key(struct page *p, const char *line, const struct view_key *k)
{
	const struct command_info *i = info_of(p, k->command);
	char key[16];

	if (!i)
		return line;
	const char *word =
		arena_printf(p->arena, "%s %s", command_key_name(i->keys[0], key), k->text);
	const char *more =
		arena_printf(p->arena, "%s%s%s", line, *line ? "  " : "", word ? word : "");
	if (more && text_width(more) > p->w - 2) {
		add_line(p, ROLE_NORMAL, "", line, 1);
		more = word;
	}
	return more ? more : "";
}

/* As many of the others in a line as there is room for; @all: those of the view, too. */
static void add_other_keys(struct page *p, const struct view_ops *from, bool all)
{
	const char *line = "";

	for (const struct view_key *k = from->keys; all && k && k->command; k++)
		line = add_key(p, line, k);
	for (const struct view_key *k = everywhere; k->command; k++)
		if (!has_key(from, k->command))
			line = add_key(p, line, k);
	add_line(p, ROLE_NORMAL, "", line, 1);
}

/* A page of many words explains these, and has its keys in few lines. */
static bool has_many_words(const struct view_ops *from)
{
	const struct term *t = terms_of(from);
	int n = 0;

	while (t[n].word)
		n++;
	return n >= WORDS_MANY;
}

/* Figures before names, as these say what they are, and what is always shown before the rest. */
static bool comes(const struct column *c, unsigned round)
{
	unsigned rank = c->type == COLUMN_TEXT ? UINT8_MAX : c->priority;

	return c->flags & COLUMN_SCREEN && rank == round;
}

/* The words above the table, a line each; columns get a few lines at least. */
static void add_terms(struct page *p, const struct view_ops *from, int most)
{
	most -= has_many_words(from) ? 0 : COLUMNS_LEAST;
	for (const struct term *t = terms_of(from); t->word && (int)p->n < most; t++)
		add_cut(p, ROLE_BOLD, t->word, t->meaning);
}

static void add_all_terms(struct page *p, const struct view_ops *from)
{
	const struct term *t = terms_of(from);

	if (t->word)
		add_title(p, "words above the table");
	for (; t->word; t++)
		add_entry(p, ROLE_BOLD, t->word, t->meaning, KEYS_W);
}

/* As many as there is room for, a line each. */
static void add_glossary(struct page *p, const struct view_ops *from, int most)
{
	const struct table_def *t = NULL;

	if (from->tables)
		t = tables_find(from->tables, strcspn(from->tables, " "));
	for (unsigned round = 0; t && round <= UINT8_MAX; round++)
		for (size_t i = 0; i < t->kind->n_columns && (int)p->n < most; i++)
			if (comes(&t->kind->columns[i], round))
				add_cut(p, ROLE_BOLD, t->kind->columns[i].title,
					t->kind->columns[i].help);
}

static const char marks[] =
	"~ sampled or inferred  ≥ at least  · zero  - not known  R? perhaps a reader";

/* One screen: what the view is about, its keys, what its columns say. */
static void fill_first(struct page *p, const struct view_ops *from)
{
	const char *end = strstr(from->help, ". ");
	const char *about =
		end ? arena_strndup(p->arena, from->help, (size_t)(end - from->help)) : from->help;
	const char *question = strchr(from->help, '?');

	if (question && (!end || question < end))
		about = arena_strndup(p->arena, from->help, (size_t)(question - from->help) + 1);
	add_line(p, ROLE_TITLE, arena_printf(p->arena, "%s: %s", name_of(from), about ? about : ""),
		 "", 0);
	if (!has_many_words(from)) {
		add_own_keys(p, from);
		add_line(p, ROLE_NORMAL, "", "", 0);
	}
	add_other_keys(p, from, has_many_words(from));
	add_line(p, ROLE_NORMAL, "", "", 0);
	/* Names of types are in the table, and not above it: its figures come first. */
	if (terms_are_of_rows(from))
		add_glossary(p, from, p->h - 3);
	add_terms(p, from, p->h - 3);
	if (!terms_are_of_rows(from))
		add_glossary(p, from, p->h - 3);
	add_line(p, ROLE_NORMAL, "", marks, 1);
	add_line(p, ROLE_NORMAL, "", "", 0);
	add_line(p, ROLE_DIM, "? all keys, columns and what the first line says    q Esc back", "",
		 0);
}

static bool names_table(const char *tables, const char *name, size_t len)
{
	while (tables && *tables) {
		size_t n = strcspn(tables, " ");

		if (n == len && !memcmp(tables, name, len))
			return true;
		tables += n + strspn(tables + n, " ");
	}
	return false;
}

/* Those that the view has not. */
static void add_other_tables(struct page *p, const struct view_ops *from, const char *tables)
{
	while (tables && *tables) {
		size_t len = strcspn(tables, " ");

		if (!names_table(from->tables, tables, len) &&
		    !names_table(from->shows, tables, len))
			add_columns(p, tables_find(tables, len));
		tables += len + strspn(tables + len, " ");
	}
}

/* About the page beside the view. */
static void add_beside(struct page *p, const struct view_ops *page)
{
	add_title(p, arena_printf(p->arena, "the page of the selected row: %s", name_of(page)));
	add_entry(p, ROLE_NORMAL, "", page->help, 1);
	add_all_terms(p, page);
}

static void fill(struct view_help *h, struct page *p)
{
	const struct view_ops *from = h->v.from;

	if (!h->all && from && from->help) {
		fill_first(p, from);
		return;
	}
	if (from && from->help) {
		add_title(p, arena_printf(p->arena, "this view: %s", name_of(from)));
		add_entry(p, ROLE_NORMAL, "", from->help, 1);
		add_all_terms(p, from);
	}
	const struct view_ops *beside = from && from->help ? h->v.beside : NULL;
	if (beside && beside->help)
		add_beside(p, beside);
	add_header(p);
	add_tables(p, from ? from->tables : NULL);
	add_tables(p, from ? from->shows : NULL);
	if (beside) {
		add_other_tables(p, from, beside->tables);
		add_other_tables(p, from, beside->shows);
	}
	add_keys(p);
	add_views(p);
}

static void draw_line(const struct help_line *l, struct screen *s, struct rect r, int y,
		      const char *search)
{
	bool found = *search && (text_contains(l->text, search) || text_contains(l->label, search));

	screen_put(s, r, 1, y, l->role, l->label);
	screen_put(s, r, l->indent, y, found ? ROLE_MATCH : ROLE_NORMAL, l->text);
}

/* Line of the next match from the top, beyond it in the direction of @h->search. */
static size_t find_text(const struct view_help *h, const struct page *p, const char *search)
{
	size_t at = 0, before = h->top;

	for (const struct help_line *l = p->first; l; l = l->next, at++) {
		if (!text_contains(l->text, search) && !text_contains(l->label, search))
			continue;
		if (h->search > 0 && at > h->top)
			return at;
		if (h->search < 0 && at < h->top)
			before = at;
	}
	return before;
}

static void clamp(struct view_help *h)
{
	size_t last = h->n_lines > h->height ? h->n_lines - h->height : 0;

	if (h->top > last)
		h->top = last;
}

static void help_draw(struct view *v, struct screen *s, struct rect r)
{
	struct view_help *h = of_view(v);
	struct page p = {.app = v->app,
			 .notes = &v->query->engine->notes,
			 .arena = &v->query->arena,
			 .w = r.w,
			 .h = r.h};
	const char *search = app_search(v->app);
	size_t at = 0;

	p.end = &p.first;
	fill(h, &p);
	if (p.failed) {
		view_draw_error(s, r, &(struct error){.code = -ENOMEM});
		return;
	}
	h->n_lines = p.n;
	h->height = r.h > 0 ? (size_t)r.h : 0;
	if (h->search && *search)
		h->top = find_text(h, &p, search);
	h->search = 0;
	clamp(h);
	for (const struct help_line *l = p.first; l; l = l->next, at++)
		if (at >= h->top && at < h->top + h->height)
			draw_line(l, s, r, (int)(at - h->top), search);
	if (h->n_lines > h->height)
		screen_printf(s, r, r.w - 6, r.h - 1, ROLE_DIM, "%3zu %%",
			      (h->top + h->height) * 100 / h->n_lines);
}

static void scroll(struct view_help *h, size_t by, bool down)
{
	if (down)
		h->top += by;
	else
		h->top = h->top > by ? h->top - by : 0;
	clamp(h);
}

static int help_command(struct view *v, enum command c, const struct command_arg *arg)
{
	struct view_help *h = of_view(v);
	size_t page = h->height > 2 ? h->height - 1 : 1;

	(void)arg;
	switch (c) {
	case CMD_HELP:
		if (h->all || !v->from || !v->from->help)
			return VIEW_UNHANDLED;
		h->all = true;
		h->top = 0;
		return 0;
	case CMD_UP:
	case CMD_DOWN:
		scroll(h, 1, c == CMD_DOWN);
		return 0;
	case CMD_PGUP:
	case CMD_PGDN:
		scroll(h, page, c == CMD_PGDN);
		return 0;
	case CMD_TOP:
	case CMD_BOTTOM:
		scroll(h, h->n_lines, c == CMD_BOTTOM);
		return 0;
	case CMD_SEARCH:
	case CMD_SEARCH_NEXT:
	case CMD_SEARCH_PREV:
		h->search = c == CMD_SEARCH_PREV ? -1 : 1;
		return 0;
	default:
		return VIEW_UNHANDLED;
	}
}

const struct view_ops view_help = {
	.name = "help",
	.title = "help",
	.size = sizeof(struct view_help),
	.draw = help_draw,
	.command = help_command,
};
