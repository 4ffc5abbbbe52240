/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CODES_H
#define KONTEND_CODES_H

#include "kontend/maps.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Functions that interpreters run, by name and file: snapshots have them in call chains. They are
 * at no address, so their frames have numbers (maps.h), which stay, and which copies of a model
 * share.
 */
struct code {
	const char *function, *file; /* interned, unchanged from the snapshot */
};

enum { CODES_MOST = 1 << 14 }; /* more have no frames */

struct codes;

struct codes *codes_new(void); /* NULL: no memory; with one reference */
struct codes *codes_ref(struct codes *c);
void codes_unref(struct codes *c); /* NULL is fine */
/* The frame of a line of that function; 0: there is no room, or no memory. */
uint64_t codes_frame(struct codes *c, const char *function, const char *file, uint32_t line);
/* The function of a frame; NULL: it is of none. Valid as long as @c. */
const struct code *codes_get(const struct codes *c, uint64_t frame);
size_t codes_bytes(const struct codes *c);

#endif
