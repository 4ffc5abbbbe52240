// SPDX-License-Identifier: GPL-2.0-only
/*
 * The stream into a file. Everything is collected into whole records before it is written, and
 * `good` is the length of what has been written in whole: when a write fails in the middle, the
 * file is cut back to it, so that what is there stays readable. With compression each piece of a
 * ring and each long sample of ours is a zstd frame of its own, in as many records as it takes. A
 * frame in one go is packed from where its bytes lie, which takes a quarter less time than a stream
 * that must first copy them to remember them.
 */
#include "kontend/mem.h"
#include "kontend/snapshot.h"
#include "writer-int.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
	OUT_BYTES = 256 << 10,
	FRAME = 256 << 10,   /* bytes in one: a reader can go back to the start of each */
	PACKED_MOST = 65520, /* bytes of one in a record: with the header still a 16-bit size */
	OWN_PLAIN = 512,     /* a sample of ours that is shorter is not worth a frame */
};

int writer_bytes_add(struct writer_bytes *b, const void *data, size_t len)
{
	if (b->cap - b->len < len) {
		size_t cap = b->cap ? b->cap : 4096;
		while (cap - b->len < len)
			cap *= 2;
		uint8_t *more = mem_resize(b->data, cap, 1);
		if (!more)
			return -ENOMEM;
		b->data = more;
		b->cap = cap;
	}
	if (len && data)
		memcpy(b->data + b->len, data, len);
	else if (len)
		memset(b->data + b->len, 0, len);
	b->len += len;
	return 0;
}

int writer_bytes_pad(struct writer_bytes *b)
{
	return writer_bytes_add(b, NULL, (8 - b->len % 8) % 8);
}

static int no_memory(const struct writer *w, struct error *err)
{
	return error_set(err, -ENOMEM, "cannot write \"%s\": out of memory", w->path);
}

/* As writev(); a full pipe is waited for, where somebody wants to do that, and answers EINTR. */
static ssize_t write_some(struct writer *w, const struct iovec *v, int n_v)
{
	ssize_t n = -1;

	if (!w->wait)
		return writev(w->fd, v, n_v);
	if (!w->in_bits) {
		n = syscall(SYS_pwritev2, w->fd, v, n_v, -1L, -1L, RWF_NOWAIT);
		/* Not of fifos, nor of pipes before Linux 6.4. */
		w->in_bits = n < 0 && (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL);
		if (n >= 0 || (errno != EAGAIN && !w->in_bits))
			return n;
	}
	int stop = w->wait(w->ctx, w->fd);
	errno = stop ? stop : EINTR;
	if (stop || !w->in_bits)
		return -1;
	/* So much fits when a pipe can be written to at all. */
	return write(w->fd, v->iov_base, v->iov_len < PIPE_BUF ? v->iov_len : PIPE_BUF);
}

/* @v is used up on the way. */
static int write_all(struct writer *w, struct iovec *v, int n_v, struct error *err)
{
	while (n_v) {
		if (!v->iov_len) {
			v++;
			n_v--;
			continue;
		}
		ssize_t n = write_some(w, v, n_v);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int e = -errno;
			w->failed = true;
			if (w->can_seek && !ftruncate(w->fd, (off_t)w->good))
				lseek(w->fd, (off_t)w->good, SEEK_SET);
			return error_errno(err, e, "cannot write \"%s\" after %llu bytes%s",
					   w->path, (unsigned long long)w->good,
					   w->begun && w->good > w->data_begin
						   ? "; what is written so far is readable"
						   : "");
		}
		for (int i = 0; n && i < n_v; i++) {
			size_t done = (size_t)n < v[i].iov_len ? (size_t)n : v[i].iov_len;
			v[i].iov_base = (char *)v[i].iov_base + done;
			v[i].iov_len -= done;
			n -= (ssize_t)done;
		}
	}
	return 0;
}

/* What was collected, and @more behind it, in one go: that much more of the file is whole then. */
static int write_out(struct writer *w, const struct iovec *more, int n_more, struct error *err)
{
	struct iovec v[1 + WRITER_RUNS];
	uint64_t len = w->out.len;

	if (w->failed)
		return error_set(err, -EIO, "cannot go on writing \"%s\"", w->path);
	v[0] = (struct iovec){w->out.data, w->out.len};
	for (int i = 0; i < n_more; i++) {
		v[1 + i] = more[i];
		len += more[i].iov_len;
	}
	int e = write_all(w, v, 1 + n_more, err);
	if (!e && len) {
		w->good_before = w->good;
		w->good += len;
	}
	w->out.len = 0;
	w->stat.bytes = w->good;
	return e;
}

int writer_flush(struct writer *w, struct error *err)
{
	return write_out(w, NULL, 0, err);
}

