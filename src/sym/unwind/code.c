// SPDX-License-Identifier: GPL-2.0-only
/*
 * How the caller is found of code that has no exception table, as that of musl and of assembler: by
 * its instructions, from where the thread goes on to the return. They say how far the stack pointer
 * moves until then, and where the caller's frame pointer is taken from. Calls are passed over,
 * jumps followed, and branches not taken. Code that moves the stack pointer in another way is no
 * answer. Each instruction of x86-64 counts once, so this ends.
 */
#include "internal.h"
#include "kontend/load.h"
#include "kontend/uprobe.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum {
	BYTES = 16,	  /* for an instruction */
	STEPS_MOST = 256, /* instructions */
	FRAME_MOST = 1 << 20,
	WORD = 8,
	SP = 4, /* numbers of registers in instructions */
	FP = 5,
	REX_W = 8,
	REX_R = 4,
	REX_X = 2,
	REX_B = 1,
};

/* Where the stack pointer is: so many bytes above one of the two registers at the begin. */
struct walk {
	const struct unwind_code *code;
	uint64_t at;
	struct unwind_rule rule; /* `kind`, and `frame` is of the stack pointer */
	bool is_over;
};

struct insn {
	uint8_t bytes[BYTES]; /* from the opcode on */
	unsigned rex;
	size_t prefixes, len; /* all of it */
};

/* A byte is no instruction of x86-64, or the code ends. */
static bool take_insn(const struct walk *w, struct insn *ret)
{
	uint8_t bytes[2 * BYTES] = {0};
	size_t n = w->code->read(w->code->ctx, w->at, bytes, BYTES), at = 0;

	*ret = (struct insn){.len = uprobe_x86_length(bytes, n)};
	if (!ret->len)
		return false;
	/* Of segments, for wide or repeated operations. */
	while (at < ret->len &&
	       memchr("\x2e\x36\x3e\x26\x64\x65\x66\x67\xf0\xf2\xf3", bytes[at], 11))
		at++;
	if ((bytes[at] & 0xf0) == 0x40)
		ret->rex = bytes[at++];
	ret->prefixes = at;
	memcpy(ret->bytes, bytes + at, BYTES);
	return at < ret->len;
}

static int64_t number_at(const struct insn *in, size_t at, bool is_byte)
{
	return is_byte ? (int8_t)in->bytes[at] : (int32_t)load_u32(in->bytes + at);
}

static bool move(struct walk *w, int64_t by)
{
	int64_t to = w->rule.frame + by;

	w->rule.frame = (int32_t)to;
	return to > -FRAME_MOST && to < FRAME_MOST;
}

static bool from_fp(struct walk *w, int64_t distance)
{
	w->rule = (struct unwind_rule){.kind = UNWIND_RULE_FP, .fp_unchanged = true};
	return move(w, distance);
}

static bool pop(struct walk *w, unsigned reg)
{
	if (reg == SP)
		return false;
	if (reg == FP) {
		w->rule.fp = w->rule.frame;
		w->rule.fp_unchanged = false;
	}
	return move(w, WORD);
}

/* add, or, ... cmp of a number and a register or memory. */
static bool add_number(struct walk *w, const struct insn *in, bool is_byte)
{
	unsigned modrm = in->bytes[1], what = modrm >> 3 & 7;
	int64_t n = number_at(in, 2, is_byte);

	if (modrm >> 6 != 3 || (modrm & 7) != SP || in->rex & REX_B || what == 7)
		return true;
	if (!(in->rex & REX_W) || (what != 0 && what != 5))
		return false;
	return move(w, what ? -n : n);
}

/* lea: of the stack pointer only from itself or from the frame pointer. */
static bool lea(struct walk *w, const struct insn *in)
{
	unsigned modrm = in->bytes[1], mod = modrm >> 6, base = modrm & 7;

	if ((modrm >> 3 & 7) != SP || in->rex & REX_R)
		return true;
	if (mod == 0 || in->rex & (REX_B | REX_X))
		return false;
	if (base == FP)
		return from_fp(w, number_at(in, 2, mod == 1));
	/* A SIB byte that names the stack pointer alone. */
	return base == SP && (in->bytes[2] & 0x3f) == 0x24 && move(w, number_at(in, 3, mod == 1));
}

