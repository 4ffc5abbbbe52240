// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each CPU has its own rows, which only its programs write and which are mapped here. A snapshot
 * adds up the rows of all CPUs with the same flags and call chain. A row keeps its place in all
 * later snapshots, so that a reader can subtract one snapshot from the next. Waits without room for
 * a row, on a CPU or here, are in the row of their flags without a call chain, so that sums of
 * types are exact.
 *
 * A thread searches the slots for long waits that have not ended, and lets a program report them,
 * on the CPU on which they began. If kontend has a limit of CPU time, the thread also reads its
 * cost and chooses which waits are reported (governor.c).
 */
#include "bpf-run.h"
#include "governor.h"
#include "internal.h"
#include "kontend/clock.h"
#include "kontend/map64.h"
#include "kontend/mem.h"
#include "kontend/shortsnap.h"
#include "short-shared.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000ull

enum { SWEEP_MS = 40, SAY_MOST = 256 };

/* A shorter wait is soon reported anyway, by its end. */
static const uint64_t SAY_NS = 30 * MS;
/* A program that has read the old level has ended by then. */
static const uint64_t SETTLED_NS = 20 * MS;

/* Used by the thread only. */
struct sweeps {
	uint64_t last_ns;
	uint32_t unreported; /* waits that it has seen so far */
};

/* The current level of reports, and its begin. */
struct short_now {
	uint64_t threshold_ns, since_ns, spent_ns[SHORTSNAP_LEVELS], n_changes, most_ns;
	uint32_t level, cost_ppm, event_ps;
};

struct shorts {
	struct short_options options;
	uint32_t n_cpus;
	struct short_control *control;
	struct short_slot *slots;
	const struct short_row *rows;
	const struct short_cpu *cpus;
	int say;
	struct governor governor;
	atomic_uint most;     /* highest step */
	pthread_mutex_t lock; /* of `now` */
	struct short_now now;
	struct bpf_thread thread;
	/* Used by the maker of snapshots only. */
	uint64_t from_ns;
	struct map64 index; /* key -> row + 1 */
	struct shortsnap_head *payload;
	uint32_t n_rows;
	uint64_t parts[SHORTSNAP_PARTS][SHORTSNAP_ROWS]; /* of rows: they come below them */
};

static const size_t PAYLOAD =
	sizeof(struct shortsnap_head) +
	SHORTSNAP_ROWS * (sizeof(struct shortsnap_row) + SHORTSNAP_PARTS * sizeof(uint64_t));

/* In mapped maps the values follow each other, in whole pages. */
static size_t rows_bytes(uint32_t n_cpus)
{
	return (size_t)n_cpus * SHORT_ROWS * sizeof(struct short_row);
}

static size_t cpus_bytes(uint32_t n_cpus)
{
	return n_cpus * sizeof(struct short_cpu);
}

int short_prepare(struct bpf_object *o, uint32_t n_cpus)
{
	struct bpf_map *slots = bpf_object__find_map_by_name(o, "short_slots");
	struct bpf_map *rows = bpf_object__find_map_by_name(o, "short_rows");
	struct bpf_map *cpus = bpf_object__find_map_by_name(o, "short_cpus");
	struct bpf_program *say = bpf_object__find_program_by_name(o, "say_wait");

	if (!slots || !rows || !cpus || !say)
		return -ENOENT;
	if (!n_cpus)
		return bpf_program__set_autoload(say, false);
	int code = bpf_map__set_max_entries(slots, SHORT_SLOTS);
	code = code < 0 ? code : bpf_map__set_max_entries(rows, n_cpus * SHORT_ROWS);
	return code < 0 ? code : bpf_map__set_max_entries(cpus, n_cpus);
}

