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
#include "kontend/clock.h"
#include "kontend/decode.h"
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
	PIPE_S = 30, /* from the first record of a pipe that is read as it is written */
	SLACK_S = 5, /* perf's clock is not adjusted, as the other clocks are */
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

static size_t trailer_length(const void *ctx, uint64_t id)
{
	const struct reader *r = ctx;
	const uint32_t *index = map64_get(&r->ids, id);

	return index ? r->layouts[*index].trail_size : 0;
}

/* Without the stale bytes that may follow its sample_id; 0: where that is cannot be known. */
static size_t ksymbol_size(const struct reader *r, const uint8_t *p, size_t size)
{
	bool by_id = r->has_identifier && r->n_layouts > 1;

	if (!by_id && (!r->is_uniform || !r->layout.trail_size))
		return 0;
	return decode_ksymbol_size(p, size, by_id ? 0 : r->layout.trail_size, trailer_length, r);
}

/* Bytes up to the end of the record's sample_id; 0: see decode_ksymbol_size(). */
static size_t whole_size(const struct reader *r, const uint8_t *p, uint32_t type, size_t size)
{
	if (type == PERF_RECORD_KSYMBOL)
		return ksymbol_size(r, p, size);
	return type == PERF_RECORD_BPF_EVENT || type == PERF_RECORD_TEXT_POKE ? 0 : size;
}

static bool is_mapping(uint32_t type)
{
	return type == PERF_RECORD_MMAP || type == PERF_RECORD_MMAP2;
}

/* The ring of the record at @p; notes its time. */
static uint32_t ring_of(struct reader *r, const uint8_t *p, uint32_t type, size_t size)
{
	struct place at = {.ring = r->flow.ring};

	if (type == PERF_RECORD_SAMPLE)
		place_sample(r, p, size, &at);
	else
		place_other(r, p, whole_size(r, p, type, size), &at);
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
	/* Mappings of compiled code have the time of its making, which may be before the
	 * measurement. */
	if (!r->flow.first_time && !is_mapping(type))
		r->flow.first_time = at.time;
	return at.ring;
}

static const char kernel_text[] = "[kernel.kallsyms]_text";
static const char kernel_stext[] = "[kernel.kallsyms]_stext"; /* if there is no _text */

/*
 * Is it the mapping of the kernel's code that has @name, of @len bytes with its NUL? If events have
 * build ids, it is an MMAP2.
 */
static bool is_kernel(const uint8_t *p, const struct perf_event_header *h, const char *name,
		      size_t len)
{
	size_t at = HEADER + (h->type == PERF_RECORD_MMAP ? 32 : 64);

	return h->size >= at + len && load_u32(p + HEADER) == UINT32_MAX &&
	       !memcmp(p + at, name, len);
}

