// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a snapshot of uprobes: what is decoded refers to nothing that is not there, and
 * written again it reads as the same.
 */
#include "fuzz.h"
#include "kontend/mem.h"
#include "kontend/upsnap.h"
#include <string.h>

static bool is_text(const struct upsnap *s, uint32_t offset)
{
	return offset < s->n_strings + 1 && strlen(upsnap_text(s, offset)) < s->n_strings + 1;
}

static void check_references(const struct upsnap *s)
{
	for (size_t i = 0; i < s->n_areas; i++)
		fuzz_require(is_text(s, s->areas[i].comm) && s->areas[i].n_recent <= UPSNAP_RECENT);
	for (size_t i = 0; i < s->n_tasks; i++)
		fuzz_require(s->tasks[i].area <= s->n_areas && is_text(s, s->tasks[i].comm));
	for (size_t i = 0; i < s->n_probes; i++) {
		const struct upsnap_probe *p = &s->probes[i];
		fuzz_require(is_text(s, p->binary) && is_text(s, p->symbol) && is_text(s, p->name));
		fuzz_require(is_text(s, p->owner_comm) && is_text(s, p->reason));
		fuzz_require(is_text(s, p->hint) && p->n_bytes <= sizeof(p->bytes));
	}
	for (size_t i = 0; i < s->n_hits; i++)
		fuzz_require(s->hits[i].probe <= s->n_probes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct upsnap s = {0}, t = {0};

	if (upsnap_decode(&s, data, size) == 0) {
		check_references(&s);
		size_t len = upsnap_size(&s);
		char *p = mem_calloc(2, len);
		fuzz_require(p != NULL);
		upsnap_encode(&s, p);
		fuzz_require(upsnap_decode(&t, p, len) == 0 && upsnap_size(&t) == len);
		upsnap_encode(&t, p + len);
		fuzz_require(memcmp(p, p + len, len) == 0);
		mem_free(p);
	}
	upsnap_deinit(&s);
	upsnap_deinit(&t);
	return 0;
}
