// SPDX-License-Identifier: GPL-2.0-only
/*
 * Callers of code without tables, by its instructions: of functions as compilers of musl and Go
 * write them, and of this program and its libraries, whose tables say the same.
 */
#include "../../src/sym/unwind/internal.h"
#include "kontend/mem.h"
#include "kontend/uprobe.h"
#include "stackshot.h"

#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { IS_SANITIZED = 1 };
#else
enum { IS_SANITIZED = 0 };
#endif

struct piece {
	const char *what;
	const char *bytes;
	size_t n, at; /* where it continues */
	int code;
	struct unwind_rule rule;
};

#define BYTES(s) (s), sizeof(s) - 1
#define BY_SP(n)                                                                                   \
	{                                                                                          \
		.kind = UNWIND_RULE_SP, .frame = (n), .ret = -8, .fp_unchanged = true              \
	}
#define BY_SP_FP(n, m)                                                                             \
	{                                                                                          \
		.kind = UNWIND_RULE_SP, .frame = (n), .ret = -8, .fp = (m)                         \
	}
#define BY_FP(n, m)                                                                                \
	{                                                                                          \
		.kind = UNWIND_RULE_FP, .frame = (n), .ret = -8, .fp = (m)                         \
	}

static const struct piece pieces[] = {
	{"flock of musl, a call after the system call",
	 BYTES("\x0f\x05\x48\x89\xc7\xe8\x00\x00\x00\x00\x48\x83\xc4\x08\xc3"), 2, 0, BY_SP(16)},
	{"a leaf", BYTES("\x0f\x05\xc3"), 2, 0, BY_SP(8)},
	{"registers and room", BYTES("\x48\x83\xc4\x10\x5b\x5d\x41\x5c\xc3"), 0, 0,
	 BY_SP_FP(48, -24)},
	{"room of 4096 bytes", BYTES("\x48\x81\xc4\x00\x10\x00\x00\xc3"), 0, 0, BY_SP(4104)},
	{"words for a call", BYTES("\x6a\x00\x6a\x01\xe8\x00\x00\x00\x00\x48\x83\xc4\x18\xc3"), 0,
	 0, BY_SP(16)},
	{"a branch is not taken", BYTES("\x75\x05\x48\x8d\x64\x24\x08\xc3"), 0, 0, BY_SP(16)},
	{"a jump", BYTES("\xeb\x02\xcc\xcc\x58\xc3"), 0, 0, BY_SP(16)},
	{"leave", BYTES("\xc9\xc3"), 0, 0, BY_FP(16, -16)},
	{"below the frame pointer", BYTES("\x48\x8d\x65\xf0\x5b\x41\x5c\x5d\xc3"), 0, 0,
	 BY_FP(16, -16)},
	{"Go", BYTES("\x48\x83\xc4\x20\x5d\xc3"), 0, 0, BY_SP_FP(48, -16)},
	{"a return that takes words", BYTES("\xc2\x10\x00"), 0, 0, BY_SP(8)},
	{"a stack that is aligned", BYTES("\x48\x83\xe4\xf0\xc3"), 0, -ENOENT, {0}},
	{"another stack", BYTES("\x48\x89\xfc\xc3"), 0, -ENOENT, {0}},
	{"a stack that is popped", BYTES("\x5c\xc3"), 0, -ENOENT, {0}},
	{"a jump by a table", BYTES("\xff\xe0\xc3"), 0, -ENOENT, {0}},
	{"no end", BYTES("\xeb\xfe"), 0, -ENOENT, {0}},
	{"no instruction", BYTES("\x06\xc3"), 0, -ENOENT, {0}},
	{"it is cut", BYTES("\x48\x83"), 0, -ENOENT, {0}},
	{"a call that does not return, before a function",
	 BYTES("\xe8\x00\x00\x00\x00\x0f\x1f\x40\x00\x55\x5d\xc3"),
	 0,
	 -ENOENT,
	 {0}},
	{"it never goes on", BYTES("\x0f\x0b\xc3"), 0, -ENOENT, {0}},
	{"more is popped than there can be", BYTES("\x48\x83\xec\x10\xc3"), 0, -ENOENT, {0}},
};

struct bytes {
	const uint8_t *p;
	size_t n;
};

