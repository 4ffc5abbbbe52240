// SPDX-License-Identifier: GPL-2.0-only
/* Encodings are those that GNU as makes of the text beside them. */
#include "kontend/uprobe.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct uprobe_kernel old = {0}, new = {true, true};

struct x86 {
	const char *bytes, *text;
	size_t len;
	enum upsnap_class on_old, on_new;
};

#define U UPSNAP_CLASS_UNKNOWN
#define O UPSNAP_OPTIMIZED
#define E UPSNAP_EMULATED
#define L UPSNAP_OUT_OF_LINE

static const struct x86 x86[] = {
	{"\x90", "nop", 1, E, E},
	{"\x66\x90", "xchg %ax,%ax", 2, E, E},
	{"\xf3\x90", "pause", 2, E, E},
	{"\x41\x90", "xchg %r8d,%eax", 2, L, L},
	{"\x0f\x1f\x00", "nopl (%rax)", 3, L, E},
	{"\x0f\x1f\x44\x00\x00", "nopl 0(%rax,%rax)", 5, L, O},
	{"\x66\x0f\x1f\x44\x00\x00", "nopw 0(%rax,%rax)", 6, L, E},
	{"\x55", "push %rbp", 1, E, E},
	{"\x41\x57", "push %r15", 2, E, E},
	{"\x48\x55", "rex.W push %rbp", 2, L, L},
	{"\x6a\x05", "push $5", 2, L, L},
	{"\xff\x35\x01\x02\x03\x04", "push 0x4030201(%rip)", 6, L, L},
	{"\xe8\x01\x02\x03\x04", "call", 5, E, E},
	{"\xe9\x01\x02\x03\x04", "jmp", 5, E, E},
	{"\xeb\x05", "jmp", 2, E, E},
	{"\x74\x05", "je", 2, E, E},
	{"\x0f\x84\x01\x02\x03\x04", "je", 6, E, E},
	{"\x66\xe9\x01\x02\x03\x04", "data16 jmp", 6, U, U},
	{"\xff\xd0", "call *%rax", 2, L, L},
	{"\xff\x24\xc5\x01\x02\x03\x04", "jmp *0x4030201(,%rax,8)", 7, L, L},
	{"\xe2\x05", "loop", 2, L, L},
	{"\xc3", "ret", 1, L, L},
	{"\xf3\xc3", "repz ret", 2, L, L},
	{"\xc2\x08\x00", "ret $8", 3, L, L},
	{"\xc9", "leave", 1, L, L},
	{"\xf3\x0f\x1e\xfa", "endbr64", 4, L, L},
	{"\x48\x83\xec\x18", "sub $0x18,%rsp", 4, L, L},
	{"\x48\x81\xec\x00\x01\x00\x00", "sub $0x100,%rsp", 7, L, L},
	{"\x48\x89\xe5", "mov %rsp,%rbp", 3, L, L},
	{"\x48\x8b\x05\x01\x02\x03\x04", "mov 0x4030201(%rip),%rax", 7, L, L},
	{"\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08", "movabs $0x807060504030201,%rax", 10, L, L},
	{"\x66\xb8\x01\x02", "mov $0x201,%ax", 4, L, L},
	{"\xb8\x01\x02\x03\x04", "mov $0x4030201,%eax", 5, L, L},
	{"\xc7\x44\x24\x08\x01\x02\x03\x04", "movl $0x4030201,8(%rsp)", 8, L, L},
	{"\x66\xc7\x04\x25\x01\x02\x03\x04\x05\x06", "movw $0x605,0x4030201", 10, L, L},
	{"\xa1\x01\x02\x03\x04\x05\x06\x07\x08", "movabs 0x807060504030201,%eax", 9, L, L},
	{"\xf6\x00\x01", "testb $1,(%rax)", 3, L, L},
	{"\xf7\x00\x01\x02\x03\x04", "testl $0x4030201,(%rax)", 6, L, L},
	{"\xf7\xd8", "neg %eax", 2, L, L},
	{"\xc8\x10\x00\x00", "enter $0x10,$0", 4, L, L},
	{"\x0f\x05", "syscall", 2, L, L},
	{"\x0f\xa2", "cpuid", 2, L, L},
	{"\x0f\xba\xe0\x05", "bt $5,%eax", 4, L, L},
	{"\x66\x0f\x70\xc0\x01", "pshufd $1,%xmm0,%xmm0", 5, L, L},
	{"\x66\x0f\x38\x00\xc1", "pshufb %xmm1,%xmm0", 5, L, L},
	{"\x66\x0f\x3a\x0f\xc1\x02", "palignr $2,%xmm1,%xmm0", 6, L, L},
	{"\xc5\xf8\x77", "vzeroupper", 3, L, L},
	{"\xc5\xf9\x6f\x00", "vmovdqa (%rax),%xmm0", 4, L, L},
	{"\xc4\xe3\x7d\x39\xc1\x01", "vextracti128 $1,%ymm0,%xmm1", 6, L, L},
	{"\x62\xf1\xfd\x48\x6f\x00", "vmovdqa64 (%rax),%zmm0", 6, L, L},
	{"\x62\xf1\xfd\x48\x6f\x40\x01", "vmovdqa64 64(%rax),%zmm0", 7, L, L},
	{"\x64\x48\x8b\x04\x25\x28\x00\x00\x00", "mov %fs:0x28,%rax", 9, L, L},
	{"\x2e\x90", "cs nop", 2, U, U},
	{"\xf0\x48\xff\x00", "lock incq (%rax)", 4, U, U},
	{"\x06", "push %es, not in 64-bit mode", 0, U, U},
	{"\x0f\x04", "none", 0, U, U},
};

