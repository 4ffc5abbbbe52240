// SPDX-License-Identifier: GPL-2.0-only
/*
 * The symbols that some addresses need, written as kallsyms text again. A symbol ends where the
 * next one begins, so an address needs its predecessor and its successor to get the same answer as
 * before: the same symbol, or none. Symbols that mark the sections of locking code, and one data
 * symbol, are always kept.
 */
#include "kontend/bisect.h"
#include "kontend/mem.h"
#include "kontend/sym.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void sym_mark(const struct sym *s, uint8_t *marks, uint64_t addr)
{
	/* Lookups of a return address may use the byte before it. */
	for (uint64_t back = 0; back < 2; back++) {
		size_t i = BISECT(s->entries, s->n, addr, addr - back);

		if (i > 0)
			marks[i - 1] = 1;
		if (i < s->n)
			marks[i] = 1;
	}
}

static void excerpt_mark_all_need(const struct sym *s, uint8_t *marks)
{
	for (size_t i = 0; i < s->n; i++)
		marks[i] |= s->entries[i].label;
	for (size_t i = 0; i < s->n && s->has_data; i++) {
		if (s->entries[i].type != 'b' && s->entries[i].type != 'd')
			continue;
		marks[i] = 1;
		return;
	}
}

static size_t excerpt_line(const struct sym *s, const struct sym_entry *e, char *buf, size_t size)
{
	const char *module = s->text + e->module;
	int n = snprintf(buf, size, "%016" PRIx64 " %c %s%s%s%s\n", e->addr, e->type,
			 sym_text(s, e), e->module ? "\t[" : "", e->module ? module : "",
			 e->module ? "]" : "");

	return n > 0 ? (size_t)n : 0;
}

/*
 * The edges of the sections of locking code: an edge at the address of a function has no entry of
 * its own.
 */
static size_t excerpt_edges(const struct sym *s, char *buf, size_t size)
{
	const struct {
		const char *name;
		uint64_t addr;
	} edges[] = {
		{"__sched_text_start", s->sched_text[0]},
		{"__sched_text_end", s->sched_text[1]},
		{"__lock_text_start", s->lock_text[0]},
		{"__lock_text_end", s->lock_text[1]},
	};
	size_t at = 0;

	for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++)
		if (edges[i].addr)
			at += (size_t)snprintf(buf ? buf + at : NULL, buf ? size - at : 0,
					       "%016" PRIx64 " T %s\n", edges[i].addr,
					       edges[i].name);
	return at;
}

int sym_excerpt(const struct sym *s, uint8_t *marks, char **ret_text, size_t *ret_len)
{
	size_t len = excerpt_edges(s, NULL, 0), at;
	char *text;

	excerpt_mark_all_need(s, marks);
	for (size_t i = 0; i < s->n; i++)
		len += marks[i] ? excerpt_line(s, &s->entries[i], NULL, 0) : 0;
	text = mem_calloc(len + 1, 1);
	if (!text)
		return -ENOMEM;
	at = excerpt_edges(s, text, len + 1);
	for (size_t i = 0; i < s->n; i++)
		at += marks[i] ? excerpt_line(s, &s->entries[i], text + at, len + 1 - at) : 0;
	*ret_text = text;
	*ret_len = at;
	return 0;
}
