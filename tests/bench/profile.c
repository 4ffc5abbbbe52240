// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost of a profile on one core: a million samples with 16 frames each (half of them the
 * kernel's, of 122,000 functions, half of two large programs of this machine) decoded, resolved and
 * summed up, then named as the screen does: with no name known yet, and again. Reading the
 * kernel's symbols is printed beside it.
 *
 * Arguments: samples (default 1,000,000), different call chains (default 4,000).
 */
#include "kontend/clock.h"
#include "kontend/engine.h"
#include "kontend/query-hot.h"
#include "kontend/query-load.h"
#include "kontend/query-tree.h"
#include "kontend/query.h"
#include "kontend/sym.h"
#include "synth-profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { CPUS = 2, FRAMES = 8, CHAINS_MOST = 1 << 16, FUNCTIONS = 122000, PLACES = 2000 };

#define CODE 0x400000000000ull
#define KERNEL 0xffffffff81000000ull

struct chain {
	uint64_t kernel[FRAMES], user[FRAMES];
};

static uint32_t rnd(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static double cpu_ms(void)
{
	return (double)clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e6;
}

static char *make_kallsyms(size_t *ret_len)
{
	size_t len = 0, size = FUNCTIONS * 64;
	char *text = malloc(size);

	for (unsigned i = 0; text && i < FUNCTIONS; i++)
		len += (size_t)snprintf(text + len, size - len, "%" PRIx64 " t some_function_%u\n",
					(uint64_t)(KERNEL + i * 0x140), i);
	*ret_len = len;
	return text;
}

/* This boot: files are those that we see. */
static void say_host(struct synth *s)
{
	struct record_host h = {.clock_ns = clock_ns(CLOCK_MONOTONIC),
				.wall_ns = clock_ns(CLOCK_REALTIME),
				.cpus = CPUS};
	struct utsname u;

	uname(&u);
	snprintf(h.release, sizeof(h.release), "%s", u.release);
	synth_record(s, RECORD_HOST, 0, &h, sizeof(h));
}

/* Maps the two largest of these files, one after the other; bytes of both. */
static uint64_t map_files(struct synth *s)
{
	static const char *const files[] = {"/usr/bin/perf", "/usr/bin/gdb",
					    "/usr/lib/x86_64-linux-gnu/libc.so.6",
					    "/usr/lib/aarch64-linux-gnu/libc.so.6"};
	uint64_t at = 0;
	struct stat st;

	for (size_t i = 0, n = 0; i < sizeof(files) / sizeof(*files) && n < 2; i++) {
		if (stat(files[i], &st) != 0)
			continue;
		uint64_t len = ((uint64_t)st.st_size + 4095) & ~4095ull;
		synth_mmap(s, 0, 1000, (int)getpid(), CODE + at, len, 0, files[i]);
		at += len;
		n++;
	}
	return at;
}

static struct synth *make_profile(size_t samples, size_t n_chains, const char *kallsyms)
{
	static struct chain chains[CHAINS_MOST];
	struct synth *s = synth_new(CPUS);
	uint32_t seed = 1;
	uint64_t t = 1000000;

	synth_prologue(s, kallsyms);
	say_host(s);
	synth_profile(s);
	synth_comm(s, 0, 1000, (int)getpid(), (int)getpid(), "app");
	uint64_t size = map_files(s);
	for (size_t i = 0; i < n_chains; i++)
		for (size_t f = 0; f < FRAMES; f++) {
			uint64_t place = rnd(&seed) % PLACES;
			chains[i].kernel[f] = KERNEL + place * 61 * 0x140 + 0x20;
			place = rnd(&seed) % PLACES;
			chains[i].user[f] = CODE + (size ? size / PLACES * place : place * 64);
		}
	for (size_t i = 0; i < samples; i++) {
		const struct chain *c = &chains[rnd(&seed) % n_chains];
		struct synth_chain sc = {c->kernel, c->user, FRAMES, FRAMES, 0};
		t += 1000;
		synth_sample(s, i % CPUS, t, (int)getpid(), (int)getpid(), 1000, sc);
		if (i % 20000 == 19999)
			synth_tick(s, t);
	}
	synth_round(s, t);
	return s;
}

static void play(struct engine *e, struct synth *s)
{
	struct error err = {0};
	int r;

	if (engine_init(e, synth_source(s), NULL, &err))
		abort();
	while ((r = engine_pump(e, 0, &err)) != ENGINE_END)
		if (r < 0)
			abort();
}

/* Functions, and the call tree below. */
static size_t name_all(struct query *q)
{
	struct query_hot_spec spec = {.by = HOT_SYMBOL};
	struct query_hot_tree_spec tree = {.by = HOT_SYMBOL};
	struct query_tree drawn;
	struct error err = {0};
	struct table t;

	query_begin(q);
	if (query_hot(q, &spec, &t, &err) < 0 || query_hot_tree(q, &tree, &drawn) < 0)
		abort();
	return t.n_rows;
}

static void measure_kallsyms(const char *text, size_t len)
{
	struct sym sym;
	double t = cpu_ms();

	sym_init(&sym);
	if (sym_load(&sym, text, len, NULL) < 0)
		abort();
	printf("kallsyms: %zu symbols of %.1f MB parsed and sorted in %.1f ms (goal: 15 ms)\n",
	       sym.n, (double)len / 1e6, cpu_ms() - t);
	sym_deinit(&sym);
}

int main(int argc, char **argv)
{
	size_t samples = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000, len, rows;
	size_t chains = argc > 2 ? strtoull(argv[2], NULL, 10) : 4000;
	char *text = make_kallsyms(&len);
	static struct engine e;
	struct query q;

	if (!text || !samples || !chains || chains > CHAINS_MOST)
		return 1;
	measure_kallsyms(text, len);
	struct synth *s = make_profile(samples, chains, text);
	double t = cpu_ms();
	play(&e, s);
	double played = cpu_ms() - t;
	query_init(&q, &e);
	t = cpu_ms();
	name_all(&q);
	while (query_load_names(&q, UINT64_MAX))
		;
	rows = name_all(&q);
	double first = cpu_ms() - t;
	t = cpu_ms();
	name_all(&q);
	double again = cpu_ms() - t;
	printf("%zu samples of %d frames, %zu chains: resolved and summed in %.0f ms, named (%zu "
	       "functions, call tree) in %.0f ms at first, %.0f ms again\n",
	       samples, 2 * FRAMES, chains, played, rows, first, again);
	printf("with a warm cache: %.0f ms (goal: 2000 ms)\n", played + again);
	query_deinit(&q);
	engine_deinit(&e);
	synth_free(s);
	free(text);
	return 0;
}
