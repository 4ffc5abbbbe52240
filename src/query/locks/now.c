// SPDX-License-Identifier: GPL-2.0-only
/*
 * A lock at this moment. The queue in a snapshot has all who wait, those that began before there
 * were events, too; where there is none the waits in flight are counted, over both modes of a lock.
 */
#include "../internal.h"
#include "holder.h"
#include "kontend/lock.h"
#include "kontend/locksnap.h"
#include "kontend/query-lock.h"
#include "queues.h"
#include "sched.h"

void query_lock_look(struct query *q, struct query_lock_look *ret)
{
	const struct locksnap *s = query_queues(q);

	*ret = (struct query_lock_look){.reason = "", .no_readers = "", .no_names = ""};
	if (s && !s->head.reason) {
		ret->no_readers = locksnap_text(s, s->head.no_readers);
		ret->many_tasks = s->head.many_tasks;
		ret->no_names = locksnap_text(s, s->head.no_names);
		return;
	}
	ret->missing = QUERY_LOCK_NO_NAMES | QUERY_LOCK_NO_HOLDERS | QUERY_LOCK_NO_PLACES;
	ret->refused = s != NULL;
	ret->reason = s ? locksnap_text(s, s->head.reason) : "there is no snapshot of locks";
}

const char *query_lock_missing_key(unsigned bit)
{
	static const char *const keys[] = {"names", "holders", "places"};

	return bit < sizeof(keys) / sizeof(*keys) ? keys[bit] : NULL;
}

const char *query_lock_unknown(enum lock_type type)
{
	if (type == LOCK_USER_RWLOCK_R || type == LOCK_USER_RWLOCK_W)
		return "readers are not known by thread";
	if (type == LOCK_USER_SEM || type == LOCK_USER_FUTEX)
		return "the owner is not known before its release; the releaser is";
	return NULL;
}

static bool was_waited_for(const struct model *m, enum lock_type type)
{
	for (size_t i = LOCK_TYPES; i < m->locks->n; i++)
		if (m->locks->locks[i].type == type && !m->locks->locks[i].over)
			return true;
	return false;
}

bool query_lock_unknowns(const struct query *q, unsigned *at, enum lock_type *ret)
{
	while (*at < LOCK_TYPES) {
		*ret = (enum lock_type)(*at)++;
		/* Both modes of a lock are one. */
		if (query_lock_unknown(*ret) &&
		    (was_waited_for(q->model, *ret) ||
		     (locktype_is_reader(*ret) && was_waited_for(q->model, locktype_twin(*ret)))) &&
		    (locktype_is_reader(*ret) || locktype_twin(*ret) == *ret))
			return true;
	}
	return false;
}

static uint32_t waiting(const struct model *m, uint64_t addr, enum lock_type type)
{
	const uint32_t *at = map64_get(&m->locks->index, lock_key(addr, type));

	return at ? m->locks->locks[*at].waiting : 0;
}

/* By the flags of its type: both modes of a lock are types of their own. */
static void count_waits(const struct model *m, uint64_t addr, enum lock_type type,
			struct query_lock_now *ret)
{
	enum lock_type twin = locktype_twin(type);
	bool reads = locktype_is_reader(type);

	ret->writers_waiting = waiting(m, addr, reads ? twin : type);
	if (twin != type)
		ret->readers_waiting = waiting(m, addr, reads ? type : twin);
}

void query_lock_now(struct query *q, uint64_t addr, enum lock_type type, struct query_lock_now *ret)
{
	const struct locksnap_queue *l = query_queue_at(q, addr);
	const uint32_t *lock = map64_get(&q->model->locks->index, lock_key(addr, type));
	struct query_holder h;

	struct query_inversion inversion;
	uint32_t n;

	*ret = (struct query_lock_now){.unknown = query_lock_unknown(type)};
	if (query_inversion_worst(q, addr, &inversion, &n))
		ret->inversion = query_inversion_text(q, &inversion);
	if (lock && type == LOCK_PCPU_SEM_W) {
		query_lock_parts(q->model, *lock, &ret->parts);
		ret->parts_text = query_parts_text(q, &ret->parts);
	}
	if (l && l->type != LOCKSNAP_PCPU) {
		ret->readers_waiting = l->readers_waiting;
		ret->writers_waiting = l->writers_waiting;
	} else {
		count_waits(q->model, addr, type, ret);
		if (!l || l->certainty != LOCKSNAP_SURE)
			query_lock_now_percpu(q, addr, type, ret);
	}
	if (ret->holder || !lock || !query_holder_at(q, *lock, &h))
		return;
	ret->certainty = h.certainty;
	ret->next = h.next ? query_task_name(q, h.next) : NULL;
	ret->holder = h.name;
	ret->is = query_holder_is(q, &h);
	ret->owner_at = query_holder_program(q, &h);
	ret->owner_comm = h.comm;
	ret->owner_pid = h.pid;
	ret->owner_tid = h.tid;
	const struct query_held held = query_holder_held(q, *lock, &h);
	ret->held_ns = held.ns;
	ret->held_exact = locktype_is_file(type) && !held.at_least;
	ret->held = locktype_is_file(type) ? query_held_text(q, &held) : NULL;
	/* By a hand-over. */
	if (type == LOCK_USER_SEM || type == LOCK_USER_FUTEX)
		ret->unknown = NULL;
	ret->readers = h.look ? query_queue_readers(q, h.look, "\n") : NULL;
}

bool query_lock_now_by_id(struct query *q, uint64_t id, struct query_lock_now *ret)
{
	uint32_t at = lock_by_id(q->model->locks, id);

	*ret = (struct query_lock_now){0};
	if (at == UINT32_MAX || q->model->locks->locks[at].over || query_sync(q) < 0)
		return false;
	const struct lock *l = &q->model->locks->locks[at];
	query_lock_now(q, l->addr, (enum lock_type)l->type, ret);
	return true;
}

uint64_t query_lock_addr(const struct query *q, uint64_t id)
{
	uint32_t lock = lock_by_id(q->model->locks, id);

	return lock == UINT32_MAX ? 0 : q->model->locks->locks[lock].addr;
}

bool query_lock_has_address(const struct query *q, uint64_t id)
{
	uint32_t lock = lock_by_id(q->model->locks, id);

	return lock != UINT32_MAX && !locktype_is_user(q->model->locks->locks[lock].type);
}
