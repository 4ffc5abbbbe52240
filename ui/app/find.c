// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters and searches, and what n and N go to: whichever of them was last. A filter belongs to a
 * view, a search to all of them. Rows that are left over by a filter have its words, so n goes from
 * one to the next; in trees and flame graphs, of which a filter takes nothing away, it finds them.
 */
#include "priv.h"

#include <stdio.h>
#include <string.h>

/* The end of the term at @s, or of the parenthesis there. */
static const char *behind(const char *s)
{
	bool quoted = false;
	int open = 0;

	for (; *s && (quoted || open > 0 || !strchr(" \t|)", *s)); s++) {
		quoted ^= *s == '"';
		if (!quoted)
			open += (*s == '(') - (*s == ')');
	}
	return s;
}

/* The text that a term of @len bytes asks for, without quotes; "": a number, or an expression. */
static void take_word(const char *term, size_t len, char word[PROMPT_TEXT])
{
	static const char lock[] = "rwsem:"; /* which is no column */
	size_t op = *term == '"' ? len : strcspn(term, ":=<>~"), n = 0;

	if (op < len && strchr("<>", term[op]))
		len = 0;
	if (op < len && strncmp(term, lock, sizeof(lock) - 1) != 0) {
		term += op + 1;
		len -= op + 1;
		if (term[-1] == '~' && strcspn(term, ".[(*+?{^$|\\") < len)
			len = 0;
	}
	for (size_t i = 0; i < len && n + 1 < PROMPT_TEXT; i++)
		if (term[i] != '"')
			word[n++] = term[i];
	word[n] = '\0';
}

/* The first one that is wanted. */
static void find_word(const char *filter, char word[PROMPT_TEXT])
{
	word[0] = '\0';
	for (const char *s = filter; *s && !word[0];) {
		s += strspn(s, " \t|()");
		const char *end = behind(s);

		if (*s != '!' && strncmp(s, "or ", 3) != 0)
			take_word(s, (size_t)(end - s), word);
		s = end;
	}
}

void app_find_keep(struct app *a, struct app_entry *e, const char *filter)
{
	if (strcmp(e->filter, filter) != 0)
		e->asked = ++a->asked;
	snprintf(e->filter, sizeof(e->filter), "%s", filter);
	find_word(e->filter, e->word);
}

void app_set_filter(struct app *a, const char *text)
{
	app_find_keep(a, app_top(a), text);
}

void app_find_filter(struct app *a, const char *text)
{
	if (text) {
		app_set_filter(a, text);
		return;
	}
	a->asked_before = app_top(a)->asked;
	snprintf(a->filter_before, sizeof(a->filter_before), "%s", app_filter(a));
	prompt_open(&a->prompt, PROMPT_FILTER, app_filter(a));
}

void app_find_typed(struct app *a, const char *line, bool cancelled)
{
	app_set_filter(a, cancelled ? a->filter_before : line);
	if (cancelled)
		app_top(a)->asked = a->asked_before;
}

static const struct app_entry *top(const struct app *a)
{
	return a->n_stack ? &a->stack[a->n_stack - 1] : &a->roots[a->root];
}

bool app_search_is_filter(const struct app *a)
{
	return top(a)->filter[0] && top(a)->asked > a->search_asked;
}

const char *app_search(const struct app *a)
{
	return app_search_is_filter(a) ? top(a)->word : a->search;
}

void app_find_next(struct app *a, enum command c)
{
	const struct command_arg none = {0};
	const char *key = app_mode(a) & COMMAND_CODE ? "/" : "s";

	if (!*app_search(a))
		app_say(a, ROLE_DIM,
			app_search_is_filter(a)
				? "The filter has no word to go to: %s asks for a text"
				: "Nothing to search for yet: %s asks for a text",
			key);
	else if (app_to_view(a, c, &none) == VIEW_UNHANDLED)
		app_say_unhandled(a, c, &none);
}

void app_find_text(struct app *a, const char *text)
{
	if (!text) {
		prompt_open(&a->prompt, PROMPT_SEARCH, "");
		return;
	}
	snprintf(a->search, sizeof(a->search), "%s", text);
	a->search_asked = ++a->asked;
	if (*text)
		app_find_next(a, CMD_SEARCH_NEXT);
}
