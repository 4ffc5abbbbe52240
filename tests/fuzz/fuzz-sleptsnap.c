// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as sums of sleeps: what is decoded refers to nothing that is not there, and written
 * again it reads as the same.
 */
#include "fuzz.h"
#include "kontend/mem.h"
#include "kontend/sleptsnap.h"
#include <string.h>

static void check(const struct sleptsnap *s)
{
	fuzz_require(strlen(sleptsnap_text(s, s->head.reason)) <= s->n_strings);
	for (size_t i = 0; i < s->n_rows; i++) {
		const struct sleptsnap_row *r = &s->rows[i];

		fuzz_require(r->kind == LOCKSNAP_IO || r->kind == LOCKSNAP_DISK);
		fuzz_require(strlen(sleptsnap_text(s, r->comm)) <= s->n_strings);
		fuzz_require(strlen(sleptsnap_text(s, r->waker_comm)) <= s->n_strings);
		fuzz_require((size_t)r->frame + r->n_frames <= s->n_frames);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sleptsnap s = {0}, t = {0};

	if (sleptsnap_decode(&s, data, size) == 0) {
		check(&s);
		size_t len = sleptsnap_size(&s);
		char *p = mem_calloc(2, len);
		fuzz_require(p != NULL);
		sleptsnap_encode(&s, p);
		fuzz_require(sleptsnap_decode(&t, p, len) == 0 && sleptsnap_size(&t) == len);
		sleptsnap_encode(&t, p + len);
		fuzz_require(memcmp(p, p + len, len) == 0);
		mem_free(p);
	}
	sleptsnap_deinit(&s);
	sleptsnap_deinit(&t);
	return 0;
}
