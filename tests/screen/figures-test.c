// SPDX-License-Identifier: GPL-2.0-only
/*
 * A figure that is cut is another figure, and looks like one. So whatever figure is on a narrow
 * screen must be on a wide one, too: every view of every stream is drawn in all widths and compared
 * with what the widest ones show.
 */
#include "kontend/mem.h"
#include "kontend/text.h"
#include "shown.h"
#include "widgets/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 48, FIRST_W = 20, NARROW = 100, LAST_W = 200, WIDE = 420 };

/* Sanitizers look for other faults, which are hardly of one width; there it takes minutes. */
#ifdef KONTEND_CHECK
enum { APART = 5 };
#else
enum { APART = 1 };
#endif

struct words {
	char (*list)[WORD];
	size_t n, cap;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void add_word(struct words *w, const char *word, size_t len)
{
	if (mem_grow(&w->list, &w->cap, w->n, sizeof(*w->list)) < 0)
		abort();
	snprintf(w->list[w->n++], WORD, "%.*s", (int)(len < WORD ? len : WORD - 1), word);
}

static bool has(const struct words *w, const char *word)
{
	return bsearch(word, w->list, w->n, sizeof(*w->list), by_text) != NULL;
}

/* "4 of 87" */
static bool is_room(const char *text, size_t n)
{
	return strspn(text, "0123456789") == n && strncmp(text + n, " of ", 4) == 0;
}

/* Figures without the characters around them; the number of rows that have room is no figure. */
static void add_figures(struct words *w, const char *text)
{
	static const char around[] = " \n,;%|";

	for (size_t n; *(text += strspn(text, around)); text += n) {
		n = strcspn(text, around);
		/* The begin of an address, with its mark, is none either. */
		if (text_is_figure(text) && !is_room(text, n) && strncmp(text, "(0…", n) != 0)
			add_word(w, text, n);
	}
}

/* Beside the rule between a list and the page of its row there is no blank. */
static void blank_rules(char *text)
{
	static const char rule[] = "│";

	for (char *p = text; (p = strstr(p, rule)); p += sizeof(rule) - 1)
		memset(p, ' ', sizeof(rule) - 1);
}

static void draw(struct shown *t, int w, int h, struct words *ret)
{
	char *text;

	shown_resize(t, w, h);
	if (screen_text(app_screen(t->app), &text) < 0)
		abort();
	blank_rules(text);
	add_figures(ret, text);
	mem_free(text);
}

static int complain(struct shown *t, const char *figure, int w, int h)
{
	struct words none = {0};
	char *text;

	draw(t, w, h, &none);
	mem_free(none.list);
	if (screen_text(app_screen(t->app), &text) < 0)
		abort();
	fprintf(stderr, "%s, %s, %dx%d: %s is on no other screen\n%s", t->stream, t->page, w, h,
		figure, text);
	mem_free(text);
	return 1;
}

/*
 * The number of bars of a histogram in one line depends on the room for it: such figures are on
 * screens that are a little wider. A text cut there was cut elsewhere, or not at all.
 */
static int compare(struct shown *t, const struct words *wide, int w, int h)
{
	struct words narrow = {0}, wider = {0};
	int bad = 0;

	draw(t, w, h, &narrow);
	for (size_t i = 0; i < narrow.n && !bad; i++) {
		if (has(wide, narrow.list[i]))
			continue;
		wider.n = 0;
		for (int more = -40; more <= 40; more += 8)
			if (more && w + more >= LAYOUT_MIN_W)
				draw(t, w + more, h, &wider);
		qsort(wider.list, wider.n, sizeof(*wider.list), by_text);
		if (!has(&wider, narrow.list[i]))
			bad = complain(t, narrow.list[i], w, h);
	}
	mem_free(narrow.list);
	mem_free(wider.list);
	return bad;
}

/* The page that is there now, in all widths. */
static int check(struct shown *t)
{
	static const int heights[] = {24, 50};
	struct words wide = {0};
	int bad = 0;

	for (int w = WIDE; w >= LAST_W; w /= 2)
		for (int h = 15; h < 120; h += h < 60 ? 3 : 20)
			draw(t, w, h, &wide);
	qsort(wide.list, wide.n, sizeof(*wide.list), by_text);
	/* Most is dropped on narrow screens: these are drawn in each width. */
	for (size_t i = 0; i < sizeof(heights) / sizeof(*heights); i++)
		for (int w = FIRST_W; w <= LAST_W;
		     w += APART * ((w <= NARROW ? 1 : 5) + 2 * (int)i))
			if (w >= LAYOUT_MIN_W)
				bad += compare(t, &wide, w, heights[i]);
	mem_free(wide.list);
	return bad;
}

static int check_page(struct shown *t, const char *page)
{
	t->page = page;
	shown_resize(t, 80, 24);
	shown_type(t, page);
	return check(t);
}

int main(int argc, char **argv)
{
	/* Keys; '>' is Enter. */
	static const char *const pages[] = {"1",  "2",	"2>", "2bbb", "2f", "3",  "3>", "4",
					    "4>", "5",	"5>", "5b",   "6",  "6>", "7",	"7>",
					    "8",  "8>", "8b", "9",    "9>", "9b", "9f", "9a"};
	int bad = 0;

	if (argc < 2)
		return 2;
	for (int i = 1; i < argc; i++) {
		struct shown t;

		shown_open(&t, argv[i], 80, 24);
		for (size_t k = 0; k < sizeof(pages) / sizeof(*pages) && bad < 4; k++)
			bad += check_page(&t, pages[k]) != 0;
		shown_close(&t);
	}
	return bad != 0;
}