static void classes_of_x86(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(x86) / sizeof(*x86); i++) {
		const struct x86 *x = &x86[i];
		uint8_t bytes[16] = {0};
		struct uprobe_verdict v, w;
		size_t n = x->len ? x->len : 2;

		memcpy(bytes, x->bytes, n);
		uprobe_judge(UPROBE_X86_64, old, bytes, 16, 0x1000, &v);
		uprobe_judge(UPROBE_X86_64, new, bytes, 16, 0x1000, &w);
		if (v.len != x->len)
			fail_msg("%s: %u bytes, not %zu", x->text, v.len, x->len);
		if (v.class_ != x->on_old || w.class_ != x->on_new)
			fail_msg("%s: %s and %s", x->text, uprobe_class_name(v.class_),
				 uprobe_class_name(w.class_));
		assert_true(*v.reason != '\0');
	}
}

/* An instruction of which a part is missing has no length, and whatever bytes are no trouble. */
static void bytes_that_end(void **state)
{
	struct uprobe_verdict v;
	uint8_t bytes[16];
	uint32_t seed = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(x86) / sizeof(*x86); i++)
		for (size_t n = 0; n < x86[i].len; n++)
			assert_int_equal(uprobe_x86_length((const uint8_t *)x86[i].bytes, n), 0);
	for (int i = 0; i < 100000; i++) {
		for (size_t k = 0; k < sizeof(bytes); k++)
			bytes[k] = (uint8_t)((seed = seed * 1664525 + 1013904223) >> 24);
		size_t n = (size_t)i % 17;
		size_t len = uprobe_length(UPROBE_X86_64, bytes, n);
		assert_true(len <= n && len <= 15);
		uprobe_judge(UPROBE_X86_64, new, bytes, n, (uint64_t)i, &v);
		assert_int_equal(v.len, len);
		uprobe_judge(UPROBE_ARM64, new, bytes, n, (uint64_t)i, &v);
		uprobe_hint(UPROBE_X86_64, new, bytes, n, n / 2, 0x100, &v);
	}
	assert_int_equal(uprobe_length(UPROBE_OTHER, bytes, 16), 0);
}

static void a_nop_across_pages(void **state)
{
	static const uint8_t nop5[] = {0x0f, 0x1f, 0x44, 0, 0};
	struct uprobe_verdict v;

	(void)state;
	uprobe_judge(UPROBE_X86_64, new, nop5, 5, 0x1ffb, &v);
	assert_int_equal(v.class_, UPSNAP_OPTIMIZED);
	uprobe_judge(UPROBE_X86_64, new, nop5, 5, 0x1ffc, &v);
	assert_int_equal(v.class_, UPSNAP_EMULATED);
}

static void classes_of_arm64(void **state)
{
	static const struct {
		uint32_t insn;
		const char *text;
		enum upsnap_class on_old, on_new;
	} all[] = {
		{0xd503201f, "nop", L, E},
		{0xd503233f, "paciasp", L, L},
		{0xd503245f, "bti c", L, L},
		{0xa9bf7bfd, "stp x29, x30, [sp, #-16]!", L, L},
		{0xd10083ff, "sub sp, sp, #32", L, L},
		{0xf9400000, "ldr x0, [x0]", L, L},
		{0xd65f03c0, "ret", E, E},
		{0xd61f0200, "br x16", E, E},
		{0xd63f0020, "blr x1", E, E},
		{0x14000001, "b .+4", E, E},
		{0x97fffffe, "bl .-8", E, E},
		{0x54000040, "b.eq .+8", E, E},
		{0xb4000040, "cbz x0, .+8", E, E},
		{0x37080040, "tbnz w0, #1, .+8", E, E},
		{0x10000040, "adr x0, .+8", E, E},
		{0xb0000000, "adrp x0, .+4096", E, E},
		{0x58000040, "ldr x0, .+8", E, E},
		{0x98000040, "ldrsw x0, .+8", E, E},
		{0xc85f7c00, "ldxr x0, [x0]", U, U},
		{0xd4000001, "svc #0", U, U},
		{0xd69f03e0, "eret", U, U},
		{0x9c000040, "ldr q0, .+8", U, U},
		{0xd51bd040, "msr tpidr_el0, x0", U, U},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		uint32_t x = all[i].insn;
		uint8_t bytes[] = {(uint8_t)x, (uint8_t)(x >> 8), (uint8_t)(x >> 16),
				   (uint8_t)(x >> 24)};
		struct uprobe_verdict v, w;

		uprobe_judge(UPROBE_ARM64, old, bytes, 4, 0, &v);
		uprobe_judge(UPROBE_ARM64, new, bytes, 4, 0, &w);
		if (v.class_ != all[i].on_old || w.class_ != all[i].on_new)
			fail_msg("%s: %s and %s", all[i].text, uprobe_class_name(v.class_),
				 uprobe_class_name(w.class_));
		assert_int_equal(v.len, 4);
	}
}

