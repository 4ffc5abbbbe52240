// SPDX-License-Identifier: GPL-2.0-only
/* kontend built without BPF (meson -Dbpf=disabled, or no libbpf or clang at build time). */
#include "bpf.h"

#include <errno.h>
#include <stddef.h>

int up_bpf_open(struct up_bpf *b, int32_t type, bool counts_own, struct kerntypes *types,
		struct error *err)
{
	(void)types;
	(void)counts_own;
	(void)type;
	*b = (struct up_bpf){0};
	return error_set(err, -ENOTSUP, "kontend was built without BPF (meson -Dbpf=enabled)");
}

int up_bpf_walk(struct up_bpf *b)
{
	(void)b;
	return -ENOTSUP;
}

int up_bpf_walk_files(struct up_bpf *b)
{
	(void)b;
	return -ENOTSUP;
}

int up_bpf_map_own(struct up_bpf *b)
{
	(void)b;
	return -ENOTSUP;
}

int up_bpf_count(struct up_bpf *b, uint32_t i, int fd)
{
	(void)b;
	(void)i;
	(void)fd;
	return -ENOTSUP;
}

void up_bpf_close(struct up_bpf *b)
{
	(void)b;
}

int up_links_open(struct up_links **ret, struct kerntypes *types, struct error *err)
{
	(void)types;
	*ret = NULL;
	return error_set(err, -ENOTSUP, "kontend was built without BPF (meson -Dbpf=enabled)");
}

int up_links_walk(struct up_links *l, int (*found)(void *arg, const struct up_link *l), void *arg)
{
	(void)l;
	(void)found;
	(void)arg;
	return -ENOTSUP;
}

void up_links_close(struct up_links *l)
{
	(void)l;
}
