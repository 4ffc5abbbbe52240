// SPDX-License-Identifier: GPL-2.0-only
/*
 * A thread checks a few times a second whether there are waits longer than the threshold: by the
 * count of finished waits, and by the places where waiting tasks have written their begin. While
 * there are such waits, and some time after, holders are followed by the programs at the
 * scheduler's tracepoints, which every switch of tasks pays for. Attaching takes milliseconds,
 * hence the thread. It also makes a program read the owners of locks with long waits again. The
 * begin and the end of reports on holders are marked in the stream by a program that runs once: it
 * writes a record into a CPU's ring, at its place in time.
 */
#include "bpf-run.h"
#include "internal.h"
#include "kontend/clock.h"
#include "kontend/mem.h"
#include "shared.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#define MS 1000000ull

enum { LOOK_MS = 50, LOOK_ATTACHED_MS = 500, LOOK_LONG_MS = 20 };

static const uint64_t KEEP_NS = 10000 * MS; /* attached so long after the last long wait */

struct follow {
	uint64_t longer_ns;
	struct follow_wait *waiting;
	struct follow_state *state;
	int counts; /* map of struct follow_cpu, which begins with struct follow_counts */
	size_t counts_size;
	char *values; /* of all CPUs */
	int n_possible;
	int say;
	struct sched *sched;
	bool attached;
	bool goes_on;		       /* there was a long wait, at the last check */
	uint64_t n_long, last_long_ns; /* the count that was seen; when there was one */
	uint64_t cpus[WAITS_CPUS / 64];
	struct bpf_thread thread;
	/* For follow_counts(). */
	atomic_ullong records, missed, times, attached_ns, since_ns;
	atomic_int failed;
};

/* Before 6.8 the kernel verifies functions that are never called: their maps must be there. */
int follow_leave(struct bpf_object *o)
{
	static const char *const programs[] = {"say_follow"};
	static const char *const maps[] = {"holders", "holders_reported", "waiting"};
	int code = bpf_run_leave_programs(o, programs, sizeof(programs) / sizeof(*programs));

	for (size_t i = 0; code == 0 && i < sizeof(maps) / sizeof(*maps); i++) {
		struct bpf_map *m = bpf_object__find_map_by_name(o, maps[i]);
		code = m ? bpf_map__set_max_entries(m, 1) : -ENOENT;
	}
	return code;
}

/* Has a wait lasted for too long? */
static bool has_long_wait(const struct follow *f, uint64_t now)
{
	for (uint32_t i = 0; i < FOLLOW_WAITS; i++) {
		const volatile struct follow_wait *w = &f->waiting[i];
		uint64_t begin;

		if (!w->tid)
			continue;
		begin = w->begin_ns;
		if (now > begin && now - begin >= f->longer_ns && w->tid)
			return true;
	}
	return false;
}

static bool is_due(struct follow *f, uint64_t now)
{
	uint64_t n_long = __atomic_load_n(&f->state->n_long, __ATOMIC_RELAXED);
	bool is_one = n_long != f->n_long;

	f->goes_on = has_long_wait(f, now);
	is_one = is_one || f->goes_on;
	f->n_long = n_long;
	if (is_one)
		f->last_long_ns = now;
	return is_one || (f->attached && now - f->last_long_ns < KEEP_NS);
}

/* Runs it on the first possible CPU: the ring of an offline CPU cannot be written. */
static int run_program(const struct follow *f, enum follow_say what)
{
	const uint64_t args[12] = {what};
	int code = -ENXIO;

	for (uint32_t cpu = 0; cpu < WAITS_CPUS; cpu++) {
		struct bpf_test_run_opts opts = {
			.sz = sizeof(opts),
			.ctx_in = args,
			.ctx_size_in = sizeof(args),
			.flags = BPF_F_TEST_RUN_ON_CPU,
			.cpu = cpu,
		};
		if (!(f->cpus[cpu / 64] >> cpu % 64 & 1))
			continue;
		code = bpf_prog_test_run_opts(f->say, &opts) < 0 ? -errno : 0;
		if (code == 0)
			return 0;
	}
	return code;
}

static void read_counts(struct follow *f)
{
	const uint32_t first = 0;
	uint64_t records = 0, missed = 0;

	if (bpf_map_lookup_elem(f->counts, &first, f->values) < 0)
		return;
	for (int i = 0; i < f->n_possible; i++) {
		const struct follow_counts *c = (void *)(f->values + (size_t)i * f->counts_size);
		records += c->records;
		missed += c->missed;
	}
	atomic_store(&f->records, records);
	atomic_store(&f->missed, missed);
}

/* The programs may stay for others: then a byte that they read shows that none is followed. */
static void detach(struct follow *f)
{
	__atomic_store_n(&f->state->on, 0, __ATOMIC_RELAXED);
	sched_leave(f->sched);
}

