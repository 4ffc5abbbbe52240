/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_READER_H
#define KONTEND_READER_H

#include "kontend/perfdata.h"
#include "kontend/source.h"
#include "kontend/textsnap.h"
#include <stdbool.h>

/*
 * A perf.data file as a source: file or pipe layout, compressed or not, written by perf or by
 * kontend. Records come in the order HOST, FORMAT, ATTR, then PERF runs of one CPU each with ROUND
 * and TICK between them, KALLSYMS before the first of these, NOTE where part of the file cannot be
 * used. The file is mapped, and its pages are dropped after the last record is released.
 */
struct reader_options {
	const char *path; /* "-": standard input */
	/* Not NULL: the file's bytes, 8-byte aligned; they must outlive the source. @path is only
	 * their name. */
	const void *bytes;
	size_t n_bytes;
	/* 0: the ticks of the recording; if it has none, one per second, or about a hundred in all
	 * if the file says that it is longer. */
	uint64_t tick_ns;
	/* Not NULL: opens @path, as open() for reading does; a descriptor or -errno. */
	int (*open)(void *ctx, const char *path);
	void *open_ctx;
	/* Not NULL: a kallsyms or vmlinux with the kernel symbols of a recording that has none.
	 * It must outlive the source. */
	const char *symbols;
	bool no_symbols;       /* do not look for kernel symbols outside the file */
	uint32_t window_bytes; /* mapped and dropped at a time, >= 4096; 0: default */
};

int reader_new(struct source **ret, const struct reader_options *o, struct error *err);

/* Heap bytes of records not yet released, and the records skipped so far. */
struct reader_stat {
	uint64_t held_bytes;
	uint64_t unknown_records; /* of types that perf had not defined when this was written */
	uint64_t bad_records;
	bool compressed;     /* some of the data read so far */
	bool is_cut;	     /* it ends early: known at once if its header shows it */
	bool by_kontend;     /* made by kontend: its head has the time range */
	uint64_t pos;	     /* bytes of the file read so far */
	uint64_t size;	     /* of the file; 0: unknown */
	uint64_t dev, inode; /* of a regular file, as from stat(); 0: it is none */
};
void reader_stat(struct source *s, struct reader_stat *ret);
/* The recorded machine, known from the first event on. It lives as long as the source. */
const struct perfdata_machine *reader_machine(struct source *s);

/*
 * The code of the kernel that was recorded, at its addresses, from the copy of its memory that perf
 * record --kcore makes; NULL: there is none. It lives as long as the source.
 */
struct codesource *reader_code(struct source *s);

#endif
