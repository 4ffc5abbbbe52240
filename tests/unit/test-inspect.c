// SPDX-License-Identifier: GPL-2.0-only
/* Names of events and places, perf descriptors of a made-up /proc, and this machine's slots. */
#include "../../src/inspect/perf/internal.h"
#include "elfmake.h"
#include "kontend/perfsnap.h"

#include <elf.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct root {
	char path[64];
};

static void write_file(const struct root *r, const char *name, const char *text)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", r->path, name);
	FILE *f = fopen(path, "we");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void dir(const struct root *r, const char *name)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", r->path, name);
	assert_int_equal(mkdir(path, 0700), 0);
}

static void link_to(const struct root *r, const char *name, const char *target)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", r->path, name);
	assert_int_equal(symlink(target, path), 0);
}

static int setup(void **state)
{
	struct root *r = test_calloc(1, sizeof(*r));

	snprintf(r->path, sizeof(r->path), "/tmp/kontend-inspect-XXXXXX");
	*state = r;
	return mkdtemp(r->path) ? 0 : -1;
}

static int teardown(void **state)
{
	struct root *r = *state;
	char line[96];

	snprintf(line, sizeof(line), "rm -rf %s", r->path);
	int code = system(line);
	test_free(r);
	return code;
}

static void assert_name(const char *want, uint32_t type, uint64_t config, uint32_t bp_type,
			const char *pmu, const char *system, const char *name)
{
	char text[128];

	names_event(text, sizeof(text), type, config, bp_type, 0x4028, pmu, system, name);
	assert_string_equal(text, want);
}

