// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names on a screen change for better ones only: that of an object comes with a
 * snapshot, that of the function which waits most changes with each wait, and where cells are
 * folded a function that said which lock it is may be missed. So a name that was shown stays until
 * there is one that says more. Both modes of a lock have one.
 */
#include "kontend/hash.h"
#include "kontend/lock.h"
#include "kontend/lockname.h"
#include "kontend/mem.h"
#include "names.h"

enum { MOST = 1 << 16 }; /* in the next frame all of them are forgotten */

/* At the begin of a frame: rows have these texts. */
void query_steady_tidy(struct query *q)
{
	struct query_steady *s = &q->steady;

	if (s->n < MOST)
		return;
	map64_clear(&s->at);
	strpool_deinit(&s->pool);
	s->pool = (struct strpool){0};
	s->n = 0;
}

/* The life: at that address another lock may follow. Of one that is over the name is of its time.
 */
static uint64_t key_of(const struct query *q, const struct lock *l)
{
	uint32_t life = q->model->lock_names ? lockname_life(q->model->lock_names, l->addr) : 0;

	return hash_u64(l->addr ^ hash_u64(life));
}

const char *query_steady_name(struct query *q, uint32_t lock, const char *name,
			      enum query_name_rank rank)
{
	const struct lock *l = &q->model->locks->locks[lock];
	struct query_steady *s = &q->steady;

	if (!name || l->over || !l->addr)
		return name;
	const uint64_t key = key_of(q, l);
	const uint32_t *known = map64_get(&s->at, key);
	struct query_steady_name *at = known ? &s->names[*known] : NULL;
	if (at && (rank < at->rank || (rank == at->rank && rank < QUERY_NAME_LOCK)))
		return at->text;
	if (!at && s->n == MOST)
		return name;
	const char *text = strpool_intern(&s->pool, name);
	if (!text || (!at && (mem_grow(&s->names, &s->cap, s->n, sizeof(*s->names)) < 0 ||
			      map64_put(&s->at, key, (uint32_t)s->n) < 0))) {
		q->cache->failed = true;
		return name;
	}
	if (!at)
		at = &s->names[s->n++];
	*at = (struct query_steady_name){text, rank};
	return text;
}

void query_steady_deinit(struct query *q)
{
	map64_deinit(&q->steady.at);
	strpool_deinit(&q->steady.pool);
	mem_free(q->steady.names);
}
