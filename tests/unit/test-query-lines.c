// SPDX-License-Identifier: GPL-2.0-only
/*
 * A profile of this program: inlined functions are in its call chains, and lines of source beside
 * its instructions. With an argument it is the process that reads debug information.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../src/query/names/names.h"
#include "asked.h"
#include "kontend/buildids.h"
#include "kontend/clock.h"
#include "kontend/elfimg.h"
#include "kontend/mem.h"
#include "kontend/query-annotate.h"
#include "kontend/query-hot.h"
#include "kontend/query-load.h"
#include "kontend/query-tree.h"
#include "kontend/snapshot.h"
#include "selfplace.h"
#include "synth-profile.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define MS 1000000ull
#define START (1000 * MS)
#define CODE 0x400000ull
#define SLIDE 0xffffffff81200000ull

static const uint64_t LONG_NS = 300000000000;

static struct srclines_config how;
static uint32_t line_of_inner;

/* Where it was called from. */
__attribute__((noinline)) static uintptr_t where(void)
{
	__asm__ volatile("");
	return (uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0));
}

static inline __attribute__((always_inline)) uintptr_t inner(void)
{
	line_of_inner = __LINE__ + 1;
	uintptr_t here = where(); /* in inner */
	return here;
}

static inline __attribute__((always_inline)) uintptr_t middle(void)
{
	return inner() + 0;
}

__attribute__((noinline)) static uintptr_t leaf_function(void)
{
	uintptr_t addr = middle();

	__asm__ volatile("");
	return addr;
}

static inline __attribute__((always_inline)) uintptr_t outer_part(void)
{
	uintptr_t addr = where();

	__asm__ volatile("");
	return addr;
}

__attribute__((noinline)) static uintptr_t calling_function(void)
{
	uintptr_t addr = outer_part();

	__asm__ volatile("");
	return addr;
}

/* As if it had been recorded here, now. */
static void be_this_machine(struct record_host *h)
{
	struct utsname u;

	uname(&u);
	snprintf(h->release, sizeof(h->release), "%s", u.release);
	h->clock_ns = clock_now_ns();
	h->wall_ns = clock_ns(CLOCK_REALTIME);
}

static void begin(struct asked *w)
{
	/* The outer one is where a call will come back to. */
	const uint64_t chain[] = {CODE + selfplace(leaf_function()) - 1,
				  CODE + selfplace(calling_function())};
	struct synth_chain c = {.user = chain, .n_user = 2};
	static char path[512];

	rig_init(&w->rig, 1);
	struct synth *s = w->rig.synth;
	synth_profile(s);
	synth_mmap(s, 0, START, getpid(), CODE, 0x40000000, 0, selfplace_path(path, sizeof(path)));
	for (uint64_t i = 0; i < 5; i++)
		synth_sample(s, 0, START + (10 + i) * MS, getpid(), getpid(), MS, c);
	synth_tick(s, START + 100 * MS);
	asked_play(w, NULL);
	be_this_machine(w->rig.engine.model->host);
	w->rig.engine.lines = &how;
}

static const char *chain_text(struct asked *w)
{
	struct query_hot_spec s = {.by = HOT_STACK};
	struct error err = {0};
	struct table t;

	do {
		query_begin(&w->q);
		assert_int_equal(query_hot(&w->q, &s, &t, &err), 0);
	} while (query_load_wait(&w->q, LONG_NS));
	assert_int_equal(t.n_rows, 1);
	return cell_s(&t, 0, "stack");
}

static void inlined_functions_are_in_chains(void **state)
{
	struct asked *w = *state;
	static const char with[] = "inner (inlined)\nmiddle (inlined)\nleaf_function\n"
				   "outer_part (inlined)\ncalling_function";

	how = (struct srclines_config){.argv = srclines_worker_argv};
	begin(w);
	const char *text = chain_text(w);
	if (!strchr(text, '('))
		skip(); /* built without libdw, or without debug information */
	assert_string_equal(text, with);
	how.no_inline = true;
	assert_string_equal(chain_text(w), "leaf_function\ncalling_function");
}

static const struct query_node *node_of(const struct query_tree *t, const char *name)
{
	for (size_t i = 0; i < t->n; i++)
		if (!strcmp(t->nodes[i].name, name))
			return &t->nodes[i];
	return NULL;
}

