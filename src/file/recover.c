// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes a clean file from a damaged one. Three kinds of damage are known: a stream that was never
 * finished (only its end is missing); a finished file of kontend that lost its end (the part that
 * the stream had before its data is still there, except for the first event, which is always the
 * same); and a file of perf that was never finished, which has its events in front but no formats
 * of tracepoints: those of this machine are used if the numbers agree.
 *
 * The walk over the file goes by record headers: descriptions are collected, and data are copied as
 * they are, compressed or not. The file is read, not mapped: a failing disk or a truncation during
 * the walk is an error and no signal. The walk ends at the first record with an unknown type or an
 * impossible size.
 */
#include "kontend/recover.h"
#include "kontend/fdio.h"
#include "kontend/load.h"
#include "kontend/mem.h"
#include "reader.h"
#include "writer.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	WINDOW = 1 << 20,
	MOST_ATTRS = 4096,
	MOST_FEATURE = 64 << 20,
	MOST_FORMATS = 16,
	LAST_KERNEL = 40, /* with room for future types */
	LAST_USER = 100,
	UPDATE_NAME = 2,
};

/* A damaged recording: a window that moves over the file, and the parts found so far. */
struct recover {
	const struct recover_options *o;
	int fd;
	uint64_t size;
	struct writer_bytes window;
	uint64_t window_at; /* of the window in the file */

	struct writer_attr *attrs;
	size_t n_attrs, cap_attrs;
	struct writer_bytes features[PERFDATA_FEATURE_BITS];

	uint64_t data_from, data_to; /* a run of data not copied yet */
	uint64_t copied;
	struct recover_stat stat;
};

/* Fills the window from @at on; short at the end of the file or if it cannot be read. */
static int load(struct recover *r, uint64_t at, size_t want)
{
	size_t size = want < WINDOW ? WINDOW : want;

	r->window.len = 0;
	if (writer_bytes_add(&r->window, NULL, size))
		return -ENOMEM;
	r->window.len = 0;
	r->window_at = at;
	while (r->window.len < size) {
		ssize_t n = pread(r->fd, r->window.data + r->window.len, size - r->window.len,
				  (off_t)(at + r->window.len));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		r->window.len += (size_t)n;
	}
	return 0;
}

/* @want bytes at @at, valid until the next call; NULL: there are fewer. */
static const uint8_t *bytes_at(struct recover *r, uint64_t at, size_t want)
{
	uint64_t end = r->window_at + r->window.len;

	if (at > r->size || want > r->size - at)
		return NULL;
	if (at < r->window_at || at > end || want > end - at) {
		if (load(r, at, want) || r->window.len < want)
			return NULL;
	}
	/* An empty file has no window. */
	return r->window.data ? r->window.data + (at - r->window_at) : NULL;
}

/* An attr of @len bytes with @n_ids ids. */
static int add_attr(struct recover *r, const void *attr, size_t len, const void *ids, size_t n_ids,
		    struct error *err)
{
	struct writer_attr a = {.n_ids = (uint32_t)n_ids};

	if (mem_grow(&r->attrs, &r->cap_attrs, r->n_attrs, sizeof(a)))
		return error_enomem(err, "recovering '%s'", r->o->path);
	memcpy(&a.attr, attr, len < WRITER_ATTR ? len : WRITER_ATTR);
	a.attr.size = WRITER_ATTR;
	a.ids = mem_calloc(n_ids + 1, sizeof(*a.ids));
	if (!a.ids)
		return error_enomem(err, "recovering '%s'", r->o->path);
	if (n_ids)
		memcpy(a.ids, ids, n_ids * sizeof(*a.ids));
	r->attrs[r->n_attrs++] = a;
	return 0;
}

/* The attr, then its ids. */
static int take_attr(struct recover *r, const uint8_t *p, size_t len, struct error *err)
{
	uint32_t size = len >= PERF_ATTR_SIZE_VER0 ? load_u32(p + 4) : 0;

	if (size < PERF_ATTR_SIZE_VER0 || size > len)
		return error_set(err, -EBADMSG, "Cannot recover '%s': an event is damaged",
				 r->o->path);
	return add_attr(r, p, size, p + size, (len - size) / 8, err);
}

/* {u64 what, u64 id, name}: the name of an event. */
static void take_name(struct recover *r, const uint8_t *p, size_t len)
{
	if (len <= 16 || load_u64(p) != UPDATE_NAME)
		return;
	for (size_t i = 0; i < r->n_attrs; i++) {
		struct writer_attr *a = &r->attrs[i];
		size_t n = len - 16 < sizeof(a->name) - 1 ? len - 16 : sizeof(a->name) - 1;
		if (a->n_ids && a->ids[0] == load_u64(p + 8))
			memcpy(a->name, p + 16, n);
	}
}

