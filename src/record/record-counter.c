// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts records without decoding them: steps from header to header through bytes that are still in
 * the CPU cache. Sizes come from memory shared with the kernel, so an invalid size ends the walk.
 */
#include "record-counter.h"

#include "kontend/load.h"
#include "kontend/waitrec-sample.h"

#include <linux/perf_event.h>
#include <string.h>

static bool sample_counts(const struct record_tally *t, const uint8_t *p, size_t size)
{
	uint32_t magic;

	if (!t->is_fed)
		return true;
	if (size < WAITREC_MAGIC_AT + sizeof(magic))
		return false;
	memcpy(&magic, p + WAITREC_MAGIC_AT, sizeof(magic));
	return waitrec_sample_is_wait(magic);
}

static void add_perf(struct record_tally *t, const uint8_t *p, size_t len)
{
	struct perf_event_header h;

	for (; len >= sizeof(h); p += h.size, len -= h.size) {
		memcpy(&h, p, sizeof(h));
		if (h.size < sizeof(h) || h.size > len)
			return;
		if (h.type == PERF_RECORD_SAMPLE) {
			t->samples += sample_counts(t, p, h.size);
		} else if (h.type == PERF_RECORD_LOST && h.size >= 24) {
			/* The id of the event, then the number of lost records. */
			t->lost += load_u64(p + 16);
		} else if (h.type == PERF_RECORD_LOST_SAMPLES && h.size >= 16) {
			t->lost += load_u64(p + 8);
		}
	}
}

void record_tally_add(struct record_tally *t, const struct record *r)
{
	struct record_drop drop;

	if (r->kind == RECORD_PERF) {
		add_perf(t, r->data, r->len);
	} else if (r->kind == RECORD_DROP && r->len == sizeof(drop)) {
		memcpy(&drop, r->data, sizeof(drop));
		t->dropped += drop.records;
	}
}