static int attach(struct follow *f)
{
	int code = sched_use(f->sched);

	if (code < 0)
		return code;
	code = run_program(f, FOLLOW_BEGIN);
	if (code < 0)
		detach(f);
	return code;
}

static void begin(struct follow *f)
{
	int code = attach(f);

	if (code < 0) {
		atomic_store(&f->failed, code);
		return;
	}
	f->attached = true;
	atomic_store(&f->since_ns, clock_ns(CLOCK_MONOTONIC));
	atomic_fetch_add(&f->times, 1);
}

static void end(struct follow *f)
{
	if (!f->attached)
		return;
	(void)run_program(f, FOLLOW_STOP); /* if it fails, only that record is missing */
	detach(f);
	read_counts(f);
	f->attached = false;
	uint64_t since = atomic_exchange(&f->since_ns, 0);
	atomic_fetch_add(&f->attached_ns, clock_ns(CLOCK_MONOTONIC) - since);
}

static void look_for_work(struct follow *f)
{
	bool due = is_due(f, clock_ns(CLOCK_MONOTONIC));

	if (due && !f->attached)
		begin(f);
	else if (!due)
		end(f);
	/* By now the locks may have other holders than when the waits began. */
	if (f->goes_on)
		(void)run_program(f, FOLLOW_LOOK); /* what is not looked at is as it was reported */
	if (f->attached)
		read_counts(f);
}

static int pause_ms(const struct follow *f)
{
	if (f->goes_on)
		return LOOK_LONG_MS;
	return f->attached ? LOOK_ATTACHED_MS : LOOK_MS;
}

static void *run(void *arg)
{
	struct follow *f = arg;

	bpf_thread_begin();
	while (bpf_thread_goes_on(&f->thread) && !atomic_load(&f->failed)) {
		look_for_work(f);
		bpf_thread_sleep(&f->thread, pause_ms(f));
	}
	end(f);
	return NULL;
}

static int find_maps(struct follow *f, struct bpf_object *o, struct error *err)
{
	struct bpf_map *counts = bpf_object__find_map_by_name(o, "follow_cpus");

	if (!counts)
		return error_set(err, -ENOENT, "The BPF object has no map follow_cpus");
	f->counts = bpf_map__fd(counts);
	f->counts_size = (bpf_map__value_size(counts) + 7) / 8 * 8;
	f->n_possible = libbpf_num_possible_cpus();
	f->values = f->n_possible > 0 ? mem_calloc((size_t)f->n_possible, f->counts_size) : NULL;
	if (!f->values)
		return error_enomem(err, "counts of holders");
	f->waiting = bpf_run_map(o, "waiting", FOLLOW_WAITS * sizeof(*f->waiting), PROT_READ, err);
	f->state =
		bpf_run_map(o, ".data.following", sizeof(*f->state), PROT_READ | PROT_WRITE, err);
	return f->waiting && f->state ? 0 : err->code;
}

int follow_new(struct follow **ret, struct bpf_object *o, struct sched *sched, uint64_t longer_ns,
	       struct error *err)
{
	struct follow *f = mem_calloc(1, sizeof(*f));

	if (!f)
		return error_enomem(err, "following holders");
	f->longer_ns = longer_ns;
	f->sched = sched;
	int code = bpf_thread_init(&f->thread, err);
	f->say = code < 0 ? code : bpf_run_program(o, "say_follow", err);
	code = f->say < 0 ? f->say : code;
	code = code < 0 ? code : find_maps(f, o, err);
	if (code < 0) {
		follow_free(f);
		return code;
	}
	*ret = f;
	return 0;
}

void follow_add_cpu(struct follow *f, uint32_t cpu)
{
	if (cpu < WAITS_CPUS)
		f->cpus[cpu / 64] |= 1ull << cpu % 64;
}

int follow_start(struct follow *f, struct error *err)
{
	return bpf_thread_start(&f->thread, run, f, "the thread that follows holders", err);
}

void follow_stop(struct follow *f)
{
	if (f)
		bpf_thread_stop(&f->thread);
}

void follow_counts(const struct follow *f, struct feed_follow *ret)
{
	uint64_t since = atomic_load(&f->since_ns);

	*ret = (struct feed_follow){
		.longer_ns = f->longer_ns,
		.records = atomic_load(&f->records),
		.missed = atomic_load(&f->missed),
		.times = atomic_load(&f->times),
		.attached_ns = atomic_load(&f->attached_ns),
		.failed = atomic_load(&f->failed),
	};
	if (since)
		ret->attached_ns += clock_ns(CLOCK_MONOTONIC) - since;
}

void follow_free(struct follow *f)
{
	if (!f)
		return;
	bpf_thread_deinit(&f->thread);
	bpf_run_unmap(f->waiting, FOLLOW_WAITS * sizeof(*f->waiting));
	bpf_run_unmap(f->state, sizeof(*f->state));
	mem_free(f->values);
	mem_free(f);
}
