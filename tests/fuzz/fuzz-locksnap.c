// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a snapshot of locks: what is decoded refers to nothing that is not there, and
 * written again it reads as the same.
 */
#include "fuzz.h"
#include "kontend/locksnap.h"
#include "kontend/mem.h"
#include <string.h>

static void check_blocked(const struct locksnap *s, const struct locksnap_blocked *b)
{
	fuzz_require(b->state && b->state < LOCKSNAP_BLOCKED_STATES &&
		     (size_t)b->frame + b->n_frames <= s->n_frames &&
		     strlen(locksnap_text(s, b->comm)) <= s->n_strings &&
		     strlen(locksnap_text(s, b->process)) <= s->n_strings &&
		     strlen(locksnap_text(s, b->device)) <= s->n_strings &&
		     b->by_state < LOCKSNAP_STATES &&
		     strlen(locksnap_text(s, b->fs)) <= s->n_strings &&
		     strlen(locksnap_text(s, b->file)) <= s->n_strings &&
		     strlen(locksnap_text(s, b->limit)) <= s->n_strings &&
		     strlen(locksnap_text(s, b->source)) <= s->n_strings &&
		     strlen(locksnap_text(s, b->by_comm)) <= s->n_strings);
}

static void check(const struct locksnap *s)
{
	for (size_t i = 0; i < s->n_names; i++) {
		fuzz_require(s->names[i].kind < LOCKSNAP_KINDS);
		fuzz_require(strlen(locksnap_text(s, s->names[i].text)) <= s->n_strings);
		fuzz_require(strlen(locksnap_text(s, s->names[i].comm)) <= s->n_strings);
	}
	for (size_t i = 0; i < s->n_queues; i++)
		fuzz_require(s->queues[i].type < LOCKSNAP_TYPES &&
			     s->queues[i].holder_state < LOCKSNAP_STATES &&
			     (size_t)s->queues[i].holder_frame + s->queues[i].holder_n_frames <=
				     s->n_frames);
	for (size_t i = 0; i < s->n_vars; i++)
		fuzz_require(strlen(locksnap_text(s, s->vars[i].name)) <= s->n_strings);
	for (size_t i = 0; i < s->n_sleeps; i++) {
		fuzz_require(s->sleeps[i].doing < LOCKSNAP_DOINGS);
		fuzz_require(strlen(locksnap_text(s, s->sleeps[i].file)) <= s->n_strings);
		fuzz_require(strlen(locksnap_text(s, s->sleeps[i].device)) <= s->n_strings);
	}
	for (size_t i = 0; i < s->n_sleepers; i++) {
		fuzz_require(s->sleepers[i].kind && s->sleepers[i].kind < LOCKSNAP_SLEEPS);
		fuzz_require(strlen(locksnap_text(s, s->sleepers[i].comm)) <= s->n_strings);
	}
	for (size_t i = 0; i < s->n_blocked; i++)
		check_blocked(s, &s->blocked[i]);
	for (size_t i = 0; i < s->n_readers; i++)
		fuzz_require(
			s->readers[i].queue < s->n_queues &&
			s->readers[i].state < LOCKSNAP_STATES &&
			(size_t)s->readers[i].frame + s->readers[i].n_frames <= s->n_frames &&
			(!s->readers[i].n_frames || s->readers[i].in < s->readers[i].n_frames));
	for (size_t i = 0; i < s->n_waiters; i++) {
		const struct locksnap_waiter *w = &s->waiters[i];
		fuzz_require(w->queue < s->n_queues &&
			     (size_t)w->frame + w->n_frames <= s->n_frames &&
			     (size_t)w->user_frame + w->user_n_frames <= s->n_user_frames &&
			     strlen(locksnap_text(s, w->user_what)) <= s->n_strings);
	}
	for (size_t i = 0; i < s->n_user_frames; i++)
		fuzz_require(strlen(locksnap_text(s, s->user_frames[i].function)) <= s->n_strings &&
			     strlen(locksnap_text(s, s->user_frames[i].object)) <= s->n_strings);
	for (size_t i = 0; i < s->n_stacks; i++)
		fuzz_require((size_t)s->stacks[i].call + s->stacks[i].n_calls <= s->n_calls);
	for (size_t i = 0; i < s->n_calls; i++)
		fuzz_require(strlen(locksnap_text(s, s->calls[i].function)) <= s->n_strings &&
			     strlen(locksnap_text(s, s->calls[i].file)) <= s->n_strings);
	for (size_t i = 0; i < s->n_preempted; i++)
		fuzz_require(strlen(locksnap_text(s, s->preempted[i].comm)) <= s->n_strings);
	for (size_t i = 0; i < s->n_futexes; i++)
		fuzz_require(s->futexes[i].class < LOCKSNAP_FUTEX_CLASSES &&
			     strlen(locksnap_text(s, s->futexes[i].comm)) <= s->n_strings &&
			     strlen(locksnap_text(s, s->futexes[i].what)) <= s->n_strings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct locksnap s = {0}, t = {0};

	if (locksnap_decode(&s, data, size) == 0) {
		check(&s);
		size_t len = locksnap_size(&s);
		char *p = mem_calloc(2, len);
		fuzz_require(p != NULL);
		locksnap_encode(&s, p);
		fuzz_require(locksnap_decode(&t, p, len) == 0 && locksnap_size(&t) == len);
		locksnap_encode(&t, p + len);
		fuzz_require(memcmp(p, p + len, len) == 0);
		mem_free(p);
	}
	locksnap_deinit(&s);
	locksnap_deinit(&t);
	return 0;
}
