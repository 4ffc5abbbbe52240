// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fixed parts of a file: header, attrs with their ids, feature sections. Every offset and size
 * in them is the file's word only, so each is checked against the file before it is followed. What
 * is wrong with the header is an error; what is wrong behind the data costs the features, with a
 * note.
 */
#include "kontend/buildids.h"
#include "kontend/mem.h"
#include "reader-int.h"
#include "tracing.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

enum {
	MOST_SECTION = 64 << 20,
	MOST_ATTRS = 16384,
	MOST_FORMATS = 16384,
	MOST_SYSTEM = 128,  /* bytes of a tracing system's name, which each format has a copy of */
	MOST_IDS = 8 << 20, /* of all events: some thousand on some thousand CPUs */
};

typedef unsigned long long ull;

int reader_read_at(struct reader *r, uint64_t offset, void *buf, size_t len, const char *what,
		   struct error *err)
{
	size_t have = 0;

	if (r->in_memory && offset <= r->map_size) {
		have = len < r->map_size - offset ? len : (size_t)(r->map_size - offset);
		memcpy(buf, r->map + offset, have);
	}
	while (!r->in_memory && have < len && offset < INT64_MAX - len) {
		ssize_t n = pread(r->fd, (char *)buf + have, len - have, (off_t)(offset + have));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_errno(err, -errno, "cannot read the %s of \"%s\" at byte %llu",
					   what, r->path, (ull)offset);
		if (!n)
			break;
		have += (size_t)n;
	}
	if (have == len)
		return 0;
	return error_set(err, -EINVAL,
			 "cannot read \"%s\": the %s should have %zu bytes at byte "
			 "%llu, but the file ends at %llu; it is cut or no perf.data file",
			 r->path, what, len, (ull)offset, (ull)r->map_size);
}

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
	uint16_t off = sizeof(struct perf_event_header), back = 0;

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
		if (map64_put(&r->ids, reader_u64(ids + 8 * i), (uint32_t)r->n_layouts))
			return -ENOMEM;
	r->n_layouts++;
	return 0;
}

static bool is_own(const struct perf_event_attr *a, const uint8_t *ids, size_t n)
{
	return a->type == PERF_TYPE_SOFTWARE && a->config == PERF_COUNT_SW_BPF_OUTPUT && n == 1 &&
	       reader_u64(ids) == PERFDATA_OWN_ID && a->sample_type == PERFDATA_OWN_SAMPLE;
}

int reader_add_attr(struct reader *r, const void *data, size_t len, struct error *err)
{
	struct perf_event_attr a = {0};
	uint32_t size = len >= PERF_ATTR_SIZE_VER0 ? reader_u32((const char *)data + 4) : 0;

	if (size < PERF_ATTR_SIZE_VER0 || size > len || (len - size) % 8 || size % 8)
		return error_set(err, -EINVAL,
				 "cannot read \"%s\": event attribute %zu, before byte "
				 "%llu, says it has %u of %zu bytes",
				 r->path, r->n_layouts, (ull)reader_where(r), size, len);
	if (r->n_layouts >= MOST_ATTRS)
		return error_set(err, -E2BIG, "cannot read \"%s\": more than %d event attributes",
				 r->path, MOST_ATTRS);
	r->n_ids += (len - size) / 8;
	if (r->n_ids > MOST_IDS)
		return error_set(err, -E2BIG,
				 "cannot read \"%s\": its events have more than %d ids", r->path,
				 MOST_IDS);
	memcpy(&a, data, size < sizeof(a) ? size : sizeof(a));
	if (a.write_backward)
		return error_set(err, -ENOTSUP,
				 "cannot read \"%s\": it was made with perf record --overwrite, "
				 "which leaves the latest records first; make one without it",
				 r->path);
	const uint8_t *ids = (const uint8_t *)data + size;
	size_t n = (len - size) / 8;
	bool own = is_own(&a, ids, n);
	r->is_own |= own;
	r->has_tracepoints |= a.type == PERF_TYPE_TRACEPOINT;
	/* Samples of ours are known by their id alone. */
	int e = own ? 0 : keep_layout(r, &a, ids, n);
	if (!e && !own)
		e = reader_queue_copy(r, RECORD_ATTR, 0, data, len);
	return e ? error_set(err, e, "cannot keep the events of \"%s\": out of memory", r->path)
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
	r->has_locks |= !strcmp(system, "lock");
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
				 "cannot read \"%s\": its tracepoint formats are more than %d, or "
				 "their systems have names of more than %d bytes",
				 r->path, MOST_FORMATS, MOST_SYSTEM - 1);
	return error_set(err, e, "cannot read \"%s\": %s", r->path,
			 why.code ? why.text : strerror(-e));
}

