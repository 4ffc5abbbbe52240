// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events per second through decode + order + model on one core, beside a naive single pass over the
 * same bytes (order the rings, pair by task, sum by call site: what any tool must at least do).
 * The stream is a storm of rwsem, mutex and spin waits of 32 tasks on 4 CPUs with call chains of 8
 * frames, drained in rounds as a live session is. Rounds of both alternate; the medians are
 * printed.
 *
 * Arguments: events (default 1,000,000), repetitions (default 7), call chains a lock (default 4, at
 * most 16: more of them mean more cells, 128 bytes and some cache lines of histogram each).
 */
#include "kontend/engine.h"
#include "kontend/cell.h"
#include "kontend/mem.h"
#include "kontend/model-cpu.h"
#include "synth.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { CPUS = 4, TASKS = 32, LOCKS = 24, CHAINS = 40, FRAMES = 8 };

static uint32_t rnd(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

struct storm {
	uint64_t chains[CHAINS][FRAMES];
	struct {
		uint64_t lock, t;
		uint32_t flags;
		bool waiting;
	} tasks[TASKS];
	uint32_t seed, spread;
};

static const uint32_t kinds[] = {LCB_F_WRITE, LCB_F_READ, LCB_F_MUTEX, LCB_F_SPIN, LCB_F_READ};

static void storm_step(struct storm *st, struct synth *s, uint64_t t)
{
	uint32_t k = rnd(&st->seed) % TASKS, cpu = k % CPUS;
	int tid = 1000 + (int)k;

	if (st->tasks[k].waiting) {
		synth_end(s, cpu, t, 1000, tid, st->tasks[k].lock, 0);
		st->tasks[k].waiting = false;
		return;
	}
	uint32_t lock = rnd(&st->seed) % LOCKS, chain = lock + rnd(&st->seed) % st->spread;
	uint32_t flags = kinds[lock % 5];
	/* One spinner at a time on a CPU: its tasks take turns. */
	if (flags == LCB_F_SPIN)
		tid = 1000 + (int)cpu, k = cpu;
	if (st->tasks[k].waiting)
		return;
	st->tasks[k].lock = 0xffff888000000000ull + lock * 0x140;
	st->tasks[k].waiting = true;
	synth_begin(s, cpu, t, 1000, tid, st->tasks[k].lock, flags, st->chains[chain % CHAINS],
		    FRAMES);
}

static struct synth *make_storm(size_t events, uint32_t spread)
{
	struct synth *s = synth_new(CPUS);
	static struct storm st;
	uint64_t t = 1000000;

	st = (struct storm){.seed = 42, .spread = spread};
	for (size_t c = 0; c < CHAINS; c++)
		for (size_t f = 0; f < FRAMES; f++)
			st.chains[c][f] =
				0xffffffff81000000ull + (f < 2 ? f : c * FRAMES + f) * 0x1010;
	synth_kernel_chains(s);
	synth_prologue(s, NULL);
	for (size_t i = 0; i < events; i++) {
		t += 200 + rnd(&st.seed) % 1000;
		storm_step(&st, s, t);
		if (i % 20000 == 19999)
			synth_tick(s, t);
	}
	synth_round(s, t);
	return s;
}

/* --- the naive pass ------------------------------------------------------------------------- */

struct naive_site {
	uint64_t key, n, total, max;
};

struct naive {
	struct {
		uint64_t lock, t, site;
	} begun[4096];
	struct naive_site sites[4096];
	uint64_t n_pairs, total;
};

static void naive_end(struct naive *v, uint32_t slot, uint64_t lock, uint64_t t)
{
	if (v->begun[slot].lock != lock)
		return;
	uint64_t d = t - v->begun[slot].t;
	size_t i = v->begun[slot].site * 0x9e3779b97f4a7c15ull >> 52;
	while (v->sites[i].key && v->sites[i].key != v->begun[slot].site)
		i = (i + 1) % 4096;
	v->sites[i].key = v->begun[slot].site;
	v->sites[i].n++;
	v->sites[i].total += d;
	if (d > v->sites[i].max)
		v->sites[i].max = d;
	v->begun[slot].lock = 0;
	v->n_pairs++;
	v->total += d;
}

/* Knows the layout by heart: id, pid tid, time, cpu, [chain], raw. */
static void naive_event(struct naive *v, const uint64_t *w)
{
	struct perf_event_header h;
	uint32_t slot = (uint32_t)(w[2] >> 32) % 4096;
	const uint8_t *raw;
	uint64_t lock, hash = 0;

	memcpy(&h, w, sizeof(h));
	if (h.type != PERF_RECORD_SAMPLE)
		return;
	bool is_begin = w[1] < 2000;
	raw = (const uint8_t *)(w + 5);
	if (is_begin) {
		for (uint64_t i = 0; i < w[5]; i++)
			hash = (hash ^ w[6 + i]) * 0xff51afd7ed558ccdull;
		raw = (const uint8_t *)(w + 6 + w[5]);
	}
	memcpy(&lock, raw + 12, 8);
	if (!is_begin) {
		naive_end(v, slot, lock, w[3]);
		return;
	}
	v->begun[slot].lock = lock;
	v->begun[slot].t = w[3];
	v->begun[slot].site = hash | 1;
}

static void naive_round(struct naive *v, struct record *recs[], size_t n)
{
	const uint8_t *pos[CPUS * 4], *end[CPUS * 4];

	for (size_t i = 0; i < n; i++) {
		pos[i] = recs[i]->data;
		end[i] = pos[i] + recs[i]->len;
	}
	for (;;) {
		size_t best = n;
		uint64_t best_t = UINT64_MAX;
		for (size_t i = 0; i < n; i++) {
			const uint64_t *w = (const uint64_t *)(const void *)pos[i];
			if (pos[i] < end[i] && w[3] < best_t) {
				best_t = w[3];
				best = i;
			}
		}
		if (best == n)
			return;
		struct perf_event_header h;
		memcpy(&h, pos[best], sizeof(h));
		naive_event(v, (const uint64_t *)(const void *)pos[best]);
		pos[best] += h.size;
	}
}

static double run_naive(struct synth *s, struct naive *v)
{
	struct record *recs[CPUS * 4];
	size_t n = 0;
	double t0 = cpu_s();

	memset(v, 0, sizeof(*v));
	for (size_t i = 0; i < synth_count(s); i++) {
		struct record *r = synth_at(s, i);
		if (r->kind == RECORD_PERF && n < CPUS * 4)
			recs[n++] = r;
		if (r->kind != RECORD_ROUND)
			continue;
		naive_round(v, recs, n);
		n = 0;
	}
	return cpu_s() - t0;
}

/* --- kontend ---------------------------------------------------------------------------------- */

static double run_engine(struct synth *s, uint64_t *ret_pairs, uint64_t *ret_total,
			 size_t *ret_cells)
{
	struct engine e;
	struct error err = {0};
	double t0 = cpu_s();
	int r;

	if (engine_init(&e, synth_source(s), NULL, &err))
		abort();
	while ((r = engine_pump(&e, 0, &err)) != ENGINE_END)
		if (r < 0)
			abort();
	double dt = cpu_s() - t0;
	*ret_pairs = *ret_total = 0;
	*ret_cells = e.model->cells->n;
	for (unsigned i = 0; i < LOCK_TYPES; i++) {
		*ret_pairs += e.model->types[i].contended;
		*ret_total += e.model->types[i].total_ns;
	}
	engine_deinit(&e);
	return dt;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), by_value);
	return v[n / 2];
}

