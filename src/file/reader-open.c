// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opens the input (a file, a pipe or bytes in memory), and the fixed parts of a file: header, attrs
 * with their ids, and feature sections. Offsets and sizes in the file are untrusted, so each is
 * checked against the file before it is used. A wrong header is an error; damage after the data
 * costs only the features, with a note.
 *
 * If a file of kontend has lost its end, the stream that it was during recording is still there, in
 * front of the data (writer-finish.c), except for the attr of kontend's event, which the header has
 * overwritten and which is always the same. So it is read as that stream, up to where it was cut.
 *
 * The functions that a recording needs are known at its end, so their names are stored there, but
 * replay needs them from the beginning. The last record of such a file says where they begin: they
 * are read first, and skipped when reading comes to them again. If there is any other record in
 * between, the file is read as if the last record was missing.
 */
#include "kontend/buildids.h"
#include "kontend/gunzip.h"
#include "kontend/mem.h"
#include "reader.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	MOST_SECTION = 64 << 20,
	MOST_ATTRS = 16384,
	/* A sample of kontend's event with one u64: see reader-ext.c. */
	RAW_AT = 48,
	EXT_AT = RAW_AT + 4,
	RECORD_LEN = 96,
};

typedef unsigned long long ull;

static int read_at(struct reader *r, uint64_t offset, void *buf, size_t len, const char *what,
		   struct error *err)
{
	size_t have = 0;

	if (r->in_memory && offset <= r->map_size) {
		have = len < r->map_size - offset ? len : (size_t)(r->map_size - offset);
		memcpy(buf, r->map + offset, have);
	}
	while (!r->in_memory && have < len && offset < INT64_MAX - len) {
		ssize_t n = pread(r->fd, (char *)buf + have, len - have, (off_t)(offset + have));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_errno(err, -errno, "Cannot read the %s of '%s' at byte %llu",
					   what, r->path, (ull)offset);
		if (!n)
			break;
		have += (size_t)n;
	}
	if (have == len)
		return 0;
	return error_set(err, -EINVAL,
			 "Cannot read '%s': the %s should have %zu bytes at byte "
			 "%llu, but the file ends at %llu; it is cut or no perf.data file",
			 r->path, what, len, (ull)offset, (ull)r->map_size);
}

/*
 * Sections may not overlap: together they must not be longer than the file. Otherwise one part
 * could be requested many times, each time at the cost of a copy.
 */
static int charge(struct reader *r, uint64_t size, const char *what, struct error *err)
{
	if (size <= r->map_size - r->charged) {
		r->charged += size;
		return 0;
	}
	return error_set(err, -EINVAL,
			 "Cannot read '%s' (%llu bytes): it says that its sections, up to %s, have "
			 "more bytes than the file",
			 r->path, (ull)r->map_size, what);
}

static int read_attr_entry(struct reader *r, const struct perfdata_header *h, uint64_t k,
			   struct error *err)
{
	uint64_t at = h->attrs.offset + k * h->attr_size;
	size_t size = (size_t)h->attr_size - sizeof(struct perfdata_section);
	struct perfdata_section ids;
	uint32_t stated;
	int e = read_at(r, at + size, &ids, sizeof(ids), "event attributes", err);

	if (e)
		return e;
	if (ids.size > MOST_SECTION || ids.size % 8)
		return error_set(err, -EINVAL,
				 "Cannot read '%s': event %llu, at byte %llu, has %llu "
				 "bytes of ids",
				 r->path, (ull)k, (ull)at, (ull)ids.size);
	e = charge(r, h->attr_size + ids.size, "its event attributes", err);
	if (e)
		return e;
	uint8_t *buf = mem_calloc(1, size + (size_t)ids.size);
	if (!buf)
		return -ENOMEM;
	e = read_at(r, at, buf, size, "event attributes", err);
	memcpy(&stated, buf + 4, sizeof(stated));
	if (!stated)
		stated = (uint32_t)size; /* perf of the first years left it unset */
	if (!e && stated > size)
		e = error_set(err, -EINVAL,
			      "Cannot read '%s': event %llu, at byte %llu, says its "
			      "attribute has %u bytes, in %zu",
			      r->path, (ull)k, (ull)at, stated, size);
	if (!e && stated >= PERF_ATTR_SIZE_VER0) {
		memcpy(buf + 4, &stated, sizeof(stated));
		e = read_at(r, ids.offset, buf + stated, (size_t)ids.size, "event ids", err);
	}
	r->file_pos = at + h->attr_size;
	if (!e)
		e = reader_add_attr(r, buf, stated + (size_t)ids.size, err);
	mem_free(buf);
	return e;
}

