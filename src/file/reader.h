/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_FILE_READER_H
#define KONTEND_SRC_FILE_READER_H

#include "kernel.h"
#include "kontend/elfimg.h"
#include "kontend/eventsnap.h"
#include "kontend/load.h"
#include "kontend/map64.h"
#include "kontend/mapguard.h"
#include "kontend/notes.h"
#include "kontend/perfdata.h"
#include "kontend/reader.h"
#include "pack.h"
#include <linux/perf_event.h>
#include <stdatomic.h>

/* features.c */
/* The facts about machine and session in the features of a file. 0 or "": unknown */
struct features {
	struct perfdata_machine machine;
	char release[65], arch[65], cmdline[64];
	uint32_t cpus, cpus_online;
	uint64_t sample_time[2]; /* of the first and the last sample */
	uint64_t clock_wall_ns,
		clock_ns; /* the same moment by the time of day and by the session's clock */
	uint8_t build_id[20];
	uint8_t build_id_len;
	struct eventsnap events; /* names of events and PMUs */
};

/* Takes the body of feature @bit; a body that makes no sense changes nothing. */
void features_take(struct features *f, uint32_t bit, const void *data, size_t len);
/* One entry of the build id list: PERF_RECORD_HEADER_BUILD_ID, header included. */
void features_build_id(struct features *f, const void *data, size_t len);
void features_host(const struct features *f, uint64_t start_ns, struct record_host *ret);
/* Does features_take() use the feature with this bit? */
bool features_wants(uint32_t bit);

/* Bytes that records borrow: a part of the mapping, or heap memory. Freed with the last record. */
struct reader_block {
	uint8_t *heap; /* NULL: mapped */
	const uint8_t *from;
	size_t len, cap;
	uint32_t refs;
	uint32_t place; /* resuming there yields its bytes again */
	struct reader_block *prev, *next;
};

/* Bytes not yet scanned, from the file or unpacked. */
struct reader_region {
	const uint8_t *pos, *end;
	struct reader_block *block;
	bool finished; /* no more bytes will follow `end` */
};

/* Offsets of time and CPU in samples of one event, and in the trailers of other records. */
struct reader_layout {
	uint16_t off_time, off_cpu, fixed;	    /* fixed: bytes up to the last of these */
	uint16_t trail_time, trail_cpu, trail_size; /* back from the record's end */
};

/* The times seen up to one place of the stream. */
struct reader_flow {
	uint64_t max_time, prev_max_time, first_time, last_time;
	uint64_t said_until; /* of the last round handed out */
	uint64_t next_tick;
	uint64_t window_bytes; /* scanned since the last round */
	uint64_t window_runs;
	uint32_t ring; /* of the previous run */
	bool has_rounds, is_sorted;
};

struct reader {
	struct source source;
	char *path;
	int fd;
	int packed_fd;			    /* bytes of a pipe that gzip has packed; 0: none */
	bool close_fd, in_memory;	    /* in_memory: `map` is the caller's */
	bool is_unpacked;		    /* `fd` is a copy of the file */
	uint8_t *map;			    /* NULL: read, not mapped */
	size_t map_size;		    /* the file's size when it was opened */
	uint64_t charged, n_formats, n_ids; /* so far: bytes of its sections, formats, ids */
	struct mapguard guard;		    /* of `map` */
	bool cut;			    /* a truncation during reading was reported */
	size_t window;			    /* bytes of the mapping in one block */
	uint64_t file_pos; /* of outer.end when not mapped, else of the end of the data */
	struct reader_region outer, inner;
	uint8_t *payload; /* of TRACING_DATA, being collected */
	size_t payload_len, payload_size;
	uint64_t skip; /* bytes to skip after the previous record */
	struct unpack unpack;

	/* From the attrs. */
	struct reader_layout layout; /* of the first event */
	struct reader_layout *layouts;
	size_t n_layouts, cap_layouts;
	struct map64 ids; /* event id -> layout; used only if layouts differ */
	bool is_uniform, has_identifier, by_kontend, has_machine;

	struct features features;
	uint64_t kernel_text;	      /* address of _text during recording; 0 = unknown */
	uint64_t kernel_stext;	      /* the same of _stext; a recording has one of them */
	struct kernel_given given;    /* where the user wants kernel symbols from */
	struct kallsyms_text symbols; /* of the running kernel, or none */
	struct elfimg kcore;	      /* a copy of the recorded kernel's memory, or none */
	struct codesource code;	      /* its code; name: NULL without it */
	bool has_wall;		      /* the time of day of the samples is known */
	bool has_formats, has_tracepoints, has_profile, header_done, host_done, symbols_done,
		no_symbols;
	struct reader_options opener; /* only those of its members that open files */

	uint64_t data_at, data_size; /* of the file layout */
	bool early;		     /* the trailer is read first: now */
	bool had_early;		     /* the trailer was read */

	struct reader_flow flow;
	struct reader_place *places; /* where reading can resume; [0] is the start of the data */
	size_t n_places, cap_places;
	uint32_t here;		     /* the latest one before outer.pos */
	uint64_t farthest;	     /* everything before it has been reported already */
	uint64_t round_until;	     /* events up to here may leave; READER_NONE = none */
	uint64_t asked_tick_ns;	     /* 0: a second, or those of the recording */
	struct reader_block *blocks; /* all that are alive, latest first */
	bool ended, finished;

