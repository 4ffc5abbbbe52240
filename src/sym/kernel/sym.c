// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the symbol at an address by bisection. kallsyms has no sizes: a symbol ends where the next
 * one begins, but not later than is plausible, as gigabytes of modules, BPF and vmalloc memory
 * follow the last function of the image. A linker label ends the symbol before it and covers
 * nothing: without CONFIG_KALLSYMS_ALL the data has only labels, and for a lock in it the plain
 * address is a better name than "__init_begin+0x...".
 *
 * sym_excerpt() writes the symbols that some addresses need as kallsyms text again. An address
 * needs its predecessor and its successor to get the same answer as before: the same symbol, or
 * none. Symbols that mark the sections of locking code, and one data symbol, are always kept.
 */
#include "kallsyms.h"
#include "kontend/bisect.h"
#include "kontend/mem.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	SYM_FUNCTION = 1 << 20, /* longest function */
	SYM_OBJECT = 64 << 20,	/* longest data object: log and hash tables */
	/* A lock in a static object is near its start; farther away is heap after the object. */
	SYM_LOCK_IN_OBJECT = 4096,
};

void sym_init(struct sym *s)
{
	*s = (struct sym){0};
}

void sym_deinit(struct sym *s)
{
	if (s->pieces) {
		sym_pieces_free(s->pieces);
	} else {
		mem_free(s->entries);
		mem_free(s->text);
	}
	*s = (struct sym){0};
}

void sym_replace(struct sym *s, const struct sym *with)
{
	uint32_t n_loads = s->n_loads + 1;

	sym_deinit(s);
	*s = *with;
	s->n_loads = n_loads;
}

int sym_load_persistent(struct sym *s, const char *text, size_t len, struct error *err)
{
	struct sym loaded;

	if (!sym_pieces_new(text, len, &loaded))
		return sym_load(s, text, len, err);
	loaded.state = SYM_OK;
	sym_replace(s, &loaded);
	return 0;
}

const struct sym *sym_whole(const struct sym *s)
{
	return s->pieces ? sym_pieces_whole(s->pieces) : s;
}

static bool sym_reaches(const struct sym_entry *e, uint64_t addr)
{
	uint64_t most = sym_type_is_code(e->type) ? SYM_FUNCTION : SYM_OBJECT;

	return !e->label && addr - e->addr < most;
}

const struct sym_entry *sym_find(const struct sym *s, uint64_t addr)
{
	size_t low = BISECT(s->entries, s->n, addr, addr);
	const struct sym_entry *e = s->pieces ? sym_pieces_find(s->pieces, addr)
				    : low     ? &s->entries[low - 1]
					      : NULL;

	return e && sym_reaches(e, addr) ? e : NULL;
}

const struct sym_entry *sym_object(const struct sym *s, uint64_t addr)
{
	const struct sym_entry *e = sym_find(s, addr);

	if (!e || !e->type || !strchr("dDbBrRvVA", e->type))
		return NULL;
	if (addr != e->addr && (!s->has_data || addr - e->addr >= SYM_LOCK_IN_OBJECT))
		return NULL;
	return e;
}

const char *sym_name(const struct sym *s, uint64_t addr, uint64_t *ret_off)
{
	const struct sym_entry *e = sym_find(s, addr);

	if (!e)
		return NULL;
	if (ret_off)
		*ret_off = addr - e->addr;
	return sym_text(s, e);
}

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