static size_t read_bytes(void *ctx, uint64_t at, void *ret, size_t n)
{
	const struct bytes *b = ctx;

	if (at >= b->n)
		return 0;
	n = b->n - at < n ? b->n - (size_t)at : n;
	memcpy(ret, b->p + at, n);
	return n;
}

static void test_pieces(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
		const struct piece *p = &pieces[i];
		struct bytes b = {(const uint8_t *)p->bytes, p->n};
		const struct unwind_code code = {read_bytes, &b};
		struct unwind_rule r = {0};

		if (unwind_rule_by_code(&code, p->at, &r) != p->code || r.kind != p->rule.kind ||
		    r.frame != p->rule.frame || r.ret != p->rule.ret || r.fp != p->rule.fp ||
		    r.fp_unchanged != p->rule.fp_unchanged || r.in_link)
			fail_msg("%s: kind %d, %d bytes, return at %d, frame pointer at %d",
				 p->what, r.kind, r.frame, r.ret, r.fp);
	}
}

static void test_goes_on(void **state)
{
	static const struct {
		const char *bytes;
		bool is_call;
	} ends[] = {
		{"\x90\x90\x90\xe8\x01\x02\x03\x04", true}, /* a function */
		{"\x90\x90\x90\x90\x90\x90\xff\xd0", true}, /* %rax */
		{"\x90\x90\xff\x15\x01\x02\x03\x04", true}, /* a word of the file */
		{"\x90\x90\x90\x90\x90\xff\x53\x10", true}, /* of %rbx */
		{"\x90\x90\x90\x90\x90\x90\x0f\x05", false},
		{"\x90\x90\x90\x90\x90\x90\xff\xe0", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		struct bytes b = {(const uint8_t *)ends[i].bytes, 8};
		const struct unwind_code code = {read_bytes, &b};
		assert_int_equal(unwind_goes_on(&code, 7), 7 + ends[i].is_call);
	}
	struct bytes none = {NULL, 0};
	const struct unwind_code code = {read_bytes, &none};
	assert_int_equal(unwind_goes_on(&code, 3), 3);
	assert_int_equal(unwind_goes_on(&code, 30), 30);
}

struct sums {
	unsigned calls, found, same;
};

/* After each call of a mapping. */
static void compare(struct unwind_space *space, const struct unwind_map *m, struct sums *s)
{
	struct bytes b = {(const uint8_t *)m->start, m->end - m->start};
	const struct unwind_code code = {read_bytes, &b};

	for (size_t at = 0, len = 1; at + 16 < b.n; at += len ? len : 1) {
		struct unwind_rule table, own;
		len = uprobe_x86_length(b.p + at, 16);
		if (len != 5 || b.p[at] != 0xe8 ||
		    unwind_rule_of(space, m->start + at + len - 1, &table) < 0)
			continue;
		s->calls++;
		if (unwind_rule_by_code(&code, at + len, &own) < 0)
			continue;
		s->found++;
		/* Either register may be said to be below it. */
		s->same += own.kind != table.kind || own.frame == table.frame;
	}
}

static void test_like_tables(void **state)
{
	struct usersyms_config c = {.same_machine = true};
	struct unwind_config how = {.way = UNWIND_BEST};
	static struct stackshot shot;
	struct unwind_space *space;
	struct usersyms *files;
	struct unwind *u;
	struct error err = {0};
	struct sums s = {0};

	(void)state;
	/* Their calls that report faults do not return. */
	if (IS_SANITIZED)
		skip();
	assert_int_equal(usersyms_new(&files, &c, &err), 0);
	if (unwind_new(&u, files, &how, &err) < 0 || !stackshot_take(&shot, files, 1)) {
		usersyms_free(files);
		skip();
	}
	assert_int_equal(unwind_space_new(&space, u), 0);
	unwind_space_set(space, shot.maps, shot.n_maps);
	for (size_t i = 0; i < shot.n_maps; i++)
		if (shot.maps[i].object != UNWIND_NO_OBJECT && !(shot.maps[i].start >> 47))
			compare(space, &shot.maps[i], &s);
	printf("%u calls, %u with a caller by instructions, %u as by tables\n", s.calls, s.found,
	       s.same);
	unwind_space_free(space);
	unwind_free(u);
	usersyms_free(files);
	if (!s.calls)
		skip(); /* built without libdw */
	assert_true(s.found > s.calls / 4);
	assert_true(s.same > s.found - s.found / 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_goes_on),
		cmocka_unit_test(test_like_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
