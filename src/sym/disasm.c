// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instructions by capstone. What it does not know (newer than it is) is passed by the length that
 * our own tables tell, so that what follows is read from its beginning. How it writes is made a bit
 * more like objdump: no blank behind commas, mnemonics without one at their end.
 */
#include "kontend/disasm.h"
#include "kontend/mem.h"
#include "kontend/text.h"
#include "kontend/uprobe.h"

#include <capstone/capstone.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

struct disasm {
	csh handle;
	cs_insn *insn;
	enum disasm_machine machine;
};

int disasm_open(struct disasm **ret, enum disasm_machine m, struct error *err)
{
	struct disasm *d = mem_calloc(1, sizeof(*d));
	cs_err code = CS_ERR_ARCH;

	if (!d)
		return error_set(err, -ENOMEM, "No memory for a disassembler");
	d->machine = m;
	if (m == DISASM_X86_64)
		code = cs_open(CS_ARCH_X86, CS_MODE_64, &d->handle);
	else if (m == DISASM_ARM64)
		code = cs_open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, &d->handle);
	if (code == CS_ERR_OK && m == DISASM_X86_64)
		cs_option(d->handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	if (code == CS_ERR_OK) {
		cs_option(d->handle, CS_OPT_DETAIL, CS_OPT_ON);
		d->insn = cs_malloc(d->handle);
	}
	if (!d->insn) {
		disasm_close(d);
		return error_set(err, code == CS_ERR_ARCH ? -ENOTSUP : -ENOMEM,
				 "No disassembler for this machine: %s",
				 code == CS_ERR_OK ? "out of memory" : cs_strerror(code));
	}
	*ret = d;
	return 0;
}

void disasm_close(struct disasm *d)
{
	if (!d)
		return;
	if (d->insn)
		cs_free(d->insn, 1);
	if (d->handle)
		cs_close(&d->handle);
	mem_free(d);
}

static enum disasm_kind kind_of(const struct disasm *d)
{
	if (cs_insn_group(d->handle, d->insn, CS_GRP_CALL))
		return DISASM_CALL;
	if (cs_insn_group(d->handle, d->insn, CS_GRP_RET) ||
	    cs_insn_group(d->handle, d->insn, CS_GRP_IRET))
		return DISASM_RETURN;
	/* Which groups branches of arm64 are in depends on the version. */
	if (d->machine == DISASM_ARM64 &&
	    (d->insn->id == ARM64_INS_BL || d->insn->id == ARM64_INS_BLR))
		return DISASM_CALL;
	if (d->machine == DISASM_ARM64 && d->insn->id == ARM64_INS_RET)
		return DISASM_RETURN;
	return cs_insn_group(d->handle, d->insn, CS_GRP_JUMP) ? DISASM_JUMP : DISASM_PLAIN;
}

static void find_places_x86(const cs_insn *i, struct disasm_line *ret)
{
	const cs_x86 *x = &i->detail->x86;

	for (int k = 0; k < x->op_count; k++) {
		const cs_x86_op *op = &x->operands[k];
		if (op->type == X86_OP_IMM && ret->kind != DISASM_PLAIN) {
			ret->has_target = true;
			ret->target = (uint64_t)op->imm;
		} else if (op->type == X86_OP_MEM && op->mem.base == X86_REG_RIP) {
			ret->has_data = true;
			ret->data = i->address + i->size + (uint64_t)op->mem.disp;
		}
	}
}

/* The last operand: tbz has two more before it. */
static void find_places_arm64(const cs_insn *i, struct disasm_line *ret)
{
	const cs_arm64 *x = &i->detail->arm64;
	const cs_arm64_op *op = x->op_count ? &x->operands[x->op_count - 1] : NULL;

	if (op && op->type == ARM64_OP_IMM && ret->kind != DISASM_PLAIN) {
		ret->has_target = true;
		ret->target = (uint64_t)op->imm;
	}
}

static void write_text(const cs_insn *i, struct disasm_line *ret)
{
	char raw[sizeof(i->mnemonic) + sizeof(i->op_str) + 2];
	size_t to = 0, name = strlen(i->mnemonic);

	while (name && i->mnemonic[name - 1] == ' ')
		name--;
	snprintf(raw, sizeof(raw), "%.*s%s%s", (int)name, i->mnemonic, i->op_str[0] ? " " : "",
		 i->op_str);
	for (size_t from = 0; raw[from] && to < sizeof(raw) - 1; from++)
		if (raw[from] != ' ' || !from || raw[from - 1] != ',')
			raw[to++] = raw[from];
	raw[to] = '\0';
	text_clean(ret->text, sizeof(ret->text), raw);
	ret->operands = (uint8_t)(name + (i->op_str[0] ? 1 : 0));
}

static void take(struct disasm *d, struct disasm_line *ret)
{
	ret->kind = kind_of(d);
	ret->length = (uint8_t)d->insn->size;
	write_text(d->insn, ret);
	if (d->machine == DISASM_X86_64)
		find_places_x86(d->insn, ret);
	else
		find_places_arm64(d->insn, ret);
}

static void skip(const struct disasm *d, const uint8_t *p, size_t n, struct disasm_line *ret)
{
	bool is_x86 = d->machine == DISASM_X86_64;
	size_t len = is_x86 ? uprobe_length(UPROBE_X86_64, p, n) : 4;

	ret->kind = DISASM_UNKNOWN;
	ret->length = (uint8_t)(!len ? 1 : len < n ? len : n);
	ret->operands = (uint8_t)snprintf(ret->text, sizeof(ret->text), "(bad)");
}

bool disasm_line(struct disasm *d, const void *bytes, size_t n, size_t at, uint64_t address,
		 struct disasm_line *ret)
{
	if (at >= n || at > UINT32_MAX)
		return false;
	const uint8_t *p = (const uint8_t *)bytes + at, *next = p;
	size_t left = n - at < DISASM_BYTES ? n - at : DISASM_BYTES, rest = left;
	uint64_t place = address + at;

	*ret = (struct disasm_line){.offset = (uint32_t)at};
	if (cs_disasm_iter(d->handle, &next, &rest, &place, d->insn))
		take(d, ret);
	else
		skip(d, p, left, ret);
	memcpy(ret->bytes, p, ret->length);
	return true;
}
