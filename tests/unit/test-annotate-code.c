// SPDX-License-Identifier: GPL-2.0-only
/*
 * Code that is shown: of both machines, of programs out of their files; what its operands name; and
 * the way from a lock to the code that waits for it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "elfmake.h"
#include "kontend/clock.h"
#include "kontend/maps.h"
#include "kontend/mem.h"
#include "kontend/query-annotate.h"
#include "kontend/query-load.h"
#include "kontend/textsnap.h"
#include "synth-code.h"
#include "synth-profile.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define MS 1000000ull
#define START (1000 * MS)
#define LOCK 0xffff888011111100ull

enum { PID = 5000000, TID = 5000001 }; /* above every PID that a kernel gives */

static struct query_annotate annotate(struct asked *w, uint64_t start)
{
	struct query_annotate a;
	struct error err = {0};

	assert_int_equal(query_annotate(&w->q, start, &a, &err), 0);
	if (a.why && strstr(a.why, "No disassembler"))
		skip();
	return a;
}

static const struct query_code_line *line_at(const struct query_annotate *a, uint64_t offset)
{
	static const struct query_code_line none;

	for (size_t i = 0; i < a->n; i++)
		if (a->lines[i].offset == offset)
			return &a->lines[i];
	fail_msg("no line at +0x%llx", (unsigned long long)offset);
	return &none;
}

static void expect(const struct query_annotate *a, uint64_t offset, const char *want)
{
	char buf[QUERY_ANNOTATE_TEXT];

	assert_string_equal(query_annotate_text(line_at(a, offset), buf), want);
}

static void sample(struct asked *w, uint64_t ms, uint64_t ip)
{
	struct synth_chain c = {.kernel = &ip, .n_kernel = 1};

	synth_sample(w->rig.synth, 0, START + ms * MS, PID, TID, MS, c);
}

static void begin(struct asked *w, enum synth_machine m)
{
	rig_init(&w->rig, 1);
	synth_profile(w->rig.synth);
	synth_code(w->rig.synth, m);
	synth_comm(w->rig.synth, 0, START, PID, TID, "worker");
}

static void play(struct asked *w)
{
	synth_tick(w->rig.synth, START + 500 * MS);
	asked_play(w, NULL);
	query_begin(&w->q);
}

static void operands_and_targets_are_named(void **state)
{
	struct asked *w = *state;

	begin(w, SYNTH_X86_64);
	sample(w, 1, SYNTH_CODE + SYNTH_X86_TAKEN);
	play(w);
	/* A place in the middle asks for the function around it. */
	struct query_annotate a = annotate(w, SYNTH_CODE + SYNTH_X86_PAUSE);
	assert_int_equal(a.start, SYNTH_CODE);
	assert_string_equal(a.symbol, "native_queued_spin_lock_slowpath");
	expect(&a, 0x00, "pushq  %rbp");
	expect(&a, 0x13, "jne    +0x29");
	expect(&a, 0x4b, "pause");
	expect(&a, 0x5e, "callq  mutex_lock");
	expect(&a, 0x63, "cmpl   $0,0xfcef9a(%rip)  # tasklist_lock+0x4");
	expect(&a, 0x6f, "callq  *%rax");
	expect(&a, 0x89, "lock incl 0xfcefb0(%rip)  # cgroup_mutex");
	expect(&a, 0x9b, "jne    down_read");
	assert_false(line_at(&a, 0x6f)->has_target);
	assert_true(line_at(&a, 0x9b)->has_target && !line_at(&a, 0x9b)->jumps);
	a = annotate(w, line_at(&a, 0x9b)->target);
	assert_string_equal(a.symbol, "down_read");
}

