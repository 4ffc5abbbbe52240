// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as tables for unwinding: all references of the decoded tables lie within them, and
 * encoded again they are the same.
 */
#include "fuzz.h"
#include "kontend/cfisnap.h"
#include "kontend/mem.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cfisnap s = {0}, t = {0};

	if (cfisnap_decode(&s, data, size) == 0) {
		uint64_t at = s.head.header - s.head.addr;

		fuzz_require(strlen(cfisnap_path(&s)) <= s.n_strings);
		fuzz_require(at + 12 + s.head.entries * 8 <= s.n_bytes);
		size_t len = cfisnap_size(&s);
		char *p = mem_calloc(2, len);
		fuzz_require(p != NULL);
		cfisnap_encode(&s, p);
		fuzz_require(cfisnap_decode(&t, p, len) == 0 && cfisnap_size(&t) == len);
		cfisnap_encode(&t, p + len);
		fuzz_require(memcmp(p, p + len, len) == 0);
		mem_free(p);
	}
	cfisnap_deinit(&s);
	cfisnap_deinit(&t);
	return 0;
}
