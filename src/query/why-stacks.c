// SPDX-License-Identifier: GPL-2.0-only
/*
 * Call chains of sleeps and wakeups show the cause of a sleep, as everywhere, and whether the task
 * on the CPU has ended it, or an interrupt that came meanwhile. Functions of an interrupt's
 * entry show that; those before them from which device it is. Softirqs that a task runs for itself,
 * as those of a loopback connection, are its own work.
 */
#include "blocked-rows.h"
#include "internal.h"
#include "kontend/lock.h"
#include "kontend/locktype.h"
#include "kontend/query-on.h"
#include "kontend/runrec.h"
#include "kontend/text.h"
#include "kontend/waitrec.h"
#include "locks/queues.h"
#include "names/names.h"
#include "rows.h"
#include "why.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

int why_stacks_init(struct why_stacks *s, struct query *q)
{
	const struct runs *r = q->engine->model->runs;

	*s = (struct why_stacks){.q = q, .of = r};
	s->causes = arena_alloc(&q->arena, (r->n_stacks + 1) * sizeof(*s->causes));
	s->ends = arena_alloc(&q->arena, (r->n_stacks + 1) * sizeof(*s->ends));
	if (!s->causes || !s->ends)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->n_stacks; i++)
		s->causes[i] = SLEEP_CAUSES;
	memset(s->ends, 0, r->n_stacks + 1);
	return 0;
}

enum sleep_cause why_cause(struct why_stacks *s, uint32_t stack, uint8_t state, uint32_t lock)
{
	const struct runs_stack *c = &s->of->stacks[stack];

	if (s->causes[stack] == SLEEP_CAUSES)
		s->causes[stack] = asleep_cause(s->q, c->frames, c->n_kernel);
	if (state == RUNREC_STOPPED && s->causes[stack] <= SLEEP_UNKNOWN)
		return SLEEP_STOPPED;
	return blocked_cause_without_words(s->causes[stack], lock != 0, state == RUNREC_IO);
}

const char *why_cause_text(struct why_stacks *s, enum sleep_cause cause, uint32_t lock)
{
	const struct lock_table *locks = s->q->model->locks;
	const struct lock *l = lock && lock <= locks->n ? &locks->locks[lock - 1] : NULL;

	return l && locktype_is_user(l->type) ? locktype_name((enum lock_type)l->type)
					      : blocked_cause_words(cause);
}

static bool begins_with_one(const char *name, const char *const *begins, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strncmp(name, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

#define IS_ONE_OF(name, ...)                                                                       \
	begins_with_one(name, (const char *const[]){__VA_ARGS__},                                  \
			sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static bool is_entry(const char *name)
{
	return IS_ONE_OF(name, "asm_sysvec_", "asm_common_interrupt", "common_interrupt", "sysvec_",
			 "el1h_64_irq", "el0t_64_irq", "el0t_32_irq", "el1_interrupt",
			 "el0_interrupt", "gic_handle_irq");
}

static enum why_end find_end(struct why_stacks *s, uint32_t stack)
{
	const struct runs_stack *c = &s->of->stacks[stack];
	enum why_end end = WHY_END_INTERRUPT;

	for (uint32_t i = 0; i < c->n; i++) {
		const char *name = query_func_name(s->q, query_func(s->q, c->frames[i]));

		if (!name)
			continue;
		if (is_entry(name))
			return end;
		if (end != WHY_END_INTERRUPT)
			continue;
		if (IS_ONE_OF(name, "hrtimer_wakeup", "process_timeout", "call_timer_fn",
			      "hrtimer_interrupt", "__hrtimer_run_queues", "posix_timer_fn",
			      "it_real_fn", "alarmtimer_fired"))
			end = WHY_END_TIMER;
		else if (IS_ONE_OF(name, "blk_mq_", "bio_endio", "blk_update_request", "blkdev_",
				   "nvme_", "scsi_", "virtblk_"))
			end = WHY_END_DISK;
		else if (IS_ONE_OF(name, "net_rx_action", "__napi_poll", "napi_", "tcp_v4_rcv",
				   "tcp_v6_rcv", "__udp4_lib_rcv"))
			end = WHY_END_NETWORK;
	}
	return WHY_END_TASK;
}

enum why_end why_end_of(struct why_stacks *s, uint32_t waker_stack, int32_t waker_tid)
{
	uint8_t *known = &s->ends[waker_stack];

	if (!*known)
		*known = (uint8_t)(find_end(s, waker_stack) + 1);
	/* The idle task wakes no others. */
	if (!waker_tid && *known == WHY_END_TASK + 1)
		return WHY_END_INTERRUPT;
	return (enum why_end)(*known - 1);
}

const char *why_end_text(struct why_stacks *s, uint32_t waker_stack, const struct runs_who *waker)
{
	static const char *const words[] = {[WHY_END_TIMER] = "a timer",
					    [WHY_END_DISK] = "an interrupt of a disk",
					    [WHY_END_NETWORK] = "an interrupt of the network",
					    [WHY_END_INTERRUPT] = "an interrupt"};
	enum why_end end = why_end_of(s, waker_stack, waker->tid);

	if (waker->tid < 0 && end == WHY_END_TASK)
		return waker_stack ? "other tasks" : "an unknown task or interrupt";
	return end != WHY_END_TASK ? words[end]
				   : query_slash(&s->q->arena, query_in_words(s->q, waker->comm),
						 waker->tid, "-");
}

/* Functions in which tasks sleep for many things, and those of programs at the tracepoint. */
static bool is_general(const char *name)
{
	return IS_ONE_OF(name, "schedule", "__schedule", "io_schedule", "__traceiter_",
			 "__bpf_trace_", "bpf_", "preempt_schedule", "do_nanosleep");
}

const char *why_sleeps_in(struct why_stacks *s, uint32_t stack)
{
	const struct runs_stack *c = &s->of->stacks[stack];
	uint32_t i = 0;

	while (i + 1 < c->n_kernel) {
		const char *name = query_func_name(s->q, query_func(s->q, c->frames[i]));
		if (name && !is_general(name))
			break;
		i++;
	}
	return c->n_kernel ? query_func_name(s->q,
					     query_sleeps_in(s->q, c->frames + i, c->n_kernel - i))
			   : NULL;
}

/* A file has the name of its directory entry in the record, which pipes and sockets have not. */
static const char *file_text(struct arena *a, const struct runs_on *on)
{
	if (S_ISFIFO(on->mode))
		return arena_printf(a, "pipe:[%" PRIu64 "]", on->value);
	if (S_ISSOCK(on->mode))
		return arena_printf(a, "socket:[%" PRIu64 "]", on->value);
	char *name = *on->name ? arena_alloc(a, RUNS_NAME) : NULL;
	return name ? text_clean(name, RUNS_NAME, on->name) : NULL;
}

const char *why_on(struct why_stacks *s, uint32_t on, const char **ret_why)
{
	static const struct runs_on none;
	const struct runs_on *o = on < s->of->n_ons ? &s->of->ons[on] : &none;
	const struct waitrec_on wait = {.kind = o->kind, .dev = o->dev, .value = o->value};
	const struct model *m = s->q->engine->model;
	char buf[QUERY_ON_TEXT];
	const char *text = o->kind == WAITREC_ON_FILE ? file_text(&s->q->arena, o) : NULL;

	*ret_why = NULL;
	if (text)
		return text;
	text = query_on_text(m, &wait, m->now_ns, buf, ret_why);
	return text == buf ? arena_printf(&s->q->arena, "%s", text) : text;
}
