// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a snapshot of phases: texts are there, percentiles are within what is possible, and
 * written again it reads as the same.
 */
#include "fuzz.h"
#include "kontend/mem.h"
#include "kontend/phasesnap.h"
#include <string.h>

static void check_cpu(const struct phasesnap_cpu *c)
{
	uint64_t p50 = phasesnap_percentile(c->out, 50, c->out_max_ns);
	uint64_t p99 = phasesnap_percentile(c->out, 99, c->out_max_ns);

	fuzz_require(p50 <= p99 && p99 <= c->out_max_ns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct phasesnap s = {0}, t = {0};

	if (phasesnap_decode(&s, data, size) == 0) {
		fuzz_require(strlen(phasesnap_text(&s, s.head.turn)) < s.n_strings + 1);
		for (size_t i = 0; i < s.n_cpus; i++)
			check_cpu(&s.cpus[i]);
		for (size_t i = 0; i < s.n_pairs; i++)
			fuzz_require(strlen(phasesnap_text(&s, s.pairs[i].to_path)) <
				     s.n_strings + 1);
		size_t len = phasesnap_size(&s);
		char *p = mem_calloc(2, len);
		fuzz_require(p != NULL);
		phasesnap_encode(&s, p);
		fuzz_require(phasesnap_decode(&t, p, len) == 0 && phasesnap_size(&t) == len);
		phasesnap_encode(&t, p + len);
		fuzz_require(memcmp(p, p + len, len) == 0);
		mem_free(p);
	}
	phasesnap_deinit(&s);
	phasesnap_deinit(&t);
	return 0;
}
