/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_SYNTH_PROFILE_H
#define KONTEND_TESTS_SYNTH_PROFILE_H

#include "synth.h"

/* A profile by the CPU's clock in a synthetic stream. The event comes behind the prologue. */
void synth_profile(struct synth *s);

/* A call chain as it stands in a sample: kernel frames, then user ones, innermost first. */
struct synth_chain {
	const uint64_t *kernel, *user;
	uint32_t n_kernel, n_user;
};

void synth_sample(struct synth *s, uint32_t cpu, uint64_t t, int pid, int tid, uint64_t period,
		  struct synth_chain chain);
/* Code of inode 7 of device 8:1. */
void synth_mmap(struct synth *s, uint32_t cpu, uint64_t t, int pid, uint64_t start, uint64_t len,
		uint64_t pgoff, const char *path);
/* An exec: PERF_RECORD_COMM with its flag. */
void synth_exec(struct synth *s, uint32_t cpu, uint64_t t, int pid, const char *comm);

#endif
