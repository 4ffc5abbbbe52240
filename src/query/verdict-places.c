// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lines of programs that a finding about a lock has: where most of the waiting for it is, and
 * where its holder is at this moment, or where those to blame for past waits were.
 */
#include "kontend/lock.h"
#include "kontend/query-lock.h"
#include "verdict.h"

#include <errno.h>

/* A task has such a lock within one system call, so it is where it has waited for it. */
static bool is_of_kernel(const struct judge *j, uint64_t id)
{
	uint32_t lock = lock_by_id(j->q->model->locks, id);
	unsigned type = lock == UINT32_MAX ? 0 : j->q->model->locks->locks[lock].type;

	return lock != UINT32_MAX && !locktype_is_user(type) && !locktype_is_file(type);
}

int verdict_put_places(struct judge *j, struct query_finding *f)
{
	const struct query_scope scope = {.mask = 1u << BY_LOCK, .id = {[BY_LOCK] = f->lock}};
	struct query_lock_at at = {0};
	struct query_lock_now now;

	if (verdict_has_time(j) && query_lock_at(j->q, &scope, &at) == -ENOMEM)
		return -ENOMEM;
	f->at = at.at;
	f->syscall = at.syscall;
	if (query_lock_now_by_id(j->q, f->lock, &now))
		f->owner_at = now.owner_at;
	if (!f->owner_at && is_of_kernel(j, f->lock))
		f->owner_at = verdict_cause_at(j, f->lock);
	return 0;
}
