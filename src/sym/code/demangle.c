// SPDX-License-Identifier: GPL-2.0-only
/*
 * Demangles names with libiberty. A mangled name of a hundred bytes can expand to 2^50 bytes (each
 * part refers twice to the one before), so the callback leaves with a jump when the buffer is full.
 * The C++ part holds no heap memory then; nor does the Rust part, except for a name in punycode.
 * Names of Rust's old scheme look like C++ names; as C++ they would be shown with their hash.
 */
#include "optional.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

enum { MANGLED_MOST = 8192 };

struct out {
	char *to;
	size_t len, size;
	jmp_buf full;
};

static void put_text(const char *s, size_t n, void *opaque)
{
	struct out *o = opaque;

	if (n > o->size - 1 - o->len)
		longjmp(o->full, 1);
	memcpy(o->to + o->len, s, n);
	o->len += n;
}

bool demangle(const char *name, char *ret, size_t size)
{
	struct out o = {.to = ret, .size = size};

	if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R') ||
	    strnlen(name, MANGLED_MOST) >= MANGLED_MOST)
		return false;
	if (setjmp(o.full))
		return false;
	bool known = rust_demangle_callback(name, 0, put_text, &o);
	if (!known) {
		o.len = 0;
		known = cplus_demangle_v3_callback(name, 0, put_text, &o);
	}
	ret[known ? o.len : 0] = '\0';
	return known && o.len;
}
