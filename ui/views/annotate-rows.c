// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows of the list: the instructions, and before those that are from another line of the source
 * than the one before them, that line. The compiler mixes lines, so one is shown wherever it begins
 * again.
 */
#include "annotate.h"
#include "kontend/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { TAB = 4 };

static bool is_told(const struct query_code_line *l)
{
	return l->place && l->place->frames[0].line && *l->place->frames[0].file;
}

static bool is_same(const struct query_code_line *a, const struct query_code_line *b)
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

		if (source && is_told(l) && (!before || !is_same(l, before)))
			ret->items[ret->n++] = (struct annotate_row){(uint32_t)i, true};
		before = is_told(l) ? l : NULL;
		ret->of_line[i] = (uint32_t)ret->n;
		ret->items[ret->n++] = (struct annotate_row){(uint32_t)i, false};
	}
	return 0;
}

/* Lines that are not next to each other have no indentation in common: without it, tabs as blanks.
 */
static void put_text(char *to, size_t size, const char *text)
{
	size_t n = 0;

	text += strspn(text, " \t");
	for (; *text && n + TAB + 1 < size; text++) {
		memset(to + n, ' ', TAB);
		if (*text == '\t') {
			n += TAB;
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
		put_text(text, sizeof(text), l->source_text);
	snprintf(buf, ANNOTATE_SOURCE, "%s:%u%s%.80s%s%s", file ? file + 1 : f->file, f->line,
		 l->place->n > 1 && *f->function ? " in " : "", l->place->n > 1 ? f->function : "",
		 *text ? "  " : "", text);
	return buf;
}