static void note_kernel(struct reader *r, const uint8_t *p, const struct perf_event_header *h)
{
	if (is_kernel(p, h, kernel_text, sizeof(kernel_text)))
		r->kernel_text = load_u64(p + HEADER + 24);
	if (is_kernel(p, h, kernel_stext, sizeof(kernel_stext)))
		r->kernel_stext = load_u64(p + HEADER + 24);
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
	if (is_mapping(h.type))
		note_kernel(r, p, &h);
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

/* Hands out the kernel symbols in r->symbols, or the reason why there are none. 0 or -ENOMEM. */
static int queue_kallsyms(struct reader *r, const char *say)
{
	const struct kallsyms_text *text = &r->symbols;
	int e = 0;

	if (*say)
		e = reader_note(r, (struct record_note){.kind = NOTE_NAMES, .offset = NOTE_NOWHERE},
				"%s", say);
	if (e || !text->text)
		return e;
	e = reader_queue(r, RECORD_KALLSYMS, 0, text->text, text->len, NULL);
	if (!e)
		r->queue[r->n_queue - 1].lasts = true;
	return e;
}

/* Of the file that the user has given. 0 or -ENOMEM. */
static int queue_given(struct reader *r, const struct kernel_place *place)
{
	char say[KERNEL_WHY] = "";
	int e = 0;

	if (r->by_kontend)
		snprintf(say, sizeof(say),
			 "The recording has its own kernel symbols: '%s' is not used",
			 r->given.path);
	else
		e = kernel_given_symbols(&r->given, &r->features, place, &r->symbols, say);
	return e ? e : queue_kallsyms(r, say);
}

static bool is_of_this_host(const struct reader *r)
{
	struct utsname u;

	return uname(&u) == 0 && strcmp(u.nodename, r->features.machine.host) == 0;
}

/* CLOCK_REALTIME when the file was written; 0: it is no file of its own. */
static uint64_t written_ns(const struct reader *r)
{
	struct stat st;

	if (r->in_memory || r->is_unpacked || fstat(r->fd, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	return (uint64_t)st.st_mtim.tv_sec * SECOND_NS + (uint64_t)st.st_mtim.tv_nsec;
}

/*
 * Is the recording from this boot? Without the times of its samples (perf record -z, -B and pipes
 * do not write them) three things decide: it is of this host, the running kernel is at the address
 * that was recorded, and its time fits: a file was written after this boot, and after the first
 * record; a pipe has just begun.
 */
static bool is_of_this_boot(const struct reader *r)
{
	const uint64_t slack = (uint64_t)SLACK_S * SECOND_NS, first = r->flow.first_time;
	uint64_t real = clock_ns(CLOCK_REALTIME), now = clock_ns(CLOCK_MONOTONIC),
		 written = written_ns(r);

	if (!first || first > now + slack || r->in_memory || !is_of_this_host(r))
		return false;
	if (written)
		return written + slack > real - now + first;
	return now + slack - first < (uint64_t)PIPE_S * SECOND_NS;
}

/* The clock of this boot gives the time of day: with it processes and files are those of here. */
static int queue_boot(struct reader *r)
{
	struct record_host host;

	if (!is_of_this_boot(r))
		return 0;
	features_host(&r->features, r->flow.first_time, &host);
	if (host.wall_ns)
		return 0;
	host.wall_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC) + r->flow.first_time;
	return reader_queue_copy(r, RECORD_HOST, 0, &host, sizeof(host));
}

/* Before the first round. 0 or -ENOMEM. */
static int queue_symbols(struct reader *r)
{
	const struct kernel_place place = {r->kernel_text ? r->kernel_text : r->kernel_stext,
					   !r->kernel_text};
	/* A file that the user gave, or the folder of the recording, may have others. */
	bool has_others = r->given.path || r->symbols.text;
	struct kallsyms_text aside = {0};
	char why[KERNEL_WHY] = "", say[KERNEL_WHY + 32] = "";
	bool is_here = false;

	if (r->symbols_done)
		return 0;
	r->symbols_done = true;
	if (r->by_kontend)
		return r->given.path ? queue_given(r, &place) : 0;
	if (r->no_symbols)
		return 0;
	int e = kernel_symbols(&r->features, &r->opener, &place, has_others ? &aside : &r->symbols,
			       &is_here, why);
	kallsyms_text_deinit(&aside);
	if (!e && is_here && !r->has_wall)
		e = queue_boot(r);
	if (!e && r->given.path)
		return queue_given(r, &place);
	if (!has_others && *why)
		snprintf(say, sizeof(say), "No kernel symbols: %s", why);
	return e ? e : queue_kallsyms(r, say);
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

/* Is the last bucket open? The last round of perf may have handed out all events already. */
static bool needs_tick(const struct reader *r)
{
	uint64_t last = r->flow.next_tick ? r->flow.next_tick - tick_of(r) : r->flow.first_time;
	bool has_own = r->by_kontend && !r->asked_tick_ns;

	return r->flow.max_time > r->flow.said_until || (!has_own && r->flow.max_time > last);
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
	if (!e && needs_tick(r))
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
	uint64_t last = f->sample_time[1], written = written_ns(r);

	if (!h->wall_ns && last && written && is_of_this_host(r) &&
	    thisboot_saw(f->release, written, last))
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

	if (!*r->features.machine.host || r->has_machine)
		return 0;
	memcpy(body.machine.host, r->features.machine.host, sizeof(body.machine.host));
	return reader_queue_copy(r, RECORD_SNAPSHOT, 0, &body, sizeof(body));
}

/* Names of events and PMUs are part of the stream. */
static int queue_names(struct reader *r)
{
	const struct eventsnap *s = &r->features.events;
	const struct record_snapshot head = {.kind = SNAPSHOT_EVENTS, .version = EVENTSNAP_VERSION};
	size_t len = eventsnap_size(s);

	if ((!s->n_events && !s->n_pmus && !s->n_kinds) || len > RECORD_SNAPSHOT_MOST)
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
	r->has_wall = host.wall_ns != 0;
	int e = reader_queue_copy(r, RECORD_HOST, 0, &host, sizeof(host));
	e = e ? e : queue_names(r);
	return e ? e : queue_machine(r);
}
