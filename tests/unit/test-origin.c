// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where waits came from: the system call by their kernel frames, the line of this program by their
 * user frames. With an argument it is the process that reads debug information.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../src/model/internal.h"
#include "../../src/query/internal.h"
#include "asked.h"
#include "kontend/cell.h"
#include "kontend/clock.h"
#include "kontend/maps.h"
#include "kontend/profile.h"
#include "kontend/query-load.h"
#include "kontend/srclines.h"
#include "selfplace.h"
#include "synth-profile.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define MS 1000000ull
#define START (1000 * MS)
#define CODE 0x400000ull
#define LIBC 0x7f0000000000ull
#define PYTHON 0x7f1000000000ull
#define JIT 0x7f2000000000ull

enum { MOST = 16 };

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

__attribute__((noinline)) static uintptr_t commit_log(void)
{
	uintptr_t addr = inner();

	__asm__ volatile("");
	return addr;
}

static const uint64_t in_write[] = {SYNTH_MUTEX_LOCK, SYNTH_VFS_WRITE, SYNTH_KSYS_WRITE,
				    SYNTH_DO_SYSCALL_64, SYNTH_ENTRY_SYSCALL};
static const uint64_t in_fault[] = {SYNTH_DOWN_READ, SYNTH_LOCK_MM_AND_FIND_VMA,
				    SYNTH_EXC_PAGE_FAULT};

static void state_wait(struct synth *s, uint64_t t, uint64_t lock, const uint64_t *in, uint32_t n)
{
	uint64_t frames[MOST];

	for (uint32_t i = 0; i < n; i++)
		frames[i] = synth_addr((enum synth_address)in[i]);
	synth_begin(s, 0, t, getpid(), getpid(), lock, LCB_F_MUTEX, frames, n);
	synth_end(s, 0, t + 3 * MS, getpid(), getpid(), lock, 0);
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

static int set_up(void **state)
{
	static char path[512];

	if (asked_setup_empty(state) < 0)
		return -1;
	struct asked *w = *state;

	how = (struct srclines_config){.argv = srclines_worker_argv};
	rig_init(&w->rig, 1);
	struct synth *s = w->rig.synth;
	synth_profile(s);
	synth_mmap(s, 0, START, getpid(), CODE, 0x40000000, 0, selfplace_path(path, sizeof(path)));
	synth_mmap(s, 0, START, getpid(), LIBC, 0x100000, 0, "/usr/lib/libc.so.6");
	synth_mmap(s, 0, START, getpid(), PYTHON, 0x100000, 0, "/nowhere/python3.11");
	state_wait(s, START + 10 * MS, 0xffff888000001000, in_write, 5);
	state_wait(s, START + 20 * MS, 0xffff888000002000, in_fault, 3);
	synth_tick(s, START + 100 * MS);
	asked_play(w, NULL);
	be_this_machine(w->rig.engine.model->host);
	w->rig.engine.lines = &how;
	query_begin(&w->q);
	assert_int_equal(query_sync(&w->q), 0);
	return 0;
}

/* The number of a chain of kernel functions and addresses of this process. */
static uint32_t stack_of(struct asked *w, const uint64_t *kernel, uint32_t n_kernel,
			 const uint64_t *user, uint32_t n_user)
{
	struct model *m = w->rig.engine.model;
	const struct map_space *space = map_spaces_of(&m->profile->spaces, getpid());
	uint64_t frames[MOST];
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_kernel; i++)
		frames[n++] = synth_addr((enum synth_address)kernel[i]);
	for (uint32_t i = 0; i < n_user; i++)
		frames[n++] =
			map_frame_is_mark(user[i]) ? user[i] : map_space_frame(space, user[i]);
	uint32_t stack = model_stack(m, frames, n);
	assert_int_equal(query_sync(&w->q), 0);
	return stack;
}

static const struct query_origin *origin(struct asked *w, uint32_t stack)
{
	assert_int_equal(query_origins_load(&w->q), 0);
	return query_origin(&w->q, stack);
}