int main(int argc, char **argv)
{
	size_t events = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
	size_t reps = argc > 2 ? strtoull(argv[2], NULL, 10) : 7;
	size_t spread = argc > 3 ? strtoull(argv[3], NULL, 10) : 4, cells = 0;
	double engine[64], naive[64];
	static struct naive v;
	uint64_t pairs = 0, total = 0, bytes = 0;

	if (!events || !reps || reps > 64 || !spread || spread > 16)
		return 1;
	struct synth *s = make_storm(events, (uint32_t)spread);
	for (size_t i = 0; i < synth_count(s); i++)
		bytes += synth_at(s, i)->len;
	for (size_t i = 0; i < reps; i++) {
		naive[i] = run_naive(s, &v);
		engine[i] = run_engine(s, &pairs, &total, &cells);
	}
	double ne = (double)events, en = median(engine, reps), na = median(naive, reps);
	printf("%zu events, %.1f MB, %d frames a chain, %zu cells; "
	       "median of %zu interleaved runs (CPU time)\n",
	       events, (double)bytes / 1e6, FRAMES, cells, reps);
	printf("naive pass:           %6.1f M events/s  (%.1f ns/event, %" PRIu64 " waits, %" PRIu64
	       " ns)\n",
	       ne / na / 1e6, na / ne * 1e9, v.n_pairs, v.total);
	printf("decode+order+model:   %6.1f M events/s  (%.1f ns/event, %" PRIu64 " waits, %" PRIu64
	       " ns)\n",
	       ne / en / 1e6, en / ne * 1e9, pairs, total);
	printf("ratio engine / naive: %6.2f of its speed\n", na / en);
	synth_free(s);
	/* Both must have found the same waits: a benchmark of wrong results means nothing. */
	return pairs == v.n_pairs && total == v.total ? 0 : 1;
}
