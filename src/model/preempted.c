// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that other threads of their process kept off a CPU, from snapshots: a short list, in
 * which a new place takes the room of the one that was seen longest ago. Snapshots see a part of
 * all such moments only, so it shows where, and not for how long.
 */
#include "kontend/preempted.h"
#include "kontend/locksnap.h"
#include "kontend/maps.h"

#include <stdio.h>

/* The one of that thread at that place, or a new one, or the oldest. */
static struct preempted_thread *find(struct preempted *p, int32_t tid, uint64_t frame)
{
	struct preempted_thread *oldest = &p->threads[0];

	for (uint32_t i = 0; i < p->n; i++) {
		struct preempted_thread *t = &p->threads[i];
		if (t->tid == tid && t->frame == frame)
			return t;
		oldest = t->last_ns < oldest->last_ns ? t : oldest;
	}
	if (p->n < PREEMPTED_MOST)
		oldest = &p->threads[p->n++];
	*oldest = (struct preempted_thread){0};
	return oldest;
}

void preempted_take(struct preempted *p, const struct locksnap *s, const struct map_spaces *spaces)
{
	for (size_t i = 0; i < s->n_preempted; i++) {
		const struct locksnap_preempted *from = &s->preempted[i];
		const struct map_space *space = map_spaces_of(spaces, from->pid);
		uint64_t frame = map_space_frame(space, from->ip);
		if (from->tid <= 0 || !map_frame_is_user(frame))
			continue;
		struct preempted_thread *t = find(p, from->tid, frame);
		t->pid = from->pid;
		t->tid = from->tid;
		t->off_tid = from->off_tid;
		t->frame = frame;
		t->last_ns = s->head.time_ns;
		t->looks++;
		snprintf(t->comm, sizeof(t->comm), "%s", locksnap_text(s, from->comm));
	}
}

void preempted_forget_objects(struct preempted *p, const uint8_t *keep, size_t n)
{
	for (uint32_t i = 0; i < p->n; i++)
		map_frames_forget(&p->threads[i].frame, 1, keep, n);
}
