/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_ELFSEGMENT_H
#define KONTEND_ELFSEGMENT_H

#include <stdint.h>

/* A mapped part of an ELF file: its file range and virtual addresses; the same in recordings. */
struct elfimg_segment {
	uint32_t type, flags;
	uint64_t offset, addr, file_size;
};

#endif
