/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UNWIND_H
#define KONTEND_UNWIND_H

#include "kontend/cfisnap.h"
#include "kontend/usersyms.h"

/*
 * User-space call chains from the user registers and the stack dump of a sample, with the exception
 * tables of programs (.eh_frame). Whatever bytes the dump contains, unwinding ends in bounded time
 * and gives its reason.
 */
struct unwind;	     /* the tables of files */
struct unwind_space; /* mappings of one process */

/* An executable mapping. */
struct unwind_map {
	uint64_t start, end, file_offset;
	uint32_t object; /* of usersyms_object(), or UNWIND_NO_OBJECT */
};

#define UNWIND_NO_OBJECT UINT32_MAX

/* As PERF_SAMPLE_REGS_USER and PERF_SAMPLE_STACK_USER give it. */
struct unwind_sample {
	uint64_t regs_mask;   /* register numbers of perf, sample_regs_user */
	const uint64_t *regs; /* one per bit, lowest first */
	const void *stack;    /* from the stack pointer upwards */
	size_t stack_len;     /* dyn_size: bytes really dumped */
};

enum unwind_end {
	UNWIND_DONE,	/* the outermost frame was reached */
	UNWIND_CUT,	/* it leaves the dumped piece of the stack */
	UNWIND_NO_INFO, /* code without tables, or not from a file */
	UNWIND_LOOP,	/* frames do not move outwards */
	UNWIND_MOST,	/* more frames than requested */
	UNWIND_BAD,	/* no registers, or damaged tables */
	/* The file of the code ... */
	UNWIND_NO_FILE,	   /* is not there */
	UNWIND_NO_RIGHT,   /* may not be read */
	UNWIND_OTHER_FILE, /* differs from the recorded one, or may differ */
	/* Not tried: */
	UNWIND_32BIT,	/* a program of another architecture than the unwinder's */
	UNWIND_NO_MAPS, /* the mappings of the process are not known */
	UNWIND_NONE,	/* there is no unwinder for this architecture */
	UNWIND_ENDS,
};

struct unwind_frame {
	uint64_t ip;	      /* first frame: instruction pointer; others: return address */
	uint64_t at;	      /* the call: one byte before the return address */
	uint64_t file_offset; /* of that */
	uint32_t object;
	bool is_known; /* in a mapping; else object and file_offset are 0 */
};

/* How the caller of a place in code is found, where a word or two say it. */
enum unwind_rule_kind {
	UNWIND_RULE_SP,	  /* the frame begins so many bytes above the stack pointer, */
	UNWIND_RULE_FP,	  /* or above the frame pointer */
	UNWIND_RULE_LAST, /* it is the outermost function */
};

struct unwind_rule {
	enum unwind_rule_kind kind;
	int32_t frame;	   /* bytes up to the begin of the frame (CFA) */
	int32_t ret, fp;   /* from there: of the return address, and of the caller's fp */
	bool in_link;	   /* the return address is still in the link register, not at `ret` */
	bool fp_unchanged; /* the caller's frame pointer is in its register, not at `fp` */
};

const char *unwind_reason(enum unwind_end e); /* "stack dump ends", never NULL */

/* Library to unwind with. */
enum unwind_way {
	UNWIND_BEST, /* the best in this build */
	UNWIND_LIBUNWIND,
	UNWIND_LIBDW,
};

struct unwind_config {
	const char *machine; /* as in uname(), "x86_64" or "aarch64"; NULL or "": this machine */
	enum unwind_way way;
	/* Recorded tables of a file, if the file has none or is missing; NULL: no recorded tables.
	 * `head.path` of the answer is not used. */
	const struct cfisnap *(*recorded)(void *ctx, uint32_t file);
	void *ctx;
};

/* @files must outlive @ret. 0; -ENOTSUP: this build cannot unwind that machine's code; -ENOMEM. */
int unwind_new(struct unwind **ret, struct usersyms *files, const struct unwind_config *c,
	       struct error *err);
void unwind_free(struct unwind *u); /* NULL is fine; after its spaces */

/* The tables read from a file: *ret borrows them. False: not read, or the file has none. */
bool unwind_tables_get(const struct unwind *u, uint32_t file, struct cfisnap *ret);
/* Call when there may be more recorded tables. The caller must then set all spaces again. */
void unwind_look_again(struct unwind *u);

/* 0 or -ENOMEM. */
int unwind_space_new(struct unwind_space **ret, struct unwind *u);
void unwind_space_free(struct unwind_space *s); /* NULL is fine */
/*
 * Sets the current mappings, ordered by address, without overlaps; borrowed until the next call.
 * Forgets everything about the former mappings.
 */
void unwind_space_set(struct unwind_space *s, const struct unwind_map *maps, size_t n);

/*
 * Returns the frames of a sample, innermost first, at most @most, and their number. Tables of a
 * file are read when a stack first needs them.
 */
size_t unwind_stack(struct unwind_space *s, const struct unwind_sample *sample,
		    struct unwind_frame *ret, size_t most, enum unwind_end *ret_end);

/*
 * The rule of the code at @addr, by its table, or without one by its instructions. 0; -ENOENT:
 * these do not show it; -ENXIO: no code is there; -ENOTSUP: its table has no such simple rule;
 * -ENOMEM.
 */
int unwind_rule_of(struct unwind_space *s, uint64_t addr, struct unwind_rule *ret);

#endif
