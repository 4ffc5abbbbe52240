/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_LOCKSNAP_ITEMS_H
#define KONTEND_LOCKSNAP_ITEMS_H

#include <stdint.h>

/* Items of a snapshot of locks (locksnap.h). */
/* Precedes the name of a merged slab cache: the object may belong to another cache. */
#define LOCKSNAP_MERGED "~"

/* Object that contains the lock. */
enum locksnap_kind {
	LOCKSNAP_UNKNOWN,
	LOCKSNAP_MMAP,	     /* mm_struct.mmap_lock of a process */
	LOCKSNAP_INODE,	     /* inode.i_rwsem */
	LOCKSNAP_IMMAP,	     /* address_space.i_mmap_rwsem of an inode */
	LOCKSNAP_POS,	     /* file.f_pos_lock */
	LOCKSNAP_PIPE,	     /* pipe_inode_info.mutex */
	LOCKSNAP_PERCPU,     /* in the per-CPU section: text is the variable */
	LOCKSNAP_SLAB,	     /* in a slab object: text is the cache, see LOCKSNAP_MERGED */
	LOCKSNAP_INVALIDATE, /* address_space.invalidate_lock of an inode */
	LOCKSNAP_FILE,	     /* of a file: filelock.h */
	LOCKSNAP_BPF_MAP,    /* of a BPF map: text is its name, may be empty */
	LOCKSNAP_VMA,	     /* of a mapping from `start` to `past`: vmalock.h */
	LOCKSNAP_XFS,	     /* xfs_inode.i_lock, the ILOCK of XFS */
	LOCKSNAP_EXT4,	     /* ext4_inode_info.i_data_sem */
	LOCKSNAP_OBJECT,  /* a member `what` of a `site`, an object of the kernel: of task `pid`, or
			    as `text` says; neither: which object is not known */
	LOCKSNAP_USER,	  /* of a program: userlock.h; text: its file, or "[heap]"; start: where */
	LOCKSNAP_RUNTIME, /* of the runtime of a program: text is its own name, "GIL" */
	LOCKSNAP_KINDS,
};

struct locksnap_name {
	uint64_t addr;
	uint32_t kind;
	int32_t cpu;	   /* of LOCKSNAP_PERCPU, else -1 */
	int32_t pid;	   /* owner of the mm, or a process that has the file open; 0: none */
	uint32_t comm;	   /* text: of that process */
	uint32_t text;	   /* text: path, variable, cache; of LOCKSNAP_MMAP the memory cgroup */
	uint32_t offset;   /* into the variable; of LOCKSNAP_BPF_MAP the map's id; of
			      LOCKSNAP_USER 1: processes share it */
	uint64_t since_ns; /* begin of that process or task, session clock; 0: not known */
	/* Of a file's lock: identity of the inode, since its memory may be reused; 0: not known. */
	uint64_t ino;
	uint32_t generation, dev;
	uint64_t start, past; /* of the lock of a part of a file: filelock_part(); of a mapping; of
				 LOCKSNAP_BPF_MAP the bucket, + 1, of a hash map */
	/* Texts, of LOCKSNAP_USER "mutex" and the function of the program that waits, 0 if not
	   known; of LOCKSNAP_OBJECT "pi_lock" and "task_struct". */
	uint32_t what, site;
};

/* The per-CPU section of a CPU, and its variables: delivered now and then without a request. */
struct locksnap_area {
	uint64_t base;
	int32_t cpu;
	uint32_t pad;
};

struct locksnap_var {
	uint32_t offset, size; /* in the section */
	uint32_t name;	       /* text */
	uint32_t pad;
};

/* Certainty that the named task holds the lock. */
enum locksnap_certainty {
	LOCKSNAP_NOBODY,   /* free, or being handed over */
	LOCKSNAP_SURE,	   /* a writer, or the owner of a mutex */
	LOCKSNAP_HINT,	   /* one reader that held it; other readers may, or it no longer does */
	LOCKSNAP_EVIDENCE, /* a reader by evidence of its call chain: the first of `readers` */
};

