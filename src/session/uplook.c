// SPDX-License-Identifier: GPL-2.0-only
/* The look at uprobes: an uplook and the bytes of its last snapshot, as run-look.c has them. */
#include "uplook.h"
#include "kontend/clock.h"
#include "kontend/look.h"
#include "kontend/mem.h"
#include "kontend/record.h"
#include "kontend/uplook.h"
#include "look-bytes.h"

#include <errno.h>

/* A second look within this time would give rates of next to no time. */
static const uint64_t LEAST_NS = 50000000;

struct run_uplook {
	struct look look;
	struct uplook *uplook;
	struct upsnap snap;
	struct look_bytes bytes;
};

static void *take(struct look *l, bool last, size_t *ret_len)
{
	struct run_uplook *r = (struct run_uplook *)l;

	if (last && clock_now_ns() - r->snap.head.time_ns < LEAST_NS)
		return NULL;
	/* The next tick tries again; the view says how old what it shows is. */
	if (uplook_take(r->uplook, &r->snap, NULL) < 0)
		return NULL;
	return look_bytes_encode(&r->bytes, &upsnap_sections, &r->snap, ret_len);
}

int run_uplook_new(struct run_uplook **ret, const struct opts *o, struct kerntypes *types,
		   struct error *err)
{
	struct uplook_options uo = {.no_bpf = o->no_bpf, .types = types};
	struct run_uplook *r = mem_calloc(1, sizeof(*r));

	if (!r)
		return error_set(err, -ENOMEM, "No memory for looking at uprobes");
	r->look = (struct look){.kind = SNAPSHOT_UPROBES, .version = UPSNAP_VERSION, .take = take};
	int code = uplook_new(&r->uplook, &uo, err);
	if (code < 0) {
		mem_free(r);
		return code;
	}
	*ret = r;
	return 0;
}

struct uplook *run_uplook_inner(struct run_uplook *r)
{
	return r->uplook;
}

struct look *run_uplook_of(struct run_uplook *r)
{
	return &r->look;
}

void run_uplook_free(struct run_uplook *r)
{
	if (!r)
		return;
	uplook_free(r->uplook);
	upsnap_deinit(&r->snap);
	mem_free(r->bytes.bytes);
	mem_free(r);
}
