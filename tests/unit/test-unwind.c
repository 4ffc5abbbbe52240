// SPDX-License-Identifier: GPL-2.0-only
/* Stacks of this program out of a dump, compared with where its functions know they return to. */
#include "../../src/sym/unwind/internal.h"
#include "kontend/mem.h"
#include "loadall.h"
#include "stackshot.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { FRAMES = 3000 };
#if defined(__x86_64__)
enum { IS_X86 = 1 };
#else
enum { IS_X86 = 0 };
#endif

static struct usersyms *files;
static struct unwind *unwinder;
static struct unwind_space *space;
static struct stackshot shot;
static struct unwind_frame frames[FRAMES];

static enum unwind_way way;

static int begin(void **state)
{
	struct usersyms_config c = {.same_machine = true};
	struct unwind_config how = {.way = way};
	struct error err = {0};

	(void)state;
	assert_int_equal(usersyms_new(&files, &c, &err), 0);
	if (unwind_new(&unwinder, files, &how, &err) < 0) {
		printf("%s\n", err.text);
		unwinder = NULL;
		space = NULL;
		return 0;
	}
	return unwind_space_new(&space, unwinder);
}

static int end(void **state)
{
	(void)state;
	unwind_space_free(space);
	unwind_free(unwinder);
	usersyms_free(files);
	return mem_live() ? 1 : 0;
}

static void take_stack(unsigned depth)
{
	if (!unwinder || !stackshot_take(&shot, files, depth))
		skip();
	unwind_space_set(space, shot.maps, shot.n_maps);
}

static size_t check_prefix(const struct unwind_sample *s, size_t most, enum unwind_end *ret_end)
{
	size_t n = unwind_stack(space, s, frames, most, ret_end);

	assert_true(n >= 1 && n <= most);
	for (size_t i = 1; i < n && i - 1 < shot.n; i++)
		assert_int_equal(frames[i].ip, shot.truth[i - 1]);
	return n;
}

static void test_whole(void **state)
{
	enum unwind_end e;
	struct usersym sym;

	(void)state;
	take_stack(20);
	struct unwind_sample s = stackshot_sample(&shot);
	/* Once as it comes, once from the cache. */
	for (int i = 0; i < 2; i++) {
		size_t n = check_prefix(&s, FRAMES, &e);
		assert_int_equal(e, UNWIND_DONE);
		assert_true(n > shot.n);
	}
	for (size_t i = 0; i < 10; i++) {
		assert_true(frames[i].is_known);
		usersyms_lookup(files, frames[i].object, frames[i].file_offset, &sym);
		load_all(files);
		assert_int_equal(
			usersyms_lookup(files, frames[i].object, frames[i].file_offset, &sym),
			USERSYM_OK);
		assert_string_equal(sym.name, i ? "nest" : "innermost");
	}
}

/* Tables that have no room are read again when a stack has code of theirs. */
static void test_tables_are_bounded(void **state)
{
	enum unwind_end e;

	(void)state;
	take_stack(20);
	struct unwind_sample s = stackshot_sample(&shot);
	size_t n = check_prefix(&s, FRAMES, &e);
	assert_int_equal(unwind_tidy(unwinder, SIZE_MAX), 0);
	unwind_space_set(space, NULL, 0);
	assert_true(unwind_tidy(unwinder, 1) > 0);
	assert_int_equal(unwind_tidy(unwinder, 1), 0);
	unwind_space_set(space, shot.maps, shot.n_maps);
	assert_int_equal(check_prefix(&s, FRAMES, &e), n);
	assert_int_equal(e, UNWIND_DONE);
}

enum { REG_FP = 6, REG_SP = 7, REG_IP = 8 }; /* of perf, on x86-64 */

static uint64_t register_of(unsigned reg)
{
	return shot.regs[__builtin_popcountll(shot.mask & ((1ull << reg) - 1))];
}

static bool word_at(uint64_t addr, uint64_t *ret)
{
	uint64_t into = addr - register_of(REG_SP);

	if (into > shot.len - sizeof(*ret))
		return false;
	memcpy(ret, shot.stack + into, sizeof(*ret));
	return true;
}

/* Rules alone lead from caller to caller, as tables do. */
static void test_rules(void **state)
{
	uint64_t sp, fp, ip;
	size_t n = 0;

	(void)state;
	take_stack(20);
	sp = register_of(REG_SP);
	fp = register_of(REG_FP);
	ip = register_of(REG_IP);
	for (; n < shot.n; n++) {
		struct unwind_rule r;
		/* The address after a call may be in another function. */
		int code = unwind_rule_of(space, n ? ip - 1 : ip, &r);
		if (code == -ENOTSUP && !n)
			skip();
		assert_int_equal(code, 0);
		assert_true(r.kind == UNWIND_RULE_SP || r.kind == UNWIND_RULE_FP);
		uint64_t frame = (r.kind == UNWIND_RULE_SP ? sp : fp) + (uint64_t)r.frame;
		assert_true(frame > sp);
		assert_false(r.in_link);
		assert_true(word_at(frame + (uint64_t)r.ret, &ip));
		if (!r.fp_unchanged)
			assert_true(word_at(frame + (uint64_t)r.fp, &fp));
		sp = frame;
		assert_int_equal(ip, shot.truth[n]);
	}
	assert_true(n > 10);
}

