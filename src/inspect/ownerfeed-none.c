// SPDX-License-Identifier: GPL-2.0-only
/* Owners, in a kontend that was built without BPF. */
#include "kontend/ownerfeed.h"

#include <errno.h>
#include <stddef.h>

int ownerfeed_new(struct ownerfeed **ret, const struct target *target, struct kerntypes *types,
		  struct error *err)
{
	(void)target;
	(void)types;
	(void)ret;
	return error_set(err, -ENOTSUP, "This kontend was built without BPF");
}

struct feed *ownerfeed_feed(struct ownerfeed *f)
{
	(void)f;
	return NULL;
}

int ownerfeed_start(struct ownerfeed *f, struct error *err)
{
	(void)f;
	return error_set(err, -ENOTSUP, "This kontend was built without BPF");
}

void ownerfeed_free(struct ownerfeed *f)
{
	(void)f;
}
