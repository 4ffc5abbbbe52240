// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of ours as samples. Long bodies (the symbols' text) are packed, since they are text, and
 * cut into chunks, since a record's size has 16 bits. The samples carry the session's time as known
 * so far, so that perf, which sorts by it, keeps them in their place.
 */
#include "kontend/mem.h"
#include "writer-int.h"
#include <errno.h>

enum { PACK_FROM = 4096, PACK_LEVEL = 1 };

struct sample {
	struct perf_event_header header;
	uint64_t id, ip;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
};

struct perf_event_attr writer_ext_attr(void)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE,
		.size = WRITER_ATTR,
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.sample_period = 1,
		.sample_type = PERFDATA_EXT_SAMPLE,
		.sample_id_all = 1,
	};

	return a;
}

static int add_sample(struct writer *w, struct writer_bytes *b, const struct perfdata_ext *h,
		      const void *data, size_t n)
{
	struct sample s = {
		.header = {.type = PERF_RECORD_SAMPLE, .misc = PERF_RECORD_MISC_KERNEL},
		.id = PERFDATA_EXT_ID,
		.time = w->now,
	};
	size_t pad = (8 - (sizeof(uint32_t) + sizeof(*h) + n) % 8) % 8;
	uint32_t raw = (uint32_t)(sizeof(*h) + n + pad);

	s.header.size = (uint16_t)(sizeof(s) + sizeof(raw) + raw);
	if (writer_bytes_add(b, &s, sizeof(s)) || writer_bytes_add(b, &raw, sizeof(raw)) ||
	    writer_bytes_add(b, h, sizeof(*h)) || writer_bytes_add(b, data, n) ||
	    writer_bytes_add(b, NULL, pad))
		return -ENOMEM;
	return 0;
}

static int add_chunks(struct writer *w, struct writer_bytes *b, struct perfdata_ext *h,
		      const uint8_t *data)
{
	int e = 0;

	do {
		size_t left = h->stored - h->offset;
		size_t n = left < PERFDATA_EXT_CHUNK ? left : PERFDATA_EXT_CHUNK;
		h->here = (uint16_t)n;
		e = add_sample(w, b, h, data + h->offset, n);
		h->offset += (uint32_t)n;
	} while (!e && h->offset < h->stored);
	return e;
}

int writer_ext(struct writer *w, struct writer_bytes *b, const struct record *r)
{
	struct perfdata_ext h = {
		.magic = PERFDATA_EXT_MAGIC,
		.version = PERFDATA_EXT_VERSION,
		.kind = (uint16_t)r->kind,
		.ring = r->ring,
		.stored = (uint32_t)r->len,
		.length = (uint32_t)r->len,
	};

	if (r->len > PERFDATA_EXT_MOST)
		return -EFBIG;
	/* Packed already as part of the stream when that is packed. */
	if (r->len < PACK_FROM || w->pack.level)
		return add_chunks(w, b, &h, r->data);
	size_t room = pack_bound(r->len);
	uint8_t *packed = mem_resize(NULL, room, 1);
	long n = packed ? pack_frame(r->data, r->len, packed, room, PACK_LEVEL) : -ENOMEM;
	if (n > 0) {
		h.flags = PERFDATA_EXT_ZSTD;
		h.stored = (uint32_t)n;
	}
	int e = n < 0 ? (int)n : add_chunks(w, b, &h, packed);
	mem_free(packed);
	return e;
}
