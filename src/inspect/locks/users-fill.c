// SPDX-License-Identifier: GPL-2.0-only
/* Waits and owners of locks of programs, as snapshots of locks have them. */
#include "files.h"
#include "kontend/target.h"
#include "users-pass.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SITE_SIZE = 512 };

/* By lock, and those who have slept longest first. */
static int by_lock(const void *a, const void *b)
{
	const struct users_wait *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->ran_ns != y->ran_ns)
		return x->ran_ns < y->ran_ns ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static void fill_holder(const char *proc, const struct users_wait *w, struct locksnap_queue *q,
			struct locksnap *s)
{
	q->readers = w->lock.readers;
	if (!w->owner_tid)
		return;
	q->certainty = w->lock.sure ? LOCKSNAP_SURE : LOCKSNAP_EVIDENCE;
	q->holder_pid = w->owner_pid;
	q->holder_tid = w->owner_tid;
	q->holder_comm = files_comm(proc, w->owner_pid, w->owner_tid, s);
	const struct files_process p = files_process(proc, w->owner_tid);
	if (p.state == 'S' || p.state == 'D') {
		q->holder_state = LOCKSNAP_ASLEEP;
	} else if (p.state == 'R') {
		q->holder_state = LOCKSNAP_RUNNING;
		q->holder_cpu = p.cpu;
	}
}

/* The frames of the pass, with texts of the snapshot. */
static int add_user_frames(const struct users_pass *r, struct locksnap *to)
{
	int code = 0;

	for (size_t i = 0; code == 0 && i < r->texts.n_user_frames; i++) {
		struct locksnap_user_frame f = r->texts.user_frames[i];
		f.function = locksnap_add_text(to, locksnap_text(&r->texts, f.function));
		f.object = locksnap_add_text(to, locksnap_text(&r->texts, f.object));
		code = locksnap_add_user_frame(to, &f);
	}
	return code;
}

static int add_sums(const struct users_pass *r, struct locksnap *to)
{
	static const uint32_t classes[FUTEXCLASSES] = {
		[FUTEXCLASS_LOCK] = LOCKSNAP_FUTEX_LOCK, [FUTEXCLASS_WAIT] = LOCKSNAP_FUTEX_WAIT};
	int code = 0;

	for (size_t i = 0; code == 0 && i < r->n_sums; i++) {
		const struct users_sum *s = &r->sums[i];
		const struct locksnap_futex f = {
			.pid = s->pid,
			.comm = files_comm(r->proc, s->pid, s->pid, to),
			.class = classes[s->class],
			.what = locksnap_add_text(to, locksnap_text(&r->texts, s->what)),
			.tasks = s->tasks,
		};
		code = locksnap_add_futex(to, &f);
	}
	return code;
}

/* Of each process those whose functions have no names yet. */
static int add_unnamed(const struct users_pass *r, struct locksnap *to)
{
	int code = 0;

	for (size_t i = 0, n; code == 0 && i < r->n_pending; i += n) {
		const struct users_wanted *w = &r->pending[i];
		struct locksnap_futex f = {.pid = w->pid};
		for (n = 0; i + n < r->n_pending && w[n].pid == w->pid; n++)
			f.tasks += w[n].unnamed;
		f.comm = f.tasks ? files_comm(r->proc, w->pid, w->pid, to) : 0;
		f.what = f.tasks ? locksnap_add_text(to, USERS_PENDING) : 0;
		code = f.tasks ? locksnap_add_futex(to, &f) : 0;
	}
	return code;
}

struct adding {
	const struct users_pass *pass;
	const struct target *target;
	struct locksnap *to;
	uint32_t frames_from;
	struct files_clocks *clocks;
};

/* A thread may have run since the snapshot began, for a moment: it waits all the same. */
static uint64_t ran_ns(const struct adding *a, const struct users_wait *w, int cpu)
{
	uint64_t ran = files_clock_ran(a->clocks, a->pass->proc, cpu, w->ran_ns);
	uint64_t end = a->to->head.time_ns + a->to->head.cost_ns;

	return end && ran >= end ? end - 1 : ran;
}

