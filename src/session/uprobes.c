// SPDX-License-Identifier: GPL-2.0-only
/* The source of uprobe snapshots, and the bytes of its last snapshot. */
#include "kontend/clock.h"
#include "kontend/live.h"
#include "kontend/mem.h"
#include "kontend/record.h"
#include "kontend/snapshot-uprobes.h"
#include "run-parts.h"
#include "snapshot-buf.h"

#include <errno.h>

/* Rates over a shorter time than this would mean nothing. */
static const uint64_t LEAST_NS = 50000000;

struct run_uprobes {
	struct snapshot_source look;
	struct snapshot_uprobes *snapshot_uprobes;
	struct upsnap snap;
	struct snapshot_buf bytes;
};

static void *take_uprobes(struct snapshot_source *l, bool last, size_t *ret_len)
{
	struct run_uprobes *r = (struct run_uprobes *)l;

	if (last && clock_now_ns() - r->snap.head.time_ns < LEAST_NS)
		return NULL;
	/* The next tick tries again; views show the age of their snapshot. */
	if (snapshot_uprobes_take(r->snapshot_uprobes, &r->snap, NULL) < 0)
		return NULL;
	return snapshot_buf_encode(&r->bytes, &upsnap_sections, &r->snap, ret_len);
}

int run_uprobes_new(struct run_uprobes **ret, const struct opts *o, struct kerntypes *types,
		    struct error *err)
{
	struct snapshot_uprobes_options uo = {.no_bpf = o->no_bpf, .types = types};
	struct run_uprobes *r = mem_calloc(1, sizeof(*r));

	if (!r)
		return error_set(err, -ENOMEM, "No memory for snapshots of uprobes");
	r->look = (struct snapshot_source){
		.kind = SNAPSHOT_UPROBES, .version = UPSNAP_VERSION, .take = take_uprobes};
	int code = snapshot_uprobes_new(&r->snapshot_uprobes, &uo, err);
	if (code < 0) {
		mem_free(r);
		return code;
	}
	*ret = r;
	return 0;
}

struct snapshot_uprobes *run_uprobes_inner(struct run_uprobes *r)
{
	return r->snapshot_uprobes;
}

struct snapshot_source *run_uprobes_of(struct run_uprobes *r)
{
	return &r->look;
}

void run_uprobes_free(struct run_uprobes *r)
{
	if (!r)
		return;
	snapshot_uprobes_free(r->snapshot_uprobes);
	upsnap_deinit(&r->snap);
	mem_free(r->bytes.bytes);
	mem_free(r);
}
