// SPDX-License-Identifier: GPL-2.0-only
/*
 * map-update KIND SECONDS: threads, four for each CPU, that change the same element of a BPF map of
 * KIND (hash, lru, queue, lpm), so that they need the same lock of it. Prints the map's name and id
 * and how often it was changed.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 256, VALUE = 64, TOO_OLD = 77 };

static const struct kind {
	const char *name;
	uint32_t type, key_size, flags;
} kinds[] = {
	{"hash", BPF_MAP_TYPE_HASH, 4, 0},
	{"lru", BPF_MAP_TYPE_LRU_HASH, 4, 0},
	{"queue", BPF_MAP_TYPE_QUEUE, 0, 0},
	{"lpm", BPF_MAP_TYPE_LPM_TRIE, 8, BPF_F_NO_PREALLOC},
};

static const struct kind *kind;
static int map;
static atomic_ulong n_changes;
static atomic_bool over;

static long bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int fail(const char *what)
{
	int code = errno;

	perror(what);
	return code == EPERM || code == EINVAL ? TOO_OLD : 1;
}

static void *change(void *arg)
{
	static const uint32_t key[2] = {32, 7};
	static const char value[VALUE];
	unsigned long n = 0;
	union bpf_attr attr = {.map_fd = (uint32_t)map,
			       .key = kind->key_size ? (uint64_t)(uintptr_t)key : 0,
			       .value = (uint64_t)(uintptr_t)value,
			       .flags = kind->type == BPF_MAP_TYPE_QUEUE ? BPF_EXIST : BPF_ANY};

	(void)arg;
	/* In a deadlock, or after a time that it gives, a resilient lock refuses. */
	while (!over && (bpf(BPF_MAP_UPDATE_ELEM, &attr) == 0 || errno == EBUSY ||
			 errno == EDEADLK || errno == ETIMEDOUT))
		n++;
	if (!over)
		exit(fail("update"));
	n_changes += n;
	return NULL;
}

static int run(double seconds)
{
	const struct timespec time = {(time_t)seconds,
				      (long)((seconds - (double)(time_t)seconds) * 1e9)};
	long n = 4 * sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t threads[THREADS];

	n = n < THREADS ? n : THREADS;
	for (long i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, change, NULL) != 0)
			return 1;
	nanosleep(&time, NULL);
	over = true;
	for (long i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

int main(int argc, char **argv)
{
	struct bpf_map_info info = {0};

	for (size_t i = 0; argc == 3 && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcmp(kinds[i].name, argv[1]) == 0)
			kind = &kinds[i];
	if (!kind) {
		fprintf(stderr, "map-update hash|lru|queue|lpm SECONDS\n");
		return 2;
	}
	union bpf_attr attr = {.map_type = kind->type,
			       .key_size = kind->key_size,
			       .value_size = VALUE,
			       .max_entries = 2,
			       .map_flags = kind->flags};
	snprintf(attr.map_name, sizeof(attr.map_name), "one_%s", kind->name);
	map = (int)bpf(BPF_MAP_CREATE, &attr);
	if (map < 0)
		return fail("map");
	union bpf_attr ask = {.info = {.bpf_fd = (uint32_t)map,
				       .info_len = sizeof(info),
				       .info = (uint64_t)(uintptr_t)&info}};
	if (bpf(BPF_OBJ_GET_INFO_BY_FD, &ask) < 0)
		return fail("id");
	int code = run(atof(argv[2]));
	printf("%s %u %lu\n", attr.map_name, info.id, (unsigned long)n_changes);
	return code;
}
