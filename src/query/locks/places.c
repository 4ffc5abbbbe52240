// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lines of programs that a lock is about: where most of the waiting for it is, by call chains
 * of waits, and where its holder is. That is known by the stack that the look which saw the holder
 * has read, as it had no CPU, of one that runs by its last sample, if that is of the program, and
 * of a lock of the kernel by where it had waited for it before it got it.
 */
#include "../rows.h"
#include "holder.h"
#include "kontend/blame.h"
#include "kontend/lock.h"
#include "kontend/locksnap.h"
#include "kontend/profile.h"
#include "kontend/query-lock.h"
#include "kontend/query-origin.h"
#include "kontend/stack.h"
#include "names/names.h"
#include "queues.h"

#include <inttypes.h>
#include <string.h>

static const struct locksnap_stack *stack_of(const struct locksnap *s, const struct query_holder *h)
{
	for (size_t i = 0; s && i < s->n_stacks; i++)
		if (s->stacks[i].tid == h->tid && s->stacks[i].pid == h->pid)
			return &s->stacks[i];
	return NULL;
}

/* A function that an interpreter runs: "work.py:12 commit". */
static const char *script_text(struct query *q, const struct locksnap *s,
			       const struct locksnap_call *c)
{
	const char *file = locksnap_text(s, c->file), *slash = strrchr(file, '/');

	return arena_printf(&q->arena, "%s:%" PRIu32 " %s", slash ? slash + 1 : file, c->line,
			    locksnap_text(s, c->function));
}

/* The innermost call that is no library's. */
static const char *at_in(struct query *q, const struct locksnap *s, const struct locksnap_stack *t,
			 bool *ret_pending)
{
	const struct map_space *space = map_spaces_of(&q->model->profile->spaces, t->pid);
	const struct locksnap_call *calls = s->calls + t->call;
	uint64_t frames[STACK_MAX_FRAMES];
	struct query_origin o = {0};
	uint32_t n = 0;

	while (space && n < t->n_calls && n < STACK_MAX_FRAMES && !calls[n].function) {
		frames[n] = map_space_frame(space, calls[n].ip);
		if (!map_frame_is_user(frames[n]))
			break;
		n++;
	}
	*ret_pending = query_user_at(q, frames, n, &o);
	if (n < t->n_calls && calls[n].function && (!o.at || o.at_library))
		return script_text(q, s, &calls[n]);
	return o.at;
}

static const char *runs_at(struct query *q, const struct query_holder *h)
{
	struct query_origin o = {0};
	struct query_spot spot;

	query_runs_in(q, h->tid, &spot);
	if (!spot.frame || !map_frame_is_user(spot.frame))
		return NULL;
	(void)query_user_at(q, &spot.frame, 1, &o);
	return o.at;
}

/* A task has a lock of the kernel within one system call: its line is that of its wait for it. */
static const char *got_at(struct query *q, const struct query_holder *h)
{
	enum lock_type type = (enum lock_type)q->model->locks->locks[h->lock].type;
	uint32_t stack = STACK_OTHER;

	if (!locktype_is_user(type) && !locktype_is_file(type))
		stack = blame_got_in(q->model, h->lock, h->task);
	return stack == STACK_OTHER ? NULL : query_origin(q, stack)->at;
}

const char *query_holder_program(struct query *q, const struct query_holder *h)
{
	const struct locksnap *s = query_queues(q);
	const struct locksnap_stack *t = h->look ? stack_of(s, h) : NULL;
	const char *at = NULL;
	bool pending;

	if (t)
		return at_in(q, s, t, &pending);
	if (query_holder_runs_in(q, h))
		at = runs_at(q, h);
	return at ? at : got_at(q, h);
}

bool query_programs_load(struct query *q)
{
	const struct locksnap *s = query_queues(q);
	bool pending = false, one;

	for (size_t i = 0; s && i < s->n_stacks; i++) {
		(void)at_in(q, s, &s->stacks[i], &one);
		pending |= one;
	}
	return pending;
}

int query_lock_at(struct query *q, const struct query_scope *scope, struct query_lock_at *ret)
{
	const struct query_spec spec = {.by = BY_AT, .scope = *scope, .sort = "total_ns"};
	uint64_t all = 0, most = 0;
	struct error err;
	struct table t;

	*ret = (struct query_lock_at){0};
	if (!query_has_program(q))
		return 0;
	int code = query_locks(q, &spec, &t, &err);
	for (size_t i = 0; code == 0 && i < t.n_rows; i++) {
		uint64_t ns = table_u64(&t, i, "total_ns");
		const char *at = table_text(&t, i, "at");
		all += ns;
		if (!at || ns <= most)
			continue;
		most = ns;
		ret->at = at;
		ret->syscall = table_text(&t, i, "syscall");
	}
	ret->pct = all ? 100 * (double)most / (double)all : 0;
	return code;
}
