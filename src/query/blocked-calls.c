// SPDX-License-Identifier: GPL-2.0-only
/*
 * The calls of blocked tasks: in the kernel, as the latest snapshot has them, and in the program,
 * where a snapshot has read its stack.
 */
#include "blocked-rows.h"
#include "kontend/blocked.h"
#include "kontend/lockname.h"
#include "kontend/locksnap.h"
#include "kontend/query-origin.h"
#include "kontend/wait.h"

#include <stddef.h>

static struct query_chain_parts parts_of(const struct blocked_rows *t,
					 const struct locksnap_blocked *b)
{
	const struct blocked_user *u = blocked_user(t->q->engine->model->blocked, b->tid);

	return (struct query_chain_parts){.kernel = t->s->frames + b->frame,
					  .n_kernel = b->n_frames,
					  .user = u ? u->frames : NULL,
					  .n_user = u ? u->n : 0};
}

void blocked_origin(const struct blocked_rows *t, const struct locksnap_blocked *b,
		    struct query_origin *ret)
{
	const struct query_chain_parts c = parts_of(t, b);

	query_origin_of(t->q, &c, ret);
	if (!c.n_user && !b->kthread)
		ret->at_why = "no snapshot has read its stack";
}

const char *blocked_on(struct blocked_rows *t, const struct locksnap_blocked *b)
{
	const struct wait *w = blocked_wait_of(t, b->tid);
	const struct lockname *n = w ? query_lock_place(t->q, w->addr, w->begin_ns) : NULL;

	for (size_t i = 0; i < t->s->n_waiters; i++)
		if (t->s->waiters[i].tid == b->tid && t->s->waiters[i].on)
			return locksnap_text(t->s, t->s->waiters[i].on);
	return n && query_object_has_path(n) ? n->text : NULL;
}

const char *blocked_calls(const struct blocked_rows *t, const struct locksnap_blocked *b,
			  const char *between)
{
	const struct query_chain_parts c = parts_of(t, b);
	struct query *q = t->q;
	const char *text = NULL;

	for (uint32_t i = 0; i < c.n_kernel + c.n_user; i++) {
		uint64_t frame = i < c.n_kernel ? c.kernel[i] : c.user[i - c.n_kernel];
		const char *name = query_func_name(q, query_func(q, frame));
		name = name ? name : "?";
		text = text ? arena_printf(&q->arena, "%s%s%s", text, between, name) : name;
	}
	return text;
}
