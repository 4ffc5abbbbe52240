/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_PREEMPTED_H
#define KONTEND_PREEMPTED_H

#include <stddef.h>
#include <stdint.h>

struct locksnap;
struct map_spaces;

enum { PREEMPTED_MOST = 128, PREEMPTED_COMM = 16 };

/* A thread whose CPU another thread of its process had, at one place in its program. */
struct preempted_thread {
	int32_t pid, tid;
	int32_t off_tid; /* the other one, by the last of these snapshots */
	uint32_t looks;	 /* that have seen it there */
	uint64_t frame;	 /* the place, as in maps.h */
	uint64_t last_ns;
	char comm[PREEMPTED_COMM];
};

/* Those that snapshots have seen last. */
struct preempted {
	struct preempted_thread threads[PREEMPTED_MOST];
	uint32_t n;
};

/* @spaces: what processes have mapped. */
void preempted_take(struct preempted *p, const struct locksnap *s, const struct map_spaces *spaces);
/* map_frames_forget() of all places. */
void preempted_forget_objects(struct preempted *p, const uint8_t *keep, size_t n);

#endif
