// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whatever word a page shows above its rows, ? explains: each column title that is drawn, on every
 * page of every stream, is in the help that opens there, and so are the words for states that its
 * queries can answer with.
 */
#include "kontend/mem.h"
#include "kontend/text.h"
#include "shown.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { W = 240, H = 60, HELP_H = 900, TITLES = 8192, WORD = 64 };

/* Words that cells and lines above tables can have, where no column has them in its title. */
static const struct {
	const char *view, *words;
} said[] = {
	{"wait", "sure|evidence|hint|R?|W?"},
	{"overview",
	 "live|lost|unmatched|cost|ev/s|folded|doubtful|waiting now|longest|contended/s|wait/s|"
	 "slots|events|contexts|short of time|created|mmap_lock|uprobes|rotation|XOL|"
	 "other waits|BAD|LOOK|OK"},
	{"locks", "folded|other|rwsem|pcpu-sem|mutex|spinlock"},
	{"detail",
	 "held by|sure|evidence|hint|while others waited|running|runnable|asleep|I/O|lock|"
	 "circle|not followed|kept off by|queue|handed|handed over|passed over|convoy|starved|"
	 "being handed over|R?|W?|p50|p99"},
	{"waiters", "waiting|rwsem W|longest|doubtful|R?|W?|(free)"},
	{"slots",
	 "used|created|refused|waits for the slots' locks|active|inactive|off|error|exited|"
	 "perf fd|ptrace|T|C|□"},
	{"contexts", "own|short of time|created|active|inactive|off|error|exited|cost"},
	{"rotation", "taking|every|end not seen"},
	{"uprobes", "probes|hits/s|slots|waiting|emulated|out of line|idle processes"},
	{"mmap", "level|costs|unpaired|contended|sampled"},
	{"hot", "in lock paths|irq-off?|counted|cut"},
	{"chains", "root|behind|deadlock|perhaps a deadlock|ended|doubtful|running|runnable|asleep|"
		   "kept off by|holder not known|had it while they waited|R?|W?"},
	{"blame waits",
	 "waited|because of|some reader|not known|forgotten|followed|missed|mostly|running|"
	 "runnable|asleep|asleep for I/O|in a circle of waits|holder not followed|kept off by"},
	{"blame held", "charged|handed on"},
	{"blame did",
	 "some reader|not known|forgotten|followed|missed|mostly|running|runnable|asleep|"
	 "asleep for I/O|waits for a lock|holder not followed|kept off by"},
	{"queues", "queues|convoys|no release"},
};

static bool is_title(const struct display_cell *c)
{
	return c->role == ROLE_TITLE || c->role == ROLE_SORTED;
}

/* Titles of columns, from the screen's cells: lines that are a table's from side to side. */
static void collect(const struct screen *s, char *ret)
{
	size_t n = 0;

	for (int y = 1; y < s->h - 1; y++)
		for (int x = 0; x < s->w; x++) {
			const struct display_cell *c = &s->cells[y * s->w + x];
			bool is_mark = c->ch == 0x25b2 || c->ch == 0x25bc || c->ch == 0x203a ||
				       c->ch == 0x2039;

			if (n + 8 >= TITLES)
				abort();
			if (is_title(c) && !is_mark && c->ch > ' ')
				n += (size_t)text_encode(ret + n, c->ch);
			else if (n && ret[n - 1] != ' ')
				ret[n++] = ' ';
		}
	ret[n] = '\0';
}

static bool is_edge(char c)
{
	return !isalnum((unsigned char)c) && c != '_';
}

static bool explains(const char *help, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = help; (p = strstr(p, word)); p++)
		if ((p == help || is_edge(p[-1]) || is_edge(*word)) &&
		    (is_edge(p[n]) || is_edge(word[n - 1])))
			return true;
	return false;
}

/* All that ? says there, in one line, each blank once. */
static char *help_text(struct shown *t)
{
	char *text;

	shown_press(t, '?');
	shown_press(t, '?');
	shown_resize(t, W, HELP_H);
	if (screen_text(app_screen(t->app), &text) < 0)
		abort();
	char *to = text;
	for (const char *p = text; *p; p++)
		if (!isspace((unsigned char)*p))
			*to++ = *p;
		else if (to > text && to[-1] != ' ')
			*to++ = ' ';
	*to = '\0';
	shown_press(t, KEY_K_ESC);
	shown_resize(t, W, H);
	return text;
}

static int check_words(const struct shown *t, const char *help, const char *words, const char *by)
{
	int bad = 0;

	while (*(words += strspn(words, by))) {
		char word[WORD];
		size_t n = strcspn(words, by);

		snprintf(word, sizeof(word), "%.*s", (int)n, words);
		words += n;
		if (explains(help, word))
			continue;
		fprintf(stderr, "%s, page %s: ? does not explain '%s'\n", t->stream, t->page, word);
		bad++;
	}
	return bad;
}

static bool is_help_of(const char *help, const char *view)
{
	char title[WORD];

	snprintf(title, sizeof(title), "this view: %s ", view);
	return strstr(help, title) != NULL;
}

static int check_page(struct shown *t, const char *page)
{
	char titles[TITLES];
	int bad;

	t->page = page;
	shown_type(t, page);
	collect(app_screen(t->app), titles);
	char *help = help_text(t);
	bad = check_words(t, help, titles, " ");
	for (size_t i = 0; i < sizeof(said) / sizeof(*said); i++)
		if (is_help_of(help, said[i].view))
			bad += check_words(t, help, said[i].words, "|");
	mem_free(help);
	return bad;
}

int main(int argc, char **argv)
{
	/* Keys; '>' is Enter. */
	static const char *const pages[] = {"1",  "2",	"2>", "2bbb", "2f", "3", "3>", "4",  "4>",
					    "5",  "5>", "5b", "6",    "6>", "7", "7>", "8",  "8>",
					    "8b", "9",	"9>", "9b",   "9f", "0", "W",  "Wb", "Wbb",
					    "O",  "Ob", "D",  "Db",   "Q",  "I"};
	int bad = 0;

	if (argc < 2)
		return 2;
	for (int i = 1; i < argc; i++) {
		struct shown t;

		shown_open(&t, argv[i], W, H);
		for (size_t k = 0; k < sizeof(pages) / sizeof(*pages); k++)
			bad += check_page(&t, pages[k]);
		shown_close(&t);
	}
	return bad != 0;
}
