// SPDX-License-Identifier: GPL-2.0-only
/*
 * A file that must not become longer than so many bytes, its end included, which is known as soon
 * as it has a beginning. What is written as it is has a length before it is written. What is packed
 * has one afterwards: so where it might be too long the memory in front of the file is emptied, it
 * is packed into that, and taken back from there when it is.
 */
#include "writer-int.h"
#include <errno.h>

/* At most what @len bytes become: frames of at least 64 KiB, records of 64 KiB, each with its head.
 */
static uint64_t packed_most(size_t len)
{
	return pack_bound(len) + (len / 65536 + 2) * 128;
}

uint64_t writer_room(const struct writer *w)
{
	uint64_t used = w->good + w->out.len + w->end_bytes;

	if (!w->max_bytes)
		return UINT64_MAX;
	return used < w->max_bytes ? w->max_bytes - used : 0;
}

int writer_fits(const struct writer *w, uint64_t len)
{
	return w->begun && len > writer_room(w) ? WRITER_FULL : 0;
}

int writer_trial(struct writer *w, size_t len, struct error *err)
{
	if (!w->begun || writer_room(w) >= packed_most(len))
		return 0;
	int e = writer_flush(w, err);
	w->on_trial = !e;
	return e;
}

int writer_verdict(struct writer *w, int e)
{
	bool too_long = w->on_trial && w->good + w->out.len + w->end_bytes > w->max_bytes;

	w->on_trial = false;
	if (!too_long)
		return e;
	w->out.len = 0;
	return e ? e : WRITER_FULL;
}

int writer_check_head(struct writer *w, struct error *err)
{
	uint64_t used = w->good + w->out.len + w->end_bytes;

	if (!w->max_bytes || used <= w->max_bytes)
		return 0;
	w->failed = true;
	return error_set(err, -EFBIG,
			 "cannot write \"%s\": the symbols of the kernel and what else comes "
			 "before the events take %llu bytes, and it may have only %llu",
			 w->path, (unsigned long long)used, (unsigned long long)w->max_bytes);
}
