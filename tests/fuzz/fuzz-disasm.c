// SPDX-License-Identifier: GPL-2.0-only
/* Any bytes as code of both machines: each line uses some, none more than are there. */
#include "fuzz.h"
#include "kontend/disasm.h"

#include <string.h>

static void check(struct disasm *d, const uint8_t *data, size_t size)
{
	struct disasm_line l;
	size_t at = 0;

	while (disasm_line(d, data, size, at, 0xffffffff81000000, &l)) {
		fuzz_require(l.offset == at && l.length > 0 && l.length <= size - at);
		fuzz_require(l.length <= DISASM_BYTES && memcmp(l.bytes, data + at, l.length) == 0);
		fuzz_require(l.operands <= strlen(l.text) && l.text[0]);
		at += l.length;
	}
	fuzz_require(at == size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (enum disasm_machine m = DISASM_X86_64; m <= DISASM_ARM64; m++) {
		struct disasm *d;

		if (disasm_open(&d, m, NULL) < 0)
			continue;
		check(d, data, size);
		disasm_close(d);
	}
	return 0;
}
