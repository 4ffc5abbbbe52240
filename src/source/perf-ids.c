// SPDX-License-Identifier: GPL-2.0-only
/*
 * Event ids in records. A sample has its event's id right after the header (IDENTIFIER comes
 * first), any other record has it as its last word (and last in the trailer), and a LOST record has
 * one more in its body. The rest of a record need not be understood.
 *
 * It is needed where a CPU went offline and came back: the events that were opened again have new
 * ids, while the stream has announced the old ones, and all its readers, recordings too, know those
 * from the start.
 */
#include "perf-ids.h"
#include <linux/perf_event.h>
#include <string.h>

static void replace(uint8_t *at, const uint64_t *from, const uint64_t *to, size_t n)
{
	uint64_t id;

	memcpy(&id, at, sizeof(id));
	for (size_t k = 0; k < n; k++) {
		if (id == from[k]) {
			memcpy(at, &to[k], sizeof(id));
			return;
		}
	}
}

void perf_ids_replace(void *records, size_t len, const uint64_t *from, const uint64_t *to, size_t n)
{
	uint8_t *p = records, *end = p + len;
	struct perf_event_header h;

	for (; (size_t)(end - p) >= sizeof(h) + sizeof(uint64_t); p += h.size) {
		memcpy(&h, p, sizeof(h));
		if (h.size < sizeof(h) + sizeof(uint64_t) || h.size > (size_t)(end - p))
			return;
		if (h.type == PERF_RECORD_SAMPLE || h.type == PERF_RECORD_LOST)
			replace(p + sizeof(h), from, to, n);
		if (h.type != PERF_RECORD_SAMPLE)
			replace(p + h.size - sizeof(uint64_t), from, to, n);
	}
}
