// SPDX-License-Identifier: GPL-2.0-only
/*
 * Folders of perf record. With --kcore it copies the kernel's memory and symbols: `data` is the
 * recording, `kcore_dir/kallsyms` has the symbols at the addresses of that boot, and
 * `kcore_dir/kcore` is an ELF file whose segments are the memory at these. With --threads
 * `data` has the header, and `data.0`, `data.1` ... have the records of each thread. These are put
 * after the records of `data`, in memory that has the form of a file: none of them has marks of
 * rounds, so that the reader merges all of them by time. All of them have at most MOST_BYTES, as a
 * file with a hole may be longer than the disk.
 */
#include "kontend/fdio.h"
#include "kontend/mem.h"
#include "reader.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef unsigned long long ull;

enum { MOST_FILES = 8192, PIECE = 1 << 16 };

static const uint64_t MOST_BYTES = 240 << 20, MOST_SYMBOLS = 64 << 20;

static int open_in(int dir, const char *name, uint64_t *ret_size)
{
	struct stat st;
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return -EINVAL;
	}
	*ret_size = (uint64_t)st.st_size;
	return fd;
}

/* Bytes @from up to @to of @in, or all that are there. */
static int copy(int out, int in, uint64_t from, uint64_t to)
{
	char piece[PIECE];

	while (from < to) {
		size_t want = to - from < PIECE ? (size_t)(to - from) : PIECE;
		ssize_t n = pread(in, piece, want, (off_t)from);
		if (n < 0 && errno == EINTR)
			continue;
		int r = n < 0 ? -errno : n ? fdio_write_all(out, piece, (size_t)n) : -EBADMSG;
		if (r)
			return r;
		from += (uint64_t)n;
	}
	return 0;
}

static int too_long(const struct reader *r, struct error *err)
{
	return error_set(err, -EFBIG,
			 "Cannot read '%s': the files of its threads have more than %llu MiB, "
			 "which cannot be merged; record without --threads",
			 r->path, (ull)(MOST_BYTES >> 20));
}

/* @rest: bytes of the other files. *@ret_bytes: those of the threads. */
static int add_threads(struct reader *r, int out, int dir, uint64_t rest, uint64_t *ret_bytes,
		       struct error *err)
{
	for (unsigned i = 0; i < MOST_FILES; i++) {
		struct perf_event_header h = {0};
		char name[32];
		uint64_t size;

		snprintf(name, sizeof(name), "data.%u", i);
		int fd = open_in(dir, name, &size);
		if (fd == -ENOENT)
			return 0;
		if (fd < 0)
			return error_errno(err, fd, "Cannot open '%s/%s'", r->path, name);
		*ret_bytes += size;
		ssize_t n = pread(fd, &h, sizeof(h), 0);
		bool packed = n == (ssize_t)sizeof(h) && (h.type == PERFDATA_TYPE_COMPRESSED ||
							  h.type == PERFDATA_TYPE_COMPRESSED2);
		bool fits = *ret_bytes + rest <= MOST_BYTES;
		int e = !packed && fits ? copy(out, fd, 0, size) : 0;
		close(fd);
		if (packed)
			return error_set(err, -ENOTSUP,
					 "Cannot read '%s': perf record --threads compressed its "
					 "files; record without -z",
					 r->path);
		if (!fits)
			return too_long(r, err);
		if (e)
			return error_errno(err, e, "Cannot read '%s/%s'", r->path, name);
	}
	return error_set(err, -EFBIG,
			 "Cannot read '%s': it has files of more than %d threads, which cannot be "
			 "merged",
			 r->path, MOST_FILES);
}

/* The parts after the data have moved by @more bytes. */
static int move_parts(int out, struct perfdata_header *h, uint64_t more)
{
	uint64_t end = h->data.offset + h->data.size + more;
	size_t n = 0;

	h->data.size += more;
	for (unsigned i = 0; i < PERFDATA_FEATURE_BITS / 64; i++)
		n += (size_t)__builtin_popcountll(h->features[i]);
	for (size_t i = 0; i < n; i++) {
		struct perfdata_section s;
		off_t at = (off_t)(end + i * sizeof(s));

		if (pread(out, &s, sizeof(s), at) != (ssize_t)sizeof(s))
			return -EBADMSG;
		s.offset += more;
		if (pwrite(out, &s, sizeof(s), at) != (ssize_t)sizeof(s))
			return -EIO;
	}
	return pwrite(out, h, sizeof(*h), 0) == (ssize_t)sizeof(*h) ? 0 : -EIO;
}

