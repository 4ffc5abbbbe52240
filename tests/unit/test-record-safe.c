// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files that were there before a recording: whatever sizes, rotation and earlier files there are,
 * and whichever call to the kernel fails, none is gone but what was called FILE.old where FILE was
 * replaced by a recording, which is documented; none is changed, and nothing stays that has no
 * name of a recording.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "canned.h"
#include "kontend/record-file.h"
#include "kontend/record-output.h"
#include "recording.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Readings of symbols, and of the names of all tasks. */
static unsigned symbols_read, tasks_read;

int __real_fdio_read_rest(int fd, char **ret, size_t *len);
int __wrap_fdio_read_rest(int fd, char **ret, size_t *len);
int __wrap_fdio_read_rest(int fd, char **ret, size_t *len)
{
	symbols_read++;
	return __real_fdio_read_rest(fd, ret, len);
}

int __real_procfs_comms_all(const char *root, struct sideband *s);
int __wrap_procfs_comms_all(const char *root, struct sideband *s);
int __wrap_procfs_comms_all(const char *root, struct sideband *s)
{
	tasks_read++;
	return __real_procfs_comms_all(root, s);
}

enum { OLD = 1, OLDER = 2, ALIKE = 4 };

/* The call that fails, counted from here; -1: none. @plain: without renameat2(), another matter. */
static struct {
	long left;
	bool failed, plain;
	int shape; /* earlier files that each moment is to have */
} fault;

static void check_moment(int shape);

static bool strikes(void)
{
	check_moment(fault.shape);
	if (fault.left < 0 || fault.left-- > 0)
		return false;
	fault.failed = true;
	errno = EIO;
	return true;
}

#define FAILING(type, name, params, args)                                                          \
	type __real_##name params;                                                                 \
	type __wrap_##name params;                                                                 \
	type __wrap_##name params                                                                  \
	{                                                                                          \
		return strikes() ? -1 : __real_##name args;                                        \
	}

FAILING(int, rename, (const char *from, const char *to), (from, to))
FAILING(int, unlink, (const char *name), (name))
FAILING(int, linkat, (int from_dir, const char *from, int to_dir, const char *to, int flags),
	(from_dir, from, to_dir, to, flags))
FAILING(int, unlinkat, (int dir, const char *name, int flags), (dir, name, flags))
FAILING(ssize_t, writev, (int fd, const struct iovec *v, int n), (fd, v, n))
FAILING(ssize_t, pwrite, (int fd, const void *p, size_t n, off_t at), (fd, p, n, at))
FAILING(int, ftruncate, (int fd, off_t to), (fd, to))
FAILING(int, fchmod, (int fd, mode_t mode), (fd, mode))

/* A file that is made; others are opened as ever. The C library has it under two names. */
#define FAILING_OPENAT(name)                                                                       \
	int __real_##name(int dir, const char *path, int flags, mode_t mode);                      \
	int __wrap_##name(int dir, const char *path, int flags, mode_t mode);                      \
	int __wrap_##name(int dir, const char *path, int flags, mode_t mode)                       \
	{                                                                                          \
		bool makes = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;                  \
                                                                                                   \
		return makes && strikes() ? -1 : __real_##name(dir, path, flags, mode);            \
	}

FAILING_OPENAT(openat)
FAILING_OPENAT(openat64)

/* A disk that takes its time is no part of this. */
int __wrap_fdatasync(int fd);
int __wrap_fdatasync(int fd)
{
	(void)fd;
	return strikes() ? -1 : 0;
}

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
	long arg[6];
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(ap, long);
	va_end(ap);
	if (number == SYS_renameat2 && fault.plain) {
		errno = EINVAL;
		return -1;
	}
	if (number == SYS_renameat2 && strikes())
		return -1;
	return __real_syscall(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}

static const char *const earlier[] = {"file", "file.old", "file.20200101-000000"};

static void make_recording(const char *name)
{
	FILE *f = fopen(name, "w");

	assert_non_null(f);
	fprintf(f, "the earlier %s", name);
	fclose(f);
}

static void enter(char *dir, int shape)
{
	strcpy(dir, "/tmp/kontend-safe-XXXXXX");
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chdir(dir), 0);
	for (int i = 0; i < 3; i++)
		if (shape & 1 << i)
			make_recording(earlier[i]);
}

/* The earlier file of that name is there under @as. */
static bool is_there(const char *name, const char *as)
{
	char want[64], have[64] = "";
	FILE *f = fopen(as, "r");

	if (!f)
		return false;
	snprintf(want, sizeof(want), "the earlier %s", name);
	have[fread(have, 1, sizeof(have) - 1, f)] = 0;
	fclose(f);
	return !strcmp(want, have);
}

static bool is_anywhere(const char *name)
{
	DIR *d = opendir(".");
	bool found = false;
	struct dirent *e;

	assert_non_null(d);
	while (!found && (e = readdir(d)))
		found = e->d_name[0] != '.' && is_there(name, e->d_name);
	closedir(d);
	return found;
}

