/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the programs that look at locks and user space, in arrays that are mapped there.
 * Included by both sides: plain C types only, and sizes that are multiples of 8, as the kernel
 * rounds them up to that.
 */
#ifndef KONTEND_INSPECT_LOCKS_SHARED_H
#define KONTEND_INSPECT_LOCKS_SHARED_H

#include "call-shared.h"
#include "ns-shared.h"

enum {
	RAW_LOCKS = 4096,
	RAW_LOCK_NAMES = 16384,
	RAW_LOCK_WAITERS = 8192,
	RAW_LOCK_CPUS = 1024,
	RAW_LOCK_QUEUE = 256,		     /* waiters of one lock */
	RAW_TREE_MOVES = 4 * RAW_LOCK_QUEUE, /* through a tree of them */
	RAW_LOCK_TASKS = 512,		     /* holders and waiters whose calls are read */
	RAW_LOCK_FRAMES = 32,
	RAW_LOCK_OBJECTS = 4096, /* that are looked at again */
};

enum raw_lock_type { RAW_MUTEX, RAW_RWSEM, RAW_SEM, RAW_RT, RAW_NO_QUEUE };

/* Its address, type and flags come from user space, or from a task that is blocked on it. */
struct raw_lock {
	unsigned long long addr;
	unsigned int type;
	unsigned int waiters;	    /* on its list */
	unsigned long long count;   /* of a rwsem */
	unsigned long long owner;   /* with its flag bits; of a semaphore its last holder */
	unsigned int torn;	    /* the list did not end */
	int holder_pid, holder_tid; /* 0: none that can be read */
	unsigned int first;	    /* index of its first waiter; the others follow */
	unsigned int named;	    /* there is a name for it */
	unsigned int holder_task;   /* index + 1 of what it does; 0: not read */
	unsigned int merged;	    /* `slab` is one of several caches that are one */
	unsigned int map_id;	    /* of the BPF map that it is in; 0: in none */
	unsigned int map_bucket;    /* of a hash map, + 1; 0: none */
	unsigned int object_size;   /* of `slab`, with what is between two; 0: not known */
	unsigned int order;	    /* of the slabs of that cache: pages, as a power of two */
	unsigned int searched;	    /* its object was searched before, by its address */
	char holder_comm[16], slab[32], map_name[16];
};

/* A file, until its inode is freed: the numbers of the next one in that memory are others. */
struct raw_lock_file {
	unsigned long long ino; /* 0: none is there */
	unsigned int dev, generation;
};

/* A lock with a name, and the path by which programs check whether it is still that one. */
struct raw_lock_object {
	unsigned long long addr, inode;
	unsigned int kind, pad;
	struct raw_lock_file file; /* as it is now */
};

/* Kinds as in locksnap.h. */
struct raw_lock_name {
	unsigned long long addr;
	unsigned int kind;
	int pid, fd;
	int tid; /* a thread that has it */
	char comm[16];
	unsigned long long since_ns; /* when its process began, monotonic */
	/* Of a descriptor: whose it is, and what it is of. */
	unsigned long long task, inode;
	struct raw_lock_file file;
	unsigned int stale; /* it is of something else by now */
	unsigned int pad;
};

struct raw_lock_waiter {
	unsigned int lock;
	unsigned int reader;
	int pid, tid;
	unsigned int task; /* index + 1; 0: not read */
	int cpu;	   /* on which it ran last; -1: not known */
	char comm[16];
	unsigned long long ran; /* until when, scheduler's clock; 0: it runs, or not known */
	unsigned int in_cgroup; /* in the measured one, or below it */
	unsigned int pad;
};

/* The state of a holder or waiter. */
struct raw_lock_task {
	int tid;
	unsigned int seen;  /* what follows has been read */
	unsigned int state; /* task_struct.__state */
	unsigned int on_cpu, on_rq;
	int cpu;
	int bytes; /* of frames; a negative errno: none */
	unsigned int pad;
	struct raw_call call;
	unsigned long long frames[RAW_LOCK_FRAMES];
};

struct raw_locks_state {
	unsigned int n_locks, n_names, n_waiters, n_tasks;
	unsigned int dropped;
	unsigned int has_blocker; /* the kernel says what each task is blocked on */
	unsigned int all_mms;	  /* name the mmap_lock of every process */
	unsigned int mmap_offset; /* of mmap_lock in mm_struct */
	unsigned int n_objects;
	unsigned int pad;
	unsigned long long arrived; /* when who asked began to run, scheduler's clock */
	unsigned long long cgroup;  /* that is measured; 0: none */
};

struct raw_locks_config {
	unsigned long long off_runqueues; /* in the per-CPU section */
	unsigned int self;
	unsigned int pad;
	struct ns_config ns;
};

#endif