/* They have their own positions in the tree; their function answers questions about them. */
static void inlined_functions_are_in_trees(void **state)
{
	struct asked *w = *state;
	struct query_hot_tree_spec s = {.by = HOT_SYMBOL};
	struct query_tree t;

	how = (struct srclines_config){.argv = srclines_worker_argv};
	begin(w);
	chain_text(w);
	assert_int_equal(query_hot_tree(&w->q, &s, &t), 0);
	const struct query_node *in = node_of(&t, "inner (inlined)");
	const struct query_node *leaf = node_of(&t, "leaf_function");
	assert_non_null(leaf);
	if (!in || !leaf) {
		skip();
		return;
	}
	assert_int_equal(in->depth, 0);
	assert_int_equal(in->n, 5);
	assert_int_equal(leaf->depth, 2);
	assert_int_equal(in->addr, leaf->addr);
	assert_int_not_equal(in->id, leaf->id);
}

static bool may_be_read(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && st.st_mode & S_IROTH;
}

static const struct query_code_line *line_with_place(struct asked *w, struct query_annotate *a)
{
	struct error err = {0};
	uint64_t start;

	chain_text(w);
	do {
		query_begin(&w->q);
		assert_int_equal(query_annotate_find(&w->q, "leaf_function", &start, &err), 0);
		assert_int_equal(query_annotate(&w->q, start, a, &err), 0);
	} while (query_load_wait(&w->q, LONG_NS));
	for (size_t i = 0; i < a->n; i++)
		if (a->lines[i].samples && a->lines[i].place)
			return &a->lines[i];
	return NULL;
}

static void instructions_have_lines(void **state)
{
	struct asked *w = *state;
	struct query_annotate a;

	how = (struct srclines_config){.argv = srclines_worker_argv};
	begin(w);
	const struct query_code_line *l = line_with_place(w, &a);
	if (!l) {
		assert_non_null(a.lines_why);
		skip();
		return;
	}
	assert_null(a.lines_why);
	assert_int_equal(l->place->n, 3);
	assert_string_equal(l->place->frames[0].function, "inner");
	assert_int_equal(l->place->frames[0].line, line_of_inner);
	if (may_be_read(l->place->frames[0].file))
		assert_string_equal(l->source_text,
				    "        uintptr_t here = where(); /* in inner */");
	else
		assert_null(l->source_text);
}

static uint64_t address_of(uint64_t place)
{
	struct elfimg e;
	uint64_t addr = 0;

	assert_int_equal(elfimg_open_fd(&e, open("/proc/self/exe", O_RDONLY | O_CLOEXEC)), 0);
	assert_true(elfimg_to_addr(e.segments, e.n_segments, place, &addr));
	elfimg_close(&e);
	return addr;
}

/* The file and line of a function's address, without a call to it. */
#define ADDRESS_OF(function) address_of(selfplace((uintptr_t)(function)))

static void put_notes(const char *root, const uint8_t *id, size_t n)
{
	Elf64_Nhdr other = {.n_namesz = 6, .n_descsz = 4, .n_type = 0x100};
	Elf64_Nhdr h = {.n_namesz = 4, .n_descsz = (uint32_t)n, .n_type = NT_GNU_BUILD_ID};
	char path[512];

	snprintf(path, sizeof(path), "%s/sys/kernel/notes", root);
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	fwrite(&other, sizeof(other), 1, f);
	fwrite("Linux\0\0\0\1\0\0", 12, 1, f);
	fwrite(&h, sizeof(h), 1, f);
	fwrite("GNU", 4, 1, f);
	fwrite(id, n, 1, f);
	assert_int_equal(fclose(f), 0);
}

/* A folder in which this program is the kernel that runs. False: it is not made to be one. */
static bool be_the_kernel(char *root, const char *release, bool same)
{
	struct elfimg e;
	char path[512], self[512];
	uint8_t id[ELFIMG_BUILD_ID_MAX];

	assert_non_null(mkdtemp(root));
	snprintf(path, sizeof(path), "mkdir -p %s/sys/kernel %s/usr/lib/debug/boot", root, root);
	assert_int_equal(system(path), 0);
	assert_int_equal(elfimg_open_fd(&e, open("/proc/self/exe", O_RDONLY | O_CLOEXEC)), 0);
	bool good = e.build_id_len == 20 && elfimg_find(&e, ".debug_info");
	memcpy(id, e.build_id, sizeof(id));
	id[0] ^= !same;
	put_notes(root, id, e.build_id_len);
	elfimg_close(&e);
	snprintf(path, sizeof(path), "%s/usr/lib/debug/boot/vmlinux-%s", root, release);
	assert_int_equal(symlink(selfplace_path(self, sizeof(self)), path), 0);
	return good;
}