static int take_feature(struct recover *r, const uint8_t *p, size_t len)
{
	uint64_t bit = len > sizeof(bit) ? load_u64(p) : PERFDATA_FEATURE_BITS;

	if (bit >= PERFDATA_FEATURE_BITS)
		return 0;
	r->features[bit].len = 0;
	return writer_bytes_add(&r->features[bit], p + sizeof(bit), len - sizeof(bit));
}

/* A record that describes the data. */
static int take_head(struct recover *r, uint64_t at, const struct perf_event_header *h,
		     uint64_t more, struct error *err)
{
	const uint8_t *p = bytes_at(r, at, h->size + (size_t)more);
	size_t len = h->size - sizeof(*h);
	int e = 0;

	if (!p)
		return error_enomem(err, "recovering '%s'", r->o->path);
	p += sizeof(*h);
	switch (h->type) {
	case PERFDATA_TYPE_ATTR:
		return take_attr(r, p, len, err);
	case PERFDATA_TYPE_EVENT_UPDATE:
		take_name(r, p, len);
		return 0;
	case PERFDATA_TYPE_FEATURE:
		e = take_feature(r, p, len);
		break;
	case PERFDATA_TYPE_TRACING_DATA:
		r->features[PERFDATA_TRACING_DATA].len = 0;
		e = writer_bytes_add(&r->features[PERFDATA_TRACING_DATA], p + len, more);
		break;
	case PERFDATA_TYPE_BUILD_ID:
		e = writer_bytes_add(&r->features[PERFDATA_BUILD_ID], p - sizeof(*h), h->size);
		break;
	default:
		break;
	}
	return e ? error_enomem(err, "recovering '%s'", r->o->path) : 0;
}

static bool is_head(uint32_t type)
{
	return (type >= PERFDATA_TYPE_ATTR && type <= PERFDATA_TYPE_BUILD_ID) ||
	       type == PERFDATA_TYPE_EVENT_UPDATE || type == PERFDATA_TYPE_FEATURE ||
	       type == PERFDATA_TYPE_FINISHED_INIT;
}

/* The header of the record at @at, and the number of bytes that follow it; false: none that is
 * whole. */
static bool record_at(struct recover *r, uint64_t at, uint64_t end, struct perf_event_header *h,
		      uint64_t *ret_more)
{
	const uint8_t *p = end - at < sizeof(*h) ? NULL : bytes_at(r, at, sizeof(*h));
	uint64_t more = 0;

	if (!p)
		return false;
	memcpy(h, p, sizeof(*h));
	bool known = (h->type && h->type <= LAST_KERNEL) ||
		     (h->type >= PERFDATA_TYPE_USER && h->type <= LAST_USER);
	if (!known || h->size < sizeof(*h) || h->size > end - at || !bytes_at(r, at, h->size))
		return false;
	p = bytes_at(r, at, h->size) + sizeof(*h);
	if (h->type == PERFDATA_TYPE_TRACING_DATA && h->size >= sizeof(*h) + sizeof(uint32_t))
		more = load_u32(p);
	if (h->type == PERFDATA_TYPE_AUXTRACE && h->size >= sizeof(*h) + sizeof(more))
		more = load_u64(p);
	if (more > end - at - h->size || (is_head(h->type) && more > MOST_FEATURE))
		return false;
	*ret_more = more;
	return true;
}

static int put_bytes(const struct recover *r, const void *data, size_t len, struct error *err)
{
	int e = fdio_write_all(r->o->fd, data, len);

	return e ? error_errno(err, e, "Cannot write '%s'", r->o->name) : 0;
}

static int copy(struct recover *r, struct error *err)
{
	uint64_t at = r->data_from;

	while (at < r->data_to) {
		uint64_t left = r->data_to - at;
		size_t n = left < WINDOW ? (size_t)left : WINDOW;
		const uint8_t *p = bytes_at(r, at, n);
		if (!p)
			return error_errno(err, -EIO, "Cannot read '%s'", r->o->path);
		int e = put_bytes(r, p, n, err);
		if (e)
			return e;
		at += n;
		r->copied += n;
	}
	r->data_from = r->data_to;
	return 0;
}

/* One more record of data; consecutive ones are copied together. */
static int take_data(struct recover *r, uint64_t at, uint64_t len, struct error *err)
{
	int e = 0;

	if (at != r->data_to || r->data_to - r->data_from >= WINDOW) {
		e = copy(r, err);
		r->data_from = at;
	}
	r->data_to = at + len;
	r->stat.records++;
	return e;
}

