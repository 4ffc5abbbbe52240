/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_FILE_READER_H
#define KONTEND_SRC_FILE_READER_H

#include "features.h"
#include "kernel.h"
#include "kontend/load.h"
#include "kontend/map64.h"
#include "kontend/mapguard.h"
#include "kontend/perfdata.h"
#include "kontend/reader.h"
#include "pack.h"
#include <linux/perf_event.h>
#include <stdatomic.h>

/* Bytes that records borrow: a piece of the mapping, or heap. Given back with the last record. */
struct reader_block {
	uint8_t *heap; /* NULL: mapped */
	const uint8_t *from;
	size_t len, cap;
	uint32_t refs;
	uint32_t place; /* going on from there brings its bytes again */
	struct reader_block *prev, *next;
};

/* Bytes not yet scanned, from the file or unpacked. */
struct reader_region {
	const uint8_t *pos, *end;
	struct reader_block *block;
	bool finished; /* nothing comes behind `end` */
};

/* Where time and CPU stand in samples of one event, and in the trailers of other records. */
struct reader_layout {
	uint16_t off_time, off_cpu, fixed;	    /* fixed: bytes up to the last of these */
	uint16_t trail_time, trail_cpu, trail_size; /* back from the record's end */
};

/* What is known of time at one place of the stream. */
struct reader_flow {
	uint64_t max_time, prev_max_time, first_time, last_time;
	uint64_t said_until; /* of the last round handed out */
	uint64_t next_tick;
	uint64_t window_bytes; /* scanned since the last round */
	uint64_t window_runs;
	uint32_t ring; /* of the run before */
	bool has_rounds, is_sorted;
};

struct reader {
	struct source source;
	char *path;
	int fd;
	bool close_fd, in_memory;	    /* in_memory: `map` is the caller's */
	uint8_t *map;			    /* NULL: read, not mapped */
	size_t map_size;		    /* the file's size when it was opened */
	uint64_t charged, n_formats, n_ids; /* so far: bytes of its sections, and how many */
	struct mapguard guard;		    /* of `map` */
	bool cut;			    /* it was made shorter meanwhile: said */
	size_t window;			    /* bytes of the mapping in one block */
	uint64_t file_pos; /* of outer.end when not mapped, else of what comes after the data */
	struct reader_region outer, inner;
	uint8_t *payload; /* of TRACING_DATA, being collected */
	size_t payload_len, payload_size;
	uint64_t skip; /* bytes that follow a record which is of no interest */
	struct unpack unpack;

	/* What the attrs say. */
	struct reader_layout layout; /* of the first event */
	struct reader_layout *layouts;
	size_t n_layouts, cap_layouts;
	struct map64 ids; /* event id -> layout; only looked at when layouts differ */
	bool is_uniform, has_identifier, by_kontend, has_machine;

	struct features features;
	uint64_t kernel_text;	      /* address of _text where it was recorded; 0 = not known */
	struct kallsyms_text symbols; /* of the kernel here, or none */
	bool has_formats, has_tracepoints, header_done, host_done, symbols_done, no_symbols;
	struct reader_options opener; /* of its members those */

	uint64_t data_at, data_size; /* of the file layout */
	bool early;		     /* what is at the end is read first: now */
	bool had_early;		     /* it was */

	struct reader_flow flow;
	struct reader_place
		*places; /* where reading can go on from; [0] is the start of the data */
	size_t n_places, cap_places;
	uint32_t here;		     /* the latest one before outer.pos */
	uint64_t farthest;	     /* what comes before it has been reported already */
	uint64_t round_until;	     /* events up to here may leave; READER_NONE = nothing to say */
	uint64_t asked_tick_ns;	     /* 0: a second, or what the recording has */
	struct reader_block *blocks; /* all that live, latest first */
	bool ended, finished;

	/* A body of ours that comes in chunks. ext_head.offset: where the last chunk was of one
	 * that is not whole, whose rest may follow; 0: there is none. */
	uint8_t *ext;
	struct perfdata_ext ext_head;
	uint32_t ext_have;

	struct record *queue; /* to be handed out before anything else */
	size_t queue_at, n_queue, cap_queue;
	struct reader_stat stat;
	_Atomic uint64_t shown; /* stat.pos, for whoever shows progress */
	uint64_t bad_at;	/* offset of the first bad record */
};

#define READER_NONE UINT64_MAX
/* Steps answer READER_AGAIN: go on, there is nothing to hand out yet. Whichever function answers
 * -ENOMEM sets no error: reader.c does that for all of them. */
enum { READER_AGAIN = 100, READER_HEADER = sizeof(struct perf_event_header) };

/* reader-open.c */
int reader_open(struct reader *r, const struct reader_options *o, struct error *err);
int reader_open_pipe(struct reader *r, struct error *err); /* its header; 0: not all there */
int reader_end_early(struct reader *r); /* what was at the end is read: now from the start */

/* reader-input.c: blocks, the records that borrow from them, and bytes for the regions. */
struct reader_block *reader_block_new(struct reader *r, size_t cap); /* heap; NULL: no memory */
void reader_block_put(struct reader *r, struct reader_block *b);
int reader_queue(struct reader *r, enum record_kind kind, uint32_t ring, const void *data,
		 size_t len, struct reader_block *b); /* takes over a reference on @b */
int reader_queue_copy(struct reader *r, enum record_kind kind, uint32_t ring, const void *data,
		      size_t len);
/* A sentence for whoever reads the result: what is missing, and why. */
int reader_note(struct reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
uint64_t reader_where(const struct reader *r); /* offset in the file of what is scanned now */
int reader_bad(struct reader *r);	       /* counts a bad record here: READER_AGAIN */
int reader_map(struct reader *r, uint64_t offset, uint64_t size);
int reader_fill(struct reader *r, int timeout_ms, struct error *err);
int reader_unpack(struct reader *r, struct error *err);
void reader_forget(struct reader *r); /* whatever it was in the middle of */
uint64_t reader_mark(struct source *s);
int reader_seek(struct source *s, uint64_t mark, struct error *err);
int reader_moved(struct reader *r);	    /* outer.pos has changed. 0 or -ENOMEM */
bool reader_is_cut(const struct reader *r); /* the file is shorter than when it was opened */
int reader_say_cut(struct reader *r);	    /* that the file was made shorter, once. 0 or -ENOMEM */

/* reader-describe.c: what describes events, from records of perf or from sections. */
int reader_add_attr(struct reader *r, const void *data, size_t len, struct error *err);
int reader_add_tracing(struct reader *r, const void *data, size_t len, struct error *err);
int reader_user(struct reader *r, const uint8_t *p, size_t size, struct error *err);
int reader_payload(struct reader *r, struct error *err); /* bytes after a record */

/* reader-ext.c: the sample of ours at @p. */
int reader_ext(struct reader *r, const uint8_t *p, size_t size, struct reader_block *b);
int reader_ext_end(struct reader *r); /* drops a body that is not whole: counted */

#endif
