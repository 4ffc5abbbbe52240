// SPDX-License-Identifier: GPL-2.0-only
/*
 * A file gets its name when it is complete and on disk: readers of that name see the old file or
 * the new one, never a part. Buffered writing reports a full disk only when it flushes, hence the
 * checks at the end.
 */
#include "kontend/output.h"
#include "kontend/ending.h"
#include "kontend/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 64 << 10 };

static int open_failed(struct output *o, const char *path, int code, struct error *err)
{
	output_close(o);
	return error_errno(err, code, "Cannot write to the file '%s'", path);
}

/*
 * It was created for its owner only: sets the mode of the old file, or the usual mode of a new one.
 */
static void take_mode(int fd, const struct stat *old)
{
	mode_t mask = umask(0);

	umask(mask);
	if (fchmod(fd, old ? old->st_mode & 07777 : 0666 & ~mask) < 0)
		return;
}

static int open_new(struct output *o, const char *path, const struct stat *old)
{
	int r = newfile_open(&o->made, path);

	if (r < 0)
		return r;
	o->is_new = true;
	take_mode(o->made.fd, old);
	o->file = fdopen(o->made.fd, "w");
	if (o->file)
		return 0;
	int code = -errno;
	close(o->made.fd);
	return code;
}

int output_open_special(const char *path)
{
	static const struct timespec step = {0, 20000000};

	for (;;) {
		int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

		if (fd >= 0)
			return fcntl(fd, F_SETFL, 0) < 0 ? (close(fd), -EIO) : fd;
		if (errno != ENXIO)
			return -errno;
		if (ending_is_pending()) /* blocked; the program reads it later */
			return -EINTR;
		nanosleep(&step, NULL);
	}
}

static int open_special(struct output *o, const char *path)
{
	int fd = output_open_special(path);

	if (fd < 0)
		return fd;
	o->file = fdopen(fd, "w");
	if (o->file)
		return 0;
	int code = -errno;
	close(fd);
	return code;
}

/*
 * Large blocks save most system calls. A terminal gets single lines. Without memory the default
 * buffer stays.
 */
static void write_blocks(struct output *o)
{
	char *block = isatty(fileno(o->file)) ? NULL : mem_resize(NULL, BLOCK, 1);

	if (!block)
		return;
	if (setvbuf(o->file, block, _IOFBF, BLOCK) != 0)
		mem_free(block);
	else if (o->path)
		o->block = block;
}

/* To @path, or else to @standard. */
static int open_file(struct output *o, const char *path, FILE *standard, struct error *err)
{
	struct stat st;
	bool there;
	int r;

	if (!path) {
		o->file = standard;
		return 0;
	}
	there = stat(path, &st) == 0;
	o->path = mem_strdup(path);
	if (!o->path)
		return open_failed(o, path, -ENOMEM, err);
	if (there && !S_ISREG(st.st_mode)) {
		r = open_special(o, path);
		return r < 0 ? open_failed(o, path, r, err) : 0;
	}
	r = open_new(o, path, there ? &st : NULL);
	return r < 0 ? open_failed(o, path, r, err) : 0;
}

int output_open(struct output *o, const char *path, FILE *standard, struct error *err)
{
	*o = (struct output){0};
	int r = open_file(o, path, standard, err);

	if (r == 0)
		write_blocks(o);
	return r;
}

int output_open_sent(struct output *o, const char *to,
		     int (*send)(int fd, const char *to, struct error *err), struct error *err)
{
	*o = (struct output){.send = send};
	int fd = memfd_create("kontend-output", MFD_CLOEXEC);

	o->path = mem_strdup(to);
	o->file = fd < 0 ? NULL : fdopen(fd, "w");
	if (o->path && o->file) {
		write_blocks(o);
		return 0;
	}
	int code = fd < 0 ? -errno : -ENOMEM;
	if (fd >= 0 && !o->file)
		close(fd);
	output_close(o);
	return error_errno(err, code, "Cannot keep the output in memory for sending");
}

int output_failed(const struct output *o, int code, struct error *err)
{
	if (code == -EPIPE)
		return code;
	return error_errno(err, code, "Cannot write all of the output to %s%s%s",
			   o->path ? "the file '" : "standard output", o->path ? o->path : "",
			   o->path ? "'" : "");
}

int output_put(struct output *o, int fd, bool give_up, struct error *err)
{
	if (o->send)
		return give_up ? 0 : o->send(fd, o->path, err);
	if (!o->is_new)
		return 0;
	int r = give_up ? newfile_drop(&o->made) : newfile_put(&o->made);
	if (r < 0 && give_up)
		return error_errno(err, r, "Cannot remove '%s'", o->made.temp);
	return r < 0 ? output_failed(o, r, err) : 0;
}

int output_commit(struct output *o, struct error *err)
{
	bool failed = ferror(o->file) != 0;
	int code = -EIO;

	errno = 0;
	if (fflush(o->file) != 0) {
		failed = true;
		code = errno ? -errno : -EIO;
	}
	if (!failed && o->is_new && fsync(fileno(o->file)) < 0) {
		failed = true;
		code = -errno;
	}
	if (failed)
		return output_failed(o, code, err);
	int fd = o->send ? fileno(o->file) : -1;
	code = o->put ? o->put(o->put_ctx, fd, false, err) : output_put(o, fd, false, err);
	if (code < 0)
		return code;
	o->is_new = false;
	return code;
}

void output_close(struct output *o)
{
	struct error err = {0};

	if (o->file && o->path)
		fclose(o->file);
	if (o->is_new && o->put)
		o->put(o->put_ctx, -1, true, &err);
	else if (o->is_new)
		output_put(o, -1, true, &err);
	newfile_deinit(&o->made);
	mem_free(o->block);
	mem_free(o->path);
	*o = (struct output){0};
}
