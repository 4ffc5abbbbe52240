/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_FILE_FEATURES_H
#define KONTEND_SRC_FILE_FEATURES_H

#include "kontend/record.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The facts about machine and session in the features of a file. 0 or "": unknown */
struct features {
	char hostname[65], release[65], arch[65], cmdline[64];
	uint32_t cpus, cpus_online;
	uint64_t sample_time[2]; /* of the first and the last sample */
	uint64_t clock_wall_ns,
		clock_ns; /* the same moment by the time of day and by the session's clock */
	uint8_t build_id[20];
	uint8_t build_id_len;
};

/* Takes the body of feature @bit; a body that makes no sense changes nothing. */
void features_take(struct features *f, uint32_t bit, const void *data, size_t len);
/* One entry of the build id list: PERF_RECORD_HEADER_BUILD_ID, header included. */
void features_build_id(struct features *f, const void *data, size_t len);
void features_host(const struct features *f, uint64_t start_ns, struct record_host *ret);
/* Does features_take() use the feature with this bit? */
bool features_wants(uint32_t bit);

#endif