/* We may be killed between any two calls. */
static void check_moment(int shape)
{
	if (shape & OLD)
		assert_true(is_anywhere("file"));
	if (shape & OLDER)
		assert_true(is_there("file.old", "file.old") || is_there("file", "file.old"));
}

static bool begins_as_recording(const char *name)
{
	char magic[8] = "";
	FILE *f = fopen(name, "r");

	assert_non_null(f);
	size_t n = fread(magic, 1, 8, f);
	fclose(f);
	return n == 8 && !memcmp(magic, "PERFILE2", 8);
}

static void check_earlier(int shape)
{
	bool kept = is_there("file", "file.old"), back = is_there("file", "file");

	if (shape & OLD)
		assert_true(kept || back);
	if (shape & OLDER)
		assert_true(is_there("file.old", "file.old") || ((shape & OLD) && kept));
	if (shape & ALIKE)
		assert_true(is_there(earlier[2], earlier[2]));
}

/* Leaves the folder empty. @struck: then a name of ours may be what could not be removed. */
static void check_left(const char *dir, bool struck)
{
	DIR *d = opendir(".");
	struct dirent *e;

	assert_non_null(d);
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		bool temp = strlen(e->d_name) == 11 && strcmp(e->d_name, "file.old") != 0;
		bool mine = begins_as_recording(e->d_name);
		bool known = is_there("file", e->d_name) || is_there("file.old", e->d_name) ||
			     is_there(earlier[2], e->d_name);

		assert_true(mine || known || (struck && temp));
		assert_true(!temp || struck);
		unlink(e->d_name);
	}
	closedir(d);
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(rmdir(dir), 0);
}

/* As the verb does: what does not fit goes into the next file. */
static int write_record(struct record_file *f, const struct record *rec, bool rotates,
			struct error *err)
{
	int r = record_file_put(f, rec, err);

	if (r == WRITER_FULL && rotates) {
		r = record_file_rotate(f, err);
		r = r ? r : record_file_put(f, rec, err);
	}
	return r;
}

static void play(struct synth *y, uint64_t max, uint64_t keep)
{
	struct record_file_options o = {.path = "file", .max_bytes = max, .keep = keep};
	struct record_file *f;
	struct error err = {0};
	bool first = true;
	int r = record_file_new(&f, &o, &err);

	if (r < 0)
		return;
	/* Symbols would be this kernel's in each of the files, which takes a tenth of a second. */
	for (int turn = 0; r == 0 && turn < 4; turn++) {
		for (size_t i = 0; r == 0 && i < synth_count(y); i++) {
			enum record_kind kind = synth_at(y, i)->kind;

			/* A file that has no event yet, and is not under its name. */
			if (kind == RECORD_PERF && keep && first)
				r = record_file_rotate(f, &err);
			first &= kind != RECORD_PERF;
			if (r == 0 && (kind == RECORD_PERF || (!turn && kind != RECORD_KALLSYMS)))
				r = write_record(f, synth_at(y, i), keep > 0, &err);
		}
		if (r == 0 && keep && turn % 2)
			r = record_file_rotate(f, &err);
	}
	if (record_file_finish(f, &err) == 0 && r >= 0)
		record_file_shrink(f, &err);
	record_file_free(f);
}

/* Answers whether a call has failed. */
static bool try(struct synth *y, int shape, uint64_t max, uint64_t keep, long at)
{
	char dir[32];

	enter(dir, shape);
	fault.left = at;
	fault.failed = false;
	fault.shape = shape;
	play(y, max, keep);
	fault.left = -1;
	fault.shape = 0;
	check_earlier(shape);
	check_left(dir, fault.failed);
	return fault.failed;
}

/* Every call once, then none. */
static void try_all(struct synth *y, int shape, uint64_t max, uint64_t keep)
{
	long at = 0;

	while (try(y, shape, max, keep, at))
		at++;
	assert_true(at > 0);
}

static void earlier_files_stay(void **state)
{
	static const uint64_t sizes[] = {0, 3000, 9000, 1 << 20};
	static const int shapes[] = {0, OLD, OLD | OLDER | ALIKE};
	struct rig r;

	(void)state;
	canned_init(&r);
	for (int plain = 0; plain < 2; plain++)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
			for (size_t shape = 0; shape < 3; shape++)
				for (uint64_t keep = 0; keep < 2; keep++) {
					fault.plain = plain;
					try_all(r.synth, shapes[shape], sizes[i], keep);
				}
	fault.plain = false;
	rig_deinit(&r);
}

static void put_all(struct record_file *f, const struct rig *r)
{
	struct error err = {0};

	for (size_t i = 0; i < synth_count(r->synth); i++)
		assert_int_equal(record_file_put(f, synth_at(r->synth, i), &err), 0);
}

/* A recording whose first part has the whole stream. */
static struct record_file *first_part(const struct record_file_options *o, struct rig *r,
				      char dir[32])
{
	struct record_file *f;
	struct error err = {0};

	canned_init(r);
	enter(dir, 0);
	assert_int_equal(record_file_new(&f, o, &err), 0);
	put_all(f, r);
	assert_int_equal(record_file_rotate(f, &err), 0);
	return f;
}

