// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recordings that gzip has compressed. A file has its table of features at the end, so it is
 * unpacked as a whole: into memory that has the form of a file, and of which the reader knows no
 * difference. A small file may unpack to a thousand times its size, so the size is bounded. The
 * bytes of a pipe are kept in memory until its end.
 */
#include "kontend/fdio.h"
#include "kontend/gunzip.h"
#include "reader.h"
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

static const uint64_t MOST = 1ull << 30;

static int why(const struct reader *r, int code, struct error *err)
{
	switch (code) {
	case -EFBIG:
		return error_set(err, code,
				 "Cannot read '%s': unpacked it has more than %llu MiB; unpack it "
				 "with gzip -d, and read that file",
				 r->path, (unsigned long long)(MOST >> 20));
	case -EBADMSG:
		return error_set(err, code,
				 "Cannot read '%s': it begins as gzip writes it, and is damaged",
				 r->path);
	case -ENOSYS:
		return error_set(err, code,
				 "Cannot read '%s': it is compressed by gzip, which this build "
				 "cannot unpack; unpack it with gzip -d",
				 r->path);
	default:
		return error_errno(err, code, "Cannot unpack '%s'", r->path);
	}
}

bool reader_is_packed(const struct reader *r)
{
	const struct reader_region *g = &r->outer;

	return r->packed_fd > 0 || (g->end - g->pos >= 2 && gunzip_is_magic(g->pos));
}

/* Takes the bytes that were read so far. */
static int take_bytes(struct reader *r)
{
	struct reader_region *g = &r->outer;
	size_t len = (size_t)(g->end - g->pos);

	if (!r->packed_fd) {
		int fd = memfd_create("kontend-packed", MFD_CLOEXEC);
		if (fd < 0)
			return -errno;
		r->packed_fd = fd;
	}
	if (r->file_pos > MOST)
		return -EFBIG;
	g->pos = g->end;
	return fdio_write_all(r->packed_fd, (const char *)g->end - len, len);
}

/* The file takes the place of the pipe. */
static void end_pipe(struct reader *r)
{
	if (r->close_fd)
		close(r->fd);
	r->fd = r->packed_fd;
	r->close_fd = true;
	r->packed_fd = 0;
	reader_block_put(r, r->outer.block);
	r->outer = (struct reader_region){0};
	r->file_pos = 0;
}

int reader_unpack_pipe(struct reader *r, int timeout_ms, struct error *err)
{
	int e = take_bytes(r);

	if (e < 0)
		return why(r, e, err);
	if (!r->outer.finished)
		return reader_fill(r, timeout_ms, err);
	end_pipe(r);
	e = reader_unpack_file(r, err);
	e = e ? e : reader_open_file(r, err);
	return e ? e : READER_AGAIN;
}

int reader_unpack_file(struct reader *r, struct error *err)
{
	int fd = memfd_create("kontend-recording", MFD_CLOEXEC);
	int e = fd < 0 ? -errno : gunzip_file(r->fd, fd, MOST);

	/* The end is missing: the reader reports where that begins. */
	if (e && e != -ENODATA) {
		if (fd >= 0)
			close(fd);
		return why(r, e, err);
	}
	if (r->close_fd)
		close(r->fd);
	r->fd = fd;
	r->close_fd = r->is_unpacked = true;
	r->map_size = (size_t)lseek(fd, 0, SEEK_END);
	return 0;
}