	/* A body of kontend that comes in chunks. ext_head.offset: the last chunk of an incomplete
	 * body, more of which may follow; 0: there is none. */
	uint8_t *ext;
	struct perfdata_ext ext_head;
	uint32_t ext_have;

	struct record *queue; /* to be handed out before anything else */
	size_t queue_at, n_queue, cap_queue;
	struct reader_stat stat;
	_Atomic uint64_t shown; /* stat.pos, for threads that show progress */
	uint64_t bad_at;	/* offset of the first bad record */
};

#define READER_NONE UINT64_MAX
/* A step returns READER_AGAIN if there is nothing to hand out yet: continue. Functions that return
 * -ENOMEM set no error: reader.c does that for all of them. */
enum { READER_AGAIN = 100, READER_HEADER = sizeof(struct perf_event_header) };

/* reader-open.c */
/* -EINVAL or -ENOTSUP with @err, unless @magic is that of a recording that can be read. */
int reader_check_magic(const char *path, uint64_t magic, struct error *err);
int reader_open(struct reader *r, const struct reader_options *o, struct error *err);
int reader_open_pipe(struct reader *r, struct error *err); /* its header; 0: incomplete */
int reader_end_early(struct reader *r); /* the trailer is read: continue at the start */

/* reader-folder.c: r->fd, a folder of perf record, becomes the recording in it; its symbols are
 * taken. */
int reader_open_folder(struct reader *r, struct error *err);

int reader_open_file(struct reader *r, struct error *err); /* r->fd, of r->map_size bytes */

/* reader-packed.c: r->fd becomes the unpacked bytes of what it is. */
int reader_unpack_file(struct reader *r, struct error *err);
/* Does the pipe bring what gzip wrote? Then this takes its bytes, and at its end opens the file. */
bool reader_is_packed(const struct reader *r);
int reader_unpack_pipe(struct reader *r, int timeout_ms, struct error *err);

/* reader-input.c: blocks, the records that borrow from them, and bytes for the regions. */
struct reader_block *reader_block_new(struct reader *r, size_t cap); /* heap; NULL: no memory */
void reader_block_put(struct reader *r, struct reader_block *b);
int reader_queue(struct reader *r, enum record_kind kind, uint32_t ring, const void *data,
		 size_t len, struct reader_block *b); /* takes over a reference on @b */
int reader_queue_copy(struct reader *r, enum record_kind kind, uint32_t ring, const void *data,
		      size_t len);
/* Queues a sentence for users: what is missing, and why. The path is not in it. */
int reader_note(struct reader *r, struct record_note is, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Damage that begins at @offset; at least @bad records are missing or cannot be read. */
struct record_note reader_damage(uint64_t offset, uint64_t bad);
uint64_t reader_where(const struct reader *r); /* offset in the file of the scan */
int reader_bad(struct reader *r);	       /* counts a bad record here: READER_AGAIN */
int reader_map(struct reader *r, uint64_t offset, uint64_t size);
int reader_fill(struct reader *r, int timeout_ms, struct error *err);
int reader_unpack(struct reader *r, struct error *err);
void reader_forget(struct reader *r); /* drops everything half read */
uint64_t reader_mark(struct source *s);
int reader_seek(struct source *s, uint64_t mark, struct error *err);
int reader_moved(struct reader *r);	    /* outer.pos has changed. 0 or -ENOMEM */
bool reader_is_cut(const struct reader *r); /* the file is shorter than when it was opened */
int reader_say_cut(struct reader *r);	    /* reports, once, that the file was truncated. 0 or
					     * -ENOMEM */

/* reader-describe.c: descriptions of events, from records of perf or from sections. */
int reader_add_attr(struct reader *r, const void *data, size_t len, struct error *err);
int reader_add_tracing(struct reader *r, const void *data, size_t len, struct error *err);
int reader_user(struct reader *r, const uint8_t *p, size_t size, struct error *err);
int reader_payload(struct reader *r, struct error *err); /* bytes after a record */

/* reader-ext.c: the sample of kontend at @p. */
int reader_ext(struct reader *r, const uint8_t *p, size_t size, struct reader_block *b);
int reader_ext_end(struct reader *r); /* drops and counts an incomplete body */

/* reader-scan.c */
/* The next run of @g, or the reason why there is none. */
enum reader_stop {
	READER_STOP_RUN,  /* *ret is a run, g->pos after it */
	READER_STOP_MORE, /* the record at g->pos is incomplete */
	READER_STOP_USER, /* *ret is a record of perf at g->pos */
	READER_STOP_EXT,  /* *ret is a sample of kontend at g->pos */
	READER_STOP_BAD,  /* no record at g->pos, or an unaligned one of the kernel */
};
struct reader_run {
	const uint8_t *from;
	size_t len;
	uint32_t ring;
};
enum reader_stop reader_scan(struct reader *r, struct reader_region *g, struct reader_run *ret);

/* When events may leave the merge. */
void reader_finished_round(struct reader *r);
int reader_begin(struct reader *r);  /* before the first run: queues HOST. 0 or -ENOMEM */
int reader_round(struct reader *r);  /* 1: queued a tick or a round; 0; -ENOMEM */
int reader_finish(struct reader *r); /* queues what is missing at the end. 0 or -ENOMEM */

#endif
