// SPDX-License-Identifier: GPL-2.0-only
/*
 * A clean file out of a damaged one. Three kinds of damage are known: a stream that was never
 * finished (it has everything but its end); a file of ours that was finished and then lost its end
 * (what the stream had before its data is still there, but for the first event, which is always the
 * same); and a file of perf's that was never finished, which has its events in front but no formats
 * of tracepoints: those of this machine are taken, where the numbers agree.
 */
#include "kontend/recover.h"
#include "kontend/mem.h"
#include "recover-int.h"
#include "tracing.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_ATTRS = 4096 };

static int nothing(const struct recover *r, const char *why, struct error *err)
{
	return error_set(err, -ENODATA, "nothing can be recovered from \"%s\": %s", r->o->path,
			 why);
}

static bool inside(const struct recover *r, const struct perfdata_section *s)
{
	return s->offset <= r->size && s->size <= r->size - s->offset;
}

/* All that a finished file has: events, data, and each feature. */
static bool is_whole(struct recover *r, const struct perfdata_header *h)
{
	uint64_t at = h->data.offset + h->data.size;

	if (!h->data.size || !inside(r, &h->data) || !inside(r, &h->attrs))
		return false;
	for (unsigned bit = 0; bit < PERFDATA_FEATURE_BITS; bit++) {
		struct perfdata_section s;
		if (!(h->features[bit / 64] >> bit % 64 & 1))
			continue;
		const uint8_t *p = recover_at(r, at, sizeof(s));
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
	uint64_t id = 0;
	const uint8_t *p = recover_at(r, PERFDATA_EXT_ID_AT, sizeof(id));

	if (p)
		memcpy(&id, p, sizeof(id));
	return id == PERFDATA_EXT_ID && h->data.offset > PERFDATA_EXT_HEAD_AT;
}

static int scan_ours(struct recover *r, const struct perfdata_header *h, struct error *err)
{
	struct perf_event_attr own = writer_ext_attr();
	uint64_t id = PERFDATA_EXT_ID, end = h->data.offset + h->data.size;
	int e = recover_add_attr(r, &own, sizeof(own), &id, 1, err);

	if (!e)
		snprintf(r->attrs[0].name, sizeof(r->attrs[0].name), "%s", PERFDATA_EXT_NAME);
	return e ? e : recover_scan(r, PERFDATA_EXT_HEAD_AT, end < r->size ? end : r->size, err);
}

/* One entry of the attrs section: an attr, and where its ids are. */
static int add_entry(struct recover *r, const struct perfdata_header *h, size_t i,
		     struct error *err)
{
	uint8_t attr[4096];
	struct perfdata_section s;
	size_t len = (size_t)h->attr_size - sizeof(s);
	const uint8_t *p = recover_at(r, h->attrs.offset + i * h->attr_size, (size_t)h->attr_size);

	if (!p)
		return nothing(r, "its events are not all there", err);
	memcpy(attr, p, len);
	memcpy(&s, p + len, sizeof(s));
	if (!inside(r, &s) || s.size > UINT16_MAX * 8ull)
		return nothing(r, "the ids of its events are not there", err);
	const uint8_t *ids = recover_at(r, s.offset, (size_t)s.size);
	if (!ids)
		return nothing(r, "the ids of its events cannot be read", err);
	return recover_add_attr(r, attr, len, ids, (size_t)s.size / 8, err);
}

/* Of any program: events in front of the data. */
static int scan_file(struct recover *r, const struct perfdata_header *h, struct error *err)
{
	uint64_t end = h->data.size ? h->data.offset + h->data.size : r->size;
	uint64_t n = h->attr_size ? h->attrs.size / h->attr_size : 0;
	int e = 0;

	if (!n || n > MOST_ATTRS || !inside(r, &h->attrs) || h->attrs.offset > h->data.offset ||
	    h->attr_size < PERF_ATTR_SIZE_VER0 + sizeof(h->attrs) || h->attr_size > 4096)
		return nothing(r, "the part that describes its events is not there any more", err);
	for (size_t i = 0; !e && i < n; i++)
		e = add_entry(r, h, i, err);
	return e ? e : recover_scan(r, h->data.offset, end < r->size ? end : r->size, err);
}

static int scan(struct recover *r, struct error *err)
{
	struct perfdata_header h = {0};
	size_t n = r->size < sizeof(h) ? (size_t)r->size : sizeof(h);
	const uint8_t *p = recover_at(r, 0, n);

	if (p)
		memcpy(&h, p, n);
	if (n < PERFDATA_PIPE_HEADER)
		return nothing(r, n ? "it has not even a header" : "it is empty", err);
	if (h.magic == PERFDATA_MAGIC_SWAPPED)
		return error_set(err, -ENOTSUP,
				 "\"%s\" was made on a machine with the other byte order: "
				 "recover it on such a machine",
				 r->o->path);
	if (h.magic != PERFDATA_MAGIC)
		return nothing(r, "it does not begin as a recording does", err);
	if (h.size == PERFDATA_PIPE_HEADER)
		return recover_scan(r, PERFDATA_PIPE_HEADER, r->size, err);
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

/* Formats that the file lost, from those that were offered. */
static int add_formats(struct recover *r)
{
	struct writer w = {0};
	struct writer_bytes formats[16] = {{0}};
	int e = 0;

	if (r->features[PERFDATA_TRACING_DATA].len)
		return 0;
	w.formats = formats;
	for (size_t i = 0; !e && i < r->o->n_formats && w.n_formats < 16; i++) {
		const struct recover_format *f = &r->o->formats[i];
		if (is_used(r, f))
			e = writer_bytes_add(&formats[w.n_formats++], f->body, f->len);
	}
	r->stat.foreign_formats = w.n_formats;
	if (!e && w.n_formats)
		e = writer_tracing(&w, &r->features[PERFDATA_TRACING_DATA]);
	for (size_t i = 0; i < w.n_formats; i++)
		mem_free(formats[i].data);
	return e;
}

static int write_at(const struct recover *r, const void *data, size_t len, uint64_t at,
		    struct error *err)
{
	const uint8_t *p = data;

	while (len) {
		ssize_t n = pwrite(r->o->fd, p, len, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_errno(err, -errno, "cannot write \"%s\"", r->o->name);
		p += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

/* A list of events with names that are not theirs would be worse than none. */
static bool all_named(const struct recover *r)
{
	for (size_t i = 0; i < r->n_attrs; i++)
		if (!r->attrs[i].name[0])
			return false;
	return true;
}

/* Around the data, which are in the new file already. */
static int write_ends(struct recover *r, struct error *err)
{
	struct writer w = {.attrs = r->attrs, .n_attrs = r->n_attrs};
	struct writer_ends ends = {.at = PERFDATA_FILE_HEADER + r->copied};
	int e = add_formats(r);

	if (!e && !r->features[PERFDATA_EVENT_DESC].len && all_named(r))
		e = writer_feature(&w, PERFDATA_EVENT_DESC, &r->features[PERFDATA_EVENT_DESC]);
	memcpy(ends.features, r->features, sizeof(ends.features));
	memset(r->features, 0, sizeof(r->features));
	ends.h.data.offset = PERFDATA_FILE_HEADER;
	ends.h.data.size = r->copied;
	if (!e)
		e = writer_ends_build(&ends, r->attrs, r->n_attrs);
	if (e)
		error_errno(err, e, "cannot finish \"%s\"", r->o->name);
	if (!e)
		e = write_at(r, ends.tail.data, ends.tail.len, ends.at, err);
	if (!e)
		e = write_at(r, &ends.h, sizeof(ends.h), 0, err);
	writer_ends_deinit(&ends);
	return e;
}

static int recover(struct recover *r, struct error *err)
{
	struct stat st;

	/* A FIFO that nobody writes to must not hold us here. */
	r->fd = open(r->o->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (r->fd < 0 || fstat(r->fd, &st))
		return error_errno(err, -errno, "cannot open the recording \"%s\"", r->o->path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, -EINVAL,
				 "\"%s\" is no regular file: write what it gives to one, and "
				 "recover that",
				 r->o->path);
	r->size = r->stat.size = (uint64_t)st.st_size;
	if (lseek(r->o->fd, PERFDATA_FILE_HEADER, SEEK_SET) < 0)
		return error_errno(err, -errno, "cannot write \"%s\"", r->o->name);
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
