// SPDX-License-Identifier: GPL-2.0-only
/*
 * A recording has the same figures as the measurement: one stream goes through a tee into a file
 * and into an engine; the file is read into another engine; all tables of both are the same, byte
 * for byte. As it is, compressed, and as a stream that was not finished.
 *
 *     test-record-tee KONTEND
 */
#include "kontend/engine.h"
#include "kontend/live.h"
#include "kontend/mem.h"
#include "kontend/query.h"
#include "kontend/reader.h"
#include "kontend/report.h"
#include "kontend/writer.h"
#include "live.h"
#include "rig.h"
#include "tee.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { ENOUGH = 200 };

struct way {
	const char *name;
	int level;
	bool finished;
};

static void must(int answer, const struct error *err, const char *what)
{
	if (answer >= 0)
		return;
	printf("FAIL %s: %s\n", what, err->text);
	_Exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t n_events(const struct engine *e)
{
	return e->model->n_events;
}

/* All tables as JSON: names, addresses and figures. */
static char *report(struct engine *e)
{
	struct report_spec spec = {
		.format = REPORT_JSON, .views = REPORT_ALL, .source_kind = "either"};
	struct error err = {0};
	struct query q;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	must(out ? query_init(&q, e) : -1, &err, "query");
	query_begin(&q);
	must(report_write(&q, &spec, out, &err), &err, "report");
	query_deinit(&q);
	fclose(out);
	return text;
}

/* A live measurement ends when it has lasted a second and has events to compare. */
static void pump(struct engine *e, struct source *live)
{
	uint64_t begin = now_ns();
	struct error err = {0};
	int r = 0;

	while (r != ENGINE_END) {
		if (live && now_ns() - begin > 1000000000 && n_events(e) >= ENOUGH) {
			live_stop(live);
			live = NULL;
		}
		r = engine_pump(e, 100, &err);
		must(r, &err, "engine");
	}
}

/* The report of a measurement, with its file in @fd. */
static char *measure(const struct way *w, int fd, char **ret_dump, uint64_t *ret_events)
{
	struct live_options lo = {.target.kind = TARGET_SYSTEM,
				  .tick_ns = 100000000,
				  .policy = DRAIN_THROUGHPUT,
				  .how.for_perf = true};
	struct writer_options wo = {.fd = fd,
				    .name = "the test's",
				    .zstd_level = w->level,
				    .clock_id = CLOCK_MONOTONIC};
	struct error err = {0};
	struct source *live, *tee;
	struct writer *writer;
	struct engine e;

	must(live_new(&live, &lo, NULL, &err), &err, "live source");
	must(writer_new(&writer, &wo, &err), &err, "writer");
	must(tee_new(&tee, live, writer, &err), &err, "tee");
	must(engine_init(&e, tee, NULL, &err), &err, "engine");
	must(live_start(live, &err), &err, "start");
	pump(&e, live);
	if (w->finished)
		must(writer_finish(writer, &err), &err, "finish");
	writer_free(writer);
	char *text = report(&e);
	*ret_dump = rig_dump(e.model);
	*ret_events = n_events(&e);
	engine_deinit(&e);
	return text;
}

static char *replay(int fd, char **ret_dump)
{
	char path[64];
	struct reader_options o = {.path = path};
	struct error err = {0};
	struct source *s;
	struct engine e;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	must(reader_new(&s, &o, &err), &err, "reader");
	must(engine_init(&e, s, NULL, &err), &err, "engine");
	pump(&e, NULL);
	char *text = report(&e);
	*ret_dump = rig_dump(e.model);
	engine_deinit(&e);
	return text;
}

/* Where two texts part, with the line of each. */
static bool same(const char *name, const char *what, const char *a, const char *b)
{
	size_t at = 0, line = 0;

	for (; a[at] && a[at] == b[at]; at++)
		if (a[at] == '\n')
			line = at + 1;
	if (a[at] == b[at])
		return true;
	printf("FAIL %s: %s differs at byte %zu:\n  live %.300s\n  file %.300s\n", name, what, at,
	       a + line, b + line);
	return false;
}

static int check(const struct way *w)
{
	int failures = 0, fd = memfd_create("recording", MFD_CLOEXEC);
	char *dump[2];
	uint64_t events = 0;

	char *before = measure(w, fd, &dump[0], &events);
	char *after = replay(fd, &dump[1]);
	live_check(&failures, events >= ENOUGH, "%s: only %llu events to compare", w->name,
		   (unsigned long long)events);
	failures += !same(w->name, "the report", before, after);
	failures += !same(w->name, "the model", dump[0], dump[1]);
	printf("%s: %llu events, %zu bytes of report\n", w->name, (unsigned long long)events,
	       strlen(before));
	free(before);
	free(after);
	mem_free(dump[0]);
	mem_free(dump[1]);
	close(fd);
	return failures;
}

int main(int argc, char **argv)
{
	static const struct way ways[] = {
		{"file", 0, true}, {"compressed", 3, true}, {"unfinished", 0, false}};
	int failures = 0;

	if (argc != 2)
		return 2;
	live_need_root();
	const char *const demo[] = {argv[1], "demo", "--duration", "600", NULL};
	struct live_run run;
	live_run_start(&run, demo);
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		failures += check(&ways[i]);
	kill(run.pid, SIGTERM);
	live_run_end(&run);
	live_run_deinit(&run);
	return failures != 0;
}
