/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_SYNTH_MM_H
#define KONTEND_TESTS_SYNTH_MM_H

#include "kontend/mmlevel.h"
#include "synth.h"
#include <stdbool.h>

/* Events of mmap_locks in a canned stream. */
enum synth_mm { SYNTH_MM_START, SYNTH_MM_ACQUIRED, SYNTH_MM_RELEASED, SYNTH_MMS };

struct synth_mm_event {
	enum synth_mm what;
	uint32_t cpu;
	uint64_t t;
	int pid, tid;
	uint64_t mm;
	uint64_t memcg_id; /* of streams with ids */
	const char *memcg; /* of those with paths */
	bool write, success;
	/* Where it is got: of streams with call paths, and SYNTH_MM_ACQUIRED only. */
	const uint64_t *frames;
	uint32_t n_frames;
};

/* After synth_prologue(). @path: events carry the path of the memory cgroup, not its id. */
void synth_mm_prologue(struct synth *s, bool path);
/* The same, and an acquired lock has its call chain. */
void synth_mm_prologue_paths(struct synth *s);
void synth_mm(struct synth *s, const struct synth_mm_event *e);
void synth_mm_how(struct synth *s, const struct mmlevel_how *how, uint64_t t);

#endif
