// SPDX-License-Identifier: GPL-2.0-only
/*
 * Phases of rotation and switches of cgroups, only if an option asks for them: each probe costs the
 * tasks that hit it. If they are not available, the snapshots say why, and the rest of the
 * measurement goes on.
 */
#include "kontend/clock.h"
#include "kontend/mem.h"
#include "kontend/record.h"
#include "kontend/snapshot-phases.h"
#include "run-parts.h"
#include "snapshot-buf.h"

#include <errno.h>

struct run_phases {
	struct snapshot_source look;
	struct snapshot_phases *probes; /* NULL: see why */
	struct error why;
	struct phasesnap snap;
	struct snapshot_buf bytes;
};

static int take_snapshot(struct run_phases *r)
{
	if (r->probes)
		return snapshot_phases_take(r->probes, &r->snap);
	phasesnap_clear(&r->snap);
	r->snap.head.time_ns = r->snap.head.from_ns = clock_now_ns();
	r->snap.head.missing = PHASESNAP_NO_ROTATION | PHASESNAP_NO_CGROUPS;
	r->snap.head.reason = r->snap.head.cgroup_reason =
		phasesnap_add_text(&r->snap, r->why.text);
	return 0;
}

static void *take_phases(struct snapshot_source *l, bool last, size_t *ret_len)
{
	struct run_phases *r = (struct run_phases *)l;

	(void)last;
	/* The next tick tries again. */
	if (take_snapshot(r) < 0)
		return NULL;
	return snapshot_buf_encode(&r->bytes, &phasesnap_sections, &r->snap, ret_len);
}

int run_phases_new(struct run_phases **ret, const struct opts *o, struct kerntypes *types,
		   struct error *err)
{
	*ret = NULL;
	if (!o->phases)
		return 0;
	struct run_phases *r = mem_calloc(1, sizeof(*r));

	if (!r)
		return error_set(err, -ENOMEM, "No memory for the phases of rotation");
	r->look = (struct snapshot_source){.kind = SNAPSHOT_PHASES,
					   .version = PHASESNAP_VERSION,
					   .take = take_phases,
					   .at_start = true};
	if (o->no_bpf)
		error_set(&r->why, -ENOTSUP, "BPF is switched off (--no-bpf)");
	else
		snapshot_phases_new(&r->probes, types, &r->why);
	*ret = r;
	return 0;
}

struct snapshot_source *run_phases_look(struct run_phases *r)
{
	return r ? &r->look : NULL;
}

void run_phases_free(struct run_phases *r)
{
	if (!r)
		return;
	snapshot_phases_free(r->probes);
	phasesnap_deinit(&r->snap);
	mem_free(r->bytes.bytes);
	mem_free(r);
}
