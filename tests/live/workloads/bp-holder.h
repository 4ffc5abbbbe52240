/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_BP_HOLDER_H
#define KONTEND_TESTS_BP_HOLDER_H

#include <inttypes.h>
#include <stdint.h>

/*
 * One event that bp-holder made: a line of its output. Numbers are -1 where there is none: a
 * descriptor, a CPU, an owner. The id is 0 where it cannot be read (no descriptor leads to the
 * event).
 */
struct bp_made {
	char kind[16], role[16];
	uint64_t id, addr, len;
	int type, bp_type, state, cpu;
	int owner, target; /* tids */
	int owner_pid, tracer;
	int holder[2], fd[2]; /* pids and their descriptors */
};

#define BP_MADE_PRINT                                                                              \
	"event %s %s id %" PRIu64 " addr 0x%" PRIx64 " len %" PRIu64                               \
	" type %d rwx %d state %d cpu %d owner %d target %d owner-pid %d tracer %d"                \
	" holder %d %d fd %d %d\n"
#define BP_MADE_SCAN                                                                               \
	"event %15s %15s id %" SCNu64 " addr 0x%" SCNx64 " len %" SCNu64                           \
	" type %d rwx %d state %d cpu %d owner %d target %d owner-pid %d tracer %d"                \
	" holder %d %d fd %d %d"
#define BP_MADE_FIELDS 17

#endif
