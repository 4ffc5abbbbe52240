// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files of a recording. A file gets its name as soon as it has all that precedes the stream
 * (newfile.h). So a file with that name is always readable, even after kontend was killed. A
 * recording that fails at its start leaves no file, and does not touch an older one.
 */
#include "file-int.h"
#include "kontend/fdio.h"
#include "kontend/mem.h"
#include "kontend/newfile.h"
#include "kontend/output.h"
#include "kontend/record-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/*
 * Symbols take more than half a megabyte. It is not worth reading a longer file again to leave them
 * out: that takes a tenth of a second for so many unpacked bytes.
 */
enum { SHRINK_MOST = 16 << 20, SHRINK_MOST_UNPACKED = 128 << 20 };

struct record_file {
	struct record_file_options o;
	char *path;
	struct newfile begun; /* until the file is readable: then it has a name */
	char *cmdline;
	const char **argv; /* into cmdline, NULL-terminated */
	int fd;
	bool regular;
	struct writer *writer;
	struct part_prologue again;
	uint64_t shrunk_bytes;		   /* size of the finished file after record_shrink() */
	struct record_parts parts;	   /* the earlier parts */
	struct record_output_file present; /* the file being written */
};

/* kontend's own command line, for readers of the file. */
static int read_argv(struct record_file *f)
{
	size_t len = 0, n = 0;

	if (fdio_read_file("/proc/self/cmdline", &f->cmdline, &len) < 0)
		len = 0;
	for (size_t i = 0; i < len; i++)
		n += !f->cmdline[i];
	f->argv = mem_calloc(n + 1, sizeof(*f->argv));
	if (!f->argv)
		return -ENOMEM;
	n = 0;
	for (size_t i = 0; i < len; i += strlen(f->cmdline + i) + 1)
		f->argv[n++] = f->cmdline + i;
	return 0;
}

static int open_fd(struct record_file *f, struct error *err)
{
	struct stat st;
	bool there = stat(f->path, &st) == 0;
	int r = 0;

	f->regular = !there || S_ISREG(st.st_mode);
	if (!f->regular) {
		f->fd = output_open_special(f->path);
		r = f->fd < 0 ? f->fd : 0;
	} else {
		r = newfile_open(&f->begun, f->path);
		f->fd = f->begun.fd;
	}
	if (r == 0)
		r = record_output_know(f->fd, &f->present);
	return r == 0 ? 0 : error_errno(err, r, "Cannot record to the file '%s'", f->path);
}

static int open_writer(struct record_file *f, struct error *err)
{
	bool is_pipe = !strcmp(f->path, "-");
	struct writer_options w = {
		.path = is_pipe ? "-" : NULL,
		.name = f->path,
		.zstd_level = f->o.zstd_level,
		.argv = f->argv,
		.clock_id = CLOCK_MONOTONIC,
		.max_bytes = f->o.max_bytes,
		.wait = f->o.wait,
		.ctx = f->o.ctx,
	};
	int r = is_pipe ? 0 : open_fd(f, err);

	w.fd = f->fd;
	return r < 0 ? r : writer_new(&f->writer, &w, err);
}

int record_file_new(struct record_file **ret, const struct record_file_options *o,
		    struct error *err)
{
	struct record_file *f = mem_calloc(1, sizeof(*f));
	int r = -ENOMEM;

	if (!f)
		return error_enomem(err, "the recording");
	f->o = *o;
	f->parts.keep = o->keep;
	f->fd = -1;
	part_prologue_init(&f->again, o->names, o->cgroups);
	f->path = mem_strdup(o->path);
	if (!f->path || read_argv(f) < 0)
		error_enomem(err, "the recording");
	else
		r = open_writer(f, err);
	if (r < 0) {
		record_file_free(f);
		return r;
	}
	*ret = f;
	return 0;
}

/*
 * The first part replaces an existing file, which becomes PATH.old. For later parts the name is
 * free, as the previous part was renamed, unless another process has taken it.
 */
static int take_name(struct record_file *f, struct error *err)
{
	const char *temp = f->begun.temp;
	int r = newfile_name(&f->begun);

	if (r < 0)
		return error_errno(err, r, "Cannot name the file '%s'", f->path);
	if (!f->parts.finished)
		return record_output_put(temp, f->path, err);
	r = record_output_rename(temp, f->path);
	if (r == -EEXIST)
		return error_set(
			err, r,
			"Cannot continue recording to '%s': another file has this name now, "
			"which was not touched",
			f->path);
	if (r < 0)
		return error_errno(err, r, "Cannot rename the file '%s' to '%s'", temp, f->path);
	return 0;
}

/* The file is readable now: it gets its name. */
static int put_in_place(struct record_file *f, struct error *err)
{
	int r = take_name(f, err);

	if (r < 0)
		return r;
	newfile_deinit(&f->begun);
	return 0;
}

/* At the first event: all that a reader needs before it is written. */
static int put_in_place_once(struct record_file *f, struct error *err)
{
	bool is_begun = f->begun.temp != NULL;
	int e = is_begun ? writer_flush(f->writer, err) : 0;

	return e == 0 && is_begun ? put_in_place(f, err) : e;
}

