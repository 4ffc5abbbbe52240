// SPDX-License-Identifier: GPL-2.0-only
/* Any bytes as what a collector answers: it is an answer or none, and its words fit. */
#include "fuzz.h"
#include "kontend/pprof.h"

#include <errno.h>
#include <string.h>

enum { WORDS = 40 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char why[WORDS];
	int64_t left_out = -7;
	int r = pprof_otlp_left_out(data, size, &left_out, why, sizeof(why));

	fuzz_require(r == 0 || r == -EBADMSG);
	fuzz_require(memchr(why, '\0', sizeof(why)));
	fuzz_require(r == 0 || (left_out == 0 && !*why));
	fuzz_require(size || left_out == 0);
	return 0;
}