/* Another program has put another file in place of a part. */
static void foreign_files_stay(void **state)
{
	struct record_file_options o = {.path = "file", .keep = 1};
	struct record_file *f;
	struct error err = {0};
	char dir[32];
	struct rig r;

	(void)state;
	f = first_part(&o, &r, dir);
	const char *part = record_file_parts(f)->list[0].name;
	assert_int_equal(rename(part, "mine"), 0);
	make_recording(earlier[2]);
	assert_int_equal(rename(earlier[2], part), 0);
	char kept[64];
	snprintf(kept, sizeof(kept), "%s", part);
	assert_int_equal(record_file_rotate(f, &err), 0);
	assert_true(is_there(earlier[2], kept));
	/* The present one, too. */
	assert_int_equal(unlink("file"), 0);
	make_recording("file");
	assert_int_equal(record_file_rotate(f, &err), -ENOENT);
	assert_non_null(strstr(err.text, "was removed while it was written"));
	assert_int_equal(record_file_flush(f, &err), -ENOENT);
	assert_int_equal(record_file_finish(f, &err), -ENOENT);
	record_file_free(f);
	assert_true(is_there("file", "file"));
	check_left(dir, true);
	rig_deinit(&r);
}

/* Moved away, its name taken: the recording ends with a message. */
static void a_taken_name_ends_it(void **state)
{
	struct record_file_options o = {.path = "file"};
	struct record_file *f;
	struct error err = {0};
	char dir[32];
	struct rig r;

	(void)state;
	canned_init(&r);
	enter(dir, 0);
	assert_int_equal(record_file_new(&f, &o, &err), 0);
	put_all(f, &r);
	assert_int_equal(rename("file", "moved"), 0);
	assert_int_equal(record_file_rotate(f, &err), 0); /* as log files are rotated */
	assert_int_equal(rename("file", "moved.2"), 0);
	make_recording("file");
	assert_int_equal(record_file_rotate(f, &err), -EEXIST);
	assert_non_null(strstr(err.text, "another file has this name now"));
	record_file_free(f);
	assert_true(is_there("file", "file"));
	check_left(dir, false);
	rig_deinit(&r);
}

/* Files that are mostly beginnings are refused, before anything is taken the place of. */
static void a_share_is_left_for_events(void **state)
{
	struct record_file_options o = {.path = "file", .keep = 2, .max_bytes = 9000};
	unsigned long long least = 0;
	struct record_file *f;
	struct error err = {0};
	char dir[32];
	struct rig r;

	(void)state;
	canned_init(&r);
	enter(dir, OLD);
	for (int turn = 0; turn < 2; turn++) {
		assert_int_equal(record_file_new(&f, &o, &err), 0);
		for (size_t i = 0; synth_at(r.synth, i)->kind != RECORD_PERF; i++)
			assert_int_equal(record_file_put(f, synth_at(r.synth, i), &err), 0);
		int e = record_file_begin(f, 0, &err);
		record_file_free(f);
		assert_int_equal(e, turn ? 0 : -EFBIG);
		const char *at = strstr(err.text, "at least ");
		assert_int_equal(sscanf(at ? at : "", "at least %lluK", &least), 1);
		o.max_bytes = least * 1024;
		assert_true(is_there("file", "file"));
	}
	check_left(dir, false);
	rig_deinit(&r);
}

/* The rest when the stream has ended may take many parts: each takes no longer than its bytes. */
static void parts_of_the_end_are_cheap(void **state)
{
	struct record_file_options o = {.path = "file", .keep = 2};
	struct recording_result res, first = {0};
	struct record_file *f;
	struct error err = {0};
	char dir[32];
	struct rig r;

	(void)state;
	f = first_part(&o, &r, dir);
	assert_int_equal(record_file_rotate(f, &err), 0);
	symbols_read = tasks_read = 0;
	record_file_settle(f);
	for (int turn = 0; turn < 8; turn++) {
		for (size_t i = 0; i < synth_count(r.synth); i++)
			if (synth_at(r.synth, i)->kind == RECORD_PERF)
				assert_int_equal(record_file_put(f, synth_at(r.synth, i), &err), 0);
		assert_int_equal(record_file_rotate(f, &err), 0);
	}
	assert_int_equal(symbols_read, 1);
	assert_int_equal(tasks_read, 1);
	/* And they are as good. */
	for (size_t i = 0; i < record_file_parts(f)->n; i++) {
		recording_read(&res, record_file_parts(f)->list[i].name, 0);
		assert_int_equal(res.answer, 0);
		assert_true(res.events > 0 && (!i || res.events == first.events));
		if (i)
			recording_result_free(&first);
		first = res;
	}
	recording_result_free(&first);
	assert_int_equal(record_file_finish(f, &err), 0);
	record_file_free(f);
	check_left(dir, false);
	rig_deinit(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(earlier_files_stay),
		cmocka_unit_test(foreign_files_stay),
		cmocka_unit_test(a_taken_name_ends_it),
		cmocka_unit_test(parts_of_the_end_are_cheap),
		cmocka_unit_test(a_share_is_left_for_events),
	};

	fault.left = -1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
