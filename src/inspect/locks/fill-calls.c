// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which file a holder sleeps for, that waits for no lock itself: what the descriptor is of that its
 * system call was given. Paths are read of a few tasks in each look: reading a link takes no lock
 * that a stuck task may keep, as asking a file for its device would.
 */
#include "calls.h"
#include "internal.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

enum { MOST = 16 };

static bool waits(const struct snapshot_locks_raw *raw, int tid)
{
	for (uint32_t i = 0; i < raw->state->n_waiters && i < RAW_LOCK_WAITERS; i++)
		if (raw->waiters[i].tid == tid)
			return true;
	return false;
}

static bool is_there(const struct locksnap *s, int tid)
{
	for (size_t i = 0; i < s->n_sleeps; i++)
		if (s->sleeps[i].tid == tid)
			return true;
	return false;
}

int snapshot_locks_fill_call(const struct snapshot_locks_raw *raw, const struct raw_call *c,
			     int tid, struct locksnap *s)
{
	struct locksnap_sleep to = {.tid = tid};
	char device[32];
	unsigned arg = 0;

	to.doing = calls_doing(c->number, &arg);
	if (to.doing == LOCKSNAP_NO_FILE || arg >= RAW_CALL_FILES || !c->files[arg].known ||
	    s->n_sleeps >= MOST || is_there(s, tid) || waits(raw, tid))
		return 0;
	const struct raw_call_file *f = &c->files[arg];
	to.fd = (int32_t)f->fd;
	to.file = snapshot_locks_add_path(s, raw->proc, tid, to.fd);
	calls_device("/sys", f->rdev ? f->rdev : f->dev, device, sizeof(device));
	to.device = snapshot_locks_add_text(s, device, sizeof(device));
	return locksnap_add_sleep(s, &to);
}
