/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_SYMTEXT_H
#define KONTEND_TESTS_SYMTEXT_H

#include "kontend/sym.h"
#include <inttypes.h>
#include <stdio.h>

/* The name of an address: "name+0x1c [module]", "name" at its start, or "0xffff...". */
static inline const char *symtext(const struct sym *s, uint64_t addr, char *buf, size_t size)
{
	const struct sym_entry *e = sym_find(s, addr);
	char off[24] = "", module[64] = "";

	if (!e) {
		snprintf(buf, size, "0x%" PRIx64, addr);
		return buf;
	}
	if (addr != e->addr)
		snprintf(off, sizeof(off), "+0x%" PRIx64, addr - e->addr);
	if (e->module)
		snprintf(module, sizeof(module), " [%s]", s->text + e->module);
	snprintf(buf, size, "%s%s%s", sym_text(s, e), off, module);
	return buf;
}

#endif