static int join(struct reader *r, int out, int dir, int data, uint64_t size, struct error *err)
{
	struct perfdata_header h;
	uint64_t more = 0;

	if (pread(data, &h, sizeof(h), 0) != (ssize_t)sizeof(h))
		return error_set(err, -EINVAL, "Cannot read '%s/data': it has no header", r->path);
	int e = reader_check_magic(r->path, h.magic, err);
	if (e)
		return e;
	if (h.size != sizeof(h) || h.data.offset > size || h.data.size > size - h.data.offset ||
	    h.attrs.offset >= h.data.offset)
		return error_set(err, -EINVAL,
				 "Cannot read '%s/data': it is cut, or its header is damaged",
				 r->path);
	if (size > MOST_BYTES)
		return too_long(r, err);
	uint64_t end = h.data.offset + h.data.size;
	e = copy(out, data, 0, end);
	if (!e)
		e = add_threads(r, out, dir, size, &more, err);
	if (!e && !err->code)
		e = copy(out, data, end, size);
	if (!e)
		e = move_parts(out, &h, more);
	return e && !err->code ? error_errno(err, e, "Cannot read '%s/data'", r->path) : e;
}

static int join_threads(struct reader *r, int dir, int data, uint64_t size, struct error *err)
{
	struct error why = {0};
	int out = memfd_create("kontend-recording", MFD_CLOEXEC);
	int e = out < 0 ? error_errno(&why, -errno, "Cannot read '%s'", r->path)
			: join(r, out, dir, data, size, &why);

	close(data);
	if (!e)
		return out;
	if (out >= 0)
		close(out);
	return error_set(err, e, "%s", why.text);
}

/* None are there, or they are longer than those of any kernel: they are looked for elsewhere. */
static void take_symbols(struct reader *r, int dir)
{
	uint64_t size;
	int fd = open_in(dir, "kcore_dir/kallsyms", &size);

	if (fd < 0)
		return;
	char *text = size && size <= MOST_SYMBOLS ? mem_calloc(1, (size_t)size + 1) : NULL;
	if (text && pread(fd, text, (size_t)size, 0) == (ssize_t)size)
		r->symbols =
			(struct kallsyms_text){.text = text, .heap = text, .len = (size_t)size};
	else
		mem_free(text);
	close(fd);
}

static int read_code(void *ctx, uint64_t addr, void *ret, size_t n, size_t *ret_n)
{
	const struct reader *r = ctx;

	if (!elfimg_read_addr(&r->kcore, addr, ret, n))
		return -EFAULT;
	*ret_n = n;
	return 0;
}

/* Without it, or if it is damaged, the instructions of the kernel are missing. */
static int take_code(struct reader *r, int dir)
{
	uint64_t size;
	int fd = open_in(dir, "kcore_dir/kcore", &size);
	int e = fd < 0 ? fd : elfimg_open_fd(&r->kcore, fd);

	if (!e)
		r->code = (struct codesource){
			.name = "kcore of the recording", .read = read_code, .ctx = r};
	return e == -ENOMEM ? e : 0;
}

int reader_open_folder(struct reader *r, struct error *err)
{
	const int dir = r->fd;
	uint64_t size;
	int fd = open_in(dir, "data", &size);

	if (fd < 0)
		return error_errno(err, fd == -ENOENT ? -EISDIR : fd, "Cannot read '%s%s'", r->path,
				   fd == -ENOENT ? "" : "/data");
	if (!faccessat(dir, "data.0", F_OK, 0)) {
		fd = join_threads(r, dir, fd, size, err);
		if (fd < 0)
			return fd;
		r->is_unpacked = true;
	}
	take_symbols(r, dir);
	int e = take_code(r, dir);
	if (r->close_fd)
		close(dir);
	r->fd = fd;
	r->close_fd = true;
	r->map_size = (size_t)lseek(fd, 0, SEEK_END);
	return e;
}
