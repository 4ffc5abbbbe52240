/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_PERFDATA_H
#define KONTEND_PERFDATA_H

#include <linux/perf_event.h>
#include <stdint.h>

/*
 * The perf.data format, as perf 4.x to 7.x write it
 * (tools/perf/Documentation/perf.data-file-format). Two layouts: `file` has a header with sections,
 * and features after the data; `pipe` has 16 bytes of header, then records only. Everything has the
 * byte order of the machine that wrote it.
 */
#define PERFDATA_MAGIC_1 0x454c494646524550ull	     /* "PERFFILE": version 1 */
#define PERFDATA_MAGIC 0x32454c4946524550ull	     /* "PERFILE2" */
#define PERFDATA_MAGIC_SWAPPED 0x50455246494c4532ull /* written with the other byte order */

struct perfdata_section {
	uint64_t offset, size;
};

struct perfdata_header {
	uint64_t magic;
	uint64_t size;	    /* of this header; 16: pipe layout, which ends here */
	uint64_t attr_size; /* of one entry of the attrs section */
	struct perfdata_section attrs, data, event_types;
	uint64_t features[4]; /* one bit for each feature; a table of their sections follows the
			       * data */
};

enum {
	PERFDATA_PIPE_HEADER = 16,
	PERFDATA_FILE_HEADER = sizeof(struct perfdata_header), /* 104; 72 without features */
	PERFDATA_FEATURE_BITS = 256,
	PERFDATA_FEATURES_KNOWN = 35, /* the first bit without a meaning in perf of Linux 7.3 */
};

/* The machine that was recorded. "": unknown */
struct perfdata_machine {
	char host[65]; /* as of uname -n */
	char cpu[128]; /* the model of its CPUs, as /proc/cpuinfo names it */
};

enum perfdata_feature {
	PERFDATA_TRACING_DATA = 1,
	PERFDATA_BUILD_ID = 2,
	PERFDATA_HOSTNAME = 3,
	PERFDATA_OSRELEASE = 4,
	PERFDATA_VERSION = 5,
	PERFDATA_ARCH = 6,
	PERFDATA_NRCPUS = 7,
	PERFDATA_CPUDESC = 8,
	PERFDATA_CMDLINE = 11,
	PERFDATA_EVENT_DESC = 12,
	PERFDATA_PMU_MAPPINGS = 16,
	PERFDATA_SAMPLE_TIME = 21,
	PERFDATA_CLOCKID = 23,
	PERFDATA_COMPRESSED = 27,
	PERFDATA_CLOCK_DATA = 29,
	PERFDATA_META_INFO = 129, /* of simpleperf */
};

/* Record types of perf itself; those below 64 are the kernel's. */
enum perfdata_type {
	PERFDATA_TYPE_USER = 64,
	PERFDATA_TYPE_ATTR = 64,
	PERFDATA_TYPE_TRACING_DATA = 66, /* u32 size; that many bytes follow the record */
	PERFDATA_TYPE_BUILD_ID = 67,
	PERFDATA_TYPE_FINISHED_ROUND = 68,
	PERFDATA_TYPE_AUXTRACE = 71, /* u64 size; that many bytes follow the record */
	PERFDATA_TYPE_EVENT_UPDATE = 78,
	PERFDATA_TYPE_FEATURE = 80,    /* u64 feature, then the body of its section */
	PERFDATA_TYPE_COMPRESSED = 81, /* zstd of kernel records, or a piece of it */
	PERFDATA_TYPE_FINISHED_INIT = 82,
	PERFDATA_TYPE_COMPRESSED2 = 83, /* u64 bytes, then as above, padded to 8 */
};

/*
 * Data without a perf record type is the raw payload of samples of kontend's software event,
 * PERF_COUNT_SW_BPF_OUTPUT with this id. perf shows such samples as bytes and counts them apart. A
 * body longer than a sample is cut into chunks that follow each other.
 */
#define PERFDATA_EXT_ID 0x6b6f6e74656e64ull	 /* "kontend" */
#define PERFDATA_EXT_MAGIC 0x31444e45544e4f4bull /* "KONTEND1" */
#define PERFDATA_EXT_NAME "kontend"
/* perf script needs an IP */
#define PERFDATA_EXT_SAMPLE                                                                        \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |            \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_RAW)

enum {
	PERFDATA_EXT_VERSION = 1,
	PERFDATA_EXT_CHUNK = 61440,   /* bytes of a body in one sample */
	PERFDATA_EXT_MOST = 64 << 20, /* longest body, unpacked */
	/* In both layouts of kontend's files the first event is kontend's and has this id; the
	 * records after it describe the others. */
	PERFDATA_EXT_ATTR = 128,
	PERFDATA_EXT_ID_AT = PERFDATA_PIPE_HEADER + 8 + PERFDATA_EXT_ATTR,
	PERFDATA_EXT_HEAD_AT = PERFDATA_EXT_ID_AT + 8,
};

enum perfdata_ext_flags {
	PERFDATA_EXT_ZSTD = 1, /* the body is one zstd frame */
};

struct perfdata_ext {
	uint64_t magic;
	uint16_t version;
	uint16_t kind; /* enum record_kind */
	uint16_t flags;
	uint16_t here; /* bytes of the body in this chunk; padding may follow */
	uint32_t ring;
	uint32_t offset; /* of this chunk in the body as stored */
	uint32_t stored; /* bytes of the body as stored, all chunks */
	uint32_t length; /* bytes of the body, unpacked */
};

#endif
