// SPDX-License-Identifier: GPL-2.0-only
/*
 * Resident memory after ten million events of a stream that is made to grow every table: 200,000
 * locks, thousands of call chains, tasks that come and go, and this machine's own kernel symbols.
 * The stream is made piece by piece and freed after use, so the resident memory is the engine's.
 * Fails when the peak passes 64 MiB.
 *
 * Arguments: events (default 10,000,000); "live": with the tables and the history of a session with
 * a screen, so that it ages as in hours within seconds.
 */
#include "kontend/cell.h"
#include "kontend/damage.h"
#include "kontend/engine.h"
#include "kontend/history.h"
#include "kontend/limits.h"
#include "kontend/mem.h"
#include "kontend/model-cpu.h"
#include "synth.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CPUS = 4, SLOTS = 64, LOCKS = 200000, CHAINS = 30000, PIECE = 20000, BUDGET_KIB = 65536 };
enum { LIVE_PART = 5 << 20 }; /* an eighth of the memory of a session */

/* Plays pieces one after the other, making each when the one before has been given back. */
struct pieces {
	struct source source;
	struct synth *synth;
	size_t next;
	uint64_t left, t;
	uint32_t seed;
	int next_tid;
	struct {
		int tid;
		uint64_t lock;
	} slots[SLOTS];
};

static uint32_t rnd(struct pieces *p)
{
	p->seed = p->seed * 1664525 + 1013904223;
	return p->seed >> 8;
}

static void add_kallsyms(struct synth *s)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	char *text = NULL;
	size_t len = 0, n;

	if (!f)
		return;
	do {
		text = realloc(text, len + 65536);
		if (!text)
			abort();
		n = fread(text + len, 1, 65536, f);
		len += n;
	} while (n);
	synth_record(s, RECORD_KALLSYMS, 0, text, len);
	free(text);
	fclose(f);
}

static void one_event(struct pieces *p)
{
	uint32_t k = rnd(p) % SLOTS, cpu = k % CPUS;
	uint64_t chain[12];

	p->t += 500;
	if (p->slots[k].lock) {
		synth_end(p->synth, cpu, p->t, 7, p->slots[k].tid, p->slots[k].lock, 0);
		p->slots[k].lock = 0;
		return;
	}
	if (rnd(p) % 64 == 0) {
		if (p->slots[k].tid)
			synth_exit(p->synth, cpu, p->t, 7, p->slots[k].tid);
		p->slots[k].tid = 0;
	}
	if (!p->slots[k].tid) {
		char comm[16];
		p->slots[k].tid = p->next_tid++;
		snprintf(comm, sizeof(comm), "task-%d", p->slots[k].tid % 5000);
		synth_comm(p->synth, cpu, p->t, 7, p->slots[k].tid, comm);
	}
	uint32_t c = rnd(p) % CHAINS;
	for (uint32_t i = 0; i < 12; i++)
		chain[i] = 0xffffffff81000000ull + (i < 2 ? i : c * 12 + i) * 16;
	p->slots[k].lock = 0xffff888000000000ull + rnd(p) % LOCKS * 64;
	synth_begin(p->synth, cpu, p->t, 7, p->slots[k].tid, p->slots[k].lock,
		    rnd(p) % 2 ? LCB_F_WRITE : LCB_F_MUTEX, chain, 12);
}

static void make_piece(struct pieces *p)
{
	if (p->synth)
		synth_free(p->synth);
	p->synth = synth_new(CPUS);
	if (!p->t) {
		p->t = 1000000;
		synth_prologue(p->synth, NULL);
		add_kallsyms(p->synth);
	}
	for (unsigned i = 0; i < PIECE && p->left; i++, p->left--)
		one_event(p);
	synth_tick(p->synth, p->t);
	p->next = 0;
}

static int next(struct source *src, int timeout_ms, struct record *ret, struct error *err)
{
	struct pieces *p = (struct pieces *)src;

	(void)timeout_ms;
	(void)err;
	if (!p->synth || p->next == synth_count(p->synth)) {
		if (!p->left)
			return SOURCE_END;
		make_piece(p);
	}
	*ret = *synth_at(p->synth, p->next++);
	return 0;
}

static void free_pieces(struct source *src)
{
	struct pieces *p = (struct pieces *)src;

	if (p->synth)
		synth_free(p->synth);
}

static const struct source_ops pieces_ops = {.next = next, .free = free_pieces};

static long status_kib(const char *key)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long kib = -1;

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, strlen(key)))
			kib = strtol(line + strlen(key) + 1, NULL, 10);
	if (f)
		fclose(f);
	return kib;
}

/* The source of a session that is remembered. */
static struct source *remember(struct source *inner, struct error *err)
{
	const struct history_options o = {.bytes = LIVE_PART, .model_bytes = 2 * LIVE_PART};
	struct source *ret;

	if (history_new(&ret, inner, &o, err))
		abort();
	return ret;
}

static void print_history(struct source *history)
{
	struct history_stat h;

	history_stat(history, &h);
	printf("history: copies of the model %.1f MiB, records %.1f MiB\n",
	       (double)h.model_bytes / 1048576, (double)h.bytes / 1048576);
}

int main(int argc, char **argv)
{
	static struct pieces p = {.source = {.ops = &pieces_ops}, .seed = 1, .next_tid = 100};
	struct error err = {0};
	const struct model_limits limits = model_limits_live(3 * LIVE_PART);
	bool live = argc > 2 && !strcmp(argv[2], "live");
	struct engine e;
	int r;

	p.left = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000000;
	uint64_t events = p.left;
	struct source *source = live ? remember(&p.source, &err) : &p.source;
	if (engine_init(&e, source, live ? &limits : NULL, &err))
		return 1;
	while ((r = engine_pump(&e, 0, &err)) != ENGINE_END) {
		if (r < 0) {
			fprintf(stderr, "%s\n", err.text);
			return 1;
		}
		if (live && r == ENGINE_TICK)
			history_note(source, &e);
	}
	long now = status_kib("VmRSS"), peak = status_kib("VmHWM");
	printf("%" PRIu64 " events, %u locks, %u call chains: resident %.1f MiB, peak %.1f MiB "
	       "(limit %d)\n",
	       events, LOCKS, CHAINS, (double)now / 1024, (double)peak / 1024, BUDGET_KIB / 1024);
	printf("model %.1f MiB, symbols %.1f MiB; %zu cells, %" PRIu64
	       " waits folded into \"other\"\n",
	       (double)model_bytes(e.model) / 1048576,
	       (double)(e.sym.cap * sizeof(*e.sym.entries) + e.sym.text_cap) / 1048576,
	       e.model->cells->n, e.model->damage->folded);
	if (live)
		print_history(source);
	uint64_t waits = 0;
	for (unsigned i = 0; i < LOCK_TYPES; i++)
		waits += e.model->types[i].contended;
	engine_deinit(&e);
	return peak > BUDGET_KIB || !waits;
}
