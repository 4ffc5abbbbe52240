// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which functions a recording meets is known at its end, so that is where their names stand;
 * whoever plays it wants them from the beginning. The last record of such a file tells where they
 * begin: they are read first, and passed over when reading comes by again. A word of the file's
 * only: what stands there is anything else, then reading begins where it would without it.
 */
#include "reader-int.h"

#include "kontend/mem.h"

/* A sample of ours with one u64: see writer-own.c. */
enum { RAW_AT = 48, OWN_AT = RAW_AT + 4, RECORD_LEN = 96 };

/* Bytes before the last record that it speaks of; 0: it is none. */
static uint64_t ending_len(const struct reader *r, uint64_t at, uint64_t size)
{
	struct perf_event_header h;
	struct perfdata_own own;

	if (!r->is_own || size < RECORD_LEN)
		return 0;
	const uint8_t *p = r->map + at + size - RECORD_LEN;
	memcpy(&h, p, sizeof(h));
	memcpy(&own, p + OWN_AT, sizeof(own));
	if (h.type != PERF_RECORD_SAMPLE || h.size != RECORD_LEN ||
	    reader_u64(p + sizeof(h)) != PERFDATA_OWN_ID || own.magic != PERFDATA_OWN_MAGIC ||
	    own.version != PERFDATA_OWN_VERSION || own.kind != RECORD_ENDING ||
	    own.length != sizeof(uint64_t))
		return 0;
	uint64_t len = reader_u64(p + OWN_AT + sizeof(own));
	return len <= size - RECORD_LEN ? len : 0;
}

int reader_open_data(struct reader *r, uint64_t at, uint64_t size)
{
	uint64_t len = ending_len(r, at, size);

	r->data_at = at;
	r->data_size = size;
	r->early = len != 0;
	return len ? reader_map(r, at + size - RECORD_LEN - len, len) : reader_map(r, at, size);
}

int reader_end_early(struct reader *r)
{
	reader_forget(r);
	r->flow = (struct reader_flow){.is_sorted = true};
	r->early = false;
	r->had_early = true;
	return reader_map(r, r->data_at, r->data_size);
}
