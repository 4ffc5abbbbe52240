// SPDX-License-Identifier: GPL-2.0-only
/* kontend built without BPF (meson -Dbpf=disabled, or no libbpf or clang at build time). */
#include "kontend/inspect.h"

#include <errno.h>

int inspect_bpf_new(struct inspect **ret, const struct inspect_options *o, struct error *err)
{
	(void)ret;
	(void)o;
	return error_set(err, -ENOTSUP, "kontend was built without BPF (meson -Dbpf=enabled)");
}
