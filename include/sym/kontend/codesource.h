/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CODESOURCE_H
#define KONTEND_CODESOURCE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Where the code of the kernel that runs here is read from, so that those who show it need not know
 * how that is done.
 */
struct codesource {
	const char *name; /* "/proc/kcore", "BPF"; NULL: it cannot be read, see why */
	const char *why;
	/* At most @n bytes from @addr on; *ret_n: as many were there. 0 or a negative errno. */
	int (*read)(void *ctx, uint64_t addr, void *ret, size_t n, size_t *ret_n);
	void *ctx;
};

#endif
