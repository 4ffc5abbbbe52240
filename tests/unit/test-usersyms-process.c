// SPDX-License-Identifier: GPL-2.0-only
/* Names of functions in processes: this program, its mappings, names written by a compiler. */
#include "elfmake.h"
#include "kontend/usersyms.h"
#include "loadall.h"
#include "selfplace.h"

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const struct elfmake_symbol alpha = {"alpha", ELFMAKE_ADDR + 0x100, 0x40,
					    ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 1};

static struct usersyms *make_usersyms(void)
{
	struct usersyms_config c = {.same_machine = true, .jit_pause_ns = 1};
	struct usersyms *u;

	assert_int_equal(usersyms_new(&u, &c, NULL), 0);
	return u;
}

static void test_this_program(void **state)
{
	struct usersyms *u = make_usersyms();
	char exe[512];
	uint64_t place = selfplace((uintptr_t)make_usersyms);
	uint32_t o;
	struct usersym s;
	uint8_t bytes[16];
	size_t n = 0;

	(void)state;
	assert_true(place);
	selfplace_path(exe, sizeof(exe));
	assert_int_equal(usersyms_object(u, exe, NULL, 0, getpid(), &o), 0);
	assert_int_equal(usersyms_lookup(u, o, place, &s), USERSYM_PENDING);
	bool changed = false;
	while (usersyms_load_some(u, 0, &changed))
		;
	assert_int_equal(usersyms_lookup(u, o, place + 1, &s), USERSYM_OK);
	assert_string_equal(s.name, "make_usersyms");
	assert_int_equal(s.start, place);
	assert_int_equal(usersyms_bytes(u, o, place, bytes, sizeof(bytes), &n), USERSYM_OK);
	assert_int_equal(n, sizeof(bytes));
	assert_memory_equal(bytes, (const void *)(uintptr_t)make_usersyms, sizeof(bytes));
	usersyms_free(u);
}

static void test_vdso(void **state)
{
	struct usersyms *u = make_usersyms();
	struct usersym s;
	uint32_t o;

	(void)state;
	assert_int_equal(usersyms_object(u, "[vdso]", NULL, 0, getpid(), &o), 0);
	usersyms_lookup(u, o, 0, &s);
	load_all(u);
	bool found = false;
	for (uint64_t at = 0; at < 8192 && !found; at += 16)
		found = usersyms_lookup(u, o, at, &s) == USERSYM_OK && strstr(s.name, "gettime");
	assert_true(found);
	usersyms_free(u);
}

/* A process maps it still. */
static void test_deleted(void **state)
{
	struct elfmake m = {.build_id_len = 20, .build_id = {0x51}};
	struct usersyms *u = make_usersyms();
	struct usersym s;
	char path[64] = "/tmp/kontend-gone-XXXXXX";
	uint32_t o;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	m.symtab = &alpha;
	m.n_symtab = 1;
	elfmake_file(&m, path);
	FILE *f = fopen(path, "re");
	void *map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fileno(f), ELFMAKE_TEXT);
	fclose(f);
	assert_true(map != MAP_FAILED);
	unlink(path);
	strcat(path, " (deleted)");
	assert_int_equal(usersyms_object(u, path, m.build_id, 20, getpid(), &o), 0);
	usersyms_lookup(u, o, ELFMAKE_TEXT + 0x100, &s);
	load_all(u);
	enum usersym_answer a = usersyms_lookup(u, o, ELFMAKE_TEXT + 0x100, &s);
	munmap(map, 4096);
	usersyms_free(u);
	/* Which takes a capability. */
	if (geteuid() == 0 && !access("/proc/self/map_files", R_OK) && a != USERSYM_NO_RIGHT)
		assert_int_equal(a, USERSYM_OK);
}

static void write_map(const char *path, const char *mode, const char *text)
{
	FILE *f = fopen(path, mode);

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void test_jit(void **state)
{
	struct usersyms *u = make_usersyms();
	char path[64];
	struct usersym s;
	pid_t me = getpid();

	(void)state;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)me);
	assert_int_equal(usersyms_lookup_jit(u, me, 0x1000, &s), USERSYM_PENDING);
	load_all(u);
	assert_int_equal(usersyms_lookup_jit(u, me, 0x1000, &s), USERSYM_NO_FILE);
	write_map(path, "we", "1000 40 first one\nnonsense\n2000 10 second\n3000 10 half");
	load_all(u);
	assert_int_equal(usersyms_lookup_jit(u, me, 0x1000, &s), USERSYM_OK);
	assert_string_equal(s.name, "first one");
	assert_int_equal(usersyms_lookup_jit(u, me, 0x3001, &s), USERSYM_NO_SYMBOL);
	write_map(path, "ae", " way\n1000 20 compiled again\n");
	load_all(u);
	assert_int_equal(usersyms_lookup_jit(u, me, 0x3001, &s), USERSYM_OK);
	assert_string_equal(s.name, "half way");
	assert_int_equal(usersyms_lookup_jit(u, me, 0x1010, &s), USERSYM_OK);
	assert_string_equal(s.name, "compiled again");
	assert_int_equal(s.size, 0x20);
	unlink(path);
	usersyms_free(u);
}

/* The named function has 16 bytes; the rest of the page has no name. */
static uint8_t *map_code(int prot)
{
	uint8_t *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(p != MAP_FAILED);
	memcpy(p, "sixteen bytes...", 16);
	assert_int_equal(mprotect(p, 4096, prot), 0);
	return p;
}

