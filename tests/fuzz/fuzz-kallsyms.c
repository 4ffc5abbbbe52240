// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as /proc/kallsyms: what is loaded is sorted, each symbol is found at its address, and
 * names are printable.
 */
#include "fuzz.h"
#include "kontend/sym.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 32 };

static void check_entry(const struct sym *s, size_t i)
{
	const struct sym_entry *e = &s->entries[i];
	const char *name = sym_text(s, e);
	uint64_t off = 1;

	fuzz_require(e->addr);
	fuzz_require(!i || e[-1].addr < e->addr);
	fuzz_require(e->name && e->name < s->text_len && e->module < s->text_len);
	for (const char *p = name; *p; p++)
		fuzz_require(*p > 0x20 && *p < 0x7f);
	if (e->label) {
		fuzz_require(!sym_find(s, e->addr));
		return;
	}
	fuzz_require(sym_find(s, e->addr) == e);
	fuzz_require(sym_name(s, e->addr, &off) == name && off == 0);
}

/* After so many valid lines that only the requested part is read: the same answers. */
static void check_pieces(const uint8_t *data, size_t size)
{
	enum { LINE = 24, LINES = 6000, HEAD = LINE * LINES, START = 0x1000 };
	enum { END = START + (LINES - 100) * 16 };
	char *text = malloc(HEAD + size + 1);
	struct sym all = {0}, part = {0};

	fuzz_require(text);
	for (unsigned i = 0; i < LINES; i++)
		snprintf(text + (size_t)i * LINE, LINE + 1, "%016x t n%03x\n", START + i * 16,
			 i % 4096);
	memcpy(text + HEAD, data, size);
	fuzz_require(sym_load(&all, text, HEAD + size, NULL) == 0);
	fuzz_require(sym_load_persistent(&part, text, HEAD + size, NULL) == 0 && part.pieces);
	fuzz_require(all.has_data == part.has_data);
	for (size_t i = 0; i < all.n; i += all.entries[i].addr < END ? 97 : 1) {
		const struct sym_entry *a = sym_find(&all, all.entries[i].addr + 1);
		const struct sym_entry *b = sym_find(&part, all.entries[i].addr + 1);
		fuzz_require(!a == !b);
		fuzz_require(!a || (a->addr == b->addr && a->lockfn == b->lockfn &&
				    !strcmp(sym_text(&all, a), sym_text(&part, b))));
	}
	sym_deinit(&all);
	sym_deinit(&part);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sym s;
	struct error err = {0};
	uint64_t frames[FRAMES] = {0};
	uint32_t n = 0;

	sym_init(&s);
	fuzz_require(sym_load(&s, (const char *)data, size, &err) == 0);
	fuzz_require((s.state == SYM_OK) == (s.n > 0));
	for (size_t i = 0; i < s.n; i++) {
		check_entry(&s, i);
		if (n < FRAMES)
			frames[n++] = s.entries[i].addr + 1;
	}
	uint32_t caller = sym_caller(&s, frames, n);
	fuzz_require(n ? caller < n : caller == 0);
	fuzz_require(!sym_find(&s, 0));
	sym_deinit(&s);
	check_pieces(data, size);
	return 0;
}
