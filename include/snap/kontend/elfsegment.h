/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_ELFSEGMENT_H
#define KONTEND_ELFSEGMENT_H

#include <stdint.h>

/* Which bytes of an ELF file are mapped to which of its addresses; in recordings as it is here. */
struct elfimg_segment {
	uint32_t type, flags;
	uint64_t offset, addr, file_size;
};

#endif