static int read_attrs(struct reader *r, const struct perfdata_header *h, struct error *err)
{
	uint64_t least = PERF_ATTR_SIZE_VER0 + sizeof(struct perfdata_section);

	if (h->attr_size < least || h->attr_size > 4096 || h->attrs.size % h->attr_size ||
	    h->attrs.size / h->attr_size > MOST_ATTRS || !h->attrs.size)
		return error_set(err, -EINVAL,
				 "Cannot read '%s': the header says that there are "
				 "%llu bytes of event attributes of %llu bytes each",
				 r->path, (ull)h->attrs.size, (ull)h->attr_size);
	for (uint64_t k = 0; k < h->attrs.size / h->attr_size; k++) {
		int e = read_attr_entry(r, h, k, err);
		if (e)
			return e;
	}
	return 0;
}

/* Build ids of programs are part of the stream. */
static int hand_out_ids(struct reader *r, const void *ids, size_t len)
{
	struct record_snapshot head = {.kind = SNAPSHOT_BUILD_IDS, .version = BUILDIDS_VERSION};
	struct buildid one = {.kernel = true};

	for (size_t at = 0; one.kernel && (at = buildids_next(ids, len, at, &one));)
		;
	if (one.kernel || len > RECORD_SNAPSHOT_MOST)
		return 0;
	struct reader_block *b = reader_block_new(r, sizeof(head) + len);
	if (!b)
		return -ENOMEM;
	memcpy(b->heap, &head, sizeof(head));
	memcpy(b->heap + sizeof(head), ids, len);
	return reader_queue(r, RECORD_SNAPSHOT, 0, b->heap, sizeof(head) + len, b);
}

/* A feature that cannot be read is no reason to refuse the data; formats are the exception. */
static int read_feature(struct reader *r, uint32_t bit, const struct perfdata_section *s,
			struct error *err)
{
	if (s->size > MOST_SECTION)
		return error_set(err, -EINVAL,
				 "Cannot read '%s': feature %u, at byte %llu, says it "
				 "has %llu bytes",
				 r->path, bit, (ull)s->offset, (ull)s->size);
	int e = charge(r, s->size, "its features", err);
	if (e)
		return e;
	void *buf = mem_calloc(1, (size_t)s->size + 1);
	if (!buf)
		return -ENOMEM;
	e = read_at(r, s->offset, buf, (size_t)s->size, "feature section", err);
	if (!e && bit == PERFDATA_TRACING_DATA)
		e = reader_add_tracing(r, buf, (size_t)s->size, err);
	else if (!e)
		features_take(&r->features, bit, buf, (size_t)s->size);
	if (!e && bit == PERFDATA_BUILD_ID)
		e = hand_out_ids(r, buf, (size_t)s->size);
	mem_free(buf);
	return e;
}

/* Newer versions of perf write more features; records do not depend on them. */
static int note_features(struct reader *r, const struct perfdata_header *h)
{
	char bits[200] = "";
	size_t n = 0;

	for (uint32_t bit = PERFDATA_FEATURES_KNOWN; bit < PERFDATA_FEATURE_BITS; bit++)
		if (h->features[bit / 64] >> bit % 64 & 1 && !features_wants(bit) &&
		    n < sizeof(bits) - 8)
			n += (size_t)snprintf(bits + n, sizeof(bits) - n, "%s%u", n ? ", " : "",
					      bit);
	return n ? reader_note(r,
			       (struct record_note){.kind = NOTE_UNKNOWN, .offset = NOTE_NOWHERE},
			       "The header has features that this version does not know, by their "
			       "bits: %s",
			       bits)
		 : 0;
}