/* Sets which waits are reported from now on. */
static void set_level(struct shorts *s, uint32_t level, uint64_t threshold_ns)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	pthread_mutex_lock(&s->lock);
	struct short_now *n = &s->now;
	if (n->since_ns)
		n->spent_ns[n->level] += now - n->since_ns;
	n->n_changes += n->since_ns != 0;
	n->since_ns = now;
	n->level = level;
	n->threshold_ns = threshold_ns;
	if (threshold_ns > n->most_ns)
		n->most_ns = threshold_ns;
	pthread_mutex_unlock(&s->lock);
	/*
	 * A wait that was timed and ends while durations are not requested is summed up as before.
	 */
	if (level != SHORTSNAP_COUNTS)
		__atomic_store_n(&s->control->threshold_ns, threshold_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&s->control->counts, level == SHORTSNAP_COUNTS, __ATOMIC_RELEASE);
}

static void set_step(struct shorts *s, unsigned step)
{
	uint64_t ns = governor_threshold_ns(step);

	/* The requested threshold may be none of those of steps. */
	if (step && step == s->governor.least)
		ns = s->options.threshold_ns;
	set_level(s,
		  step == GOVERNOR_COUNTS ? SHORTSNAP_COUNTS
		  : ns			  ? SHORTSNAP_THRESHOLD
					  : SHORTSNAP_ALL,
		  ns);
}

static void emit_sums(const struct shorts *s, uint32_t slot, uint32_t cpu)
{
	const uint64_t args[12] = {slot};
	struct bpf_test_run_opts opts = {
		.sz = sizeof(opts),
		.ctx_in = args,
		.ctx_size_in = sizeof(args),
		.flags = BPF_F_TEST_RUN_ON_CPU,
		.cpu = cpu,
	};

	/* If it fails, since the CPU is offline, the end of the wait is reported. */
	(void)bpf_prog_test_run_opts(s->say, &opts);
}

/* Reports long waits that have not ended. Returns how many continue unreported. */
static uint32_t sweep(const struct shorts *s, uint64_t now)
{
	uint64_t least = s->now.threshold_ns > SAY_NS ? s->now.threshold_ns : SAY_NS;
	uint32_t said = 0, unreported = 0;

	for (uint32_t i = 0; i < SHORT_SLOTS && said < SAY_MOST; i++) {
		const volatile struct short_slot *w = &s->slots[i];
		uint64_t begin;

		if (w->owner >> 32 != SHORT_UNREPORTED)
			continue;
		unreported++;
		begin = w->begin_ns;
		if (!begin || now < begin || now - begin < least)
			continue;
		emit_sums(s, i, w->cpu);
		said++;
	}
	return unreported;
}

static struct governor_look read_costs(const struct shorts *s)
{
	struct governor_look l = {.now_ns = clock_ns(CLOCK_MONOTONIC),
				  .own_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID)};

	for (uint32_t i = 0; i < s->n_cpus; i++) {
		const volatile struct short_cpu *c = &s->cpus[i];
		l.events += c->events;
		l.timed += c->timed;
		l.timed_ns += c->timed_ns;
		l.reported += c->reported;
	}
	return l;
}

/* Milliseconds until the next time. */
static int govern(struct shorts *s)
{
	const struct governor_look l = read_costs(s);

	bool stepped = governor_bound(&s->governor, atomic_load(&s->most), &l);

	stepped = governor_step(&s->governor, &l) || stepped;
	pthread_mutex_lock(&s->lock);
	s->now.cost_ppm = s->governor.cost_ppm;
	s->now.event_ps = s->governor.is_timed ? s->governor.event_ps : 0;
	pthread_mutex_unlock(&s->lock);
	if (stepped)
		set_step(s, s->governor.step);
	return (int)governor_period_ms(&s->governor);
}

/* If each begin is reported, no wait is searched; but some that began earlier may continue. */
static bool is_to_be_swept(const struct shorts *s, const struct sweeps *w, uint64_t now)
{
	if (now - w->last_ns < (SWEEP_MS - 1) * MS)
		return false;
	return s->now.level != SHORTSNAP_ALL || w->unreported ||
	       w->last_ns < s->now.since_ns + SETTLED_NS;
}

