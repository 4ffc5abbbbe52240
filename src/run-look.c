// SPDX-License-Identifier: GPL-2.0-only
/*
 * The look that the live source takes at each tick: an inspector and the bytes of its last
 * snapshot. It belongs to the run, which outlives the source.
 */
#include "run-look.h"
#include "kontend/inspect.h"
#include "kontend/look.h"
#include "kontend/mem.h"
#include "kontend/record.h"

#include <errno.h>

static const uint64_t SECOND = 1000000000;

struct run_look {
	struct look look;
	struct inspect *inspect;
	struct snap snap;
	char *bytes;
	size_t cap;
};

static void *take(struct look *l, size_t *ret_len)
{
	struct run_look *r = (struct run_look *)l;
	const size_t head = sizeof(struct record_snapshot);

	/* The next tick tries again; the views say how old what they show is. */
	if (inspect_take(r->inspect, &r->snap, NULL) < 0)
		return NULL;
	size_t len = head + snap_size(&r->snap);
	if (len > r->cap) {
		char *bytes = mem_resize(r->bytes, len, 1);
		if (!bytes)
			return NULL;
		r->bytes = bytes;
		r->cap = len;
	}
	snap_encode(&r->snap, r->bytes + head);
	*ret_len = len;
	return r->bytes;
}

int run_look_new(struct run_look **ret, const struct opts *o, struct error *err)
{
	struct inspect_options io = {
		.no_bpf = o->no_bpf,
		.probe_cpus = o->probe_cpus,
		.slots_ns = 2 * SECOND,
		.holders_ns = 5 * SECOND,
	};
	struct run_look *r = mem_calloc(1, sizeof(*r));

	if (!r)
		return error_set(err, -ENOMEM, "No memory for looking at perf events");
	r->look = (struct look){SNAPSHOT_PERF, SNAP_VERSION, take, NULL};
	int code = inspect_new(&r->inspect, &io, err);
	if (code < 0) {
		mem_free(r);
		return code;
	}
	*ret = r;
	return 0;
}

struct look *run_look_of(struct run_look *r)
{
	return r ? &r->look : NULL;
}

void run_look_free(struct run_look *r)
{
	if (!r)
		return;
	inspect_free(r->inspect);
	snap_deinit(&r->snap);
	mem_free(r->bytes);
	mem_free(r);
}
