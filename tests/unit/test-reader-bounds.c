// SPDX-License-Identifier: GPL-2.0-only
/*
 * Limits of memory for small files: each case is a file of at most some megabytes that has the same
 * entry many times over, or unpacks to much. A process reads it to its end: the kernel then reports
 * the peak of its memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/cfisnap.h"
#include "kontend/perfdata.h"
#include "kontend/writer.h"
#include "recording.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

enum { MOST_FILE = 12 << 20, MOST_KB = 600 << 10, COMM = 64 };

/* In a process of its own, which must not fail. */
struct file {
	int fd;
	struct writer *w;
};

static void must(bool ok)
{
	if (!ok)
		_exit(9);
}

static void put_bytes(struct file *f, const void *data, size_t len)
{
	must(write(f->fd, data, len) == (ssize_t)len);
}

static void put_head(struct file *f, uint32_t type, size_t size)
{
	struct perf_event_header h = {.type = type, .size = (uint16_t)size};

	put_bytes(f, &h, sizeof(h));
}

static void put_magic(struct file *f)
{
	const uint64_t head[2] = {PERFDATA_MAGIC, PERFDATA_PIPE_HEADER};

	put_bytes(f, head, sizeof(head));
}

static void put_attr_of(struct file *f, uint32_t type, uint64_t id)
{
	struct perf_event_attr a = {.type = type,
				    .size = sizeof(a),
				    .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_RAW,
				    .config = id};

	put_head(f, PERFDATA_TYPE_ATTR, sizeof(struct perf_event_header) + sizeof(a) + 8);
	put_bytes(f, &a, sizeof(a));
	put_bytes(f, &id, 8);
}

static void put_attr(struct file *f, uint64_t id)
{
	put_attr_of(f, PERF_TYPE_SOFTWARE, id);
}

static void open_writer(struct file *f)
{
	static const char *const argv[] = {"kontend", NULL};
	struct writer_options o = {.fd = f->fd, .argv = argv, .clock_id = 1};
	struct record_host host = {.clock_ns = 1000, .cpus = 1, .cpus_online = 1};
	struct record r = {.kind = RECORD_HOST, .data = &host, .len = sizeof(host)};
	struct error err;

	must(writer_new(&f->w, &o, &err) == 0 && writer_put(f->w, &r, &err) == 0);
}

static void put_record(struct file *f, enum record_kind kind, const void *data, size_t len)
{
	struct record r = {.kind = kind, .data = data, .len = len};
	struct error err;

	must(writer_put(f->w, &r, &err) == 0);
}

static void close_writer(struct file *f)
{
	struct error err;

	must(writer_finish(f->w, &err) == 0);
	writer_free(f->w);
}

/* Of tracepoint formats, up to the number of systems, 1. */
static const char formats_head[] = "\x17\x08\x44tracing0.6\0\0\x08\0\x10\0\0header_page\0\0\0\0\0"
				   "\0\0\0\0header_event\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0";

/* One long name of a system, and as many formats as there may be, each of which has a copy. */
static void formats_of_a_long_name(struct file *f)
{
	enum { NAME = 512 << 10, EVENTS = 16000 };
	uint32_t n = EVENTS;
	uint32_t size = (uint32_t)sizeof(formats_head) + NAME + 4 + EVENTS * 8;
	char *name = malloc(NAME);

	must(name != NULL);
	memset(name, 'x', NAME - 1);
	name[NAME - 1] = 0;
	put_magic(f);
	put_attr(f, 1);
	put_head(f, PERFDATA_TYPE_TRACING_DATA, 12);
	put_bytes(f, &size, 4);
	put_bytes(f, formats_head, sizeof(formats_head));
	put_bytes(f, name, NAME);
	put_bytes(f, &n, 4);
	memset(name, 0, NAME);
	put_bytes(f, name, EVENTS * 8);
}

static void packed_symbols(struct file *f)
{
	static const char line[] = "1000 t a\n";
	enum { LEN = 60 << 20 };
	char *text = malloc(LEN);

	must(text != NULL);
	for (size_t i = 0; i < LEN; i++)
		text[i] = line[i % (sizeof(line) - 1)];
	open_writer(f);
	for (int i = 0; i < 2; i++)
		put_record(f, RECORD_KALLSYMS, text, LEN);
	close_writer(f);
}

