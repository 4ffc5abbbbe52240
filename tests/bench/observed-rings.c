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

/* A descriptor of the map that the kernel knows by @id. */
static int map_by_id(uint32_t id)
{
	union bpf_attr attr = {.map_id = id};

	return (int)syscall(SYS_bpf, BPF_MAP_GET_FD_BY_ID, &attr, sizeof(attr));
}

/* The id of the map of one CPU in the map of all CPUs. False: that CPU is not measured. */
static bool own_id(int outer, uint32_t cpu, uint32_t *ret)
{
	union bpf_attr attr = {.map_fd = (uint32_t)outer};

	attr.key = (uintptr_t)&cpu;
	attr.value = (uintptr_t)ret;
	return syscall(SYS_bpf, BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr)) == 0;
}

static bool grab_own(struct observed *o, uint32_t id)
{
	struct bpf_map_info info;
	int fd = map_by_id(id);
	bool is_ours = fd >= 0 && info_of(fd, &info) && info.value_size > sizeof(struct waits_cpu);
	void *p = is_ours ? mmap(NULL, info.value_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
			  : MAP_FAILED;

	if (fd >= 0)
		close(fd);
	if (p == MAP_FAILED)
		return false;
	o->ring_bytes = info.value_size;
	o->rings[o->n_rings] = p;
	o->ids[o->n_rings] = o->rings[o->n_rings]->ring.id;
	o->n_rings++;
	return true;
}

bool observed_grab_rings(struct observed *o, int fd)
{
	struct bpf_map_info info;
	uint32_t id;

	if (!info_of(fd, &info))
		return false;
	if (strcmp(info.name, "own") != 0 || info.type != BPF_MAP_TYPE_ARRAY_OF_MAPS)
		return true;
	if (o->n_rings || info.max_entries > OBSERVED_CPUS)
		return false;
	for (uint32_t cpu = 0; cpu < info.max_entries; cpu++)
		if (own_id(fd, cpu, &id) && !grab_own(o, id))
			return false;
	return true;
}

void observed_switch_rings(const struct observed *o, bool on)
{
	for (uint32_t i = 0; i < o->n_rings; i++)
		__atomic_store_n(&o->rings[i]->ring.id, on ? o->ids[i] : 0, __ATOMIC_RELEASE);
}

void observed_drop_rings(struct observed *o)
{
	for (uint32_t i = 0; i < o->n_rings; i++)
		munmap(o->rings[i], o->ring_bytes);
	o->n_rings = 0;
}
