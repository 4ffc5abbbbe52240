/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_READER_H
#define KONTEND_READER_H

#include "kontend/source.h"
#include <stdbool.h>

/*
 * A perf.data file as a source: file or pipe layout, compressed or not, by perf or by ourselves.
 * What it says comes in the order HOST, FORMAT, ATTR, then PERF runs of one CPU each with ROUND and
 * TICK between them, KALLSYMS before the first of these, NOTE where part of the file is not usable.
 * The file is mapped and its pages are given back after the last record released.
 */
struct reader_options {
	const char *path; /* "-": standard input */
	/* Not NULL: the file's bytes, 8-byte aligned; they must outlive the source. @path only
	 * names them. */
	const void *bytes;
	size_t n_bytes;
	/* 0: the ticks that the recording has; where it has none, one a second, or about a
	 * hundred in all where the file says that it is longer. */
	uint64_t tick_ns;
	/* Not NULL: opens @path, as open() for reading does; a descriptor or -errno. */
	int (*open)(void *ctx, const char *path);
	void *open_ctx;
	bool no_symbols;       /* do not look for kernel symbols outside the file */
	uint32_t window_bytes; /* mapped and given back at a time, >= 4096; 0: default */
};

int reader_new(struct source **ret, const struct reader_options *o, struct error *err);

/* Bytes of heap that records not yet released hold; what was left out so far. */
struct reader_stat {
	uint64_t held_bytes;
	uint64_t unknown_records; /* of types that perf gave no meaning yet when this was written */
	uint64_t bad_records;
	bool compressed;     /* some of what was read so far */
	bool is_cut;	     /* it ends early: known at once where its head says so */
	bool by_kontend;     /* made by kontend: its head tells the time of what is in it */
	uint64_t pos;	     /* bytes of the file that were read */
	uint64_t size;	     /* of the file; 0: not known */
	uint64_t dev, inode; /* of a regular file, as stat() answers; 0: it is none */
};
void reader_stat(struct source *s, struct reader_stat *ret);

#endif