static int put_out(struct writer *w, const void *data, size_t len, struct error *err)
{
	struct iovec v = {(void *)(uintptr_t)data, len};
	int e = 0;

	if (len >= OUT_BYTES && !w->on_trial)
		return write_out(w, &v, 1, err);
	if (w->out.len + len > OUT_BYTES && !w->on_trial)
		e = writer_flush(w, err);
	if (!e && writer_bytes_add(&w->out, data, len))
		e = no_memory(w, err);
	return e;
}

/* A whole frame, in records that perf's 16-bit sizes can tell; none is cut by a write. */
static int put_frame(struct writer *w, const uint8_t *frame, size_t len, struct error *err)
{
	struct perf_event_header h = {.type = PERFDATA_TYPE_COMPRESSED};
	int e = 0;

	for (size_t n; !e && len; frame += n, len -= n) {
		n = len < PACKED_MOST ? len : PACKED_MOST;
		h.size = (uint16_t)(sizeof(h) + n);
		w->stat.packed_to += h.size;
		if (w->out.len + h.size > OUT_BYTES && !w->on_trial)
			e = writer_flush(w, err);
		if (!e)
			e = put_out(w, &h, sizeof(h), err);
		if (!e)
			e = put_out(w, frame, n, err);
	}
	return e;
}

static int put_packed(struct writer *w, const uint8_t *data, size_t len, struct error *err)
{
	size_t room = pack_bound(FRAME);

	/* Filled with zeros once, and not each time. */
	if (w->packed.cap < room && writer_bytes_add(&w->packed, NULL, room))
		return no_memory(w, err);
	long n = pack_some(&w->pack, data, len, w->packed.data, w->packed.cap, 1);
	if (n < 0)
		return error_errno(err, (int)n, "cannot compress for \"%s\"", w->path);
	w->stat.packed_from += len;
	return put_frame(w, w->packed.data, (size_t)n, err);
}

int writer_data(struct writer *w, const void *data, size_t len, struct error *err)
{
	const uint8_t *p = data;
	int e = 0;

	if (!w->pack.level)
		return put_out(w, data, len, err);
	for (size_t n; !e && len; p += n, len -= n) {
		n = len < FRAME ? len : FRAME;
		e = put_packed(w, p, n, err);
	}
	return e;
}

/* As it is, where it fits. */
static int put_plain(struct writer *w, const void *data, size_t len, struct error *err)
{
	int e = writer_fits(w, len);

	return e ? e : put_out(w, data, len, err);
}

/* Runs, packed or not: all of them, or WRITER_FULL. */
static int put_data(struct writer *w, const struct iovec *runs, int n, struct error *err)
{
	size_t len = 0;

	for (int i = 0; i < n; i++)
		len += runs[i].iov_len;
	int e = w->pack.level ? writer_trial(w, len, err) : writer_fits(w, len);
	for (int i = 0; !e && i < n; i++)
		e = writer_data(w, runs[i].iov_base, runs[i].iov_len, err);
	return w->pack.level ? writer_verdict(w, e) : e;
}

/* Our samples wait until the head stands before them. */
static int put_own(struct writer *w, const struct record *r, struct error *err)
{
	struct writer_bytes b = {0};
	int e = writer_ext(w, w->begun ? &b : &w->early, r);
	struct iovec v = {b.data, b.len};

	if (e)
		e = no_memory(w, err);
	else if (w->begun && b.len < OWN_PLAIN)
		e = put_plain(w, b.data, b.len, err);
	else if (w->begun)
		e = put_data(w, &v, 1, err);
	mem_free(b.data);
	return e;
}

/*
 * At such a mark perf lets go of all that it had seen at the mark before. Records of ours have the
 * time of the last round, which is when the drain of the round before that one began: nothing is
 * newer that stands before a mark two rounds ago, but what came in between may be. With a mark at
 * every second round none of ours is older than what perf has let go of.
 */
static int put_round(struct writer *w, const struct record *r, uint64_t before, struct error *err)
{
	struct perf_event_header h = {.type = PERFDATA_TYPE_FINISHED_ROUND, .size = sizeof(h)};
	int e = put_own(w, r, err);

	w->rounds += w->now > before;
	return e || w->now == before || w->rounds % 2 ? e : put_plain(w, &h, sizeof(h), err);
}

int writer_begin(struct writer *w, struct error *err)
{
	if (w->begun)
		return 0;
	w->begun = true;
	int e = writer_head(w, err);
	if (!e)
		e = writer_data(w, w->early.data, w->early.len, err);
	mem_free(w->early.data);
	w->early = (struct writer_bytes){0};
	if (!e && w->max_bytes && w->can_seek && writer_end_bytes(w, &w->end_bytes))
		e = no_memory(w, err);
	return e ? e : writer_check_head(w, err);
}

