// SPDX-License-Identifier: GPL-2.0-only
/*
 * A file that lost its end. In one of ours the stream that it was while it was recorded is still
 * there, in front of the data (see writer-finish.c): all but the attr of our own event, which the
 * header has overwritten and which is always the same. So it is read as that stream, up to where
 * it was cut. In one of perf's the events stand in front and the formats behind the data; what is
 * left of that, reader-open.c reads.
 */
#include "reader-int.h"
#include <errno.h>

typedef unsigned long long ull;

static bool inside(const struct reader *r, const struct perfdata_section *s)
{
	return s->offset <= r->map_size && s->size <= r->map_size - s->offset;
}

static bool features_inside(struct reader *r, const struct perfdata_header *h)
{
	struct perfdata_section table[PERFDATA_FEATURE_BITS];
	struct error err = {0};
	size_t n = 0;

	for (unsigned i = 0; i < PERFDATA_FEATURE_BITS / 64; i++)
		n += (size_t)__builtin_popcountll(h->features[i]);
	if (reader_read_at(r, h->data.offset + h->data.size, table, n * sizeof(*table),
			   "table of features", &err))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!inside(r, &table[i]))
			return false;
	return true;
}

bool reader_is_torn(struct reader *r, const struct perfdata_header *h)
{
	struct error err = {0};
	uint64_t id;

	if (h->size != PERFDATA_FILE_HEADER || h->data.offset <= PERFDATA_OWN_HEAD_AT ||
	    reader_read_at(r, PERFDATA_OWN_ID_AT, &id, sizeof(id), "first event", &err) ||
	    id != PERFDATA_OWN_ID)
		return false;
	return !inside(r, &h->data) || !inside(r, &h->attrs) || !features_inside(r, h);
}

int reader_open_torn(struct reader *r, const struct perfdata_header *h)
{
	uint64_t from = h->data.offset, left = r->map_size < from ? 0 : r->map_size - from;
	uint64_t end = h->data.size < left ? from + h->data.size : r->map_size;

	r->is_own = true;
	if (reader_note(r,
			"\"%s\" is cut at byte %llu: of %llu bytes of data there are %llu, and "
			"what should follow them is missing; `kontend recover` makes a "
			"whole recording of what is left",
			r->path, (ull)r->map_size, (ull)h->data.size,
			(ull)(h->data.size < left ? h->data.size : left)))
		return -ENOMEM;
	return reader_map(r, PERFDATA_OWN_HEAD_AT, end - PERFDATA_OWN_HEAD_AT);
}
