// SPDX-License-Identifier: GPL-2.0-only
/*
 * The stream into a file, record by record. Records without a perf type become samples of kontend's
 * event. Long bodies (the symbols' text) are compressed, since they are text, and cut into chunks,
 * since the size of a record has 16 bits. The samples have the session's latest time, so that perf,
 * which sorts by time, keeps their order.
 */
#include "writer.h"
#include "kernel.h"
#include "kontend/mem.h"
#include "kontend/snapshot.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	PACK_FROM = 4096,
	PACK_LEVEL = 1,
	EXT_PLAIN = 512, /* a shorter sample of kontend is not worth a frame */
};

struct sample {
	struct perf_event_header header;
	uint64_t id, ip;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
};

struct perf_event_attr writer_ext_attr(void)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE,
		.size = WRITER_ATTR,
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.sample_period = 1,
		.sample_type = PERFDATA_EXT_SAMPLE,
		.sample_id_all = 1,
	};

	return a;
}

static int add_sample(struct writer *w, struct writer_bytes *b, const struct perfdata_ext *h,
		      const void *data, size_t n)
{
	struct sample s = {
		.header = {.type = PERF_RECORD_SAMPLE, .misc = PERF_RECORD_MISC_KERNEL},
		.id = PERFDATA_EXT_ID,
		.time = w->now,
	};
	size_t pad = (8 - (sizeof(uint32_t) + sizeof(*h) + n) % 8) % 8;
	uint32_t raw = (uint32_t)(sizeof(*h) + n + pad);

	s.header.size = (uint16_t)(sizeof(s) + sizeof(raw) + raw);
	writer_bytes_add(b, &s, sizeof(s));
	writer_bytes_add(b, &raw, sizeof(raw));
	writer_bytes_add(b, h, sizeof(*h));
	writer_bytes_add(b, data, n);
	return writer_bytes_add(b, NULL, pad);
}

static int add_chunks(struct writer *w, struct writer_bytes *b, struct perfdata_ext *h,
		      const uint8_t *data)
{
	int e = 0;

	do {
		size_t left = h->stored - h->offset;
		size_t n = left < PERFDATA_EXT_CHUNK ? left : PERFDATA_EXT_CHUNK;
		h->here = (uint16_t)n;
		e = add_sample(w, b, h, data + h->offset, n);
		h->offset += (uint32_t)n;
	} while (!e && h->offset < h->stored);
	return e;
}

/* Adds a record of kontend to @b, in as many samples as necessary. 0 or negative. */
static int add_record(struct writer *w, struct writer_bytes *b, const struct record *r)
{
	struct perfdata_ext h = {
		.magic = PERFDATA_EXT_MAGIC,
		.version = PERFDATA_EXT_VERSION,
		.kind = (uint16_t)r->kind,
		.ring = r->ring,
		.stored = (uint32_t)r->len,
		.length = (uint32_t)r->len,
	};

	if (r->len > PERFDATA_EXT_MOST)
		return -EFBIG;
	/* not twice: a compressed stream compresses it anyway */
	if (r->len < PACK_FROM || w->pack.level)
		return add_chunks(w, b, &h, r->data);
	size_t room = pack_bound(r->len);
	uint8_t *packed = mem_resize(NULL, room, 1);
	long n = packed ? pack_frame(r->data, r->len, packed, room, PACK_LEVEL) : -ENOMEM;
	if (n > 0) {
		h.flags = PERFDATA_EXT_ZSTD;
		h.stored = (uint32_t)n;
	}
	int e = n < 0 ? (int)n : add_chunks(w, b, &h, packed);
	mem_free(packed);
	return e;
}

/* Samples of kontend wait until the head is written before them. */
static int put_ext(struct writer *w, const struct record *r, struct error *err)
{
	struct writer_bytes b = {0};
	int e = add_record(w, w->begun ? &b : &w->early, r);
	struct iovec v = {b.data, b.len};

	if (e)
		e = writer_no_memory(w, err);
	else if (w->begun && b.len < EXT_PLAIN)
		e = writer_put_plain(w, b.data, b.len, err);
	else if (w->begun)
		e = writer_put_data(w, &v, 1, err);
	mem_free(b.data);
	return e;
}

/*
 * At such a mark perf releases everything that it had read at the mark before. kontend's records
 * have the time of the last round, which is the time when the drain of the round before it began:
 * no record before a mark two rounds ago is newer, but records in between may be. With a mark at
 * every second round none of kontend's records is older than those that perf has released.
 */
static int put_round(struct writer *w, const struct record *r, uint64_t before, struct error *err)
{
	struct perf_event_header h = {.type = PERFDATA_TYPE_FINISHED_ROUND, .size = sizeof(h)};
	int e = put_ext(w, r, err);

	w->rounds += w->now > before;
	return e || w->now == before || w->rounds % 2 ? e : writer_put_plain(w, &h, sizeof(h), err);
}

