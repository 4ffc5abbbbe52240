// SPDX-License-Identifier: GPL-2.0-only
/* Which inspector: the one that sees most of those that work here. */
#include "kontend/inspect.h"
#include "kontend/pidns.h"

#include <errno.h>
#include <stdio.h>

int inspect_new(struct inspect **ret, const struct inspect_options *o, struct error *err)
{
	struct error why = {0};
	int code = -ECANCELED;

	if (!o->no_bpf) {
		code = inspect_bpf_new(ret, o, &why);
		if (code == 0)
			return 0;
	}
	int probe = inspect_probe_new(ret, o, err);
	if (probe == 0)
		snprintf((*ret)->why, sizeof((*ret)->why), "%.180s%s",
			 o->no_bpf ? "BPF was switched off (--no-bpf)" : why.text, pidns_unseen());
	return probe;
}
