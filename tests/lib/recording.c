// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files as perf writes them are built here by hand, from the description of the format and not with
 * the code under test, so that reader and writer cannot agree on a mistake.
 */
#include "recording.h"
#include "../../src/file/pack.h"
#include "kontend/damage.h"
#include "kontend/mem.h"
#include "kontend/perfdata.h"
#include "kontend/writer.h"
#include "rig.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void must(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "recording: %s\n", what);
	abort();
}

static void put_bytes(struct recording *r, const void *data, size_t len)
{
	uint8_t *more = realloc(r->data, r->len + len + 1);

	must(more != NULL, "out of memory");
	r->data = more;
	if (len)
		memcpy(r->data + r->len, data, len);
	r->len += len;
}

static void put_u32(struct recording *r, uint32_t v)
{
	put_bytes(r, &v, sizeof(v));
}

static void put_u64(struct recording *r, uint64_t v)
{
	put_bytes(r, &v, sizeof(v));
}

static void put_header(struct recording *r, uint32_t type, size_t size)
{
	struct perf_event_header h = {.type = type, .size = (uint16_t)size};

	put_bytes(r, &h, sizeof(h));
}

void recording_free(struct recording *r)
{
	free(r->data);
	*r = (struct recording){0};
}

struct recording recording_of(int fd)
{
	struct recording r = {0};
	struct stat st;

	must(!fstat(fd, &st), "fstat");
	r.len = (size_t)st.st_size;
	r.data = malloc(r.len + 1);
	must(r.data && pread(fd, r.data, r.len, 0) == (ssize_t)r.len, "read back");
	return r;
}

struct writer *recording_writer(struct source *source, int flags, int *ret_fd)
{
	static const char *const argv[] = {"kontend", "record", NULL};
	int fd = memfd_create("recording", 0), r;
	struct writer_options o = {.fd = fd,
				   .argv = argv,
				   .clock_id = 1,
				   .zstd_level = flags & RECORDING_ZSTD ? 3 : 0};
	struct error err = {0};
	struct writer *w;
	struct record rec;

	*ret_fd = fd;
	must(fd >= 0 && !writer_new(&w, &o, &err), err.text);
	while ((r = source_next(source, 0, &rec, &err)) == 0) {
		must(!writer_put(w, &rec, &err), err.text);
		source_release(source, &rec);
	}
	must(r == SOURCE_END, err.text);
	if (!(flags & RECORDING_PIPE))
		must(!writer_finish(w, &err), err.text);
	source_free(source);
	return w;
}

struct recording recording_written(struct source *source, int flags)
{
	int fd;

	writer_free(recording_writer(source, flags, &fd));
	struct recording out = recording_of(fd);
	close(fd);
	return out;
}

/* --- as perf writes it --------------------------------------------------------------------------
 */

static void put_tracing(struct recording *r, struct synth *s)
{
	uint32_t n = 0;

	put_bytes(r, "\x17\x08\x44tracing0.6", 14);
	put_bytes(r, "\0\x08", 2); /* little endian (the first byte), long of 8 bytes */
	put_u32(r, 4096);
	put_bytes(r, "header_page", 12);
	put_u64(r, 5);
	put_bytes(r, "page\n", 5);
	put_bytes(r, "header_event", 13);
	put_u64(r, 6);
	put_bytes(r, "event\n", 6);
	put_u32(r, 1); /* an event of the ring's own */
	put_u64(r, 4);
	put_bytes(r, "x: 1", 4);
	for (size_t i = 0; i < synth_count(s); i++)
		n += synth_at(s, i)->kind == RECORD_FORMAT;
	put_u32(r, 1);
	put_bytes(r, "lock", 5);
	put_u32(r, n);
	for (size_t i = 0; i < synth_count(s); i++) {
		const struct record *f = synth_at(s, i);
		if (f->kind != RECORD_FORMAT)
			continue;
		put_u64(r, f->len - 5);
		put_bytes(r, (const char *)f->data + 5, f->len - 5);
	}
	put_u32(r, 0);
	put_u32(r, 0);
	put_u64(r, 0);
}

