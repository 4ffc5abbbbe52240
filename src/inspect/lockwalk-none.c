// SPDX-License-Identifier: GPL-2.0-only
/* Looking at locks, in a kontend that was built without BPF. */
#include "kontend/lockwalk.h"

#include <errno.h>

int lockwalk_new(struct lockwalk **ret, bool all_mms, struct kerntypes *types, struct error *err)
{
	(void)types;
	(void)ret;
	(void)all_mms;
	return error_set(err, -ENOTSUP, "This kontend was built without BPF");
}

int lockwalk_take(struct lockwalk *w, const struct lockask_lock *asks, size_t n,
		  struct locksnap *ret, struct error *err)
{
	(void)w;
	(void)asks;
	(void)n;
	(void)ret;
	return error_set(err, -ENOTSUP, "This kontend was built without BPF");
}

void lockwalk_free(struct lockwalk *w)
{
	(void)w;
}