static void code_of_arm64_is_shown(void **state)
{
	struct asked *w = *state;

	begin(w, SYNTH_ARM64);
	sample(w, 1, SYNTH_CODE + SYNTH_ARM64_TAKEN);
	play(w);
	struct query_annotate a = annotate(w, SYNTH_CODE);
	assert_int_equal(a.n, 24); /* without the nop after it */
	assert_int_equal(a.lines[a.hottest].offset, SYNTH_ARM64_TAKEN);
	expect(&a, 0x14, "tbnz   w1,#8,+0x28");
	expect(&a, 0x20, "cbnz   w3,+0x10");
	expect(&a, 0x38, "b.eq   +0x10");
	expect(&a, 0x40, "bl     mutex_lock");
	expect(&a, 0x58, "cbz    w0,down_read");
	assert_int_equal(line_at(&a, 0x40)->kind, DISASM_CALL);
	assert_int_equal(line_at(&a, 0x48)->kind, DISASM_CALL);
	assert_false(line_at(&a, 0x48)->has_target);
	assert_int_equal(line_at(&a, 0x5c)->kind, DISASM_RETURN);
}

/* A program of two functions: one loops and calls the other. */
static void make_program(const char *path)
{
	static const struct elfmake_symbol symbols[] = {
		{"spin", ELFMAKE_ADDR + 0x100, 0x12, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 1},
		{"leaf", ELFMAKE_ADDR + 0x200, 0x01, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 1},
	};
	static const uint8_t spin[] = {
		0xff, 0xc9,			    /* 0x00 decl %ecx */
		0x75, 0xfc,			    /* 0x02 jne 0x00 */
		0x8b, 0x05, 0x00, 0x10, 0x00, 0x00, /* 0x04 movl 0x1000(%rip),%eax */
		0xe8, 0xf1, 0x00, 0x00, 0x00,	    /* 0x0a callq leaf */
		0xeb, 0xef,			    /* 0x0f jmp 0x00 */
		0xc3,				    /* 0x11 retq */
	};
	const struct elfmake m = {.symtab = symbols, .n_symtab = 2};
	elfmake_file(&m, path);
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, spin, sizeof(spin), ELFMAKE_TEXT + 0x100), sizeof(spin));
	close(fd);
}

/* Adds a host record of here and now: so its programs are the installed ones. */
static void put_host(struct synth *s)
{
	struct record_host host = {.clock_ns = clock_ns(CLOCK_MONOTONIC),
				   .wall_ns = clock_ns(CLOCK_REALTIME),
				   .cpus = 1,
				   .cpus_online = 1,
				   .machine = "x86_64",
				   .targets = "all CPUs",
				   .method = "perf ring"};
	struct utsname u;

	assert_int_equal(uname(&u), 0);
	snprintf(host.release, sizeof(host.release), "%s", u.release);
	synth_record(s, RECORD_HOST, 0, &host, sizeof(host));
}

static void code_of_programs_is_shown(void **state)
{
	struct asked *w = *state;
	char dir[] = "/tmp/kontend-annotate-XXXXXX", path[64];
	const uint64_t at = ELFMAKE_ADDR + 0x102;
	struct synth_chain c = {.user = &at, .n_user = 1};
	struct error err = {0};
	uint64_t start;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/app", dir);
	make_program(path);
	begin(w, SYNTH_X86_64);
	put_host(w->rig.synth);
	synth_mmap(w->rig.synth, 0, START, PID, ELFMAKE_ADDR, ELFMAKE_LEN, ELFMAKE_TEXT, path);
	synth_sample(w->rig.synth, 0, START + MS, PID, TID, MS, c);
	play(w);
	/* Asking has the file loaded. */
	query_annotate_find(&w->q, "spin", &start, &err);
	while (query_load_names(&w->q, MS))
		;
	assert_int_equal(query_annotate_find(&w->q, "spin", &start, &err), 0);
	struct query_annotate a = annotate(w, start);
	unlink(path);
	rmdir(dir);
	assert_string_equal(a.source, path);
	assert_false(a.waits || a.live || a.loading);
	assert_int_equal(map_frame_offset(a.start), ELFMAKE_TEXT + 0x100);
	assert_int_equal(a.n, 6);
	assert_int_equal(line_at(&a, 0x02)->samples, 1);
	expect(&a, 0x02, "jne    +0x0");
	expect(&a, 0x04, "movl   0x1000(%rip),%eax");
	expect(&a, 0x0a, "callq  leaf");
	assert_int_equal(map_frame_offset(line_at(&a, 0x0a)->target), ELFMAKE_TEXT + 0x200);
	expect(&a, 0x0f, "jmp    +0x0");
	a = annotate(w, line_at(&a, 0x0a)->target);
	assert_string_equal(a.symbol, "leaf");
}

