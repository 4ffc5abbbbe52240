/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_WAITREC_SAMPLE_H
#define KONTEND_WAITREC_SAMPLE_H

#include "kontend/waitrec.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Where such a sample has its magic: after the header, the identifier, the task, the time, the CPU
 * and the size of the raw data.
 */
enum { WAITREC_MAGIC_AT = sizeof(struct perf_event_header) + 4 * 8 + 4 };

/* A begin or an end of a wait? The ring has records of holders and of wake-ups, too. */
static inline bool waitrec_sample_is_wait(uint32_t magic)
{
	return magic == WAITREC_BEGIN_MAGIC || magic == WAITREC_LATE_MAGIC ||
	       magic == WAITREC_END_MAGIC || magic == WAITREC_BEGIN2_MAGIC ||
	       magic == WAITREC_LATE2_MAGIC || magic == WAITREC_END2_MAGIC ||
	       magic == WAITREC_END1_MAGIC;
}

#endif