/* State of a task at that moment. */
enum locksnap_state {
	LOCKSNAP_STATE_UNKNOWN,
	LOCKSNAP_RUNNING,
	LOCKSNAP_RUNNABLE, /* waits for its CPU */
	LOCKSNAP_ASLEEP,   /* its frames show where */
	LOCKSNAP_STATES,
};

/* How far locks of files are known. */
enum locksnap_files {
	LOCKSNAP_FILES_UNKNOWN, /* waits may be missing, or of different moments */
	LOCKSNAP_FILES_ALL,	/* all waits and what they are for, as of one moment */
	LOCKSNAP_FILES_SAME,	/* as of one moment, and others may have begun since */
};

/* How far locks of programs are known. */
enum locksnap_users {
	LOCKSNAP_USERS_UNKNOWN,
	LOCKSNAP_USERS_ALL,   /* all that tasks wait for */
	LOCKSNAP_USERS_AGAIN, /* those that tasks waited for in the snapshot before */
};

enum locksnap_lock_type {
	LOCKSNAP_MUTEX,
	LOCKSNAP_RWSEM,
	LOCKSNAP_SEM,
	LOCKSNAP_RT,	/* an rt-mutex: on PREEMPT_RT mutexes, spinlocks, and inside of a rwsem */
	LOCKSNAP_FLOCK, /* this and the next two are of files: filelock.h */
	LOCKSNAP_POSIX,
	LOCKSNAP_LEASE,
	LOCKSNAP_PCPU, /* a percpu-rwsem: its waiters in state D */
	LOCKSNAP_VMA_LOCK,
	LOCKSNAP_USER_MUTEX, /* this and the next five are of programs: userlock.h */
	LOCKSNAP_USER_RWLOCK,
	LOCKSNAP_USER_PI,
	LOCKSNAP_USER_SEM,
	LOCKSNAP_USER_FUTEX,
	LOCKSNAP_USER_RUNTIME,
	LOCKSNAP_TYPES
};

/* Parts of the wait of a percpu-rwsem's writer. */
enum locksnap_part {
	LOCKSNAP_NO_PART,
	LOCKSNAP_RCU,	       /* a grace period, after which readers see that it waits */
	LOCKSNAP_READERS_PART, /* the readers of before; later ones wait for it */
	LOCKSNAP_PARTS,
};

struct locksnap_queue {
	uint64_t addr;
	uint32_t type, certainty; /* enum locksnap_lock_type, enum locksnap_certainty */
	int32_t holder_pid, holder_tid;
	uint32_t holder_comm; /* text */
	uint32_t readers; /* number of readers that hold it, by its count; 0: none, or not known */
	uint32_t readers_waiting, writers_waiting;
	uint32_t incomplete;   /* the list changed during the walk, or was too long to keep */
	uint32_t holder_state; /* enum locksnap_state */
	int32_t holder_cpu;    /* current or last CPU */
	uint32_t holder_frame, holder_n_frames; /* its call chain when asleep: into frames */
	uint32_t n_evident;			/* number of `readers` of this queue */
	/* Of the lock of a file: the holder's descriptor, + 1; 0: not known. */
	uint32_t holder_fd;
	/* The process that took it, which is the holder, began then: session clock; 0: the lock was
	   passed on, or not known. */
	uint64_t taker_ns;
	/* Time that a hypervisor has taken of the holder's CPU in the time before; of 0: not known.
	 */
	uint64_t steal_ns, steal_of_ns;
};

struct locksnap_waiter {
	uint32_t queue, position; /* index; 1: next to get the lock */
	int32_t pid, tid;
	uint32_t comm, reader;	  /* text; 1: for reading */
	uint32_t frame, n_frames; /* its call chain: into frames; 0 of them: not known */
	uint64_t ran_ns;	  /* end of its last run, session clock; 0: not known, or it runs */
	uint32_t cpu;		  /* CPU of its last run, + 1; 0: not known */
	uint32_t measured; /* 1: its waits are measured; 0: not, or not known (files before 2.0) */
	uint32_t part;	   /* enum locksnap_part */
	uint32_t switches; /* of LOCKSNAP_PCPU: how often it has gone to sleep */
	/* Of a lock of a program: its calls there, into user_frames; the first of them that belongs
	   to no library; what these make of the lock: text, "mutex". 0 frames: not known. */
	uint32_t user_frame, user_n_frames, user_site, user_what;
	uint32_t on, on_kind; /* text: "/var/x.img"; 0: not known. enum locksnap_on */
};