/* A function, filling, and something else up to the next symbol. */
static int read_code(void *ctx, uint64_t addr, void *ret, size_t n, size_t *ret_n)
{
	static const uint8_t ends[] = {0x31, 0xc0, 0xc3, 0xcc}; /* xorl, retq, int3 */
	uint8_t *p = ret;

	(void)addr;
	memset(p, 0xcc, n);
	if (*(const bool *)ctx)
		memcpy(p, ends, sizeof(ends));
	memset(p + 64, 0x90, n - 64);
	*ret_n = n;
	return 0;
}

static void code_ends_where_the_function_does(void **state)
{
	struct asked *w = *state;
	bool has_code = true;
	struct codesource code = {.name = "memory", .read = read_code, .ctx = &has_code};

	rig_init(&w->rig, 1);
	synth_profile(w->rig.synth);
	put_host(w->rig.synth);
	sample(w, 1, synth_addr(SYNTH_PIPE_READ));
	play(w);
	w->rig.engine.code = &code;
	struct query_annotate a = annotate(w, synth_addr(SYNTH_PIPE_READ));
	assert_string_equal(a.source, "memory");
	assert_true(a.live);
	assert_int_equal(a.size, 3);
	assert_int_equal(a.n, 2);
	has_code = false;
	a = annotate(w, synth_addr(SYNTH_PIPE_READ));
	assert_null(a.source);
	assert_non_null(a.why);
}

static int read_noise(void *ctx, uint64_t addr, void *ret, size_t n, size_t *ret_n)
{
	uint32_t *seed = ctx;
	uint8_t *p = ret;

	(void)addr;
	*ret_n = n < 600 ? n : 600;
	for (size_t i = 0; i < *ret_n; i++) {
		*seed = *seed * 1664525u + 1013904223u;
		/* Many short jumps, to places inside. */
		p[i] = (uint8_t)(*seed >> 29 ? *seed >> 16 : 0x70 | (*seed >> 16 & 15));
	}
	return 0;
}

/* Lines follow each other without a gap, and what jumps within the function meets one. */
static void any_bytes_are_lines(void **state)
{
	struct asked *w = *state;
	uint32_t seed = 11;
	struct codesource code = {.name = "noise", .read = read_noise, .ctx = &seed};
	size_t jumps = 0;

	rig_init(&w->rig, 1);
	synth_profile(w->rig.synth);
	put_host(w->rig.synth);
	sample(w, 1, synth_addr(SYNTH_PIPE_READ));
	play(w);
	w->rig.engine.code = &code;
	for (int round = 0; round < 100; round++) {
		query_begin(&w->q);
		struct query_annotate a = annotate(w, synth_addr(SYNTH_PIPE_READ));
		uint64_t at = 0;
		for (size_t i = 0; i < a.n; i++) {
			char buf[QUERY_ANNOTATE_TEXT];
			assert_int_equal(a.lines[i].offset, at);
			assert_true(*query_annotate_text(&a.lines[i], buf));
			at += a.lines[i].length;
			if (!a.lines[i].jumps)
				continue;
			assert_int_equal(line_at(&a, a.lines[i].jump)->offset, a.lines[i].jump);
			jumps++;
		}
		assert_true(at <= a.size);
	}
	assert_true(jumps > 0);
}

static void wait_below(struct asked *w, uint64_t ms, uint64_t ns, const uint64_t *frames,
		       uint32_t n)
{
	synth_begin(w->rig.synth, 0, START + ms * MS, PID, TID, LOCK, LCB_F_WRITE, frames, n);
	synth_end(w->rig.synth, 0, START + ms * MS + ns, PID, TID, LOCK, 0);
}