/*
 * Sections are parts of the file that nothing else is in: all of them together are no longer than
 * it, or one part is asked for many times over, each time at the cost of its copy.
 */
static int charge(struct reader *r, uint64_t size, const char *what, struct error *err)
{
	if (size <= r->map_size - r->charged) {
		r->charged += size;
		return 0;
	}
	return error_set(
		err, -EINVAL,
		"cannot read \"%s\" (%llu bytes): it says that its sections, up to %s, have "
		"more bytes than the file",
		r->path, (ull)r->map_size, what);
}

static int read_attr_entry(struct reader *r, const struct perfdata_header *h, uint64_t k,
			   struct error *err)
{
	uint64_t at = h->attrs.offset + k * h->attr_size;
	size_t size = (size_t)h->attr_size - sizeof(struct perfdata_section);
	struct perfdata_section ids;
	uint32_t stated;
	int e = reader_read_at(r, at + size, &ids, sizeof(ids), "event attributes", err);

	if (e)
		return e;
	if (ids.size > MOST_SECTION || ids.size % 8)
		return error_set(err, -EINVAL,
				 "cannot read \"%s\": event %llu, at byte %llu, has %llu "
				 "bytes of ids",
				 r->path, (ull)k, (ull)at, (ull)ids.size);
	e = charge(r, h->attr_size + ids.size, "its event attributes", err);
	if (e)
		return e;
	uint8_t *buf = mem_calloc(1, size + (size_t)ids.size);
	if (!buf)
		return error_set(err, -ENOMEM, "cannot read \"%s\": out of memory", r->path);
	e = reader_read_at(r, at, buf, size, "event attributes", err);
	memcpy(&stated, buf + 4, sizeof(stated));
	if (!stated)
		stated = (uint32_t)size; /* as perf of the first years left it */
	if (!e && stated > size)
		e = error_set(err, -EINVAL,
			      "cannot read \"%s\": event %llu, at byte %llu, says its "
			      "attribute has %u bytes, in %zu",
			      r->path, (ull)k, (ull)at, stated, size);
	if (!e && stated >= PERF_ATTR_SIZE_VER0) {
		memcpy(buf + 4, &stated, sizeof(stated));
		e = reader_read_at(r, ids.offset, buf + stated, (size_t)ids.size, "event ids", err);
	}
	r->file_pos = at + h->attr_size;
	if (!e)
		e = reader_add_attr(r, buf, stated + (size_t)ids.size, err);
	mem_free(buf);
	return e;
}

static int read_attrs(struct reader *r, const struct perfdata_header *h, struct error *err)
{
	uint64_t least = PERF_ATTR_SIZE_VER0 + sizeof(struct perfdata_section);

	if (h->attr_size < least || h->attr_size > 4096 || h->attrs.size % h->attr_size ||
	    h->attrs.size / h->attr_size > MOST_ATTRS || !h->attrs.size)
		return error_set(err, -EINVAL,
				 "cannot read \"%s\": the header says that there are "
				 "%llu bytes of event attributes of %llu bytes each",
				 r->path, (ull)h->attrs.size, (ull)h->attr_size);
	for (uint64_t k = 0; k < h->attrs.size / h->attr_size; k++) {
		int e = read_attr_entry(r, h, k, err);
		if (e)
			return e;
	}
	return 0;
}

/* Those of programs are part of the stream. */
static int hand_out_ids(struct reader *r, const void *ids, size_t len)
{
	struct record_snapshot head = {.kind = SNAPSHOT_BUILD_IDS, .version = BUILDIDS_VERSION};
	struct buildid one = {.kernel = true};

	for (size_t at = 0; one.kernel && (at = buildids_next(ids, len, at, &one));)
		;
	if (one.kernel || len > RECORD_SNAPSHOT_MOST)
		return 0;
	uint8_t *body = mem_calloc(1, sizeof(head) + len);
	if (!body)
		return -ENOMEM;
	memcpy(body, &head, sizeof(head));
	memcpy(body + sizeof(head), ids, len);
	return reader_queue_heap(r, RECORD_SNAPSHOT, 0, body, sizeof(head) + len);
}

