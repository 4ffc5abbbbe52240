// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a snapshot: what is decoded refers to nothing that is not there, and written again
 * it reads as the same.
 */
#include "fuzz.h"
#include "kontend/mem.h"
#include "kontend/snap.h"
#include <string.h>

static void check_event(const struct snap *s, const struct snap_event *e)
{
	fuzz_require(e->context <= s->n_contexts);
	fuzz_require(strlen(snap_text(s, e->owner_comm)) < s->n_strings + 1);
	fuzz_require(strlen(snap_text(s, e->name)) < s->n_strings + 1);
	fuzz_require(strlen(snap_text(s, e->where)) < s->n_strings + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct snap s = {0}, t = {0};

	if (snap_decode(&s, data, size) == 0) {
		for (size_t i = 0; i < s.n_events; i++)
			check_event(&s, &s.events[i]);
		for (size_t i = 0; i < s.n_registers; i++)
			fuzz_require(s.registers[i].event <= s.n_events);
		size_t len = snap_size(&s);
		char *p = mem_calloc(2, len);
		fuzz_require(p != NULL);
		snap_encode(&s, p);
		fuzz_require(snap_decode(&t, p, len) == 0 && snap_size(&t) == len);
		snap_encode(&t, p + len);
		fuzz_require(memcmp(p, p + len, len) == 0);
		mem_free(p);
	}
	snap_deinit(&s);
	snap_deinit(&t);
	return 0;
}
