/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_ANNOTATE_H
#define KONTEND_QUERY_ANNOTATE_H

#include "kontend/disasm.h"
#include "kontend/query.h"
#include "kontend/srclines.h"

/*
 * A function's instructions with what the profile has sampled at each, and what was waited below
 * each call.
 */
struct query_code_line {
	uint64_t offset;     /* from the function's first byte */
	uint8_t length;	     /* 0: there is no code, and this is a place that was sampled */
	const uint8_t *code; /* `length` bytes */
	const char *text;    /* "jne +0x12", "callq schedule"; NULL: no code */
	uint8_t operands;    /* where these begin in text; its length: there are none */
	enum disasm_kind kind;
	bool jumps;	  /* within the function, to offset `jump` */
	uint64_t jump;	  /* it is the beginning of a line */
	const char *call; /* the function that a call, or a jump out of this one, is of; or NULL */
	const char *data; /* of the kernel, at a fixed place, that an operand is: or NULL */
	/* Of a jump or call that says where to: an address of the kernel, or as query_annotate()
	 * takes it, which finds the function around it. */
	bool has_target;
	uint64_t target;
	uint64_t samples, wait_ns;
	bool skid;	 /* they may be of what ran before with interrupts off */
	uint64_t weight; /* of the samples: what these stand for, ns or events */
	double pct;	 /* of the function's */
	/* The line of source that it is from, and what is inlined there, innermost first: its file
	 * and line are those of frames[0]. NULL: not known, or not yet: see lines_why. */
	const struct srclines_place *place;
	const char *source_text; /* that line, clean, tabs and all; NULL: not to be read */
};

struct query_annotate {
	const char *symbol, *object;
	uint64_t start; /* of the function */
	uint64_t place; /* of `start`: kernel address, or offset in the program's file */
	uint64_t size;	/* bytes; 0: not known */
	uint64_t samples, weight, wait_ns;
	uint64_t all_samples; /* of all functions */
	double pct, wait_pct; /* of all that was sampled; of all that was waited */
	bool waits;	      /* call chains of waits can pass it: it is of the kernel */
	const char *source;   /* where code is from: "/proc/kcore", "recording"; NULL: see why */
	bool recorded;	      /* its name is from the recording, as its file is not here */
	bool live;	      /* it was read from the running kernel, as that has patched it */
	bool loading;	      /* of a program whose names are not there yet: ask again */
	bool is_time;	      /* weights are ns: what was sampled is a clock */
	const char *why;
	const char *note;      /* of a function that only tries to get locks: why it has no waits;
				  NULL */
	const char *lines_why; /* why no line has a `place`; NULL: some have one */
	struct query_code_line *lines;
	size_t n;
	size_t hottest; /* line with most samples, else most waits; SIZE_MAX: none has any */
};

/*
 * The function of which a row of the profile is: that with most samples, or waits, of those called
 * @symbol, else one that was not sampled. 0; -ENOENT with @err proposing others; -ENOMEM.
 */
int query_annotate_find(struct query *q, const char *symbol, uint64_t *ret_start,
			struct error *err);
/*
 * A line of disassembly for people: operands are aligned, and after them comes the name of the code
 * or data at a fixed address, or a note that the samples belong to another place. "" without code;
 * returns @buf.
 */
enum { QUERY_ANNOTATE_TEXT = 400 };
const char *query_annotate_note(const struct query_code_line *l); /* what that is; or NULL */
const char *query_annotate_text(const struct query_code_line *l, char buf[QUERY_ANNOTATE_TEXT]);
/* The function around @start: as found, the key of a row by symbol, a target. 0 or -ENOMEM. */
int query_annotate(struct query *q, uint64_t start, struct query_annotate *ret, struct error *err);
/*
 * The locking function that waits of @scope pass and that was sampled most, else the one with most
 * of them. 0; -ENOENT: none has a call chain; -ENOMEM.
 */
int query_annotate_path(struct query *q, const struct query_scope *scope, uint64_t *ret_start);

#endif
