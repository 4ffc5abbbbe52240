/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who has a lock: read where the kernel says that a task begins to wait for it. Of a rwsem that
 * readers have the kernel remembers but one of them, who may have gone meanwhile: a hint.
 */
#ifndef KONTEND_INSPECT_WAITS_OWNER_H
#define KONTEND_INSPECT_WAITS_OWNER_H

#include "kernel/locks.h"
#include "kernel/ns.h"

#include "kontend/ownerrec.h"

/* include/trace/events/lock.h */
enum { LCB_SPIN = 1, LCB_READ = 2, LCB_WRITE = 4, LCB_RT = 8, LCB_PERCPU = 16, LCB_MUTEX = 32 };

enum { FLAG_BITS = 7, READER_OWNED = 1 };

static __always_inline __u64 word_at(__u64 addr)
{
	__u64 v = 0;

	bpf_probe_read_kernel(&v, sizeof(v), (void *)addr);
	return v;
}

/* Into *@ret the task, or 0 for nobody. False: a lock that does not say. */
static __always_inline bool owner_of(__u64 lock, __u32 flags, __u64 *ret, unsigned int *ret_hint)
{
	struct rw_semaphore *s = (void *)lock;
	struct semaphore *sem = (void *)lock;
	struct mutex *m = (void *)lock;
	__u64 word;

	if (flags & LCB_MUTEX) {
		if (!bpf_core_field_exists(m->wait_list))
			return false; /* of PREEMPT_RT */
		*ret = word_at(lock + bpf_core_field_offset(m->owner)) & ~(__u64)FLAG_BITS;
		return true;
	}
	if (!flags && bpf_core_field_exists(sem->last_holder)) {
		*ret_hint = 1;
		*ret = word_at(lock + bpf_core_field_offset(sem->last_holder));
		return true;
	}
	if (!(flags & (LCB_READ | LCB_WRITE)) || flags & (LCB_SPIN | LCB_RT | LCB_PERCPU) ||
	    !bpf_core_field_exists(s->wait_list))
		return false;
	word = word_at(lock + bpf_core_field_offset(s->owner));
	*ret_hint = word & READER_OWNED;
	*ret = word & ~(__u64)FLAG_BITS;
	return true;
}

/* False: the lock does not say who has it. */
static __always_inline bool owner_read(struct ownerrec *r, __u64 lock, __u32 flags)
{
	struct task_struct *t;
	__u64 owner = 0;

	r->magic = OWNERREC_MAGIC;
	r->lock = lock;
	if (!owner_of(lock, flags, &owner, &r->hint))
		return false;
	t = (void *)owner;
	if (!t)
		return true;
	r->tid = ns_tid(t, &config.ns);
	r->pid = ns_pid(t, &config.ns);
	BPF_CORE_READ_STR_INTO(&r->comm, t, comm);
	return r->tid > 0;
}

#endif
