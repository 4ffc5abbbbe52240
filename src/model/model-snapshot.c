// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots: states that are read as a whole and not reported event by event. The model keeps the
 * latest payload of each kind as it came, shared between its copies; so every checkpoint has the
 * last one before it, and the view that shows it decodes it. A kind or a version that is not known
 * here is counted and nothing else.
 */
#include "internal.h"
#include "kontend/blocked.h"
#include "kontend/buildids.h"
#include "kontend/cfiset.h"
#include "kontend/damage.h"
#include "kontend/ended.h"
#include "kontend/funcset.h"
#include "kontend/funcsnap.h"
#include "kontend/limits.h"
#include "kontend/lockname.h"
#include "kontend/locksnap.h"
#include "kontend/mmlevel.h"
#include "kontend/mmlock.h"
#include "kontend/record.h"
#include "kontend/rotation.h"
#include "kontend/sleeps.h"
#include "kontend/sleptsnap.h"
#include "kontend/snapshot.h"
#include "kontend/user-seen.h"
#include "kontend/usersnap.h"
#include "kontend/wait.h"
#include "wait-lost.h"
#include "wait-user.h"
#include <errno.h>
#include <stddef.h>
#include <string.h>

/* Names of locks are needed as long as there are waits for them. */
static int take_names(struct model *m, const struct record_snapshot *head, const void *body,
		      size_t len)
{
	struct locksnap s = {0};
	int code = locksnap_decode(&s, (const char *)body + sizeof(*head), len - sizeof(*head));

	if (code == 0)
		code = lockname_take(m->lock_names, &s, head->time_ns, m->tasks);
	lock_lifetime_named(m, &s, head->time_ns);
	if (code == 0 && s.head.mmap_offset)
		m->mmlocks->lock_offset = s.head.mmap_offset;
	if (code == 0)
		code = blocked_take(m->blocked, &s, m->tasks, m->limits->recent > 0);
	if (code == 0)
		code = wait_user_blocked(m, &s);
	/* Events up to its time have been applied; it may have been taken later. */
	m->looks->due_ns = s.head.time_ns + s.head.cost_ns;
	locksnap_deinit(&s);
	return code;
}

/* The one that was the latest is kept: who waits in both has waited all the time between. */
static int take_locks(struct model *m, const struct record_snapshot *head, const void *body,
		      size_t len)
{
	int code = take_names(m, head, body, len);

	if (code == 0)
		snapshot_set_move(m->snapshots_before, m->snapshots, SNAPSHOT_LOCKS);
	return code;
}

static int take_slept(struct model *m, const struct record_snapshot *head, const void *body,
		      size_t len)
{
	struct sleptsnap s = {0};
	int code = sleptsnap_decode(&s, (const char *)body + sizeof(*head), len - sizeof(*head));

	if (code == 0)
		code = sleeps_snapshot(m->sleeps, &s, m->limits->recent > 0);
	sleptsnap_deinit(&s);
	return code;
}

static int take_users(struct model *m, const struct record_snapshot *head, const void *body,
		      size_t len)
{
	struct usersnap s = {0};
	int code = usersnap_decode(&s, (const char *)body + sizeof(*head), len - sizeof(*head));

	/* The first of a part has sums of the time before it. */
	if (code == 0 && (s.head.is_first || snapshot_set_get(m->snapshots, SNAPSHOT_USERS)))
		code = user_sums(m, &s);
	if (code == 0)
		user_seen_take(m->user_seen, &s);
	usersnap_deinit(&s);
	return code;
}

static void take_burst(struct model *m, const void *payload, size_t len)
{
	struct record_burst b = {0};

	if (len < offsetof(struct record_burst, own_ps))
		return;
	memcpy(&b, payload, len < sizeof(b) ? len : sizeof(b));
	rotation_burst(m->rotation, &b);
}

static void take_mmap(struct model *m, const void *payload, size_t len)
{
	struct mmlevel_how how;

	if (mmlevel_decode(payload, len, &how))
		mmlock_how(m->mmlocks, &how, m->zero_ns);
}

/* Values that are the same in it and in the one before were so all the time between. */
static int take_perf(struct model *m, const void *body, size_t len)
{
	struct snapshot_set before = {0};
	struct rotation_looks l = {.tasks = m->tasks};

	snapshot_set_move(&before, m->snapshots, SNAPSHOT_PERF);
	int code = snapshot_set_put(m->snapshots, body, len);
	if (code) {
		snapshot_set_move(m->snapshots, &before, SNAPSHOT_PERF);
		return code;
	}
	l.before = snapshot_set_get(&before, SNAPSHOT_PERF);
	l.now = snapshot_set_get(m->snapshots, SNAPSHOT_PERF);
	l.pmus = snapshot_set_get(m->snapshots, SNAPSHOT_PMUS);
	rotation_look(m->rotation, &l);
	snapshot_set_deinit(&before);
	return 0;
}

static int take_snapshot(struct model *m, const struct record_snapshot *head, const void *body,
			 size_t len)
{
	if (head->kind == SNAPSHOT_PERF)
		return take_perf(m, body, len);
	if (head->kind == SNAPSHOT_BURST)
		take_burst(m, (const uint8_t *)body + sizeof(*head), len - sizeof(*head));
	if (head->kind == SNAPSHOT_SHORT) {
		int e = shorts_take(m, (const uint8_t *)body + sizeof(*head), len - sizeof(*head),
				    head->time_ns);
		if (e)
			return e;
	}
	if (head->kind == SNAPSHOT_MMAP)
		take_mmap(m, (const uint8_t *)body + sizeof(*head), len - sizeof(*head));
	const uint8_t *payload = (const uint8_t *)body + sizeof(*head);

	if (head->kind == SNAPSHOT_COST)
		wait_lost_tick(m, payload, len - sizeof(*head), head->time_ns);

	/* All of them together are kept, not the latest. */
	if (head->kind == SNAPSHOT_FUNCS)
		return funcset_take(m->funcs, payload, len - sizeof(*head));
	if (head->kind == SNAPSHOT_CFI)
		return cfiset_take(m->cfi, payload, len - sizeof(*head));
	int code = head->kind == SNAPSHOT_LOCKS	  ? take_locks(m, head, body, len)
		   : head->kind == SNAPSHOT_SLEPT ? take_slept(m, head, body, len)
		   : head->kind == SNAPSHOT_USERS ? take_users(m, head, body, len)
						  : 0;
	return code ? code : snapshot_set_put(m->snapshots, body, len);
}

int model_snapshot(struct model *m, const void *body, size_t len)
{
	struct record_snapshot head;

	if (!snapshot_parse(body, len, &head) || head.flags & RECORD_SNAPSHOT_LOST) {
		m->damage->snapshot_lost++;
		return 0;
	}
	const struct snapshot_kind *kind = snapshot_kind(head.kind);
	if (!kind || !head.version || head.version > kind->version) {
		m->damage->snapshot_unknown++;
		return 0;
	}
	int e = take_snapshot(m, &head, body, len);

	if (!e && m->ended)
		e = ended_look(m->ended, head.kind, (const uint8_t *)body + sizeof(head),
			       len - sizeof(head));
	if (e)
		m->damage->snapshot_lost++;
	else
		m->n_snapshots[head.kind]++;
	return e == -ENOMEM ? e : 0;
}

uint64_t model_n_snapshots(const struct model *m)
{
	uint64_t n = 0;

	for (size_t kind = 0; kind < SNAPSHOT_KINDS; kind++)
		n += m->n_snapshots[kind];
	return n;
}
