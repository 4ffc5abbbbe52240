// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tables that all threads of a processed profile share. Each function has exactly one frame, as
 * addresses in the kernel are no offsets in a file and names are enough. Each call chain gets one
 * more function below its innermost one: the type of the lock that the task waits for.
 */
#include "firefox-tables.h"
#include "kontend/locktype.h"

#include <stdio.h>

enum { TYPES = 32 };
_Static_assert((int)LOCK_TYPES <= (int)TYPES, "a type has its place in the key of a chain");

uint32_t firefox_text(struct firefox_tables *f, const char *text)
{
	uint32_t at = stringtable_get(&f->texts, text ? text : "?");

	f->failed |= at == UINT32_MAX;
	return at;
}

static uint32_t number(struct firefox_tables *f, struct wordset *s, uint64_t a, uint64_t b)
{
	const uint64_t words[2] = {a, b};
	uint32_t n = wordset_get(s, words, 2);

	f->failed |= !n;
	return n;
}

static uint32_t node(struct firefox_tables *f, uint32_t above, const char *name,
		     enum firefox_category c)
{
	uint32_t func = number(f, &f->funcs, firefox_text(f, name), c);

	return number(f, &f->nodes, above, func);
}

uint32_t firefox_chain(struct firefox_tables *f, struct tracefile *t, uint32_t stack,
		       enum lock_type type)
{
	uint64_t key = (uint64_t)stack * TYPES + type;
	const uint32_t *known = map64_get(&f->chains, key);
	char name[EVENT_NAMES_TEXT];
	uint32_t at = 0;

	if (known)
		return *known;
	const uint64_t *frames = stack ? wordset_words(&t->links.stacks, stack) : NULL;
	for (size_t n = stack ? t->links.stacks.runs[stack - 1].n : 0; n && !f->failed; n--)
		at = node(f, at, trace_func(t, frames[n - 1], name), FIREFOX_OTHER);
	snprintf(name, sizeof(name), "[%s]", locktype_name(type));
	at = node(f, at, name, firefox_category_of(type));
	f->failed |= map64_put(&f->chains, key, at) < 0;
	return at;
}

uint32_t firefox_caller(struct firefox_tables *f, struct tracefile *t, uint32_t stack)
{
	const uint32_t *known = map64_get(&f->callers, stack);
	char name[EVENT_NAMES_TEXT];

	if (!stack || known)
		return known ? *known : UINT32_MAX;
	uint32_t text = firefox_text(f, trace_caller(t, stack, name));
	f->failed |= map64_put(&f->callers, stack, text) < 0;
	return text;
}

void firefox_same(struct jsonw *j, const char *key, size_t n, int64_t v)
{
	jsonw_begin(j, key, '[', true);
	for (size_t i = 0; i < n; i++)
		jsonw_i64(j, NULL, v);
	jsonw_end(j, ']');
}

void firefox_nulls(struct jsonw *j, const char *key, size_t n)
{
	jsonw_begin(j, key, '[', true);
	for (size_t i = 0; i < n; i++)
		jsonw_null(j, NULL);
	jsonw_end(j, ']');
}

static void falses(struct jsonw *j, const char *key, size_t n)
{
	jsonw_begin(j, key, '[', true);
	for (size_t i = 0; i < n; i++)
		jsonw_bool(j, NULL, false);
	jsonw_end(j, ']');
}

/* Word @at of each entry of @s, minus @less. */
static void words(struct jsonw *j, const char *key, const struct wordset *s, size_t at,
		  uint64_t less)
{
	jsonw_begin(j, key, '[', true);
	for (size_t i = 1; i <= s->n; i++)
		jsonw_u64(j, NULL, wordset_words(s, i)[at] - less);
	jsonw_end(j, ']');
}

static void put_nodes(const struct firefox_tables *f, struct jsonw *j)
{
	jsonw_begin(j, "stackTable", '{', false);
	words(j, "frame", &f->nodes, 1, 1);
	jsonw_begin(j, "prefix", '[', true);
	for (size_t i = 1; i <= f->nodes.n; i++) {
		uint64_t above = wordset_words(&f->nodes, i)[0];
		if (above)
			jsonw_u64(j, NULL, above - 1);
		else
			jsonw_null(j, NULL);
	}
	jsonw_end(j, ']');
	jsonw_u64(j, "length", f->nodes.n);
	jsonw_end(j, '}');
}

static void put_frames(const struct firefox_tables *f, struct jsonw *j)
{
	size_t n = f->funcs.n;

	jsonw_begin(j, "frameTable", '{', false);
	firefox_same(j, "address", n, -1);
	firefox_same(j, "inlineDepth", n, 0);
	words(j, "category", &f->funcs, 1, 0);
	firefox_same(j, "subcategory", n, 0);
	jsonw_begin(j, "func", '[', true);
	for (size_t i = 0; i < n; i++)
		jsonw_u64(j, NULL, i);
	jsonw_end(j, ']');
	firefox_nulls(j, "nativeSymbol", n);
	firefox_nulls(j, "innerWindowID", n);
	firefox_nulls(j, "line", n);
	firefox_nulls(j, "column", n);
	jsonw_u64(j, "length", n);
	jsonw_end(j, '}');
}

static void put_funcs(const struct firefox_tables *f, struct jsonw *j)
{
	size_t n = f->funcs.n;

	jsonw_begin(j, "funcTable", '{', false);
	words(j, "name", &f->funcs, 0, 0);
	falses(j, "isJS", n);
	falses(j, "relevantForJS", n);
	firefox_same(j, "resource", n, -1);
	firefox_nulls(j, "source", n);
	firefox_nulls(j, "lineNumber", n);
	firefox_nulls(j, "columnNumber", n);
	jsonw_u64(j, "length", n);
	jsonw_end(j, '}');
}

/* Tables that profiles of a browser need and that are empty here, with their columns. */
static const struct {
	const char *name, *columns[5];
} empty[] = {
	{"resourceTable", {"lib", "name", "host", "type", NULL}},
	{"nativeSymbols", {"libIndex", "address", "name", "functionSize", NULL}},
	{"sources", {"uuid", "filename", NULL}},
};

void firefox_tables_json(struct firefox_tables *f, struct jsonw *j)
{
	jsonw_begin(j, "shared", '{', false);
	put_nodes(f, j);
	put_frames(f, j);
	put_funcs(f, j);
	for (size_t i = 0; i < sizeof(empty) / sizeof(empty[0]); i++) {
		jsonw_begin(j, empty[i].name, '{', true);
		for (const char *const *c = empty[i].columns; *c; c++)
			firefox_same(j, *c, 0, 0);
		jsonw_u64(j, "length", 0);
		jsonw_end(j, '}');
	}
	jsonw_begin(j, "stringArray", '[', false);
	for (size_t i = 0; i < f->texts.n; i++)
		jsonw_str(j, NULL, f->texts.list[i]);
	jsonw_end(j, ']');
	jsonw_end(j, '}');
}

void firefox_tables_deinit(struct firefox_tables *f)
{
	stringtable_deinit(&f->texts);
	wordset_deinit(&f->funcs);
	wordset_deinit(&f->nodes);
	map64_deinit(&f->chains);
	map64_deinit(&f->callers);
}
