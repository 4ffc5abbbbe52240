// SPDX-License-Identifier: GPL-2.0-only
/*
 * The look at locks. A recorder knows no locks to ask about, so it names the mmap_lock of every
 * process; all others ask for what their tables show.
 */
#include "run-locks.h"
#include "kontend/lockwalk.h"
#include "kontend/mem.h"
#include "kontend/record.h"

#include <errno.h>

struct run_locks {
	struct look look;
	struct lockask ask;
	struct lockask_lock asked[LOCKASK_MOST];
	struct lockwalk_ask asks[LOCKASK_MOST];
	struct lockwalk *walk; /* NULL: see why */
	struct error why;
	struct locksnap snap;
	char *bytes;
	size_t cap;
};

static int take_snapshot(struct run_locks *r)
{
	size_t n = lockask_get(&r->ask, r->asked);

	if (!r->walk) {
		locksnap_clear(&r->snap);
		r->snap.head.reason = locksnap_add_text(&r->snap, r->why.text);
		return 0;
	}
	for (size_t i = 0; i < n; i++)
		r->asks[i] = (struct lockwalk_ask){r->asked[i].addr, r->asked[i].type};
	return lockwalk_take(r->walk, r->asks, n, &r->snap, NULL);
}

static void *take(struct look *l, bool last, size_t *ret_len)
{
	struct run_locks *r = (struct run_locks *)l;
	const size_t head = sizeof(struct record_snapshot);

	(void)last;
	/* The next tick tries again. */
	if (take_snapshot(r) < 0)
		return NULL;
	size_t len = head + locksnap_size(&r->snap);
	if (len > r->cap) {
		char *bytes = mem_resize(r->bytes, len, 1);
		if (!bytes)
			return NULL;
		r->bytes = bytes;
		r->cap = len;
	}
	locksnap_encode(&r->snap, r->bytes + head);
	*ret_len = len;
	return r->bytes;
}

int run_locks_new(struct run_locks **ret, const struct opts *o, struct error *err)
{
	struct run_locks *r = mem_calloc(1, sizeof(*r));

	if (!r)
		return error_set(err, -ENOMEM, "No memory for looking at locks");
	r->look = (struct look){.kind = SNAPSHOT_LOCKS,
				.version = LOCKSNAP_VERSION,
				.take = take,
				.at_start = true};
	lockask_init(&r->ask);
	if (o->no_bpf)
		error_set(&r->why, -ENOTSUP, "BPF is switched off (--no-bpf)");
	else
		lockwalk_new(&r->walk, o->verb == VERB_RECORD, &r->why);
	*ret = r;
	return 0;
}

struct look *run_locks_look(struct run_locks *r)
{
	return &r->look;
}

struct lockask *run_locks_ask(struct run_locks *r)
{
	return r ? &r->ask : NULL;
}

void run_locks_free(struct run_locks *r)
{
	if (!r)
		return;
	lockwalk_free(r->walk);
	lockask_deinit(&r->ask);
	locksnap_deinit(&r->snap);
	mem_free(r->bytes);
	mem_free(r);
}
