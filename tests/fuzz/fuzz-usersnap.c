// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as sums of sleeps for locks of programs: what is decoded refers to nothing that is not
 * there, and written again it reads as the same. A model takes it, whatever it says.
 */
#include "fuzz.h"
#include "kontend/locktype.h"
#include "kontend/mem.h"
#include "kontend/user-seen.h"
#include "kontend/usersnap.h"
#include <string.h>

static void check(const struct usersnap *s)
{
	struct user_seen seen = {0};
	struct user_counts n;

	fuzz_require(strlen(usersnap_text(s, s->head.reason)) <= s->n_strings);
	fuzz_require(s->head.level < USERSNAP_LEVELS);
	for (size_t i = 0; i < s->n_rows; i++)
		fuzz_require(locktype_from_flags(s->rows[i].flags) < LOCK_TYPES);
	user_seen_take(&seen, s);
	fuzz_require(memchr(seen.reason, 0, sizeof(seen.reason)) != NULL);
	if (user_seen_counts(&seen, &n))
		fuzz_require(n.foreign <= s->head.foreign);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct usersnap s = {0}, t = {0};

	if (usersnap_decode(&s, data, size) == 0) {
		check(&s);
		size_t len = usersnap_size(&s);
		char *p = mem_calloc(2, len);
		fuzz_require(p != NULL);
		usersnap_encode(&s, p);
		fuzz_require(usersnap_decode(&t, p, len) == 0 && usersnap_size(&t) == len);
		usersnap_encode(&t, p + len);
		fuzz_require(memcmp(p, p + len, len) == 0);
		mem_free(p);
	}
	usersnap_deinit(&s);
	usersnap_deinit(&t);
	return 0;
}
