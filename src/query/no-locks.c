// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recordings without lock events, as perf makes them. No wait is in them, which does not mean that
 * no task has waited: they have a profile at most, and the user is led there.
 */
#include "internal.h"
#include "kontend/engine.h"
#include "kontend/query-no-locks.h"
#include "kontend/query-recorded.h"

#include <inttypes.h>
#include <string.h>

/* With commas between thousands, as the number is exact. */
static const char *exact(struct query *q, uint64_t n)
{
	if (n < 1000)
		return arena_printf(&q->arena, "%" PRIu64, n);
	const char *front = exact(q, n / 1000);

	return front ? arena_printf(&q->arena, "%s,%03" PRIu64, front, n % 1000) : NULL;
}

bool query_no_locks_but_profile(const struct query *q)
{
	const struct eventlist *l = &q->engine->events;
	bool any = false;

	for (size_t i = 0; q->engine->model->no_locks && i < l->n; i++)
		any |= l->events[i].is_profile;
	return any;
}

/* Are there lock events that cannot be decoded? */
static bool has_others(const struct query *q)
{
	const struct eventlist *l = &q->engine->events;

	for (size_t i = 0; i < l->n; i++)
		if (l->events[i].no_format && !strncmp(l->events[i].name, "lock:", 5))
			return true;
	return false;
}

/* Other events may have samples all the same. */
static const char *without_profile(struct query *q, const char *none)
{
	struct query_recorded r;

	if (query_recorded(q, &r) < 0 || !r.hidden)
		return arena_printf(&q->arena, "%s, and no profile", none);
	const char *samples = exact(q, r.hidden);
	return samples ? arena_printf(&q->arena,
				      "%s, and no profile; %s sample%s of other events are not "
				      "shown (-e, key V)",
				      none, samples, r.hidden == 1 ? "" : "s")
		       : NULL;
}

const char *query_no_locks(struct query *q)
{
	const char *none = has_others(q) ? "the lock events of this file cannot be decoded"
					 : "this file has no lock events";

	if (!q->engine->model->no_locks)
		return NULL;
	uint64_t n = query_recorded_samples(q);
	if (!n && query_no_locks_but_profile(q))
		return arena_printf(&q->arena, "%s; its profile has no samples so far", none);
	if (!n)
		return without_profile(q, none);
	const char *samples = exact(q, n);

	return samples ? arena_printf(&q->arena, "%s; it has a profile of %s sample%s (key 9)",
				      none, samples, n == 1 ? "" : "s")
		       : NULL;
}