/* The symbols are in frames of their own, so that other symbols can replace them. */
static int put_early(struct writer *w, struct error *err)
{
	struct writer_symbols *s = &w->symbols;
	const uint64_t ends[] = {s->from, s->to, w->early.len};
	uint64_t *places[] = {&s->from, &s->to, NULL};
	int e = 0;

	for (uint64_t i = 0, at = 0; !e && i < 3; at = ends[i++]) {
		if (at < ends[i])
			e = writer_data(w, w->early.data + at, ends[i] - at, err);
		if (places[i])
			*places[i] = w->good + w->out.len;
	}
	return e;
}

int writer_begin(struct writer *w, struct error *err)
{
	if (w->begun)
		return 0;
	w->begun = true;
	int e = writer_head(w, err);
	if (!e)
		e = put_early(w, err);
	mem_free(w->early.data);
	w->early = (struct writer_bytes){0};
	if (!e && w->max_bytes && w->can_seek && writer_end_bytes(w, &w->end_bytes))
		e = writer_no_memory(w, err);
	uint64_t used = w->good + w->out.len + w->end_bytes;
	if (e || !w->max_bytes || used <= w->max_bytes)
		return e;
	w->failed = true;
	return error_set(err, -EFBIG,
			 "Cannot write '%s': the kernel's symbols and headers need %llu bytes, but "
			 "--max-size allows only %llu",
			 w->path, (unsigned long long)used, (unsigned long long)w->max_bytes);
}

static int add_format(struct writer *w, const struct record *r, struct error *err)
{
	if (!r->len || !memchr(r->data, 0, r->len))
		return error_set(err, -EINVAL, "a tracepoint format of %zu bytes names no system",
				 r->len);
	if (w->begun)
		return error_set(err, -ENOTSUP,
				 "Cannot write '%s': a tracepoint format came after "
				 "the first events",
				 w->path);
	if (mem_grow(&w->formats, &w->cap_formats, w->n_formats, sizeof(*w->formats)))
		return writer_no_memory(w, err);
	struct writer_bytes *b = &w->formats[w->n_formats];
	*b = (struct writer_bytes){0};
	if (writer_bytes_add(b, r->data, r->len))
		return writer_no_memory(w, err);
	w->n_formats++;
	return 0;
}

/* "ffffffff81000000 T _text": perf needs the addresses of the kernel. */
static void find_text(struct writer *w, const struct record *r)
{
	static const char *const names[2] = {" _text\n", " _etext\n"};

	for (int i = 0; i < 2; i++) {
		const char *at =
			r->len ? memmem(r->data, r->len, names[i], strlen(names[i])) : NULL;
		const char *line = at;
		while (line && line > (const char *)r->data && line[-1] != '\n')
			line--;
		w->kernel_text[i] = line ? strtoull(line, NULL, 16) : 0;
	}
}

/* Without the lines that no lookup needs. */
static int put_symbols(struct writer *w, const struct record *r, struct error *err)
{
	struct writer_symbols at = {
		.from = w->early.len, .time = w->now, .several = w->begun || w->symbols.to};
	struct record lean = *r;
	char *lines = mem_resize(NULL, r->len + 1, 1);

	if (!lines)
		return writer_no_memory(w, err);
	lean.data = lines;
	lean.len = kallsyms_without_padding(r->data, r->len, lines);
	find_text(w, &lean);
	int e = put_ext(w, &lean, err);
	mem_free(lines);
	at.to = w->early.len;
	w->symbols = at;
	return e;
}

static int note_time(struct writer *w, const struct record *r)
{
	uint64_t t;

	if (r->len != sizeof(t))
		return -EINVAL;
	memcpy(&t, r->data, sizeof(t));
	if (t > w->now)
		w->now = t;
	return 0;
}

static int put_run(struct writer *w, const struct record *r, struct error *err)
{
	struct iovec v = {(void *)(uintptr_t)r->data, r->len};
	int e = writer_begin(w, err);

	if (e || !writer_ids_are_added(&w->ids))
		return e ? e : writer_put_data(w, &v, 1, err);
	e = writer_ids_add(&w->ids, r->data, r->len, &w->with_ids);
	if (e == -ENOMEM)
		return writer_no_memory(w, err);
	if (e)
		return error_set(err, e, "Cannot write '%s': a record %s", w->path,
				 e == -E2BIG ? "is too long to get the id of its event"
					     : "is damaged");
	v = (struct iovec){w->with_ids.data, w->with_ids.len};
	return writer_put_data(w, &v, 1, err);
}

/* Build ids have a place in perf.data, which is written at the end. */
static int keep_build_ids(struct writer *w, const void *ids, size_t len, struct error *err)
{
	struct writer_bytes *b = &w->build_ids;
	uint64_t more = len > b->len ? len - b->len : 0;

	if (writer_fits(w, more))
		return WRITER_FULL;
	b->len = 0;
	w->end_bytes += more;
	return writer_bytes_add(b, ids, len) ? writer_no_memory(w, err) : 0;
}

/* Snapshots of the whole recording that come after events are a trailer: readers find it by its
 * offset. */