/* A feature that cannot be read is no reason to refuse the data, but for the formats. */
static int read_feature(struct reader *r, uint32_t bit, const struct perfdata_section *s,
			struct error *err)
{
	if (s->size > MOST_SECTION)
		return error_set(err, -EINVAL,
				 "cannot read \"%s\": feature %u, at byte %llu, says it "
				 "has %llu bytes",
				 r->path, bit, (ull)s->offset, (ull)s->size);
	int e = charge(r, s->size, "its features", err);
	if (e)
		return e;
	void *buf = mem_calloc(1, (size_t)s->size + 1);
	if (!buf)
		return error_set(err, -ENOMEM, "cannot read \"%s\": out of memory", r->path);
	e = reader_read_at(r, s->offset, buf, (size_t)s->size, "feature section", err);
	if (!e && bit == PERFDATA_TRACING_DATA)
		e = reader_add_tracing(r, buf, (size_t)s->size, err);
	else if (!e)
		features_take(&r->features, bit, buf, (size_t)s->size);
	if (!e && bit == PERFDATA_BUILD_ID)
		e = hand_out_ids(r, buf, (size_t)s->size);
	mem_free(buf);
	return e;
}

static int read_features(struct reader *r, const struct perfdata_header *h, struct error *err)
{
	uint64_t at = h->data.offset + h->data.size;

	for (uint32_t bit = 0; bit < PERFDATA_FEATURE_BITS; bit++) {
		struct perfdata_section s;

		if (!(h->features[bit / 64] >> bit % 64 & 1))
			continue;
		struct error why = {0};
		int e = 0;
		if (features_wants(bit)) {
			e = reader_read_at(r, at, &s, sizeof(s), "table of features", &why);
			if (!e)
				e = read_feature(r, bit, &s, &why);
		}
		if (e == -ENOMEM || (e && bit == PERFDATA_TRACING_DATA))
			return error_set(err, e, "%s", why.text);
		if (e && reader_note(r, "%s", why.text))
			return -ENOMEM;
		at += sizeof(s);
	}
	return 0;
}

static int check_sections(struct reader *r, const struct perfdata_header *h, struct error *err)
{
	uint64_t a = h->attrs.offset, d = h->data.offset, file = r->map_size;

	if (h->size != PERFDATA_FILE_HEADER && h->size != 72)
		return error_set(err, -EINVAL,
				 "cannot read \"%s\": its header says it has %llu bytes, "
				 "not 104; it is cut or no perf.data file",
				 r->path, (ull)h->size);
	if (d < h->size || d > file || a < h->size || a > file)
		return error_set(err, -EINVAL,
				 "cannot read \"%s\" (%llu bytes): the header says that "
				 "the data begin at byte %llu, the event attributes at %llu",
				 r->path, (ull)file, (ull)d, (ull)a);
	uint64_t d_end = h->data.size < file - d ? d + h->data.size : file;
	uint64_t a_end = h->attrs.size < file - a ? a + h->attrs.size : file;
	if (a < d_end && d < a_end && h->data.size)
		return error_set(
			err, -EINVAL,
			"cannot read \"%s\": the header says that event "
			"attributes (byte %llu, %llu bytes) and data (byte %llu, %llu bytes) "
			"overlap",
			r->path, (ull)a, (ull)h->attrs.size, (ull)d, (ull)h->data.size);
	return 0;
}

int reader_open_layout(struct reader *r, struct error *err)
{
	struct perfdata_header h = {0};
	int e = reader_read_at(r, 0, &h, 72, "header", err);

	if (!e && h.size >= sizeof(h))
		e = reader_read_at(r, 0, &h, sizeof(h), "header", err);
	if (!e && reader_is_torn(r, &h)) {
		e = reader_open_torn(r, &h);
		return e ? error_set(err, e, "cannot read \"%s\": out of memory", r->path) : 0;
	}
	if (!e)
		e = check_sections(r, &h, err);
	if (!e)
		e = read_attrs(r, &h, err);
	if (e)
		return e;
	uint64_t size = r->map_size - h.data.offset;
	if (h.size == sizeof(h) && h.data.size && h.data.size <= size) {
		size = h.data.size;
		e = read_features(r, &h, err);
	} else if (reader_note(r,
			       "\"%s\" is cut at byte %llu: of %llu bytes of data there are "
			       "%llu, and what should follow them is missing",
			       r->path, (ull)r->map_size, (ull)h.data.size, (ull)size)) {
		e = -ENOMEM;
	}
	if (e)
		return error_set(err, e, "cannot read \"%s\": %s", r->path, strerror(-e));
	r->file_pos = h.data.offset;
	e = reader_open_data(r, h.data.offset, size);
	return e ? error_set(err, e, "cannot read \"%s\": out of memory", r->path) : 0;
}
