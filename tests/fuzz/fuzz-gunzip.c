// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a file of gzip: the output is the same each time and within the bound, one byte less
 * of room is too little, and a cut has the beginning of it. The output is then read as a recording.
 */
#include "fuzz-source.h"
#include "kontend/gunzip.h"
#include "kontend/mem.h"
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST = 1 << 20 };

/* The output and how it ended. */
struct unpacked {
	int code;
	size_t n;
	uint8_t *p;
};

static int file_of(const uint8_t *data, size_t size)
{
	int fd = memfd_create("packed", MFD_CLOEXEC);

	fuzz_require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	return fd;
}

static struct unpacked unpack(int from, uint64_t most)
{
	int to = memfd_create("unpacked", MFD_CLOEXEC);
	struct unpacked ret = {.code = gunzip_file(from, to, most)};
	off_t n = lseek(to, 0, SEEK_END);

	fuzz_require(ret.code == 0 || ret.code == -EFBIG || ret.code == -EBADMSG ||
		     ret.code == -ENODATA || ret.code == -ENOSYS);
	fuzz_require(n >= 0 && (uint64_t)n <= most);
	ret.n = (size_t)n;
	ret.p = mem_calloc(ret.n + 1, 1);
	fuzz_require(ret.p && pread(to, ret.p, ret.n, 0) == n);
	close(to);
	return ret;
}

/* One byte less of room than it needs. */
static void in_less_room(int from, const struct unpacked *all)
{
	struct unpacked less = unpack(from, all->n - 1);

	fuzz_require(less.code == -EFBIG && !memcmp(less.p, all->p, less.n));
	mem_free(less.p);
}

/*
 * The piece in which damage begins is not written, so of a damaged file the cut may have more, or
 * meet the bound before the damage.
 */
static void cut(const uint8_t *data, size_t size, const struct unpacked *all)
{
	int fd = file_of(data, size);
	struct unpacked part = unpack(fd, MOST);
	size_t both = part.n < all->n ? part.n : all->n;
	bool is_bad = all->code && all->code != -ENODATA;

	fuzz_require(part.code == 0 || part.code == -ENODATA || is_bad);
	fuzz_require(!memcmp(part.p, all->p, both));
	fuzz_require(part.n == both || is_bad);
	mem_free(part.p);
	close(fd);
}

static void read_it(int fd)
{
	struct error err = {0};
	struct source *s;
	char path[64];
	const struct reader_options o = {.path = path, .no_symbols = true, .window_bytes = 4096};

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (reader_new(&s, &o, &err)) {
		fuzz_require(err.text[0]);
		return;
	}
	fuzz_drain(s);
	source_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = file_of(data, size);
	long live = mem_live();
	struct unpacked all = unpack(fd, MOST);

	if (all.code == 0 && all.n)
		in_less_room(fd, &all);
	if (size)
		cut(data, size - 1 - size / 3, &all);
	if (gunzip_is(fd) && all.code != -EFBIG)
		read_it(fd);
	mem_free(all.p);
	close(fd);
	fuzz_require(mem_live() == live);
	return 0;
}
