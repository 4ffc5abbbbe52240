// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples with registers and a dump of the stack, from the bytes of a record to a call chain in the
 * model: of this very program, whose functions noted their return addresses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "asked.h"
#include "kontend/mem.h"
#include "kontend/profile.h"
#include "kontend/query-hot.h"
#include "kontend/query-tree.h"
#include "kontend/stack.h"
#include "kontend/unwind.h"
#include "stackshot.h"
#include "synth-profile.h"

#define SECOND 1000000000ull

static struct stackshot shot;

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

/* Recorded here, since this machine booted: so its files are those of then. */
static void put_host(struct synth *s, const char *release)
{
	struct record_host h = {.clock_ns = SECOND};
	struct utsname u;

	uname(&u);
	h.wall_ns = now(CLOCK_REALTIME) - now(CLOCK_MONOTONIC) + SECOND;
	snprintf(h.release, sizeof(h.release), "%s", release ? release : u.release);
	snprintf(h.machine, sizeof(h.machine), "%s", u.machine);
	synth_record(s, RECORD_HOST, 0, &h, sizeof(h));
}

static void put_maps(struct synth *s, int pid)
{
	char line[1024], perms[8], path[512];
	uint64_t start, end, offset;
	FILE *f = fopen("/proc/self/maps", "re");

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %511[^\n]", &start, &end, perms, &offset,
			   path) == 5 &&
		    perms[2] == 'x')
			synth_mmap(s, 0, SECOND, pid, start, end - start, offset, path);
	fclose(f);
}

static struct synth_dump dump_of_shot(size_t bytes)
{
	return (struct synth_dump){.abi = 2,
				   .regs = shot.regs,
				   .n_regs = (uint32_t)__builtin_popcountll(shot.mask),
				   .stack = shot.stack,
				   .size = bytes,
				   .there = bytes < shot.len ? bytes : shot.len};
}

/* A stream whose samples are dumps of process @pid, which has the mappings of this one. */
static struct synth *begin(struct asked *w, unsigned depth, const char *release)
{
	struct usersyms_config c = {.same_machine = true};
	struct usersyms *files;
	bool here;

	assert_int_equal(usersyms_new(&files, &c, NULL), 0);
	here = stackshot_take(&shot, files, depth);
	usersyms_free(files);
	if (!here)
		skip();
	rig_init(&w->rig, 1);
	put_host(w->rig.synth, release);
	synth_profile_dumps(w->rig.synth, shot.mask);
	put_maps(w->rig.synth, getpid());
	return w->rig.synth;
}

/* The frames of the only chain. */
static uint32_t chain(struct asked *w, const uint64_t **ret)
{
	const struct profile *p = w->rig.engine.model->profile;

	assert_int_equal(p->n, 1);
	*ret = stack_frames(&p->stacks, p->cells[0].stack);
	return p->stacks.stacks[p->cells[0].stack].n;
}

static uint64_t frame_of(struct asked *w, uint64_t addr)
{
	const struct map_spaces *s = &w->rig.engine.model->profile->spaces;

	return map_space_frame(map_spaces_of(s, getpid()), addr);
}

/* Is there an unwinder in this build? */
static bool unwinds(void)
{
	struct unwind_config c = {0};
	struct unwind *u = NULL;
	int r = unwind_new(&u, NULL, &c, NULL);

	unwind_free(u);
	return r == 0;
}

/* Of a frame of the only chain, in the call tree. */
static const char *name(struct asked *w, uint32_t n)
{
	struct query_hot_tree_spec spec = {.by = HOT_STACK};
	struct query_tree t;

	query_begin(&w->q);
	assert_int_equal(query_hot_tree(&w->q, &spec, &t), 0);
	assert_true(n < t.n);
	return t.nodes[n].name;
}

static void a_dump_becomes_a_chain(void **state)
{
	const uint64_t kernel[] = {synth_addr(SYNTH_EXC_PAGE_FAULT)};
	struct asked *w = *state;
	const uint64_t *frames;

	struct synth *s = begin(w, 10, NULL);
	struct synth_dump d = dump_of_shot(16384);
	synth_dump(s, 2 * SECOND, getpid(), (struct synth_chain){.kernel = kernel, .n_kernel = 1},
		   &d);
	synth_tick(s, 3 * SECOND);
	asked_play(w, NULL);
	uint32_t n = chain(w, &frames);
	assert_int_equal(frames[0], kernel[0]);
	if (!unwinds()) {
		assert_int_equal(frames[n - 1], map_frame_mark(UNWIND_NONE));
		return;
	}
	assert_true(n >= shot.n + 2);
	for (size_t i = 0; i < shot.n; i++)
		assert_int_equal(frames[i + 2], frame_of(w, shot.truth[i] - 1));
	assert_false(map_frame_is_mark(frames[n - 1]));
	assert_int_equal(w->rig.engine.decode.n_bad, 0);
}