static void test_event_names(void **state)
{
	(void)state;
	assert_name("cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0, "cpu", "", "");
	/* Of one kind of CPU among several. */
	assert_name("instructions", PERF_TYPE_HARDWARE, 8ull << 32 | 1, 0, "cpu_atom", "", "");
	assert_name("type 0/config=0x63/", PERF_TYPE_HARDWARE, 99, 0, "", "", "");
	assert_name("dummy", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, 0, "software", "", "");
	assert_name("software/config=0xff/", PERF_TYPE_SOFTWARE, 255, 0, "software", "", "");
	assert_name("LLC-load-misses", PERF_TYPE_HW_CACHE, 0x10002, 0, "cpu", "", "");
	assert_name("dTLB-stores", PERF_TYPE_HW_CACHE, 0x103, 0, "cpu", "", "");
	assert_name("cache:0x9", PERF_TYPE_HW_CACHE, 9, 0, "cpu", "", "");
	assert_name("r1a2", PERF_TYPE_RAW, 0x1a2, 0, "cpu", "", "");
	assert_name("sched:sched_switch", PERF_TYPE_TRACEPOINT, 300, 0, "tracepoint", "sched",
		    "sched_switch");
	assert_name("tracepoint:300", PERF_TYPE_TRACEPOINT, 300, 0, "tracepoint", "", "");
	assert_name("probe", 8, 1, 0, "kprobe", "", "probe");
	assert_name("uncore_imc/config=0x4/", 21, 4, 0, "uncore_imc", "", "");
	assert_name("cpu-clock", 11, 0, 0, "cpu_clock", "", "");
	assert_name("task-clock", 12, 1, 0, "task_clock", "", "");
	assert_name("type 21/config=0x4/", 21, 4, 0, "", "", "");
	assert_name("mem:0x4028:rw", PERF_TYPE_BREAKPOINT, 0, HW_BREAKPOINT_RW, "breakpoint", "",
		    "");
	assert_name("mem:0x4028:x", PERF_TYPE_BREAKPOINT, 0, HW_BREAKPOINT_X, "breakpoint", "", "");
}

static const char maps[] =
	"00400000-00452000 r-xp 00001000 08:02 173521      /usr/bin/with space\n"
	"00e03000-00e24000 rw-p 00000000 00:00 0           [heap]\n"
	"7f0000000000-7f0000001000 rw-p 00000000 00:00 0\n"
	"7f0000002000-7f0000003000 r--s 00000000 00:05 9 /memfd:\x1b[31m (deleted)\n";

static void test_where(void **state)
{
	const struct root *r = *state;
	struct names n = {0};

	dir(r, "7");
	write_file(r, "7/maps", maps);
	names_begin(&n);
	assert_string_equal(names_where(&n, r->path, 1, 7, 0x400010), "with space+0x1010");
	assert_string_equal(names_where(&n, r->path, 2, 7, 0xe03020), "[heap]+0x20");
	assert_string_equal(names_where(&n, r->path, 3, 7, 0x7f0000000004), "anon+0x4");
	assert_string_equal(names_where(&n, r->path, 4, 7, 0x452000), "");
	/* Of the kernel, without an owner, of a process that is gone. */
	assert_string_equal(names_where(&n, r->path, 5, 7, UINT64_MAX - 9), "");
	assert_string_equal(names_where(&n, r->path, 6, 0, 0x400010), "");
	assert_string_equal(names_where(&n, r->path, 7, 8, 0x400010), "");
	/* Once looked up, it is kept: the process may be gone, or be another one. */
	write_file(r, "7/maps", "");
	assert_string_equal(names_where(&n, r->path, 1, 7, 0x400010), "with space+0x1010");
	assert_string_equal(names_where(&n, r->path, 8, 7, 0x400010), "");
	names_deinit(&n);
}

/* Variables as the file has them, also those after its last page, and its own addresses. */
static void test_where_by_symbol(void **state)
{
	const struct root *r = *state;
	const struct elfmake_symbol symbols[] = {
		{"counter", ELFMAKE_ADDR + 0x10, 8, ELF64_ST_INFO(STB_LOCAL, STT_OBJECT), 1},
		{"bump", ELFMAKE_ADDR + 0x40, 16, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 1},
		{"zeroed", ELFMAKE_ADDR + 0x1008, 4, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 1},
	};
	const struct elfmake file = {.symtab = symbols, .n_symtab = 3};
	struct names n = {0};
	char path[160];

	dir(r, "7");
	dir(r, "7/root");
	snprintf(path, sizeof(path), "%s/7/root/app", r->path);
	elfmake_file(&file, path);
	write_file(r, "7/maps",
		   "555500001000-555500002000 r-xp 00001000 08:02 1 /app\n"
		   "555500002000-555500003000 rw-p 00000000 00:00 0\n"
		   "555500003000-555500004000 rw-p 00000000 00:00 0\n");
	names_begin(&n);
	assert_string_equal(names_where(&n, r->path, 1, 7, 0x555500001010), "app:counter");
	assert_string_equal(names_where(&n, r->path, 2, 7, 0x555500001014), "app:counter+0x4");
	assert_string_equal(names_where(&n, r->path, 3, 7, 0x555500001040), "app:bump");
	assert_string_equal(names_where(&n, r->path, 4, 7, 0x555500002008), "app:zeroed");
	assert_string_equal(names_where(&n, r->path, 5, 7, 0x555500001080), "app+0x401080");
	assert_string_equal(names_where(&n, r->path, 6, 7, 0x555500003008), "anon+0x8");
	names_deinit(&n);
}

/* A thousand new ones at once are named over several snapshots. */
static void test_where_budget(void **state)
{
	const struct root *r = *state;
	struct names n = {0};
	int named = 0, rounds = 0, before = 0;

	dir(r, "7");
	write_file(r, "7/maps", maps);
	assert_string_equal(names_where(&n, r->path, 1, 7, 0x400010), "");
	while (named < 1000 && rounds++ < 1000) {
		before = named;
		named = 0;
		names_begin(&n);
		for (uint64_t id = 1; id <= 1000; id++)
			named += names_where(&n, r->path, id, 7, 0x400010)[0] != '\0';
		assert_true(named > before && named - before <= 100);
	}
	assert_int_equal(named, 1000);
	names_deinit(&n);
}

struct found {
	int n, stop_at;
	char text[256];
};

static int add_descriptor(void *arg, int32_t pid, int32_t fd, const char *comm)
{
	struct found *f = arg;
	size_t len = strlen(f->text);

	snprintf(f->text + len, sizeof(f->text) - len, "%d:%d:%s ", pid, fd, comm);
	return ++f->n == f->stop_at ? -ENOMEM : 0;
}

static void test_fdscan(void **state)
{
	const struct root *r = *state;
	struct found f = {0};

	dir(r, "7");
	write_file(r, "7/comm", "pe\x1brf\n");
	dir(r, "7/fd");
	link_to(r, "7/fd/0", "/dev/null");
	link_to(r, "7/fd/3", "anon_inode:[perf_event]");
	link_to(r, "7/fd/4", "anon_inode:[perf_event] (not)");
	link_to(r, "7/fd/5", "anon_inode:[eventfd]");
	dir(r, "8"); /* gone meanwhile, or not ours to look at */
	dir(r, "self");
	dir(r, "self/fd");
	link_to(r, "self/fd/3", "anon_inode:[perf_event]");
	dir(r, "9x");
	assert_int_equal(fdscan(r->path, add_descriptor, &f), 0);
	assert_string_equal(f.text, "7:3:pe?rf ");
	f = (struct found){.stop_at = 1};
	link_to(r, "7/fd/6", "anon_inode:[perf_event]");
	assert_int_equal(fdscan(r->path, add_descriptor, &f), -ENOMEM);
	assert_int_equal(f.n, 1);
	assert_int_equal(fdscan("/nonexistent", add_descriptor, &f), -ENOENT);
}

static void test_slots(void **state)
{
	struct slots_machine m = slots_of_machine();

	(void)state;
#if defined(__x86_64__)
	assert_int_equal(m.pools, 1);
	assert_int_equal(m.type[0], SNAP_SLOT_ANY);
	assert_int_equal(m.slots[0], 4);
#endif
	assert_true(m.pools <= 2);
	for (uint32_t i = 0; i < m.pools; i++)
		assert_true(m.slots[i] > 0 && m.slots[i] <= 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_event_names),
		cmocka_unit_test_setup_teardown(test_where, setup, teardown),
		cmocka_unit_test_setup_teardown(test_where_by_symbol, setup, teardown),
		cmocka_unit_test_setup_teardown(test_where_budget, setup, teardown),
		cmocka_unit_test_setup_teardown(test_fdscan, setup, teardown),
		cmocka_unit_test(test_slots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
