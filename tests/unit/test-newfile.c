// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files that take the place of others: with no name until they are complete, and, where the file
 * system knows no such files, with a temporary one. The latter is played by a filter of system
 * calls, which refuses O_TMPFILE.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/newfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char dir[64], path[128];

static int count(void)
{
	DIR *d = opendir(dir);
	int n = -2; /* . and .. */

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void put_old(void)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	fputs("old", f);
	fclose(f);
}

static bool says(const char *text)
{
	char got[16] = "";
	FILE *f = fopen(path, "re");

	if (f) {
		(void)!fread(got, 1, sizeof(got) - 1, f);
		fclose(f);
	}
	return strcmp(got, text) == 0;
}

static void begin(struct newfile *f)
{
	assert_int_equal(newfile_open(f, path), 0);
	assert_int_equal(write(f->fd, "new", 3), 3);
	assert_true(says("old"));
}

static void end(struct newfile *f)
{
	close(f->fd);
	newfile_deinit(f);
}

static void it_takes_the_place(void)
{
	struct newfile f;
	struct stat st;

	put_old();
	begin(&f);
	assert_int_equal(newfile_put(&f), 0);
	end(&f);
	assert_true(says("new"));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(count(), 1);
}

static void what_is_given_up_leaves_nothing(void)
{
	struct newfile f;

	put_old();
	begin(&f);
	assert_int_equal(newfile_drop(&f), 0);
	end(&f);
	assert_true(says("old"));
	assert_int_equal(count(), 1);
	/* The name is a folder by then: the file is gone, as it cannot have the name. */
	begin(&f);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_true(newfile_put(&f) < 0);
	end(&f);
	assert_int_equal(count(), 1);
	assert_int_equal(rmdir(path), 0);
}

static void a_temporary_name_is_beside_it(void)
{
	struct newfile f;

	put_old();
	begin(&f);
	assert_int_equal(newfile_name(&f), 0);
	assert_int_equal(newfile_name(&f), 0); /* it has one */
	assert_int_equal(count(), 2);
	assert_int_equal(access(f.temp, F_OK), 0);
	assert_int_equal(strncmp(f.temp, path, strlen(path)), 0);
	assert_int_equal(newfile_drop(&f), 0);
	end(&f);
	assert_int_equal(count(), 1);
}

/* newfile_put_new(): a name that nothing has, also in a folder that is open. */
static void it_replaces_nothing(void)
{
	struct newfile f;
	int folder = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

	put_old();
	begin(&f);
	assert_true(newfile_is_taken(&f));
	assert_int_equal(newfile_put_new(&f), -EEXIST);
	end(&f);
	assert_true(says("old"));
	assert_int_equal(count(), 1);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(newfile_open_in(&f, folder, strrchr(path, '/') + 1), 0);
	assert_false(newfile_is_taken(&f));
	assert_int_equal(write(f.fd, "new", 3), 3);
	assert_int_equal(newfile_put_new(&f), 0);
	end(&f);
	assert_true(says("new"));
	assert_int_equal(count(), 1);
	close(folder);
}

/* The folder that it was begun in, whatever its path leads to later. */
static void the_folder_stays_the_same(void)
{
	char to[80], link[80], in[100];
	struct newfile f;

	snprintf(to, sizeof(to), "%s/elsewhere", dir);
	snprintf(link, sizeof(link), "%s/link", dir);
	snprintf(in, sizeof(in), "%s/file", link);
	put_old();
	assert_int_equal(mkdir(to, 0700), 0);
	assert_int_equal(symlink(dir, link), 0);
	assert_int_equal(newfile_open(&f, in), 0);
	assert_int_equal(write(f.fd, "new", 3), 3);
	assert_int_equal(unlink(link), 0);
	assert_int_equal(symlink(to, link), 0);
	assert_int_equal(newfile_put(&f), 0);
	end(&f);
	assert_true(says("new"));
	assert_int_equal(unlink(link), 0);
	assert_int_equal(rmdir(to), 0); /* nothing came there */
}

static void all(void)
{
	it_takes_the_place();
	what_is_given_up_leaves_nothing();
	a_temporary_name_is_beside_it();
	it_replaces_nothing();
	the_folder_stays_the_same();
}

static void without_a_name(void **state)
{
	struct newfile f;

	(void)state;
	put_old();
	begin(&f);
	if (f.has_name)
		skip(); /* this file system has no such files */
	assert_int_equal(count(), 1);
	end(&f); /* as if it were killed */
	assert_int_equal(count(), 1);
	all();
}

/* Of the flags of openat() that which O_TMPFILE has beside O_DIRECTORY. */
static int refuse_nameless(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_TMPFILE & ~O_DIRECTORY, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(*code), code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
			       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0
		       ? -errno
		       : 0;
}

static void with_a_temporary_name(void **state)
{
	struct newfile f;

	(void)state;
	if (refuse_nameless() < 0)
		skip();
	put_old();
	begin(&f);
	assert_true(f.has_name);
	assert_int_equal(count(), 2);
	assert_int_equal(newfile_drop(&f), 0);
	end(&f);
	all();
}

static void names_are_plain(void **state)
{
	static const char *const bad[] = {"/", "", ".", "..", "x/", "x/..", "./."};
	struct newfile f;
	const char *name;

	(void)state;
	assert_true(newfile_is_plain("x"));
	assert_true(newfile_is_plain("..x"));
	assert_false(newfile_is_plain("a/b"));
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_true(newfile_folder(bad[i], &name) < 0);
		assert_true(newfile_open(&f, bad[i]) < 0);
	}
	assert_int_equal(newfile_open(&f, "/no/such/folder/x"), -ENOENT);
	int fd = newfile_folder("x", &name);
	assert_true(fd >= 0);
	assert_string_equal(name, "x");
	close(fd);
	fd = newfile_folder("/x", &name);
	assert_true(fd >= 0);
	assert_string_equal(name, "x");
	close(fd);
}

static int set_up(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/kontend-newfile-XXXXXX");
	snprintf(path, sizeof(path), "%s/file", mkdtemp(dir));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(dir);
}

int main(void)
{
	/* The filter stays: so it comes last. */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(without_a_name, set_up, tear_down),
		cmocka_unit_test(names_are_plain),
		cmocka_unit_test_setup_teardown(with_a_temporary_name, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
