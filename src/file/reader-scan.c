// SPDX-License-Identifier: GPL-2.0-only
/*
 * The first pass: walks records by their sizes to find where a run of one CPU ends. perf writes the
 * rings one after the other, so runs are long, and all that is touched of a record is its header,
 * its time and its CPU, on one or two cache lines that the decoder will want soon. Where events
 * differ in layout the id finds the right one; where samples have no CPU a ring ends when time goes
 * back.
 */
#include "kontend/prefetch.h"
#include "reader-int.h"

enum {
	HEADER = sizeof(struct perf_event_header),
	MOST_CPUS = 8192, /* beyond, a number is damage */
	TALLY_RING = MOST_CPUS,
	RINGS_BY_TIME = 64,
	AHEAD = 2048, /* bytes: memory is slower than the walk */
};

struct place {
	uint64_t time;
	uint32_t ring;
};

static const struct reader_layout *layout_of(const struct reader *r, uint64_t id)
{
	const uint32_t *index = r->is_uniform ? NULL : map64_get(&r->ids, id);

	return index ? &r->layouts[*index] : &r->layout;
}

static void place_sample(const struct reader *r, const uint8_t *p, size_t size, struct place *ret)
{
	const struct reader_layout *l = &r->layout;

	if (!r->is_uniform && r->has_identifier && size >= HEADER + 8)
		l = layout_of(r, reader_u64(p + HEADER));
	if (size < l->fixed)
		return;
	if (l->off_time)
		ret->time = reader_u64(p + l->off_time);
	if (l->off_cpu)
		ret->ring = reader_u32(p + l->off_cpu);
}

static void place_other(const struct reader *r, const uint8_t *p, size_t size, struct place *ret)
{
	const struct reader_layout *l = &r->layout;

	if (!r->is_uniform && r->has_identifier && size >= HEADER + 8)
		l = layout_of(r, reader_u64(p + size - 8));
	if (size < HEADER + (size_t)l->trail_size)
		return;
	if (l->trail_time)
		ret->time = reader_u64(p + size - l->trail_time);
	if (l->trail_cpu)
		ret->ring = reader_u32(p + size - l->trail_cpu);
}

/*
 * Does the record end with the sample_id that its layout says? For each event that gets one of the
 * others, the kernel makes the record longer without writing so much (Linux 5.1 to 6.18 at least:
 * perf_event_ksymbol_output() and its like do not set the size back): what stands there is any old
 * bytes of the ring.
 */
static bool has_trailer(uint32_t type)
{
	return type != PERF_RECORD_KSYMBOL && type != PERF_RECORD_BPF_EVENT &&
	       type != PERF_RECORD_TEXT_POKE;
}

/* The ring of the record at @p; notes its time. */
static uint32_t ring_of(struct reader *r, const uint8_t *p, uint32_t type, size_t size)
{
	struct place at = {.ring = r->flow.ring};

	if (type == PERF_RECORD_SAMPLE)
		place_sample(r, p, size, &at);
	else if (has_trailer(type))
		place_other(r, p, size, &at);
	/* What was lost in all, as said at the end: to be known before what is not merged yet. */
	if (type == PERF_RECORD_LOST_SAMPLES && !at.time)
		return TALLY_RING;
	if (at.ring >= MOST_CPUS)
		at.ring = 0;
	/* No clock comes that far: it is damage, and the decoder counts it. */
	if (!at.time || at.time > INT64_MAX)
		return at.ring;
	if (at.time < r->flow.last_time) {
		if (!r->layout.off_cpu)
			at.ring = (r->flow.ring + 1) % RINGS_BY_TIME;
		r->flow.is_sorted = false;
	}
	r->flow.last_time = at.time;
	if (at.time > r->flow.max_time)
		r->flow.max_time = at.time;
	if (!r->flow.first_time)
		r->flow.first_time = at.time;
	return at.ring;
}

