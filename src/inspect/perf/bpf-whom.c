// SPDX-License-Identifier: GPL-2.0-only
/*
 * The task that an inherited event counts. Threads of a family exchange their contexts as they
 * follow another on a CPU, so it is the task of the context. But contexts are read one after
 * another, and may be exchanged in between: then two events of a family seem to count the same
 * task, which none can. Those are shown for the tasks that they were opened for.
 */
#include "bpf-int.h"

#include <errno.h>

static uint64_t family_of(const struct raw_event *r)
{
	return r->parent_id ? r->parent_id : r->id;
}

static uint64_t key_of(const struct raw_event *r)
{
	int tid = r->counted_tid ? r->counted_tid : r->target_tid;

	return map64_hash(family_of(r)) + (uint32_t)tid;
}

static bool is_inherited(const struct raw_event *r)
{
	return r->parent_id || r->flags & RAW_INHERIT;
}

static uint32_t count_of(const struct map64 *m, uint64_t key)
{
	const uint32_t *n = map64_get(m, key);

	return n ? *n : 0;
}

static int count(struct map64 *m, uint64_t key)
{
	return map64_put(m, key, count_of(m, key) + 1);
}

int whom_begin(struct whom *w, const struct raw_found *found)
{
	int code = 0;

	map64_clear(&w->seen);
	map64_clear(&w->families);
	map64_clear(&w->counted);
	for (uint32_t k = 0; code == 0 && k < found->n_events; k++) {
		const struct raw_event *r = &found->events[k];
		/* It may have been found on several lists. */
		if (!is_inherited(r) || map64_get(&w->seen, r->addr))
			continue;
		code = map64_put(&w->seen, r->addr, 1);
		code = code < 0 ? code : count(&w->families, family_of(r));
		/* An event that is in no context any more counts no task. */
		if (code == 0 && r->state > SNAP_EXIT)
			code = count(&w->counted, key_of(r));
	}
	return code;
}

bool whom_is_other(const struct whom *w, const struct raw_event *r)
{
	return r->counted_tid && r->state > SNAP_EXIT && count_of(&w->counted, key_of(r)) == 1;
}

bool whom_is_shared(const struct whom *w, const struct raw_event *r)
{
	return is_inherited(r) && count_of(&w->families, family_of(r)) > 1;
}

void whom_deinit(struct whom *w)
{
	map64_deinit(&w->seen);
	map64_deinit(&w->families);
	map64_deinit(&w->counted);
}
