/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_FILE_WRITER_H
#define KONTEND_SRC_FILE_WRITER_H

#include "kontend/perfdata.h"
#include "kontend/writer.h"
#include "pack.h"
#include <linux/perf_event.h>
#include <string.h>

/* Bytes that grow. After one addition without memory all later ones fail, too: check the last
 * one. */
struct writer_bytes {
	uint8_t *data;
	size_t len, cap;
	bool failed;
};

/* An attr as it is in the file: WRITER_ATTR bytes, and its ids. */
enum { WRITER_ATTR = PERFDATA_EXT_ATTR };
struct writer_attr {
	struct perf_event_attr attr;
	uint64_t *ids;
	uint32_t n_ids;
	char name[64];
};

/* The location of the kernel's symbols: in `early`, then in the file. */
struct writer_symbols {
	uint64_t from, to; /* equal: there are none */
	uint64_t time;
	bool several; /* tables, or one after events: each is for a part of the stream */
};

/* How records get an id at the place of kontend's: writer-ids.c. All 0: they have it there. */
struct writer_ids {
	uint64_t first;		      /* the first event's */
	bool inserts;		      /* samples have none as their first field */
	bool appends;		      /* other records have no sample_id */
	uint16_t sample_at, from_end; /* where the id is; 0: it is that of the first event */
	uint16_t trailer;	      /* bytes of a new sample_id */
};

struct writer {
	char *path;
	int fd;
	bool close_fd, can_seek, begun, failed;
	int (*wait)(void *ctx, int fd); /* as in the options; NULL: not for this output */
	void *ctx;
	bool in_bits;		   /* the kernel cannot write to it without blocking */
	uint64_t good;		   /* bytes of the file up to the last whole record */
	uint64_t good_before;	   /* the length before the last write */
	uint64_t data_begin;	   /* the data of the file layout */
	struct writer_bytes out;   /* to be written */
	struct writer_bytes early; /* samples of kontend from before the head is written */
	struct writer_attr *attrs;
	size_t n_attrs, cap_attrs;
	struct writer_ids ids;
	struct writer_bytes with_ids; /* a run */
	struct writer_bytes *formats; /* bodies of RECORD_FORMAT */
	size_t n_formats, cap_formats;
	struct record_host host;
	const struct perfdata_machine *machine; /* NULL: this one */
	struct writer_bytes cmdline;		/* NUL-terminated words */
	struct writer_bytes build_ids;		/* as buildids.h has them */
	uint64_t ending;			/* offset of the trailer; 0: none */
	uint64_t end;				/* of all records; 0: not finished */
	struct writer_symbols symbols;
	uint32_t clock_id;
	uint64_t rounds;			  /* those that reported more than the one before */
	uint64_t now, first_time, kernel_text[2]; /* _text and _etext */
	uint64_t max_bytes;			  /* of the finished file; 0: no limit */
	uint64_t end_bytes;			  /* that finishing adds */
	bool on_trial; /* new data stay in memory, so that they can be removed */
	struct pack pack;
	struct writer_bytes packed;
	struct writer_stat stat;
};

/* writer-out.c. 0 or -ENOMEM; @data NULL: zeros. */
int writer_bytes_add(struct writer_bytes *b, const void *data, size_t len);
int writer_bytes_pad(struct writer_bytes *b); /* to 8 bytes */
int writer_no_memory(const struct writer *w, struct error *err);
/* Is there room for @len bytes of the file? 0 or WRITER_FULL. */
int writer_fits(const struct writer *w, uint64_t len);
/* Writes to the file, compressed or not; a whole number of records. */
int writer_data(struct writer *w, const void *data, size_t len, struct error *err);
/* Writes without compression if there is room. */
int writer_put_plain(struct writer *w, const void *data, size_t len, struct error *err);
/* Writes runs, compressed or not: all of them, or WRITER_FULL. */
int writer_put_data(struct writer *w, const struct iovec *runs, int n, struct error *err);
/* The same without a copy if they are not compressed, which pays for long ones. */
int writer_put_direct(struct writer *w, const struct iovec *runs, int n, struct error *err);

/* writer.c */
struct perf_event_attr writer_ext_attr(void);

/* writer-head.c: the parts before the data: events, formats, features as records. */
int writer_add_attr(struct writer *w, const struct record *r, struct error *err);
int writer_head(struct writer *w, struct error *err);
/* Bodies of sections into @bodies, by the feature's bit; 0 bytes: unknown. 0 or -ENOMEM. */
int writer_features(const struct writer *w, struct writer_bytes *bodies);
int writer_event_desc(const struct writer_attr *attrs, size_t n, struct writer_bytes *b);

/* writer-ids.c */
/* Changes @a as its records will be. 0; -ENOTSUP: its records differ from those of the @n_before
 * events. */
int writer_ids_attr(struct writer_ids *w, struct writer_attr *a, size_t n_before);
bool writer_ids_are_added(const struct writer_ids *w);
/* Replaces *ret by the run with ids. 0, -ENOMEM, -EINVAL; -E2BIG: a record would be too long. */
int writer_ids_add(const struct writer_ids *w, const void *run, size_t len,
		   struct writer_bytes *ret);

/* writer-finish.c: the parts around the data in the file layout. */
struct writer_ends {
	uint64_t at;		  /* offset of the tail: the end of the data */
	struct perfdata_header h; /* the caller sets `data` */
	struct writer_bytes tail;
	struct writer_bytes features[PERFDATA_FEATURE_BITS]; /* bodies; empty: missing */
};
/* 0 or -ENOMEM. */
int writer_ends_build(struct writer_ends *f, const struct writer_attr *attrs, size_t n);
void writer_ends_deinit(struct writer_ends *f);
int writer_end_bytes(struct writer *w, uint64_t *ret); /* that finishing adds. 0 or -ENOMEM */

/* tracing.c */
/*
 * The container of tracepoint formats in perf.data and trace.dat: magic, version, sizes, the ring's
 * own formats, then systems with the text of each event's `format` file, then tables that are not
 * needed here. @fn gets each event; a result other than 0 ends the walk and is returned.
 */
typedef int tracing_fn(void *ctx, const char *system, const char *text, size_t len);
int tracing_walk(const void *data, size_t len, tracing_fn *fn, void *ctx, struct error *err);

/* Adds @n RECORD_FORMAT bodies, those of one system together. 0 or -ENOMEM. */
int tracing_build(const struct writer_bytes *formats, size_t n, struct writer_bytes *b);

#endif