static int read_features(struct reader *r, const struct perfdata_header *h, struct error *err)
{
	uint64_t at = h->data.offset + h->data.size;

	for (uint32_t bit = 0; bit < PERFDATA_FEATURE_BITS; bit++) {
		struct perfdata_section s;

		if (!(h->features[bit / 64] >> bit % 64 & 1))
			continue;
		struct error why = {0};
		int e = 0;
		if (features_wants(bit)) {
			e = read_at(r, at, &s, sizeof(s), "table of features", &why);
			if (!e)
				e = read_feature(r, bit, &s, &why);
		}
		if (e == -ENOMEM)
			return e;
		if (e && bit == PERFDATA_TRACING_DATA)
			return error_set(err, e, "%s", why.text);
		if (e && reader_note(r, reader_damage(at, 0), "%s", why.text))
			return -ENOMEM;
		at += sizeof(s);
	}
	return note_features(r, h);
}

static int check_sections(struct reader *r, const struct perfdata_header *h, struct error *err)
{
	uint64_t a = h->attrs.offset, d = h->data.offset, file = r->map_size;

	if (h->size != PERFDATA_FILE_HEADER && h->size != 72)
		return error_set(err, -EINVAL,
				 "Cannot read '%s': its header says it has %llu bytes, "
				 "not 104; it is cut or no perf.data file",
				 r->path, (ull)h->size);
	if (d < h->size || d > file || a < h->size || a > file)
		return error_set(err, -EINVAL,
				 "Cannot read '%s' (%llu bytes): the header says that "
				 "the data begin at byte %llu, the event attributes at %llu",
				 r->path, (ull)file, (ull)d, (ull)a);
	uint64_t d_end = h->data.size < file - d ? d + h->data.size : file;
	uint64_t a_end = h->attrs.size < file - a ? a + h->attrs.size : file;
	if (a < d_end && d < a_end && h->data.size)
		return error_set(
			err, -EINVAL,
			"Cannot read '%s': the header says that event "
			"attributes (byte %llu, %llu bytes) and data (byte %llu, %llu bytes) "
			"overlap",
			r->path, (ull)a, (ull)h->attrs.size, (ull)d, (ull)h->data.size);
	return 0;
}

static bool inside(const struct reader *r, const struct perfdata_section *s)
{
	return s->offset <= r->map_size && s->size <= r->map_size - s->offset;
}

static bool features_inside(struct reader *r, const struct perfdata_header *h)
{
	struct perfdata_section table[PERFDATA_FEATURE_BITS];
	struct error err = {0};
	size_t n = 0;

	for (unsigned i = 0; i < PERFDATA_FEATURE_BITS / 64; i++)
		n += (size_t)__builtin_popcountll(h->features[i]);
	if (read_at(r, h->data.offset + h->data.size, table, n * sizeof(*table),
		    "table of features", &err))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!inside(r, &table[i]))
			return false;
	return true;
}

/* Is it a file of kontend that has lost its end? */
static bool is_torn(struct reader *r, const struct perfdata_header *h)
{
	struct error err = {0};
	uint64_t id;

	if (h->size != PERFDATA_FILE_HEADER || h->data.offset <= PERFDATA_EXT_HEAD_AT ||
	    read_at(r, PERFDATA_EXT_ID_AT, &id, sizeof(id), "first event", &err) ||
	    id != PERFDATA_EXT_ID)
		return false;
	return !inside(r, &h->data) || !inside(r, &h->attrs) || !features_inside(r, h);
}

