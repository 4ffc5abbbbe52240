/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_FOLLOWED_H
#define KONTEND_TESTS_FOLLOWED_H

#include "kontend/holdrec.h"
#include "synth.h"

/*
 * A story of holders that are followed, once a second: mysqld/801 has the mmap_lock for which
 * readers wait, 720 ms: it runs 350 ms, is kept off by stress/99 for 60 ms, sleeps for I/O 100 ms,
 * runs 60 ms more, and waits 150 ms for a pipe's mutex, whose holder, dd/811, is asleep meanwhile.
 * The owner of the mmap_lock before is unknown.
 */
#define FOLLOWED_MMAP_LOCK 0xffff888012345678ull
#define FOLLOWED_PIPE_MUTEX 0xffff888076543210ull
enum {
	FOLLOWED_PID = 800,
	FOLLOWED_ROOT = 801,
	FOLLOWED_READERS = 3, /* 802 and so on */
	FOLLOWED_DD = 811,
};

/* After the prologue and synth_outputs(). Seconds from @t on, with their ticks. */
void followed_emit(struct synth *s, uint64_t t, unsigned seconds);
/* A record of a holder of that lock; set @other and its name where it names another task. */
void followed_record(struct synth *s, uint64_t t, const struct holdrec *r);
/* The symbols of the sleeps, to be appended to synth_kallsyms. */
extern const char followed_symbols[];

#endif
