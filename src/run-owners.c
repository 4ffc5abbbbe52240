// SPDX-License-Identifier: GPL-2.0-only
/*
 * Owners at the begin of waits are asked for by --owner, or by showing them. Whoever asks for what
 * this kernel or user cannot have is told so, instead of being shown a table of nobody.
 */
#include "run-owners.h"
#include "kontend/query.h"

#include <errno.h>
#include <string.h>

int run_owners_new(struct ownerfeed **ret, const struct opts *o, const struct target *target,
		   struct kerntypes *types, struct error *err)
{
	bool shown = o->by && strcmp(o->by, query_by_name(BY_OWNER)) == 0;
	struct error why = {0};

	*ret = NULL;
	if (!o->owner && !shown)
		return 0;
	if (o->no_bpf)
		return error_set(err, -ENOTSUP,
				 "Cannot tell who holds locks (%s): BPF is switched off (--no-bpf)",
				 o->owner ? "--owner" : "--by owner");
	int code = ownerfeed_new(ret, target, types, &why);
	return code < 0 ? error_set(err, code, "Cannot tell who holds locks (%s): %s",
				    o->owner ? "--owner" : "--by owner", why.text)
			: 0;
}
