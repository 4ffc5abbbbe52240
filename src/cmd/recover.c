// SPDX-License-Identifier: GPL-2.0-only
/*
 * `kontend recover`: writes the readable part of a damaged recording into a file without a name,
 * which then takes the place of the damaged one. That becomes FILE.old. With --output it is left
 * alone.
 */
#include "kontend/recover.h"
#include "kontend/mem.h"
#include "kontend/record-output.h"
#include "kontend/sandboxed.h"
#include "kontend/tracefs.h"
#include "kontend/units.h"
#include "verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file that is asked for is replaced, the damaged one is kept. */
static int put_in_place(struct newfile *made, const char *path, bool keep_old, struct error *err)
{
	int r = keep_old ? newfile_name(made) : newfile_put(made);

	if (r < 0)
		return error_errno(err, r, "Cannot give the new file the name '%s'", path);
	return keep_old ? record_output_put(made->temp, path, err) : 0;
}

/* The formats of this machine, should the file have none. */
struct formats {
	struct recover_format list[2];
	char *bodies[2];
	size_t n;
};

static const char lock_system[] = "lock";

static void read_formats(struct formats *f)
{
	static const char *const names[2] = {"contention_begin", "contention_end"};
	char path[TRACEFS_PATH];

	if (tracefs_search("/proc/self/mounts", path) < 0)
		return;
	for (size_t i = 0; i < 2; i++) {
		struct tracepoint tp = {0};

		if (tracepoint_read(&tp, path, lock_system, names[i], NULL) < 0)
			continue;
		size_t len = sizeof(lock_system) + tp.format_len;
		char *body = mem_calloc(len, 1);
		if (body) {
			memcpy(body, lock_system, sizeof(lock_system));
			memcpy(body + sizeof(lock_system), tp.format, tp.format_len);
			f->bodies[f->n] = body;
			f->list[f->n++] = (struct recover_format){body, len};
		}
		tracepoint_deinit(&tp);
	}
}

static int save(const struct opts *o, int from, int fd, const char *path, struct recover_stat *st,
		const struct formats *f, struct error *err)
{
	struct recover_options r = {.path = o->topic,
				    .from = from,
				    .fd = fd,
				    .name = path,
				    .formats = f->list,
				    .n_formats = f->n};
	int ret = recover_file(&r, st, err);
	if (ret == 0 && fsync(fd) < 0)
		ret = error_errno(err, -errno, "Cannot write all of '%s'", path);
	return ret;
}

/* With --output there is a file of that name even if nothing had to be recovered. */
static int copy_whole(const char *from, int in, int to, const char *path, struct error *err)
{
	ssize_t n = lseek(in, 0, SEEK_SET) < 0 || ftruncate(to, 0) < 0 || lseek(to, 0, SEEK_SET) < 0
			    ? -1
			    : 1;
	char block[65536];

	while (n > 0 && (n = read(in, block, sizeof(block))) > 0)
		for (ssize_t done = 0, some; n > 0 && done < n; done += some) {
			some = write(to, block + done, (size_t)(n - done));
			if (some < 0)
				n = some;
		}
	int code = n < 0 || fsync(to) < 0 ? -errno : 0;
	return code < 0 ? error_errno(err, code, "Cannot copy '%s' to '%s'", from, path) : 0;
}

struct recovery {
	const struct opts *o;
	const char *path;
	struct newfile made;
	int from;
	struct formats formats;
	struct sandboxed sandboxed;
};

/* Puts the file in its place at the end, in a process that may do so. */
static int put_it(void *ctx, int fd, bool give_up, struct error *err)
{
	struct recovery *r = ctx;

	(void)fd;
	if (!give_up)
		return put_in_place(&r->made, r->path, !r->o->output, err);
	int code = newfile_drop(&r->made);
	return code < 0 ? error_errno(err, code, "Cannot remove '%s'", r->made.temp) : 0;
}

static int open_both(struct recovery *r, struct error *err)
{
	/* A FIFO without a writer must not block us here. */
	r->from = open(r->o->topic, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (r->from < 0)
		return error_errno(err, -errno, "Cannot open the recording '%s'", r->o->topic);
	int code = newfile_open(&r->made, r->path);
	return code < 0 ? error_errno(err, code, "Cannot write beside '%s'", r->path) : 0;
}

/* In the sandbox. */
static int read_it(struct recovery *r, struct recover_stat *st, struct error *err)
{
	const struct sandboxed_wants w = {
		.put = put_it, .put_ctx = r, .used = {r->made.dir, r->made.fd}};
	int e = sandboxed_enter(&r->sandboxed, r->o, &w, err);

	return e < 0 ? e : save(r->o, r->from, r->made.fd, r->path, st, &r->formats, err);
}

static int put_part(struct recovery *r, bool give_up, struct error *err)
{
	return sandboxed_is(&r->sandboxed) ? sandboxed_put(&r->sandboxed, -1, give_up, err)
					   : put_it(r, -1, give_up, err);
}

static void end(struct recovery *r)
{
	for (size_t i = 0; i < r->formats.n; i++)
		mem_free(r->formats.bodies[i]);
	if (r->from >= 0)
		close(r->from);
	if (r->made.fd >= 0)
		close(r->made.fd);
	newfile_deinit(&r->made);
	sandboxed_leave(&r->sandboxed);
}

static int recover(const struct opts *o, const char *path, struct recover_stat *st,
		   struct error *err)
{
	struct recovery r = {.o = o, .path = path, .made = {.dir = -1, .fd = -1}, .from = -1};
	struct error ignored = {0};
	int e = open_both(&r, err);

	if (e < 0) {
		end(&r);
		return e;
	}
	read_formats(&r.formats);
	int read = e = read_it(&r, st, err);
	/* A whole recording is copied if --output asks for it, and else left alone. */
	if (e == RECOVER_WHOLE && o->output)
		e = copy_whole(o->topic, r.from, r.made.fd, path, err);
	if (e == 0)
		e = put_part(&r, false, err);
	if (e != 0)
		put_part(&r, true, &ignored);
	end(&r);
	return e < 0 ? e : read;
}

static void say_result(const struct opts *o, const char *path, const struct recover_stat *st)
{
	char kept[UNITS_BUF], cut[UNITS_BUF], records[UNITS_BUF];

	units_bytes(kept, st->kept);
	units_count(records, st->records);
	if (st->kept == st->size)
		cmd_say(o, "%s: kept all of %s, %s records", path, kept, records);
	else
		cmd_say(o, "%s: kept %s, %s records; cut %s after byte %llu", path, kept, records,
			units_bytes(cut, st->size - st->kept), (unsigned long long)st->kept);
	if (st->foreign_formats)
		cmd_say(o, "it had no tracepoint formats: those of the running kernel were put in");
	if (!o->output)
		cmd_say(o, "the damaged file is %s.old now", path);
}

int cmd_recover(const struct opts *o)
{
	const char *path = o->output ? o->output : o->topic;
	struct recover_stat st = {0};
	struct error err = {0};
	int r = recover(o, path, &st, &err);

	if (r < 0)
		return cmd_fail(CMD_EXIT_FAILURE, &err);
	if (r == RECOVER_WHOLE)
		cmd_say(o, "%s has all its parts: there is nothing to recover%s%s", o->topic,
			o->output ? ", and it was copied to " : "", o->output ? o->output : "");
	else
		say_result(o, path, &st);
	return CMD_EXIT_OK;
}