/* mov between registers: @to and @from with the bit of REX that is about each. */
static bool mov(struct walk *w, const struct insn *in, bool to_rm)
{
	unsigned modrm = in->bytes[1], rm = modrm & 7, reg = modrm >> 3 & 7;
	unsigned to = to_rm ? rm : reg, from = to_rm ? reg : rm;
	bool is_high = in->rex & (to_rm ? REX_B : REX_R);

	if (modrm >> 6 != 3) /* to memory, or from it */
		return to_rm || to != SP || is_high;
	if (to != SP || is_high)
		return true;
	return from == FP && !(in->rex & (to_rm ? REX_R : REX_B)) && from_fp(w, 0);
}

static bool finish(struct walk *w)
{
	w->is_over = true;
	return move(w, WORD);
}

/* One of the group: inc, dec, call, far call, jmp, far jmp, push. */
static bool group5(struct walk *w, const struct insn *in)
{
	switch (in->bytes[1] >> 3 & 7) {
	case 4: /* by a table, or to another function */
	case 5:
		return false;
	case 6:
		return move(w, -WORD);
	default:
		return true;
	}
}

static bool jump(struct walk *w, const struct insn *in, bool is_byte)
{
	w->at += in->len + (uint64_t)number_at(in, 1, is_byte);
	return true;
}

static bool leave(struct walk *w)
{
	return from_fp(w, 0) && pop(w, FP);
}

/*
 * Of those of two bytes, some never go on, and others fill up the room to the next function or
 * begin it: the call before was of a function that does not return.
 */
static bool step_two(const struct insn *in)
{
	switch (in->bytes[1]) {
	case 0x0b:
	case 0x1e:
	case 0x1f:
	case 0xb9:
	case 0xff:
		return false;
	default:
		return true;
	}
}

static bool step_other(struct walk *w, const struct insn *in)
{
	unsigned op = in->bytes[0];

	if (op >= 0x50 && op <= 0x57)
		return move(w, -WORD);
	if (op >= 0x58 && op <= 0x5f)
		return pop(w, (op & 7) + (in->rex & REX_B ? 8 : 0));
	switch (op) {
	case 0x0f:
		return step_two(in);
	case 0x68:
	case 0x6a:
		return move(w, -WORD);
	case 0x81:
	case 0x83:
		return add_number(w, in, op == 0x83);
	case 0x89:
	case 0x8b:
		return mov(w, in, op == 0x89);
	case 0x8d:
		return lea(w, in);
	case 0xc9:
		return leave(w);
	case 0xff:
		return group5(w, in);
	case 0x87: /* xchg */
	case 0x90:
	case 0x9c: /* of flags */
	case 0x9d:
	case 0x8f:
	case 0xc8:
	case 0xcb:
	case 0xcc:
	case 0xcd:
	case 0xcf:
	case 0xf4:
		return false;
	default:
		return true;
	}
}

static bool step(struct walk *w, const struct insn *in)
{
	unsigned op = in->bytes[0];

	if (op == 0xc3 || op == 0xc2)
		return finish(w);
	if (op == UNWIND_JUMP || op == UNWIND_JUMP_SHORT)
		return jump(w, in, op == UNWIND_JUMP_SHORT);
	w->at += in->len;
	return step_other(w, in);
}

int unwind_rule_by_code(const struct unwind_code *code, uint64_t at, struct unwind_rule *ret)
{
	struct walk w = {.code = code, .at = at, .rule = {.fp_unchanged = true}};
	struct insn in;
	int steps = 0;

	while (!w.is_over)
		if (++steps > STEPS_MOST || !take_insn(&w, &in) || !step(&w, &in))
			return -ENOENT;
	if (w.rule.kind == UNWIND_RULE_SP && w.rule.frame < WORD)
		return -ENOENT;
	w.rule.ret = -WORD;
	if (!w.rule.fp_unchanged)
		w.rule.fp -= w.rule.frame;
	*ret = w.rule;
	return 0;
}

/* After a call the address may be one less. */
uint64_t unwind_goes_on(const struct unwind_code *code, uint64_t addr)
{
	uint8_t b[BYTES / 2];

	if (addr + 1 < sizeof(b) ||
	    code->read(code->ctx, addr + 1 - sizeof(b), b, sizeof(b)) != sizeof(b))
		return addr;
	if (b[sizeof(b) - UNWIND_CALL_SIZE] == UNWIND_CALL)
		return addr + 1;
	/* Through a register, a word near a register, or one near the code. */
	for (size_t n = 2; n <= 7; n++) {
		const uint8_t *p = b + sizeof(b) - n;
		if (*p == 0xff && (p[1] >> 3 & 7) == 2 && uprobe_x86_length(p, n) == n)
			return addr + 1;
	}
	return addr;
}
