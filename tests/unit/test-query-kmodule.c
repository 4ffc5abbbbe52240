// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines of functions of a module that is loaded in parts, here and there, as the kernel's symbols
 * say: of a made-up one (made-module.c), $MADE_MODULE, in a made-up root. With an argument it is
 * the process that reads debug information.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../src/query/names/names.h"
#include "asked.h"
#include "kontend/clock.h"
#include "kontend/elfimg.h"
#include "kontend/mem.h"
#include "kontend/query-load.h"
#include "kontend/snapshot.h"
#include "kontend/vmlinux.h"
#include "synth-profile.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static const uint64_t LONG_NS = 300000000000;
static const uint64_t SECOND = 0xffffffffc0123450, SELDOM = 0xffffffffc0456780;
static const uint64_t FIRST = 0xffffffffc0123000, OTHER = 0xffffffffc0500000;
static const uint64_t MADE = 0xffffffffc0600000;

static char root[] = "/tmp/kontend-kmodule-XXXXXX";
static char module[PATH_MAX];
static struct srclines_config how;
static struct elfimg image;

__attribute__((format(printf, 1, 2))) static void run(const char *format, ...)
{
	char command[PATH_MAX + 512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(command, sizeof(command), format, ap);
	va_end(ap);
	assert_int_equal(system(command), 0);
}

/* The build id of the loaded module; @change: it is another one. */
static void say_id(uint8_t change)
{
	Elf64_Nhdr h = {
		.n_namesz = 4, .n_descsz = (uint32_t)image.build_id_len, .n_type = NT_GNU_BUILD_ID};
	char path[256];

	run("mkdir -p %s/sys/module/made_up/notes", root);
	snprintf(path, sizeof(path), "%s/sys/module/made_up/notes/.note.gnu.build-id", root);
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	image.build_id[0] ^= change;
	fwrite(&h, sizeof(h), 1, f);
	fwrite("GNU", 4, 1, f);
	fwrite(image.build_id, image.build_id_len, 1, f);
	image.build_id[0] ^= change;
	assert_int_equal(fclose(f), 0);
}

static int begin(void **state)
{
	static const char symbols[] = "ffffffffc0123000 t made_first\t[made_up]\n"
				      "ffffffffc0123450 T made_second\t[made_up]\n"
				      "ffffffffc0456780 t made_seldom\t[made_up]\n"
				      "ffffffffc0500000 t made_never\t[made_up]\n"
				      "ffffffffc0600000 t bpf_prog_1\t[bpf]\n"
				      "ffffffffc0700000 t end\t[other]\n";
	struct utsname u;
	struct error err;

	asked_setup_empty(state);
	struct asked *w = *state;
	strcpy(root + strlen(root) - 6, "XXXXXX");
	assert_non_null(mkdtemp(root));
	rig_init(&w->rig, 1);
	synth_profile(w->rig.synth);
	synth_tick(w->rig.synth, 1000000);
	asked_play(w, NULL);
	uname(&u);
	struct record_host *h = w->rig.engine.model->host;
	snprintf(h->release, sizeof(h->release), "%s", u.release);
	h->clock_ns = clock_now_ns();
	h->wall_ns = clock_ns(CLOCK_REALTIME);
	how = (struct srclines_config){.argv = srclines_worker_argv, .root = root};
	w->rig.engine.lines = &how;
	assert_int_equal(sym_load(&w->rig.engine.sym, symbols, sizeof(symbols) - 1, &err), 0);
	run("mkdir -p %s/lib/modules/%s", root, u.release);
	run("printf 'kernel/a/x.ko:\\nkernel/b/made-up.ko.xz: kernel/a/x.ko\\n'"
	    " > %s/lib/modules/%s/modules.dep",
	    root, u.release);
	return 0;
}

static int end(void **state)
{
	run("rm -r %s", root);
	return asked_teardown(state);
}

static const char *release(struct asked *w)
{
	return w->rig.engine.model->host->release;
}

/* Where distributions differ. */
static void install(struct asked *w, const char *folder, const char *file)
{
	run("mkdir -p %s%s/%s/kernel/b", root, folder, release(w));
	run("ln -s %s %s%s/%s/kernel/b/%s", module, root, folder, release(w), file);
}

static enum srclines_answer ask_line(struct asked *w, uint64_t frame,
				     const struct srclines_place **ret, const char **ret_why)
{
	enum srclines_answer a;

	do
		a = query_place(&w->q, frame, false, ret, ret_why);
	while (query_load_wait(&w->q, LONG_NS));
	return a;
}

static void built_or_skip(enum srclines_answer a)
{
	if (a == SRCLINES_NOT_BUILT)
		skip();
	assert_int_equal(a, SRCLINES_OK);
}

/* Is @line that of the innermost frame of a place of the function @name, inlined @n deep? */
static bool has_line(struct asked *w, uint64_t at, uint32_t line, size_t n, const char *name)
{
	const struct srclines_place *p;
	const char *why;

	for (uint64_t i = 0; i < 16; i++) {
		if (ask_line(w, at + i, &p, &why) != SRCLINES_OK)
			continue;
		if (p->n == n && p->frames[0].line == line &&
		    !strcmp(p->frames[n - 1].function, name))
			return strstr(p->frames[0].file, "made-module.c") != NULL;
	}
	return false;
}

static void lines_are_known(struct asked *w)
{
	const struct srclines_place *p = NULL;
	const char *why;

	built_or_skip(ask_line(w, FIRST, &p, &why));
	assert_int_equal(p->n, 1);
	assert_int_equal(p->frames[0].line, 107);
	assert_string_equal(p->frames[0].function, "made_first");
	assert_true(has_line(w, FIRST, 108, 1, "made_first"));
	assert_true(has_line(w, SECOND, 102, 2, "made_second"));
	assert_true(has_line(w, SELDOM, 102, 2, "made_seldom"));
	assert_int_equal(ask_line(w, SELDOM, &p, &why), SRCLINES_OK);
	assert_int_equal(p->frames[p->n - 1].line, 302);
}

static void by_the_folders_of_distributions(void **state)
{
	say_id(0);
	install(*state, "/usr/lib/debug/lib/modules", "made-up.ko.debug");
	lines_are_known(*state);
}

static void by_its_place_among_modules(void **state)
{
	say_id(0);
	install(*state, "/lib/modules", "made-up.ko");
	lines_are_known(*state);
}

static void by_its_build_id(void **state)
{
	char hex[2 * ELFIMG_BUILD_ID_MAX + 1];

	say_id(0);
	for (size_t i = 0; i < image.build_id_len; i++)
		snprintf(hex + 2 * i, 3, "%02x", image.build_id[i]);
	run("mkdir -p %s/usr/lib/debug/.build-id/%.2s", root, hex);
	run("ln -s %s %s/usr/lib/debug/.build-id/%.2s/%s.debug", module, root, hex, hex + 2);
	lines_are_known(*state);
}

/* An entry of the list of build ids, as perf.data has it. */
static void record_id(struct asked *w, const char *path)
{
	struct {
		struct record_snapshot head;
		struct perf_event_header h;
		int32_t pid;
		uint8_t id[24];
		char path[60];
	} s = {.head = {.kind = SNAPSHOT_BUILD_IDS, .version = 1},
	       .h = {.type = 67, .misc = PERF_RECORD_MISC_KERNEL, .size = 96}};

	memcpy(s.id, image.build_id, 20);
	snprintf(s.path, sizeof(s.path), "%s", path);
	assert_int_equal(snapshot_set_put(w->rig.engine.model->snapshots, &s, sizeof(s)), 0);
}

static void of_elsewhere_by_its_recorded_id(void **state)
{
	struct asked *w = *state;

	strcpy(w->rig.engine.model->host->release, "1.2.3-elsewhere");
	record_id(w, "/lib/modules/1.2.3-elsewhere/kernel/b/made-up.ko.xz");
	run("mkdir %s/lib/modules/1.2.3-elsewhere", root);
	run("echo kernel/b/made-up.ko.xz: > %s/lib/modules/1.2.3-elsewhere/modules.dep", root);
	install(w, "/usr/lib/debug/lib/modules", "made-up.ko");
	lines_are_known(w);
}

static void is_refused(struct asked *w, uint64_t frame, const char *reason)
{
	const struct srclines_place *p;
	const char *why = NULL;

	assert_int_equal(ask_line(w, frame, &p, &why), SRCLINES_KERNEL);
	assert_string_equal(why, reason);
}

static void of_elsewhere_without_one(void **state)
{
	struct asked *w = *state;

	strcpy(w->rig.engine.model->host->release, "1.2.3-elsewhere");
	record_id(w, "/lib/modules/1.2.3-elsewhere/kernel/b/made-up-too.ko");
	is_refused(w, FIRST, "the recording does not say the build id of the module");
}

static void another_build_is_refused(void **state)
{
	say_id(1);
	install(*state, "/lib/modules", "made-up.ko");
	is_refused(*state, FIRST, "the file of the module that is installed is of another build");
}

static void no_file_and_no_id(void **state)
{
	say_id(0);
	is_refused(*state, FIRST, "no debug file of the module is installed");
	is_refused(*state, MADE, "there are no lines of code that the kernel made itself");
	is_refused(*state, 0xffffffffc0700000, "the build id of the module is not known");
}

static void a_function_it_has_not(void **state)
{
	say_id(0);
	install(*state, "/lib/modules", "made-up.ko");
	is_refused(*state, OTHER, "the file of the module has no function that is called so");
}

/* Loaded again, at another address. */
static void symbols_that_move(void **state)
{
	static const char symbols[] = "ffffffffc0100000 t zero\t[other]\n"
				      "ffffffffc0123000 T made_second\t[made_up]\n"
				      "ffffffffc0123450 t made_first\t[made_up]\n";
	struct asked *w = *state;
	const struct srclines_place *p;
	const char *why;
	struct error err;

	say_id(0);
	install(w, "/lib/modules", "made-up.ko");
	built_or_skip(ask_line(w, FIRST, &p, &why));
	assert_int_equal(sym_load(&w->rig.engine.sym, symbols, sizeof(symbols) - 1, &err), 0);
	assert_int_equal(ask_line(w, FIRST, &p, &why), SRCLINES_OK);
	assert_string_equal(p->frames[p->n - 1].function, "made_second");
	assert_int_equal(ask_line(w, SECOND, &p, &why), SRCLINES_OK);
	assert_string_equal(p->frames[0].function, "made_first");
}

static void names_of_files(void **state)
{
	(void)state;
	assert_true(vmlinux_is_module("/lib/modules/6.1/kernel/a/made-up.ko", "made_up"));
	assert_true(vmlinux_is_module("made_up.ko.zst", "made_up"));
	assert_true(vmlinux_is_module("[made_up]", "made_up"));
	assert_false(vmlinux_is_module("[made_up", "made_up"));
	assert_false(vmlinux_is_module("/a/made-upper.ko", "made_up"));
	assert_false(vmlinux_is_module("/a/made-up.kola", "made_up"));
	assert_false(vmlinux_is_module("/a/made.ko/made", "made_up"));
	for (int a = 0; a <= VMLINUX_ANSWERS; a++)
		assert_non_null(vmlinux_module_reason((enum vmlinux_answer)a));
}

static void names_that_lead_elsewhere(void **state)
{
	struct asked *w = *state;
	struct vmlinux v;

	say_id(0);
	run("mkdir -p %s/lib/modules/6.1", root);
	run("echo kernel/../../../made_up.ko: > %s/lib/modules/6.1/modules.dep", root);
	run("ln -s %s %s/lib/made_up.ko", module, root);
	assert_true(vmlinux_running_module(&v, root, "made_up"));
	assert_int_equal(vmlinux_find_module(&v, root, "6.1", "made_up"), VMLINUX_NO_FILE);
	assert_int_equal(vmlinux_find_module(&v, root, "../6.1", "made_up"), VMLINUX_NO_FILE);
	assert_false(vmlinux_running_module(&v, root, "../module/made_up"));
	assert_false(vmlinux_running_module(&v, root, "."));
	assert_int_equal(vmlinux_find_module(&v, root, release(w), "made_up"), VMLINUX_NO_ID);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(by_the_folders_of_distributions, begin, end),
		cmocka_unit_test_setup_teardown(by_its_place_among_modules, begin, end),
		cmocka_unit_test_setup_teardown(by_its_build_id, begin, end),
		cmocka_unit_test_setup_teardown(of_elsewhere_by_its_recorded_id, begin, end),
		cmocka_unit_test_setup_teardown(of_elsewhere_without_one, begin, end),
		cmocka_unit_test_setup_teardown(another_build_is_refused, begin, end),
		cmocka_unit_test_setup_teardown(no_file_and_no_id, begin, end),
		cmocka_unit_test_setup_teardown(a_function_it_has_not, begin, end),
		cmocka_unit_test_setup_teardown(symbols_that_move, begin, end),
		cmocka_unit_test_setup_teardown(names_that_lead_elsewhere, begin, end),
		cmocka_unit_test(names_of_files),
	};

	if (argc > 1 && !strcmp(argv[1], SRCLINES_WORKER_ARG))
		return srclines_work();
	assert_non_null(realpath(getenv("MADE_MODULE"), module));
	assert_int_equal(elfimg_open_fd(&image, open(module, O_RDONLY | O_CLOEXEC)), 0);
	assert_int_equal(image.build_id_len, 20);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	elfimg_close(&image);
	return failed;
}
