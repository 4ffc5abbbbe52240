// SPDX-License-Identifier: GPL-2.0-only
/* The kernel's file, in made-up folders: the running kernel's notes, and the installed files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/vmlinux.h"
#include "selfplace.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct notes {
	Elf64_Nhdr h;
	char name[4];
	uint8_t id[20];
};

static char root[64];

/* @how with the name of the folder after it, and @below after that. */
static void run(const char *how, const char *below)
{
	char command[256];

	snprintf(command, sizeof(command), "%s %s%s", how, root, below);
	assert_int_equal(system(command), 0);
}

static int begin(void **state)
{
	(void)state;
	snprintf(root, sizeof(root), "/tmp/kontend-vmlinux-XXXXXX");
	assert_non_null(mkdtemp(root));
	run("mkdir -p", "/sys/kernel");
	run("mkdir", "/boot");
	return 0;
}

static int end(void **state)
{
	(void)state;
	run("rm -r", "");
	return 0;
}

static struct notes some_id(void)
{
	return (struct notes){.h = {.n_namesz = 4, .n_descsz = 20, .n_type = NT_GNU_BUILD_ID},
			      .name = "GNU",
			      .id = {1, 2, 3}};
}

static enum vmlinux_answer with_notes(const void *p, size_t n)
{
	struct vmlinux v;
	char path[128];

	snprintf(path, sizeof(path), "%s/sys/kernel/notes", root);
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(p, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
	vmlinux_running(&v, root);
	return vmlinux_find(&v, root, "6.1");
}

static void notes_that_say_nothing(void **state)
{
	struct notes good = some_id(), bad = good;
	struct vmlinux v = {0};

	(void)state;
	assert_false(vmlinux_running(&v, root));
	assert_int_equal(vmlinux_find(&v, root, "6.1"), VMLINUX_NO_ID);
	for (size_t n = 0; n < sizeof(good); n++)
		assert_int_equal(with_notes(&good, n), VMLINUX_NO_ID);
	bad.h.n_descsz = UINT32_MAX;
	assert_int_equal(with_notes(&bad, sizeof(bad)), VMLINUX_NO_ID);
	bad = good;
	bad.h.n_namesz = UINT32_MAX;
	assert_int_equal(with_notes(&bad, sizeof(bad)), VMLINUX_NO_ID);
	bad = good;
	bad.h.n_type = NT_GNU_ABI_TAG;
	assert_int_equal(with_notes(&bad, sizeof(bad)), VMLINUX_NO_ID);
}

static void nothing_installed(void **state)
{
	struct notes n = some_id();
	struct vmlinux v = {.build_id = {1, 2, 3}, .build_id_len = 20};

	(void)state;
	assert_int_equal(with_notes(&n, sizeof(n)), VMLINUX_NO_FILE);
	assert_int_equal(vmlinux_find(&v, root, "../6.1"), VMLINUX_NO_FILE);
	run("mkfifo", "/boot/vmlinux-6.1");
	assert_int_equal(with_notes(&n, sizeof(n)), VMLINUX_NO_FILE);
}

static void another_build(void **state)
{
	struct notes n = some_id();
	char path[128], self[512];

	(void)state;
	snprintf(path, sizeof(path), "%s/boot/vmlinux-6.1", root);
	assert_int_equal(symlink(selfplace_path(self, sizeof(self)), path), 0);
	assert_int_equal(with_notes(&n, sizeof(n)), VMLINUX_OTHER);
}

static void reasons(void **state)
{
	(void)state;
	for (int a = 0; a <= VMLINUX_ANSWERS; a++)
		assert_non_null(vmlinux_reason((enum vmlinux_answer)a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(notes_that_say_nothing, begin, end),
		cmocka_unit_test_setup_teardown(nothing_installed, begin, end),
		cmocka_unit_test_setup_teardown(another_build, begin, end),
		cmocka_unit_test(reasons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
