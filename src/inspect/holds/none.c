// SPDX-License-Identifier: GPL-2.0-only
/* kontend built without BPF. */
#include "kontend/snapshot-holds.h"

#include <errno.h>

int snapshot_holds_new(struct snapshot_holds **ret, const struct snapshot_holds_options *o,
		       struct error *err)
{
	(void)o;
	*ret = NULL;
	return error_set(err, -ENOTSUP, "kontend was built without BPF (meson -Dbpf=enabled)");
}

int snapshot_holds_take(struct snapshot_holds *h, struct holdsnap *ret)
{
	(void)h;
	holdsnap_clear(ret);
	return 0;
}

void snapshot_holds_free(struct snapshot_holds *h)
{
	(void)h;
}
