// SPDX-License-Identifier: GPL-2.0-only
/* kontend built without BPF (meson -Dbpf=disabled, or no libbpf or clang at build time). */
#include "kontend/inspect.h"
#include "kontend/kerntypes.h"

#include <errno.h>

int kerntypes_new(struct kerntypes **ret, struct error *err)
{
	(void)err;
	*ret = NULL;
	return 0;
}

void kerntypes_free(struct kerntypes *t)
{
	(void)t;
}

int inspect_bpf_new(struct inspect **ret, const struct inspect_options *o, struct error *err)
{
	(void)ret;
	(void)o;
	return error_set(err, -ENOTSUP, "kontend was built without BPF (meson -Dbpf=enabled)");
}
