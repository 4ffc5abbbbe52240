/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SIDEBAND_H
#define KONTEND_SIDEBAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Perf records written by kontend as the kernel would have written them at time 0, for the state
 * before the session. Each ends in the sample_id trailer of an event with IDENTIFIER|TID|TIME|CPU,
 * so decode treats them like the kernel's.
 */
struct sideband {
	uint8_t *data; /* whole records, 8-byte aligned; from util/mem */
	size_t len, cap;
	uint64_t id;	/* event id that the trailers name */
	bool data_maps; /* include mappings of data, not only of code */
};

struct sideband_mmap {
	int32_t pid;
	uint32_t maj, min;
	uint64_t start, len, pgoff; /* bytes */
	uint64_t ino;
	bool shared, writable, readable, code;
	const char *path;
};

/* 0 or -ENOMEM with nothing appended. Text that does not fit a record is cut. */
int sideband_comm(struct sideband *s, int32_t pid, int32_t tid, const char *comm);
int sideband_mmap(struct sideband *s, const struct sideband_mmap *m);
int sideband_cgroup(struct sideband *s, uint64_t cgroup, const char *path);
int sideband_ksymbol(struct sideband *s, uint64_t start, uint32_t len, bool is_bpf,
		     const char *name);
/* Appends all records of @from. */
int sideband_append(struct sideband *s, const struct sideband *from);
/* Bytes of whole records from @from on, at most @max (but at least one record). */
size_t sideband_run(const struct sideband *s, size_t from, size_t max);
void sideband_deinit(struct sideband *s);

/* Adds records of that kind for tasks that /proc does not show. */
struct sideband_source {
	int (*put)(const struct sideband_source *from, struct sideband *to); /* 0 or -ENOMEM */
};

#endif
