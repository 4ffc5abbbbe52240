// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/disasm.h"

#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct disasm *open_for(enum disasm_machine m)
{
	struct disasm *d = NULL;
	struct error err = {0};
	int code = disasm_open(&d, m, &err);

	if (code == -ENOTSUP) {
		printf("%s\n", err.text);
		skip();
	}
	assert_int_equal(code, 0);
	return d;
}

struct expect {
	uint8_t bytes[12];
	uint8_t n;
	const char *text;
	enum disasm_kind kind;
	uint64_t target, data;
};

static void check(struct disasm *d, const struct expect *e, uint64_t address)
{
	struct disasm_line l;

	assert_true(disasm_line(d, e->bytes, e->n, 0, address, &l));
	assert_string_equal(l.text, e->text);
	assert_int_equal(l.length, e->n);
	assert_memory_equal(l.bytes, e->bytes, e->n);
	assert_int_equal(l.kind, e->kind);
	assert_int_equal(l.has_target, e->target != 0);
	assert_int_equal(l.target, e->target);
	assert_int_equal(l.has_data, e->data != 0);
	assert_int_equal(l.data, e->data);
	assert_int_equal(l.operands ? l.text[l.operands - 1] == ' ' || !l.text[l.operands] : 1, 1);
	assert_false(disasm_line(d, e->bytes, e->n, e->n, address, &l));
}

static void test_x86(void **state)
{
	static const struct expect list[] = {
		{{0xf0, 0x48, 0x0f, 0xb1, 0x17}, 5, "lock cmpxchgq %rdx,(%rdi)"},
		{{0x48, 0x8b, 0x07}, 3, "movq (%rdi),%rax"},
		{{0xf3, 0x90}, 2, "pause"},
		{{0xe8, 0x00, 0x01, 0x00, 0x00}, 5, "callq 0x1105", DISASM_CALL, 0x1105},
		{{0x75, 0xec}, 2, "jne 0xfee", DISASM_JUMP, 0xfee},
		{{0xeb, 0x02}, 2, "jmp 0x1004", DISASM_JUMP, 0x1004},
		{{0xff, 0xe0}, 2, "jmpq *%rax", DISASM_JUMP},
		{{0xc3}, 1, "retq", DISASM_RETURN},
		{{0x48, 0x8b, 0x05, 0x10, 0, 0, 0}, 7, "movq 0x10(%rip),%rax", 0, 0, 0x1017},
		{{0x0f, 0x0b}, 2, "ud2"},
	};
	struct disasm *d = open_for(DISASM_X86_64);

	(void)state;
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		check(d, &list[i], 0x1000);
	disasm_close(d);
}

static void test_arm64(void **state)
{
	static const struct expect list[] = {
		{{0x00, 0x7c, 0x5f, 0x88}, 4, "ldxr w0,[x0]"},
		{{0x40, 0x00, 0x00, 0x94}, 4, "bl #0x1100", DISASM_CALL, 0x1100},
		{{0xe1, 0xff, 0xff, 0x54}, 4, "b.ne #0xffc", DISASM_JUMP, 0xffc},
		{{0x40, 0x00, 0x00, 0x37}, 4, "tbnz w0,#0,#0x1008", DISASM_JUMP, 0x1008},
		{{0xc0, 0x03, 0x5f, 0xd6}, 4, "ret", DISASM_RETURN},
		{{0xff, 0xff, 0xff, 0xff}, 4, "(bad)", DISASM_UNKNOWN},
	};
	struct disasm *d = open_for(DISASM_ARM64);

	(void)state;
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		check(d, &list[i], 0x1000);
	disasm_close(d);
}

/* An unknown instruction is skipped as a whole, and the next one is read correctly. */
static void test_unknown(void **state)
{
	/* An AVX-512 VBMI instruction or a bad opcode, cut: whatever it is, the end is reached. */
	static const uint8_t bad[] = {0x06, 0xc3, 0x0f, 0xff};
	struct disasm *d = open_for(DISASM_X86_64);
	struct disasm_line l;
	size_t at = 0, n = 0;

	(void)state;
	assert_true(disasm_line(d, bad, sizeof(bad), 0, 0, &l));
	assert_int_equal(l.kind, DISASM_UNKNOWN);
	assert_int_equal(l.length, 1);
	for (; disasm_line(d, bad, sizeof(bad), at, 0, &l); at += l.length, n++)
		assert_true(l.length > 0 && at + l.length <= sizeof(bad));
	assert_int_equal(at, sizeof(bad));
	assert_true(n >= 3);
	disasm_close(d);
}

static void test_machines(void **state)
{
	struct disasm *d = NULL;
	struct error err = {0};

	(void)state;
	assert_int_equal(disasm_open(&d, DISASM_OTHER, &err), -ENOTSUP);
	assert_true(strlen(err.text) > 0);
	disasm_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x86),
		cmocka_unit_test(test_arm64),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_machines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
