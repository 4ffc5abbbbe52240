// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a list of rotating PMUs: what is decoded has texts that end and no more items than
 * there is room for, and what is found in it by name is one of them.
 */
#include "fuzz.h"
#include "kontend/pmus.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pmus p;

	if (!pmus_decode(data, size, &p)) {
		fuzz_require(p.n == 0 && !p.reason[0]);
		return 0;
	}
	fuzz_require(p.n <= PMUS_MOST && pmus_size(&p) == size);
	fuzz_require(strlen(p.reason) < PMUS_REASON);
	for (uint32_t i = 0; i < p.n; i++) {
		fuzz_require(strlen(p.items[i].name) < PMUS_NAME);
		const struct pmus_item *found = pmus_find(&p, p.items[i].name);
		fuzz_require(found && found <= &p.items[i]);
	}
	return 0;
}
