/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_SYNTH_PROFILE_H
#define KONTEND_TESTS_SYNTH_PROFILE_H

#include "synth.h"

/* A profile by the CPU's clock in a synthetic stream. The event comes after the prologue. */
void synth_profile(struct synth *s);

/* A call chain in the order of a sample: kernel frames, then user ones, innermost first. */
struct synth_chain {
	const uint64_t *kernel, *user;
	uint32_t n_kernel, n_user;
	uint64_t ip; /* where there are no frames */
};

void synth_sample(struct synth *s, uint32_t cpu, uint64_t t, int pid, int tid, uint64_t period,
		  struct synth_chain chain);
/* Instead of synth_profile(): samples have registers and a dump of the stack ... */
void synth_profile_dumps(struct synth *s, uint64_t regs_mask);
struct synth_dump {
	uint64_t abi; /* PERF_SAMPLE_REGS_ABI_* */
	const uint64_t *regs;
	uint32_t n_regs;
	const void *stack;
	uint64_t size, there; /* bytes: in the record; in its header */
};
void synth_dump(struct synth *s, uint64_t t, int pid, struct synth_chain chain,
		const struct synth_dump *d);
/* ... or the calls that the CPU keeps: where they came from, innermost first. */
void synth_profile_calls(struct synth *s);
void synth_calls(struct synth *s, uint64_t t, int pid, struct synth_chain chain,
		 const uint64_t *from, uint32_t n);
/* Code of inode 7 of device 8:1. Of a file that is here no inode: its path alone decides. */
void synth_mmap(struct synth *s, uint32_t cpu, uint64_t t, int pid, uint64_t start, uint64_t len,
		uint64_t pgoff, const char *path);
/* The same with a build id of 20 bytes from the kernel instead of the inode. */
void synth_mmap_id(struct synth *s, uint32_t cpu, uint64_t t, int pid, uint64_t start, uint64_t len,
		   const char *path, const uint8_t id[20]);
/* A second event, "instructions", whose samples have only the address; and one of these. */
void synth_profile_second(struct synth *s);
void synth_sample_second(struct synth *s, uint32_t cpu, uint64_t ip);
/* So many samples of the profile were lost in all; its event was throttled. */
void synth_profile_lost(struct synth *s, uint32_t cpu, uint64_t n);
void synth_profile_throttle(struct synth *s, uint32_t cpu, uint64_t t);
/* An exec: PERF_RECORD_COMM with its flag. */
void synth_exec(struct synth *s, uint32_t cpu, uint64_t t, int pid, const char *comm);

#endif