static int open_torn(struct reader *r, const struct perfdata_header *h)
{
	uint64_t from = h->data.offset, left = r->map_size < from ? 0 : r->map_size - from;
	uint64_t end = h->data.size < left ? from + h->data.size : r->map_size;

	r->by_kontend = true;
	r->stat.is_cut = true;
	if (reader_note(r, reader_damage(r->map_size, 1),
			"The recording is cut at byte %llu: its %llu bytes of data end after %llu, "
			"and the parts after them are missing; 'kontend recover' makes a whole "
			"recording of the rest",
			(ull)r->map_size, (ull)h->data.size,
			(ull)(h->data.size < left ? h->data.size : left)))
		return -ENOMEM;
	return reader_map(r, PERFDATA_EXT_HEAD_AT, end - PERFDATA_EXT_HEAD_AT);
}

/* The number of bytes before the last record that it covers; 0: it is not such a record. */
static uint64_t ending_len(const struct reader *r, uint64_t at, uint64_t size)
{
	struct perf_event_header h;
	struct perfdata_ext ext;

	if (!r->by_kontend || size < RECORD_LEN)
		return 0;
	const uint8_t *p = r->map + at + size - RECORD_LEN;
	memcpy(&h, p, sizeof(h));
	memcpy(&ext, p + EXT_AT, sizeof(ext));
	if (h.type != PERF_RECORD_SAMPLE || h.size != RECORD_LEN ||
	    load_u64(p + sizeof(h)) != PERFDATA_EXT_ID || ext.magic != PERFDATA_EXT_MAGIC ||
	    ext.version != PERFDATA_EXT_VERSION || ext.kind != RECORD_TRAILER ||
	    ext.length != sizeof(uint64_t))
		return 0;
	uint64_t len = load_u64(p + EXT_AT + sizeof(ext));
	return len <= size - RECORD_LEN ? len : 0;
}

/* The data, and before them the trailer at their end. 0 or -ENOMEM. */
static int open_data(struct reader *r, uint64_t at, uint64_t size)
{
	uint64_t len = ending_len(r, at, size);

	r->data_at = at;
	r->data_size = size;
	r->early = len != 0;
	return len ? reader_map(r, at + size - RECORD_LEN - len, len) : reader_map(r, at, size);
}

static int open_layout(struct reader *r, struct error *err)
{
	struct perfdata_header h = {0};
	int e = read_at(r, 0, &h, 72, "header", err);

	if (!e && h.size >= sizeof(h))
		e = read_at(r, 0, &h, sizeof(h), "header", err);
	if (!e && is_torn(r, &h))
		return open_torn(r, &h);
	if (!e)
		e = check_sections(r, &h, err);
	if (!e)
		e = read_attrs(r, &h, err);
	if (e)
		return e;
	uint64_t size = r->map_size - h.data.offset;
	if (h.size == sizeof(h) && h.data.size && h.data.size <= size) {
		size = h.data.size;
		e = read_features(r, &h, err);
	} else {
		r->stat.is_cut = true;
		e = reader_note(r, reader_damage(r->map_size, 1),
				"The recording is cut at byte %llu: its %llu bytes of data end "
				"after %llu, and the parts after them are missing",
				(ull)r->map_size, (ull)h.data.size, (ull)size);
	}
	r->file_pos = h.data.offset;
	return e ? e : open_data(r, h.data.offset, size);
}

/* Checks the magic first: without it the rest of the file has no meaning. */
int reader_check_magic(const char *path, uint64_t magic, struct error *err)
{
	if (magic == PERFDATA_MAGIC)
		return 0;
	if (magic == PERFDATA_MAGIC_SWAPPED)
		return error_set(
			err, -ENOTSUP,
			"Cannot read '%s': it was made on a machine with the other byte order; "
			"read it on such a machine",
			path);
	if (magic == PERFDATA_MAGIC_1)
		return error_set(err, -ENOTSUP,
				 "Cannot read '%s': it is a perf.data file of version 1 "
				 "(PERFFILE), as perf of Linux 2.6.31 and 2.6.32 wrote; record "
				 "again with a later perf",
				 path);
	if ((magic & 0xffff) == 0x8b1f) /* files are unpacked, pipes are not */
		return error_set(err, -EINVAL,
				 "Cannot read '%s': it is compressed by gzip; unpack it first with "
				 "gzip -d",
				 path);
	return error_set(err, -EINVAL,
			 "Cannot read '%s': its first bytes are not those of a perf.data file",
			 path);
}

