/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_CFISNAP_H
#define KONTEND_CFISNAP_H

#include "kontend/sections.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A mapped part of an ELF file: its file range and virtual addresses; the same in recordings. */
struct elfimg_segment {
	uint32_t type, flags;
	uint64_t offset, addr, file_size;
};

/*
 * The exception tables (.eh_frame_hdr and .eh_frame) of one file, for unwinding stack dumps where
 * the file is missing: the payload of SNAPSHOT_CFI. One for each file.
 */
enum { CFISNAP_VERSION = 1, CFISNAP_MOST = 8 << 20 /* bytes of tables */ };

/* Identity of the file, as in maps.h and elfimg.h, and addresses of the tables in it. */
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

/* After decoding, all addresses are within the tables. */
SECTIONS_FUNCTIONS(cfisnap)
const char *cfisnap_path(const struct cfisnap *s); /* "" if there is none */

#endif