static void packed_notes(struct file *f)
{
	enum { LEN = 60 << 20 };
	char *text = calloc(1, LEN);

	must(text != NULL);
	open_writer(f);
	for (int i = 0; i < 12; i++)
		put_record(f, RECORD_NOTE, text, LEN);
	close_writer(f);
}

/* All of them are of a time that never comes. */
static void put_snapshots(struct file *f, uint8_t fill, bool numbered)
{
	enum { LEN = 15 << 20 };
	struct record_snapshot *s = malloc(LEN);

	must(s != NULL);
	memset(s, fill, LEN);
	open_writer(f);
	for (uint16_t i = 0; i < 3 * (SNAPSHOT_KINDS + 2); i++) {
		*s = (struct record_snapshot){.kind = i % (SNAPSHOT_KINDS + 2),
					      .version = 1,
					      .time_ns = numbered ? i : INT64_MAX - i};
		if (numbered)
			memcpy((char *)(s + 1) + LEN / 2, &i, sizeof(i));
		/* Those of programs' files are kept as they are. */
		if (s->kind != SNAPSHOT_BUILD_IDS)
			put_record(f, RECORD_SNAPSHOT, s, LEN);
	}
	close_writer(f);
}

static void packed_snapshots(struct file *f)
{
	put_snapshots(f, 0, false);
}

static void packed_snapshots_of_ones(struct file *f)
{
	put_snapshots(f, 1, true);
}

/* Each of another file. */
static void packed_tables(struct file *f)
{
	enum { BYTES = 7 << 20, HEAD = sizeof(struct record_snapshot) };
	static char name[] = "\0/lib/libx.so";
	struct cfisnap t = {.head = {.path = 1, .addr = 4096, .header = 4096, .entries = 4108},
			    .bytes = calloc(1, BYTES),
			    .n_bytes = BYTES,
			    .strings = name,
			    .n_strings = sizeof(name)};
	struct record_snapshot head = {.kind = SNAPSHOT_CFI, .version = CFISNAP_VERSION};
	char *body = malloc(HEAD + cfisnap_size(&t));

	must(t.bytes && body);
	open_writer(f);
	for (t.head.ino = 1; t.head.ino < 14; t.head.ino++) {
		memcpy(body, &head, HEAD);
		cfisnap_encode(&t, body + HEAD);
		struct cfisnap check = {0};
		must(cfisnap_decode(&check, body + HEAD, cfisnap_size(&t)) == 0);
		cfisnap_deinit(&check);
		put_record(f, RECORD_SNAPSHOT, body, HEAD + cfisnap_size(&t));
	}
	close_writer(f);
}

static void put_compressed(struct file *f, const void *data, size_t len)
{
	for (size_t n; len; data = (const char *)data + n, len -= n) {
		n = len < 65000 ? len : 65000;
		put_head(f, PERFDATA_TYPE_COMPRESSED, sizeof(struct perf_event_header) + n);
		put_bytes(f, data, n);
	}
}

/* @window: its logarithm. */
static void put_stream(struct file *f, int window, size_t times)
{
	enum { PIECE = 1 << 20 };
	uint8_t *piece = calloc(1, PIECE), *out = malloc(PIECE);
	struct perf_event_header h = {.type = PERF_RECORD_COMM, .size = COMM};
	ZSTD_CCtx *c = ZSTD_createCCtx();

	must(piece && out && c);
	for (size_t i = 0; i < PIECE; i += COMM)
		memcpy(piece + i, &h, sizeof(h));
	ZSTD_CCtx_setParameter(c, ZSTD_c_windowLog, window);
	put_magic(f);
	put_attr(f, 1);
	for (size_t i = 0; i < times; i++) {
		ZSTD_inBuffer in = {piece, PIECE, 0};
		ZSTD_outBuffer to = {out, PIECE, 0};
		size_t left = ZSTD_compressStream2(c, &to, &in,
						   i + 1 == times ? ZSTD_e_end : ZSTD_e_continue);
		must(!ZSTD_isError(left) && in.pos == PIECE);
		put_compressed(f, out, to.pos);
	}
}

static void packed_events(struct file *f)
{
	put_stream(f, 20, 256);
}