static int add_format(struct writer *w, const struct record *r, struct error *err)
{
	if (!r->len || !memchr(r->data, 0, r->len))
		return error_set(err, -EINVAL, "a tracepoint format of %zu bytes names no system",
				 r->len);
	if (w->begun)
		return error_set(err, -ENOTSUP,
				 "cannot write \"%s\": a tracepoint format came after "
				 "the first events",
				 w->path);
	if (mem_grow(&w->formats, &w->cap_formats, w->n_formats, sizeof(*w->formats)))
		return no_memory(w, err);
	struct writer_bytes *b = &w->formats[w->n_formats];
	*b = (struct writer_bytes){0};
	if (writer_bytes_add(b, r->data, r->len))
		return no_memory(w, err);
	w->n_formats++;
	return 0;
}

/* "ffffffff81000000 T _text": where perf shall find the kernel. */
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

	return e ? e : put_data(w, &v, 1, err);
}

/* Longer ones are not copied on the way. */
static int write_runs(struct writer *w, const struct iovec *runs, int n, struct error *err)
{
	uint64_t len = 0;

	for (int i = 0; i < n; i++)
		len += runs[i].iov_len;
	int e = writer_fits(w, len);
	return e ? e : write_out(w, runs, n, err);
}

/* They have a place in perf.data, which is written at the end. */
static int keep_build_ids(struct writer *w, const void *ids, size_t len, struct error *err)
{
	struct writer_bytes *b = &w->build_ids;
	uint64_t more = len > b->len ? len - b->len : 0;

	if (writer_fits(w, more))
		return WRITER_FULL;
	b->len = 0;
	w->end_bytes += more;
	return writer_bytes_add(b, ids, len) ? no_memory(w, err) : 0;
}

/* What is of the whole recording and comes behind events is found by where it begins. */
static int put_snapshot(struct writer *w, const struct record *r, struct error *err)
{
	struct record_snapshot head;
	uint64_t at = w->good + w->out.len;

	if (!snapshot_parse(r->data, r->len, &head) || !snapshot_is_lasting(head.kind))
		return put_own(w, r, err);
	if (head.kind == SNAPSHOT_BUILD_IDS)
		return keep_build_ids(w, (const uint8_t *)r->data + sizeof(head),
				      r->len - sizeof(head), err);
	int e = put_own(w, r, err);
	/* Others come, and it stands where it does. */
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
	return w->pack.level ? put_data(w, runs, n, err) : write_runs(w, runs, n, err);
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
		return put_own(w, r, err);
	case RECORD_KALLSYMS:
		find_text(w, r);
		return put_own(w, r, err);
	case RECORD_ROUND:
	case RECORD_TICK:
		if (note_time(w, r))
			return error_set(err, -EINVAL, "a time record of %zu bytes", r->len);
		e = writer_begin(w, err);
		if (e)
			return e;
		return r->kind == RECORD_TICK ? put_own(w, r, err) : put_round(w, r, before, err);
	case RECORD_SNAPSHOT:
		return put_snapshot(w, r, err);
	default:
		return put_own(w, r, err);
	}
}

static int open_output(struct writer *w, const struct writer_options *o, struct error *err)
{
	bool is_stdout = o->path && !strcmp(o->path, "-");

	const char *name = o->path ? o->path : o->name ? o->name : "the output";
	struct stat st;

	w->path = mem_strdup(is_stdout ? "standard output" : name);
	if (!w->path)
		return error_set(err, -ENOMEM, "cannot write a recording: out of memory");
	w->fd = !o->path ? o->fd : is_stdout ? STDOUT_FILENO : -1;
	if (w->fd < 0) {
		w->fd = open(o->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		w->close_fd = w->fd >= 0;
	}
	if (w->fd < 0)
		return error_errno(err, -errno, "cannot create the recording \"%s\"", w->path);
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
		return error_set(err, -ENOMEM, "cannot write a recording: out of memory");
	w->clock_id = o->clock_id;
	w->ctx = o->ctx;
	w->max_bytes = o->max_bytes;
	w->pack.level = o->zstd_level;
	e = open_output(w, o, err);
	for (size_t i = 0; !e && o->argv && o->argv[i]; i++)
		if (writer_bytes_add(&w->cmdline, o->argv[i], strlen(o->argv[i]) + 1))
			e = no_memory(w, err);
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
	/* What was taken shall be in the file, finished or not. */
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
	mem_free(w->packed.data);
	mem_free(w->cmdline.data);
	mem_free(w->build_ids.data);
	pack_deinit(&w->pack);
	if (w->close_fd)
		close(w->fd);
	mem_free(w->path);
	mem_free(w);
}
