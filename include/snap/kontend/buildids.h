/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_BUILDIDS_H
#define KONTEND_BUILDIDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Which file a program was, by its build id: the payload of SNAPSHOT_BUILD_IDS, in the form that
 * perf.data has in its feature BUILD_ID: records of a header, a pid, the id in 24 bytes, of which
 * the 21st is its length, and the path, which ends in NUL.
 */
enum { BUILDIDS_VERSION = 1, BUILDIDS_ID = 20 };

struct buildid {
	const char *path; /* in the payload */
	uint8_t id[BUILDIDS_ID];
	uint8_t len;
	bool kernel; /* or a module of it */
};

/* The one at @at, 0 being the first: where the next one stands, or 0: there is none at @at. */
size_t buildids_next(const void *payload, size_t len, size_t at, struct buildid *ret);
/* Of the program @path; false: it is not known. */
bool buildids_find(const void *payload, size_t len, const char *path, struct buildid *ret);

/* Of the kernel itself, none of its modules. */
bool buildids_kernel(const void *payload, size_t len, struct buildid *ret);

/* One of a program as a record. Bytes that it takes; written if there is room for them. */
size_t buildids_put(const char *path, const uint8_t *id, size_t id_len, void *buf, size_t room);

#endif