static void test_no_rules(void **state)
{
	struct unwind_rule r;

	(void)state;
	take_stack(1);
	assert_int_equal(unwind_rule_of(space, 1, &r), -ENXIO);
	assert_int_equal(unwind_rule_of(space, UINT64_MAX, &r), -ENXIO);
}

static void test_cut(void **state)
{
	enum unwind_end e;
	size_t last = 0;

	(void)state;
	take_stack(20);
	struct unwind_sample s = stackshot_sample(&shot);
	for (size_t len = 0; len < 4096 && len < shot.len; len += 56) {
		s.stack_len = len;
		size_t n = check_prefix(&s, FRAMES, &e);
		if (e == UNWIND_DONE)
			break;
		assert_int_equal(e, UNWIND_CUT);
		assert_true(n >= last);
		last = n;
	}
	assert_true(last > 1);
}

static void test_deep(void **state)
{
	enum unwind_end e;

	(void)state;
	take_stack(STACKSHOT_DEPTH - 10);
	struct unwind_sample s = stackshot_sample(&shot);
	assert_int_equal(check_prefix(&s, 127, &e), 127);
	assert_int_equal(e, UNWIND_MOST);
	size_t n = check_prefix(&s, FRAMES, &e);
	assert_true(n > 300);
	assert_true(e == UNWIND_CUT || e == UNWIND_DONE);
}

static void test_no_maps(void **state)
{
	enum unwind_end e;

	(void)state;
	take_stack(5);
	struct unwind_sample s = stackshot_sample(&shot);
	unwind_space_set(space, NULL, 0);
	size_t n = unwind_stack(space, &s, frames, FRAMES, &e);
	assert_true(n >= 1 && e != UNWIND_DONE);
	assert_false(frames[0].is_known);
}

static void test_no_registers(void **state)
{
	enum unwind_end e;

	(void)state;
	take_stack(5);
	struct unwind_sample s = stackshot_sample(&shot);
	s.regs_mask = 0;
	assert_int_equal(unwind_stack(space, &s, frames, FRAMES, &e), 0);
	assert_int_equal(e, UNWIND_BAD);
}

/* A frame that is its own caller, in code without tables. */
static void test_loop(void **state)
{
	static const uint64_t stack[] = {0x7000, 0x1234, 0x7000, 0x1234};
	uint64_t regs[33];
	struct unwind_sample s = {UINT64_MAX >> 31, regs, stack, sizeof(stack)};
	enum unwind_end e;

	(void)state;
	take_stack(5);
	for (size_t i = 0; i < 33; i++)
		regs[i] = 0x7000;
	unwind_space_set(space, NULL, 0);
	assert_in_range(unwind_stack(space, &s, frames, FRAMES, &e), 1, 3);
	assert_int_not_equal(e, UNWIND_DONE);
}

/* Code that a compiler made while the program ran: no file, no tables, but frame pointers. */
static void test_compiled(void **state)
{
	/* The word at the top is an address that can be read, but no call has put it there. */
	static const uint64_t stack[] = {0x7010, 0, 0, 0, 0x7040, 0x10111, 0, 0, 0, 0x10222, 0, 0};
	static const struct unwind_map code = {0x10000, 0x20000, 0, UNWIND_NO_OBJECT};
	enum { BP = 6, SP = 7, IP = 8 };
	const uint64_t regs[] = {0x7020, 0x7000, 0x10008};
	struct unwind_sample s = {1 << BP | 1 << SP | 1 << IP, regs, stack, sizeof(stack)};
	enum unwind_end e;

	(void)state;
	if (!unwinder || way != UNWIND_LIBUNWIND || !IS_X86)
		skip();
	unwind_space_set(space, &code, 1);
	size_t n = unwind_stack(space, &s, frames, FRAMES, &e);
	assert_in_range(n, 3, 4);
	assert_int_equal(frames[1].ip, 0x10111);
	assert_int_equal(frames[2].ip, 0x10222);
	assert_int_not_equal(e, UNWIND_CUT);
}

static void test_garbage(void **state)
{
	uint64_t seed = 1;
	enum unwind_end e;

	(void)state;
	take_stack(50);
	struct unwind_sample s = stackshot_sample(&shot);
	for (int round = 0; round < 300; round++) {
		for (int i = 0; i < 64; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			size_t at = (seed >> 33) % (shot.len < 8192 ? shot.len : 8192);
			shot.stack[at] = (uint8_t)(seed >> 20);
		}
		shot.regs[(seed >> 40) % 9] ^= seed >> 45;
		assert_true(unwind_stack(space, &s, frames, FRAMES, &e) <= FRAMES);
		assert_true(strlen(unwind_reason(e)) > 0);
	}
}

/* "libunwind" or "libdw" */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_tables_are_bounded),
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_no_rules),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_no_maps),
		cmocka_unit_test(test_no_registers),
		cmocka_unit_test(test_loop),
		cmocka_unit_test(test_compiled),
		cmocka_unit_test(test_garbage),
	};

	way = argc > 1 && !strcmp(argv[1], "libdw") ? UNWIND_LIBDW : UNWIND_LIBUNWIND;
	return cmocka_run_group_tests(tests, begin, end);
}
