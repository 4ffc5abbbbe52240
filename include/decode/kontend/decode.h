/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_DECODE_H
#define KONTEND_DECODE_H

#include "kontend/error.h"
#include "kontend/event.h"
#include "kontend/eventlist.h"
#include "kontend/map64.h"
#include "kontend/trace.h"
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Positive results of decode_event(). */
enum {
	DECODE_SKIP = 1, /* not needed, or of unknown type; counted */
	DECODE_BAD = 2,	 /* truncated or inconsistent; counted */
};

/*
 * A perf_event_attr of the stream and the position of each field in its samples. Offsets are from
 * the start of the record; fields after the call chain are found by walking it.
 */
struct decode_attr {
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t config; /* tracepoint id */
	uint32_t type;
	uint16_t off_tid, off_time, off_id, off_cpu; /* 0 = not in the sample */
	uint16_t off_ip, off_period;
	uint16_t off_tail;			   /* start of READ, CALLCHAIN, RAW ... */
	uint16_t trail_size;			   /* bytes of the sample_id trailer; 0 = none */
	uint16_t trail_tid, trail_time, trail_cpu; /* back from the record's end; 0 = absent */
	bool has_cgroup;			   /* directly after RAW */
	bool has_user_part; /* registers with a stack dump, or a branch stack */
	bool kernel_chain;  /* no user frames follow (exclude_callchain_user) */
	bool is_counted;    /* counted in the samples of its group leader: no samples of its own */
	bool can_sample;    /* its samples say where a CPU was */
	bool is_settled;    /* `asked` was looked at */
	uint8_t number;	    /* of the event: eventlist.h */
	bool is_plain;	    /* as nearly all are: see decode_plain() in sample.c */
	uint8_t chain_head; /* size of the number of frames before them; 0: no call chain */
	uint16_t raw_least; /* bytes of the trace entry up to the last field used */
	/* After RAW: */
	uint64_t branch_type; /* other parts of BRANCH_STACK */
	uint64_t regs_user;   /* mask of REGS_USER */
	/* Of kind EVENT_NONE: other tracepoints, and those without a format yet. EVENT_SAMPLE: a
	 * profile. */
	struct trace_event tp;
};

/*
 * The attrs, ids and tracepoint formats of one stream. decode_event() only reads memory; it
 * allocates nothing and keeps no state.
 */
struct decode {
	struct decode_attr *attrs;
	size_t n_attrs, cap_attrs;
	struct map64 ids;	     /* event id -> attr index */
	struct trace *trace;	     /* libtraceevent's formats */
	struct trace_event *formats; /* parsed so far */
	size_t n_formats, cap_formats;
	bool identifier; /* every attr has PERF_SAMPLE_IDENTIFIER: the id is the first field */
	/* Recorded in a PID namespace: perf has no PIDs for tasks outside. Set by the caller if it
	 * knows, and by the first sample that shows it. */
	bool is_inner;
	bool mixed; /* attrs differ in layout and lack the identifier: ids cannot be found */
	struct eventlist list; /* the events, for `asked` */
	/* Events that are decoded as profiles although they sample no time: eventlist_match().
	 * NULL: none. Borrowed; set before the first sample. */
	const char *asked;
	uint64_t n_skipped, n_bad;
	uint64_t samples[EVENTLIST_MOST]; /* by number of the event, decoded or not */
};

int decode_init(struct decode *d, struct error *err);
void decode_deinit(struct decode *d);

/* Parse the bodies of RECORD_ATTR and RECORD_FORMAT. -EINVAL with @err if they are invalid. */
int decode_add_attr(struct decode *d, const void *data, size_t len, struct error *err);
int decode_add_format(struct decode *d, const void *data, size_t len, struct error *err);
/* Takes the names of events from the body of a RECORD_SNAPSHOT, if it has any. 0 or -ENOMEM. */
int decode_take_names(struct eventlist *l, const void *data, size_t len);
/* True if the attrs so far have begins of waits, but no ends. */
bool decode_lacks_ends(const struct decode *d);
/* True if there are events, none of which is about locks, and kontend did not measure. */
bool decode_lacks_locks(const struct decode *d);

/*
 * If several events get a PERF_RECORD_KSYMBOL, the kernel makes the record longer for each of them
 * without writing more (Linux 5.1 to 6.18 at least: perf_event_ksymbol_output() does not reset the
 * size): the end of such a record is stale bytes of the ring. But its sample_id follows the name,
 * which is filled up to 8 bytes. Returns the size of the record up to the end of the sample_id; 0:
 * where that is cannot be known. @all: length of the sample_id of every event; 0: its last word is
 * an id, and @length_of returns the length of that event's, 0: there is no such event.
 */
size_t decode_ksymbol_size(const uint8_t *rec, size_t size, size_t all,
			   size_t (*length_of)(const void *ctx, uint64_t id), const void *ctx);
/* The same for any record: others end with their sample_id. */
size_t decode_whole_size(const struct decode *d, const uint8_t *rec, size_t size);

/*
 * Decodes the record at @data, of which at most @len bytes may be read. *ret_size is its size (the
 * distance to the next one), 0 if even the header is invalid. 0, DECODE_SKIP or DECODE_BAD. @ret is
 * only set if the result is 0. @cpu is used if the sample has no CPU.
 */
int decode_event(struct decode *d, const void *data, size_t len, uint32_t cpu, struct event *ret,
		 size_t *ret_size);

#endif
