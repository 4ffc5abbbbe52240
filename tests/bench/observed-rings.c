// SPDX-License-Identifier: GPL-2.0-only
/* The rings that kontend's program of waits writes, found among the maps that it has open. */
#include "observed.h"

#include <linux/bpf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../src/inspect/waits/shared.h"

static bool info_of(int fd, struct bpf_map_info *ret)
{
	union bpf_attr attr = {0};

	*ret = (struct bpf_map_info){0};
	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = sizeof(*ret);
	attr.info.info = (uintptr_t)ret;
	return syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr)) == 0;
}

bool observed_grab_rings(struct observed *o, int fd)
{
	struct bpf_map_info info;
	struct waits_ring *rings;

	if (!info_of(fd, &info))
		return false;
	if (strcmp(info.name, "own") != 0)
		return true;
	if (o->rings || info.value_size != sizeof(*rings) || info.max_entries > OBSERVED_CPUS)
		return false;
	rings = mmap(NULL, info.max_entries * sizeof(*rings), PROT_READ | PROT_WRITE, MAP_SHARED,
		     fd, 0);
	if (rings == MAP_FAILED)
		return false;
	o->rings = rings;
	o->n_rings = info.max_entries;
	for (uint32_t i = 0; i < o->n_rings; i++)
		o->ids[i] = rings[i].id;
	return true;
}

void observed_switch_rings(const struct observed *o, bool on)
{
	for (uint32_t i = 0; i < o->n_rings; i++)
		__atomic_store_n(&o->rings[i].id, on ? o->ids[i] : 0, __ATOMIC_RELEASE);
}

void observed_drop_rings(struct observed *o)
{
	if (o->rings)
		munmap(o->rings, o->n_rings * sizeof(*o->rings));
	o->rings = NULL;
	o->n_rings = 0;
}
