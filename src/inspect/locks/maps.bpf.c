// SPDX-License-Identifier: GPL-2.0-only
/*
 * The BPF maps that contain locks: of a hash map one for each bucket, of others one in the map. An
 * iterator goes through all maps, and compares the places of each with the locks that have no queue
 * to read. A program of its own, without which a kernel that has other maps does.
 */
#include "kernel/locks.h"

#include "shared.h"

char license_text[] SEC("license") = "GPL";

/* Shared with the programs that look at locks. */
ARRAY(locks, struct raw_lock, RAW_LOCKS);

/* Since 6.2. */
enum { MAP_CGRP_STORAGE = 32 };

struct bpf_map {
	enum bpf_map_type map_type;
	unsigned int id;
	char name[16];
} CORE;

struct bpf_iter__bpf_map {
	struct bpf_iter_meta *meta;
	struct bpf_map *map;
} CORE;

struct bucket {
	int raw_lock;
};

struct bpf_htab {
	struct bpf_map map;
	struct bucket *buckets;
	unsigned int n_buckets;
} CORE;

struct bpf_queue_stack {
	struct bpf_map map;
} CORE;

struct lpm_trie {
	struct bpf_map map;
} CORE;

struct bpf_ringbuf {
	unsigned long long mask;
} CORE;

struct bpf_ringbuf_map {
	struct bpf_map map;
	struct bpf_ringbuf *rb;
} CORE;

/* Each has values of tasks, sockets, inodes or cgroups. */
struct bpf_local_storage_map_bucket {
	int raw_lock;
};

struct bpf_local_storage_map {
	struct bpf_map map;
	struct bpf_local_storage_map_bucket *buckets;
	unsigned int bucket_log;
} CORE;

/* Where locks of the map may be: in itself, and in a part that is allocated apart. */
struct places {
	__u64 map, map_size, part, part_size;
	__u32 id, bucket; /* bucket: size of each in that part; 0: it has none */
	char name[16];
};

#define SIZE(type) (bpf_core_type_exists(type) ? bpf_core_type_size(type) : 0)

static __always_inline void find_places(__u64 map, struct places *ret)
{
	struct bpf_ringbuf_map *ring = (void *)map;
	struct bpf_local_storage_map *storage = (void *)map;
	struct bpf_htab *hash = (void *)map;
	struct bpf_map *m = (void *)map;

	ret->map = map;
	switch ((__u32)BPF_CORE_READ(m, map_type)) {
	case BPF_MAP_TYPE_HASH:
	case BPF_MAP_TYPE_LRU_HASH:
	case BPF_MAP_TYPE_PERCPU_HASH:
	case BPF_MAP_TYPE_LRU_PERCPU_HASH:
	case BPF_MAP_TYPE_HASH_OF_MAPS:
		if (!bpf_core_type_exists(struct bpf_htab))
			return;
		ret->map_size = SIZE(struct bpf_htab);
		ret->bucket = SIZE(struct bucket);
		ret->part = (__u64)BPF_CORE_READ(hash, buckets);
		ret->part_size = BPF_CORE_READ(hash, n_buckets) * (__u64)SIZE(struct bucket);
		return;
	case BPF_MAP_TYPE_SK_STORAGE:
	case BPF_MAP_TYPE_INODE_STORAGE:
	case BPF_MAP_TYPE_TASK_STORAGE:
	case MAP_CGRP_STORAGE:
		if (!bpf_core_type_exists(struct bpf_local_storage_map))
			return;
		ret->map_size = SIZE(struct bpf_local_storage_map);
		ret->bucket = SIZE(struct bpf_local_storage_map_bucket);
		ret->part = (__u64)BPF_CORE_READ(storage, buckets);
		ret->part_size = (__u64)ret->bucket << (BPF_CORE_READ(storage, bucket_log) & 31);
		return;
	case BPF_MAP_TYPE_QUEUE:
	case BPF_MAP_TYPE_STACK:
		ret->map_size = SIZE(struct bpf_queue_stack);
		return;
	case BPF_MAP_TYPE_LPM_TRIE:
		ret->map_size = SIZE(struct lpm_trie);
		return;
	case BPF_MAP_TYPE_RINGBUF:
	case BPF_MAP_TYPE_USER_RINGBUF:
		if (!bpf_core_type_exists(struct bpf_ringbuf_map))
			return;
		ret->part = (__u64)BPF_CORE_READ(ring, rb);
		ret->part_size = SIZE(struct bpf_ringbuf);
		return;
	default:
		ret->map_size = SIZE(struct bpf_map);
	}
}

static long compare(__u32 i, void *arg)
{
	struct raw_lock *l = bpf_map_lookup_elem(&locks, &i);
	const struct places *p = arg;

	if (!l || !l->addr)
		return 1;
	if (l->type >= RAW_NO_QUEUE &&
	    (l->addr - p->map < p->map_size || l->addr - p->part < p->part_size)) {
		l->map_id = p->id;
		l->map_bucket = p->bucket && l->addr - p->part < p->part_size
					? (__u32)(l->addr - p->part) / p->bucket + 1
					: 0;
		__builtin_memcpy(l->map_name, p->name, sizeof(l->map_name));
	}
	return 0;
}

SEC("iter/bpf_map")
int name_maps(struct bpf_iter__bpf_map *ctx)
{
	struct places p = {0};
	__u64 map = 0;

	/* As a number: the verifier subtracts no pointer that it knows. */
	bpf_core_read(&map, sizeof(map), &ctx->map);
	if (!map)
		return 0;
	find_places(map, &p);
	p.id = BPF_CORE_READ((struct bpf_map *)map, id);
	BPF_CORE_READ_INTO(&p.name, (struct bpf_map *)map, name);
	bpf_loop(RAW_LOCKS, compare, &p, 0);
	return 0;
}
