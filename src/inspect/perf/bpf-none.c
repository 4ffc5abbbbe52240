// SPDX-License-Identifier: GPL-2.0-only
/* kontend built without BPF (meson -Dbpf=disabled, or no libbpf or clang at build time). */
#include "kontend/inspect.h"
#include "kontend/kerntypes.h"
#include "kontend/snapshot-phases.h"

#include <errno.h>

int kerntypes_new(struct kerntypes **ret, struct error *err)
{
	(void)err;
	*ret = NULL;
	return 0;
}

struct kerntypes *kerntypes_share(struct kerntypes *t)
{
	return t;
}

int kerntypes_has(struct kerntypes *t, const char *name, const char *member)
{
	(void)t;
	(void)name;
	(void)member;
	return -ENOTSUP;
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

int snapshot_phases_new(struct snapshot_phases **ret, struct kerntypes *types, struct error *err)
{
	(void)types;
	*ret = NULL;
	return error_set(err, -ENOTSUP, "kontend was built without BPF (meson -Dbpf=enabled)");
}

int snapshot_phases_take(struct snapshot_phases *p, struct phasesnap *ret)
{
	(void)p;
	phasesnap_clear(ret);
	return 0;
}

void snapshot_phases_free(struct snapshot_phases *p)
{
	(void)p;
}
