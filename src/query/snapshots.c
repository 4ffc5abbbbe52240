// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots for queries, and the tables and structs that need no other data: things that have ended
 * during the measurement, as rows of the tables that they were in; the incident of a recording; the
 * measured machine, a fixed struct of texts, which a file may leave unterminated.
 *
 * A snapshot is decoded when a view shows it, and cached until another one has come. The address
 * alone does not identify a snapshot, as memory is used again. All answers of a frame come from the
 * same snapshot: a key may cause a query after the model has a newer one, while the view still
 * reads the rows of its last answer.
 */
#include "snapshots.h"
#include "internal.h"
#include "kontend/damage.h"
#include "kontend/engine.h"
#include "kontend/lock.h"
#include "kontend/lockname.h"
#include "kontend/model.h"
#include "kontend/query-incidents.h"
#include "kontend/query-machine.h"
#include "kontend/query.h"
#include "kontend/text.h"
#include "rows.h"

#include <errno.h>
#include <string.h>

static bool decoded_is_of(const struct query_decoded *d, const struct snapshot *s)
{
	return d->of == s && d->time_ns == s->head.time_ns && d->len == s->len;
}

bool query_decode(struct query *q, struct query_decoded *d, const struct sections *k, void *snap,
		  const struct snapshot *s)
{
	if (!s)
		return false;
	if (d->code == -ENOMEM || (!held_is_of(&d->held, &q->frame) && !decoded_is_of(d, s))) {
		d->code = sections_decode(k, snap, s->bytes, s->len);
		d->of = s;
		d->time_ns = s->head.time_ns;
		d->len = s->len;
	}
	d->held = held_now(&q->frame);
	return d->code == 0;
}

const char *query_decode_why(const struct query *q, uint16_t kind, const char *none)
{
	if (q->model->n_snapshots[kind])
		return "the snapshot is damaged";
	if (q->model->damage->snapshot_unknown)
		return "the recording has snapshots of a later version of kontend only";
	return q->model->n_ticks ? none
				 : "nothing was looked at yet: the first snapshot comes with the "
				   "first interval";
}

int query_ended(struct query *q, enum ended_kind kind, struct query_ended *ret)
{
	const struct ended *e = q->model->ended;
	const struct ended_list *l = e ? &e->lists[kind] : NULL;

	*ret = (struct query_ended){.kind = kind};
	if (!l || !l->n)
		return 0;
	ret->at = arena_alloc(&q->arena, l->n * sizeof(*ret->at));
	if (!ret->at)
		return -ENOMEM;
	for (uint32_t i = 0; i < l->n; i++)
		if (l->last_ns[i])
			ret->at[ret->n++] = i;
	return 0;
}

uint64_t query_ended_more(const struct query *q, enum ended_kind kind)
{
	return q->model->ended ? q->model->ended->lists[kind].more : 0;
}

const struct column *query_ended_columns(struct query *q, const struct query_ended *e,
					 const struct table_kind *kind, size_t ended)
{
	struct column *c = e->n ? rows_columns(q, kind) : NULL;

	if (c)
		c[ended + 1].flags |= COLUMN_SCREEN;
	return e->n ? c : kind->columns;
}

void query_ended_fill(const struct query *q, const struct query_ended *e, size_t i, struct value *v)
{
	uint64_t last = q->model->ended->lists[e->kind].last_ns[e->at[i]];
	uint64_t now = q->model->now_ns;

	value_u(&v[0], 1);
	value_u(&v[1], now > last ? now - last : 0);
}

struct upsnap query_ended_upsnap(const struct query *q, const struct query_ended *e, size_t i)
{
	struct upsnap s = q->model->ended->uprobes;

	s.head = q->model->ended->upsnap.head;
	s.head.time_ns = q->model->ended->lists[e->kind].last_ns[e->at[i]];
	s.head.interval_ns = 0;
	return s;
}

bool query_incident(const struct model *m, struct incident *ret)
{
	const struct snapshot *s = snapshot_set_get(m->snapshots, SNAPSHOT_INCIDENT);

	return s && incident_decode(s->bytes, s->len, ret);
}

bool query_incident_is_named(const struct engine *e, const struct incident *in)
{
	struct lockname name;

	return !in->lock || !e->lock_requests || lockname_get(e->model->lock_names, in->lock) ||
	       lockname_percpu(e->model->lock_names, in->lock, &name);
}

void query_incident_name(struct query *q, struct incident *in)
{
	const struct lock_table *t = q->model->locks;
	const char *name = NULL;

	/* Without memory the incident keeps its name. */
	if (!in->lock || query_sync(q) < 0)
		return;
	for (size_t i = 1; !name && i < t->n; i++)
		if (t->locks[i].addr == in->lock)
			name = query_lock_name(q, (uint32_t)i);
	if (name && *name)
		text_clean(in->lock_name, sizeof(in->lock_name), name);
}

struct record_machine query_machine(const struct query *q)
{
	const struct snapshot *s = snapshot_set_get(q->model->snapshots, SNAPSHOT_MACHINE);
	struct record_machine m = {0};

	if (!s || s->len < RECORD_MACHINE_LEAST)
		return m;
	memcpy(&m, s->bytes, s->len < sizeof(m) ? s->len : sizeof(m));
	m.host[sizeof(m.host) - 1] = '\0';
	m.id[sizeof(m.id) - 1] = '\0';
	m.boot[sizeof(m.boot) - 1] = '\0';
	m.kontend[sizeof(m.kontend) - 1] = '\0';
	m.refused[sizeof(m.refused) - 1] = '\0';
	return m;
}
