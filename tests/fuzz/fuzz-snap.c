// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a snapshot: what is decoded refers to nothing that is not there, and written again
 * it reads as the same.
 */
#include "fuzz.h"
#include "kontend/mem.h"
#include "kontend/perfsnap.h"
#include <string.h>

static void check_event(const struct perfsnap *s, const struct snap_event *e)
{
	fuzz_require(e->context <= s->n_contexts);
	fuzz_require(strlen(perfsnap_text(s, e->owner_comm)) < s->n_strings + 1);
	fuzz_require(strlen(perfsnap_text(s, e->name)) < s->n_strings + 1);
	fuzz_require(strlen(perfsnap_text(s, e->where)) < s->n_strings + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfsnap s = {0}, t = {0};

	if (perfsnap_decode(&s, data, size) == 0) {
		for (size_t i = 0; i < s.n_events; i++)
			check_event(&s, &s.events[i]);
		for (size_t i = 0; i < s.n_registers; i++)
			fuzz_require(s.registers[i].event <= s.n_events);
		size_t len = perfsnap_size(&s);
		char *p = mem_calloc(2, len);
		fuzz_require(p != NULL);
		perfsnap_encode(&s, p);
		fuzz_require(perfsnap_decode(&t, p, len) == 0 && perfsnap_size(&t) == len);
		perfsnap_encode(&t, p + len);
		fuzz_require(memcmp(p, p + len, len) == 0);
		mem_free(p);
	}
	perfsnap_deinit(&s);
	perfsnap_deinit(&t);
	return 0;
}
