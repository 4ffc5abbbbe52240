// SPDX-License-Identifier: GPL-2.0-only
/*
 * Classes of threads in futex(2), by the functions in their stacks (futexclass.h). A stack is
 * unwound once for each sleep: the same thread in the same call, at the same place of the same
 * stack, is known from the pass before. Of a lock it also has to be the same sleep, as other
 * functions may take that lock at the same place.
 *
 * Symbols of a large program take long to read, so a pass spends a limited time on that; a thread
 * whose functions have no names yet is pending, and one of the next passes finds it.
 */
#include "users-class.h"
#include "files.h"
#include "kontend/clock.h"
#include "kontend/map64.h"
#include "kontend/mem.h"
#include "kontend/unwind.h"
#include "users-process.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

static const uint64_t LOAD_NS = 60000000; /* for symbols, in a pass */

struct known {
	int32_t tid;
	uint32_t seen; /* number of the search that saw it last */
	uint64_t addr, sp, ip, ran_ns;
	struct futexclass_found found;
	struct sleepstack_frame *frames; /* of what may be a lock */
	size_t n_frames;
};

struct users_classes {
	_Atomic unsigned refs;
	struct sleepstack *stacks; /* NULL: this build cannot unwind */
	struct sleepstack_map *maps;
	size_t n_maps, cap_maps;
	int32_t pid; /* whose mappings these are; 0: none */
	struct map64 by_tid;
	struct known *known;
	size_t n, cap;
	uint32_t search;
	uint64_t load_ns; /* left for this pass */
	struct sleepstack_frame frames[SLEEPSTACK_MOST];
};

struct users_classes *users_classes_new(const char *proc, bool keep)
{
	struct users_classes *c = mem_calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->refs = 1;
	if (sleepstack_new(&c->stacks, proc, keep) != -ENOMEM)
		return c;
	mem_free(c);
	return NULL;
}

struct users_classes *users_classes_ref(struct users_classes *c)
{
	atomic_fetch_add(&c->refs, 1);
	return c;
}

/* Their frames have names of files. */
static void forget_all(struct users_classes *c)
{
	for (size_t i = 0; i < c->n; i++)
		mem_free(c->known[i].frames);
	map64_clear(&c->by_tid);
	c->n = 0;
}

void users_classes_unref(struct users_classes *c)
{
	if (!c || atomic_fetch_sub(&c->refs, 1) > 1)
		return;
	forget_all(c);
	sleepstack_free(c->stacks);
	map64_deinit(&c->by_tid);
	mem_free(c->known);
	mem_free(c->maps);
	mem_free(c);
}

/* Those that the search before did not see. */
static void forget_old(struct users_classes *c)
{
	size_t n = 0;

	map64_clear(&c->by_tid);
	for (size_t i = 0; i < c->n; i++) {
		if (c->known[i].seen != c->search ||
		    map64_put(&c->by_tid, (uint32_t)c->known[i].tid, (uint32_t)n) < 0)
			mem_free(c->known[i].frames);
		else
			c->known[n++] = c->known[i];
	}
	c->n = n;
}

void users_classes_begin(struct users_classes *c, bool searches)
{
	c->load_ns = LOAD_NS;
	c->pid = 0;
	if (!searches)
		return;
	if (c->stacks && sleepstack_is_worn(c->stacks) && sleepstack_renew(c->stacks) == 0)
		forget_all(c);
	forget_old(c);
	c->search++;
}

static int add_map(struct users_classes *c, const struct users_mapping *m)
{
	if (mem_grow(&c->maps, &c->cap_maps, c->n_maps, sizeof(*c->maps)) < 0)
		return -ENOMEM;
	c->maps[c->n_maps++] = (struct sleepstack_map){.start = m->from,
						       .end = m->to,
						       .file_offset = m->offset,
						       .path = m->path,
						       .maj = (uint32_t)m->major,
						       .min = (uint32_t)m->minor,
						       .ino = m->ino,
						       .executable = m->executable};
	return 0;
}

/* Mappings are those of the pass: they change seldom. */
static int set_process(struct users_classes *c, const struct users_place *p)
{
	size_t len = 0;

	if (c->pid == p->pid)
		return 0;
	c->pid = p->pid;
	c->n_maps = 0;
	const char *maps = p->maps(p->arg, &len);
	for (size_t at = 0; maps && at < len; at += strlen(maps + at) + 1) {
		struct users_mapping m;
		if (users_mapping_take(maps + at, &m) && add_map(c, &m) < 0)
			return -ENOMEM;
	}
	return sleepstack_process(c->stacks, p->pid, c->maps, c->n_maps);
}

static struct known *find_known(const struct users_classes *c, int32_t tid)
{
	const uint32_t *at = map64_get(&c->by_tid, (uint32_t)tid);

	return at ? &c->known[*at] : NULL;
}

static bool is_same(const struct known *k, const struct users_thread *t)
{
	return k->addr == t->call.addr && k->sp == t->sp && k->ip == t->ip;
}

static int add_known(struct users_classes *c, int32_t tid, struct known **ret)
{
	*ret = find_known(c, tid);
	if (*ret) {
		mem_free((*ret)->frames);
		(*ret)->frames = NULL;
		return 0;
	}
	if (mem_grow(&c->known, &c->cap, c->n, sizeof(*c->known)) < 0 ||
	    map64_put(&c->by_tid, (uint32_t)tid, (uint32_t)c->n) < 0)
		return -ENOMEM;
	*ret = &c->known[c->n++];
	return 0;
}

