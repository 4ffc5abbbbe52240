// SPDX-License-Identifier: GPL-2.0-only
/*
 * Descriptions of the events of a recording: attrs with their ids, formats of tracepoints,
 * features. They come from sections of the file layout (reader-open.c) or as records of perf
 * itself, between those of the kernel, like ends of rounds and compressed pieces. Some of these
 * records are followed by bytes that their size does not include. Known types that do not describe
 * events are skipped; unknown ones are skipped and counted, since newer perfs may add any.
 */
#include "kontend/eventlist.h"
#include "kontend/mem.h"
#include "reader.h"
#include "writer.h"
#include <errno.h>

enum {
	HEADER = READER_HEADER,
	MOST_PAYLOAD = 64 << 20,
	MOST_ATTRS = 16384,
	MOST_FORMATS = 16384,
	MOST_SYSTEM = 128,  /* bytes of a tracing system's name; each format has a copy */
	MOST_IDS = 8 << 20, /* of all events: some thousand on some thousand CPUs */
	LAST_KNOWN_TYPE = PERFDATA_TYPE_COMPRESSED2,
};

typedef unsigned long long ull;

static void place(uint16_t *ret, uint16_t *off, uint64_t have, uint64_t want)
{
	if (!(have & want))
		return;
	if (ret)
		*ret = *off;
	*off = (uint16_t)(*off + 8);
}

static void lay_out(struct reader_layout *l, uint64_t st, bool sample_id_all)
{
	uint16_t off = HEADER, back = 0;

	*l = (struct reader_layout){0};
	place(NULL, &off, st, PERF_SAMPLE_IDENTIFIER);
	place(NULL, &off, st, PERF_SAMPLE_IP);
	place(NULL, &off, st, PERF_SAMPLE_TID);
	place(&l->off_time, &off, st, PERF_SAMPLE_TIME);
	place(NULL, &off, st, PERF_SAMPLE_ADDR);
	place(NULL, &off, st, PERF_SAMPLE_ID);
	place(NULL, &off, st, PERF_SAMPLE_STREAM_ID);
	place(&l->off_cpu, &off, st, PERF_SAMPLE_CPU);
	l->fixed = off;
	if (!sample_id_all)
		return;
	back = st & PERF_SAMPLE_IDENTIFIER ? 8 : 0;
	if (st & PERF_SAMPLE_CPU)
		l->trail_cpu = back += 8;
	back += st & PERF_SAMPLE_STREAM_ID ? 8 : 0;
	back += st & PERF_SAMPLE_ID ? 8 : 0;
	if (st & PERF_SAMPLE_TIME)
		l->trail_time = back += 8;
	back += st & PERF_SAMPLE_TID ? 8 : 0;
	l->trail_size = back;
}

static int keep_layout(struct reader *r, const struct perf_event_attr *a, const uint8_t *ids,
		       size_t n)
{
	struct reader_layout l;

	lay_out(&l, a->sample_type, a->sample_id_all);
	bool identifier = a->sample_type & PERF_SAMPLE_IDENTIFIER;
	if (!r->n_layouts) {
		r->layout = l;
		r->has_identifier = identifier;
	}
	r->has_identifier &= identifier;
	r->is_uniform = (!r->n_layouts || r->is_uniform) && !memcmp(&l, &r->layout, sizeof(l));
	if (mem_grow(&r->layouts, &r->cap_layouts, r->n_layouts, sizeof(*r->layouts)))
		return -ENOMEM;
	r->layouts[r->n_layouts] = l;
	for (size_t i = 0; i < n; i++)
		if (map64_put(&r->ids, load_u64(ids + 8 * i), (uint32_t)r->n_layouts))
			return -ENOMEM;
	r->n_layouts++;
	return 0;
}

static bool is_ours(const struct perf_event_attr *a, const uint8_t *ids, size_t n)
{
	return a->type == PERF_TYPE_SOFTWARE && a->config == PERF_COUNT_SW_BPF_OUTPUT && n == 1 &&
	       load_u64(ids) == PERFDATA_EXT_ID && a->sample_type == PERFDATA_EXT_SAMPLE;
}

int reader_add_attr(struct reader *r, const void *data, size_t len, struct error *err)
{
	struct perf_event_attr a = {0};
	uint32_t size = len >= PERF_ATTR_SIZE_VER0 ? load_u32((const char *)data + 4) : 0;

	if (size < PERF_ATTR_SIZE_VER0 || size > len || (len - size) % 8 || size % 8)
		return error_set(err, -EINVAL,
				 "Cannot read '%s': event attribute %zu, before byte "
				 "%llu, says it has %u of %zu bytes",
				 r->path, r->n_layouts, (ull)reader_where(r), size, len);
	if (r->n_layouts >= MOST_ATTRS)
		return error_set(err, -E2BIG, "Cannot read '%s': more than %d event attributes",
				 r->path, MOST_ATTRS);
	r->n_ids += (len - size) / 8;
	if (r->n_ids > MOST_IDS)
		return error_set(err, -E2BIG, "Cannot read '%s': its events have more than %d ids",
				 r->path, MOST_IDS);
	memcpy(&a, data, size < sizeof(a) ? size : sizeof(a));
	if (a.write_backward)
		return error_set(err, -ENOTSUP,
				 "Cannot read '%s': it was made with perf record --overwrite, "
				 "which leaves the latest records first; make one without it",
				 r->path);
	const uint8_t *ids = (const uint8_t *)data + size;
	size_t n = (len - size) / 8;
	bool ours = is_ours(&a, ids, n);
	r->by_kontend |= ours;
	r->has_tracepoints |= a.type == PERF_TYPE_TRACEPOINT;
	r->has_profile |= eventlist_is_profile(&a);
	/* The samples of kontend's event are recognized by their id alone. */
	if (ours)
		return 0;
	return keep_layout(r, &a, ids, n) || reader_queue_copy(r, RECORD_ATTR, 0, data, len)
		       ? -ENOMEM
		       : 0;
}