/* A run as perf record -z has it: the next pieces of one zstd stream, a record each. */
static void put_packed(struct recording *r, struct pack *pack, const uint8_t *data, size_t len)
{
	enum { PIECE = 8192 };
	uint8_t buf[2 * PIECE];

	for (size_t at = 0; at < len; at += PIECE) {
		long n = pack_some(pack, data + at, len - at < PIECE ? len - at : PIECE, buf,
				   sizeof(buf), 0);
		must(n > 0, "cannot pack");
		put_header(r, PERFDATA_TYPE_COMPRESSED, 8 + (size_t)n);
		put_bytes(r, buf, (size_t)n);
	}
}

static void put_runs(struct recording *r, struct synth *s, int flags)
{
	struct pack pack = {.level = 1};

	for (size_t i = 0; i < synth_count(s); i++) {
		const struct record *e = synth_at(s, i);
		if (e->kind == RECORD_PERF && flags & RECORDING_ZSTD)
			put_packed(r, &pack, e->data, e->len);
		else if (e->kind == RECORD_PERF)
			put_bytes(r, e->data, e->len);
		else if (e->kind == RECORD_ROUND)
			put_header(r, PERFDATA_TYPE_FINISHED_ROUND, 8);
	}
	pack_deinit(&pack);
}

static void pipe_layout(struct recording *r, struct synth *s, int flags)
{
	struct recording tracing = {0};

	put_u64(r, PERFDATA_MAGIC);
	put_u64(r, PERFDATA_PIPE_HEADER);
	for (size_t i = 0; i < synth_count(s); i++) {
		const struct record *e = synth_at(s, i);
		if (e->kind != RECORD_ATTR)
			continue;
		put_header(r, PERFDATA_TYPE_ATTR, 8 + e->len);
		put_bytes(r, e->data, e->len);
	}
	put_header(r, PERFDATA_TYPE_FEATURE, 8 + 8 + 8);
	put_u64(r, PERFDATA_NRCPUS);
	put_u32(r, 2);
	put_u32(r, 2);
	put_tracing(&tracing, s);
	while (tracing.len % 8)
		put_bytes(&tracing, "", 1);
	put_header(r, PERFDATA_TYPE_TRACING_DATA, 12);
	put_u32(r, (uint32_t)tracing.len);
	put_bytes(r, tracing.data, tracing.len);
	recording_free(&tracing);
	put_runs(r, s, flags);
}

static void file_attrs(struct recording *r, struct synth *s, struct perfdata_header *h)
{
	uint64_t ids = sizeof(*h);

	put_bytes(r, h, sizeof(*h));
	for (size_t i = 0; i < synth_count(s); i++) {
		const struct record *e = synth_at(s, i);
		if (e->kind == RECORD_ATTR)
			put_bytes(r, (const uint8_t *)e->data + 128, e->len - 128);
	}
	h->attrs.offset = r->len;
	h->attr_size = 128 + 16;
	for (size_t i = 0; i < synth_count(s); i++) {
		const struct record *e = synth_at(s, i);
		if (e->kind != RECORD_ATTR)
			continue;
		put_bytes(r, e->data, 128);
		put_u64(r, ids);
		put_u64(r, e->len - 128);
		ids += e->len - 128;
		h->attrs.size += h->attr_size;
	}
}

static void file_layout(struct recording *r, struct synth *s, int flags)
{
	struct perfdata_header h = {.magic = PERFDATA_MAGIC, .size = sizeof(h)};
	struct recording tracing = {0};

	file_attrs(r, s, &h);
	h.data.offset = r->len;
	put_runs(r, s, flags);
	h.data.size = r->len - h.data.offset;
	h.features[0] = 1u << PERFDATA_TRACING_DATA | 1u << PERFDATA_OSRELEASE | 1u << 10;
	put_tracing(&tracing, s);
	uint64_t at = r->len + 3 * 16;
	put_u64(r, at);
	put_u64(r, tracing.len);
	put_u64(r, at + tracing.len);
	put_u64(r, 4 + 8);
	put_u64(r, 12345678); /* total memory, which kontend ignores: wherever it is */
	put_u64(r, 8);
	put_bytes(r, tracing.data, tracing.len);
	put_u32(r, 8);
	put_bytes(r, "6.18.44", 8);
	recording_free(&tracing);
	memcpy(r->data, &h, sizeof(h));
}

