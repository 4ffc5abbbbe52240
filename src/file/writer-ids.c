// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of events that do not give their id at the place where kontend's own event does. perf
 * writes none where there is one event, and old versions wrote it after the time. A file with
 * kontend's records has several events: so each record gets the id at the common place, which is
 * the first field of a sample, and the last one of other records. Records that end without a
 * sample_id get one that is empty but for the id.
 */
#include "kontend/load.h"
#include "writer.h"
#include <errno.h>

enum {
	HEADER = sizeof(struct perf_event_header),
	FIELD = 8, /* bytes of an id, and of each field before it */
};

/* Fields that follow the id in a sample_id, and those before it in a sample. */
static const uint64_t after_id = PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU;
static const uint64_t before_id =
	PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;
static const uint64_t in_trailer = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
				   PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;

static size_t fields(uint64_t sample_type)
{
	return (size_t)__builtin_popcountll(sample_type) * FIELD;
}

int writer_ids_attr(struct writer_ids *w, struct writer_attr *a, size_t n_before)
{
	struct perf_event_attr *attr = &a->attr;
	struct writer_ids is = {
		.first = a->n_ids ? a->ids[0] : 1,
		.inserts = !(attr->sample_type & PERF_SAMPLE_IDENTIFIER),
		.appends = !attr->sample_id_all,
	};

	if (is.inserts && attr->sample_type & PERF_SAMPLE_ID) {
		is.sample_at = (uint16_t)(HEADER + fields(attr->sample_type & before_id));
		is.from_end = (uint16_t)(FIELD + fields(attr->sample_type & after_id));
	}
	attr->sample_type |= PERF_SAMPLE_IDENTIFIER;
	attr->sample_id_all = 1;
	is.trailer = (uint16_t)fields(attr->sample_type & in_trailer);
	if (n_before && (is.inserts != w->inserts || is.appends != w->appends ||
			 is.sample_at != w->sample_at || is.from_end != w->from_end))
		return -ENOTSUP;
	/* Without ids in samples, all are of the first event. */
	if (n_before)
		return 0;
	*w = is;
	if (a->n_ids)
		return 0;
	a->ids[0] = is.first;
	a->n_ids = 1;
	return 0;
}

bool writer_ids_are_added(const struct writer_ids *w)
{
	return w->inserts || w->appends;
}

/* Ends of these records are stale bytes in some versions of the kernel: see decode.h. */
static bool has_end(uint32_t type)
{
	return type != PERF_RECORD_KSYMBOL && type != PERF_RECORD_BPF_EVENT &&
	       type != PERF_RECORD_TEXT_POKE;
}

static uint64_t id_of(const struct writer_ids *w, const uint8_t *p,
		      const struct perf_event_header *h)
{
	bool is_sample = h->type == PERF_RECORD_SAMPLE;

	if (is_sample && w->sample_at && w->sample_at + FIELD <= h->size)
		return load_u64(p + w->sample_at);
	if (!is_sample && w->from_end && !w->appends && has_end(h->type) &&
	    HEADER + w->from_end <= h->size)
		return load_u64(p + h->size - w->from_end);
	return w->first;
}

static int add(const struct writer_ids *w, const uint8_t *p, struct perf_event_header h,
	       struct writer_bytes *ret)
{
	const bool is_sample = h.type == PERF_RECORD_SAMPLE;
	const uint64_t id = id_of(w, p, &h);
	size_t body = h.size - (size_t)HEADER, more = 0, zeros = 0;

	if (is_sample)
		more = w->inserts ? FIELD : 0;
	else if (w->appends)
		zeros = w->trailer - (size_t)FIELD;
	if (!is_sample)
		more = w->inserts || w->appends ? zeros + FIELD : 0;
	if (h.size + more > UINT16_MAX)
		return -E2BIG;
	h.size = (uint16_t)(h.size + more);
	writer_bytes_add(ret, &h, sizeof(h));
	if (is_sample && more)
		writer_bytes_add(ret, &id, sizeof(id));
	writer_bytes_add(ret, p + HEADER, body);
	writer_bytes_add(ret, NULL, zeros);
	if (!is_sample && more)
		writer_bytes_add(ret, &id, sizeof(id));
	return ret->failed ? -ENOMEM : 0;
}

int writer_ids_add(const struct writer_ids *w, const void *run, size_t len,
		   struct writer_bytes *ret)
{
	const uint8_t *p = run;
	struct perf_event_header h;
	int e = 0;

	ret->len = 0;
	for (size_t at = 0; !e && len - at >= HEADER; at += h.size) {
		memcpy(&h, p + at, sizeof(h));
		if (h.size < HEADER || h.size > len - at)
			return -EINVAL;
		e = add(w, p + at, h, ret);
	}
	return e;
}
