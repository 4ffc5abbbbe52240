// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost of metrics: CPU time to add up a second's waits, and to write the text and the messages,
 * next to the time of the engine for the same waits; and to add these to a profile, which is
 * written at the end. Seconds that are calm (200 waits), busy (20,000, for 2,000 locks of 500
 * callers, by tasks of 300 cgroups) and a storm (200,000). Fails where adding up takes more than
 * twice what applying the events of a busy second or a storm did: it goes by cells, of which there
 * are fewer than waits; and where the text is larger than half a megabyte.
 */
#include "kontend/metrics.h"
#include "kontend/clock.h"
#include "kontend/pprof.h"
#include "synth.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { SECONDS = 8, LOCKS = 2000, CALLERS = 500, GROUPS = 300, TEXT = 512 << 10 };

#define SECOND 1000000000ull

static uint32_t rnd(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static struct synth *make_stream(unsigned waits)
{
	struct synth *s = synth_new(1);
	char *symbols = NULL;
	size_t len;
	FILE *f = open_memstream(&symbols, &len);
	uint32_t seed = 1;

	for (unsigned i = 0; i < CALLERS; i++)
		fprintf(f, "%016llx t caller_%03u\n", 0xffffffff82000000ull + i * 256ull, i);
	fclose(f);
	synth_prologue(s, symbols);
	free(symbols);
	for (unsigned i = 0; i < GROUPS; i++) {
		char path[32];
		snprintf(path, sizeof(path), "/pods/%u", i);
		synth_cgroup(s, 0, SECOND, 1000 + i, path);
	}
	for (unsigned sec = 1; sec <= SECONDS; sec++) {
		for (unsigned i = 0; i < waits; i++) {
			unsigned lock = rnd(&seed) % LOCKS, task = rnd(&seed) % (4 * GROUPS);
			uint64_t t = sec * SECOND + i * (SECOND / waits);
			uint64_t frame = 0xffffffff82000010ull + lock % CALLERS * 256ull;
			uint64_t addr = 0xffff888000001000ull + lock * 64ull;
			synth_set_cgroup(s, 1000 + task % GROUPS);
			synth_begin(s, 0, t, 10 + (int)task, 10 + (int)task, addr, LCB_F_MUTEX,
				    &frame, 1);
			synth_end(s, 0, t + 1000 + lock, 10 + (int)task, 10 + (int)task, addr, 0);
		}
		synth_tick(s, (sec + 1) * SECOND - 1);
	}
	return s;
}

struct spent {
	uint64_t events, adding, writing[METRICS_FORMATS], profile, packing;
	size_t bytes[METRICS_FORMATS], packed;
};

/* NULL: it was not built in. */
static struct pprof *begin_profile(void)
{
	const struct pprof_spec spec = {.what = SAMPLES_WAITS, .live = true};
	struct pprof *p = NULL;
	struct error err;

	return pprof_new(&p, &spec, &err) < 0 ? NULL : p;
}

static void add_to_profile(struct pprof *p, struct query *q, struct spent *ret)
{
	uint64_t a = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	struct error err;

	query_begin(q);
	if (pprof_add(p, q, &err) < 0)
		abort();
	ret->profile += clock_ns(CLOCK_THREAD_CPUTIME_ID) - a;
}

static void end_profile(struct pprof *p, struct spent *ret)
{
	uint64_t a = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	char *bytes = NULL;
	struct error err;
	FILE *f = open_memstream(&bytes, &ret->packed);

	if (pprof_write(p, f, &err) < 0)
		abort();
	fclose(f);
	free(bytes);
	pprof_free(p);
	ret->packing = clock_ns(CLOCK_THREAD_CPUTIME_ID) - a;
}

/* Messages may not have been built in: then there is nothing of them. */
static void write_all(struct metrics *m, enum metrics_format format, struct spent *ret)
{
	struct error err = {0};
	char *text = NULL;
	uint64_t a = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	FILE *f = open_memstream(&text, &ret->bytes[format]);

	if (metrics_put(m, NULL, format, f, &err) < 0 && format == METRICS_TEXT)
		abort();
	fclose(f);
	free(text);
	ret->writing[format] += clock_ns(CLOCK_THREAD_CPUTIME_ID) - a;
}

static void metrics_step(struct metrics *m, struct spent *ret)
{
	struct error err = {0};
	uint64_t a = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	if (metrics_add(m, &err) < 0)
		abort();
	ret->adding += clock_ns(CLOCK_THREAD_CPUTIME_ID) - a;
	write_all(m, METRICS_TEXT, ret);
	write_all(m, METRICS_PROTO, ret);
}

static struct spent play(unsigned waits)
{
	const struct metrics_options o = {.version = "1"};
	struct synth *s = make_stream(waits);
	struct spent ret = {0};
	struct error err = {0};
	struct pprof *p = begin_profile();
	struct metrics *m;
	struct engine e;
	struct query q;
	int r = 0;

	if (engine_init(&e, synth_source(s), NULL, &err) < 0 || metrics_new(&m, &o, &err) < 0 ||
	    metrics_start(m, &e, &err) < 0 || query_init(&q, &e) < 0)
		abort();
	while (r != ENGINE_END) {
		uint64_t a = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		r = engine_pump(&e, 0, &err);
		ret.events += clock_ns(CLOCK_THREAD_CPUTIME_ID) - a;
		if (r < 0)
			abort();
		if (r == ENGINE_TICK && p)
			add_to_profile(p, &q, &ret);
		if (r == ENGINE_TICK)
			metrics_step(m, &ret);
	}
	if (p)
		end_profile(p, &ret);
	query_deinit(&q);
	metrics_free(m);
	engine_deinit(&e);
	synth_free(s);
	return ret;
}

int main(void)
{
	static const unsigned waits[] = {200, 20000, 200000};
	int status = 0;

	printf("%9s %12s %12s %12s %9s %12s %9s %13s %11s %8s\n", "waits/s", "events ms/s",
	       "adding ms/s", "text ms", "text KiB", "messages ms", "KiB", "profile ms/s",
	       "packing ms", "packed K");
	for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++) {
		struct spent t = play(waits[i]);
		printf("%9u %12.2f %12.2f %12.2f %9zu %12.2f %9zu %13.2f %11.2f %8zu\n", waits[i],
		       (double)t.events / SECONDS / 1e6, (double)t.adding / SECONDS / 1e6,
		       (double)t.writing[METRICS_TEXT] / SECONDS / 1e6, t.bytes[METRICS_TEXT] >> 10,
		       (double)t.writing[METRICS_PROTO] / SECONDS / 1e6,
		       t.bytes[METRICS_PROTO] >> 10, (double)t.profile / SECONDS / 1e6,
		       (double)t.packing / 1e6, t.packed >> 10);
		if (i && t.adding > 2 * t.events)
			status = 1;
		if (t.bytes[METRICS_TEXT] > TEXT || t.bytes[METRICS_PROTO] > TEXT)
			status = 1;
	}
	return status;
}
