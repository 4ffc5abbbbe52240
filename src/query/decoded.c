// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots for queries. They are decoded when they are shown, and kept until another one has come:
 * the address alone does not identify a snapshot, as memory is used again. All answers of a frame
 * come from the same snapshot: a key may ask after the model has got a newer one, while the view
 * still reads the rows of its last answer.
 */
#include "decoded.h"
#include "kontend/model.h"
#include "kontend/query.h"

#include <errno.h>

static bool is_of(const struct query_decoded *d, const struct snapshot *s)
{
	return d->of == s && d->time_ns == s->head.time_ns && d->len == s->len;
}

bool query_decode(struct query *q, struct query_decoded *d, const struct sections *k, void *snap,
		  const struct snapshot *s)
{
	if (!s)
		return false;
	if (d->code == -ENOMEM || (!held_is_of(&d->held, &q->frame) && !is_of(d, s))) {
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
