/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TEXTSNAP_H
#define KONTEND_TEXTSNAP_H

#include "kontend/sym.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads the code of the running kernel, by a method that its users need not know. */
struct codesource {
	const char *name; /* "/proc/kcore", "BPF"; NULL: it cannot be read, see why */
	const char *why;
	/* Reads up to @n bytes from @addr on; *ret_n: number of bytes read. 0 or a negative errno.
	 */
	int (*read)(void *ctx, uint64_t addr, void *ret, size_t n, size_t *ret_n);
	void *ctx;
};

/*
 * Code of kernel functions as it was during the measurement: the payload of SNAPSHOT_TEXT. A head,
 * items by address, then the bytes, all in the byte order of the recording machine.
 */
enum { TEXTSNAP_VERSION = 1, TEXTSNAP_MOST = 4096, TEXTSNAP_BYTES = 1 << 20 };

struct textsnap_head {
	uint32_t n, pad;
};

struct textsnap_item {
	uint64_t addr;
	uint32_t at, len; /* of its bytes in the payload */
};

/* The code in @payload of the function at @addr; false: the payload lacks it. */
bool textsnap_find(const void *payload, size_t len, uint64_t addr, const uint8_t **ret,
		   size_t *ret_len);
/*
 * Reads the code of kernel functions that lock, or account perf events, breakpoints and uprobes
 * (pathgroup.h). @room bytes of *ret are left free before it. 0; -ENOENT: there are none; -ENOMEM.
 */
int textsnap_take(const struct sym *s, struct codesource *c, size_t room,
		  char **ret /* mem_free() */, size_t *ret_len);

#endif