static void hints(void **state)
{
	/* endbr64; push %rbp; mov %rsp,%rbp; nopl; sub $24,%rsp; ret; push %rbp */
	static const uint8_t code[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5, 0x0f, 0x1f,
				       0x44, 0x00, 0x00, 0x48, 0x83, 0xec, 0x18, 0xc3, 0x55};
	struct uprobe_verdict v;

	(void)state;
	assert_int_equal(uprobe_hint(UPROBE_X86_64, old, code, sizeof(code), 0, 0x100, &v), 4);
	assert_string_equal(v.what, "push %rbp");
	assert_int_equal(uprobe_hint(UPROBE_X86_64, old, code, sizeof(code), 4, 0x104, &v), 0);
	assert_int_equal(uprobe_hint(UPROBE_X86_64, old, code, sizeof(code), 5, 0x105, &v), 0);
	assert_int_equal(uprobe_hint(UPROBE_X86_64, new, code, sizeof(code), 5, 0x105, &v), 3);
	assert_int_equal(v.class_, UPSNAP_OPTIMIZED);
	/* Back to the nop before it, where nothing is won by going on. */
	assert_int_equal(uprobe_hint(UPROBE_X86_64, new, code, sizeof(code), 13, 0x10d, &v), -5);
	assert_int_equal(uprobe_hint(UPROBE_X86_64, old, code, sizeof(code), 13, 0x10d, &v), 0);
	/* The code after a ret is another function. */
	assert_int_equal(uprobe_hint(UPROBE_X86_64, new, code, sizeof(code), 17, 0x111, &v), 0);
}

static void releases(void **state)
{
	(void)state;
	assert_false(uprobe_kernel_of("6.12.1").simulates_nops);
	assert_true(uprobe_kernel_of("6.13.0-rc1").simulates_nops);
	assert_false(uprobe_kernel_of("6.17.9-arch1").optimizes);
	assert_true(uprobe_kernel_of("6.18.44-fc").optimizes);
	assert_true(uprobe_kernel_of("7.0").optimizes);
	assert_false(uprobe_kernel_of("").optimizes);
}

static void lines(void **state)
{
	struct uprobe_line l;

	(void)state;
	assert_true(uprobe_line_parse("p:probe_up/main /usr/bin/up:0x0000000000001340\n", &l));
	assert_string_equal(l.group, "probe_up");
	assert_string_equal(l.event, "main");
	assert_string_equal(l.path, "/usr/bin/up");
	assert_int_equal(l.offset, 0x1340);
	assert_int_equal(l.ref_ctr, 0);
	assert_false(l.is_return);
	assert_true(uprobe_line_parse("r:g/e /a b:0xc/d:0x10(0x4010) arg1=%di:u64", &l));
	assert_string_equal(l.path, "/a b:0xc/d");
	assert_int_equal(l.offset, 0x10);
	assert_int_equal(l.ref_ctr, 0x4010);
	assert_true(l.is_return);
	assert_false(uprobe_line_parse("", &l));
	assert_false(uprobe_line_parse("p:noslash /x:0x1", &l));
	assert_false(uprobe_line_parse("p:a/b", &l));
	assert_false(uprobe_line_parse("p:a/b /x:1", &l));
	assert_false(uprobe_line_parse("p:a/b :0x1", &l));
	assert_false(uprobe_line_parse("k:a/b /x:0x1", &l));
}

static void profile_lines(void **state)
{
	uint64_t n = 0;

	(void)state;
	assert_true(uprobe_profile_parse("  /usr/bin/up main                    12\n", "main", &n));
	assert_int_equal(n, 12);
	assert_true(uprobe_profile_parse("  /a b/c main 0", "main", &n));
	assert_int_equal(n, 0);
	assert_false(uprobe_profile_parse("  /usr/bin/up other 12\n", "main", &n));
	assert_false(uprobe_profile_parse("  /usr/bin/up main x\n", "main", &n));
	assert_false(uprobe_profile_parse("  /usr/bin/up main 12x\n", "main", &n));
	assert_false(uprobe_profile_parse("main", "main", &n));
	assert_false(uprobe_profile_parse("", "main", &n));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classes_of_x86),
		cmocka_unit_test(bytes_that_end),
		cmocka_unit_test(a_nop_across_pages),
		cmocka_unit_test(classes_of_arm64),
		cmocka_unit_test(hints),
		cmocka_unit_test(releases),
		cmocka_unit_test(lines),
		cmocka_unit_test(profile_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