static int put_snapshot(struct writer *w, const struct record *r, struct error *err)
{
	struct record_snapshot head;
	uint64_t at = w->good + w->out.len;

	if (!snapshot_parse(r->data, r->len, &head) || !snapshot_is_lasting(head.kind))
		return put_ext(w, r, err);
	if (head.kind == SNAPSHOT_BUILD_IDS)
		return keep_build_ids(w, (const uint8_t *)r->data + sizeof(head),
				      r->len - sizeof(head), err);
	int e = put_ext(w, r, err);
	/* not one with MORE: others follow, and it stays in place */
	if (!e && w->begun && !w->ending && !(head.flags & RECORD_SNAPSHOT_MORE))
		w->ending = at;
	return e;
}

int writer_put_runs(struct writer *w, const struct iovec *runs, int n, struct error *err)
{
	int e = writer_begin(w, err);

	w->stat.records++;
	if (e)
		return e;
	return writer_put_direct(w, runs, n, err);
}

int writer_put(struct writer *w, const struct record *r, struct error *err)
{
	uint64_t before = w->now;
	int e;

	w->stat.records++;
	switch (r->kind) {
	case RECORD_PERF:
		return put_run(w, r, err);
	case RECORD_ATTR:
		return writer_add_attr(w, r, err);
	case RECORD_FORMAT:
		return add_format(w, r, err);
	case RECORD_HOST:
		if (r->len != sizeof(w->host))
			return error_set(err, -EINVAL, "a host record of %zu bytes", r->len);
		memcpy(&w->host, r->data, sizeof(w->host));
		if (w->host.clock_ns > w->now)
			w->now = w->host.clock_ns;
		return put_ext(w, r, err);
	case RECORD_KALLSYMS:
		return put_symbols(w, r, err);
	case RECORD_ROUND:
	case RECORD_TICK:
		if (note_time(w, r))
			return error_set(err, -EINVAL, "a time record of %zu bytes", r->len);
		e = writer_begin(w, err);
		if (e)
			return e;
		return r->kind == RECORD_TICK ? put_ext(w, r, err) : put_round(w, r, before, err);
	case RECORD_SNAPSHOT:
		return put_snapshot(w, r, err);
	default:
		return put_ext(w, r, err);
	}
}

static int open_output(struct writer *w, const struct writer_options *o, struct error *err)
{
	bool is_stdout = o->path && !strcmp(o->path, "-");

	const char *name = o->path ? o->path : o->name ? o->name : "the output";
	struct stat st;

	w->path = mem_strdup(is_stdout ? "standard output" : name);
	if (!w->path)
		return error_enomem(err, "writing a recording");
	w->fd = !o->path ? o->fd : is_stdout ? STDOUT_FILENO : -1;
	if (w->fd < 0) {
		w->fd = open(o->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		w->close_fd = w->fd >= 0;
	}
	if (w->fd < 0)
		return error_errno(err, -errno, "Cannot create the recording '%s'", w->path);
	w->can_seek = !is_stdout && !fstat(w->fd, &st) && S_ISREG(st.st_mode) &&
		      lseek(w->fd, 0, SEEK_CUR) == 0;
	w->wait = w->can_seek ? NULL : o->wait;
	return 0;
}

int writer_new(struct writer **ret, const struct writer_options *o, struct error *err)
{
	struct writer *w = mem_calloc(1, sizeof(*w));
	int e;

	if (!w)
		return error_enomem(err, "writing a recording");
	w->clock_id = o->clock_id;
	w->ctx = o->ctx;
	w->max_bytes = o->max_bytes;
	w->machine = o->machine;
	w->pack.level = o->zstd_level;
	e = open_output(w, o, err);
	for (size_t i = 0; !e && o->argv && o->argv[i]; i++)
		if (writer_bytes_add(&w->cmdline, o->argv[i], strlen(o->argv[i]) + 1))
			e = writer_no_memory(w, err);
	if (e) {
		writer_free(w);
		return e;
	}
	*ret = w;
	return 0;
}

void writer_stat(const struct writer *w, struct writer_stat *ret)
{
	*ret = w->stat;
	ret->bytes += w->out.len;
}

void writer_free(struct writer *w)
{
	if (!w)
		return;
	/* Records that were taken must be in the file, whether it is finished or not. */
	if (w->begun && !w->failed)
		writer_flush(w, NULL);
	for (size_t i = 0; i < w->n_attrs; i++)
		mem_free(w->attrs[i].ids);
	for (size_t i = 0; i < w->n_formats; i++)
		mem_free(w->formats[i].data);
	mem_free(w->attrs);
	mem_free(w->formats);
	mem_free(w->out.data);
	mem_free(w->early.data);
	mem_free(w->with_ids.data);
	mem_free(w->packed.data);
	mem_free(w->cmdline.data);
	mem_free(w->build_ids.data);
	pack_deinit(&w->pack);
	if (w->close_fd)
		close(w->fd);
	mem_free(w->path);
	mem_free(w);
}
