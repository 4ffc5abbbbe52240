// SPDX-License-Identifier: GPL-2.0-only
/*
 * The canned stream. Waits are stated one by one as (who, which lock, when, how long), in the order
 * of their begin within a CPU; a wait ends before the next one on its CPU begins, except for those
 * that stay in flight.
 */
#include "canned.h"

#include <stddef.h>

#define MS CANNED_MS
enum { CHILD = CANNED_PIPE + 1 };
#define COUNT(a) ((uint32_t)(sizeof(a) / sizeof((a)[0])))

struct chain {
	uint64_t frames[8];
	uint32_t n;
};

static struct chain chain_of(const enum synth_address *a, uint32_t n)
{
	struct chain c = {.n = n};

	for (uint32_t i = 0; i < n; i++)
		c.frames[i] = synth_addr(a[i]);
	return c;
}

static struct chain chain_mmap(void)
{
	static const enum synth_address a[] = {
		SYNTH_TRACEITER_BEGIN,	   SYNTH_RWSEM_DOWN_WRITE_SLOWPATH,
		SYNTH_DOWN_WRITE_KILLABLE, SYNTH_VM_MMAP_PGOFF,
		SYNTH_X64_SYS_MMAP,	   SYNTH_DO_SYSCALL_64,
		SYNTH_ENTRY_SYSCALL};
	return chain_of(a, COUNT(a));
}

static struct chain chain_munmap(void)
{
	static const enum synth_address a[] = {
		SYNTH_TRACEITER_BEGIN,	   SYNTH_RWSEM_DOWN_WRITE_SLOWPATH,
		SYNTH_DOWN_WRITE_KILLABLE, SYNTH_VM_MUNMAP,
		SYNTH_X64_SYS_MUNMAP,	   SYNTH_DO_SYSCALL_64,
		SYNTH_ENTRY_SYSCALL};
	return chain_of(a, COUNT(a));
}

static struct chain chain_fault(void)
{
	static const enum synth_address a[] = {
		SYNTH_TRACEITER_BEGIN,	    SYNTH_RWSEM_DOWN_READ_SLOWPATH, SYNTH_DOWN_READ,
		SYNTH_LOCK_MM_AND_FIND_VMA, SYNTH_DO_USER_ADDR_FAULT,	    SYNTH_EXC_PAGE_FAULT};
	return chain_of(a, COUNT(a));
}

static struct chain chain_pipe(void)
{
	static const enum synth_address a[] = {SYNTH_TRACEITER_BEGIN, SYNTH_MUTEX_LOCK_SLOWPATH,
					       SYNTH_MUTEX_LOCK,      SYNTH_PIPE_READ,
					       SYNTH_VFS_READ,	      SYNTH_KSYS_READ,
					       SYNTH_DO_SYSCALL_64,   SYNTH_ENTRY_SYSCALL};
	return chain_of(a, COUNT(a));
}

static struct chain chain_spin(void)
{
	static const enum synth_address a[] = {SYNTH_TRACEITER_BEGIN, SYNTH_QSPIN_SLOWPATH,
					       SYNTH_RAW_SPIN_LOCK, SYNTH_RMQUEUE_BULK,
					       SYNTH_GET_PAGE};
	return chain_of(a, COUNT(a));
}

struct who {
	uint32_t cpu;
	int pid, tid;
};

static const struct who mm_main = {0, CANNED_MM, CANNED_MM};
static const struct who mm_writer = {0, CANNED_MM, 5215};
static const struct who mm_reader = {1, CANNED_MM, 5216};
static const struct who sh = {1, CANNED_PIPE, CANNED_PIPE};

static void begin(struct rig *r, struct who w, uint64_t at, uint64_t lock, uint32_t flags,
		  struct chain c)
{
	synth_begin(r->synth, w.cpu, at, w.pid, w.tid, lock, flags, c.frames, c.n);
}

static void wait(struct rig *r, struct who w, uint64_t at, uint64_t ns, uint64_t lock,
		 uint32_t flags, struct chain c, int ret)
{
	begin(r, w, at, lock, flags, c);
	synth_end(r->synth, w.cpu, at + ns, w.pid, w.tid, lock, ret);
}

static void add_tasks(struct rig *r)
{
	synth_comm(r->synth, 0, 0, CANNED_MM, CANNED_MM, "mm");
	synth_comm(r->synth, 0, 0, CANNED_MM, 5215, "mm");
	synth_comm(r->synth, 1, 0, CANNED_MM, 5216, "mm");
	synth_comm(r->synth, 1, 0, CANNED_PIPE, CANNED_PIPE, "sh");
	synth_cgroup(r->synth, 1, 0, CANNED_CGROUP, "/user.slice/sh.scope");
	synth_round(r->synth, CANNED_START);
}

/* One second: writers on CPU 0, readers and the pipe on CPU 1. */
static void add_second(struct rig *r, uint64_t t)
{
	for (unsigned i = 0; i < 10; i++) {
		uint64_t at = t + 1 * MS + i * 60 * MS;
		wait(r, i % 2 ? mm_writer : mm_main, at, (i + 1) * MS, CANNED_MMAP_LOCK,
		     LCB_F_WRITE, i % 3 ? chain_mmap() : chain_munmap(), 0);
		wait(r, mm_main, at + 30 * MS, 2000 + i * 100, CANNED_TASKLIST_LOCK, LCB_F_SPIN,
		     chain_spin(), 0);
	}
	for (unsigned i = 0; i < 5; i++)
		wait(r, mm_reader, t + 2 * MS + i * 60 * MS, 3 * MS, CANNED_MMAP_LOCK, LCB_F_READ,
		     chain_fault(), 0);
	synth_set_cgroup(r->synth, CANNED_CGROUP);
	begin(r, sh, t + 400 * MS, CANNED_PIPE_MUTEX, LCB_F_MUTEX | LCB_F_SPIN, chain_pipe());
	wait(r, sh, t + 400 * MS + 10000, 70000, CANNED_PIPE_MUTEX, LCB_F_MUTEX, chain_pipe(), 0);
	synth_set_cgroup(r->synth, 0);
}

void canned_init(struct rig *r)
{
	uint64_t t = CANNED_START;

	rig_init(r, 2);
	add_tasks(r);
	add_second(r, t);
	synth_tick(r->synth, t += 1000 * MS);
	add_second(r, t);
	/* A short gap: CPU 1 has named the shell right before it, and forks right after it. */
	synth_comm(r->synth, 1, t + 700 * MS - 1, CANNED_PIPE, CANNED_PIPE, "sh");
	synth_lost(r->synth, 1, t + 700 * MS, 3);
	synth_fork(r->synth, 1, t + 700 * MS, CANNED_PIPE, CHILD, CANNED_PIPE, CANNED_PIPE);
	synth_exit(r->synth, 1, t + 700 * MS, CANNED_PIPE, CHILD);
	synth_tick(r->synth, t += 1000 * MS);
	add_second(r, t);
	wait(r, sh, t + 500 * MS, 5 * MS, CANNED_PIPE_MUTEX, LCB_F_MUTEX, chain_pipe(), -4);
	synth_end(r->synth, 1, t + 510 * MS, 9999, 9999, CANNED_PIPE_MUTEX, 0);
	begin(r, mm_writer, t + 600 * MS, CANNED_MMAP_LOCK, LCB_F_WRITE, chain_mmap());
	begin(r, mm_reader, t + 700 * MS, CANNED_MMAP_LOCK, LCB_F_READ, chain_fault());
	synth_tick(r->synth, t + 1000 * MS);
}
