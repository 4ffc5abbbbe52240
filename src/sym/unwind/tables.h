/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_UNWIND_TABLES_H
#define KONTEND_SYM_UNWIND_TABLES_H

#include "kontend/cfisnap.h"
#include "kontend/elfimg.h"
#include "kontend/usersyms.h"

/*
 * The tables for exceptions of a file: .eh_frame_hdr, which is sorted by address, and .eh_frame.
 * Both as one piece of memory, with the addresses that the file gives them.
 */
struct unwind_tables {
	uint8_t *bytes; /* NULL: there are none */
	uint64_t addr;	/* of the first byte */
	size_t len;
	uint64_t header;	    /* address of .eh_frame_hdr */
	size_t entries;		    /* in it, 8 bytes each, 12 bytes behind its begin */
	enum usersym_answer answer; /* of opening the file */
	struct elfimg_segment *segments;
	size_t n_segments;
	uint8_t *image; /* made of it by who unwinds; NULL: not yet */
};

/* 0, whether it has any or not; -ENOMEM. */
int unwind_tables_load(struct unwind_tables *t, const struct elfimg *e);
/* Copies those of @s into @t, which has none; NULL, or no memory: it has none still. */
void unwind_tables_take(struct unwind_tables *t, const struct cfisnap *s);
void unwind_tables_deinit(struct unwind_tables *t);

#endif
