/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_CANARY_H
#define KONTEND_TESTS_CANARY_H

#include "synth.h"

/* Where a function of this program, names_canary(), is in which file. */
struct canary_place {
	uint64_t start, len, pgoff;
	char path[256];
};

#define CANARY_START 1000000000ull /* ns: when what is stated may begin */
enum { CANARY_PID = 5000000 }; /* above every PID that a kernel gives: /proc has no such process */

struct canary_place canary_here(void);
uint64_t canary_addr(void);
/* Emits the header of a recording made by this machine. */
void canary_machine(struct synth *s);
/* 9 samples in the canary, called by code without a name; a tick after 100 ms. */
void canary_stream(struct synth *s, uint64_t begin, const struct canary_place *h);

#endif
