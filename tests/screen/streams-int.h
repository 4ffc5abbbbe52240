/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_STREAMS_INT_H
#define KONTEND_TESTS_STREAMS_INT_H

#include "streams.h"
#include <stdbool.h>

/* Shared by the files of canned streams: see streams.c. */
enum { FRAMES_MAX = 9, SECOND = 1000000000 };

#define US 1000ull
#define MS 1000000ull
#define START_NS (1000ull * SECOND)

struct actor {
	int pid, tid;
	const char *comm;
	uint32_t cpu;
	uint32_t flags;
	uint64_t lock;
	uint32_t n_locks; /* further locks, 64 bytes apart; the first ones are the busiest */
	uint64_t wait_ns, pause_ns;
	uint64_t age_ns;
	const uint64_t *chain;
	uint64_t cgroup;
};

struct happening {
	uint64_t time;
	uint64_t lock;
	const struct actor *actor;
	uint32_t cpu;
	uint32_t flags;
	uint32_t seq;
	bool begins;
};

struct stage {
	struct synth *synth;
	uint32_t n_cpus, seconds;
	uint64_t seed;
	struct happening *list;
	size_t n, cap;
};

/* Chains, filled from synth_addr(); 0 ends. */
struct chains {
	uint64_t munmap[FRAMES_MAX], mmap[FRAMES_MAX], fault[FRAMES_MAX], read[FRAMES_MAX],
		write[FRAMES_MAX], zone[FRAMES_MAX], unknown[FRAMES_MAX];
};

#define STREAM_MMAP_LOCK 0xffff888012345678ull
#define STREAM_PIPE_MUTEX 0xffff8880a1b2c3d0ull

void chains_init(struct chains *c);
void stage_open(struct stage *st, uint32_t n_cpus, uint32_t seconds, const char *kallsyms);
/* Turns the waits of an actor into events. */
void stage_act(struct stage *st, const struct actor *a);
void stage_sort(struct stage *st);
/* Emits everything up to @until and closes that second; where to go on. */
size_t stage_second(struct stage *st, size_t i, uint64_t until);
struct synth *stage_close(struct stage *st);
/* The actors of the storm: how many there are, 13. */
size_t stage_storm(struct actor *a, const struct chains *c);

/* A function of a program, by its place in the file. */
struct stated_function {
	uint64_t start;
	const char *name;
};

/* Names in the recording: functions of the program at @path, which is not here. */
void streams_state_names(struct synth *s, const char *path, const struct stated_function *named,
			 size_t n);

/* streams-blame.c */
struct synth *stream_followed(void);
struct synth *stream_users(void);
struct synth *stream_inversion(void);
struct synth *stream_lines(void);
struct synth *stream_lines_over(void);
/* streams-mmap.c */
struct synth *stream_mmap(void);
struct synth *stream_mmap_none(void);
struct synth *stream_blocked(void);
struct synth *stream_blocked_proc(void);
struct synth *stream_blocked_slept(void);
struct synth *stream_no_bpf(void);
struct synth *stream_mmap_all(void);
struct synth *stream_mmap_sampled(void);
struct synth *stream_mmap_paths(void);
struct synth *stream_trylock(void);
/* streams-annotate.c */
struct synth *stream_annotate(void);
struct synth *stream_annotate_arm64(void);
/* streams-why.c */
struct synth *stream_why(void);
/* streams-hot.c */

struct synth *stream_hot(void);
struct synth *stream_hot_cpus(void);
struct synth *stream_hot_named(void);
struct synth *stream_hot_foreign(void);

#endif
