// SPDX-License-Identifier: GPL-2.0-only
/*
 * The first pass: walks records by their sizes to find the end of a run of one CPU. perf writes the
 * rings one after the other, so runs are long, and the pass only touches a record's header, time
 * and CPU, on one or two cache lines that the decoder will need soon. If events differ in layout
 * the id selects the right one; if samples have no CPU a ring ends when time goes back.
 *
 * It also decides when events may leave the merge. perf ends each pass over its rings with
 * FINISHED_ROUND: the previous pass is then complete, so everything up to its latest time may
 * leave. Files without such marks are either sorted already (CPU changes often, time never goes
 * back: a short window is enough) or small; above a limit of buffered bytes events leave in any
 * case. Ticks are made from the stream's own time, unless the recording has its own.
 */
#include "kernel.h"
#include "kontend/prefetch.h"
#include "kontend/thisboot.h"
#include "kontend/waitrec.h"
#include "reader.h"
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/utsname.h>

enum {
	HEADER = READER_HEADER,
	MOST_CPUS = 8192, /* higher numbers are damage */
	TALLY_RING = MOST_CPUS,
	OWN_RINGS = MOST_CPUS + 1, /* and above: rings of BPF programs */
	RINGS_BY_TIME = 64,
	AHEAD = 2048, /* bytes: memory is slower than the walk */
	SECOND_NS = 1000000000,
	TICKS = 100,
	MOST_TICKS = 4096, /* in one round: a gap of years must not cause years of ticks */
	SORTED_RUNS = 64,
	SORTED_BYTES = 1 << 20,
	MAPPED_BYTES = 256 << 20,
	HEAP_BYTES = 64 << 20,
};

struct place {
	uint64_t time;
	uint32_t ring;
};

/*
 * Records written by BPF have a ring of their own beside the perf ring of their CPU; a bit that is
 * never set in the kernel's records marks them.
 */
static uint32_t ring_number(uint32_t cpu, uint64_t head)
{
	cpu = cpu < MOST_CPUS ? cpu : 0;
	return cpu + (head >> 32 & WAITREC_REPORTS_GAPS ? (uint32_t)OWN_RINGS : 0);
}

static const struct reader_layout *layout_of(const struct reader *r, uint64_t id)
{
	const uint32_t *index = r->is_uniform ? NULL : map64_get(&r->ids, id);

	return index ? &r->layouts[*index] : &r->layout;
}

static void place_sample(const struct reader *r, const uint8_t *p, size_t size, struct place *ret)
{
	const struct reader_layout *l = &r->layout;

	if (!r->is_uniform && r->has_identifier && size >= HEADER + 8)
		l = layout_of(r, load_u64(p + HEADER));
	if (size < l->fixed)
		return;
	if (l->off_time)
		ret->time = load_u64(p + l->off_time);
	if (l->off_cpu)
		ret->ring = ring_number(load_u32(p + l->off_cpu), load_u64(p));
}

static void place_other(const struct reader *r, const uint8_t *p, size_t size, struct place *ret)
{
	const struct reader_layout *l = &r->layout;

	if (!r->is_uniform && r->has_identifier && size >= HEADER + 8)
		l = layout_of(r, load_u64(p + size - 8));
	if (size < HEADER + (size_t)l->trail_size)
		return;
	if (l->trail_time)
		ret->time = load_u64(p + size - l->trail_time);
	if (l->trail_cpu)
		ret->ring = ring_number(load_u32(p + size - l->trail_cpu), 0);
}

/*
 * Does the record end with the sample_id that its layout says? If several events get one of the
 * other types, the kernel makes the record longer for each of them without writing more (Linux 5.1
 * to 6.18 at least: perf_event_ksymbol_output() and similar functions do not reset the size): the
 * end of such a record is stale bytes of the ring.
 */
static bool has_trailer(uint32_t type)
{
	return type != PERF_RECORD_KSYMBOL && type != PERF_RECORD_BPF_EVENT &&
	       type != PERF_RECORD_TEXT_POKE;
}

/* May it be of a time before the measurement? Mappings of compiled code have that of its making. */
static bool is_of_before(uint32_t type)
{
	return type == PERF_RECORD_MMAP || type == PERF_RECORD_MMAP2;
}