static void system_calls_are_named(void **state)
{
	struct asked *w = *state;
	const uint64_t cut[] = {SYNTH_MUTEX_LOCK, SYNTH_VFS_WRITE};
	const struct query_origin *o = origin(w, stack_of(w, in_write, 5, NULL, 0));

	assert_string_equal(o->syscall, "write");
	assert_null(o->syscall_why);
	assert_null(o->at);
	assert_string_equal(o->at_why, "the call chain has no user frames");
	o = origin(w, stack_of(w, in_fault, 3, NULL, 0));
	assert_string_equal(o->syscall, "page fault");
	/* Shorter than others, so it is whole: no function says it. */
	o = origin(w, stack_of(w, cut, 2, NULL, 0));
	assert_null(o->syscall);
	assert_string_equal(o->syscall_why, "no function in the call chain says it");
	/* As long as the longest. */
	const uint64_t deep[] = {SYNTH_MUTEX_LOCK, SYNTH_VFS_WRITE, SYNTH_VFS_READ, SYNTH_PIPE_READ,
				 SYNTH_PIPE_WRITE};
	o = origin(w, stack_of(w, deep, 5, NULL, 0));
	assert_null(o->syscall);
	assert_string_equal(o->syscall_why, "the call chain is cut");
	o = query_origin(&w->q, STACK_OTHER);
	assert_null(o->syscall);
	assert_string_equal(o->syscall_why, "there is no call chain");
	assert_string_equal(o->at_why, "there is no call chain");
}

static void lines_are_named(void **state)
{
	struct asked *w = *state;
	const uint64_t user[] = {LIBC + 0x1234, CODE + selfplace(commit_log())};
	const struct query_origin *o = origin(w, stack_of(w, in_write, 5, user, 2));
	char text[64];

	snprintf(text, sizeof(text), "test-origin.c:%u inner", line_of_inner);
	assert_string_equal(o->syscall, "write");
	assert_false(o->at_library);
	assert_non_null(o->at);
	if (strncmp(o->at, "commit_log+0x", 13) == 0)
		skip(); /* built without libdw, or without debug information */
	assert_string_equal(o->at, text);
	assert_int_equal(o->frame, 0);
	/* Another chain to the same line is the same place. */
	const uint64_t other[] = {LIBC + 0x1234, LIBC + 0x2345, user[1]};
	uint64_t id = o->at_id;
	assert_int_equal(origin(w, stack_of(w, in_write, 5, other, 3))->at_id, id);
}

static void without_lines_there_is_the_offset(void **state)
{
	struct asked *w = *state;
	const uint64_t user[] = {LIBC + 0x1234, CODE + selfplace(commit_log())};

	w->rig.engine.lines = NULL;
	const struct query_origin *o = origin(w, stack_of(w, in_write, 5, user, 2));
	assert_non_null(o->at);
	assert_memory_equal(o->at, "commit_log+0x", 13);
}

static void runtimes_are_a_last_resort(void **state)
{
	struct asked *w = *state;
	const uint64_t user[] = {LIBC + 0x1234, LIBC + 0x2345, PYTHON + 0x77, PYTHON + 0x88};
	const struct query_origin *o = origin(w, stack_of(w, in_write, 5, user, 4));

	/* An address of its interpreter is no place in the program. */
	assert_null(o->at);
	assert_string_equal(o->at_why,
			    "Python interprets it: its lines are read of waits over 10 ms");
	o = origin(w, stack_of(w, in_write, 5, user, 2));
	assert_true(o->at_library);
	assert_string_equal(o->at, "libc.so.6+0x1234");
}

static void marks_are_reasons(void **state)
{
	struct asked *w = *state;
	const uint64_t gone[] = {map_frame_mark(MAP_MARK_ENDED)};
	const struct query_origin *o = origin(w, stack_of(w, in_write, 5, gone, 1));

	assert_null(o->at);
	assert_string_equal(o->at_why, "[not kept]");
	/* Cut within the libraries: the call that led there is not known. */
	const uint64_t cut[] = {LIBC + 0x1234, PYTHON + 0x77, map_frame_mark(MAP_MARK_ENDED)};
	o = origin(w, stack_of(w, in_write, 5, cut, 3));
	assert_null(o->at);
	assert_string_equal(o->at_why, "[not kept]");
	o = origin(w, stack_of(w, in_write, 0, cut, 2));
	assert_null(o->syscall);
	assert_string_equal(o->syscall_why, "no kernel frames are taken of locks of programs");
}