int record_file_put(struct record_file *f, const struct record *r, struct error *err)
{
	int e = part_prologue_note(&f->again, r) < 0 ? error_enomem(err, "the recording")
						     : writer_put(f->writer, r, err);

	return e == 0 && r->kind == RECORD_PERF ? put_in_place_once(f, err) : e;
}

int record_file_put_runs(struct record_file *f, uint32_t ring, const struct iovec *runs, int n,
			 struct error *err)
{
	struct record r = {.kind = RECORD_PERF, .ring = ring};

	part_prologue_note(&f->again, &r);
	int e = writer_put_runs(f->writer, runs, n, err);
	return e == 0 ? put_in_place_once(f, err) : e;
}

/* Fails if the data before the events would fill each file, so that events would not fit. */
static int check_share(const struct record_file *f, uint64_t more, struct error *err)
{
	uint64_t max = f->o.max_bytes, room = record_file_room(f);
	uint64_t least = (2 * (max - room + more) + 1023) / 1024;

	if (!max || !f->regular || (f->o.keep ? least * 1024 <= max : more <= room))
		return 0;
	return error_set(err, -EFBIG,
			 "'--max-size' is too small: the headers of each file take "
			 "%lluK; give at least %lluK",
			 (unsigned long long)least / 2, (unsigned long long)least);
}

int record_file_begin(struct record_file *f, uint64_t more, struct error *err)
{
	int r = writer_begin(f->writer, err);

	return r < 0 ? r : check_share(f, more, err);
}

uint64_t record_file_room(const struct record_file *f)
{
	return writer_room(f->writer);
}

/* If the file was removed while it was written, it cannot be read by name. */
static int check_name(const struct record_file *f, struct error *err)
{
	struct stat st;

	if (!f->regular || f->begun.temp || f->fd < 0 || fstat(f->fd, &st) < 0 || st.st_nlink)
		return 0;
	return error_set(err, -ENOENT,
			 "The recording '%s' was removed while it was written and is lost",
			 f->path);
}

int record_file_flush(struct record_file *f, struct error *err)
{
	int r = f->again.has_ring ? writer_flush(f->writer, err) : 0;

	return r == 0 ? check_name(f, err) : r;
}

struct writer *record_file_writer(const struct record_file *f)
{
	return f->writer;
}

int record_file_fd(const struct record_file *f)
{
	return f->fd;
}

bool record_file_is_regular(const struct record_file *f)
{
	return f->regular && f->fd >= 0;
}

static void close_writer(struct record_file *f)
{
	writer_free(f->writer);
	f->writer = NULL;
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

/* Without a complete beginning the file is unreadable: removes it. */
static void give_up_file(struct record_file *f)
{
	close_writer(f);
	if (f->begun.has_name)
		record_output_remove(f->begun.temp, &f->present);
	newfile_deinit(&f->begun);
}

/* Completes the current file under its name. */
static int end_file(struct record_file *f, struct error *err)
{
	int r = writer_finish(f->writer, err);

	if (r == 0 && f->begun.temp)
		r = put_in_place(f, err);
	return r == 0 ? check_name(f, err) : r;
}

int record_file_rotate(struct record_file *f, struct error *err)
{
	const struct record_output_file done = f->present;
	int r = end_file(f, err);

	if (r < 0)
		return r;
	close_writer(f);
	r = open_writer(f, err);
	if (r == 0)
		r = part_prologue_put(&f->again, f->writer, f->path, err);
	if (r == 0)
		r = record_parts_add(&f->parts, f->path, &done, err);
	if (r == 0)
		r = put_in_place(f, err);
	if (r < 0)
		give_up_file(f);
	return r;
}

int record_file_finish(struct record_file *f, struct error *err)
{
	return f->writer ? end_file(f, err) : 0;
}

int record_file_shrink(struct record_file *f, struct error *err)
{
	struct writer_stat st;

	record_file_stat(f, &st);
	if (!f->regular || !f->again.has_symbols || f->begun.temp || st.bytes > SHRINK_MOST ||
	    st.bytes + st.packed_from - st.packed_to > SHRINK_MOST_UNPACKED)
		return 0;
	return record_shrink(f->path, f->fd, f->writer, &f->shrunk_bytes, err);
}

void record_file_stat(const struct record_file *f, struct writer_stat *ret)
{
	*ret = (struct writer_stat){0};
	if (f->writer)
		writer_stat(f->writer, ret);
	if (f->shrunk_bytes)
		ret->bytes = f->shrunk_bytes;
}

void record_file_settle(struct record_file *f)
{
	f->again.settled = true;
}

const struct record_parts *record_file_parts(const struct record_file *f)
{
	return &f->parts;
}

void record_file_free(struct record_file *f)
{
	if (!f)
		return;
	give_up_file(f);
	part_prologue_deinit(&f->again);
	record_parts_deinit(&f->parts);
	mem_free(f->path);
	mem_free(f->argv);
	mem_free(f->cmdline);
	mem_free(f);
}