struct recording recording_perf(struct synth *s, int flags)
{
	struct recording r = {0};

	/* Records added since the last round become runs. */
	source_free(synth_source(s));
	if (flags & RECORDING_PIPE)
		pipe_layout(&r, s, flags);
	else
		file_layout(&r, s, flags);
	return r;
}

enum { MS = 1000000 };

void recording_waits(struct synth *s, unsigned rounds, unsigned waits)
{
	uint64_t frames[6], t = 1000 * MS;

	for (unsigned r = 0; r < rounds; r++) {
		for (unsigned i = 0; i < waits; i++, t += MS) {
			uint64_t lock = 0xffff888000001000 + i % 5 * 64;
			int tid = 100 + (int)(i % 4);
			for (unsigned f = 0; f < 6; f++)
				frames[f] = synth_addr(SYNTH_VM_MUNMAP) + f * 4096 + i % 3;
			synth_begin(s, i % 2, t, 100, tid, lock, LCB_F_WRITE, frames, 6);
			synth_end(s, (i + 1) % 2, t + 100 + i, 100, tid, lock, 0);
		}
		if (r + 1 < rounds)
			synth_round(s, t - MS);
	}
	synth_tick(s, t - MS + 100 + waits - 1);
}

/* --- reading ------------------------------------------------------------------------------------
 */

void recording_read(struct recording_result *ret, const char *path, uint64_t tick_ns)
{
	struct reader_options o = {.path = path, .tick_ns = tick_ns, .no_symbols = true};
	struct source *s;
	struct engine e;
	int r;

	*ret = (struct recording_result){0};
	r = reader_new(&s, &o, &ret->err);
	if (!r) {
		r = engine_init(&e, s, NULL, &ret->err);
		if (r)
			source_free(s);
	}
	ret->answer = r;
	if (r)
		return;
	do {
		struct reader_stat st;
		r = engine_pump(&e, 0, &ret->err);
		reader_stat(s, &st);
		if (st.held_bytes > ret->most_held)
			ret->most_held = st.held_bytes;
	} while (r >= 0 && r != ENGINE_END && r != ENGINE_IDLE);
	ret->answer = r < 0 ? r : 0;
	ret->events = e.model->n_events;
	ret->ticks = e.model->n_ticks;
	ret->elapsed_ns = e.model->now_ns - e.model->start_ns;
	ret->notes = e.notes.n;
	ret->bad = e.model->damage->bad;
	ret->late = e.model->damage->late;
	snprintf(ret->note, sizeof(ret->note), "%s", e.notes.n ? e.notes.items[0].text : "");
	if (r >= 0)
		ret->dump = rig_dump(e.model);
	engine_deinit(&e);
}

/* In place of the last of its features. */
void recording_tell_span(struct recording *r, uint64_t from, uint64_t to)
{
	enum { DATA_AT = 40, FEATURES_AT = 72, OTHER = 10, THIRD = 2 * 16 };
	uint64_t data[2], features, section[2] = {r->len, 16}, span[2] = {from, to};

	memcpy(data, r->data + DATA_AT, sizeof(data));
	memcpy(&features, r->data + FEATURES_AT, sizeof(features));
	features = (features & ~(1ull << OTHER)) | 1ull << PERFDATA_SAMPLE_TIME;
	memcpy(r->data + FEATURES_AT, &features, sizeof(features));
	memcpy(r->data + data[0] + data[1] + THIRD, section, sizeof(section));
	put_bytes(r, span, sizeof(span));
}

void recording_read_bytes(struct recording_result *ret, const void *data, size_t len)
{
	char path[64];
	int fd = memfd_create("recording", 0);

	must(fd >= 0 && write(fd, data, len) == (ssize_t)len, "memfd");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	recording_read(ret, path, UINT64_MAX / 4);
	close(fd);
}

void recording_result_free(struct recording_result *r)
{
	mem_free(r->dump);
	r->dump = NULL;
}
