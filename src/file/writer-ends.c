// SPDX-License-Identifier: GPL-2.0-only
/*
 * What stands behind the data in the file layout, and the header that points at it: the table of
 * features in the order of their bits, their bodies, the ids of all events, the events themselves.
 * Readers find the table by its place alone: directly behind the data.
 */
#include "kontend/mem.h"
#include "writer-int.h"
#include <errno.h>

static int add_features(struct writer_ends *f)
{
	struct perfdata_section s[PERFDATA_FEATURE_BITS];
	size_t n = 0, at = 0;

	for (unsigned bit = 0; bit < PERFDATA_FEATURE_BITS; bit++) {
		size_t len = f->features[bit].len;
		if (!len)
			continue;
		f->h.features[bit / 64] |= 1ull << bit % 64;
		s[n++] = (struct perfdata_section){.offset = at, .size = len};
		at += (len + 7) / 8 * 8;
	}
	for (size_t i = 0; i < n; i++)
		s[i].offset += f->at + n * sizeof(*s);
	int e = writer_bytes_add(&f->tail, s, n * sizeof(*s));
	for (unsigned bit = 0; !e && bit < PERFDATA_FEATURE_BITS; bit++) {
		e = writer_bytes_add(&f->tail, f->features[bit].data, f->features[bit].len);
		if (!e)
			e = writer_bytes_pad(&f->tail);
	}
	return e;
}

static int add_attrs(struct writer_ends *f, const struct writer_attr *attrs, size_t n)
{
	uint64_t ids = f->at + f->tail.len;
	int e = 0;

	for (size_t i = 0; !e && i < n; i++)
		e = writer_bytes_add(&f->tail, attrs[i].ids, attrs[i].n_ids * sizeof(*attrs->ids));
	f->h.attr_size = WRITER_ATTR + sizeof(struct perfdata_section);
	f->h.attrs.offset = f->at + f->tail.len;
	f->h.attrs.size = n * f->h.attr_size;
	for (size_t i = 0; !e && i < n; i++) {
		struct perfdata_section s = {.offset = ids, .size = attrs[i].n_ids * 8ull};
		if (writer_bytes_add(&f->tail, &attrs[i].attr, WRITER_ATTR) ||
		    writer_bytes_add(&f->tail, &s, sizeof(s)))
			e = -ENOMEM;
		ids += s.size;
	}
	return e;
}

int writer_ends_build(struct writer_ends *f, const struct writer_attr *attrs, size_t n)
{
	f->h.magic = PERFDATA_MAGIC;
	f->h.size = sizeof(f->h);
	int e = add_features(f);

	return e ? e : add_attrs(f, attrs, n);
}

void writer_ends_deinit(struct writer_ends *f)
{
	for (unsigned bit = 0; bit < PERFDATA_FEATURE_BITS; bit++)
		mem_free(f->features[bit].data);
	mem_free(f->tail.data);
}
