// SPDX-License-Identifier: GPL-2.0-only
/*
 * Call chains of waits. Addresses of the program become places in what is mapped there at that
 * moment (maps.h), so that the chains of all processes of a program are the same. An address that
 * is in no mapping is no call: frame pointers of code that uses the register otherwise lead there.
 * The chain ends before it.
 */
#include "wait-chain.h"
#include "internal.h"
#include "kontend/damage.h"
#include "kontend/event.h"
#include "kontend/profile.h"
#include "kontend/stack.h"

#include <string.h>

/* How the part of the program ends; 0: at its outermost function, or it is not known. */
static uint64_t end_mark(enum waitrec_user is, bool in_code)
{
	static const uint32_t marks[WAITREC_USERS] = {
		[WAITREC_USER_ENDS] = MAP_MARK_UNMAPPED,
		[WAITREC_USER_MOST] = MAP_MARK_MOST,
		[WAITREC_USER_SAVED] = MAP_MARK_SAVED,
		[WAITREC_USER_SOON] = MAP_MARK_SOON,
	};
	uint32_t mark = in_code ? marks[is] : (uint32_t)MAP_MARK_UNMAPPED;

	return mark ? map_frame_mark(mark) : 0;
}

uint32_t wait_chain_user(struct map_spaces *spaces, const struct wait_chain_part *p, uint64_t *ret,
			 uint32_t most)
{
	const struct map_space *space = map_spaces_of(spaces, p->pid);
	bool in_code = true;
	uint32_t n = 0;

	/* A thread begins with a return address of zero. */
	for (uint32_t i = 0; in_code && i < p->n && p->frames[i] && n < most; i++) {
		ret[n] = map_spaces_frame(spaces, space, p->frames[i]);
		in_code = map_frame_is_user(ret[n]);
		n += in_code;
	}
	uint64_t mark = end_mark(p->is, in_code);
	if (mark && n < most)
		ret[n++] = mark;
	return n;
}

/* Frames of both parts: in @buf, or where those of the kernel are. */
static const uint64_t *chain_of(struct model *m, const struct event *ev, uint32_t traced,
				uint64_t *buf, uint32_t *ret_n)
{
	const uint64_t *frames = ev->begin.frames + traced;
	uint32_t n = ev->begin.n_frames - traced;

	n = n < STACK_MAX_FRAMES ? n : STACK_MAX_FRAMES;
	frames = ksyms_chain(&m->profile->ksyms, frames, n, buf);
	*ret_n = n;
	if (!ev->begin.n_user && !end_mark((enum waitrec_user)ev->begin.user_is, true))
		return frames;
	const struct wait_chain_part user = {ev->begin.user, ev->begin.n_user, ev->pid,
					     (enum waitrec_user)ev->begin.user_is};
	if (n && frames != buf)
		memcpy(buf, frames, n * sizeof(*buf));
	*ret_n = n + wait_chain_user(&m->profile->spaces, &user, buf + n, STACK_MAX_FRAMES - n);
	return buf;
}

uint32_t wait_chain_expect(struct model *m, const struct event *ev)
{
	uint32_t traced = model_traced(m, ev->begin.frames, ev->begin.n_frames), n;
	uint64_t buf[STACK_MAX_FRAMES];
	const uint64_t *frames = chain_of(m, ev, traced, buf, &n);

	return stack_expect(m->stacks, frames, n);
}

bool wait_chain_is_empty(const struct event *ev)
{
	return !ev->begin.n_frames && !ev->begin.n_user &&
	       !end_mark((enum waitrec_user)ev->begin.user_is, true);
}

/* Chains get longer as they come: the longest seen stands for the limit set at the source. */
uint32_t wait_chain_intern(struct model *m, const struct event *ev)
{
	uint32_t n = ev->begin.n_frames, traced = model_traced(m, ev->begin.frames, n);
	uint64_t buf[STACK_MAX_FRAMES];

	if (wait_chain_is_empty(ev)) {
		m->damage->no_stack++;
		return STACK_OTHER;
	}
	if (n > m->chain_limit)
		m->chain_limit = n;
	if (traced > m->traced_most)
		m->traced_most = traced;
	const uint64_t *frames = chain_of(m, ev, traced, buf, &n);
	return stack_get(m->stacks, frames, n);
}
