// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recordings that gzip has compressed. A file has its table of features at the end, so it is
 * unpacked as a whole: into memory that has the form of a file, and of which the reader knows no
 * difference. A small file may unpack to a thousand times its size, so the size is bounded.
 */
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