/* The ring of the record at @p; notes its time. */
static uint32_t ring_of(struct reader *r, const uint8_t *p, uint32_t type, size_t size)
{
	struct place at = {.ring = r->flow.ring};

	if (type == PERF_RECORD_SAMPLE)
		place_sample(r, p, size, &at);
	else if (has_trailer(type))
		place_other(r, p, size, &at);
	/* A total of lost samples from the end of the session: it is passed on before anything that
	 * is still in the merge. */
	if (type == PERF_RECORD_LOST_SAMPLES && !at.time)
		return TALLY_RING;
	/* No clock reaches such a time: it is damage, and the decoder counts it. */
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
	if (!r->flow.first_time && !is_of_before(type))
		r->flow.first_time = at.time;
	return at.ring;
}

static const char kernel_text[] = "[kernel.kallsyms]_text";
static const char kernel_stext[] = "[kernel.kallsyms]_stext"; /* if there is no _text */

/* Is it the mapping of the kernel's code that has @name, of @len bytes with its NUL? */
static bool is_kernel(const uint8_t *p, size_t size, const char *name, size_t len)
{
	return size >= HEADER + 32 + len && load_u32(p + HEADER) == UINT32_MAX &&
	       !memcmp(p + HEADER + 32, name, len);
}

/* Returns READER_STOP_RUN if the record at @p may be part of a run. */
static enum reader_stop classify(struct reader *r, const uint8_t *p, size_t left, size_t *ret_size)
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
	if (h.type == PERF_RECORD_MMAP && is_kernel(p, h.size, kernel_text, sizeof(kernel_text)))
		r->kernel_text = load_u64(p + HEADER + 24);
	if (h.type == PERF_RECORD_MMAP && is_kernel(p, h.size, kernel_stext, sizeof(kernel_stext)))
		r->kernel_stext = load_u64(p + HEADER + 24);
	if (r->by_kontend && h.type == PERF_RECORD_SAMPLE && h.size >= HEADER + 8 &&
	    load_u64(p + HEADER) == PERFDATA_EXT_ID)
		return READER_STOP_EXT;
	return READER_STOP_RUN;
}

/*
 * The same as the loop below, for the most frequent case: consecutive samples of one layout and one
 * CPU. Stops at the first other record.
 */
