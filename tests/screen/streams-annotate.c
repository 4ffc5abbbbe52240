// SPDX-License-Identifier: GPL-2.0-only
/* A function that spins for a lock, with its code: samples on its loops, waits below its call. */
#include "kontend/mem.h"
#include "streams-int.h"
#include "synth-code.h"
#include "synth-profile.h"

enum { PID = 5214, TID = 5215, SECONDS = 3 };

struct spot {
	uint64_t ip;
	uint32_t weight; /* samples a second */
};

static void emit_samples(struct synth *s, const struct spot *spots, size_t n, uint64_t t)
{
	for (size_t i = 0; i < n; i++) {
		const uint64_t chain[] = {spots[i].ip, synth_addr(SYNTH_RAW_SPIN_LOCK),
					  synth_addr(SYNTH_RMQUEUE_BULK)};
		struct synth_chain c = {.kernel = chain, .n_kernel = 3};

		for (uint32_t k = 0; k < spots[i].weight; k++)
			synth_sample(s, 0, t, PID, TID, MS, c);
	}
}

static void emit_wait(struct synth *s, uint64_t back, uint64_t t)
{
	const uint64_t chain[] = {synth_addr(SYNTH_MUTEX_LOCK), back,
				  synth_addr(SYNTH_RMQUEUE_BULK)};

	synth_begin(s, 0, t, PID, TID, STREAM_PIPE_MUTEX, LCB_F_MUTEX, chain, 3);
	synth_end(s, 0, t + 70 * MS, PID, TID, STREAM_PIPE_MUTEX, 0);
}

static struct synth *make_stream(enum synth_machine m, const struct spot *spots, size_t n,
				 uint64_t back)
{
	struct stage st;

	stage_open(&st, 2, SECONDS, synth_kallsyms);
	synth_profile(st.synth);
	synth_code(st.synth, m);
	synth_comm(st.synth, 0, START_NS, PID, TID, "mm");
	for (uint64_t i = 0; i < SECONDS; i++) {
		uint64_t t = START_NS + i * SECOND;

		emit_samples(st.synth, spots, n, t + MS);
		emit_wait(st.synth, back, t + 2 * MS);
		stage_second(&st, 0, t + SECOND);
	}
	mem_free(st.list);
	return st.synth;
}

struct synth *stream_annotate(void)
{
	const struct spot spots[] = {
		{SYNTH_CODE + SYNTH_X86_SPIN, 9},	{SYNTH_CODE + SYNTH_X86_TAKEN, 41},
		{SYNTH_CODE + SYNTH_X86_PAUSE, 3},	{SYNTH_CODE + SYNTH_X86_LAST, 22},
		{synth_addr(SYNTH_EXC_PAGE_FAULT), 25},
	};

	return make_stream(SYNTH_X86_64, spots, sizeof(spots) / sizeof(*spots),
			   SYNTH_CODE + SYNTH_X86_RETURN);
}

struct synth *stream_annotate_arm64(void)
{
	const struct spot spots[] = {
		{SYNTH_CODE + SYNTH_ARM64_TAKEN, 30},
		{SYNTH_CODE + SYNTH_ARM64_RETURN, 2},
		{synth_addr(SYNTH_EXC_PAGE_FAULT), 25},
	};

	return make_stream(SYNTH_ARM64, spots, sizeof(spots) / sizeof(*spots),
			   SYNTH_CODE + SYNTH_ARM64_RETURN);
}
