// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of perf itself, which stand between those of the kernel: attrs, features and formats of
 * the pipe layout, ends of rounds, compressed pieces. Some are followed by bytes that their header
 * does not count. Types that perf has but that say nothing about events are passed over; others are
 * passed over and counted, since newer perfs may add any.
 */
#include "kontend/mem.h"
#include "reader-int.h"
#include <errno.h>
#include <string.h>

enum {
	HEADER = sizeof(struct perf_event_header),
	MOST_PAYLOAD = 64 << 20,
	LAST_KNOWN_TYPE = PERFDATA_TYPE_COMPRESSED2,
};

typedef unsigned long long ull;

static int cut_record(struct reader *r, const char *what, size_t size, struct error *err)
{
	return error_set(err, -EINVAL,
			 "cannot read \"%s\": the record of %s before byte %llu has "
			 "only %zu bytes",
			 r->path, what, (ull)reader_where(r), size);
}

static int begin_payload(struct reader *r, const uint8_t *p, size_t size, struct error *err)
{
	if (size < HEADER + 4)
		return cut_record(r, "tracepoint formats", size, err);
	uint32_t len = reader_u32(p + HEADER);
	if (len > MOST_PAYLOAD)
		return error_set(err, -EINVAL,
				 "cannot read \"%s\": the tracepoint formats at byte "
				 "%llu say they have %u bytes",
				 r->path, (ull)reader_where(r), len);
	mem_free(r->payload);
	r->payload = mem_calloc(1, (size_t)len + 1);
	if (!r->payload)
		return error_set(err, -ENOMEM, "cannot read \"%s\": out of memory", r->path);
	r->payload_len = 0;
	r->payload_size = len;
	return READER_AGAIN;
}

int reader_payload_done(struct reader *r, struct error *err)
{
	size_t padding = (8 - r->payload_size % 8) % 8;
	int e = reader_add_tracing(r, r->payload, r->payload_size, err);

	mem_free(r->payload);
	r->payload = NULL;
	/* The payload is padded to 8 bytes; its size says so or not. */
	r->skip = padding;
	return e ? e : READER_AGAIN;
}

static int feature(struct reader *r, const uint8_t *p, size_t size)
{
	if (size < HEADER + 8)
		return READER_AGAIN;
	uint64_t bit = reader_u64(p + HEADER);
	if (bit < PERFDATA_FEATURE_BITS && features_wants((uint32_t)bit))
		features_take(&r->features, (uint32_t)bit, p + HEADER + 8, size - HEADER - 8);
	return READER_AGAIN;
}

static int compressed(struct reader *r, const uint8_t *p, size_t size, struct error *err)
{
	size_t at = HEADER, len = size - HEADER;

	r->stat.compressed = true;
	if (reader_u32(p) == PERFDATA_TYPE_COMPRESSED2) {
		if (size < HEADER + 8 || reader_u64(p + HEADER) > size - HEADER - 8)
			return error_set(err, -EBADMSG,
					 "the record of compressed data before it has only %zu "
					 "bytes, but says more",
					 size);
		at = HEADER + 8;
		len = (size_t)reader_u64(p + HEADER);
	}
	int e = unpack_feed(&r->unpack, p + at, len, err);
	return e ? e : READER_AGAIN;
}

/* Said before, when the stream was here for the first time. */
static int pass_over(struct reader *r, const uint8_t *p, size_t size)
{
	if (reader_u32(p) != PERFDATA_TYPE_TRACING_DATA || size < HEADER + 4)
		return READER_AGAIN;
	uint64_t len = reader_u32(p + HEADER);
	r->skip = (len + 7) / 8 * 8;
	return READER_AGAIN;
}

int reader_user(struct reader *r, const uint8_t *p, size_t size, struct error *err)
{
	uint32_t type = reader_u32(p);
	int e;

	if (type != PERFDATA_TYPE_FINISHED_ROUND && type < PERFDATA_TYPE_AUXTRACE &&
	    reader_where(r) <= r->farthest)
		return pass_over(r, p, size);
	switch (type) {
	case PERFDATA_TYPE_ATTR:
		e = reader_add_attr(r, p + HEADER, size - HEADER, err);
		return e ? e : READER_AGAIN;
	case PERFDATA_TYPE_TRACING_DATA:
		return begin_payload(r, p, size, err);
	case PERFDATA_TYPE_FEATURE:
		return feature(r, p, size);
	case PERFDATA_TYPE_BUILD_ID:
		features_build_id(&r->features, p, size);
		return READER_AGAIN;
	case PERFDATA_TYPE_FINISHED_ROUND:
		if (!r->is_own)
			reader_finished_round(r);
		return READER_AGAIN;
	case PERFDATA_TYPE_AUXTRACE:
		r->skip = size >= HEADER + 8 ? reader_u64(p + HEADER) : 0;
		return READER_AGAIN;
	case PERFDATA_TYPE_COMPRESSED:
	case PERFDATA_TYPE_COMPRESSED2:
		return compressed(r, p, size, err);
	default:
		r->stat.unknown_records += type > LAST_KNOWN_TYPE;
		return READER_AGAIN;
	}
}