static void remove_all(const char *root)
{
	char command[512];

	snprintf(command, sizeof(command), "rm -r %s", root);
	assert_int_equal(system(command), 0);
}

/* The kernel's table: @also is where one of its functions is beyond the others' distance. */
static void load_symbols(struct asked *w, uint64_t also)
{
	const struct {
		const char *name;
		uint64_t addr;
	} all[] = {{"leaf_function", ADDRESS_OF(leaf_function)},
		   {"calling_function", ADDRESS_OF(calling_function) + also},
		   {"be_this_machine", ADDRESS_OF(be_this_machine)}};
	char text[512];
	int n = 0;
	struct error err;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%016llx t %s\n",
			      (unsigned long long)all[i].addr + SLIDE, all[i].name);
	assert_int_equal(sym_load(&w->rig.engine.sym, text, (size_t)n, &err), 0);
}

/* Answer for @frame when all is read; SRCLINES_NOT_BUILT, too, if this program cannot be used. */
static enum srclines_answer answer_at(struct asked *w, uint64_t frame, bool same, uint64_t also,
				      const char **ret_why)
{
	char root[] = "/tmp/kontend-query-lines-XXXXXX";
	const struct srclines_place *p = NULL;
	enum srclines_answer a;

	how = (struct srclines_config){.argv = srclines_worker_argv, .root = root};
	begin(w);
	load_symbols(w, also);
	bool good = be_the_kernel(root, w->rig.engine.model->host->release, same);
	do
		a = query_place(&w->q, frame, false, &p, ret_why);
	while (query_load_wait(&w->q, LONG_NS));
	remove_all(root);
	how.root = NULL;
	if (a == SRCLINES_OK) {
		assert_string_equal(p->frames[0].function, "inner");
		assert_int_equal(p->frames[0].line, line_of_inner);
		assert_int_equal(p->n, 3);
	}
	return good ? a : SRCLINES_NOT_BUILT;
}

/* It runs at another address than it was linked at, by the addresses of its functions. */
static void lines_of_the_kernel(void **state)
{
	uint64_t frame = SLIDE + address_of(selfplace(leaf_function()) - 1);
	const char *why;
	enum srclines_answer a = answer_at(*state, frame, true, 0, &why);

	if (a == SRCLINES_NOT_BUILT)
		skip();
	assert_int_equal(a, SRCLINES_OK);
}

static void another_kernel_is_refused(void **state)
{
	uint64_t frame = SLIDE + address_of(selfplace(leaf_function()) - 1);
	const char *why;
	enum srclines_answer a = answer_at(*state, frame, false, 0, &why);

	if (a == SRCLINES_NOT_BUILT)
		skip();
	assert_int_equal(a, SRCLINES_KERNEL);
	assert_string_equal(why, "the vmlinux that is installed is of another build");
}

/* A recording of another machine, with @change in the build id of this program as a kernel's. */
static enum srclines_answer recorded_elsewhere(struct asked *w, uint8_t change, bool says,
					       const char **ret_why)
{
	static const char name[] = "[kernel.kallsyms]";
	struct {
		struct record_snapshot head;
		struct perf_event_header h;
		int32_t pid;
		uint8_t id[24];
		char path[28];
	} s = {.head = {.kind = SNAPSHOT_BUILD_IDS, .version = BUILDIDS_VERSION},
	       .h = {.type = 67, .misc = PERF_RECORD_MISC_KERNEL, .size = 64}};
	char root[] = "/tmp/kontend-query-lines-XXXXXX";
	uint64_t frame = SLIDE + address_of(selfplace(leaf_function()) - 1);
	const struct srclines_place *p = NULL;
	struct elfimg e;
	enum srclines_answer a;

	assert_int_equal(elfimg_open_fd(&e, open("/proc/self/exe", O_RDONLY | O_CLOEXEC)), 0);
	memcpy(s.id, e.build_id, 20);
	elfimg_close(&e);
	s.id[3] ^= change;
	memcpy(s.path, name, sizeof(name));
	how = (struct srclines_config){.argv = srclines_worker_argv, .root = root};
	begin(w);
	load_symbols(w, 0);
	strcpy(w->rig.engine.model->host->release, "1.2.3-elsewhere");
	if (says)
		assert_int_equal(snapshot_set_put(w->rig.engine.model->snapshots, &s, sizeof(s)),
				 0);
	/* The running kernel is another one, and is ignored. */
	bool good = be_the_kernel(root, "1.2.3-elsewhere", false);
	do
		a = query_place(&w->q, frame, false, &p, ret_why);
	while (query_load_wait(&w->q, LONG_NS));
	remove_all(root);
	how.root = NULL;
	return good ? a : SRCLINES_NOT_BUILT;
}

