// SPDX-License-Identifier: GPL-2.0-only
/*
 * mutant [--runs N] [--seconds N] [--seed N] [--write FOLDER] FILE... [CORPUS]: gives damaged
 * copies of recordings (mutate.h) to all code that reads them: the reader, back and forth and
 * through a pipe, the engine, each view in each format, the printer of events, and the salvage of
 * torn files. The current input is kept in `failing.bin` of the current directory when something
 * aborts. With
 * --write the copies are files, to be read elsewhere.
 */
#include "fuzz.h"
#include "kontend/engine.h"
#include "kontend/limits.h"
#include "kontend/mem.h"
#include "kontend/reader.h"
#include "kontend/report.h"
#include "kontend/script.h"
#include "kontend/tracefile.h"
#include "mutate.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FILES_MOST = 64, VIEWS = 15, FORMATS = 3, SYMBOLS_EACH = 8 };

int fuzz_reader(const uint8_t *data, size_t size);
int fuzz_recover(const uint8_t *data, size_t size);

static struct mutate_bytes files[FILES_MOST];
static size_t n_files, n_whole;
static struct {
	const uint8_t *volatile p;
	volatile size_t n;
} trying; /* for the signal handler alone */

static void keep(int sig)
{
	int fd = open("failing.bin", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd >= 0) {
		ssize_t n = write(fd, trying.p, trying.n);
		(void)n;
		close(fd);
	}
	signal(sig, SIG_DFL);
	raise(sig);
}

static void read_file(const char *path)
{
	struct mutate_bytes *b = &files[n_files];
	char piece[65536];
	FILE *f = fopen(path, "re");
	size_t n;

	fuzz_require(f && n_files < FILES_MOST);
	while ((n = fread(piece, 1, sizeof(piece), f)) > 0)
		mutate_put(b, piece, n);
	fclose(f);
	n_files++;
}

/* The files of a folder, found before; they come after the whole recordings. */
static void read_path(const char *path)
{
	char file[4096];
	DIR *d = opendir(path);

	if (!d) {
		read_file(path);
		n_whole = n_files;
		return;
	}
	for (struct dirent *e; (e = readdir(d));) {
		snprintf(file, sizeof(file), "%s/%s", path, e->d_name);
		if (e->d_name[0] != '.')
			read_file(file);
	}
	closedir(d);
}

static void report(struct query *q, unsigned views, enum report_format format, FILE *out)
{
	struct report_spec s = {.format = format, .views = views, .width = 100};
	struct error err = {0};

	query_begin(q);
	int r = report_write(q, &s, out, &err);
	fuzz_require(r == 0 || err.text[0]);
}

/* Each view alone and all together, in a format that is drawn. */
static void report_all(const struct engine *e, struct mutate_random *r, FILE *out)
{
	enum report_format format = (enum report_format)mutate_draw(r, FORMATS);
	struct query q;

	if (query_init(&q, e) < 0)
		return;
	for (unsigned i = 0; i < VIEWS; i++)
		report(&q, 1u << i, format, out);
	if (format != REPORT_CSV)
		report(&q, REPORT_ALL, format, out);
	query_deinit(&q);
}

/* Receivers of each event; both NULL: none. */
struct watched {
	struct script *script;
	struct tracefile *trace;
};

/* Draws no receiver, lines as text or JSON, or a trace. */
static void watch(struct watched *w, struct engine *e, struct mutate_random *r, FILE *out)
{
	enum { NOBODY, TEXT, JSON, WATCHED = JSON + 1 };
	unsigned draw = mutate_draw(r, WATCHED + TRACEFILE_FORMATS);
	const struct tracefile_spec spec = {.format = (enum tracefile_format)(draw - WATCHED),
					    .version = "fuzz"};
	struct error err = {0};

	*w = (struct watched){0};
	if (draw >= WATCHED) {
		if (tracefile_new(&w->trace, &spec, e, out, &err) == 0)
			e->watch = tracefile_watch(w->trace);
	} else if (draw != NOBODY && script_new(&w->script, e, out, draw == JSON) == 0) {
		e->watch = script_watch(w->script);
	}
}

static void end_watch(struct watched *w)
{
	struct error err = {0};

	if (w->trace)
		fuzz_require(tracefile_finish(w->trace, &err) == 0 || err.text[0]);
	tracefile_free(w->trace);
	script_free(w->script);
}

static void play(const uint8_t *p, size_t n, struct mutate_random *r, FILE *out)
{
	static const struct model_limits few = {256, 256, 256, 1024, 256, .held = 256};
	struct reader_options o = {.path = "input",
				   .bytes = n ? p : (const uint8_t *)"",
				   .n_bytes = n,
				   .no_symbols = true};
	struct watched watched;
	struct error err = {0};
	struct engine e;
	struct source *s;
	int code;

	if (reader_new(&s, &o, &err)) {
		fuzz_require(err.text[0]);
		return;
	}
	if (engine_init(&e, s, &few, &err)) {
		source_free(s);
		return;
	}
	watch(&watched, &e, r, out);
	do
		code = engine_pump(&e, 0, &err);
	while (code >= 0 && code != ENGINE_END);
	fuzz_require(code == ENGINE_END || err.text[0]);
	report_all(&e, r, out);
	end_watch(&watched);
	engine_deinit(&e);
}

