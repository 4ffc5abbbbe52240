/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_FILE_READER_INT_H
#define KONTEND_SRC_FILE_READER_INT_H

#include "features.h"
#include "kontend/kallsyms-cache.h"
#include "kontend/map64.h"
#include "kontend/mapguard.h"
#include "kontend/perfdata.h"
#include "kontend/reader.h"
#include "load.h"
#include "pack.h"
#include "reader-types.h"
#include <linux/perf_event.h>
#include <string.h>

struct reader {
	struct source source;
	char *path;
	int fd;
	bool own_fd, in_memory;		    /* in_memory: `map` is the caller's */
	uint8_t *map;			    /* NULL: read, not mapped */
	size_t map_size;		    /* the file's size when it was opened */
	uint64_t charged, n_formats, n_ids; /* so far: bytes of its sections, and how many */
	struct mapguard guard;		    /* of `map` */
	bool cut;			    /* it was made shorter meanwhile: said */
	size_t window;			    /* bytes of the mapping in one block */
	uint64_t file_pos; /* of outer.end when not mapped, else of what is behind the data */
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
	bool is_uniform, has_identifier, is_own;

	struct features features;
	uint64_t kernel_text;	      /* address of _text where it was recorded; 0 = not known */
	struct kallsyms_text symbols; /* of the kernel here, or none */
	bool has_formats, has_locks, has_tracepoints, header_done, host_done, symbols_done,
		no_symbols;

	uint64_t data_at, data_size; /* of the file layout */
	bool early;		     /* what stands at the end is read first: now */
	bool had_early;		     /* it was */

	struct reader_flow flow;
	struct reader_place *places; /* where one can go on from; [0] is the start of the data */
	size_t n_places, cap_places;
	uint32_t here;		     /* the latest one before outer.pos */
	uint64_t farthest;	     /* what stands before it has been told already */
	uint64_t round_until;	     /* events up to here may leave; READER_NONE = nothing to say */
	uint64_t asked_tick_ns;	     /* 0: a second, or what the recording has */
	struct reader_block *blocks; /* all that live, latest first */
	bool ended, finished;

	/* A body of ours that comes in chunks. own_head.offset: where the last chunk was of one
	 * that is not whole, whose rest may follow; 0: there is none. */
	uint8_t *own;
	struct perfdata_own own_head;
	uint32_t own_have;

	struct record *queue; /* to be handed out before anything else */
	size_t queue_at, n_queue, cap_queue;
	struct reader_stat stat;
	uint64_t bad_at; /* where the first bad record stands */
};

#define READER_NONE UINT64_MAX
enum { READER_AGAIN = 100 }; /* of the steps: go on, nothing to hand out yet */

/* reader-block.c */
struct reader_block *reader_block_new(struct reader *r, size_t cap); /* heap; NULL: no memory */
struct reader_block *reader_block_map(struct reader *r, const uint8_t *from, size_t len);
void reader_block_put(struct reader *r, struct reader_block *b);
int reader_queue(struct reader *r, enum record_kind kind, uint32_t ring, const void *data,
		 size_t len, struct reader_block *b); /* takes over a reference on @b */
int reader_queue_copy(struct reader *r, enum record_kind kind, uint32_t ring, const void *data,
		      size_t len);
/* The same for heap memory that has been filled already, which it takes over in any case. */
int reader_queue_heap(struct reader *r, enum record_kind kind, uint32_t ring, void *data,
		      size_t len);
/* A sentence for whoever reads the result: what is missing, and why. */
int reader_note(struct reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Offset in the file of what is scanned now. */
uint64_t reader_where(const struct reader *r);

/* reader-open.c: the header and the sections of the file layout. */
int reader_open_layout(struct reader *r, struct error *err);
int reader_add_attr(struct reader *r, const void *data, size_t len, struct error *err);
int reader_add_tracing(struct reader *r, const void *data, size_t len, struct error *err);
int reader_read_at(struct reader *r, uint64_t offset, void *buf, size_t len, const char *what,
		   struct error *err);

/* reader-ending.c: the data, and before them what stands at their end. 0 or -ENOMEM. */
int reader_open_data(struct reader *r, uint64_t at, uint64_t size);
int reader_end_early(struct reader *r);

/* reader-torn.c: a file of ours without its end, and reading what is left. 0 or -ENOMEM */
bool reader_is_torn(struct reader *r, const struct perfdata_header *h);
int reader_open_torn(struct reader *r, const struct perfdata_header *h);

/* reader-input.c: more bytes for the regions. 0 or READER_AGAIN, SOURCE_IDLE, negative. */
int reader_map(struct reader *r, uint64_t offset, uint64_t size);
int reader_fill(struct reader *r, int timeout_ms, struct error *err);
int reader_unpack(struct reader *r, struct error *err);
uint64_t reader_mark(struct reader *r);
/* Whatever it was in the middle of. */
void reader_forget(struct reader *r);
int reader_go(struct reader *r, uint64_t mark); /* 0 or -ENOMEM */
int reader_moved(struct reader *r);		/* outer.pos has changed. 0 or -ENOMEM */
bool reader_is_cut(const struct reader *r);	/* the file is shorter than when it was opened */
int reader_say_cut(struct reader *r); /* that the file was made shorter, once. 0 or -ENOMEM */

/* reader-user.c: the record of perf at @p, which is whole. */
int reader_user(struct reader *r, const uint8_t *p, size_t size, struct error *err);
int reader_payload_done(struct reader *r, struct error *err);

/* reader-own.c: the sample of ours at @p. */
int reader_own(struct reader *r, const uint8_t *p, size_t size, struct reader_block *b);
int reader_own_end(struct reader *r); /* drops a body that is not whole: counted. Or -ENOMEM */

/* reader-scan.c: one run from @g, or what stands in its way. */
enum reader_stop {
	READER_STOP_RUN,  /* *ret is a run, g->pos behind it */
	READER_STOP_MORE, /* the record at g->pos is not all there */
	READER_STOP_USER, /* a record of perf at g->pos */
	READER_STOP_OWN,  /* a sample of ours at g->pos */
	READER_STOP_BAD,  /* no record at g->pos */
};
struct reader_run {
	const uint8_t *from;
	size_t len;
	uint32_t ring;
};
enum reader_stop reader_scan(struct reader *r, struct reader_region *g, struct reader_run *ret);

/* reader-round.c */
void reader_finished_round(struct reader *r);
void reader_window(struct reader *r, size_t bytes, bool ring_changed);
int reader_begin(struct reader *r);   /* before the first run: HOST. 0 or -ENOMEM */
int reader_symbols(struct reader *r); /* before the first round: KALLSYMS. 0 or -ENOMEM */
int reader_round(struct reader *r);   /* 1: queued a tick or a round; 0; -ENOMEM */
int reader_finish(struct reader *r);  /* queues what stands at the end. 0 or -ENOMEM */
#endif