/* A call of a program, from the innermost outwards. */
struct locksnap_user_frame {
	uint32_t function, object; /* texts: name; path of the file. 0: it has none */
	uint64_t at; /* into the function; without one into the file; without that an address */
	uint64_t ip; /* where the call is, or goes on; 0: not known */
};

/* Threads that sleep in futex(2) and wait for no lock, or for what may be none. */
enum locksnap_futex_class {
	LOCKSNAP_FUTEX_UNKNOWN,
	LOCKSNAP_FUTEX_LOCK, /* of a kind that could not be read just then */
	LOCKSNAP_FUTEX_WAIT, /* for a condition, work, a thread that ends, the time */
	LOCKSNAP_FUTEX_CLASSES,
};

/* As `what`: nothing else is read of it. */
#define LOCKSNAP_32BIT "32-bit program"

struct locksnap_futex {
	int32_t pid;
	uint32_t comm;	/* text: of the process */
	uint32_t class; /* enum locksnap_futex_class */
	uint32_t what;	/* text: "condition variable"; 0: no function is known */
	uint32_t tasks;
	uint32_t pad;
};

/*
 * A task that probably holds a lock for reading: a function in its call chain holds a lock of that
 * kind, and it is known that it is this one. Evidence, no proof.
 */
struct locksnap_reader {
	uint32_t queue; /* index; readers of a queue are adjacent, first the one shown as holder */
	int32_t pid, tid;
	uint32_t comm;		  /* text */
	uint32_t state;		  /* enum locksnap_state */
	int32_t cpu;		  /* current or last CPU */
	uint32_t frame, n_frames; /* its call chain: into frames */
	uint32_t in;		  /* index of the frame that is the evidence */
	uint32_t pad;
};

/*
 * How a holder or waiter is scheduled, in a snapshot with a holder that could run and does not.
 * Priorities are the kernel's: the lower, the sooner it runs; below 100 are real-time ones.
 */
struct locksnap_run {
	int32_t tid;
	uint32_t policy, rt_priority; /* SCHED_*, as in sched(7) */
	int32_t prio, normal_prio;    /* as it is; without what it has inherited */
	int32_t nice;
	uint32_t state; /* enum locksnap_state */
	int32_t cpu;	/* current or last CPU */
	uint32_t cpus;	/* on how many it may run; 0: not known */
	/* If it is runnable: the task that has its CPU; tid 0: not known. */
	int32_t off_pid, off_tid;
	uint32_t off_comm; /* text */
	uint32_t off_policy, off_rt_priority;
	int32_t off_prio;
	uint32_t is_throttled; /* 1: by cpu.max of a cgroup, */
	uint32_t limit;	       /* text: this one; 0: not known, */
	uint32_t pad;
	uint64_t throttled_ns;	      /* for so long or longer; 0: not known */
	uint64_t throttled_of_ns;     /* else for so long of the time before, which is this long */
	uint64_t quota_ns, period_ns; /* its limit: CPU time in each period; 0: not known */
};

/* Use of a file by a system call. */
enum locksnap_doing {
	LOCKSNAP_NO_FILE,
	LOCKSNAP_READS,
	LOCKSNAP_WRITES,
	LOCKSNAP_SYNCS,
	LOCKSNAP_CONTROLS,
	LOCKSNAP_SENDS, /* a message of netlink: its name is the text */
	LOCKSNAP_DOINGS,
};

/* The file of the system call in which a holder sleeps. */
struct locksnap_sleep {
	int32_t tid;
	uint32_t doing;	       /* enum locksnap_doing */
	int32_t fd;	       /* of that task */
	uint32_t file, device; /* texts: path, "vda1"; 0: not known */
	uint32_t pad;
};

#endif
