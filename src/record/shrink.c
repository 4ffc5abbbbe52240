// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes a finished recording without unneeded symbols to another file, which then takes its name:
 * at every moment the name refers to a whole recording. If another process has moved the recording,
 * the file that has the name now is not touched, and the recording stays as it is.
 */
#include "file-int.h"
#include "kontend/newfile.h"
#include "kontend/reader.h"
#include "kontend/writer.h"

#include <errno.h>
#include <stdio.h>
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
static int take_place(const char *path, struct newfile *to, int from, struct error *err)
{
	struct stat before, now;

	if (!is_named(path, from, &before) || fstat(to->fd, &now) || now.st_size >= before.st_size)
		return 1;
	int r = fchmod(to->fd, before.st_mode & 0777) || fdatasync(to->fd) ? -errno : 0;
	if (r == 0 && !is_named(path, from, &before))
		return 1;
	r = r < 0 ? r : newfile_put(to);
	return r < 0 ? error_errno(err, r, "Cannot replace '%s' by a smaller file", path) : 0;
}

int record_shrink(const char *path, int fd, const struct writer *w, uint64_t *ret_bytes,
		  struct error *err)
{
	struct newfile to;
	struct stat st;

	*ret_bytes = 0;
	if (!is_named(path, fd, &st))
		return 0;
	int r = newfile_open(&to, path);
	if (r < 0)
		return error_errno(err, r, "Cannot make a smaller file beside '%s'", path);
	r = write_small(fd, to.fd, w, err);
	if (r == 0)
		r = take_place(path, &to, fd, err);
	if (r == 0 && fstat(to.fd, &st) == 0)
		*ret_bytes = (uint64_t)st.st_size;
	if (r)
		newfile_drop(&to);
	close(to.fd);
	newfile_deinit(&to);
	return r < 0 ? r : 0;
}
