/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_SYNTH_H
#define KONTEND_TESTS_SYNTH_H

#include "kontend/holdrec.h"
#include "kontend/inoderec.h"
#include "kontend/locktype.h"
#include "kontend/ownerrec.h"
#include "kontend/runrec.h"
#include "kontend/sleeprec.h"
#include "kontend/source.h"
#include "kontend/userrec.h"
#include "kontend/waitrec.h"
#include <linux/perf_event.h>
#include <stdint.h>

/*
 * Builds a stream in memory, byte for byte as the kernel and the live source would give it: ATTR
 * and FORMAT records, rings of perf records, rounds and ticks. Tests state what happened; the
 * engine must find it. Any failure to allocate aborts.
 */
struct synth;

struct synth *synth_new(uint32_t n_rings);
void synth_free(struct synth *s);

/* Before the prologue: the attrs say that chains have no user part, as the live source's do. */
void synth_kernel_chains(struct synth *s);

/* Emits HOST, ATTR (contention_begin with callchain, contention_end without, dummy), FORMAT. Comes
 * first; @kallsyms NULL = no KALLSYMS record. */
void synth_prologue(struct synth *s, const char *kallsyms);

/* Behind the prologue: there is an event for synth_owner(), too. */
void synth_outputs(struct synth *s);

/* Behind the prologue: there is lock:contended_release, as of Linux 7.x, for synth_release(). */
void synth_releases(struct synth *s);

/* Perf records of ring @cpu. Times are ns and should not go back within a ring. */
void synth_begin(struct synth *s, uint32_t cpu, uint64_t t, int pid, int tid, uint64_t lock,
		 uint32_t flags, const uint64_t *frames, uint32_t n);
void synth_end(struct synth *s, uint32_t cpu, uint64_t t, int pid, int tid, uint64_t lock, int ret);
void synth_release(struct synth *s, uint32_t cpu, uint64_t t, int pid, int tid, uint64_t lock);
/* The owner of @lock, as --owner writes it after a begin; tid 0: unknown. */
void synth_owner(struct synth *s, uint32_t cpu, uint64_t t, int tid, const struct ownerrec *owner);
/* Raw data of the event of synth_outputs(). */
void synth_output(struct synth *s, uint32_t cpu, uint64_t t, int pid, int tid, const void *raw,
		  size_t len);
/* From now on headers of those have these bits as well. */
void synth_set_misc(struct synth *s, uint16_t misc);
/* Begins and ends as BPF reports them; a begin has the number of frames that it gives. */
void synth_wait_begin(struct synth *s, uint32_t cpu, uint64_t t, int pid, int tid,
		      const struct waitrec_begin *begin);
void synth_wait_end(struct synth *s, uint32_t cpu, uint64_t t, int pid, int tid,
		    const struct waitrec_end *end);
void synth_wait_release(struct synth *s, uint32_t cpu, uint64_t t, int pid, int tid,
			const struct waitrec_release *release);
/* It has the number of frames that it gives. */
void synth_holder(struct synth *s, uint32_t cpu, uint64_t t, const struct holdrec *holder);
void synth_user(struct synth *s, uint32_t cpu, uint64_t t, const struct userrec *sleep);
void synth_run(struct synth *s, uint32_t cpu, uint64_t t, const struct runrec *run);
void synth_sleep(struct synth *s, uint32_t cpu, uint64_t t, const struct sleeprec *sleep);
void synth_inode(struct synth *s, uint32_t cpu, uint64_t t, const struct inoderec *inode);
void synth_comm(struct synth *s, uint32_t cpu, uint64_t t, int pid, int tid, const char *comm);
/* A BPF program is there, or @gone. */
void synth_ksymbol(struct synth *s, uint32_t cpu, uint64_t t, uint64_t addr, uint32_t len,
		   bool gone, const char *name);
void synth_fork(struct synth *s, uint32_t cpu, uint64_t t, int pid, int tid, int ppid, int ptid);
void synth_exit(struct synth *s, uint32_t cpu, uint64_t t, int pid, int tid);
void synth_lost(struct synth *s, uint32_t cpu, uint64_t t, uint64_t n);
/* @t 0: as perf record writes at its end how many an event has lost in all. */
void synth_lost_samples(struct synth *s, uint32_t cpu, uint64_t t, uint64_t n);
void synth_throttle(struct synth *s, uint32_t cpu, uint64_t t);
void synth_cgroup(struct synth *s, uint32_t cpu, uint64_t t, uint64_t id, const char *path);
/* From now on samples carry this cgroup id. */
void synth_set_cgroup(struct synth *s, uint64_t id);
/*
 * From now on perf is in a PID namespace, where tasks up to @last have these numbers, and
 * SYNTH_HOST more in the initial one; all others are outside of it and 0 for perf. 0: in the
 * initial one.
 */
enum { SYNTH_HOST = 100000 };
void synth_set_inside(struct synth *s, int last);
/* Raw bytes as a run of perf records. */
void synth_raw(struct synth *s, uint32_t cpu, const void *data, size_t len);

/* Records added since the last flush are emitted as one RECORD_PERF a ring, then these (if any). */
void synth_flush(struct synth *s);
void synth_round(struct synth *s, uint64_t t);
void synth_tick(struct synth *s, uint64_t t); /* tick, then a round at the same time */
void synth_record(struct synth *s, enum record_kind kind, uint32_t ring, const void *data,
		  size_t len);
/* A snapshot at @t, @len bytes that do not compress: a function of @kind and @t. */
void synth_snapshot(struct synth *s, uint16_t kind, uint16_t version, uint64_t t, size_t len);
/* The number of records, and the k-th one: for tests that shuffle, cut or flip bytes. */
size_t synth_count(const struct synth *s);
struct record *synth_at(struct synth *s, size_t k);

/* A source that plays the stream and can go back in it; @s must outlive it. */
struct source *synth_source(struct synth *s);

/* A kallsyms text with the lock functions and callers that tests use: see synth.c. */
extern const char synth_kallsyms[];
enum synth_address { /* addresses of its functions + a bit, to build chains */
		     SYNTH_RWSEM_DOWN_WRITE_SLOWPATH,
		     SYNTH_RWSEM_DOWN_READ_SLOWPATH,
		     SYNTH_DOWN_WRITE_KILLABLE,
		     SYNTH_DOWN_READ,
		     SYNTH_MUTEX_LOCK,
		     SYNTH_MUTEX_LOCK_SLOWPATH,
		     SYNTH_QSPIN_SLOWPATH,
		     SYNTH_RAW_SPIN_LOCK,
		     SYNTH_RESILIENT_SLOWPATH,
		     SYNTH_TRACEITER_BEGIN,
		     SYNTH_VM_MMAP_PGOFF,
		     SYNTH_VM_MUNMAP,
		     SYNTH_X64_SYS_MUNMAP,
		     SYNTH_X64_SYS_MMAP,
		     SYNTH_LOCK_MM_AND_FIND_VMA,
		     SYNTH_DO_USER_ADDR_FAULT,
		     SYNTH_EXC_PAGE_FAULT,
		     SYNTH_PIPE_READ,
		     SYNTH_PIPE_WRITE,
		     SYNTH_VFS_READ,
		     SYNTH_VFS_WRITE,
		     SYNTH_KSYS_READ,
		     SYNTH_KSYS_WRITE,
		     SYNTH_RMQUEUE_BULK,
		     SYNTH_GET_PAGE,
		     SYNTH_DO_SYSCALL_64,
		     SYNTH_ENTRY_SYSCALL,
		     SYNTH_ADDRESSES
};
uint64_t synth_addr(enum synth_address a);

#endif
