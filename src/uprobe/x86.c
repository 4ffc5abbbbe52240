// SPDX-License-Identifier: GPL-2.0-only
/*
 * How the kernel treats an x86-64 instruction under a uprobe, as in its arch/x86/kernel/uprobes.c:
 * relative jumps and calls, nops and pushes of a register are emulated; a 5-byte nop within a page
 * becomes a call (6.18); all other accepted instructions are executed out of line. Until 6.18 the
 * only nop is 90. A 16-bit operand prefix prevents the emulation of branches: such a probe is
 * refused.
 */
#include "kontend/uprobe.h"

#include <stdio.h>
#include <string.h>

enum { NOP5 = 5, PAGE = 4096 };

/* An instruction, decoded as far as its class needs. */
struct insn {
	const uint8_t *op; /* the opcode */
	size_t n;	   /* bytes from there to the end of the instruction */
	size_t len;
	uint8_t rex; /* 0: none */
	bool short_operand, repeat, bad_prefix;
};

static bool take_apart(struct insn *i, const uint8_t *bytes, size_t n)
{
	size_t at = 0;

	*i = (struct insn){.len = uprobe_x86_length(bytes, n)};
	for (; at < i->len; at++) {
		uint8_t b = bytes[at];
		if (b == 0x66)
			i->short_operand = true;
		else if (b == 0xf2 || b == 0xf3)
			i->repeat = true;
		else if (b == 0x26 || b == 0x2e || b == 0x36 || b == 0x3e || b == 0xf0)
			i->bad_prefix = true;
		else if (b != 0x64 && b != 0x65 && b != 0x67)
			break;
	}
	if (at < i->len && (bytes[at] & 0xf0) == 0x40)
		i->rex = bytes[at++];
	i->op = bytes + at;
	i->n = i->len > at ? i->len - at : 0;
	return i->n > 0;
}

static void set_verdict(struct uprobe_verdict *v, enum upsnap_class c, const char *what,
			const char *reason)
{
	v->class_ = c;
	snprintf(v->what, sizeof(v->what), "%s", what);
	snprintf(v->reason, sizeof(v->reason), "%s%s%s", what, *what ? ": " : "", reason);
}

static bool is_long_nop(const struct insn *i)
{
	return i->n >= 3 && i->op[0] == 0x0f && i->op[1] == 0x1f && !(i->op[2] >> 3 & 7);
}

/* True for 90 without a prefix that makes it another instruction: pause, xchg %r8. */
static bool is_nop(const struct insn *i)
{
	return i->op[0] == 0x90 && !(i->rex & 1);
}

static void judge_nop(struct uprobe_kernel k, const struct insn *i, uint64_t offset,
		      struct uprobe_verdict *v)
{
	char what[32];

	if (i->len == 1)
		snprintf(what, sizeof(what), "nop");
	else
		snprintf(what, sizeof(what), "nop of %u bytes", (unsigned)i->len);
	if (!k.optimizes && i->op[0] != 0x90)
		set_verdict(v, UPSNAP_OUT_OF_LINE, what,
			    "takes a slot and two traps before Linux 6.18");
	else if (!k.optimizes || i->len != NOP5)
		set_verdict(v, UPSNAP_EMULATED, what, "the kernel steps over it, one trap");
	else if (offset % PAGE > PAGE - NOP5)
		set_verdict(v, UPSNAP_EMULATED, what,
			    "across two pages it cannot become a call: one trap");
	else
		set_verdict(v, UPSNAP_OPTIMIZED, what, "the kernel makes a call of it, no trap");
}

static bool is_branch(const struct insn *i)
{
	uint8_t op = i->op[0];

	return op == 0xe8 || op == 0xe9 || op == 0xeb || (op & 0xf0) == 0x70 ||
	       (op == 0x0f && i->n > 1 && (i->op[1] & 0xf0) == 0x80);
}

static void judge_branch(const struct insn *i, struct uprobe_verdict *v)
{
	uint8_t op = i->op[0];
	const char *what = op == 0xe8		      ? "call"
			   : op == 0xe9 || op == 0xeb ? "jmp"
						      : "conditional jump";

	if (i->short_operand)
		set_verdict(v, UPSNAP_CLASS_UNKNOWN, what,
			    "with a 16-bit prefix: the kernel refuses it");
	else
		set_verdict(v, UPSNAP_EMULATED, what, "the kernel does it, one trap");
}

/* Push of a register is one byte, or two with the prefix for %r8 to %r15. */
static bool is_push(const struct insn *i)
{
	return (i->op[0] & 0xf8) == 0x50 && (i->len == 1 || (i->len == 2 && i->rex == 0x41));
}

static void judge_push(const struct insn *i, struct uprobe_verdict *v)
{
	static const char *const names[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
					    "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
	char what[32];

	snprintf(what, sizeof(what), "push %%%s", names[(i->op[0] & 7) + (i->rex ? 8 : 0)]);
	set_verdict(v, UPSNAP_EMULATED, what, "the kernel does it, one trap");
}

/* Names of usual first and last instructions of functions; others have none. */
static const char *name_of(const struct insn *i)
{
	uint8_t op = i->op[0], reg = i->n > 1 ? i->op[1] >> 3 & 7 : 0;

	if (op == 0x0f && i->n == 3 && i->repeat && i->op[1] == 0x1e && i->op[2] == 0xfa)
		return "endbr64";
	if (op == 0xc3 || op == 0xc2)
		return "ret";
	if (op == 0x83 || op == 0x81)
		return reg == 5 ? "sub" : reg == 0 ? "add" : reg == 7 ? "cmp" : "";
	if (op == 0x89 || op == 0x8b || op == 0xc7 || (op & 0xf8) == 0xb8)
		return "mov";
	if (op == 0x8d)
		return "lea";
	if (op == 0x31 || op == 0x33)
		return "xor";
	if (op == 0x85)
		return "test";
	if ((op & 0xf8) == 0x58)
		return "pop";
	if (op == 0xff && (reg == 2 || reg == 4 || reg == 6))
		return reg == 2 ? "indirect call" : reg == 4 ? "indirect jmp" : "push";
	return op == 0xc9 ? "leave" : "";
}

void uprobe_x86_judge(struct uprobe_kernel k, const uint8_t *bytes, size_t n, uint64_t offset,
		      struct uprobe_verdict *v)
{
	struct insn i;

	*v = (struct uprobe_verdict){0};
	if (!take_apart(&i, bytes, n)) {
		set_verdict(v, UPSNAP_CLASS_UNKNOWN, "", "not an instruction that is known here");
		return;
	}
	v->len = (uint32_t)i.len;
	if (i.bad_prefix)
		set_verdict(v, UPSNAP_CLASS_UNKNOWN, "",
			    "with a segment or lock prefix: the kernel refuses it");
	else if (is_nop(&i) || is_long_nop(&i))
		judge_nop(k, &i, offset, v);
	else if (is_branch(&i))
		judge_branch(&i, v);
	else if (is_push(&i))
		judge_push(&i, v);
	else
		set_verdict(v, UPSNAP_OUT_OF_LINE, name_of(&i),
			    "takes a slot on each hit, two traps");
}