/* Walks records from @at to @end or the last whole one; data go to the new file. */
static int walk(struct recover *r, uint64_t at, uint64_t end, struct error *err)
{
	struct perf_event_header h;
	uint64_t more;
	int e = 0;

	r->data_from = r->data_to = at;
	while (!e && record_at(r, at, end, &h, &more)) {
		e = is_head(h.type) ? take_head(r, at, &h, more, err)
				    : take_data(r, at, h.size + more, err);
		at += h.size + more;
	}
	r->stat.kept = at;
	return e ? e : copy(r, err);
}

static int nothing(const struct recover *r, const char *why, struct error *err)
{
	return error_set(err, -ENODATA, "Cannot recover anything from '%s': %s", r->o->path, why);
}

static bool inside(const struct recover *r, const struct perfdata_section *s)
{
	return s->offset <= r->size && s->size <= r->size - s->offset;
}

/* Has the file all parts of a finished one: events, data, and each feature? */
static bool is_whole(struct recover *r, const struct perfdata_header *h)
{
	uint64_t at = h->data.offset + h->data.size;

	if (!h->data.size || !inside(r, &h->data) || !inside(r, &h->attrs))
		return false;
	for (unsigned bit = 0; bit < PERFDATA_FEATURE_BITS; bit++) {
		struct perfdata_section s;
		if (!(h->features[bit / 64] >> bit % 64 & 1))
			continue;
		const uint8_t *p = bytes_at(r, at, sizeof(s));
		if (!p)
			return false;
		memcpy(&s, p, sizeof(s));
		if (!inside(r, &s))
			return false;
		at += sizeof(s);
	}
	return true;
}

static bool is_ours(struct recover *r, const struct perfdata_header *h)
{
	const uint8_t *p = bytes_at(r, PERFDATA_EXT_ID_AT, sizeof(uint64_t));

	return p && load_u64(p) == PERFDATA_EXT_ID && h->data.offset > PERFDATA_EXT_HEAD_AT;
}

static int scan_ours(struct recover *r, const struct perfdata_header *h, struct error *err)
{
	struct perf_event_attr ours = writer_ext_attr();
	uint64_t id = PERFDATA_EXT_ID, end = h->data.offset + h->data.size;
	int e = add_attr(r, &ours, sizeof(ours), &id, 1, err);

	if (!e)
		snprintf(r->attrs[0].name, sizeof(r->attrs[0].name), "%s", PERFDATA_EXT_NAME);
	return e ? e : walk(r, PERFDATA_EXT_HEAD_AT, end < r->size ? end : r->size, err);
}

/* One entry of the attrs section: an attr, and where its ids are. */
static int add_entry(struct recover *r, const struct perfdata_header *h, size_t i,
		     struct error *err)
{
	uint8_t attr[4096];
	struct perfdata_section s;
	size_t len = (size_t)h->attr_size - sizeof(s);
	const uint8_t *p = bytes_at(r, h->attrs.offset + i * h->attr_size, (size_t)h->attr_size);

	if (!p)
		return nothing(r, "its events are not all there", err);
	memcpy(attr, p, len);
	memcpy(&s, p + len, sizeof(s));
	if (!inside(r, &s) || s.size > UINT16_MAX * 8ull)
		return nothing(r, "the ids of its events are not there", err);
	const uint8_t *ids = bytes_at(r, s.offset, (size_t)s.size);
	if (!ids)
		return nothing(r, "the ids of its events cannot be read", err);
	return add_attr(r, attr, len, ids, (size_t)s.size / 8, err);
}

/* A file of any program: events in front of the data. */
static int scan_file(struct recover *r, const struct perfdata_header *h, struct error *err)
{
	uint64_t end = h->data.size ? h->data.offset + h->data.size : r->size;
	uint64_t n = h->attr_size ? h->attrs.size / h->attr_size : 0;
	int e = 0;

	if (!n || n > MOST_ATTRS || !inside(r, &h->attrs) || h->attrs.offset > h->data.offset ||
	    h->attr_size < PERF_ATTR_SIZE_VER0 + sizeof(h->attrs) || h->attr_size > 4096)
		return nothing(r, "the description of its events is missing", err);
	for (size_t i = 0; !e && i < n; i++)
		e = add_entry(r, h, i, err);
	return e ? e : walk(r, h->data.offset, end < r->size ? end : r->size, err);
}

static int scan(struct recover *r, struct error *err)
{
	struct perfdata_header h = {0};
	size_t n = r->size < sizeof(h) ? (size_t)r->size : sizeof(h);
	const uint8_t *p = bytes_at(r, 0, n);

	if (p)
		memcpy(&h, p, n);
	if (n < PERFDATA_PIPE_HEADER)
		return nothing(r, n ? "it has no complete header" : "it is empty", err);
	if (h.magic == PERFDATA_MAGIC_SWAPPED || h.magic == PERFDATA_MAGIC_1)
		return reader_check_magic(r->o->path, h.magic, err);
	if (h.magic != PERFDATA_MAGIC)
		return nothing(r, "it does not begin like a recording", err);
	if (h.size == PERFDATA_PIPE_HEADER)
		return walk(r, PERFDATA_PIPE_HEADER, r->size, err);
	if (n < sizeof(h) || h.size < 72 || h.data.offset > r->size)
		return nothing(r, "its header is damaged", err);
	if (is_whole(r, &h))
		return RECOVER_WHOLE;
	return is_ours(r, &h) ? scan_ours(r, &h, err) : scan_file(r, &h, err);
}

