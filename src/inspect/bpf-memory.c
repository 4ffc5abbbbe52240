// SPDX-License-Identifier: GPL-2.0-only
/* Computes the memory of maps from their sizes, which an object file has before it is loaded. */
#include "kontend/bpf-memory.h"
#include "bpf-run.h"
#include "btf/types.h"
#include "waits/internal.h"

#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#define OBJECT(name) extern const char name##_object[], name##_object_end[]
OBJECT(inspect);
OBJECT(uprobe);
OBJECT(uplinks);
OBJECT(locks);
OBJECT(slabs);
OBJECT(waits);
#undef OBJECT

enum { HASH_HEAD = 48, BUCKET = 16 }; /* struct htab_elem before its key; struct bucket */

static _Atomic uint64_t loaded;

static uint64_t round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

static uint64_t possible_cpus(void)
{
	int n = libbpf_num_possible_cpus();

	return n > 0 ? (uint64_t)n : 1;
}

static uint64_t hash_bytes(uint64_t n, uint64_t key, uint64_t value)
{
	uint64_t buckets = 1;

	while (buckets < n)
		buckets *= 2;
	return n * (HASH_HEAD + key + value) + buckets * BUCKET;
}

static uint64_t map_bytes(const struct bpf_map *m)
{
	uint64_t n = bpf_map__max_entries(m), key = round_up(bpf_map__key_size(m), 8);
	uint64_t value = round_up(bpf_map__value_size(m), 8);

	switch (bpf_map__type(m)) {
	case BPF_MAP_TYPE_HASH:
		return hash_bytes(n, key, value);
	case BPF_MAP_TYPE_PERCPU_ARRAY:
		return n * value * possible_cpus();
	case BPF_MAP_TYPE_PERF_EVENT_ARRAY:
		return possible_cpus() * sizeof(void *);
	default:
		return round_up(n * value, (uint64_t)sysconf(_SC_PAGESIZE));
	}
}

static uint64_t object_bytes(const struct bpf_object *o)
{
	const struct bpf_map *m;
	uint64_t sum = 0;

	bpf_object__for_each_map(m, o) sum += bpf_map__autocreate(m) ? map_bytes(m) : 0;
	return sum;
}

void bpf_memory_add(const struct bpf_object *o)
{
	loaded += object_bytes(o);
}

uint64_t bpf_memory_loaded(void)
{
	return loaded;
}

static int leave_sums_of_sleeps(struct bpf_object *o)
{
	return slept_leave(o, false, true);
}

uint64_t bpf_memory_wanted(void)
{
	static const struct {
		const char *from, *to;
		int (*leave)(struct bpf_object *o); /* maps that only options need; NULL: none */
	} objects[] = {
		{inspect_object, inspect_object_end, NULL},
		{uprobe_object, uprobe_object_end, NULL},
		{uplinks_object, uplinks_object_end, NULL},
		{locks_object, locks_object_end, NULL},
		{slabs_object, slabs_object_end, NULL},
		{waits_object, waits_object_end, leave_sums_of_sleeps},
	};
	uint64_t sum = 0;

	bpf_types_quiet();
	for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
		struct bpf_object *o =
			bpf_open(objects[i].from, (size_t)(objects[i].to - objects[i].from), NULL);
		bool is_left = !o || !objects[i].leave || objects[i].leave(o) == 0;
		sum += o && is_left ? object_bytes(o) : 0;
		bpf_object__close(o);
	}
	return sum;
}
