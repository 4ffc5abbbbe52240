// SPDX-License-Identifier: GPL-2.0-only
/*
 * The half of the engine that needs no model: it decodes events and sorts them by time. It runs in
 * the thread of the engine, or in a thread of its own ahead of it (ahead.c).
 */
#include "engine-int.h"
#include "kontend/pidns.h"
#include <errno.h>
#include <string.h>

enum { KEPT = 1 };

static int push(struct order *o, const struct record *r, struct error *err)
{
	int code = order_push(o, r);

	if (code)
		return error_set(err, code,
				 "Cannot keep %zu bytes of ring %u for "
				 "sorting: %s",
				 r->len, r->ring, strerror(-code));
	return KEPT;
}

/* True if the stream was measured in a PID namespace of its own. */
static void learn_host(struct decode *d, const struct record *r)
{
	struct record_host h;

	if (r->len != sizeof(h))
		return;
	memcpy(&h, r->data, sizeof(h));
	h.method[sizeof(h.method) - 1] = 0;
	d->is_inner |= pidns_said(h.method) != PIDNS_INITIAL;
}

int merge_take(struct decode *d, struct order *o, const struct record *r, struct error *err)
{
	switch (r->kind) {
	case RECORD_PERF:
		return push(o, r, err);
	case RECORD_ATTR:
		return decode_add_attr(d, r->data, r->len, err);
	case RECORD_FORMAT:
		return decode_add_format(d, r->data, r->len, err);
	case RECORD_HOST:
		learn_host(d, r);
		return 0;
	case RECORD_SNAPSHOT:
		if (decode_take_names(&d->list, r->data, r->len) < 0)
			return error_set(err, -ENOMEM, "No memory for names of events");
		return 0;
	default:
		return 0;
	}
}

bool merge_until(const struct record *r, uint64_t *ret)
{
	if ((r->kind != RECORD_ROUND && r->kind != RECORD_TICK) || r->len != sizeof(*ret))
		return false;
	memcpy(ret, r->data, sizeof(*ret));
	return true;
}

void merge_look(const struct decode *d, const struct order *o, struct engine_merged *ret)
{
	*ret = (struct engine_merged){.last_time = o->last_time,
				      .n_late = o->n_late,
				      .n_bad = d->n_bad,
				      .n_skipped = d->n_skipped,
				      .no_ends = decode_lacks_ends(d),
				      .no_locks = decode_lacks_locks(d)};
	memcpy(ret->samples, d->samples, sizeof(ret->samples));
}
