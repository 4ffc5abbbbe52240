// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the symbol at an address by bisection. kallsyms has no sizes: a symbol ends where the next
 * one begins, but not later than is plausible, as gigabytes of modules, BPF and vmalloc memory
 * follow the last function of the image. A linker label ends the symbol before it and covers
 * nothing: without CONFIG_KALLSYMS_ALL the data has only labels, and for a lock in it the plain
 * address is a better name than "__init_begin+0x...".
 */
#include "kallsyms.h"
#include "kontend/bisect.h"
#include "kontend/mem.h"
#include "pieces.h"
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