/* A lock of a program has no frame of the kernel: its caller is the function of AT. */
static void callers_of_programs_locks_are_outside_of_libraries(void **state)
{
	struct asked *w = *state;
	const uint64_t in_log[] = {LIBC + 0x1234, LIBC + 0x2345, CODE + selfplace(commit_log())};
	const uint64_t cut[] = {LIBC + 0x1234, map_frame_mark(MAP_MARK_SOON)};
	const uint64_t none[] = {map_frame_mark(MAP_MARK_SAVED)};

	w->rig.engine.lines = NULL;
	uint32_t stack = stack_of(w, NULL, 0, in_log, 3);
	assert_memory_equal(origin(w, stack)->at, "commit_log+0x", 13);
	assert_string_equal(query_func_name(&w->q, query_caller(&w->q, stack)), "commit_log");
	assert_int_equal(query_caller_frame(&w->q, stack), 2);
	stack = stack_of(w, NULL, 0, in_log, 2);
	assert_string_equal(origin(w, stack)->at, "libc.so.6+0x1234");
	assert_string_equal(query_func_name(&w->q, query_caller(&w->q, stack)), "libc.so.6+0x1234");
	/* Where it ends before, the library stands for the program's own code. */
	stack = stack_of(w, NULL, 0, cut, 2);
	assert_string_equal(origin(w, stack)->at_why, "[caller not read yet]");
	assert_string_equal(query_func_name(&w->q, query_caller(&w->q, stack)), "libc.so.6+0x1234");
	stack = stack_of(w, NULL, 0, none, 1);
	assert_string_equal(query_func_name(&w->q, query_caller(&w->q, stack)),
			    "[user part not taken]");
	/* Others have a function of the kernel. */
	stack = stack_of(w, in_write, 5, in_log, 3);
	assert_string_equal(query_func_name(&w->q, query_caller(&w->q, stack)), "vfs_write");
}

static struct table ask(struct asked *w, enum query_by by)
{
	struct query_spec spec = {.by = by, .sort = "total_ns"};

	query_begin(&w->q);
	return asked_locks(w, spec);
}

static void rows_are_by_system_call(void **state)
{
	struct asked *w = *state;
	struct table t = ask(w, BY_SYSCALL);

	assert_int_equal(t.n_rows, 2);
	size_t write = !strcmp(cell_s(&t, 0, "syscall"), "write") ? 0 : 1;
	assert_string_equal(cell_s(&t, write, "syscall"), "write");
	assert_string_equal(cell_s(&t, !write, "syscall"), "page fault");
	assert_int_equal(cell_u(&t, write, "total_ns"), 3 * MS);
	assert_string_equal(query_title(&w->q, BY_SYSCALL, t.ids[write]), "in write");
	assert_string_equal(query_title(&w->q, BY_SYSCALL, 77), "in no known system call");
	/* No chain has a part in a program: all are one row, which says why. */
	t = ask(w, BY_AT);
	assert_int_equal(t.n_rows, 1);
	assert_false(cell_at(&t, 0, "at")->known);
	assert_string_equal(cell_s(&t, 0, "at_reason"), "the call chain has no user frames");
	assert_string_equal(query_title(&w->q, BY_AT, t.ids[0]), "at no known line");
	assert_false(query_has_program(&w->q));
}

