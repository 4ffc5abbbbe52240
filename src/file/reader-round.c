// SPDX-License-Identifier: GPL-2.0-only
/*
 * When events may leave the merge. perf ends each pass over its rings with FINISHED_ROUND: what the
 * pass before has shown is then complete, so everything up to that pass's latest time may go. Files
 * without such marks are either sorted already (many changes of CPU, time never goes back: a short
 * window is enough) or small; beyond a bound of bytes held the events go in any case. Ticks are
 * made of the stream's own time, unless the recording has its own.
 */
#include "kernel.h"
#include "kontend/thisboot.h"
#include "reader-int.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

enum {
	SECOND_NS = 1000000000,
	TICKS = 100,
	MOST_TICKS = 4096, /* in one round: a gap of years is no reason to draw for years */
	SORTED_RUNS = 64,
	SORTED_BYTES = 1 << 20,
	MAPPED_BYTES = 256 << 20,
	HEAP_BYTES = 64 << 20,
};

void reader_finished_round(struct reader *r)
{
	if (r->flow.prev_max_time)
		r->round_until = r->flow.prev_max_time;
	r->flow.prev_max_time = r->flow.max_time;
	r->flow.has_rounds = true;
	r->flow.window_bytes = r->flow.window_runs = 0;
}

void reader_window(struct reader *r, size_t bytes, bool ring_changed)
{
	r->flow.window_bytes += bytes;
	r->flow.window_runs += ring_changed;
	bool sorted = !r->flow.has_rounds && !r->is_own && r->flow.is_sorted &&
		      r->flow.window_runs >= SORTED_RUNS && r->flow.window_bytes >= SORTED_BYTES;
	bool full = r->flow.window_bytes >= MAPPED_BYTES || r->stat.held_bytes >= HEAP_BYTES;
	if (!sorted && !(full && r->flow.window_bytes >= HEAP_BYTES / 2))
		return;
	bool had_rounds = r->flow.has_rounds;
	reader_finished_round(r);
	r->flow.has_rounds = had_rounds;
}

static int say(struct reader *r, enum record_kind kind, uint64_t time)
{
	return reader_queue_copy(r, kind, 0, &time, sizeof(time)) ? -ENOMEM : 1;
}

/* Every tick walks the model, so a long recording has about as many as a screen has columns. */
static uint64_t tick_of(const struct reader *r)
{
	const uint64_t *t = r->features.sample_time;
	uint64_t seconds = 1;

	if (r->asked_tick_ns)
		return r->asked_tick_ns;
	if (t[0] && t[1] > t[0])
		seconds += (t[1] - t[0]) / SECOND_NS / TICKS;
	return seconds * SECOND_NS;
}

int reader_round(struct reader *r)
{
	uint64_t until = r->round_until;

	if (until == READER_NONE)
		return 0;
	if (!r->symbols_done)
		return reader_symbols(r) ? -ENOMEM : 1;
	if (!r->is_own || r->asked_tick_ns) {
		uint64_t tick = tick_of(r);
		if (!r->flow.next_tick)
			r->flow.next_tick = r->flow.first_time + tick;
		if (r->flow.next_tick <= until && (until - r->flow.next_tick) / tick > MOST_TICKS)
			r->flow.next_tick = until - (until - r->flow.next_tick) % tick;
		if (r->flow.next_tick <= until && r->flow.next_tick >= r->flow.first_time) {
			r->flow.next_tick += tick;
			return say(r, RECORD_TICK, r->flow.next_tick - tick);
		}
	}
	r->round_until = READER_NONE;
	r->flow.said_until = until;
	return say(r, RECORD_ROUND, until);
}

/* What stands at the end: whatever still waits leaves, and the last bucket is closed. */
int reader_finish(struct reader *r)
{
	int e = reader_symbols(r);
	bool first = !r->finished;

	r->finished = true;
	if (!e && first && r->stat.bad_records)
		e = reader_note(r,
				"%llu records of \"%s\" could not be read, the first one at byte "
				"%llu",
				(unsigned long long)r->stat.bad_records, r->path,
				(unsigned long long)r->bad_at);
	if (!e && first && r->stat.unknown_records)
		e = reader_note(r, "%llu records of \"%s\" are of types not known and were skipped",
				(unsigned long long)r->stat.unknown_records, r->path);
	if (!e && r->flow.max_time > r->flow.said_until)
		e = say(r, RECORD_TICK, r->flow.max_time);
	if (e > 0)
		e = say(r, RECORD_ROUND, r->flow.max_time);
	return e < 0 ? e : 0;
}

/*
 * perf says what time it was on request only. But a file that was finished when, by this boot's
 * clock, its last sample was taken, on a host of this name with this kernel, is of this boot: then
 * its processes and files are those of here.
 */
static void find_wall_clock(const struct reader *r, struct record_host *h)
{
	const struct features *f = &r->features;
	uint64_t last = f->sample_time[1], written;
	struct utsname u;
	struct stat st;

	if (h->wall_ns || !last || r->in_memory || fstat(r->fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    uname(&u) < 0 || strcmp(u.nodename, f->hostname) != 0)
		return;
	written = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
	if (thisboot_saw(f->release, written, last))
		h->wall_ns = written - (last - h->clock_ns);
}

/* The header was copied from another file, or was made from other samples: it says nothing. */
static void check_span(struct reader *r)
{
	uint64_t *t = r->features.sample_time;

	if (t[1] < t[0] || r->flow.first_time > t[1])
		t[0] = t[1] = 0;
}

int reader_begin(struct reader *r)
{
	struct record_host host;

	if (r->host_done)
		return 0;
	r->host_done = true;
	if (r->is_own)
		return 0;
	const struct features *f = &r->features;
	check_span(r);
	features_host(f, f->sample_time[0] ? f->sample_time[0] : f->clock_ns, &host);
	find_wall_clock(r, &host);
	return reader_queue_copy(r, RECORD_HOST, 0, &host, sizeof(host));
}

int reader_symbols(struct reader *r)
{
	struct kallsyms_text *text = &r->symbols;
	char why[KERNEL_WHY] = "";
	int e;

	if (r->symbols_done)
		return 0;
	r->symbols_done = true;
	if (r->is_own || r->no_symbols)
		return 0;
	e = kernel_symbols(&r->features, r->kernel_text, text, why);
	if (!e && why[0])
		e = reader_note(r, "\"%s\": no kernel symbols: %s", r->path, why);
	if (!e)
		e = reader_queue(r, RECORD_KALLSYMS, 0, text->text, text->len, NULL);
	if (!e)
		r->queue[r->n_queue - 1].lasts = true;
	return e;
}
