// SPDX-License-Identifier: GPL-2.0-only
/*
 * Paths of sleeps that no layout shows to be for a lock (usersite.h): unwinds the stack that a BPF
 * program has copied when the thread went to sleep, and takes the return addresses from the place
 * where it calls futex(2) out to the function that says what it sleeps for. The thread may have
 * left that sleep, so its memory beyond the copy may have changed; but the program compares each
 * return address of the path at every sleep, so a path that never was is never found again.
 */
#include "../runtimes/runtimes.h"
#include "kontend/mem.h"
#include "users-pass.h"
#include "users-process.h"

#include <errno.h>
#include <string.h>

struct copied {
	const struct usersite_stack *stack;
	struct users_process *process;
};

static bool read_copied(void *arg, uint64_t addr, void *ret, size_t n)
{
	const struct copied *c = arg;
	uint64_t from = c->stack->sp, into = addr - from;
	size_t len = c->stack->len;

	if (into >= len)
		return users_process_read(c->process, addr, ret, n);
	size_t first = len - into < n ? (size_t)(len - into) : n;
	memcpy(ret, c->stack->stack + into, first);
	return first == n ||
	       users_process_read(c->process, from + len, (char *)ret + first, n - first);
}

static const char *read_maps(void *arg, size_t *ret_len)
{
	const struct copied *c = arg;

	return users_process_maps(c->process, ret_len);
}

/* The distance from @*at on at which the stack has @word; *at: after it. False: it has not. */
static bool find_word(struct copied *c, uint64_t word, uint64_t *at, unsigned short *ret)
{
	uint64_t here;

	for (; *at <= UINT16_MAX; ++*at) {
		if (!read_copied(c, c->stack->sp + *at * sizeof(here), &here, sizeof(here)))
			return false;
		if (here != word)
			continue;
		*ret = (unsigned short)(*at)++;
		return true;
	}
	return false;
}

/* The calls next to the one that says it all, that one included. */
static bool take_returns(struct copied *c, const struct users_class *class,
			 struct usersite_path *ret)
{
	size_t end = class->found.depth ? class->found.depth : class->n_frames;
	size_t first = end > USERSITE_RETURNS + 1 ? end - USERSITE_RETURNS : 1;
	uint64_t at = 0;
	unsigned short place;

	for (size_t i = 1; i < end && i < class->n_frames; i++) {
		if (!find_word(c, class->frames[i].ip, &at, &place))
			return false;
		if (i < first)
			continue;
		ret->returns[ret->n_returns] = class->frames[i].ip;
		ret->at[ret->n_returns++] = place;
	}
	return true;
}

/* False: the process says nowhere which lock it is. */
static bool take_info(struct users_pass *r, struct users_process *p,
		      const struct runtime_process *of, const struct runtime_thread *thread,
		      struct runtime_info *ret_info, struct usersite_path *ret)
{
	bool shared;

	if (!runtimes_info(r->runtimes, of, thread, ret_info))
		return false;
	ret->info =
		(struct usersite_info){.at = ret_info->at,
				       .space = users_runtime_space(p, ret_info->where, &shared),
				       .bits = ret_info->bits,
				       .mask = ret_info->mask,
				       .class = ret_info->class};
	return true;
}

static int add_path(struct users_pass *r, uint64_t key, const struct usersite_path *path)
{
	if (mem_grow(&r->paths, &r->cap_paths, r->n_paths, sizeof(*r->paths)) < 0)
		return -ENOMEM;
	r->paths[r->n_paths++] = (struct snapshot_users_path){key, *path};
	return 0;
}

/* Which lock it is, and what it is called. False: it is none, or not known which. */
static bool take_lock(struct users_pass *r, struct users_process *p, int32_t tid,
		      const struct userlock_call *c, const struct futexclass_found *f,
		      struct usersite_path *ret)
{
	const struct runtime_process of = users_runtime_process(p);
	struct users_wait *w = &r->names[r->n_named];
	const struct futexclass_found mutex = {
		.class = FUTEXCLASS_LOCK, .kind = FUTEXCLASS_MUTEX, .what = "mutex"};
	const struct runtime_thread thread = {tid, c, f};
	struct runtime_lock said;
	struct runtime_info info;

	f = users_class_relocks(f, c) ? &mutex : f;
	*w = (struct users_wait){.pid = p->pid};
	if (!take_info(r, p, &of, &thread, &info, ret) && runtimes_by_word(r->runtimes, &of) &&
	    runtimes_find(r->runtimes, &of, &thread, &said))
		users_take_runtime(r, p, &said, w);
	else if (f->class != FUTEXCLASS_LOCK || !users_take_class(r, p, c, f, w))
		return false;
	ret->lock = w->addr;
	ret->kind = (unsigned short)w->lock.kind;
	ret->flags = USERSITE_LOCK | USERSITE_KNOWN | (w->named ? USERSITE_NAMED : 0) |
		     (f->by_condition ? USERSITE_RETRIES : 0) | (w->shared ? USERSITE_SHARED : 0);
	r->n_named += w->named;
	return true;
}

/* One that is a lock by its use only, or none. */
static void take_other(struct users_pass *r, struct users_process *p, const struct userlock_call *c,
		       const struct futexclass_found *f, struct usersite_path *ret)
{
	struct users_wait w = {.pid = p->pid};

	if (f->class == FUTEXCLASS_WAIT)
		ret->flags = USERSITE_KNOWN;
	if (f->class != FUTEXCLASS_UNKNOWN || f->kind != FUTEXCLASS_SEM || f->by_condition ||
	    !users_take_class(r, p, c, f, &w))
		return;
	ret->lock = w.addr;
	ret->kind = (unsigned short)w.lock.kind;
	ret->flags = USERSITE_COUNT | (w.shared ? USERSITE_SHARED : 0);
}

int users_path_find(struct users_pass *r, struct users_process *p, struct usersite_stack *s)
{
	struct copied copied = {s, p};
	const struct users_place place = {p->proc, p->pid, read_copied, read_maps, &copied};
	const struct users_thread t = {
		.call = {s->addr, s->op, s->value}, .sp = s->sp, .ip = s->pc, .fp = s->fp};
	struct usersite_path path = {.n_returns = 0};
	struct users_class class;
	uint64_t key = s->key;
	int code = 0;

	/* Another process by now, or another program. */
	if (users_process_space(p) == s->space)
		code = users_classes_stack(r->classes, &place, &t, &class);
	else
		s->key = 0;
	if (code < 0 || !s->key || !strcmp(class.found.what, USERS_PENDING))
		return code;
	s->key = 0;
	if (!take_returns(&copied, &class, &path))
		return 0;
	if (!take_lock(r, p, s->tid, &t.call, &class.found, &path))
		take_other(r, p, &t.call, &class.found, &path);
	return add_path(r, key, &path);
}

int users_path_epoll(struct users_pass *r, struct users_process *p)
{
	const struct runtime_process of = users_runtime_process(p);
	struct usersite_path path = {.n_returns = 0};
	const struct runtime_thread thread = {p->pid, NULL, NULL};
	struct runtime_info info;

	if (!take_info(r, p, &of, &thread, &info, &path) || !info.epoll_class)
		return 0;
	path.info.class = info.epoll_class;
	path.kind = USERLOCK_RUNTIME;
	path.flags = USERSITE_LOCK | USERSITE_KNOWN | USERSITE_RETRIES;
	return add_path(r, usersite_key(users_process_space(p), USERSITE_EPOLL, USERSITE_EPOLL),
			&path);
}