static bool is_kernel_text(const uint8_t *p, size_t size)
{
	static const char name[] = "[kernel.kallsyms]_text";

	return size >= HEADER + 32 + sizeof(name) && reader_u32(p + HEADER) == UINT32_MAX &&
	       !memcmp(p + HEADER + 32, name, sizeof(name));
}

/* Answers READER_STOP_RUN when the record at @p may be part of a run. */
static enum reader_stop look(struct reader *r, const uint8_t *p, size_t left, size_t *ret_size)
{
	struct perf_event_header h;

	if (left < HEADER)
		return READER_STOP_MORE;
	memcpy(&h, p, sizeof(h));
	*ret_size = h.size;
	if (h.size < HEADER)
		return READER_STOP_BAD;
	if (h.size > left)
		return READER_STOP_MORE;
	if (h.type >= PERFDATA_TYPE_USER)
		return READER_STOP_USER;
	if (h.size % 8)
		return READER_STOP_BAD;
	if (h.type == PERF_RECORD_MMAP && is_kernel_text(p, h.size))
		r->kernel_text = reader_u64(p + HEADER + 24);
	if (r->is_own && h.type == PERF_RECORD_SAMPLE && h.size >= HEADER + 8 &&
	    reader_u64(p + HEADER) == PERFDATA_OWN_ID)
		return READER_STOP_OWN;
	return READER_STOP_RUN;
}

/*
 * The same as the loop below, for what nearly all of a recording is: samples of one layout and one
 * CPU that follow each other. Leaves off at the first record that is anything else.
 */
static const uint8_t *skip_samples(struct reader *r, const uint8_t *p, const uint8_t *edge,
				   const uint8_t *end)
{
	const struct reader_layout l = r->layout;
	uint64_t last = r->flow.last_time, max = r->flow.max_time,
		 own = r->is_own ? PERFDATA_OWN_ID : 0;
	bool sorted = r->flow.is_sorted;

	if (!r->is_uniform || !l.off_time || !l.off_cpu || !r->flow.first_time)
		return p;
	while (p < edge && end - p >= l.fixed) {
		uint64_t head = reader_u64(p), size = head >> 48, time = reader_u64(p + l.off_time);
		bool plain = (uint32_t)head == PERF_RECORD_SAMPLE && size >= l.fixed &&
			     size % 8 == 0 && size <= (size_t)(end - p) &&
			     reader_u32(p + l.off_cpu) == r->flow.ring && time - 1 < INT64_MAX &&
			     reader_u64(p + HEADER) != own;
		if (!plain)
			break;
		prefetch_record(p + AHEAD);
		sorted &= time >= last;
		last = time;
		max = time > max ? time : max;
		p += size;
	}
	r->flow.last_time = last;
	r->flow.max_time = max;
	r->flow.is_sorted = sorted;
	return p;
}

enum reader_stop reader_scan(struct reader *r, struct reader_region *g, struct reader_run *ret)
{
	const uint8_t *from = g->pos, *p = from;
	const uint8_t *edge = g->block->from + g->block->len;
	enum reader_stop stop = READER_STOP_RUN;
	uint32_t ring = r->flow.ring;
	bool changed = false;

	while (p < edge) {
		size_t size;

		stop = look(r, p, (size_t)(g->end - p), &size);
		if (stop != READER_STOP_RUN)
			break;
		ring = ring_of(r, p, reader_u32(p), size);
		if (p == from)
			r->flow.ring = ring;
		changed = ring != r->flow.ring;
		if (changed)
			break;
		p = skip_samples(r, p + size, edge, g->end);
	}
	*ret = (struct reader_run){.from = from, .len = (size_t)(p - from), .ring = r->flow.ring};
	g->pos = p;
	if (changed)
		r->flow.ring = ring;
	if (p > from)
		reader_window(r, ret->len, changed);
	return p > from ? READER_STOP_RUN : stop;
}