static void a_long_window(struct file *f)
{
	put_stream(f, 27, 160);
}

static void a_window_too_long(struct file *f)
{
	put_stream(f, 30, 4);
}

static void many_attrs(struct file *f)
{
	put_magic(f);
	for (uint64_t i = 0; i < 16000; i++)
		put_attr(f, i);
}

/* Each format is of none of the events, which are as many. */
static void many_formats(struct file *f)
{
	static const char text[] = "name: other\nID: 77\nformat:\n\tfield:unsigned short "
				   "common_type;\toffset:0;\tsize:2;\tsigned:0;\n";
	const uint64_t text_len = sizeof(text) - 1;
	const uint32_t n = 6000;
	uint32_t size = (uint32_t)(sizeof(formats_head) + 6 + 4 + n * (8 + text_len));

	put_magic(f);
	for (uint64_t i = 0; i < n; i++)
		put_attr_of(f, PERF_TYPE_TRACEPOINT, i);
	put_head(f, PERFDATA_TYPE_TRACING_DATA, 12);
	put_bytes(f, &size, 4);
	put_bytes(f, formats_head, sizeof(formats_head));
	put_bytes(f, "other", 6);
	put_bytes(f, &n, 4);
	for (uint32_t i = 0; i < n; i++) {
		put_bytes(f, &text_len, 8);
		put_bytes(f, text, text_len);
	}
	put_bytes(f, "\0\0\0", 4);
}

/* Gives a size beyond the end of the file. */
static void long_aux(struct file *f)
{
	uint64_t size = UINT64_MAX - 7, none = 0;

	put_magic(f);
	put_attr(f, 1);
	put_head(f, PERFDATA_TYPE_AUXTRACE, 16);
	put_bytes(f, &size, 8);
	put_bytes(f, &none, 8);
}

static const struct bound {
	const char *what;
	void (*make)(struct file *f);
	int answer;
} bounds[] = {
	{"formats of a long name", formats_of_a_long_name, -E2BIG},
	{"packed symbols", packed_symbols, 0},
	{"packed notes", packed_notes, 0},
	{"packed snapshots", packed_snapshots, 0},
	{"packed snapshots of ones", packed_snapshots_of_ones, 0},
	{"packed tables", packed_tables, 0},
	{"packed events", packed_events, 0},
	{"a long window", a_long_window, 0},
	{"a window too long", a_window_too_long, 0},
	{"many events", many_attrs, 0},
	{"many formats", many_formats, 0},
	{"aux data", long_aux, 0},
};

static void make_file(const struct bound *b, int fd)
{
	struct file f = {.fd = fd};

	b->make(&f);
	_exit(0);
}

static void read_it(const struct bound *b, int fd)
{
	struct recording_result res;
	char path[32];

	/* Unbounded memory shall not take the machine; a sanitizer needs more addresses. */
#ifndef __SANITIZE_ADDRESS__
	const struct rlimit most = {4ul << 30, 4ul << 30};

	setrlimit(RLIMIT_AS, &most);
#endif
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	recording_read(&res, path, 0);
	if (res.answer != b->answer)
		fprintf(stderr, "%s: %d (%s)\n", b->what, res.answer, res.err.text);
	_exit(res.answer == b->answer ? 0 : 8);
}

/* Most KiB that it had in memory at any time. */
static long run(const struct bound *b, int fd, void (*what)(const struct bound *b, int fd))
{
	struct rusage u;
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid)
		what(b, fd);
	assert_int_equal(wait4(pid, &status, 0, &u), pid);
	assert_int_equal(status, 0);
	return u.ru_maxrss;
}

static void memory_is_bounded(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bounds) / sizeof(*bounds); i++) {
		const struct bound *b = &bounds[i];
		int fd = memfd_create("bound", 0);
		struct stat st;

		assert_true(fd >= 0);
		run(b, fd, make_file);
		assert_int_equal(fstat(fd, &st), 0);
		long kb = run(b, fd, read_it);
		print_message("%s: %lld bytes of file, %ld KiB\n", b->what, (long long)st.st_size,
			      kb);
		assert_true(st.st_size < MOST_FILE);
		assert_true(kb < MOST_KB);
		close(fd);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(memory_is_bounded)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
