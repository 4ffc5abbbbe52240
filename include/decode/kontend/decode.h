/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_DECODE_H
#define KONTEND_DECODE_H

#include "kontend/error.h"
#include "kontend/event.h"
#include "kontend/map64.h"
#include "kontend/trace.h"
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Positive answers of decode_event(). */
enum {
	DECODE_SKIP = 1, /* a record of no interest, or of a type not known; counted */
	DECODE_BAD = 2,	 /* cut or inconsistent; counted */
};

/*
 * One perf_event_attr of the stream and what follows from it: where in a sample each field stands.
 * Offsets count from the record's start; fields behind the callchain are found by walking it.
 */
struct decode_attr {
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t config; /* tracepoint id */
	uint32_t type;
	uint16_t off_tid, off_time, off_id, off_cpu; /* 0 = not in the sample */
	uint16_t off_ip, off_period;
	uint16_t off_tail;			   /* READ, CALLCHAIN, RAW ... begin here */
	uint16_t trail_size;			   /* bytes of the sample_id trailer; 0 = none */
	uint16_t trail_tid, trail_time, trail_cpu; /* back from the record's end; 0 = absent */
	bool has_cgroup;			   /* it stands directly behind RAW */
	bool has_user_part; /* registers with a stack dump, or a stack of branches */
	bool kernel_chain;  /* no user frames follow (exclude_callchain_user) */
	bool is_counted;    /* in the samples of its group's leader: it has none of its own */
	bool is_plain;	    /* as nearly all are: see decode_plain() in sample.c */
	uint8_t chain_head; /* bytes before the frames: their number; 0: no call chain */
	uint16_t raw_least; /* bytes of the trace entry up to the last field we want */
	/* Behind RAW: */
	uint64_t branch_type; /* of BRANCH_STACK: what else is in it */
	uint64_t regs_user;   /* mask of REGS_USER */
	/* kind EVENT_NONE: not ours, or format not known (yet); EVENT_SAMPLE: the profile */
	struct trace_event tp;
};

/* The event whose samples are the profile. */
struct decode_profile {
	bool known;
	bool freq;	 /* `rate` is per second; else so many make a sample */
	bool chains;	 /* samples have call chains */
	uint32_t type;	 /* enum perf_type_id, or a PMU's number */
	uint64_t config; /* as perf_event_attr has it */
	uint64_t rate;
};

/*
 * Knows the attrs, ids and tracepoint formats of one stream. decode_event() reads from memory
 * only, allocates nothing and keeps nothing.
 */
struct decode {
	struct decode_attr *attrs;
	size_t n_attrs, cap_attrs;
	struct map64 ids;	     /* event id -> attr index */
	struct trace *trace;	     /* libtraceevent's formats */
	struct trace_event *formats; /* parsed so far */
	size_t n_formats, cap_formats;
	bool identifier; /* every attr has PERF_SAMPLE_IDENTIFIER: the id is the first field */
	/* Made in a PID namespace of its own: who is outside has no number of perf's. Set by
	 * whoever knows, and by the first sample that shows it. */
	bool is_inner;
	bool mixed; /* attrs differ in layout and have no identifier: ids are not to be found */
	struct decode_profile profile;
	uint64_t n_skipped, n_bad;
};

int decode_init(struct decode *d, struct error *err);
void decode_deinit(struct decode *d);

/* The bodies of RECORD_ATTR and RECORD_FORMAT. -EINVAL with @err when they make no sense. */
int decode_add_attr(struct decode *d, const void *data, size_t len, struct error *err);
int decode_add_format(struct decode *d, const void *data, size_t len, struct error *err);
/* Do the attrs so far have where waits begin, and not where they end? */
bool decode_lacks_ends(const struct decode *d);

/*
 * Decodes the record at @data of which at most @len bytes may be read. *ret_size is its size (the
 * way to the next one), 0 when even the header is not usable. 0, DECODE_SKIP or DECODE_BAD.
 * What @ret holds is defined only when 0 is answered. @cpu is used where the sample does not say.
 */
int decode_event(struct decode *d, const void *data, size_t len, uint32_t cpu, struct event *ret,
		 size_t *ret_size);

#endif
