// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a snapshot of holds: texts and frames are there, percentiles are within what is
 * possible, and written again it reads as the same.
 */
#include "fuzz.h"
#include "kontend/holdsnap.h"
#include "kontend/mem.h"
#include <string.h>

static void check_rows(const struct holdsnap *s)
{
	volatile uint64_t seen;

	for (size_t i = 0; i < s->n_sums; i++) {
		const struct holdsnap_sum *k = &s->sums[i];
		uint64_t p50 = holdsnap_percentile(k->buckets, 50, k->max_ns);
		uint64_t p99 = holdsnap_percentile(k->buckets, 99, k->max_ns);
		fuzz_require(p50 <= k->max_ns && p99 <= k->max_ns);
		fuzz_require(*holdsnap_kind_name(k->kind));
	}
	/* Reads them, for the sanitizers. */
	for (size_t i = 0; i < s->n_chains; i++)
		for (uint32_t k = 0; k < s->chains[i].n_frames; k++)
			seen = s->frames[s->chains[i].frame + k];
	(void)seen;
	for (size_t i = 0; i < s->n_tasks; i++)
		fuzz_require(strlen(holdsnap_text(s, s->tasks[i].comm)) < s->n_strings + 1);
	for (size_t i = 0; i < s->n_now; i++)
		fuzz_require(strlen(holdsnap_text(s, s->now[i].comm)) < s->n_strings + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct holdsnap s = {0}, t = {0};

	if (holdsnap_decode(&s, data, size) == 0) {
		check_rows(&s);
		size_t len = holdsnap_size(&s);
		char *p = mem_calloc(2, len);
		fuzz_require(p != NULL);
		holdsnap_encode(&s, p);
		fuzz_require(holdsnap_decode(&t, p, len) == 0 && holdsnap_size(&t) == len);
		holdsnap_encode(&t, p + len);
		fuzz_require(memcmp(p, p + len, len) == 0);
		mem_free(p);
	}
	holdsnap_deinit(&s);
	holdsnap_deinit(&t);
	return 0;
}
