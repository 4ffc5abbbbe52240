/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_WAITS_FRAMES_SHARED_H
#define KONTEND_INSPECT_WAITS_FRAMES_SHARED_H

/*
 * Shared by frames.bpf.c and user-frames.c: how the caller of a piece of code is found on the stack
 * of a program. Plain C types only.
 */
enum {
	FRAMES_RULES = 1 << 14,
	FRAMES_ASKS = 1 << 9,
	FRAMES_TIMED = 31, /* one wait of so many is timed */
	FRAMES_USUAL_NS = 500,
	FRAMES_LONG_NS = 4000,
	FRAMES_PERIOD_SHIFT = 26, /* periods of 67 ms, in each of which a CPU has so much time */
};

/* Where the stack was before the function was called: its canonical frame address (CFA). */
enum frames_kind {
	FRAMES_ASKED, /* not known yet: as by the frame pointer */
	FRAMES_BY_SP, /* so many bytes above the stack pointer */
	FRAMES_BY_FP, /* or above the frame pointer */
	FRAMES_LAST,  /* the outermost function */
	FRAMES_STOP,  /* it is no code, or its table says what no rule can */
};

struct frames_rule {
	int cfa;	       /* bytes */
	unsigned char kind;    /* enum frames_kind */
	unsigned char in_link; /* the return address is in the link register still */
	signed char ra;	       /* of the return address, in words from the CFA */
	signed char fp;	       /* the same of the caller's frame pointer; 0: it is unchanged */
};

/* Code without a rule. */
struct frames_ask {
	unsigned long long key, pc;
	int pid, tid; /* in our PID namespace */
};

/* Of a CPU. */
struct frames_counts {
	unsigned long long waits, frames;   /* so many were unwound */
	unsigned long long timed, timed_ns; /* of these waits, so many took so long */
	unsigned long long saved;	    /* not taken, as there was little room in the ring */
	unsigned long long unasked;	    /* rules that could not be asked for */
};

#endif
