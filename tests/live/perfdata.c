// SPDX-License-Identifier: GPL-2.0-only
/*
 * perfdata FILE [REPEAT]: reads a recording through the whole engine, resolves each caller's name
 * as a report does, and prints contended and total wait by type, what was lost on the way, and the
 * CPU time (user + system, of the whole process) that it took. perfdata --copy FROM TO [LEVEL]:
 * reads one and writes another; with a fourth argument, a snapshot of so many bytes
 * before each round. For tests that compare with perf.
 */
#include "kontend/damage.h"
#include "kontend/engine.h"
#include "kontend/locktype.h"
#include "kontend/model-cpu.h"
#include "kontend/reader.h"
#include "kontend/stack.h"
#include "kontend/wait.h"
#include "kontend/writer.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static double cpu_s(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

/* Every row of every table could ask for these. */
static size_t name_callers(const struct engine *e)
{
	const struct model *m = e->model;
	size_t named = 0;

	for (uint32_t i = 0; i < m->stacks->n; i++) {
		const struct stack *s = &m->stacks->stacks[i];
		const uint64_t *frames = stack_frames(m->stacks, i);
		if (!s->n)
			continue;
		named += sym_name(&e->sym, frames[sym_caller(&e->sym, frames, s->n)], NULL) != NULL;
	}
	return named;
}

static void print_types(const struct model *m)
{
	for (unsigned i = 0; i < LOCK_TYPES; i++)
		if (m->types[i].contended)
			printf("%-14s %" PRIu64 " %" PRIu64 "\n", locktype_name(i),
			       m->types[i].contended, m->types[i].total_ns);
}

static void print_damage(const struct engine *e)
{
	const struct model_damage *d = e->model->damage;

	printf("failed %" PRIu64 "\n", e->model->n_failed);
	printf("events %" PRIu64 " ticks %" PRIu64 " waiting %u unmatched %" PRIu64 "+%" PRIu64
	       " doubtful %" PRIu64 " lost %" PRIu64 " late %" PRIu64 " bad %" PRIu64
	       " folded %" PRIu64 "\n",
	       e->model->n_events, e->model->n_ticks, e->model->waits->in_flight,
	       d->unmatched_begin, d->unmatched_end, d->doubtful, d->lost, d->late, d->bad,
	       d->folded);
	if (e->model->n_snapshots[SNAPSHOT_PERF])
		printf("snapshots %" PRIu64 " lost %" PRIu64 "\n",
		       e->model->n_snapshots[SNAPSHOT_PERF], d->snapshot_lost);
	for (size_t i = 0; i < e->notes.n; i++)
		printf("note: %s\n", e->notes.items[i].text);
}

static int run(const char *path, bool quiet)
{
	struct reader_options o = {.path = path};
	struct error err = {0};
	struct source *s;
	struct engine e;
	int r;

	if (reader_new(&s, &o, &err) || engine_init(&e, s, NULL, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	do {
		r = engine_pump(&e, 1000, &err);
	} while (r >= 0 && r != ENGINE_END);
	if (r < 0)
		fprintf(stderr, "%s\n", err.text);
	size_t named = name_callers(&e);
	if (!quiet) {
		print_types(e.model);
		print_damage(&e);
		printf("stacks %zu named %zu\n", e.model->stacks->n, named);
	}
	engine_deinit(&e);
	return r < 0;
}

/* Of bytes that do not pack, so that it is many samples long. */
static int put_snapshot(struct writer *w, const struct record *round, size_t len, struct error *err)
{
	struct record_snapshot head = {.kind = SNAPSHOT_PERF, .version = 1};
	struct record r = {.kind = RECORD_SNAPSHOT, .len = sizeof(head) + len};
	uint8_t *body = calloc(1, r.len);
	uint32_t seed = 1;

	if (!body || round->len != sizeof(head.time_ns))
		abort();
	memcpy(&head.time_ns, round->data, sizeof(head.time_ns));
	memcpy(body, &head, sizeof(head));
	for (size_t i = 0; i < len; i++) {
		seed = seed * 1664525 + 1013904223;
		body[sizeof(head) + i] = (uint8_t)(seed >> 24);
	}
	r.data = body;
	int e = writer_put(w, &r, err);
	free(body);
	return e;
}

/* Through the writer into another file: `recording -> recording`. */
static int copy(const char *from, const char *to, int level, size_t snapshot)
{
	static const char *const argv[] = {"kontend", "record", "-a", NULL};
	struct reader_options ro = {.path = from};
	struct writer_options wo = {.path = to, .zstd_level = level, .argv = argv, .clock_id = 1};
	struct error err = {0};
	struct source *s = NULL;
	struct writer *w = NULL;
	struct record rec;
	int r = reader_new(&s, &ro, &err);

	if (!r)
		r = writer_new(&w, &wo, &err);
	while (!r && (r = source_next(s, 1000, &rec, &err)) != SOURCE_END) {
		if (r == SOURCE_IDLE)
			r = 0;
		else if (!r) {
			if (snapshot && rec.kind == RECORD_ROUND)
				r = put_snapshot(w, &rec, snapshot, &err);
			if (!r)
				r = writer_put(w, &rec, &err);
			source_release(s, &rec);
		}
	}
	if (r == SOURCE_END)
		r = writer_finish(w, &err);
	if (r)
		fprintf(stderr, "%s\n", err.text);
	writer_free(w);
	source_free(s);
	return r != 0;
}

int main(int argc, char **argv)
{
	int repeat = argc > 2 ? atoi(argv[2]) : 1, status = 0;

	if (argc < 2)
		return 2;
	if (argc >= 4 && !strcmp(argv[1], "--copy"))
		return copy(argv[2], argv[3], argc > 4 ? atoi(argv[4]) : 0,
			    argc > 5 ? strtoul(argv[5], NULL, 0) : 0);
	for (int i = 0; i < repeat; i++)
		status |= run(argv[1], i > 0);
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	printf("cpu %.3f s, peak %ld KiB\n", cpu_s(), u.ru_maxrss);
	return status;
}
