// SPDX-License-Identifier: GPL-2.0-only
/* Looking at locks and sleeps, in a kontend that was built without BPF. */
#include "kontend/snapshot-locks.h"
#include "kontend/snapshot-slept.h"

#include <errno.h>

int snapshot_locks_new(struct snapshot_locks **ret, bool all_mms, struct kerntypes *types,
		       struct error *err)
{
	(void)types;
	(void)ret;
	(void)all_mms;
	return error_set(err, -ENOTSUP, "This kontend was built without BPF");
}

bool snapshot_locks_has_tasks(const struct snapshot_locks *w)
{
	(void)w;
	return false;
}

void snapshot_locks_of(struct snapshot_locks *w, const struct target *target)
{
	(void)w;
	(void)target;
}

void snapshot_locks_child(struct snapshot_locks *w, int pid)
{
	(void)w;
	(void)pid;
}

int snapshot_locks_take(struct snapshot_locks *w, const struct lock_request_lock *asks, size_t n,
			struct locksnap *ret, struct error *err)
{
	(void)w;
	(void)asks;
	(void)n;
	(void)ret;
	return error_set(err, -ENOTSUP, "This kontend was built without BPF");
}

int snapshot_locks_holders(struct snapshot_locks *w, struct locksnap *s)
{
	(void)w;
	(void)s;
	return 0;
}

int snapshot_locks_add_runs(struct snapshot_locks *w, struct locksnap *s)
{
	(void)w;
	(void)s;
	return 0;
}

int snapshot_locks_registers(struct snapshot_locks *w, struct snapshot_registers *v, size_t n)
{
	(void)w;
	(void)v;
	(void)n;
	return -ENOTSUP;
}

void snapshot_locks_free(struct snapshot_locks *w)
{
	(void)w;
}

int snapshot_slept_new(struct snapshot_slept **ret, struct waitfeed *w, const struct target *target,
		       uint32_t limit_ppm, struct error *err)
{
	(void)w;
	(void)target;
	(void)limit_ppm;
	*ret = NULL;
	return error_set(err, -ENOTSUP, "This kontend was built without BPF");
}

void snapshot_slept_child(struct snapshot_slept *s, int pid)
{
	(void)s;
	(void)pid;
}

int snapshot_slept_take(struct snapshot_slept *s, struct sleptsnap *ret)
{
	(void)s;
	sleptsnap_clear(ret);
	return 0;
}

int snapshot_slept_users(struct snapshot_slept *s, struct usersnap *ret)
{
	(void)s;
	usersnap_clear(ret);
	return 0;
}

size_t snapshot_slept_new_locks(struct snapshot_slept *s, struct snapshot_users_lock *ret,
				size_t most)
{
	(void)s;
	(void)ret;
	(void)most;
	return 0;
}

size_t snapshot_slept_stacks(struct snapshot_slept *s, struct usersite_stack *ret, size_t most)
{
	(void)s;
	(void)ret;
	(void)most;
	return 0;
}

int snapshot_slept_learn(struct snapshot_slept *s, const struct snapshot_users_path *paths,
			 size_t n)
{
	(void)s;
	(void)paths;
	(void)n;
	return 0;
}

void snapshot_slept_free(struct snapshot_slept *s)
{
	(void)s;
}