static int add_waiter(const struct adding *a, const struct users_wait *w, struct locksnap_queue *q)
{
	const char *proc = a->pass->proc;
	int cpu = files_process(proc, w->tid).cpu;

	*(w->lock.reads ? &q->readers_waiting : &q->writers_waiting) += 1;
	const struct locksnap_waiter v = {
		.queue = (uint32_t)a->to->n_queues,
		.position = q->readers_waiting + q->writers_waiting,
		.pid = w->pid,
		.tid = w->tid,
		.comm = files_comm(proc, w->pid, w->tid, a->to),
		.reader = w->lock.reads,
		.measured = !a->target || target_has(a->target, w->pid, w->tid, false, -1),
		.ran_ns = ran_ns(a, w, cpu),
		.cpu = (uint32_t)(cpu + 1),
		.user_frame = w->frame + a->frames_from,
		.user_n_frames = w->n_frames,
		.user_site = w->site,
		.user_what = locksnap_add_text(a->to, locksnap_text(&a->pass->texts, w->what)),
	};
	return locksnap_add_waiter(a->to, &v);
}

/* The function of the program that waits, "work", else "app+0x1234". 0: not known. */
static uint32_t site_of(const struct adding *a, const struct users_wait *w)
{
	const struct locksnap *from = &a->pass->texts;
	char text[SITE_SIZE];

	if (w->site >= w->n_frames)
		return 0;
	const struct locksnap_user_frame *f = &from->user_frames[w->frame + w->site];
	const char *function = locksnap_text(from, f->function),
		   *file = strrchr(locksnap_text(from, f->object), '/');
	if (!*function && !file)
		return 0;
	if (*function)
		snprintf(text, sizeof(text), "%s", function);
	else
		snprintf(text, sizeof(text), "%s+0x%" PRIx64, file + 1, f->at);
	return locksnap_add_text(a->to, text);
}

static int add_name(const struct adding *a, const struct users_wait *w)
{
	const char *text = locksnap_text(&a->pass->texts, w->in),
		   *what = locksnap_text(&a->pass->texts, w->what);
	int32_t pid = w->named_pid ? w->named_pid : w->pid;
	const struct locksnap_name name = {.addr = w->addr,
					   .kind = w->named ? LOCKSNAP_RUNTIME : LOCKSNAP_USER,
					   .cpu = -1,
					   .pid = pid,
					   .comm = files_comm(a->pass->proc, pid, pid, a->to),
					   .text = locksnap_add_text(a->to, text),
					   .offset = w->shared,
					   .ino = w->ino,
					   .dev = w->dev,
					   .start = w->at,
					   .what = locksnap_add_text(a->to, *what ? what : "lock"),
					   .site = site_of(a, w)};

	return locksnap_add_name(a->to, &name);
}

/* The lock of the wait at @first; the number of its waits in *@ret_n. */
static int add_queue(const struct adding *a, size_t first, size_t *ret_n)
{
	static const uint32_t types[USERLOCK_KINDS] = {LOCKSNAP_USER_MUTEX, LOCKSNAP_USER_RWLOCK,
						       LOCKSNAP_USER_PI,    LOCKSNAP_USER_SEM,
						       LOCKSNAP_USER_FUTEX, LOCKSNAP_USER_RUNTIME};
	const struct users_pass *r = a->pass;
	const struct users_wait *w = &r->waits[first];
	struct locksnap_queue q = {.addr = w->addr, .type = types[w->lock.kind], .holder_cpu = -1};
	size_t n = 0;
	int code = 0;

	for (; code == 0 && first + n < r->n && w[n].addr == w->addr; n++)
		code = add_waiter(a, w + n, &q);
	*ret_n = n;
	if (code < 0)
		return code;
	/* The latest that was read: the owner may have changed meanwhile. */
	fill_holder(r->proc, &w[n - 1], &q, a->to);
	code = add_name(a, w);
	return code < 0 ? code : locksnap_add_queue(a->to, &q);
}

int users_fill(struct users_pass *r, const struct target *target, struct files_clocks *clocks,
	       struct locksnap *to)
{
	struct adding a = {.pass = r, .target = target, .to = to, .clocks = clocks};
	int code = add_sums(r, to);
	size_t n;

	code = code < 0 ? code : add_unnamed(r, to);

	a.frames_from = (uint32_t)to->n_user_frames;
	code = code < 0 ? code : add_user_frames(r, to);
	for (size_t i = 0; code == 0 && i < r->n_named; i++)
		code = r->names[i].addr ? add_name(&a, &r->names[i]) : 0;
	if (!r->n || code < 0)
		return code;
	qsort(r->waits, r->n, sizeof(*r->waits), by_lock);
	for (size_t i = 0; code == 0 && i < r->n; i += n)
		code = add_queue(&a, i, &n);
	return code;
}
