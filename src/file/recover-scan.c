// SPDX-License-Identifier: GPL-2.0-only
/*
 * The walk over what a damaged recording still has, by record headers: what describes the data is
 * collected, the data are copied as they are, compressed or not. The file is read, not mapped: a
 * file on a failing disk or one that is cut while we look is an error and no signal. The walk ends
 * where no record of a known range of types and a possible size stands.
 */
#include "kontend/mem.h"
#include "recover-int.h"
#include <errno.h>
#include <unistd.h>

enum {
	WINDOW = 1 << 20,
	MOST_FEATURE = 64 << 20,
	LAST_KERNEL = 40, /* with room for types that are still to come */
	LAST_USER = 100,
	UPDATE_NAME = 2,
};

static int no_memory(const struct recover *r, struct error *err)
{
	return error_set(err, -ENOMEM, "cannot recover \"%s\": out of memory", r->o->path);
}

/* Fills the window from @at on; short at the end of the file or where it cannot be read. */
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

const uint8_t *recover_at(struct recover *r, uint64_t at, size_t want)
{
	uint64_t end = r->window_at + r->window.len;

	if (at > r->size || want > r->size - at)
		return NULL;
	if (at < r->window_at || at > end || want > end - at) {
		if (load(r, at, want) || r->window.len < want)
			return NULL;
	}
	/* Of an empty file there is no window. */
	return r->window.data ? r->window.data + (at - r->window_at) : NULL;
}

int recover_add_attr(struct recover *r, const void *attr, size_t len, const void *ids, size_t n_ids,
		     struct error *err)
{
	struct writer_attr a = {.n_ids = (uint32_t)n_ids};

	if (mem_grow(&r->attrs, &r->cap_attrs, r->n_attrs, sizeof(a)))
		return no_memory(r, err);
	memcpy(&a.attr, attr, len < WRITER_ATTR ? len : WRITER_ATTR);
	a.attr.size = WRITER_ATTR;
	a.ids = mem_calloc(n_ids + 1, sizeof(*a.ids));
	if (!a.ids)
		return no_memory(r, err);
	if (n_ids)
		memcpy(a.ids, ids, n_ids * sizeof(*a.ids));
	r->attrs[r->n_attrs++] = a;
	return 0;
}

/* Behind the header: the attr, then its ids. */
static int take_attr(struct recover *r, const uint8_t *p, size_t len, struct error *err)
{
	uint32_t size = 0;

	if (len >= PERF_ATTR_SIZE_VER0)
		memcpy(&size, p + 4, sizeof(size));
	if (size < PERF_ATTR_SIZE_VER0 || size > len)
		return error_set(err, -EBADMSG, "cannot recover \"%s\": an event is damaged",
				 r->o->path);
	return recover_add_attr(r, p, size, p + size, (len - size) / 8, err);
}

/* {u64 what, u64 id, name}: the name of an event. */
static void take_name(struct recover *r, const uint8_t *p, size_t len)
{
	uint64_t what, id;

	if (len <= 16)
		return;
	memcpy(&what, p, sizeof(what));
	memcpy(&id, p + 8, sizeof(id));
	for (size_t i = 0; what == UPDATE_NAME && i < r->n_attrs; i++) {
		struct writer_attr *a = &r->attrs[i];
		size_t n = len - 16 < sizeof(a->name) - 1 ? len - 16 : sizeof(a->name) - 1;
		if (a->n_ids && a->ids[0] == id)
			memcpy(a->name, p + 16, n);
	}
}

static int take_feature(struct recover *r, const uint8_t *p, size_t len)
{
	uint64_t bit = PERFDATA_FEATURE_BITS;

	if (len > sizeof(bit))
		memcpy(&bit, p, sizeof(bit));
	if (bit >= PERFDATA_FEATURE_BITS)
		return 0;
	r->features[bit].len = 0;
	return writer_bytes_add(&r->features[bit], p + sizeof(bit), len - sizeof(bit));
}

/* A record that describes the data. */
static int take_head(struct recover *r, uint64_t at, const struct perf_event_header *h,
		     uint64_t behind, struct error *err)
{
	const uint8_t *p = recover_at(r, at, h->size + (size_t)behind);
	size_t len = h->size - sizeof(*h);
	int e = 0;

	if (!p)
		return no_memory(r, err);
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
		e = writer_bytes_add(&r->features[PERFDATA_TRACING_DATA], p + len, behind);
		break;
	case PERFDATA_TYPE_BUILD_ID:
		e = writer_bytes_add(&r->features[PERFDATA_BUILD_ID], p - sizeof(*h), h->size);
		break;
	default:
		break;
	}
	return e ? no_memory(r, err) : 0;
}

static bool is_head(uint32_t type)
{
	return (type >= PERFDATA_TYPE_ATTR && type <= PERFDATA_TYPE_BUILD_ID) ||
	       type == PERFDATA_TYPE_EVENT_UPDATE || type == PERFDATA_TYPE_FEATURE ||
	       type == PERFDATA_TYPE_FINISHED_INIT;
}

/* The header of the record at @at and the bytes that follow it; false: none that is whole. */
static bool record_at(struct recover *r, uint64_t at, uint64_t end, struct perf_event_header *h,
		      uint64_t *ret_behind)
{
	const uint8_t *p = end - at < sizeof(*h) ? NULL : recover_at(r, at, sizeof(*h));
	uint64_t behind = 0;
	uint32_t size = 0;

	if (!p)
		return false;
	memcpy(h, p, sizeof(*h));
	bool known = (h->type && h->type <= LAST_KERNEL) ||
		     (h->type >= PERFDATA_TYPE_USER && h->type <= LAST_USER);
	if (!known || h->size < sizeof(*h) || h->size > end - at || !recover_at(r, at, h->size))
		return false;
	p = recover_at(r, at, h->size) + sizeof(*h);
	if (h->type == PERFDATA_TYPE_TRACING_DATA && h->size >= sizeof(*h) + sizeof(size)) {
		memcpy(&size, p, sizeof(size));
		behind = size;
	} else if (h->type == PERFDATA_TYPE_AUXTRACE && h->size >= sizeof(*h) + sizeof(behind)) {
		memcpy(&behind, p, sizeof(behind));
	}
	if (behind > end - at - h->size || (is_head(h->type) && behind > MOST_FEATURE))
		return false;
	*ret_behind = behind;
	return true;
}

static int copy(struct recover *r, struct error *err)
{
	uint64_t at = r->data_from;

	while (at < r->data_to) {
		uint64_t left = r->data_to - at;
		size_t n = left < WINDOW ? (size_t)left : WINDOW;
		const uint8_t *p = recover_at(r, at, n);
		if (!p)
			return error_errno(err, -EIO, "cannot read \"%s\"", r->o->path);
		ssize_t done = write(r->o->fd, p, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return error_errno(err, -errno, "cannot write \"%s\"", r->o->name);
		at += (uint64_t)done;
		r->copied += (uint64_t)done;
	}
	r->data_from = r->data_to;
	return 0;
}

/* One more record of data; what follows each other is copied in one go. */
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

int recover_scan(struct recover *r, uint64_t at, uint64_t end, struct error *err)
{
	struct perf_event_header h;
	uint64_t behind;
	int e = 0;

	r->data_from = r->data_to = at;
	while (!e && record_at(r, at, end, &h, &behind)) {
		e = is_head(h.type) ? take_head(r, at, &h, behind, err)
				    : take_data(r, at, h.size + behind, err);
		at += h.size + behind;
	}
	r->stat.kept = at;
	return e ? e : copy(r, err);
}