static enum usersym_answer bytes_of(struct usersyms *u, const void *at, char *ret, size_t *ret_n)
{
	const char *from;
	struct usersym s;

	usersyms_lookup_jit(u, getpid(), (uintptr_t)at, &s);
	load_all(u);
	assert_int_equal(usersyms_lookup_jit(u, getpid(), (uintptr_t)at, &s), USERSYM_OK);
	enum usersym_answer a =
		usersyms_bytes_jit(u, getpid(), (uintptr_t)at, ret, 16, ret_n, &from);
	assert_string_equal(from, "memory of its process");
	return a;
}

static void test_jit_memory(void **state)
{
	struct usersyms *u = make_usersyms();
	uint8_t *code = map_code(PROT_READ | PROT_EXEC), *data = map_code(PROT_READ);
	struct timespec old[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
	char path[64], text[128], bytes[16];
	size_t n = 0;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	snprintf(text, sizeof(text), "%lx 10 code\n%lx 10 data\n", (unsigned long)(uintptr_t)code,
		 (unsigned long)(uintptr_t)data);
	write_map(path, "we", text);
	assert_int_equal(bytes_of(u, code, bytes, &n), USERSYM_OK);
	assert_int_equal(n, 16);
	assert_memory_equal(bytes, "sixteen bytes...", 16);
	assert_int_equal(bytes_of(u, data, bytes, &n), USERSYM_MEMORY_GONE);
	munmap(code, 4096);
	assert_int_equal(bytes_of(u, code, bytes, &n), USERSYM_MEMORY_GONE);
	usersyms_free(u);
	/* Another process of the number has written it. */
	u = make_usersyms();
	code = map_code(PROT_READ | PROT_EXEC);
	snprintf(text, sizeof(text), "%lx 10 code\n", (unsigned long)(uintptr_t)code);
	write_map(path, "we", text);
	assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
	assert_int_equal(bytes_of(u, code, bytes, &n), USERSYM_MEMORY_GONE);
	unlink(path);
	munmap(code, 4096);
	munmap(data, 4096);
	usersyms_free(u);
}

static unsigned open_files(void)
{
	unsigned n = 0;
	DIR *d = opendir("/proc/self/fd");

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* One that has ended is no other process until its number is taken back. */
static pid_t ended(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return pid;
}

/* However often it is asked for, and whatever is there. */
static void test_files_are_closed(void **state)
{
	struct usersyms *u = make_usersyms();
	pid_t pids[] = {getpid(), ended()};
	unsigned before = open_files();
	struct usersym s;

	(void)state;
	for (int i = 0; i < 20; i++) {
		assert_int_not_equal(usersyms_lookup_jit(u, pids[i % 2], 0x1000, &s), USERSYM_OK);
		load_all(u);
		char bytes[4];
		size_t n;
		const char *path;
		usersyms_bytes_jit(u, pids[i % 2], 0x1000, bytes, sizeof(bytes), &n, &path);
	}
	assert_int_equal(open_files(), before);
	assert_int_equal(usersyms_lookup_jit(u, pids[0], 0x1000, &s), USERSYM_NO_FILE);
	usersyms_free(u);
}

static enum usersym_answer ask_anew(uint64_t addr)
{
	struct usersyms *u = make_usersyms();
	struct usersym s;

	usersyms_lookup_jit(u, getpid(), addr, &s);
	load_all(u);
	enum usersym_answer a = usersyms_lookup_jit(u, getpid(), addr, &s);
	usersyms_free(u);
	return a;
}

/* A hole of a terabyte costs its reader nothing, and what is before it has its names. */
static void test_a_map_that_is_a_hole(void **state)
{
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	write_map(path, "we", "");
	if (truncate(path, 1ll << 40) != 0)
		skip();
	assert_int_equal(ask_anew(0x1000), USERSYM_NOT_ELF);
	write_map(path, "we", "1000 40 before\n");
	assert_int_equal(truncate(path, 1ll << 40), 0);
	assert_int_equal(ask_anew(0x1010), USERSYM_OK);
	unlink(path);
}

/* Links, and files of others, name nothing. */
static void test_a_map_that_is_not_believed(void **state)
{
	char path[64], elsewhere[80];

	(void)state;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	snprintf(elsewhere, sizeof(elsewhere), "%s.elsewhere", path);
	write_map(elsewhere, "we", "1000 40 linked\n");
	assert_int_equal(symlink(elsewhere, path), 0);
	assert_int_equal(ask_anew(0x1000), USERSYM_NOT_BELIEVED);
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(ask_anew(0x1000), USERSYM_NOT_ELF);
	unlink(path);
	assert_int_equal(rename(elsewhere, path), 0);
	assert_int_equal(ask_anew(0x1000), USERSYM_OK);
	if (chown(path, 12345, 12345) == 0)
		assert_int_equal(ask_anew(0x1000), USERSYM_NOT_BELIEVED);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_this_program),
		cmocka_unit_test(test_vdso),
		cmocka_unit_test(test_deleted),
		cmocka_unit_test(test_jit),
		cmocka_unit_test(test_jit_memory),
		cmocka_unit_test(test_files_are_closed),
		cmocka_unit_test(test_a_map_that_is_a_hole),
		cmocka_unit_test(test_a_map_that_is_not_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
