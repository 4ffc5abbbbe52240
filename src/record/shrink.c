// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes a finished recording without unneeded symbols to another file, which then takes its name:
 * at every moment the name refers to a whole recording. If another process has moved the recording,
 * the file that has the name now is not touched, and the recording stays as it is.
 */
#include "file-int.h"
#include "kontend/mem.h"
#include "kontend/reader.h"
#include "kontend/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_small(int from, int to, const struct writer *w, struct error *err)
{
	char path[48];
	struct reader_options o = {.path = path, .no_symbols = true};
	struct source *s;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", from);
	int r = reader_new(&s, &o, err);

	if (r)
		return r;
	r = writer_shrink(s, w, to, err);
	source_free(s);
	return r;
}

/* True if the name refers to the open file. */
static bool is_named(const char *path, int fd, struct stat *ret)
{
	struct stat named;

	return fstat(fd, ret) == 0 && lstat(path, &named) == 0 && named.st_dev == ret->st_dev &&
	       named.st_ino == ret->st_ino;
}

/* Changes the name after all data is on disk. 0; 1: the file would not be smaller; or negative. */
static int take_place(const char *path, const char *temp, int from, int to, struct error *err)
{
	struct stat before, now;

	if (!is_named(path, from, &before) || fstat(to, &now) || now.st_size >= before.st_size)
		return 1;
	int r = fchmod(to, before.st_mode & 0777) || fdatasync(to) ? -errno : 0;
	if (r == 0 && !is_named(path, from, &before))
		return 1;
	if (r == 0 && rename(temp, path))
		r = -errno;
	if (r)
		return error_errno(err, r, "Cannot use '%s' to replace '%s'", temp, path);
	return 0;
}

static int shrink(const char *path, int from, char *temp, const struct writer *w,
		  uint64_t *ret_bytes, struct error *err)
{
	struct stat st;

	if (!is_named(path, from, &st))
		return 0;
	int to = mkostemp(temp, O_CLOEXEC);
	if (to < 0)
		return error_errno(err, -errno, "Cannot make the file '%s'", temp);
	int r = write_small(from, to, w, err);
	if (r == 0)
		r = take_place(path, temp, from, to, err);
	if (r == 0 && fstat(to, &st) == 0)
		*ret_bytes = (uint64_t)st.st_size;
	if (r)
		unlink(temp);
	close(to);
	return r < 0 ? r : 0;
}

int record_shrink(const char *path, int fd, const struct writer *w, uint64_t *ret_bytes,
		  struct error *err)
{
	static const char suffix[] = ".XXXXXX";
	size_t len = strlen(path);
	char *temp = mem_calloc(len + sizeof(suffix), 1);

	*ret_bytes = 0;
	if (!temp)
		return error_enomem(err, "making '%s' smaller", path);
	memcpy(temp, path, len);
	memcpy(temp + len, suffix, sizeof(suffix));
	int r = shrink(path, fd, temp, w, ret_bytes, err);
	mem_free(temp);
	return r;
}
