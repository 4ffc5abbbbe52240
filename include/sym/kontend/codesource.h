/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CODESOURCE_H
#define KONTEND_CODESOURCE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Where to read the code of the running kernel from. It hides the method from those who show code.
 */
struct codesource {
	const char *name; /* "/proc/kcore", "BPF"; NULL: it cannot be read, see why */
	const char *why;
	/* Reads up to @n bytes from @addr on; *ret_n: number of bytes read. 0 or a negative errno.
	 */
	int (*read)(void *ctx, uint64_t addr, void *ret, size_t n, size_t *ret_n);
	void *ctx;
};

#endif