static void expect_mark(struct asked *w, enum unwind_end why, const char *text)
{
	const uint64_t *frames;
	uint32_t n = chain(w, &frames);

	assert_int_equal(frames[n - 1], map_frame_mark(unwinds() ? why : UNWIND_NONE));
	if (unwinds())
		assert_string_equal(name(w, n - 1), text);
}

static void a_short_dump_ends_in_a_mark(void **state)
{
	struct asked *w = *state;
	struct synth *s = begin(w, 10, NULL);
	struct synth_dump d = dump_of_shot(256);

	synth_dump(s, 2 * SECOND, getpid(), (struct synth_chain){.ip = shot.regs[8]}, &d);
	synth_tick(s, 3 * SECOND);
	asked_play(w, NULL);
	expect_mark(w, UNWIND_CUT, "[stack dump ends]");
}

static void a_deep_one_ends_at_a_limit(void **state)
{
	struct asked *w = *state;
	struct synth *s = begin(w, 1000, NULL);
	struct synth_dump d = dump_of_shot(64000);
	const uint64_t *frames;

	synth_dump(s, 2 * SECOND, getpid(), (struct synth_chain){.ip = shot.regs[8]}, &d);
	synth_tick(s, 3 * SECOND);
	asked_play(w, NULL);
	expect_mark(w, UNWIND_MOST, "[too many frames]");
	if (unwinds())
		assert_int_equal(chain(w, &frames), STACK_MAX_FRAMES);
}

static void files_of_another_machine_are_not_taken(void **state)
{
	struct asked *w = *state;
	struct synth *s = begin(w, 10, "2.6.32");
	struct synth_dump d = dump_of_shot(16384);

	synth_dump(s, 2 * SECOND, getpid(), (struct synth_chain){.ip = shot.regs[8]}, &d);
	synth_tick(s, 3 * SECOND);
	asked_play(w, NULL);
	expect_mark(w, UNWIND_OTHER_FILE, "[maybe another file]");
}

static void who_has_no_mappings_is_not_unwound(void **state)
{
	struct asked *w = *state;
	struct synth *s = begin(w, 3, NULL);
	struct synth_dump d = dump_of_shot(4096);

	synth_dump(s, 2 * SECOND, 1, (struct synth_chain){.ip = 0x4000}, &d);
	synth_tick(s, 3 * SECOND);
	asked_play(w, NULL);
	expect_mark(w, UNWIND_NO_MAPS, "[mappings not known]");
}

static void programs_of_32_bits_are_not_unwound(void **state)
{
	struct asked *w = *state;
	struct synth *s = begin(w, 3, NULL);
	struct synth_dump d = dump_of_shot(4096);
	const uint64_t *frames;

	d.abi = 1;
	synth_dump(s, 2 * SECOND, getpid(), (struct synth_chain){.ip = 0x4000}, &d);
	synth_tick(s, 3 * SECOND);
	asked_play(w, NULL);
	uint32_t n = chain(w, &frames);
	assert_int_equal(n, 2);
	assert_int_equal(frames[1], map_frame_mark(UNWIND_32BIT));
}

/* A kernel thread has neither registers nor a stack there: that is no damage, and no mark. */
static void who_has_no_user_part_has_no_mark(void **state)
{
	const uint64_t kernel[] = {synth_addr(SYNTH_EXC_PAGE_FAULT)};
	struct asked *w = *state;
	struct synth *s = begin(w, 3, NULL);
	struct synth_dump d = {0};
	const uint64_t *frames;

	synth_dump(s, 2 * SECOND, getpid(), (struct synth_chain){.kernel = kernel, .n_kernel = 1},
		   &d);
	synth_tick(s, 3 * SECOND);
	asked_play(w, NULL);
	assert_int_equal(chain(w, &frames), 1);
	assert_int_equal(frames[0], kernel[0]);
	assert_int_equal(w->rig.engine.decode.n_bad, 0);
}

