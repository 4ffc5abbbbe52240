// SPDX-License-Identifier: GPL-2.0-only
/*
 * The slab cache of the objects that contain locks: by a function that kernels have since
 * 6.13, so this is a program of its own, which older kernels do without. The calls here take its
 * place, see kfunc-call.h.
 */
#include "kernel/locks.h"

#include "kfunc-call.h"
#include "shared.h"

char license_text[] SEC("license") = "GPL";

/* Shared with the programs that look at locks. */
ARRAY(locks, struct raw_lock, RAW_LOCKS);

struct kmem_cache_order_objects {
	unsigned int x;
} CORE;

struct kmem_cache___size {
	unsigned int size;
	struct kmem_cache_order_objects oo;
} CORE;

enum { ORDER_SHIFT = 16 };

static struct kmem_cache *(*const bpf_get_kmem_cache)(__u64 addr) = (void *)KFUNC_GET_KMEM_CACHE;

static long read_slab(__u32 i, void *ctx)
{
	struct raw_lock *l = bpf_map_lookup_elem(&locks, &i);

	if (!l || !l->addr)
		return 1;
	l->slab[0] = 0;
	l->merged = 0;
	l->object_size = 0;
	struct kmem_cache *c = bpf_get_kmem_cache(l->addr);
	if (!c)
		return 0;
	bpf_probe_read_kernel_str(l->slab, sizeof(l->slab), BPF_CORE_READ(c, name));
	/* Caches of objects of about one size are merged: it has the name of the first one. */
	if (bpf_core_field_exists(c->refcount))
		l->merged = BPF_CORE_READ(c, refcount) > 1;
	struct kmem_cache___size *size = (void *)c;
	if (bpf_core_field_exists(size->size) && bpf_core_field_exists(size->oo)) {
		l->object_size = BPF_CORE_READ(size, size);
		l->order = BPF_CORE_READ(size, oo.x) >> ORDER_SHIFT;
	}
	return 0;
}

SEC("raw_tp/contention_begin")
int read_slabs(void *ctx)
{
	bpf_loop(RAW_LOCKS, read_slab, NULL, 0);
	return 0;
}