int reader_open_pipe(struct reader *r, struct error *err)
{
	if (r->outer.end - r->outer.pos < PERFDATA_PIPE_HEADER)
		return 0;
	int e = reader_check_magic(r->path, load_u64(r->outer.pos), err);
	if (!e && load_u64(r->outer.pos + 8) != PERFDATA_PIPE_HEADER)
		e = error_set(err, -EINVAL,
			      "Cannot read '%s': it does not begin as a stream of perf record "
			      "-o -; a file has to be read by its name",
			      r->path);
	if (e)
		return e;
	r->outer.pos += PERFDATA_PIPE_HEADER;
	r->header_done = true;
	return READER_AGAIN;
}

static int open_path(struct reader *r, const struct reader_options *o, struct error *err)
{
	if (!strcmp(o->path, "-")) {
		r->fd = STDIN_FILENO;
		return 0;
	}
	/* Opening a FIFO without a writer must not block. */
	if (o->open)
		r->fd = o->open(o->open_ctx, o->path);
	else if ((r->fd = open(o->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) < 0)
		r->fd = -errno;
	r->close_fd = r->fd >= 0;
	return r->close_fd ? 0 : error_errno(err, r->fd, "Cannot open the recording '%s'", r->path);
}

static int map_file(struct reader *r, struct error *err)
{
	void *map = mmap(NULL, r->map_size, PROT_READ, MAP_PRIVATE, r->fd, 0);

	if (map == MAP_FAILED)
		return error_errno(err, -errno, "Cannot map '%s' (%zu bytes)", r->path,
				   r->map_size);
	r->map = map;
	mapguard_add(&r->guard, map, r->map_size);
	return 0;
}

int reader_open_file(struct reader *r, struct error *err)
{
	uint64_t head[2];

	if (!r->map_size)
		return error_set(err, -EINVAL, "Cannot read '%s': the file is empty", r->path);
	int e = read_at(r, 0, head, sizeof(head), "header", err);
	if (!e)
		e = reader_check_magic(r->path, head[0], err);
	if (!e && !r->in_memory)
		e = map_file(r, err);
	if (e)
		return e;
	r->stat.size = r->map_size;
	r->header_done = true;
	if (head[1] != PERFDATA_PIPE_HEADER)
		return open_layout(r, err);
	return reader_map(r, PERFDATA_PIPE_HEADER, r->map_size - PERFDATA_PIPE_HEADER);
}

static int open_any(struct reader *r, const struct reader_options *o, struct error *err)
{
	struct stat st;
	int e = open_path(r, o, err);

	if (e)
		return e;
	if (fstat(r->fd, &st))
		return error_errno(err, -errno, "Cannot read the recording '%s'", r->path);
	if (S_ISDIR(st.st_mode))
		e = reader_open_folder(r, err);
	if (e)
		return e;
	if (S_ISDIR(st.st_mode) && fstat(r->fd, &st))
		return error_errno(err, -errno, "Cannot read the recording '%s'", r->path);
	if (!S_ISREG(st.st_mode))
		return 0;
	r->map_size = (size_t)st.st_size;
	r->stat.dev = st.st_dev;
	r->stat.inode = st.st_ino;
	if (gunzip_is(r->fd))
		e = reader_unpack_file(r, err);
	return e ? e : reader_open_file(r, err);
}

int reader_open(struct reader *r, const struct reader_options *o, struct error *err)
{
	if (!o->bytes)
		return open_any(r, o, err);
	r->in_memory = true;
	r->map = (uint8_t *)(uintptr_t)o->bytes;
	r->map_size = o->n_bytes;
	return reader_open_file(r, err);
}

int reader_end_early(struct reader *r)
{
	reader_forget(r);
	r->flow = (struct reader_flow){.is_sorted = true};
	r->early = false;
	r->had_early = true;
	return reader_map(r, r->data_at, r->data_size);
}
