/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CFISNAP_H
#define KONTEND_CFISNAP_H

#include "kontend/elfsegment.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The tables for exceptions (.eh_frame_hdr and .eh_frame) of one file, by which dumps of stacks are
 * unwound where the file is not: the payload of SNAPSHOT_TABLES. There is one for each file.
 */
enum { CFISNAP_VERSION = 1, CFISNAP_MOST = 8 << 20 /* bytes of tables */ };

/* What the file is, as in maps.h and elfimg.h, and where the tables lie in its addresses. */
struct cfisnap_head {
	uint32_t path; /* text */
	uint32_t maj, min, id_len;
	uint64_t ino;
	uint8_t id[20]; /* build id */
	uint8_t pad[4];
	uint64_t addr;	  /* of the first byte of the tables */
	uint64_t header;  /* of .eh_frame_hdr */
	uint64_t entries; /* in it */
};

struct cfisnap {
	struct cfisnap_head head;
	struct elfimg_segment *segments;
	uint8_t *bytes;
	char *strings; /* begins with NUL and ends with NUL */
	size_t n_segments, n_bytes, n_strings;
	size_t cap_segments, cap_bytes, cap_strings;
};

/* "" if there is none. */
const char *cfisnap_path(const struct cfisnap *s);
void cfisnap_deinit(struct cfisnap *s);
size_t cfisnap_size(const struct cfisnap *s);
void cfisnap_encode(const struct cfisnap *s, void *ret); /* as funcsnap_encode() */
/* Into an empty one. 0, -ENOMEM, -EPROTO or -EBADMSG; what it then says lies within the tables. */
int cfisnap_decode(struct cfisnap *s, const void *data, size_t len);

#endif
