// SPDX-License-Identifier: GPL-2.0-only
/* For builds without capstone: bytes, but no text. */
#include "kontend/disasm.h"

#include <errno.h>

int disasm_open(struct disasm **ret, enum disasm_machine m, struct error *err)
{
	(void)ret;
	(void)m;
	return error_set(err, -ENOTSUP, "kontend was built without a disassembler (capstone)");
}

void disasm_prepare(void)
{
}

void disasm_close(struct disasm *d)
{
	(void)d;
}

bool disasm_line(struct disasm *d, const void *bytes, size_t n, size_t at, uint64_t address,
		 struct disasm_line *ret)
{
	(void)d;
	(void)bytes;
	(void)n;
	(void)at;
	(void)address;
	(void)ret;
	return false;
}