static int add_format(void *ctx, const char *system, const char *text, size_t len)
{
	struct reader *r = ctx;
	size_t name = strlen(system) + 1;

	if (r->n_formats++ >= MOST_FORMATS || name > MOST_SYSTEM)
		return -E2BIG;
	struct reader_block *b = reader_block_new(r, name + len);
	if (!b)
		return -ENOMEM;
	memcpy(b->heap, system, name);
	if (len)
		memcpy(b->heap + name, text, len);
	r->has_formats = true;
	return reader_queue(r, RECORD_FORMAT, 0, b->heap, name + len, b);
}

int reader_add_tracing(struct reader *r, const void *data, size_t len, struct error *err)
{
	struct error why = {0};
	int e = tracing_walk(data, len, add_format, r, &why);

	if (!e)
		return 0;
	if (e == -E2BIG)
		return error_set(err, e,
				 "Cannot read '%s': it has more than %d tracepoint formats, or "
				 "names of systems longer than %d bytes",
				 r->path, MOST_FORMATS, MOST_SYSTEM - 1);
	return error_set(err, e, "Cannot read '%s': %s", r->path,
			 why.code ? why.text : strerror(-e));
}

static int begin_payload(struct reader *r, const uint8_t *p, size_t size, struct error *err)
{
	if (size < HEADER + 4)
		return error_set(err, -EINVAL,
				 "Cannot read '%s': the record of tracepoint formats before byte "
				 "%llu has only %zu bytes",
				 r->path, (ull)reader_where(r), size);
	uint32_t len = load_u32(p + HEADER);
	if (len > MOST_PAYLOAD)
		return error_set(err, -EINVAL,
				 "Cannot read '%s': the tracepoint formats at byte "
				 "%llu say they have %u bytes",
				 r->path, (ull)reader_where(r), len);
	mem_free(r->payload);
	r->payload = mem_calloc(1, (size_t)len + 1);
	if (!r->payload)
		return -ENOMEM;
	r->payload_len = 0;
	r->payload_size = len;
	return READER_AGAIN;
}

int reader_payload(struct reader *r, struct error *err)
{
	size_t left = (size_t)(r->outer.end - r->outer.pos);

	if (!r->payload) {
		size_t n = r->skip < left ? (size_t)r->skip : left;
		r->outer.pos += n;
		r->skip -= n;
		return n ? READER_AGAIN : 0;
	}
	size_t want = r->payload_size - r->payload_len, n = want < left ? want : left;
	memcpy(r->payload + r->payload_len, r->outer.pos, n);
	r->payload_len += n;
	r->outer.pos += n;
	if (n < want)
		return 0;
	int e = reader_add_tracing(r, r->payload, r->payload_size, err);
	mem_free(r->payload);
	r->payload = NULL;
	/* The payload is padded to 8 bytes, and its size may include the padding or not. */
	r->skip = (8 - r->payload_size % 8) % 8;
	return e ? e : READER_AGAIN;
}

static int feature(struct reader *r, const uint8_t *p, size_t size)
{
	if (size < HEADER + 8)
		return READER_AGAIN;
	uint64_t bit = load_u64(p + HEADER);
	if (bit < PERFDATA_FEATURE_BITS && features_wants((uint32_t)bit))
		features_take(&r->features, (uint32_t)bit, p + HEADER + 8, size - HEADER - 8);
	return READER_AGAIN;
}

static int compressed(struct reader *r, const uint8_t *p, size_t size, struct error *err)
{
	size_t at = HEADER, len = size - HEADER;

	r->stat.compressed = true;
	if (load_u32(p) == PERFDATA_TYPE_COMPRESSED2) {
		if (size < HEADER + 8 || load_u64(p + HEADER) > size - HEADER - 8)
			return error_set(err, -EBADMSG,
					 "the record of compressed data before it has only %zu "
					 "bytes, but says more",
					 size);
		at = HEADER + 8;
		len = (size_t)load_u64(p + HEADER);
	}
	int e = unpack_feed(&r->unpack, p + at, len, err);
	return e ? e : READER_AGAIN;
}

/* Skips a record that was handled when the stream was here for the first time. */
static int pass_over(struct reader *r, const uint8_t *p, size_t size)
{
	if (load_u32(p) != PERFDATA_TYPE_TRACING_DATA || size < HEADER + 4)
		return READER_AGAIN;
	uint64_t len = load_u32(p + HEADER);
	r->skip = (len + 7) / 8 * 8;
	return READER_AGAIN;
}

int reader_user(struct reader *r, const uint8_t *p, size_t size, struct error *err)
{
	uint32_t type = load_u32(p);
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
		if (!r->by_kontend)
			reader_finished_round(r);
		return READER_AGAIN;
	case PERFDATA_TYPE_AUXTRACE:
		r->skip = size >= HEADER + 8 ? load_u64(p + HEADER) : 0;
		return READER_AGAIN;
	case PERFDATA_TYPE_COMPRESSED:
	case PERFDATA_TYPE_COMPRESSED2:
		return compressed(r, p, size, err);
	default:
		r->stat.unknown_records += type > LAST_KNOWN_TYPE;
		return READER_AGAIN;
	}
}