static void a_kernel_of_elsewhere_by_its_id(void **state)
{
	const char *why;
	enum srclines_answer a = recorded_elsewhere(*state, 0, true, &why);

	if (a == SRCLINES_NOT_BUILT)
		skip();
	assert_int_equal(a, SRCLINES_OK);
}

static void not_by_another_id(void **state)
{
	const char *why;
	enum srclines_answer a = recorded_elsewhere(*state, 1, true, &why);

	if (a == SRCLINES_NOT_BUILT)
		skip();
	assert_int_equal(a, SRCLINES_KERNEL);
	assert_string_equal(why, "the vmlinux that is installed is of another build");
}

static void nor_without_one(void **state)
{
	const char *why;
	enum srclines_answer a = recorded_elsewhere(*state, 0, false, &why);

	if (a == SRCLINES_NOT_BUILT)
		skip();
	assert_int_equal(a, SRCLINES_KERNEL);
	assert_string_equal(why, "the recording does not say the build id of its kernel");
}

static void functions_must_agree(void **state)
{
	uint64_t frame = SLIDE + address_of(selfplace(leaf_function()) - 1);
	const char *why;
	enum srclines_answer a = answer_at(*state, frame, true, 16, &why);

	if (a == SRCLINES_NOT_BUILT)
		skip();
	assert_int_equal(a, SRCLINES_KERNEL);
	assert_string_equal(why, "vmlinux and the kernel's symbols do not agree on where it runs");
}

/* Of frames of the kernel those but the first are where a call will come back to. */
static void inlined_functions_of_the_kernel(void **state)
{
	struct asked *w = *state;
	char root[] = "/tmp/kontend-query-lines-XXXXXX";
	const uint64_t frames[] = {SLIDE + address_of(selfplace(leaf_function()) - 1),
				   SLIDE + address_of(selfplace(calling_function()))};
	static const char *const names[] = {"inner (inlined)", "middle (inlined)", "leaf_function",
					    "outer_part (inlined)", "calling_function"};
	uint32_t funcs[8], n;

	how = (struct srclines_config){.argv = srclines_worker_argv, .root = root};
	begin(w);
	load_symbols(w, 0);
	bool good = be_the_kernel(root, w->rig.engine.model->host->release, true);
	do {
		query_begin(&w->q);
		assert_int_equal(query_sync(&w->q), 0);
		n = query_chain_funcs(&w->q, frames, 2, funcs, 8);
	} while (query_load_wait(&w->q, LONG_NS));
	remove_all(root);
	how.root = NULL;
	if (!good || n == 2)
		skip(); /* built without libdw, or without debug information */
	assert_int_equal(n, 5);
	for (uint32_t i = 0; i < n; i++)
		assert_string_equal(w->q.cache->funcs[funcs[i]].name, names[i]);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(inlined_functions_are_in_chains, asked_setup_empty,
						asked_teardown),
		cmocka_unit_test_setup_teardown(inlined_functions_are_in_trees, asked_setup_empty,
						asked_teardown),
		cmocka_unit_test_setup_teardown(lines_of_the_kernel, asked_setup_empty,
						asked_teardown),
		cmocka_unit_test_setup_teardown(another_kernel_is_refused, asked_setup_empty,
						asked_teardown),
		cmocka_unit_test_setup_teardown(a_kernel_of_elsewhere_by_its_id, asked_setup_empty,
						asked_teardown),
		cmocka_unit_test_setup_teardown(not_by_another_id, asked_setup_empty,
						asked_teardown),
		cmocka_unit_test_setup_teardown(nor_without_one, asked_setup_empty, asked_teardown),
		cmocka_unit_test_setup_teardown(functions_must_agree, asked_setup_empty,
						asked_teardown),
		cmocka_unit_test_setup_teardown(inlined_functions_of_the_kernel, asked_setup_empty,
						asked_teardown),
		cmocka_unit_test_setup_teardown(instructions_have_lines, asked_setup_empty,
						asked_teardown),
	};

	if (argc > 1 && !strcmp(argv[1], SRCLINES_WORKER_ARG))
		return srclines_work();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
