// SPDX-License-Identifier: GPL-2.0-only
/*
 * The calls of programs that wait, as looks have read them from stacks of sleeping tasks. A task
 * that is in a wait since before the look does not leave the kernel until the wait ends, so its
 * calls are those of the whole wait.
 */
#include "wait-user.h"
#include "blame-int.h"
#include "internal.h"
#include "kontend/blocked.h"
#include "kontend/cell.h"
#include "kontend/event.h"
#include "kontend/locksnap.h"
#include "kontend/profile.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include "kontend/wait.h"
#include "wait-chain.h"

#include <errno.h>
#include <string.h>

static uint64_t frame_of(struct model *m, const struct map_space *space, const struct locksnap *s,
			 const struct locksnap_call *c)
{
	if (c->function)
		return codes_frame(m->profile->codes, locksnap_text(s, c->function),
				   locksnap_text(s, c->file), c->line);
	return map_space_frame(space, c->ip);
}

/* Why there are no more calls; 0: there are none. */
static uint64_t end_mark(const struct locksnap_stack *t, bool in_code)
{
	uint32_t why = in_code ? t->end : (uint32_t)MAP_MARK_UNMAPPED;

	return why ? map_frame_mark(why) : 0;
}

/* The calls as frames, with a mark where they end early. Returns their number. */
static uint32_t take_calls(struct model *m, const struct locksnap *s,
			   const struct locksnap_stack *t, uint64_t *ret, uint32_t most,
			   bool *ret_early)
{
	const struct map_space *space = map_spaces_of(&m->profile->spaces, t->pid);
	bool in_code = true;
	uint32_t n = 0;

	for (uint32_t i = 0; space && in_code && i < t->n_calls && n < most; i++) {
		ret[n] = frame_of(m, space, s, &s->calls[t->call + i]);
		in_code = map_frame_is_user(ret[n]);
		n += in_code;
	}
	uint64_t mark = n ? end_mark(t, in_code) : 0;
	*ret_early = mark != 0;
	if (mark && n < most)
		ret[n++] = mark;
	return n;
}

/* The chain @stack with these calls; @stack itself where it has more of them. */
static uint32_t add_calls(struct model *m, uint32_t stack, const struct locksnap *s,
			  const struct locksnap_stack *t)
{
	uint32_t kernel = stack_kernel_frames(m->stacks, stack);
	uint64_t frames[STACK_MAX_FRAMES];
	bool early;

	memcpy(frames, stack_frames(m->stacks, stack), kernel * sizeof(*frames));
	uint32_t n = take_calls(m, s, t, frames + kernel, STACK_MAX_FRAMES - kernel, &early);
	if (!n || (early && kernel + n <= m->stacks->stacks[stack].n))
		return stack;
	uint32_t made = stack_get(m->stacks, frames, kernel + n);
	return made == STACK_OTHER ? stack : made;
}

uint32_t wait_user_calls(struct model *m, const struct locksnap *s, const struct locksnap_waiter *v)
{
	const struct map_space *space = map_spaces_of(&m->profile->spaces, v->pid);
	uint64_t frames[STACK_MAX_FRAMES];
	uint32_t n = 0;

	for (; space && n < v->user_n_frames && n < STACK_MAX_FRAMES; n++) {
		frames[n] = map_space_frame(space, s->user_frames[v->user_frame + n].ip);
		if (!map_frame_is_user(frames[n]))
			break;
	}
	return n ? stack_get(m->stacks, frames, n) : STACK_OTHER;
}

/* A wait in flight has another chain from now on. */
static void give(struct model *m, struct wait *w, uint32_t stack)
{
	if (w->stack == stack)
		return;
	w->stack = stack;
	w->cell = cell_prefetch(m->cells, wait_key(w));
	blame_moves(m, w);
}

int wait_user_blocked(struct model *m, const struct locksnap *s)
{
	bool early;

	m->blocked->n_users = 0;
	for (size_t i = 0; i < s->n_stacks; i++) {
		struct blocked_user *u = blocked_add_user(m->blocked, s->stacks[i].tid);
		if (!u)
			return -ENOMEM;
		u->n = take_calls(m, s, &s->stacks[i], u->frames, BLOCKED_FRAMES, &early);
	}
	return 0;
}

void wait_user_frames(struct model *m, const struct locksnap *s, const struct locksnap_stack *t)
{
	const uint32_t *at = map64_get(&m->tasks->by_tid, (uint32_t)t->tid);
	const struct task *task = at ? &m->tasks->tasks[*at] : NULL;

	for (uint32_t i = 0; task && task->pid == t->pid && i < task->depth; i++) {
		struct wait *w = &m->waits->waits[task->waits[i]];
		if (!w->doubtful && w->begin_ns <= s->head.time_ns)
			give(m, w, add_calls(m, w->stack, s, t));
	}
}

/* The calls of a program after those of the kernel, unless it has some. */
static void add_part(struct model *m, struct wait *w, const struct wait_chain_part *part)
{
	uint32_t n = stack_kernel_frames(m->stacks, w->stack);
	uint64_t frames[STACK_MAX_FRAMES];

	if (n < m->stacks->stacks[w->stack].n)
		return;
	memcpy(frames, stack_frames(m->stacks, w->stack), n * sizeof(*frames));
	n += wait_chain_user(&m->profile->spaces, part, frames + n, STACK_MAX_FRAMES - n);
	uint32_t made = stack_get(m->stacks, frames, n);
	if (made != STACK_OTHER)
		give(m, w, made);
}

void wait_user_begin(struct model *m, struct wait *w, const struct event *begin)
{
	const struct wait_chain_part part = {begin->begin.user, begin->begin.n_user, begin->pid,
					     (enum waitrec_user)begin->begin.user_is};

	if (!wait_chain_is_empty(begin))
		add_part(m, w, &part);
}

void wait_user_event(struct model *m, const struct event *ev)
{
	const uint32_t *at = map64_get(&m->tasks->by_tid, (uint32_t)ev->tid);
	const struct task *task = at ? &m->tasks->tasks[*at] : NULL;
	struct wait *w =
		task && task->depth ? &m->waits->waits[task->waits[task->depth - 1]] : NULL;
	const struct wait_chain_part part = {ev->frames.user, ev->frames.n_user, ev->pid,
					     (enum waitrec_user)ev->frames.user_is};

	if (!w || w->addr != ev->frames.lock)
		return;
	if (ev->frames.on.kind)
		w->on = ev->frames.on;
	if (w->stack != STACK_OTHER)
		add_part(m, w, &part);
}
