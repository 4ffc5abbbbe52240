/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_SYNTH_INT_H
#define KONTEND_TESTS_SYNTH_INT_H

#include "synth-mm.h"

/* Shared by the files of synth. */
enum { SYNTH_TP_MM = 411, SYNTH_ID_MM = 10000 };

void synth_add_attr(struct synth *s, uint64_t config, uint64_t id0);
void synth_add_attr_chain(struct synth *s, uint64_t config, uint64_t id0);
/* A sample with this raw part, whose length + 4 is a multiple of 8. */
void synth_raw_sample(struct synth *s, uint64_t id, uint32_t cpu, uint64_t t, int pid, int tid,
		      const void *raw, size_t len);
/* The same with a call chain, of an event with one. */
void synth_chain_sample(struct synth *s, uint64_t id, uint32_t cpu, uint64_t t, int pid, int tid,
			const uint64_t *frames, uint32_t n_frames, const void *raw, size_t len);
void synth_set_mm_paths(struct synth *s);
bool synth_mm_paths(const struct synth *s);
void synth_set_mm_path(struct synth *s, bool path);
bool synth_mm_path(const struct synth *s);

#endif