static const char *path_of(struct asked *w)
{
	const struct query_scope all = {0};
	uint64_t start;
	int r = query_annotate_path(&w->q, &all, &start);

	if (r == -ENOENT)
		return "none";
	assert_int_equal(r, 0);
	struct query_annotate a;
	struct error err = {0};
	assert_int_equal(query_annotate(&w->q, start, &a, &err), 0);
	return a.symbol;
}

static const uint64_t *chain_of(enum synth_address slow, enum synth_address fast)
{
	static uint64_t chain[4];

	chain[0] = synth_addr(SYNTH_TRACEITER_BEGIN);
	chain[1] = synth_addr(slow);
	chain[2] = synth_addr(fast);
	chain[3] = synth_addr(SYNTH_VM_MMAP_PGOFF);
	return chain;
}

static void without_samples_the_code_with_most_waits_is_meant(void **state)
{
	struct asked *w = *state;

	begin(w, SYNTH_X86_64);
	wait_below(w, 1, MS, chain_of(SYNTH_MUTEX_LOCK_SLOWPATH, SYNTH_MUTEX_LOCK), 4);
	wait_below(w, 5, 2 * MS,
		   chain_of(SYNTH_RWSEM_DOWN_WRITE_SLOWPATH, SYNTH_DOWN_WRITE_KILLABLE), 4);
	play(w);
	assert_string_equal(path_of(w), "rwsem_down_write_slowpath");
}

static void with_samples_the_code_that_has_most_is_meant(void **state)
{
	struct asked *w = *state;

	begin(w, SYNTH_X86_64);
	wait_below(w, 1, MS, chain_of(SYNTH_MUTEX_LOCK_SLOWPATH, SYNTH_MUTEX_LOCK), 4);
	/* Of other locks, and of no lock. */
	sample(w, 2, SYNTH_CODE + SYNTH_X86_TAKEN);
	sample(w, 3, SYNTH_CODE + SYNTH_X86_TAKEN);
	sample(w, 4, synth_addr(SYNTH_VM_MMAP_PGOFF));
	sample(w, 5, synth_addr(SYNTH_MUTEX_LOCK));
	play(w);
	assert_string_equal(path_of(w), "mutex_lock");
}

static void without_waits_there_is_no_path(void **state)
{
	struct asked *w = *state;
	const uint64_t only = synth_addr(SYNTH_VM_MMAP_PGOFF);

	begin(w, SYNTH_X86_64);
	wait_below(w, 1, MS, &only, 1);
	sample(w, 5, synth_addr(SYNTH_MUTEX_LOCK));
	play(w);
	assert_string_equal(path_of(w), "none");
}

static void every_allocation_may_fail(void **state)
{
	const struct query_scope all = {0};
	struct asked *w = *state;
	uint64_t start;

	begin(w, SYNTH_X86_64);
	wait_below(w, 1, MS, chain_of(SYNTH_MUTEX_LOCK_SLOWPATH, SYNTH_MUTEX_LOCK), 4);
	play(w);
	for (long n = 0;; n++) {
		query_deinit(&w->q);
		assert_int_equal(query_init(&w->q, &w->rig.engine), 0);
		mem_fail_after(n);
		int r = query_annotate_path(&w->q, &all, &start);
		bool enough = mem_count() <= n;
		mem_fail_after(-1);
		assert_true(r == 0 || r == -ENOMEM);
		if (enough)
			break;
	}
}

#define ON_STREAM(f) cmocka_unit_test_setup_teardown(f, asked_setup_empty, asked_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_STREAM(operands_and_targets_are_named),
		ON_STREAM(code_of_arm64_is_shown),
		ON_STREAM(code_of_programs_is_shown),
		ON_STREAM(code_ends_where_the_function_does),
		ON_STREAM(any_bytes_are_lines),
		ON_STREAM(without_samples_the_code_with_most_waits_is_meant),
		ON_STREAM(with_samples_the_code_that_has_most_is_meant),
		ON_STREAM(without_waits_there_is_no_path),
		ON_STREAM(every_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
