/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UNWIND_H
#define KONTEND_UNWIND_H

#include "kontend/cfisnap.h"
#include "kontend/usersyms.h"

/*
 * Call chains of user space from what a sample has of it: the registers and a piece of the stack,
 * by the tables that programs carry for exceptions (.eh_frame).
 * Whatever is in the dump, unwinding ends: in bounded time, with the reason.
 */
struct unwind;	     /* the tables of files */
struct unwind_space; /* what one process has mapped */

/* An executable mapping. */
struct unwind_map {
	uint64_t start, end, file_offset;
	uint32_t object; /* of usersyms_object(), or UNWIND_NO_OBJECT */
};

#define UNWIND_NO_OBJECT UINT32_MAX

/* As PERF_SAMPLE_REGS_USER and PERF_SAMPLE_STACK_USER give it. */
struct unwind_sample {
	uint64_t regs_mask;   /* of perf's numbers, sample_regs_user */
	const uint64_t *regs; /* one a bit, lowest first */
	const void *stack;    /* from the stack pointer upwards */
	size_t stack_len;     /* dyn_size: what is really there */
};

enum unwind_end {
	UNWIND_DONE,	/* the outermost frame was reached */
	UNWIND_CUT,	/* it leaves the piece of the stack that was taken */
	UNWIND_NO_INFO, /* of code without tables, or not of a file */
	UNWIND_LOOP,	/* frames do not go outwards */
	UNWIND_MOST,	/* more frames than are wanted */
	UNWIND_BAD,	/* no registers, or damaged tables */
	/* Of code whose file ... */
	UNWIND_NO_FILE,	   /* is not there */
	UNWIND_NO_RIGHT,   /* may not be read */
	UNWIND_OTHER_FILE, /* is another one now, or may be */
	/* Not tried: */
	UNWIND_32BIT,	/* of another kind of program than the unwinder is for */
	UNWIND_NO_MAPS, /* nothing is known of the process */
	UNWIND_NONE,	/* there is no unwinder for this architecture */
	UNWIND_ENDS,
};

struct unwind_frame {
	uint64_t ip;	      /* the first one: where it was; others: where it returns to */
	uint64_t at;	      /* the call: one byte before a place to return to */
	uint64_t file_offset; /* of that */
	uint32_t object;
	bool is_known; /* in a mapping; else object and file_offset are 0 */
};

const char *unwind_reason(enum unwind_end e); /* "stack dump ends", never NULL */

/* By which library. */
enum unwind_way {
	UNWIND_BEST, /* that this build has */
	UNWIND_LIBUNWIND,
	UNWIND_LIBDW,
};

struct unwind_config {
	const char *machine; /* as uname() says it, "x86_64" or "aarch64"; NULL or "": this one */
	enum unwind_way way;
	/* Tables of a file from elsewhere, where it has none or is not there; NULL: there are none.
	 * Of the answer `head.path` is not looked at. */
	const struct cfisnap *(*recorded)(void *ctx, uint32_t file);
	void *ctx;
};

/* @files must outlive @ret. 0; -ENOTSUP: there is no unwinder for it in this build; -ENOMEM. */
int unwind_new(struct unwind **ret, struct usersyms *files, const struct unwind_config *c,
	       struct error *err);
void unwind_free(struct unwind *u); /* NULL is fine; after its spaces */

/* The tables that were read of a file: *ret borrows them. False: none were, or none are there. */
bool unwind_tables_get(const struct unwind *u, uint32_t file, struct cfisnap *ret);
/* There may be more recorded ones than before. Then all spaces are to be set again. */
void unwind_look_again(struct unwind *u);

/* 0 or -ENOMEM. */
int unwind_space_new(struct unwind_space **ret, struct unwind *u);
void unwind_space_free(struct unwind_space *s); /* NULL is fine */
/*
 * What is mapped from now on, ordered by address, none overlapping; borrowed until it is set
 * again. What was learnt of the former is forgotten.
 */
void unwind_space_set(struct unwind_space *s, const struct unwind_map *maps, size_t n);

/*
 * Frames of a sample, innermost first, at most @most: as many are returned. The tables of a file
 * are read when a stack first needs them.
 */
size_t unwind_stack(struct unwind_space *s, const struct unwind_sample *sample,
		    struct unwind_frame *ret, size_t most, enum unwind_end *ret_end);

#endif
