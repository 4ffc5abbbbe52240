// SPDX-License-Identifier: GPL-2.0-only
/* Records of what a chosen task did: they are about the task that comes to a CPU. */
#include "kontend/runrec.h"
#include "kontend/waitrec.h"
#include "sample.h"

#include <stddef.h>
#include <string.h>

/* Times that are known, one after the other, up to that of the record. */
static bool is_in_order(const struct runrec *r, uint64_t now_ns)
{
	const uint64_t times[] = {r->on_ns, r->off_ns, r->woken_ns, r->in_ns, now_ns};
	uint64_t last = 0;

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		if (times[i] && times[i] < last)
			return false;
		last = times[i] ? times[i] : last;
	}
	return true;
}

/* An open record lacks what has not come yet; that of an end has its last time on a CPU. */
static bool is_whole(const struct runrec *r)
{
	if (r->flags & RUNREC_OPEN)
		return (r->on_ns || r->off_ns) && !r->in_ns;
	if (r->state == RUNREC_ENDED)
		return r->off_ns && !r->woken_ns && !r->in_ns;
	return r->off_ns && r->in_ns && (r->state == RUNREC_READY) == !r->woken_ns;
}

static bool has_names(const struct runrec *r)
{
	for (size_t i = 0; i < RUNREC_BYS; i++)
		if (!memchr(r->by[i].comm, 0, sizeof(r->by[i].comm)))
			return false;
	return memchr(r->on.name, 0, sizeof(r->on.name)) && memchr(r->comm, 0, sizeof(r->comm)) &&
	       memchr(r->waker_comm, 0, sizeof(r->waker_comm));
}

int decode_run(const uint8_t *raw, size_t len, struct event *ev)
{
	const size_t before = sizeof(uint32_t), head = offsetof(struct runrec, frames) - before;
	struct runrec r;

	if (len < head)
		return DECODE_BAD;
	memcpy(&r, raw - before, before + head);
	/* It is read while its task may go on: what is half of the next round is left out. */
	if (r.flags & RUNREC_OPEN && r.flags < RUNREC_FLAGS &&
	    (!is_in_order(&r, ev->time) || !is_whole(&r)))
		return DECODE_SKIP;
	if (!r.tid || r.state >= RUNREC_STATES || r.flags >= RUNREC_FLAGS ||
	    !is_in_order(&r, ev->time) || !is_whole(&r) || r.n_frames > RUNREC_SLEEP_FRAMES ||
	    r.n_waker_frames > RUNREC_WAKER_FRAMES || r.n_user > RUNREC_USER_FRAMES ||
	    r.user >= WAITREC_USERS || r.on.kind >= WAITREC_ON_KINDS ||
	    (size_t)r.n_frames + r.n_user + r.n_waker_frames > (len - head) / sizeof(r.frames[0]) ||
	    !has_names(&r))
		return DECODE_BAD;
	ev->kind = EVENT_RUN;
	ev->pid = r.pid;
	ev->tid = r.tid;
	ev->run = (const struct runrec *)(const void *)(raw - before);
	return 0;
}