static bool is_used(const struct recover *r, const struct recover_format *f)
{
	for (size_t i = 0; i < r->n_attrs; i++) {
		const struct perf_event_attr *a = &r->attrs[i].attr;
		char id[32];
		snprintf(id, sizeof(id), "\nID: %llu\n", (unsigned long long)a->config);
		if (a->type == PERF_TYPE_TRACEPOINT && memmem(f->body, f->len, id, strlen(id)))
			return true;
	}
	return false;
}

/* Formats that the file lost, from those that the caller offered. */
static int add_formats(struct recover *r)
{
	struct writer_bytes *b = &r->features[PERFDATA_TRACING_DATA], formats[MOST_FORMATS];
	size_t n = 0;

	for (size_t i = 0; !b->len && i < r->o->n_formats && n < MOST_FORMATS; i++) {
		const struct recover_format *f = &r->o->formats[i];
		if (is_used(r, f))
			formats[n++] = (struct writer_bytes){.data = (uint8_t *)(uintptr_t)f->body,
							     .len = f->len};
	}
	r->stat.foreign_formats = n;
	return n ? tracing_build(formats, n, b) : 0;
}

/* Events with wrong names would be worse than none. */
static bool all_named(const struct recover *r)
{
	for (size_t i = 0; i < r->n_attrs; i++)
		if (!r->attrs[i].name[0])
			return false;
	return true;
}

/* Writes the parts around the data, which are in the new file already. */
static int write_ends(struct recover *r, struct error *err)
{
	struct writer_ends ends = {.at = PERFDATA_FILE_HEADER + r->copied};
	int e = add_formats(r);

	if (!e && !r->features[PERFDATA_EVENT_DESC].len && all_named(r))
		e = writer_event_desc(r->attrs, r->n_attrs, &r->features[PERFDATA_EVENT_DESC]);
	memcpy(ends.features, r->features, sizeof(ends.features));
	memset(r->features, 0, sizeof(r->features));
	ends.h.data.offset = PERFDATA_FILE_HEADER;
	ends.h.data.size = r->copied;
	if (!e)
		e = writer_ends_build(&ends, r->attrs, r->n_attrs);
	if (e)
		error_errno(err, e, "Cannot finish '%s'", r->o->name);
	if (!e)
		e = put_bytes(r, ends.tail.data, ends.tail.len, err);
	if (!e && lseek(r->o->fd, 0, SEEK_SET))
		e = error_errno(err, -errno, "Cannot write '%s'", r->o->name);
	if (!e)
		e = put_bytes(r, &ends.h, sizeof(ends.h), err);
	writer_ends_deinit(&ends);
	return e;
}

static int recover(struct recover *r, struct error *err)
{
	struct stat st;

	/* Opening a FIFO without a writer must not block. */
	r->fd = r->o->from ? fcntl(r->o->from, F_DUPFD_CLOEXEC, 0)
			   : open(r->o->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (r->fd < 0 || fstat(r->fd, &st))
		return error_errno(err, -errno, "Cannot open the recording '%s'", r->o->path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, -EINVAL,
				 "'%s' is no regular file: copy its data to one, and recover that",
				 r->o->path);
	r->size = r->stat.size = (uint64_t)st.st_size;
	if (lseek(r->o->fd, PERFDATA_FILE_HEADER, SEEK_SET) < 0)
		return error_errno(err, -errno, "Cannot write '%s'", r->o->name);
	int e = scan(r, err);
	if (e)
		return e;
	if (!r->n_attrs || !r->stat.records)
		return nothing(r, "no event was recorded before its end", err);
	return write_ends(r, err);
}

int recover_file(const struct recover_options *o, struct recover_stat *ret, struct error *err)
{
	struct recover r = {.o = o, .fd = -1};
	int e = recover(&r, err);

	*ret = r.stat;
	for (size_t i = 0; i < r.n_attrs; i++)
		mem_free(r.attrs[i].ids);
	for (unsigned bit = 0; bit < PERFDATA_FEATURE_BITS; bit++)
		mem_free(r.features[bit].data);
	mem_free(r.attrs);
	mem_free(r.window.data);
	if (r.fd >= 0)
		close(r.fd);
	return e;
}
