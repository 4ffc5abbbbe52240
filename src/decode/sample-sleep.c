// SPDX-License-Identifier: GPL-2.0-only
/* Records of sleeps: they are about the thread that was woken. */
#include "kontend/sleeprec.h"
#include "kontend/userlock.h"
#include "kontend/userrec.h"
#include "kontend/waitrec.h"
#include "sample.h"

#include <stddef.h>
#include <string.h>

int decode_user(const uint8_t *raw, size_t len, struct event *ev)
{
	struct userrec r = {0};
	const size_t before = sizeof(r.size);
	uint32_t magic;
	memcpy(&magic, raw, sizeof(magic));
	const size_t head = (magic == USERREC1_MAGIC ? offsetof(struct userrec, par)
						     : offsetof(struct userrec, frames)) -
			    before;
	const char *comm = (const char *)raw - before + offsetof(struct userrec, comm);

	if (len < head)
		return DECODE_BAD;
	memcpy(&r, raw - before, before + head);
	if (!r.tid || r.kind >= USERLOCK_KINDS || r.flags >= USERREC_FLAGS || !r.begin_ns ||
	    r.begin_ns > ev->time || r.length_ns > ev->time - r.begin_ns ||
	    r.woken_ns < r.begin_ns || r.woken_ns > ev->time || !userlock_is(r.lock) ||
	    r.user >= WAITREC_USERS || r.n_frames > USERREC_FRAMES ||
	    r.n_frames > (len - head) / sizeof(r.frames[0]) || !memchr(comm, 0, sizeof(r.comm)))
		return DECODE_BAD;
	ev->kind = EVENT_USER;
	ev->pid = r.pid;
	ev->tid = r.tid;
	ev->cgroup = r.cgroup;
	ev->user.lock = r.lock;
	ev->user.begin_ns = r.begin_ns;
	ev->user.length_ns = r.length_ns;
	ev->user.woken_ns = r.woken_ns;
	ev->user.addr = r.addr;
	ev->user.pc = r.pc;
	ev->user.frames = (const uint64_t *)(const void *)(raw + head);
	ev->user.n_frames = r.n_frames;
	ev->user.user_is = (uint8_t)r.user;
	ev->user.missed = r.missed;
	ev->user.comm = comm;
	ev->user.owner_pid = r.owner_pid;
	ev->user.owner_tid = r.owner_tid;
	ev->user.waker_pid = r.waker_pid;
	ev->user.waker_tid = r.waker_tid;
	ev->user.is_lost_known = r.lost != 0;
	ev->user.lost_ns = waitrec_age_ns(r.lost);
	ev->user.is_par_known = r.par != 0;
	ev->user.par_ns = waitrec_age_ns(r.par);
	ev->user.op = r.op;
	ev->user.value = r.value;
	ev->user.cpu = r.cpu;
	ev->user.kind = (uint8_t)r.kind;
	ev->user.flags = (uint8_t)r.flags;
	return 0;
}

int decode_sleep(const uint8_t *raw, size_t len, struct event *ev)
{
	const size_t before = sizeof(uint32_t), head = offsetof(struct sleeprec, frames) - before;
	const char *comm = (const char *)raw - before + offsetof(struct sleeprec, comm);
	const char *waker = (const char *)raw - before + offsetof(struct sleeprec, waker_comm);
	struct sleeprec r;

	if (len < head)
		return DECODE_BAD;
	memcpy(&r, raw - before, before + head);
	if (!r.tid || r.kind >= SLEEPREC_KINDS || !r.begin_ns || r.begin_ns > ev->time ||
	    r.length_ns > ev->time - r.begin_ns || r.n_frames > SLEEPREC_FRAMES ||
	    r.n_user > SLEEPREC_USER || r.user >= WAITREC_USERS ||
	    (size_t)(r.n_frames + r.n_user) > (len - head) / sizeof(r.frames[0]) ||
	    !memchr(comm, 0, sizeof(r.comm)) || !memchr(waker, 0, sizeof(r.waker_comm)))
		return DECODE_BAD;
	ev->kind = EVENT_SLEEP;
	ev->pid = r.pid;
	ev->tid = r.tid;
	ev->sleep.begin_ns = r.begin_ns;
	ev->sleep.length_ns = r.length_ns;
	ev->sleep.frames = (const uint64_t *)(const void *)(raw + head);
	ev->sleep.n_frames = r.n_frames;
	ev->sleep.user = ev->sleep.frames + r.n_frames;
	ev->sleep.n_user = r.n_user;
	ev->sleep.user_is = (uint8_t)r.user;
	ev->sleep.missed = r.missed;
	ev->sleep.comm = comm;
	ev->sleep.waker_comm = waker;
	ev->sleep.waker_pid = r.waker_pid;
	ev->sleep.waker_tid = r.waker_tid;
	ev->sleep.io = r.kind == SLEEPREC_IO;
	return 0;
}

int decode_frames(const uint8_t *raw, size_t len, struct event *ev)
{
	struct waitrec_frames r;
	const size_t before = sizeof(r.size),
		     head = offsetof(struct waitrec_frames, frames) - before;

	if (len < head)
		return DECODE_BAD;
	memcpy(&r, raw - before, before + head);
	if (r.n_user > WAITREC_USER || r.n_user > (len - head) / sizeof(r.frames[0]) ||
	    r.user >= WAITREC_USERS || r.has_on > 1 ||
	    !decode_on(raw + head + r.n_user * sizeof(r.frames[0]), raw + len, r.has_on,
		       &ev->frames.on))
		return DECODE_BAD;
	ev->kind = EVENT_FRAMES;
	ev->frames.lock = r.lock;
	ev->frames.user = (const uint64_t *)(const void *)(raw + head);
	ev->frames.n_user = r.n_user;
	ev->frames.user_is = (uint8_t)r.user;
	return 0;
}
