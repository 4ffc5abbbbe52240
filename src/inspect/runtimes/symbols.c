// SPDX-License-Identifier: GPL-2.0-only
/*
 * Variables and functions that a program or library exports: its dynamic symbols, which no strip
 * removes. The file may be any user's, so elfimg.h does all reading.
 */
#include "internal.h"
#include "kontend/elfimg.h"
#include "kontend/mem.h"

#include <string.h>

enum { TABLE_MOST = 16 << 20 };

struct names {
	char *text; /* ends in a NUL */
	size_t len;
};

static void look_at(const struct names *names, const struct elfimg_symbol *s,
		    const char *const wanted[RUNTIME_SYMBOLS], uint64_t ret[RUNTIME_SYMBOLS],
		    uint64_t *ret_code_size)
{
	if ((s->type != STT_OBJECT && s->type != STT_FUNC) || s->section == SHN_UNDEF ||
	    s->name >= names->len)
		return;
	for (size_t i = 0; i < RUNTIME_SYMBOLS; i++)
		if (wanted[i] && !strcmp(names->text + s->name, wanted[i])) {
			ret[i] = s->addr;
			if (s->type == STT_FUNC)
				*ret_code_size = s->size;
		}
}

static void read_table(const struct elfimg *e, const char *const wanted[RUNTIME_SYMBOLS],
		       uint64_t ret[RUNTIME_SYMBOLS], uint64_t *ret_code_size)
{
	const struct elfimg_section *s = elfimg_find_type(e, SHT_DYNSYM);
	const struct elfimg_section *text = s ? elfimg_linked(e, s, SHT_STRTAB) : NULL;
	struct names names = {0};
	void *entries = NULL, *bytes = NULL;
	size_t len = 0;

	if (text && elfimg_load(e, s, TABLE_MOST, &entries, &len) == 0 &&
	    elfimg_load(e, text, TABLE_MOST, &bytes, &names.len) == 0 && names.len) {
		names.text = bytes;
		names.text[names.len - 1] = '\0';
		for (size_t at = 0; len - at >= elfimg_symbol_size(e);
		     at += elfimg_symbol_size(e)) {
			struct elfimg_symbol symbol;
			elfimg_symbol(e, (const uint8_t *)entries + at, &symbol);
			look_at(&names, &symbol, wanted, ret, ret_code_size);
		}
	}
	mem_free(entries);
	mem_free(bytes);
}

bool runtime_symbols(int fd, const struct runtime_type *type, uint64_t ret[RUNTIME_SYMBOLS],
		     uint64_t *ret_code_size)
{
	struct elfimg e = {0};
	uint64_t first;

	memset(ret, 0, RUNTIME_SYMBOLS * sizeof(*ret));
	*ret_code_size = 0;
	bool ok = elfimg_open_fd(&e, fd) == 0 && e.is_64 &&
		  elfimg_to_addr(e.segments, e.n_segments, 0, &first);
	if (ok)
		read_table(&e, type->symbols, ret, ret_code_size);
	for (size_t i = 0; ok && i < RUNTIME_SYMBOLS; i++) {
		ok = i >= type->needed || ret[i] > first;
		ret[i] = ret[i] > first ? ret[i] - first : 0;
	}
	elfimg_close(&e);
	return ok;
}
