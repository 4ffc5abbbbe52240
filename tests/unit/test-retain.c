// SPDX-License-Identifier: GPL-2.0-only
/* How many files of incidents stay, in a made directory with files of others in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "incidents/retain.h"
#include "kontend/incident.h"
#include "kontend/mem.h"
#include "kontend/snapshot.h"
#include "kontend/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECOND 1000000000ull

enum { SIZE = 16384, NOW_S = 1764000000, NOBODY = 65534 };

static char dir[64];

static int set_up(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/kontend-retain-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	assert_int_equal(mem_live(), 0);
	return system(command);
}

static const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void set_age(const char *name, int64_t age_s)
{
	const struct timespec t[2] = {{.tv_sec = NOW_S - age_s}, {.tv_sec = NOW_S - age_s}};

	assert_int_equal(utimensat(AT_FDCWD, path_of(name), t, AT_SYMLINK_NOFOLLOW), 0);
}

/* A file that was written so long ago; answers a descriptor. */
static int make_open(const char *name, const char *head, size_t size, int64_t age_s)
{
	static char bytes[SIZE * 4];
	int fd = open(path_of(name), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	memset(bytes, 'x', size);
	memcpy(bytes, head, size ? strlen(head) : 0);
	assert_int_equal(write(fd, bytes, size), size);
	set_age(name, age_s);
	return fd;
}

/* A recording that was finished, with an incident in it or without. */
static void make_recording(const char *name, int64_t age_s, bool has_incident)
{
	struct {
		struct record_snapshot head;
		struct incident incident;
	} fired = {{.kind = SNAPSHOT_INCIDENT, .version = INCIDENT_VERSION},
		   {.fired_ns = 500, .begin_ns = 200, .from_ns = 100, .to_ns = 900}};
	const struct record rec = {.kind = RECORD_SNAPSHOT, .data = &fired, .len = sizeof(fired)};
	const struct record_host host = {.clock_ns = 1};
	const struct record first = {.kind = RECORD_HOST, .data = &host, .len = sizeof(host)};
	int fd = open(path_of(name), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	const struct writer_options o = {.fd = fd};
	struct error err = {0};
	struct writer *w;

	assert_int_equal(writer_new(&w, &o, &err), 0);
	assert_int_equal(writer_put(w, &first, &err), 0);
	if (has_incident)
		assert_int_equal(writer_put(w, &rec, &err), 0);
	if (writer_finish(w, &err) < 0)
		fail_msg("%s", err.text);
	writer_free(w);
	/* Holes are as good as events here. */
	assert_int_equal(ftruncate(fd, SIZE), 0);
	close(fd);
	set_age(name, age_s);
}

static void make_file(const char *name, int64_t age_s)
{
	make_recording(name, age_s, true);
}

static int there(const char *name)
{
	struct stat st;

	return lstat(path_of(name), &st) == 0;
}

static void apply(const struct retain_limits *l, struct retain_stat *s)
{
	struct error err = {0};

	if (retain_apply(dir, l, NOW_S * SECOND, s, &err) < 0)
		fail_msg("%s", err.text);
}

static void make_four(void)
{
	make_file("kontend-20261121-031407-wait.data", 400);
	make_file("kontend-20261121-041407-wait.data", 300);
	make_file("kontend-20261121-051407-hand.data", 200);
	make_file("kontend-20261121-061407-wait-2.data", 100);
}

/* The newest so many are there. */
static void assert_newest(int n)
{
	assert_int_equal(there("kontend-20261121-061407-wait-2.data"), n >= 1);
	assert_int_equal(there("kontend-20261121-051407-hand.data"), n >= 2);
	assert_int_equal(there("kontend-20261121-041407-wait.data"), n >= 3);
	assert_int_equal(there("kontend-20261121-031407-wait.data"), n >= 4);
}

static void by_each_limit(void **state)
{
	static const struct {
		struct retain_limits l;
		int stay;
	} cases[] = {
		{{0}, 4},
		{{.files = 4}, 4},
		{{.files = 3}, 3},
		{{.files = 1}, 1},
		{{.bytes = (uint64_t)4 * SIZE}, 4},
		{{.bytes = 4 * SIZE - 1}, 3},
		{{.bytes = (uint64_t)2 * SIZE}, 2},
		{{.bytes = 1}, 1}, /* the newest stays in any case */
		{{.age_ns = 401 * SECOND}, 4},
		{{.age_ns = 300 * SECOND}, 3},
		{{.age_ns = 299 * SECOND}, 2},
		{{.age_ns = 1}, 1},
		{{.age_ns = 350 * SECOND, .files = 9, .bytes = (uint64_t)2 * SIZE}, 2},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct retain_stat s;

		make_four();
		apply(&cases[i].l, &s);
		assert_newest(cases[i].stay);
		assert_int_equal(s.files, cases[i].stay);
		assert_int_equal(s.bytes, cases[i].stay * SIZE);
		assert_int_equal(s.removed, 4 - cases[i].stay);
		assert_int_equal(s.removed_bytes, (4 - cases[i].stay) * SIZE);
	}
}

/* A large one in the middle makes no hole. */
static void the_last_without_holes(void **state)
{
	const struct retain_limits l = {.bytes = (uint64_t)3 * SIZE};
	struct retain_stat s;

	(void)state;
	make_four();
	assert_int_equal(truncate(path_of("kontend-20261121-051407-hand.data"), 3 * SIZE), 0);
	set_age("kontend-20261121-051407-hand.data", 200);
	apply(&l, &s);
	assert_newest(1);
}

static void nothing_of_others(void **state)
{
	static const char *const names[] = {
		"notes.txt",
		"kontend.data",
		"kontend.data.20261120-143005",
		"kontend-20261121-031407-wait.data.gz",
		"kontend-20261121-031407-.data",
		"kontend-2026x121-031407-wait.data",
		"kontend-20261121-031407-WAIT.data",
		"xkontend-20261121-031407-wait.data",
	};
	const struct retain_limits l = {.files = 1, .bytes = 1, .age_ns = 1};
	struct retain_stat s;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		make_file(names[i], 1000);
	make_file("kontend-20261121-061407-wait.data", 1);
	/* Of our name, and not ours. */
	close(make_open("kontend-20261121-010101-letter.data", "Dear all", SIZE, 1000));
	close(make_open("kontend-20261121-010102-empty.data", "", 0, 1000));
	make_recording("kontend-20261121-010107-other.data", 1000, false);
	make_file("elsewhere", 1000);
	assert_int_equal(symlink("elsewhere", path_of("kontend-20261121-010103-link.data")), 0);
	assert_int_equal(mkdir(path_of("kontend-20261121-010104-dir.data"), 0700), 0);
	assert_int_equal(mkfifo(path_of("kontend-20261121-010105-fifo.data"), 0600), 0);
	if (geteuid() == 0) {
		make_file("kontend-20261121-010106-other.data", 1000);
		assert_int_equal(
			chown(path_of("kontend-20261121-010106-other.data"), NOBODY, NOBODY), 0);
	}
	apply(&l, &s);
	assert_int_equal(s.removed, 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_true(there(names[i]));
	assert_true(there("kontend-20261121-010101-letter.data"));
	assert_true(there("kontend-20261121-010102-empty.data"));
	assert_true(there("kontend-20261121-010107-other.data"));
	assert_true(there("kontend-20261121-010103-link.data"));
	assert_true(there("kontend-20261121-010104-dir.data"));
	assert_true(there("kontend-20261121-010105-fifo.data"));
	assert_int_equal(there("kontend-20261121-010106-other.data"), geteuid() == 0);
}

/* One who was killed has left a part; another one is still at work. */
static void parts(void **state)
{
	const struct retain_limits l = {.files = 1};
	struct retain_stat s;
	int fd;

	(void)state;
	make_file("kontend-20261121-061407-wait.data", 1);
	close(make_open("kontend-20261121-031407-wait.data.part", "PERFILE2", SIZE, 500));
	close(make_open("kontend-20261121-031406-wait.data.part", "Dear all", SIZE, 500));
	close(make_open("kontend-20261121-031408-wait.data.part", "", 0, 500));
	fd = make_open("kontend-20261121-031409-wait.data.part", "PERFILE2", SIZE, 500);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	apply(&l, &s);
	assert_int_equal(s.removed, 2);
	assert_int_equal(s.files, 3);
	assert_true(there("kontend-20261121-031406-wait.data.part"));
	assert_true(there("kontend-20261121-031409-wait.data.part"));
	close(fd);
	apply(&l, &s);
	assert_int_equal(s.removed, 1);
	assert_true(there("kontend-20261121-061407-wait.data"));
}

static void what_is_of_the_future_is_not_old(void **state)
{
	const struct retain_limits l = {.age_ns = SECOND};
	struct retain_stat s;

	(void)state;
	make_file("kontend-20261121-031407-wait.data", -100000);
	make_file("kontend-20261121-041407-wait.data", -200000);
	apply(&l, &s);
	assert_int_equal(s.removed, 0);
	assert_int_equal(s.files, 2);
}

static void a_directory_that_is_not_there(void **state)
{
	const struct retain_limits l = {.files = 1};
	struct error err = {0};
	struct retain_stat s;

	(void)state;
	assert_int_equal(retain_apply("/nonexistent/kontend", &l, 1, &s, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nonexistent/kontend"));
}

static void without_memory(void **state)
{
	const struct retain_limits l = {.files = 1};
	struct error err = {0};
	struct retain_stat s;

	(void)state;
	make_four();
	mem_fail_after(0);
	assert_int_equal(retain_apply(dir, &l, NOW_S * SECOND, &s, &err), -ENOMEM);
	mem_fail_after(-1);
	assert_newest(4);
}

static void clocks_that_are_set(void **state)
{
	struct retain_clock c = {0};

	(void)state;
	assert_int_equal(retain_now(&c, 5000, 100), 5000);
	assert_int_equal(retain_now(&c, 5050, 150), 5050);
	assert_int_equal(retain_now(&c, 900000, 160), 5060); /* forward: nothing gets old */
	assert_int_equal(retain_now(&c, 3000, 170), 3000);   /* back: nor what is written now */
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		IN_FOLDER(by_each_limit),
		IN_FOLDER(the_last_without_holes),
		IN_FOLDER(nothing_of_others),
		IN_FOLDER(parts),
		IN_FOLDER(what_is_of_the_future_is_not_old),
		IN_FOLDER(a_directory_that_is_not_there),
		IN_FOLDER(without_memory),
		cmocka_unit_test(clocks_that_are_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
