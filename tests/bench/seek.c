// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long going to a moment takes in a large recording: a storm of 5 million events (about 1 GB of
 * perf records), made piece by piece while it is read, as it would not fit into memory. First the
 * first pass, then random seeks; then what keeping the last minutes costs a live session. Making
 * the pieces takes time that a file would not need; it is measured and left out.
 *
 * Arguments: events (default 5,000,000), seeks (default 50). Instead of a number of events a
 * perf.data file may be given (see lengthen.c for how to get a large one): then seeks go to and fro
 * in that one.
 */
#include "kontend/cell.h"
#include "kontend/history.h"
#include "kontend/mem.h"
#include "kontend/reader.h"
#include "kontend/timeline.h"
#include "synth.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { CPUS = 4, TASKS = 64, LOCKS = 400, CHAINS = 600, FRAMES = 30, PIECE = 10000 };

static uint32_t rnd(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* State from which the storm's next events are drawn. */
struct storm {
	uint64_t held[TASKS], t;
	uint32_t seed;
};

static const uint32_t kinds[] = {LCB_F_WRITE, LCB_F_READ, LCB_F_MUTEX};

static void storm_step(struct storm *st, struct synth *s)
{
	uint32_t k = rnd(&st->seed) % TASKS, lock = rnd(&st->seed) % LOCKS;
	uint32_t chain = (lock + rnd(&st->seed) % 8 * 75) % CHAINS;
	uint64_t frames[FRAMES];

	st->t += 200 + rnd(&st->seed) % 20000;
	if (st->held[k]) {
		synth_end(s, k % CPUS, st->t, 1000, 1000 + (int)k, st->held[k], 0);
		st->held[k] = 0;
		return;
	}
	for (uint32_t f = 0; f < FRAMES; f++)
		frames[f] = 0xffffffff81000000ull + (f < 2 ? f : chain * FRAMES + f) * 0x110;
	st->held[k] = 0xffff888000000000ull + lock * 0x140;
	synth_begin(s, k % CPUS, st->t, 1000, 1000 + (int)k, st->held[k], kinds[lock % 3], frames,
		    FRAMES);
}

/* A source of pieces. Rings lag: a tick is for the time 1 ms before its piece's end. */
struct pieces {
	struct source source;
	struct storm *starts; /* of piece k */
	size_t n, reached, at;
	struct piece {
		struct synth *synth;
		size_t number, next, out;
		struct piece *older;
	} * newest;
	double making_s;
	uint64_t bytes;
};

static void make_piece(struct pieces *p)
{
	struct piece *new = calloc(1, sizeof(*new));
	struct storm st = p->starts[p->at];
	double t0 = now_s();

	if (!new)
		abort();
	*new = (struct piece){.synth = synth_new(CPUS), .number = p->at, .older = p->newest};
	synth_kernel_chains(new->synth);
	if (p->reached == 0)
		synth_prologue(new->synth, NULL);
	for (size_t i = 0; i < PIECE; i++)
		storm_step(&st, new->synth);
	synth_tick(new->synth, st.t - 1000000);
	if (p->at + 1 == p->n)
		synth_tick(new->synth, st.t);
	p->newest = new;
	p->starts[++p->at] = st;
	if (p->at > p->reached)
		p->reached = p->at;
	p->making_s += now_s() - t0;
}

/* Pieces that were read and given back. */
static void drop_pieces(struct pieces *p)
{
	for (struct piece **at = &p->newest; *at;) {
		struct piece *old = *at;
		if (old->out || old->next < synth_count(old->synth)) {
			at = &old->older;
			continue;
		}
		*at = old->older;
		double t0 = now_s();
		synth_free(old->synth);
		free(old);
		p->making_s += now_s() - t0;
	}
}

static int pieces_next(struct source *s, int timeout_ms, struct record *ret, struct error *err)
{
	struct pieces *p = (struct pieces *)s;

	(void)timeout_ms;
	(void)err;
	if (!p->newest || p->newest->next == synth_count(p->newest->synth)) {
		if (p->at == p->n)
			return SOURCE_END;
		make_piece(p);
	}
	*ret = *synth_at(p->newest->synth, p->newest->next++);
	ret->owner = p->newest;
	p->newest->out++;
	p->bytes += ret->len;
	return 0;
}

static void pieces_release(struct source *s, struct record *r)
{
	((struct piece *)r->owner)->out--;
	drop_pieces((struct pieces *)s);
}

static uint64_t pieces_mark(struct source *s)
{
	const struct pieces *p = (struct pieces *)s;
	const struct piece *k = p->newest;

	while (k && k->older)
		k = k->older;
	return k ? k->number : p->at;
}

static int pieces_seek(struct source *s, uint64_t mark, struct error *err)
{
	struct pieces *p = (struct pieces *)s;

	(void)err;
	if (p->newest)
		p->newest->next = synth_count(p->newest->synth);
	drop_pieces(p);
	p->at = mark;
	return 0;
}

static void pieces_free(struct source *s)
{
	struct pieces *p = (struct pieces *)s;

	pieces_seek(s, 0, NULL);
	free(p->starts);
	free(p);
}

static struct pieces *make_pieces(size_t events)
{
	static const struct source_ops ops = {.next = pieces_next,
					      .release = pieces_release,
					      .mark = pieces_mark,
					      .seek = pieces_seek,
					      .free = pieces_free};
	struct pieces *p = calloc(1, sizeof(*p));

	if (!p)
		abort();
	p->source.ops = &ops;
	p->n = (events + PIECE - 1) / PIECE;
	p->starts = calloc(p->n + 1, sizeof(*p->starts));
	if (!p->starts)
		abort();
	p->starts[0] = (struct storm){.seed = 42, .t = 1000000000};
	return p;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* @bytes and @making_s: what the source says of what it has given so far. */
static int bench_seeks(struct source *s, const uint64_t *bytes, const double *making_s,
		       size_t seeks)
{
	double *took = calloc(seeks, sizeof(*took)), t0 = now_s();
	struct engine e;
	struct error err = {0};
	struct timeline *t;
	struct rusage ru;
	uint32_t seed = 7;

	if (!took || engine_init(&e, s, NULL, &err) || timeline_new(&t, &e, NULL, &err)) {
		fprintf(stderr, "seek: %s\n", err.text);
		return 1;
	}
	printf("%" PRIu64 " events, %.0f MB, model of %.1f MB (%zu cells)\n", e.model->n_events,
	       (double)*bytes / 1e6, (double)model_bytes(e.model) / 1e6, e.model->cells->n);
	printf("first pass:  %7.0f ms\n", (now_s() - t0 - *making_s) * 1e3);
	uint64_t begin = timeline_begin_ns(t), span = timeline_end_ns(t) - begin;
	for (size_t i = 0; i < seeks; i++) {
		uint64_t to = begin + (uint64_t)((double)rnd(&seed) / (1 << 24) * (double)span);
		double made_s = *making_s;
		t0 = now_s();
		if (timeline_seek(t, to, &err)) {
			fprintf(stderr, "seek: %s\n", err.text);
			return 1;
		}
		took[i] = (now_s() - t0 - (*making_s - made_s)) * 1e3;
	}
	qsort(took, seeks, sizeof(*took), by_value);
	getrusage(RUSAGE_SELF, &ru);
	printf("%zu seeks:    %7.1f ms median, %.1f ms worst; %ld MB resident at most\n", seeks,
	       took[seeks / 2], took[seeks - 1], ru.ru_maxrss / 1024);
	timeline_free(t);
	engine_deinit(&e);
	free(took);
	return 0;
}

static int seeks_in_storm(size_t events, size_t seeks)
{
	struct pieces *p = make_pieces(events);

	return bench_seeks(&p->source, &p->bytes, &p->making_s, seeks);
}

static int seeks_in_file(const char *path, size_t seeks)
{
	struct reader_options options = {.path = path};
	struct reader_stat stat;
	struct error err = {0};
	struct source *s;
	const double nothing = 0;

	if (reader_new(&s, &options, &err)) {
		fprintf(stderr, "seek: %s\n", err.text);
		return 1;
	}
	reader_stat(s, &stat);
	return bench_seeks(s, &stat.size, &nothing, seeks);
}

/* The same stream, through an engine alone or through one with a history. CPU seconds. */
static double run_live(size_t events, bool with_history)
{
	struct pieces *p = make_pieces(events);
	struct source *s = &p->source;
	struct history_stat stat;
	struct engine e;
	struct error err = {0};
	double t0 = now_s();
	int r;

	if ((with_history && history_new(&s, &p->source, NULL, &err)) ||
	    engine_init(&e, s, NULL, &err))
		abort();
	while ((r = engine_pump(&e, 0, &err)) != ENGINE_END) {
		if (r < 0)
			abort();
		if (r == ENGINE_TICK && with_history)
			history_note(s, &e);
	}
	double took = now_s() - t0 - p->making_s;
	if (with_history) {
		history_stat(s, &stat);
		printf("history:     %7.1f MB hold %.1f MB of records, the last %.1f s; %.1f MB of "
		       "models\n",
		       (double)stat.bytes / 1e6, (double)stat.raw_bytes / 1e6,
		       (double)(e.model->now_ns - stat.begin_ns) / 1e9,
		       (double)stat.model_bytes / 1e6);
	}
	engine_deinit(&e);
	return took;
}

int main(int argc, char **argv)
{
	char *end = NULL;
	size_t events = argc > 1 ? strtoull(argv[1], &end, 10) : 5000000;
	size_t seeks = argc > 2 ? strtoull(argv[2], NULL, 10) : 50;

	if (seeks && end && *end)
		return seeks_in_file(argv[1], seeks);
	if (!events || !seeks || seeks_in_storm(events, seeks))
		return 1;
	size_t part = events < 1000000 ? events : 1000000;
	double alone = run_live(part, false), with = run_live(part, true);
	printf("live:        %7.0f ns an event, %.0f ns with a history\n",
	       alone * 1e9 / (double)part, with * 1e9 / (double)part);
	return 0;
}