static void try(const struct mutate_bytes *b, struct mutate_random *r, FILE *out)
{
	/* In a block of exactly its size: the sanitizer finds a read past its end. */
	uint8_t *exact = mem_calloc(b->n ? b->n : 1, 1);

	fuzz_require(exact);
	if (b->n)
		memcpy(exact, b->p, b->n);
	trying.p = exact;
	trying.n = b->n;
	long live = mem_live();
	fuzz_reader(exact, b->n);
	fuzz_recover(exact, b->n);
	play(exact, b->n, r, out);
	fuzz_require(mem_live() == live);
	mem_free(exact);
}

static void write_copy(const struct mutate_bytes *b, const char *folder, uint64_t i)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/mutant-%05llu.data", folder, (unsigned long long)i);
	FILE *f = fopen(path, "we");
	fuzz_require(f && fwrite(b->p, 1, b->n, f) == b->n && fclose(f) == 0);
}

/* Of a recording that is whole. */
static uint64_t ticks_of(const uint8_t *p, size_t n)
{
	struct reader_options o = {.path = "input", .bytes = p, .n_bytes = n, .no_symbols = true};
	struct error err = {0};
	struct engine e;
	struct source *s;
	int code;

	fuzz_require(!reader_new(&s, &o, &err) && !engine_init(&e, s, NULL, &err));
	do
		code = engine_pump(&e, 0, &err);
	while (code >= 0 && code != ENGINE_END);
	fuzz_require(code == ENGINE_END);
	uint64_t n_ticks = e.model->n_ticks;
	engine_deinit(&e);
	return n_ticks;
}

/* A recording that is taken apart and put together has the same content: damage is ours alone. */
static void check_packing(const struct mutate_bytes *b)
{
	struct mutate_bytes plain = {0}, packed = {0}, again = {0};
	const size_t head = 16;

	if (b->n < head || b->p[8] != head)
		return;
	mutate_unpack(b->p + head, b->n - head, &plain);
	mutate_pack(plain.p, plain.n, &packed);
	mutate_unpack(packed.p, packed.n, &again);
	fuzz_require(plain.n == again.n && (!plain.n || !memcmp(plain.p, again.p, plain.n)));
	mem_free(plain.p);
	mem_free(packed.p);
	mem_free(again.p);
}

static uint64_t number(const char *s)
{
	char *end;
	uint64_t n = strtoull(s, &end, 10);

	fuzz_require(*s && !*end);
	return n;
}

int main(int argc, char **argv)
{
	uint64_t runs = UINT64_MAX, seconds = 0, seed = 1, i = 0;
	const char *folder = NULL;
	time_t begun = time(NULL);
	FILE *out = fopen("/dev/null", "we");
	int at = 1;

	for (; at + 1 < argc && argv[at][0] == '-'; at += 2) {
		if (!strcmp(argv[at], "--runs"))
			runs = number(argv[at + 1]);
		else if (!strcmp(argv[at], "--seconds"))
			seconds = number(argv[at + 1]);
		else if (!strcmp(argv[at], "--seed"))
			seed = number(argv[at + 1]);
		else if (!strcmp(argv[at], "--write"))
			folder = argv[at + 1];
	}
	for (; at < argc; at++)
		read_path(argv[at]);
	fuzz_require(out && n_files && (runs != UINT64_MAX || seconds));
	signal(SIGABRT, keep);
	signal(SIGSEGV, keep);
	signal(SIGILL, keep);
	for (size_t k = 0; k < n_files && !folder; k++) {
		struct mutate_random r = {88172645463325252u};
		try(&files[k], &r, out);
		if (k >= n_whole)
			continue;
		check_packing(&files[k]);
		fuzz_require(ticks_of(files[k].p, files[k].n) > 0);
	}
	for (; i < runs && (!seconds || time(NULL) - begun < (time_t)seconds); i++) {
		struct mutate_random r = {(seed << 32) + i + 88172645463325252u};
		struct mutate_bytes b;
		const struct mutate_bytes *from = &files[mutate_draw(&r, n_files)];
		mutate_recording(&r, from->p, from->n, &b);
		if (folder)
			write_copy(&b, folder, i);
		else
			try(&b, &r, out);
		mem_free(b.p);
	}
	fclose(out);
	for (size_t k = 0; k < n_files; k++)
		mem_free(files[k].p);
	printf("%zu files, %llu damaged copies\n", n_files, (unsigned long long)i);
	return 0;
}
