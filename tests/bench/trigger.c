// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost of triggers for an event: the same stream through the engine without any, with one, with
 * ten, and with ten that have terms about waits. Rounds of all alternate; medians of CPU time are
 * printed, and what each set takes on top. The streams: waits of a few tasks, most of which end at
 * once; and a crowd, of which so many always wait.
 *
 * Arguments: events (default 1,000,000), repetitions (default 7).
 */
#include "kontend/trigger.h"
#include "kontend/engine.h"
#include "kontend/mem.h"
#include "synth.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CPUS = 4, FRAMES = 6, REPEATS_MOST = 99, SETS = 6 };

static const char *const exprs[] = {
	"wait>1s",
	"waiting>100000",
	"wait/s>100000s",
	"waits/s>100M",
	"blocked>100s",
	"deadlock",
	"lost>1000000",
	"slots:full",
	"wait>2s",
	"rotation>10s",
	"wait>1s type:rwsem",
	"waiting>1 name:nosuch",
	"wait/s>1000000s type:mutex",
	"waits/s>100M caller:pipe",
	"blocked>100s comm:nosuch",
	"wait>500ns comm:nosuch",
	"wait/s>1000000s pid>5000",
	"waits/s>100M cpu>1",
	"wait>500ns stack:vm_mmap",
	"waiting>1 (type:mutex comm:nosuch)",
};

static const struct {
	const char *name;
	size_t first, n;
} sets[SETS] = {
	{"none", 0, 0},	       {"one: wait", 0, 1},
	{"one: wait/s", 2, 1}, {"one: wait with terms", 15, 1},
	{"ten", 0, 10},	       {"ten with terms", 10, 10},
};

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

/* An event a microsecond; about @crowd of @tasks wait at a time. */
static struct synth *make_stream(size_t events, uint32_t tasks, uint32_t crowd)
{
	static const uint32_t kinds[] = {LCB_F_WRITE, LCB_F_READ, LCB_F_MUTEX};
	struct synth *s = synth_new(CPUS);
	uint8_t *waits = calloc(tasks, 1);
	uint32_t seed = 42, waiting = 0;
	uint64_t t = 1000000, frames[FRAMES];

	synth_prologue(s, synth_kallsyms);
	for (int i = 0; i < FRAMES; i++)
		frames[i] = synth_addr((enum synth_address)(SYNTH_VM_MMAP_PGOFF + i));
	for (size_t i = 0; i < events; i++, t += 1000) {
		uint32_t k = rnd(&seed) % tasks, lock = k % 24;
		if (!waits[k] && waiting > crowd)
			continue;
		if (waits[k] && waiting < crowd)
			continue;
		if (waits[k])
			synth_end(s, k % CPUS, t, 1000, 1000 + (int)k,
				  0xffff888000000000ull + lock * 0x140, 0);
		else
			synth_begin(s, k % CPUS, t, 1000, 1000 + (int)k,
				    0xffff888000000000ull + lock * 0x140, kinds[lock % 3], frames,
				    FRAMES);
		waiting = waits[k] ? waiting - 1 : waiting + 1;
		waits[k] = !waits[k];
		if (i % 20000 == 19999)
			synth_round(s, t);
	}
	synth_tick(s, t + 1000);
	free(waits);
	return s;
}

static double run(struct synth *s, size_t set, uint64_t *ret_events)
{
	struct error err = {0};
	struct triggers *t = NULL;
	struct incident in;
	struct engine e;
	int r;

	if (engine_init(&e, synth_source(s), NULL, &err) < 0 ||
	    (sets[set].n && triggers_new(&t, &e, &exprs[sets[set].first], sets[set].n, &err) < 0)) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	double began = cpu_s();
	do {
		r = engine_pump(&e, 0, &err);
		while (t && triggers_next(t, &in, &err) == 1)
			fprintf(stderr, "fired: %s: %s\n", in.expr, in.fired);
	} while (r >= 0 && r != ENGINE_END);
	double took = cpu_s() - began;
	*ret_events = e.model->n_events;
	triggers_free(t);
	engine_deinit(&e);
	return took;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void measure(const char *name, struct synth *s, size_t repeats)
{
	static double took[SETS][REPEATS_MOST];
	uint64_t n = 0;

	for (size_t k = 0; k < repeats; k++)
		for (size_t set = 0; set < SETS; set++)
			took[set][k] = run(s, set, &n);
	for (size_t set = 0; set < SETS; set++)
		qsort(took[set], repeats, sizeof(double), by_value);
	double plain = took[0][repeats / 2] * 1e9 / (double)n;
	for (size_t set = 0; set < SETS; set++) {
		double ns = took[set][repeats / 2] * 1e9 / (double)n;
		printf("%-22s %-22s %6.1f ns an event, %+6.1f\n", name, sets[set].name, ns,
		       ns - plain);
	}
}

int main(int argc, char **argv)
{
	size_t events = argc > 1 ? (size_t)strtoull(argv[1], NULL, 10) : 1000000;
	size_t repeats = argc > 2 ? (size_t)strtoull(argv[2], NULL, 10) : 7;
	static const struct {
		const char *name;
		uint32_t tasks, crowd;
	} streams[] = {{"few wait at a time", 64, 4},
		       {"200 wait at a time", 1000, 200},
		       {"5000 wait at a time", 20000, 5000}};

	repeats = repeats < 1 || repeats > REPEATS_MOST ? 7 : repeats;
	for (size_t i = 0; i < sizeof(streams) / sizeof(*streams); i++) {
		struct synth *s = make_stream(events, streams[i].tasks, streams[i].crowd);
		measure(streams[i].name, s, repeats);
		synth_free(s);
	}
	return 0;
}