static const uint8_t *skip_samples(struct reader *r, const uint8_t *p, const uint8_t *edge,
				   const uint8_t *end)
{
	const struct reader_layout l = r->layout;
	uint64_t last = r->flow.last_time, max = r->flow.max_time,
		 ours = r->by_kontend ? PERFDATA_EXT_ID : 0;
	bool sorted = r->flow.is_sorted;

	if (!r->is_uniform || !l.off_time || !l.off_cpu || !r->flow.first_time)
		return p;
	while (p < edge && end - p >= l.fixed) {
		uint64_t head = load_u64(p), size = head >> 48, time = load_u64(p + l.off_time);
		bool plain = (uint32_t)head == PERF_RECORD_SAMPLE && size >= l.fixed &&
			     size % 8 == 0 && size <= (size_t)(end - p) &&
			     ring_number(load_u32(p + l.off_cpu), head) == r->flow.ring &&
			     time - 1 < INT64_MAX && load_u64(p + HEADER) != ours;
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

void reader_finished_round(struct reader *r)
{
	if (r->flow.prev_max_time)
		r->round_until = r->flow.prev_max_time;
	r->flow.prev_max_time = r->flow.max_time;
	r->flow.has_rounds = true;
	r->flow.window_bytes = r->flow.window_runs = 0;
}

static void add_to_window(struct reader *r, size_t bytes, bool ring_changed)
{
	r->flow.window_bytes += bytes;
	r->flow.window_runs += ring_changed;
	bool sorted = !r->flow.has_rounds && !r->by_kontend && r->flow.is_sorted &&
		      r->flow.window_runs >= SORTED_RUNS && r->flow.window_bytes >= SORTED_BYTES;
	bool full = r->flow.window_bytes >= MAPPED_BYTES || r->stat.held_bytes >= HEAP_BYTES;
	if (!sorted && !(full && r->flow.window_bytes >= HEAP_BYTES / 2))
		return;
	bool had_rounds = r->flow.has_rounds;
	reader_finished_round(r);
	r->flow.has_rounds = had_rounds;
}

enum reader_stop reader_scan(struct reader *r, struct reader_region *g, struct reader_run *ret)
{
	const uint8_t *from = g->pos, *p = from;
	const uint8_t *edge = g->block->from + g->block->len;
	enum reader_stop stop = READER_STOP_RUN;
	size_t size = 0;
	uint32_t ring = r->flow.ring;
	bool changed = false;

	while (p < edge) {
		stop = classify(r, p, (size_t)(g->end - p), &size);
		if (stop != READER_STOP_RUN)
			break;
		ring = ring_of(r, p, load_u32(p), size);
		if (p == from)
			r->flow.ring = ring;
		changed = ring != r->flow.ring;
		if (changed)
			break;
		p = skip_samples(r, p + size, edge, g->end);
	}
	*ret = (struct reader_run){
		.from = from, .len = p > from ? (size_t)(p - from) : size, .ring = r->flow.ring};
	g->pos = p;
	if (changed)
		r->flow.ring = ring;
	if (p > from)
		add_to_window(r, ret->len, changed);
	return p > from ? READER_STOP_RUN : stop;
}

static int queue_time(struct reader *r, enum record_kind kind, uint64_t time)
{
	return reader_queue_copy(r, kind, 0, &time, sizeof(time)) ? -ENOMEM : 1;
}

/* Of the file that the user has given. 0 or -ENOMEM. */
static int queue_given(struct reader *r)
{
	const struct kernel_place place = {r->kernel_text ? r->kernel_text : r->kernel_stext,
					   !r->kernel_text};
	char say[KERNEL_WHY] = "";
	int e = 0;

	if (r->by_kontend)
		snprintf(say, sizeof(say),
			 "The recording has its own kernel symbols: '%s' is not used",
			 r->given.path);
	else
		e = kernel_given_symbols(&r->given, &r->features, &place, &r->symbols, say);
	if (!e)
		e = reader_note(r, (struct record_note){.kind = NOTE_NAMES, .offset = NOTE_NOWHERE},
				"%s", say);
	if (e || !r->symbols.text)
		return e;
	e = reader_queue(r, RECORD_KALLSYMS, 0, r->symbols.text, r->symbols.len, NULL);
	if (!e)
		r->queue[r->n_queue - 1].lasts = true;
	return e;
}

/* Before the first round. 0 or -ENOMEM. */
static int queue_symbols(struct reader *r)
{
	struct kallsyms_text *text = &r->symbols;
	char why[KERNEL_WHY] = "";
	int e;

	if (r->symbols_done)
		return 0;
	r->symbols_done = true;
	if (r->given.path)
		return queue_given(r);
	if (r->by_kontend || r->no_symbols)
		return 0;
	/* A folder may have brought them. */
	e = text->text ? 0 : kernel_symbols(&r->features, &r->opener, r->kernel_text, text, why);
	if (!e && why[0])
		e = reader_note(r, (struct record_note){.kind = NOTE_NAMES, .offset = NOTE_NOWHERE},
				"No kernel symbols: %s", why);
	if (!e)
		e = reader_queue(r, RECORD_KALLSYMS, 0, text->text, text->len, NULL);
	if (!e)
		r->queue[r->n_queue - 1].lasts = true;
	return e;
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
	/* Nothing was measured yet: no round or tick is to say when it began. */
	if (!r->by_kontend && (!r->flow.first_time || until < r->flow.first_time)) {
		r->round_until = READER_NONE;
		return 0;
	}
	if (!r->symbols_done)
		return queue_symbols(r) ? -ENOMEM : 1;
	if (!r->by_kontend || r->asked_tick_ns) {
		uint64_t tick = tick_of(r);
		if (!r->flow.next_tick)
			r->flow.next_tick = r->flow.first_time + tick;
		if (r->flow.next_tick <= until && (until - r->flow.next_tick) / tick > MOST_TICKS)
			r->flow.next_tick = until - (until - r->flow.next_tick) % tick;
		if (r->flow.next_tick <= until && r->flow.next_tick >= r->flow.first_time) {
			r->flow.next_tick += tick;
			return queue_time(r, RECORD_TICK, r->flow.next_tick - tick);
		}
	}
	r->round_until = READER_NONE;
	r->flow.said_until = until;
	return queue_time(r, RECORD_ROUND, until);
}

/* At the end of the input all waiting records leave, and the last bucket is closed. */
int reader_finish(struct reader *r)
{
	int e = queue_symbols(r);
	bool first = !r->finished;

	r->finished = true;
	if (!e && first && r->stat.bad_records)
		e = reader_note(r, reader_damage(r->bad_at, r->stat.bad_records),
				"%llu records could not be read, the first one at byte %llu",
				(unsigned long long)r->stat.bad_records,
				(unsigned long long)r->bad_at);
	if (!e && first && r->stat.unknown_records)
		e = reader_note(r,
				(struct record_note){.kind = NOTE_UNKNOWN, .offset = NOTE_NOWHERE},
				"%llu records are of types not known and were skipped",
				(unsigned long long)r->stat.unknown_records);
	if (!e && r->flow.max_time > r->flow.said_until)
		e = queue_time(r, RECORD_TICK, r->flow.max_time);
	if (e > 0)
		e = queue_time(r, RECORD_ROUND, r->flow.max_time);
	return e < 0 ? e : 0;
}

/*
 * perf records the time of day on request only. But if the file was finished when its last sample
 * was taken by the clock of this boot, on a host with this name and kernel, it is from this boot:
 * then its processes and files are those of this system.
 */
static void find_wall_clock(const struct reader *r, struct record_host *h)
{
	const struct features *f = &r->features;
	uint64_t last = f->sample_time[1], written;
	struct utsname u;
	struct stat st;

	if (h->wall_ns || !last || r->in_memory || r->is_unpacked || fstat(r->fd, &st) < 0 ||
	    !S_ISREG(st.st_mode) || uname(&u) < 0 || strcmp(u.nodename, f->hostname) != 0)
		return;
	written = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
	if (thisboot_saw(f->release, written, last))
		h->wall_ns = written - (last - h->clock_ns);
}

/* If the header was copied from another file or describes other samples, its times are not used. */
static void check_span(struct reader *r)
{
	uint64_t *t = r->features.sample_time;

	if (t[1] < t[0] || r->flow.first_time > t[1])
		t[0] = t[1] = 0;
}

/* perf records only the name of the machine, and so did the first versions of kontend. */
static int queue_machine(struct reader *r)
{
	struct {
		struct record_snapshot head;
		struct record_machine machine;
	} body = {.head = {.kind = SNAPSHOT_MACHINE, .version = RECORD_MACHINE_VERSION}};

	if (!*r->features.hostname || r->has_machine)
		return 0;
	memcpy(body.machine.host, r->features.hostname, sizeof(body.machine.host));
	return reader_queue_copy(r, RECORD_SNAPSHOT, 0, &body, sizeof(body));
}

/* Names of events and PMUs are part of the stream. */
static int queue_names(struct reader *r)
{
	const struct eventsnap *s = &r->features.events;
	const struct record_snapshot head = {.kind = SNAPSHOT_EVENTS, .version = EVENTSNAP_VERSION};
	size_t len = eventsnap_size(s);

	if ((!s->n_events && !s->n_pmus) || len > RECORD_SNAPSHOT_MOST)
		return 0;
	struct reader_block *b = reader_block_new(r, sizeof(head) + len);
	if (!b)
		return -ENOMEM;
	memcpy(b->heap, &head, sizeof(head));
	eventsnap_encode(s, b->heap + sizeof(head));
	return reader_queue(r, RECORD_SNAPSHOT, 0, b->heap, sizeof(head) + len, b);
}

int reader_begin(struct reader *r)
{
	struct record_host host;

	if (r->host_done)
		return 0;
	r->host_done = true;
	if (r->by_kontend)
		return queue_machine(r);
	const struct features *f = &r->features;
	check_span(r);
	features_host(f, f->sample_time[0] ? f->sample_time[0] : f->clock_ns, &host);
	find_wall_clock(r, &host);
	int e = reader_queue_copy(r, RECORD_HOST, 0, &host, sizeof(host));
	e = e ? e : queue_names(r);
	return e ? e : queue_machine(r);
}
