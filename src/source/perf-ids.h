/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SOURCE_PERF_IDS_H
#define KONTEND_SOURCE_PERF_IDS_H

#include <stddef.h>
#include <stdint.h>

/*
 * In whole perf records that carry IDENTIFIER, with a trailer where they are no samples: puts
 * @to[k] wherever the id of an event is @from[k], k < @n. A record that does not fit ends it.
 */
void perf_ids_replace(void *records, size_t len, const uint64_t *from, const uint64_t *to,
		      size_t n);

#endif
