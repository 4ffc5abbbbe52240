// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies a stream that can be read once into a file that can be read again. The copy lies in
 * TMPDIR, no other process can open it, and it is gone with us whatever happens, since it never has
 * a name, or loses it at once where the file system cannot do without.
 */
#include "kontend/stdin-copy.h"
#include "kontend/ending.h"
#include "kontend/fdio.h"
#include "kontend/gunzip.h"
#include "kontend/perfdata.h"
#include "kontend/progress.h"
#include "reader.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SPOOL_BLOCK = 64 << 10, SPOOL_STEP_MS = 200 };

static const char *temporary_folder(void)
{
	const char *dir = getenv("TMPDIR");

	return dir && *dir ? dir : "/tmp";
}

static int open_nameless(struct error *err)
{
	const char *dir = temporary_folder();
	char name[PATH_MAX];
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	snprintf(name, sizeof(name), "%s/kontend-XXXXXX", dir);
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		return error_errno(err, -errno, "Cannot make a temporary file in '%s'", dir);
	unlink(name);
	return fd;
}

/*
 * Slow input is waited for in steps: the progress line stays true, and a caller that blocks signals
 * notices them. -1 with EINTR: it was one.
 */
static ssize_t read_some(int from, char *block, struct progress *p, uint64_t done)
{
	struct pollfd in = {.fd = from, .events = POLLIN};

	for (;;) {
		int n = poll(&in, 1, SPOOL_STEP_MS);
		progress_update(p, done, 0);
		if (ending_is_pending()) {
			errno = EINTR;
			return -1;
		}
		if (n > 0) {
			ssize_t len = read(from, block, SPOOL_BLOCK);
			if (len >= 0 || (errno != EINTR && errno != EAGAIN))
				return len;
		} else if (n < 0 && errno != EINTR) {
			return -1;
		}
	}
}

/*
 * Input that is no recording may have no end: /dev/zero. The reader reports input shorter than a
 * magic.
 */
static int check_begin(int fd, const char *path, struct error *err)
{
	uint64_t magic;

	if (pread(fd, &magic, sizeof(magic), 0) < (ssize_t)sizeof(magic) || gunzip_is(fd))
		return 0;
	return reader_check_magic(path, magic, err);
}

static int copy_block(int to, const char *block, size_t len, const char *path, struct error *err)
{
	int r = fdio_write_all(to, block, len);

	if (r < 0)
		return error_errno(err, r, "Cannot keep what comes from '%s' in a file in '%s'",
				   path, temporary_folder());
	return check_begin(to, path, err);
}

static int copy(int from, int to, const char *path, bool quiet, struct error *err)
{
	char block[SPOOL_BLOCK];
	struct progress p;
	uint64_t done = 0;
	ssize_t n;
	int r = 0;

	progress_begin(&p, quiet ? NULL : path);
	while (!r && (n = read_some(from, block, &p, done)) != 0) {
		if (n < 0) {
			r = errno == EINTR ? -EINTR
					   : error_errno(err, -errno, "Cannot read '%s'", path);
			break;
		}
		r = copy_block(to, block, (size_t)n, path, err);
		done += (uint64_t)n;
	}
	progress_end(&p);
	if (!r && done < PERFDATA_PIPE_HEADER)
		r = error_set(err, -EINVAL,
			      "Cannot read '%s': it has only %llu bytes; it is cut or no "
			      "perf.data file",
			      path, (unsigned long long)done);
	return r;
}

static int begin(struct stdin_copy *s, int from, struct error *err)
{
	s->fd = open_nameless(err);
	if (s->fd < 0)
		return s->fd;
	s->from = from;
	snprintf(s->path, sizeof(s->path), "/proc/self/fd/%d", s->fd);
	return 0;
}

/* Pipes, sockets, devices. Files are left alone, and the reader handles all others. */
static bool comes_once(const struct stat *st)
{
	return S_ISFIFO(st->st_mode) || S_ISSOCK(st->st_mode) || S_ISCHR(st->st_mode);
}

int stdin_copy_open(struct stdin_copy *s, const char *path, struct error *err)
{
	struct stat st;
	int from, r;

	*s = (struct stdin_copy){.fd = -1, .from = -1};
	if (!strcmp(path, "-")) {
		if (isatty(STDIN_FILENO))
			return error_set(err, -ENOTTY,
					 "Standard input is a terminal, not a recording");
		from = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	} else if (stat(path, &st) < 0 || !comes_once(&st)) {
		return 0;
	} else {
		from = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	}
	if (from < 0)
		return error_errno(err, -errno, "Cannot open '%s'", path);
	r = begin(s, from, err);
	if (r < 0)
		close(from);
	return r;
}

int stdin_copy_fill(struct stdin_copy *s, const char *path, bool quiet, struct error *err)
{
	const char *name = strcmp(path, "-") ? path : "standard input";

	return s->from < 0 ? 0 : copy(s->from, s->fd, name, quiet, err);
}

void stdin_copy_close(struct stdin_copy *s)
{
	if (s->fd >= 0)
		close(s->fd);
	if (s->from >= 0)
		close(s->from);
	*s = (struct stdin_copy){.fd = -1, .from = -1};
}
