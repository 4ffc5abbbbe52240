// SPDX-License-Identifier: GPL-2.0-only
/*
 * Disassembles with capstone. Instructions that it does not know (newer than the library) are
 * skipped by the length from kontend's own tables, so that the next instruction is decoded from its
 * start. Text is adjusted towards objdump: no blank after commas, no blank at the end of mnemonics.
 * The library is loaded at first use: relocating its tables takes a third of the start time of a
 * program that does not need it.
 */
#include "kontend/disasm.h"
#include "kontend/library.h"
#include "kontend/mem.h"
#include "kontend/text.h"
#include "kontend/uprobe.h"

#include <capstone/capstone.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NUMBER(n) #n
#define SONAME(n) "libcapstone.so." NUMBER(n)

struct library {
	__typeof__(cs_open) *open;
	__typeof__(cs_option) *option;
	__typeof__(cs_malloc) *malloc;
	__typeof__(cs_strerror) *strerror;
	__typeof__(cs_free) *free;
	__typeof__(cs_close) *close;
	__typeof__(cs_insn_group) *insn_group;
	__typeof__(cs_disasm_iter) *disasm_iter;
};

struct disasm {
	struct library lib;
	csh handle;
	cs_insn *insn;
	enum disasm_machine machine;
};

static const struct library_function functions[] = {
	LIBRARY_FUNCTION(struct library, open, cs_open),
	LIBRARY_FUNCTION(struct library, option, cs_option),
	LIBRARY_FUNCTION(struct library, malloc, cs_malloc),
	LIBRARY_FUNCTION(struct library, strerror, cs_strerror),
	LIBRARY_FUNCTION(struct library, free, cs_free),
	LIBRARY_FUNCTION(struct library, close, cs_close),
	LIBRARY_FUNCTION(struct library, insn_group, cs_insn_group),
	LIBRARY_FUNCTION(struct library, disasm_iter, cs_disasm_iter),
};

static const struct library_spec library = {SONAME(CS_API_MAJOR), functions,
					    sizeof(functions) / sizeof(functions[0]), "disassemble",
					    "the package of capstone that has this file"};

/* Ignores errors: disasm_open() reports them. */
void disasm_prepare(void)
{
	struct library lib;
	struct error err;

	library_load(&library, &lib, &err);
}

static cs_err start(struct disasm *d)
{
	cs_err code = CS_ERR_ARCH;

	if (d->machine == DISASM_X86_64)
		code = d->lib.open(CS_ARCH_X86, CS_MODE_64, &d->handle);
	else if (d->machine == DISASM_ARM64)
		code = d->lib.open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, &d->handle);
	if (code != CS_ERR_OK)
		return code;
	if (d->machine == DISASM_X86_64)
		d->lib.option(d->handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	d->lib.option(d->handle, CS_OPT_DETAIL, CS_OPT_ON);
	d->insn = d->lib.malloc(d->handle);
	return d->insn ? CS_ERR_OK : CS_ERR_MEM;
}

int disasm_open(struct disasm **ret, enum disasm_machine m, struct error *err)
{
	struct disasm *d = mem_calloc(1, sizeof(*d));

	if (!d)
		return error_enomem(err, "a disassembler");
	d->machine = m;
	int r = library_load(&library, &d->lib, err);
	cs_err code = r ? CS_ERR_OK : start(d);
	if (code != CS_ERR_OK)
		r = error_set(err, code == CS_ERR_ARCH ? -ENOTSUP : -ENOMEM,
			      "No disassembler for this machine: %s",
			      code == CS_ERR_MEM ? "out of memory" : d->lib.strerror(code));
	if (r) {
		disasm_close(d);
		return r;
	}
	*ret = d;
	return 0;
}

void disasm_close(struct disasm *d)
{
	if (!d)
		return;
	if (d->insn)
		d->lib.free(d->insn, 1);
	if (d->handle)
		d->lib.close(&d->handle);
	mem_free(d);
}

static enum disasm_kind kind_of(const struct disasm *d)
{
	if (d->lib.insn_group(d->handle, d->insn, CS_GRP_CALL))
		return DISASM_CALL;
	if (d->lib.insn_group(d->handle, d->insn, CS_GRP_RET) ||
	    d->lib.insn_group(d->handle, d->insn, CS_GRP_IRET))
		return DISASM_RETURN;
	/* The groups of arm64 branches depend on the version of capstone. */
	if (d->machine == DISASM_ARM64 &&
	    (d->insn->id == ARM64_INS_BL || d->insn->id == ARM64_INS_BLR))
		return DISASM_CALL;
	if (d->machine == DISASM_ARM64 && d->insn->id == ARM64_INS_RET)
		return DISASM_RETURN;
	return d->lib.insn_group(d->handle, d->insn, CS_GRP_JUMP) ? DISASM_JUMP : DISASM_PLAIN;
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

/* The last operand; tbz has two more before it. */
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

static void take_line(struct disasm *d, struct disasm_line *ret)
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
	if (d->lib.disasm_iter(d->handle, &next, &rest, &place, d->insn))
		take_line(d, ret);
	else
		skip(d, p, left, ret);
	memcpy(ret->bytes, p, ret->length);
	return true;
}