static void *run(void *arg)
{
	struct shorts *s = arg;
	struct sweeps w = {0};
	int ms = SWEEP_MS;

	bpf_thread_begin();
	while (bpf_thread_goes_on(&s->thread)) {
		uint64_t now = clock_ns(CLOCK_MONOTONIC);
		if (s->options.target_ppm)
			ms = govern(s);
		if (is_to_be_swept(s, &w, now))
			w = (struct sweeps){.last_ns = now, .unreported = sweep(s, now)};
		bpf_thread_sleep(&s->thread, ms);
	}
	return NULL;
}

static int find_maps(struct shorts *s, struct bpf_object *o, struct error *err)
{
	s->say = bpf_run_program(o, "say_wait", err);
	if (s->say < 0)
		return s->say;
	s->control =
		bpf_run_map(o, "short_control", sizeof(*s->control), PROT_READ | PROT_WRITE, err);
	s->slots = bpf_run_map(o, "short_slots", SHORT_SLOTS * sizeof(*s->slots), PROT_READ, err);
	s->rows = bpf_run_map(o, "short_rows", rows_bytes(s->n_cpus), PROT_READ, err);
	s->cpus = bpf_run_map(o, "short_cpus", cpus_bytes(s->n_cpus), PROT_READ, err);
	return s->control && s->slots && s->rows && s->cpus ? 0 : err->code;
}

int short_new(struct shorts **ret, struct bpf_object *o, uint32_t n_cpus,
	      const struct short_options *options, struct error *err)
{
	struct shorts *s = mem_calloc(1, sizeof(*s));

	if (!s)
		return error_enomem(err, "sums of short waits");
	pthread_mutex_init(&s->lock, NULL);
	s->options = *options;
	s->n_cpus = n_cpus;
	s->payload = mem_calloc(1, PAYLOAD);
	int code = bpf_thread_init(&s->thread, err);
	if (code == 0 && !s->payload)
		code = error_enomem(err, "sums of short waits");
	code = code < 0 ? code : find_maps(s, o, err);
	if (code < 0) {
		short_free(s);
		return code;
	}
	governor_init(&s->governor, options->target_ppm, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN),
		      governor_step_of(options->threshold_ns));
	short_report(s, options->report_ns);
	set_step(s, s->governor.least);
	*ret = s;
	return 0;
}

void short_report(struct shorts *s, uint64_t report_ns)
{
	atomic_store(&s->most, governor_step_reporting(report_ns));
}

int short_start(struct shorts *s, struct error *err)
{
	return bpf_thread_start(&s->thread, run, s, "the thread of short waits", err);
}

void short_stop(struct shorts *s)
{
	if (s)
		bpf_thread_stop(&s->thread);
}

static struct shortsnap_row *row_at(struct shorts *s, uint32_t i)
{
	return (struct shortsnap_row *)(s->payload + 1) + i;
}

/* The row with that key, created if there is room; else that of its flags without a call chain. */
static struct shortsnap_row *row_of(struct shorts *s, uint64_t key, uint32_t flags,
				    const struct short_row *from)
{
	const uint32_t *at = map64_get(&s->index, key);

	if (at)
		return row_at(s, *at - 1);
	/* There is room for one of each flags. */
	bool full = s->n_rows + SHORT_FLAGS >= SHORTSNAP_ROWS && from;
	if (!full && s->n_rows < SHORTSNAP_ROWS && map64_put(&s->index, key, s->n_rows + 1) == 0) {
		struct shortsnap_row *row = row_at(s, s->n_rows++);
		*row = (struct shortsnap_row){.flags = flags};
		row->n_frames = from ? from->n_frames : 0;
		if (from)
			memcpy(row->frames, from->frames, sizeof(row->frames));
		return row;
	}
	return from ? row_of(s, ~(uint64_t)flags, flags, NULL) : NULL;
}