static void what_makes_no_sense_is_counted(void **state)
{
	struct asked *w = *state;
	struct synth *s = begin(w, 3, NULL);
	struct synth_chain c = {.ip = 0x4000};
	struct synth_dump d = dump_of_shot(512);
	uint8_t stack[512];

	/* Data on the stack of this very test could be taken for a length. */
	memset(stack, 0xff, sizeof(stack));
	d.stack = stack;
	d.there = 520;
	synth_dump(s, 2 * SECOND, getpid(), c, &d);
	d.there = 512;
	d.abi = 3;
	synth_dump(s, 2 * SECOND, getpid(), c, &d);
	d.abi = 2;
	d.n_regs--;
	synth_dump(s, 2 * SECOND, getpid(), c, &d);
	d.n_regs++;
	d.size = 508;
	synth_dump(s, 2 * SECOND, getpid(), c, &d);
	synth_tick(s, 3 * SECOND);
	asked_play(w, NULL);
	assert_int_equal(w->rig.engine.decode.n_bad, 4);
	assert_int_equal(w->rig.engine.model->profile->samples, 0);
}

/* A mapping that a process places over an old one is used to unwind its next samples. */
static void mappings_are_those_of_the_moment(void **state)
{
	struct asked *w = *state;
	struct synth *s = begin(w, 10, NULL);
	struct synth_dump d = dump_of_shot(16384);
	struct synth_chain c = {.ip = shot.regs[8]};
	const struct profile *p;

	if (!unwinds())
		skip();
	synth_dump(s, 2 * SECOND, getpid(), c, &d);
	synth_mmap(s, 0, 2 * SECOND + 1, getpid(), shot.truth[0] & ~0xfffull, 4096, 0, "//anon");
	synth_dump(s, 2 * SECOND + 2, getpid(), c, &d);
	synth_tick(s, 3 * SECOND);
	asked_play(w, NULL);
	p = w->rig.engine.model->profile;
	assert_int_equal(p->n, 2);
	const uint64_t *first = stack_frames(&p->stacks, p->cells[0].stack);
	const uint64_t *second = stack_frames(&p->stacks, p->cells[1].stack);
	/* The caller is in other code now, through which only frame pointers may lead. */
	assert_true(p->stacks.stacks[p->cells[0].stack].n > 1);
	if (p->stacks.stacks[p->cells[1].stack].n > 1)
		assert_int_not_equal(second[1], first[1]);
}

static void calls_of_the_cpu_become_a_chain(void **state)
{
	const uint64_t from[] = {0x4100, 0x4200, 0x4300};
	const uint64_t kernel[] = {synth_addr(SYNTH_EXC_PAGE_FAULT)};
	const uint64_t user[] = {0x4010};
	struct synth_chain c = {.kernel = kernel, .n_kernel = 1, .user = user, .n_user = 1};
	struct asked *w = *state;
	const uint64_t *frames;

	rig_init(&w->rig, 1);
	synth_profile_calls(w->rig.synth);
	synth_mmap(w->rig.synth, 0, SECOND, 7, 0x4000, 0x1000, 0, "/bin/app");
	synth_calls(w->rig.synth, 2 * SECOND, 7, c, from, 3);
	synth_tick(w->rig.synth, 3 * SECOND);
	asked_play(w, NULL);
	assert_int_equal(chain(w, &frames), 5);
	assert_int_equal(frames[0], kernel[0]);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(map_frame_object(frames[i + 1]), 1);
		/* Callers are looked up a byte before: that is in the call, wherever it ends. */
		assert_int_equal(map_frame_offset(frames[i + 1]), i ? i * 0x100 + 1 : 0x10);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, asked_setup_empty, asked_teardown)
		TEST(a_dump_becomes_a_chain),
		TEST(a_short_dump_ends_in_a_mark),
		TEST(a_deep_one_ends_at_a_limit),
		TEST(files_of_another_machine_are_not_taken),
		TEST(who_has_no_mappings_is_not_unwound),
		TEST(programs_of_32_bits_are_not_unwound),
		TEST(who_has_no_user_part_has_no_mark),
		TEST(what_makes_no_sense_is_counted),
		TEST(mappings_are_those_of_the_moment),
		TEST(calls_of_the_cpu_become_a_chain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
