// SPDX-License-Identifier: GPL-2.0-only
/*
 * The snapshots that the live source takes at its ticks: of slots each time, and of everything at
 * most once a second, since that goes through all tasks and their descriptors. Both use one
 * inspector. They belong to the run, which outlives the source.
 */
#include "kontend/clock.h"
#include "kontend/inspect.h"
#include "kontend/live.h"
#include "kontend/mem.h"
#include "kontend/record.h"
#include "run-parts.h"
#include "snapshot-buf.h"

#include <errno.h>

static const uint64_t SECOND = 1000000000;
/* Rates over a shorter time than this would mean nothing. */
static const uint64_t LEAST_NS = 50000000;

struct run_look_one {
	struct snapshot_source look;
	struct inspect *inspect; /* borrowed */
	enum inspect_what what;
	uint64_t least_ns; /* between two of them, but for the last one */
	struct perfsnap snap;
	struct snapshot_buf bytes;
};

struct run_look {
	struct inspect *inspect;
	struct run_look_one all, slots;
	struct run_uprobes *uprobes;
};

static bool has_tasks(const struct perfsnap *s)
{
	for (size_t i = 0; i < s->n_events; i++) {
		const struct snap_event *e = &s->events[i];
		if (e->target_tid && e->state >= SNAP_INACTIVE && !(e->flags & SNAP_OWN))
			return true;
	}
	return false;
}

static void *take_look(struct snapshot_source *l, bool last, size_t *ret_len)
{
	struct run_look_one *r = (struct run_look_one *)l;

	if (clock_now_ns() - r->snap.head.time_ns < (last ? LEAST_NS : r->least_ns))
		return NULL;
	/* The next tick tries again; the views say how old what they show is. */
	if (inspect_take(r->inspect, r->what, &r->snap, NULL) < 0)
		return NULL;
	l->has_tasks = has_tasks(&r->snap);
	return snapshot_buf_encode(&r->bytes, &perfsnap_sections, &r->snap, ret_len);
}

static struct run_look_one make_one(struct inspect *i, uint16_t kind, enum inspect_what what,
				    uint64_t least_ns)
{
	return (struct run_look_one){
		.look = {.kind = kind, .version = SNAP_VERSION, .take = take_look},
		.inspect = i,
		.what = what,
		.least_ns = least_ns,
	};
}

int run_look_new(struct run_look **ret, const struct opts *o, struct kerntypes *types,
		 struct error *err)
{
	struct inspect_options io = {
		.no_bpf = o->no_bpf,
		.creations = o->creations,
		.types = types,
		.probe_cpus = o->probe_cpus,
		.slots_ns = 2 * SECOND,
		.holders_ns = 5 * SECOND,
	};
	struct run_look *r = mem_calloc(1, sizeof(*r));

	if (!r)
		return error_set(err, -ENOMEM, "No memory for snapshots of perf events");
	int code = inspect_new(&r->inspect, &io, err);
	if (code < 0) {
		mem_free(r);
		return code;
	}
	/* Ticks are not of exactly the same length. */
	r->all = make_one(r->inspect, SNAPSHOT_PERF, INSPECT_ALL, SECOND - SECOND / 20);
	r->slots = make_one(r->inspect, SNAPSHOT_SLOTS, INSPECT_SLOTS, 0);
	r->slots.look.each_tick = true;
	r->all.look.at_start = r->inspect->has_parts;
	if (r->inspect->has_parts)
		r->all.look.next = &r->slots.look;
	else
		r->all.least_ns = 0;
	code = run_uprobes_new(&r->uprobes, o, types, err);
	if (code < 0) {
		run_look_free(r);
		return code;
	}
	*(r->inspect->has_parts ? &r->slots.look.next : &r->all.look.next) =
		run_uprobes_of(r->uprobes);
	*ret = r;
	return 0;
}

struct snapshot_source *run_look_of(struct run_look *r)
{
	return r ? &r->all.look : NULL;
}

struct snapshot_uprobes *run_look_uprobes(struct run_look *r)
{
	return run_uprobes_inner(r->uprobes);
}

static void one_deinit(struct run_look_one *r)
{
	perfsnap_deinit(&r->snap);
	mem_free(r->bytes.bytes);
}

void run_look_free(struct run_look *r)
{
	if (!r)
		return;
	run_uprobes_free(r->uprobes);
	inspect_free(r->inspect);
	one_deinit(&r->all);
	one_deinit(&r->slots);
	mem_free(r);
}