static void add_row(struct shorts *s, struct shortsnap_row *row, const struct short_sum *sum)
{
	if (!row)
		return;
	const size_t at = (size_t)(row - row_at(s, 0));
	row->n += sum->n;
	row->ns += sum->ns;
	s->parts[SHORTSNAP_SPUN][at] += sum->spun_ns;
	s->parts[SHORTSNAP_LOST][at] += sum->lost_ns;
	s->parts[SHORTSNAP_LOST_OF][at] += sum->lost_of_ns;
	s->parts[SHORTSNAP_PAR][at] += sum->par_ns;
	s->parts[SHORTSNAP_PAR_OF][at] += sum->par_of_ns;
}

static void add_cpu(struct shorts *s, uint32_t cpu)
{
	const struct short_cpu *c = &s->cpus[cpu];

	if (!__atomic_load_n(&c->events, __ATOMIC_RELAXED))
		return;
	s->payload->events += c->events;
	for (uint32_t i = 0; i < SHORT_ROWS; i++) {
		const struct short_row *r = &s->rows[cpu * SHORT_ROWS + i];
		uint64_t key = __atomic_load_n(&r->key, __ATOMIC_ACQUIRE);
		if (key)
			add_row(s, row_of(s, key, r->flags, r),
				&(const struct short_sum){r->n, r->ns, r->spun_ns, r->lost_ns,
							  r->lost_of_ns, r->par_ns, r->par_of_ns});
	}
	for (uint32_t f = 0; f < SHORT_FLAGS; f++) {
		if (c->other[f].n)
			add_row(s, row_of(s, ~(uint64_t)f, f, NULL), &c->other[f]);
		s->payload->counted[f] += c->counted[f];
	}
}

static void say_level(struct shorts *s, uint64_t now_ns)
{
	struct shortsnap_head *h = s->payload;

	pthread_mutex_lock(&s->lock);
	h->threshold_ns = s->now.threshold_ns;
	h->level = s->now.level;
	h->level_ns = s->now.since_ns;
	memcpy(h->spent_ns, s->now.spent_ns, sizeof(h->spent_ns));
	if (now_ns > h->level_ns)
		h->spent_ns[h->level] += now_ns - h->level_ns;
	h->n_changes = s->now.n_changes;
	h->most_ns = s->now.most_ns;
	h->cost_ppm = s->now.cost_ppm;
	h->event_ps = s->options.target_ppm ? s->now.event_ps : 0;
	pthread_mutex_unlock(&s->lock);
	h->target_ppm = s->options.target_ppm;
}

const void *short_snapshot(struct shorts *s, bool begin, uint64_t now_ns, size_t *ret_len)
{
	struct shortsnap_head *h = s->payload;

	if (begin)
		s->from_ns = now_ns;
	memset(h, 0, sizeof(*h));
	h->from_ns = s->from_ns;
	for (uint32_t i = 0; i < s->n_rows; i++)
		row_at(s, i)->n = row_at(s, i)->ns = 0;
	memset(s->parts, 0, sizeof(s->parts));
	for (uint32_t i = 0; !begin && i < s->n_cpus; i++)
		add_cpu(s, i);
	say_level(s, now_ns);
	h->n_rows = s->n_rows;
	uint64_t *to = (uint64_t *)(void *)row_at(s, s->n_rows);
	for (size_t i = 0; i < SHORTSNAP_PARTS; i++)
		memcpy(to + i * s->n_rows, s->parts[i], s->n_rows * sizeof(*to));
	*ret_len = sizeof(*h) +
		   s->n_rows * (sizeof(struct shortsnap_row) + SHORTSNAP_PARTS * sizeof(*to));
	return h;
}

void short_free(struct shorts *s)
{
	if (!s)
		return;
	bpf_thread_deinit(&s->thread);
	bpf_run_unmap(s->control, sizeof(*s->control));
	bpf_run_unmap(s->slots, SHORT_SLOTS * sizeof(*s->slots));
	bpf_run_unmap(s->rows, rows_bytes(s->n_cpus));
	bpf_run_unmap(s->cpus, cpus_bytes(s->n_cpus));
	map64_deinit(&s->index);
	pthread_mutex_destroy(&s->lock);
	mem_free(s->payload);
	mem_free(s);
}
