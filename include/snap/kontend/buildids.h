/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BUILDIDS_H
#define KONTEND_BUILDIDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Build ids of programs: the payload of SNAPSHOT_BUILD_IDS, in the format of perf.data's feature
 * BUILD_ID: records of a header, a pid, the id in 24 bytes, the 21st being its length, and the
 * path, which ends in NUL.
 */
enum { BUILDIDS_VERSION = 1, BUILDIDS_ID = 20 };

struct buildid {
	const char *path; /* in the payload */
	uint8_t id[BUILDIDS_ID];
	uint8_t len;
	bool kernel; /* or a module of it */
};

/* The record at @at (0: the first). Returns the position of the next; 0: no record at @at. */
size_t buildids_next(const void *payload, size_t len, size_t at, struct buildid *ret);
/* Build id of the program @path; false: not known. */
bool buildids_find(const void *payload, size_t len, const char *path, struct buildid *ret);

/* Of the kernel itself, not of a module. */
bool buildids_kernel(const void *payload, size_t len, struct buildid *ret);

/* Encodes a program's build id as a record. Returns its size; writes it if there is room. */
size_t buildids_put(const char *path, const uint8_t *id, size_t id_len, void *buf, size_t room);

#endif