static void rows_are_by_line(void **state)
{
	struct asked *w = *state;
	const uint64_t in_log[] = {LIBC + 0x1234, CODE + selfplace(commit_log())};
	const uint64_t in_libc[] = {LIBC + 0x1234, LIBC + 0x2345};
	struct cell *cells = w->rig.engine.model->cells->cells;

	w->rig.engine.lines = NULL;
	assert_int_equal(w->rig.engine.model->cells->n, 2);
	cells[0].stack = stack_of(w, in_write, 5, in_log, 2);
	cells[1].stack = stack_of(w, in_fault, 3, in_libc, 2);
	struct table t = ask(w, BY_AT);
	assert_int_equal(t.n_rows, 2);
	assert_true(query_has_program(&w->q));
	size_t log = strncmp(cell_s(&t, 0, "at"), "commit_log+0x", 13) ? 1 : 0;
	assert_memory_equal(cell_s(&t, log, "at"), "commit_log+0x", 13);
	assert_false(cell_at(&t, log, "at")->approx);
	assert_string_equal(cell_at(&t, !log, "at")->s, "libc.so.6+0x1234");
	assert_true(cell_at(&t, !log, "at")->approx);
	assert_memory_equal(query_title(&w->q, BY_AT, t.ids[log]), "at commit_log+0x", 16);
	/* All of one process: the system call and the line of the wait that costs most. */
	cells[1].total_ns = 9 * MS;
	t = ask(w, BY_PROCESS);
	assert_int_equal(t.n_rows, 1);
	assert_string_equal(cell_at(&t, 0, "syscall")->s, "page fault");
	assert_true(cell_at(&t, 0, "syscall")->approx);
	assert_string_equal(cell_at(&t, 0, "at")->s, "libc.so.6+0x1234");
}

/* Most of the time is of waits whose chains were not taken: the others have the line. */
static void lines_that_are_known_stand_for_chains_that_lack_them(void **state)
{
	struct asked *w = *state;
	const uint64_t in_log[] = {LIBC + 0x1234, CODE + selfplace(commit_log())};
	const uint64_t saved[] = {map_frame_mark(MAP_MARK_SAVED)};
	struct cell *cells = w->rig.engine.model->cells->cells;

	w->rig.engine.lines = NULL;
	cells[0].stack = stack_of(w, in_write, 5, in_log, 2);
	cells[1].stack = stack_of(w, in_fault, 3, saved, 1);
	cells[1].total_ns = 9 * MS;
	struct table t = ask(w, BY_PROCESS);
	assert_int_equal(t.n_rows, 1);
	assert_non_null(cell_at(&t, 0, "at")->s);
	assert_memory_equal(cell_at(&t, 0, "at")->s, "commit_log+0x", 13);
	assert_true(cell_at(&t, 0, "at")->approx);
	assert_false(cell_at(&t, 0, "at_reason")->known);
	/* Of system calls all are known: the one that costs most. */
	assert_string_equal(cell_at(&t, 0, "syscall")->s, "page fault");
	/* The same of those: one cannot be known, as the chain has no part in the kernel. */
	cells[1].stack = stack_of(w, NULL, 0, saved, 1);
	t = ask(w, BY_PROCESS);
	assert_string_equal(cell_at(&t, 0, "syscall")->s, "write");
	assert_true(cell_at(&t, 0, "syscall")->approx);
	assert_memory_equal(cell_at(&t, 0, "at")->s, "commit_log+0x", 13);
	/* None has one: why. */
	cells[0].stack = stack_of(w, in_write, 5, saved, 1);
	t = ask(w, BY_PROCESS);
	assert_false(cell_at(&t, 0, "at")->known);
	assert_string_equal(cell_s(&t, 0, "at_reason"), "[user part not taken]");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(system_calls_are_named, set_up, asked_teardown),
		cmocka_unit_test_setup_teardown(lines_are_named, set_up, asked_teardown),
		cmocka_unit_test_setup_teardown(without_lines_there_is_the_offset, set_up,
						asked_teardown),
		cmocka_unit_test_setup_teardown(runtimes_are_a_last_resort, set_up, asked_teardown),
		cmocka_unit_test_setup_teardown(rows_are_by_system_call, set_up, asked_teardown),
		cmocka_unit_test_setup_teardown(rows_are_by_line, set_up, asked_teardown),
		cmocka_unit_test_setup_teardown(
			lines_that_are_known_stand_for_chains_that_lack_them, set_up,
			asked_teardown),
		cmocka_unit_test_setup_teardown(marks_are_reasons, set_up, asked_teardown),
		cmocka_unit_test_setup_teardown(callers_of_programs_locks_are_outside_of_libraries,
						set_up, asked_teardown),
	};

	(void)argv;
	return argc > 1 ? srclines_work() : cmocka_run_group_tests(tests, NULL, NULL);
}
