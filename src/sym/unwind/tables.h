/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_UNWIND_TABLES_H
#define KONTEND_SYM_UNWIND_TABLES_H

#include "kontend/cfisnap.h"
#include "kontend/elfimg.h"
#include "kontend/usersyms.h"

/*
 * The exception tables of a file: .eh_frame_hdr, which is sorted by address, and .eh_frame, as one
 * piece of memory, with their virtual addresses in the file.
 */
struct unwind_tables {
	uint8_t *bytes; /* NULL: no tables */
	uint64_t addr;	/* of the first byte */
	size_t len;
	uint64_t header;	    /* address of .eh_frame_hdr */
	size_t entries;		    /* in the header, 8 bytes each, from its byte 12 on */
	enum usersym_answer answer; /* of opening the file */
	struct elfimg_segment *segments;
	size_t n_segments;
	uint8_t *image; /* built by the backend; NULL: not yet */
};

/* 0, with or without tables; -ENOMEM. */
int unwind_tables_load(struct unwind_tables *t, const struct elfimg *e);
/* Copies the tables of @s into @t, which has none. NULL, or no memory: @t stays empty. */
void unwind_tables_take(struct unwind_tables *t, const struct cfisnap *s);
void unwind_tables_deinit(struct unwind_tables *t);

#endif
