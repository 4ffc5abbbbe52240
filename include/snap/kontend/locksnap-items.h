/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_LOCKSNAP_ITEMS_H
#define KONTEND_LOCKSNAP_ITEMS_H

#include <stdint.h>

/* What a snapshot of locks (locksnap.h) has arrays of. */
/* Before the name of a slab cache that several are merged into: the object may be of another one.
 */
#define LOCKSNAP_MERGED "~"

/* What a lock belongs to. */
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
	LOCKSNAP_KINDS,
};

struct locksnap_name {
	uint64_t addr;
	uint32_t kind;
	int32_t cpu;	   /* of LOCKSNAP_PERCPU, else -1 */
	int32_t pid;	   /* whose mm, or a process that has the file open; 0: none */
	uint32_t comm;	   /* text: of that process */
	uint32_t text;	   /* text: path, variable, cache; of LOCKSNAP_MMAP the memory cgroup */
	uint32_t offset;   /* into the variable */
	uint64_t since_ns; /* of LOCKSNAP_MMAP: when the process began, session clock; 0: not known
			    */
	/* Of a file's: the inode, which another one in its memory differs from; 0: not known. */
	uint64_t ino;
	uint32_t generation, dev;
};

/* The per-CPU section of a CPU, and the variables in it: told now and then by who is not asked. */
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

/* How sure it is that the holder named holds the lock. */
enum locksnap_certainty {
	LOCKSNAP_NOBODY,   /* free, or handed over right now */
	LOCKSNAP_SURE,	   /* a writer, or a mutex's owner */
	LOCKSNAP_HINT,	   /* one reader that had it; others, or it no more */
	LOCKSNAP_EVIDENCE, /* a task that reads it, as its calls say: the first of `readers` */
};

/* What a task did at that moment. */
enum locksnap_state {
	LOCKSNAP_STATE_UNKNOWN,
	LOCKSNAP_RUNNING,
	LOCKSNAP_RUNNABLE, /* waits for its CPU */
	LOCKSNAP_ASLEEP,   /* its frames say where */
	LOCKSNAP_STATES,
};

enum locksnap_lock_type {
	LOCKSNAP_MUTEX,
	LOCKSNAP_RWSEM,
	LOCKSNAP_SEM,
	LOCKSNAP_RT, /* an rt-mutex: on PREEMPT_RT mutexes, spinlocks, and what is in a rwsem */
	LOCKSNAP_TYPES
};

struct locksnap_queue {
	uint64_t addr;
	uint32_t type, certainty; /* enum locksnap_lock_type, enum locksnap_certainty */
	int32_t holder_pid, holder_tid;
	uint32_t holder_comm; /* text */
	uint32_t readers;     /* that hold it, by its count; 0: none, or not known */
	uint32_t readers_waiting, writers_waiting;
	uint32_t incomplete; /* the list changed under the walk, or was longer than what is kept */
	uint32_t holder_state;			/* enum locksnap_state */
	int32_t holder_cpu;			/* of which it is, or was last */
	uint32_t holder_frame, holder_n_frames; /* where it sleeps: into frames */
	uint32_t n_evident;			/* of `readers` that are of this queue */
};

struct locksnap_waiter {
	uint32_t queue, position; /* index; 1: gets it next */
	int32_t pid, tid;
	uint32_t comm, reader;	  /* text; 1: for reading */
	uint32_t frame, n_frames; /* where it sleeps: into frames; 0 of them: not known */
	uint64_t ran_ns;   /* until when it ran last, session clock; 0: not known, or it runs */
	uint32_t cpu;	   /* on which that was, + 1; 0: not known */
	uint32_t measured; /* 1: its waits are; 0: not, or not known (files before 2.0) */
};

/*
 * Who seems to hold a lock for reading: a function among its calls holds such a lock, and it is
 * known that it is this one. Evidence, no proof.
 */
struct locksnap_reader {
	uint32_t queue; /* index; those of a queue stand together, who is shown as its holder first
			 */
	int32_t pid, tid;
	uint32_t comm;		  /* text */
	uint32_t state;		  /* enum locksnap_state */
	int32_t cpu;		  /* on which it is, or was last */
	uint32_t frame, n_frames; /* its calls: into frames */
	uint32_t in;		  /* which of them says so */
	uint32_t pad;
};

/* What a system call does with a file. */
enum locksnap_doing {
	LOCKSNAP_NO_FILE,
	LOCKSNAP_READS,
	LOCKSNAP_WRITES,
	LOCKSNAP_SYNCS,
	LOCKSNAP_CONTROLS,
	LOCKSNAP_DOINGS,
};

/* Which file a holder's system call is about, who sleeps in it. */
struct locksnap_sleep {
	int32_t tid;
	uint32_t doing;	       /* enum locksnap_doing */
	int32_t fd;	       /* of that task */
	uint32_t file, device; /* texts: path, "vda1"; 0: not known */
	uint32_t pad;
};

#endif
