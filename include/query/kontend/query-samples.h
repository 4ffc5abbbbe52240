/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_SAMPLES_H
#define KONTEND_QUERY_SAMPLES_H

#include "kontend/locktype.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct query;
struct query_zoom;

/*
 * Measurements in the form that stores of profiles take: a call chain by file, function and line,
 * and labels that many runs have in common instead of addresses and process ids.
 */

/* The file, or the kernel, that code is in. */
struct query_code {
	const char *name; /* "[kernel.kallsyms]", "[nf_tables]", "/usr/lib/libc.so.6" */
	uint8_t build_id[20];
	size_t build_id_len; /* 0: not known */
	bool is_kernel;
};

struct query_line {
	const char *function;
	const char *file; /* NULL: not known */
	uint32_t line;	  /* 0: not known */
};

/*
 * A place in code. Places in the kernel have no offset: they go by name, as an address only shows
 * where this kernel was loaded.
 */
struct query_place {
	const struct query_code *code;	/* NULL: of nothing that is known */
	uint64_t offset;		/* in the file */
	const struct query_line *lines; /* innermost first; the last one is not inlined */
	size_t n_lines;			/* 0: no name is known */
};

/* Texts are NULL where nothing is known. */
struct query_sample {
	const struct query_place *const *places; /* innermost first, without locking code */
	uint32_t n_places;			 /* 0: no call chain */
	enum lock_type type;			 /* of samples LOCK_TYPES */
	const char *lock, *memcg;		 /* memcg: of the process whose mmap_lock it is */
	const char *holder, *comm, *cgroup;
	int32_t pid; /* 0: none */
	uint64_t n;
	uint64_t ns; /* waited, or of CPU time */
};

enum query_samples_what {
	SAMPLES_WAITS,	/* finished waits for all locks */
	SAMPLES_SLEEPS, /* those for locks whose waiters sleep */
	SAMPLES_CPU,	/* where CPUs were */
};

struct query_samples_spec {
	enum query_samples_what what;
	const struct query_zoom *zoom; /* NULL: everything */
	/* Names and lines are waited for so long; 0: there are no lines, and names that are there.
	 */
	uint64_t names_ns;
};

/* The rows with most time first. In the arena. */
struct query_samples {
	struct query_sample *rows;
	size_t n;
	uint64_t period_ns; /* of samples: what one stands for; 0: not known, and `ns` of none is */
};

/* 0 or -ENOMEM. */
int query_samples(struct query *q, const struct query_samples_spec *s, struct query_samples *ret);

#endif
