// SPDX-License-Identifier: GPL-2.0-only
/*
 * The programs at the scheduler's tracepoints (sched.bpf.c), which several features share: attached
 * as long as at least one of them needs that, as every switch of tasks pays for it.
 */
#include "bpf-run.h"
#include "internal.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <unistd.h>

/* In the order in which they are attached: where a sleep begins its end is seen. */
static const char *const tracepoints[SCHED_PROGRAMS] = {"sched_waking", "sched_switch"};

/* The kernel finds the tracepoints of typed programs itself. */
static const struct kind {
	const char *names[SCHED_PROGRAMS];
	bool is_typed;
} kinds[] = {
	[SCHED_SHARED] = {{"on_waking", "on_switch"}, true},
	[SCHED_TYPED] = {{"on_typed_waking", "on_typed_switch"}, true},
	[SCHED_FOLLOW] = {{"see_waking", "see_switch"}, false},
};

int sched_leave_out(struct bpf_object *o, enum sched_kind kind)
{
	return bpf_run_leave_programs(o, kinds[kind].names, SCHED_PROGRAMS);
}

int sched_init(struct sched *s, struct bpf_object *o, enum sched_kind kind, struct error *err)
{
	const char *const *names = kinds[kind].names;

	*s = (struct sched){.kind = kind, .lock = PTHREAD_MUTEX_INITIALIZER, .links = {-1, -1}};
	for (size_t i = 0; i < SCHED_PROGRAMS; i++) {
		s->programs[i] = bpf_run_program(o, names[i], err);
		if (s->programs[i] < 0)
			return s->programs[i];
	}
	return 0;
}

static void detach(struct sched *s)
{
	for (size_t i = 0; i < SCHED_PROGRAMS; i++) {
		if (s->links[i] >= 0)
			close(s->links[i]);
		s->links[i] = -1;
	}
}

static int attach(struct sched *s)
{
	for (size_t i = 0; i < SCHED_PROGRAMS; i++) {
		const char *name = kinds[s->kind].is_typed ? NULL : tracepoints[i];
		s->links[i] = bpf_raw_tracepoint_open(name, s->programs[i]);
		if (s->links[i] < 0) {
			int code = -errno;
			detach(s);
			return code;
		}
	}
	return 0;
}

int sched_use(struct sched *s)
{
	pthread_mutex_lock(&s->lock);
	int code = s->users ? 0 : attach(s);
	if (code == 0)
		s->users++;
	pthread_mutex_unlock(&s->lock);
	return code;
}

void sched_leave(struct sched *s)
{
	pthread_mutex_lock(&s->lock);
	if (--s->users == 0)
		detach(s);
	pthread_mutex_unlock(&s->lock);
}
