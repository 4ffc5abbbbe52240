// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lock snapshots. A recorder has no table of locks, so it requests the mmap_lock of each process;
 * all other verbs request the locks in their tables.
 */
#include "kontend/clock.h"
#include "kontend/mem.h"
#include "kontend/record.h"
#include "kontend/snapshot-locks.h"
#include "kontend/taskid.h"
#include "run-parts.h"
#include "snapshot-buf.h"

#include <errno.h>
#include <signal.h>

struct run_locks {
	struct snapshot_source look;
	struct lock_requests ask;
	struct lock_request_lock asked[LOCKASK_MOST];
	struct snapshot_locks *walk; /* NULL: see why */
	struct error why;
	int32_t threads[LOCKASK_THREADS];
	struct locksnap snap;
	struct snapshot_buf bytes;
};

/* Tasks outside of our PID namespace have no PID here, so they cannot be tried. */
static int tell_gone(struct run_locks *r)
{
	size_t n = lock_request_get_threads(&r->ask, r->threads);
	int code = 0;

	for (size_t i = 0; i < n && code == 0; i++)
		if (r->threads[i] > 0 && !taskid_is_outside(r->threads[i]) &&
		    kill(r->threads[i], 0) < 0 && errno == ESRCH)
			code = locksnap_add_gone(&r->snap, r->threads[i]);
	return code;
}

static int take_snapshot(struct run_locks *r)
{
	size_t n = lock_request_get(&r->ask, r->asked);

	if (!r->walk) {
		locksnap_clear(&r->snap);
		r->snap.head.reason = locksnap_add_text(&r->snap, r->why.text);
		r->snap.head.no_sleepers = r->snap.head.reason;
		r->snap.head.time_ns = clock_now_ns();
		return tell_gone(r);
	}
	int code = snapshot_locks_take(r->walk, r->asked, n, &r->snap, NULL);
	return code < 0 ? code : tell_gone(r);
}

static void *take_locks(struct snapshot_source *l, bool last, size_t *ret_len)
{
	struct run_locks *r = (struct run_locks *)l;

	(void)last;
	/* The next tick tries again. */
	if (take_snapshot(r) < 0)
		return NULL;
	return snapshot_buf_encode(&r->bytes, &locksnap_sections, &r->snap, ret_len);
}

int run_locks_new(struct run_locks **ret, const struct opts *o, const struct target *target,
		  struct kerntypes *types, struct error *err)
{
	struct run_locks *r = mem_calloc(1, sizeof(*r));

	if (!r)
		return error_set(err, -ENOMEM, "No memory for snapshots of locks");
	r->look = (struct snapshot_source){.kind = SNAPSHOT_LOCKS,
					   .version = LOCKSNAP_VERSION,
					   .take = take_locks,
					   .at_start = true};
	lock_request_init(&r->ask);
	if (o->no_bpf)
		error_set(&r->why, -ENOTSUP, "BPF is switched off (--no-bpf)");
	else
		snapshot_locks_new(&r->walk, o->verb == VERB_RECORD, types, &r->why);
	if (r->walk)
		snapshot_locks_of(r->walk, target);
	*ret = r;
	return 0;
}

void run_locks_child(struct run_locks *r, int pid)
{
	if (r && r->walk)
		snapshot_locks_child(r->walk, pid);
}

struct snapshot_source *run_locks_look(struct run_locks *r)
{
	return &r->look;
}

struct lock_requests *run_locks_ask(struct run_locks *r)
{
	return r ? &r->ask : NULL;
}

void run_locks_free(struct run_locks *r)
{
	if (!r)
		return;
	snapshot_locks_free(r->walk);
	lock_request_deinit(&r->ask);
	locksnap_deinit(&r->snap);
	mem_free(r->bytes.bytes);
	mem_free(r);
}