/* In the time that is left for symbols. True: there may be more names now. */
static bool load(struct users_classes *c)
{
	uint64_t from = clock_now_ns();

	if (!c->load_ns)
		return false;
	sleepstack_load(c->stacks, c->load_ns);
	uint64_t took = clock_now_ns() - from;
	c->load_ns = took < c->load_ns ? c->load_ns - took : 0;
	return true;
}

static size_t take_stack(struct users_classes *c, const struct users_place *p,
			 const struct users_thread *t,
			 struct sleepstack_frame frames[SLEEPSTACK_MOST], bool *ret_pending)
{
	const struct sleepstack_registers at = {.sp = t->sp, .ip = t->ip, .fp = t->fp};
	size_t n = sleepstack_take(c->stacks, &at, p->read, p->arg, frames, ret_pending);

	while (*ret_pending && load(c))
		n = sleepstack_take(c->stacks, &at, p->read, p->arg, frames, ret_pending);
	return n;
}

_Static_assert((int)FUTEXCLASS_WAITV == USERLOCK_WAITV, "the same command");

static struct futexclass_found classify(const struct users_thread *t,
					const struct sleepstack_frame *frames, size_t n)
{
	struct futexclass_frame calls[SLEEPSTACK_MOST];

	for (size_t i = 0; i < n; i++)
		calls[i] = (struct futexclass_frame){frames[i].function, frames[i].object};
	return futexclass_find(t->call.op, t->call.value, calls, n);
}

static int unwind(struct users_classes *c, const struct users_place *p, int32_t tid,
		  const struct users_thread *t, uint64_t ran_ns, struct known **ret)
{
	struct sleepstack_frame frames[SLEEPSTACK_MOST];
	bool pending;
	int code = set_process(c, p);

	code = code < 0 ? code : add_known(c, tid, ret);
	if (code < 0)
		return code;
	size_t n = take_stack(c, p, t, frames, &pending);
	struct known *k = *ret;
	*k = (struct known){.tid = tid,
			    .addr = t->call.addr,
			    .sp = t->sp,
			    .ip = t->ip,
			    .ran_ns = ran_ns,
			    .found = classify(t, frames, n)};
	if (pending)
		k->found = (struct futexclass_found){.what = USERS_PENDING};
	if (k->found.class == FUTEXCLASS_WAIT && !k->found.can_lock_too)
		return 0;
	k->frames = n ? mem_dup(frames, n, sizeof(*frames)) : NULL;
	k->n_frames = k->frames ? n : 0;
	return k->n_frames == n ? 0 : -ENOMEM;
}

int users_classes_find(struct users_classes *c, const struct users_place *p, int32_t tid,
		       const struct users_thread *t, struct users_class *ret)
{
	struct known *k = find_known(c, tid);
	int code = 0;

	*ret = (struct users_class){.found = {.what = ""}};
	if (!c->stacks)
		return 0;
	bool is_known = k && is_same(k, t) && strcmp(k->found.what, USERS_PENDING) != 0;
	bool is_lock = is_known && k->found.class == FUTEXCLASS_LOCK;
	if (!is_known || is_lock)
		ret->ran_ns = files_ran_ns(p->proc, p->pid, tid);
	if (!is_known || (is_lock && k->ran_ns != ret->ran_ns))
		code = unwind(c, p, tid, t, ret->ran_ns, &k);
	if (code < 0)
		return code;
	k->seen = c->search;
	ret->found = k->found;
	ret->frames = k->frames;
	ret->n_frames = k->n_frames;
	return 0;
}

int users_classes_stack(struct users_classes *c, const struct users_place *p,
			const struct users_thread *t, struct users_class *ret)
{
	bool pending;

	*ret = (struct users_class){.found = {.what = ""}, .frames = c->frames};
	int code = c->stacks ? set_process(c, p) : -ENOTSUP;
	if (code < 0)
		return code == -ENOTSUP ? 0 : code;
	ret->n_frames = take_stack(c, p, t, c->frames, &pending);
	ret->found = pending ? (struct futexclass_found){.what = USERS_PENDING}
			     : classify(t, c->frames, ret->n_frames);
	return 0;
}

int users_classes_chain(struct users_classes *c, const struct users_place *p,
			const struct sleepstack_registers *regs, struct sleepstack_chain *ret)
{
	int code = c->stacks ? set_process(c, p) : -ENOTSUP;

	*ret = (struct sleepstack_chain){.end = UNWIND_NONE};
	if (code < 0)
		return code == -ENOTSUP ? 0 : code;
	sleepstack_chain(c->stacks, regs, p->read, p->arg, ret);
	while (ret->pending && load(c))
		sleepstack_chain(c->stacks, regs, p->read, p->arg, ret);
	return 0;
}

bool users_class_relocks(const struct futexclass_found *f, const struct userlock_call *c)
{
	switch (c->op & USERLOCK_COMMAND) {
	case USERLOCK_WAIT:
	case USERLOCK_LOCK_PI:
	case USERLOCK_LOCK_PI2:
		return f->can_lock_too;
	default:
		return false;
	}
}

bool users_classes_was_lock(const struct users_classes *c, int32_t tid)
{
	const struct known *k = find_known(c, tid);

	return k && (k->found.class == FUTEXCLASS_LOCK || !strcmp(k->found.what, USERS_PENDING));
}
