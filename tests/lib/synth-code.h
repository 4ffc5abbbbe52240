/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_SYNTH_CODE_H
#define KONTEND_TESTS_SYNTH_CODE_H

#include "synth.h"

/*
 * The code of native_queued_spin_lock_slowpath in a synthetic recording: loops that spin, calls,
 * operands at fixed places. Below the synthetic symbols' _etext, it ends before the next one.
 */
enum synth_machine { SYNTH_X86_64, SYNTH_ARM64 };

#define SYNTH_CODE 0xffffffff81031000ull

/* Offsets of some of its instructions. */
enum {
	SYNTH_X86_SPIN = 0x1c,	  /* cmp in the first loop */
	SYNTH_X86_TAKE = 0x3a,	  /* lock cmpxchg; the instruction after it gets its samples */
	SYNTH_X86_TAKEN = 0x3e,	  /* jne back */
	SYNTH_X86_PAUSE = 0x4b,	  /* within another loop */
	SYNTH_X86_RETURN = 0x63,  /* where callq mutex_lock comes back to */
	SYNTH_X86_LAST = 0x7c,	  /* behind the second lock cmpxchg */
	SYNTH_ARM64_TAKEN = 0x20, /* cbnz after stxr */
	SYNTH_ARM64_RETURN = 0x44,
};

/* Behind the prologue: a snapshot with the code, and for SYNTH_ARM64 that this is such a machine.
 */
void synth_code(struct synth *s, enum synth_machine m);

#endif
