/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_LOCKSNAP_H
#define KONTEND_LOCKSNAP_H

#include "kontend/sections.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Whose locks they are, who holds them and who waits for them, read from the kernel's own
 * structures at one moment: the payload of a SNAPSHOT record of kind SNAPSHOT_LOCKS. Names are of
 * the locks that were asked for and of those that have waiters; queues are of the sleeping locks
 * that tasks were waiting for then. As in snap.h, arrays refer to texts by offset, 0 being "".
 */
enum { LOCKSNAP_VERSION = 1 };

/* Before the name of a slab cache that several are merged into: the object may be of another one.
 */
#define LOCKSNAP_MERGED "~"

/* What a lock belongs to. */
enum locksnap_kind {
	LOCKSNAP_UNKNOWN,
	LOCKSNAP_MMAP,	 /* mm_struct.mmap_lock of a process */
	LOCKSNAP_INODE,	 /* inode.i_rwsem of an open file */
	LOCKSNAP_IMMAP,	 /* address_space.i_mmap_rwsem of an open file */
	LOCKSNAP_POS,	 /* file.f_pos_lock */
	LOCKSNAP_PIPE,	 /* pipe_inode_info.mutex */
	LOCKSNAP_PERCPU, /* in the per-CPU section: text is the variable */
	LOCKSNAP_SLAB,	 /* in a slab object: text is the cache, see LOCKSNAP_MERGED */
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
	LOCKSNAP_NOBODY, /* free, or handed over right now */
	LOCKSNAP_SURE,	 /* a writer, or a mutex's owner */
	LOCKSNAP_HINT,	 /* one reader that had it; others, or it no more */
};

/* What a task did at that moment. */
enum locksnap_state {
	LOCKSNAP_STATE_UNKNOWN,
	LOCKSNAP_RUNNING,
	LOCKSNAP_RUNNABLE, /* waits for its CPU */
	LOCKSNAP_ASLEEP,   /* its frames say where */
	LOCKSNAP_STATES,
};

enum locksnap_lock_type { LOCKSNAP_MUTEX, LOCKSNAP_RWSEM, LOCKSNAP_SEM, LOCKSNAP_TYPES };

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
};

struct locksnap_waiter {
	uint32_t queue, position; /* index; 1: gets it next */
	int32_t pid, tid;
	uint32_t comm, reader;	  /* text; 1: for reading */
	uint32_t frame, n_frames; /* where it sleeps: into frames; 0 of them: not known */
	uint64_t ran_ns;   /* until when it ran last, session clock; 0: not known, or it runs */
	uint32_t cpu, pad; /* on which that was, + 1; 0: not known */
};

struct locksnap_head {
	uint64_t time_ns, cost_ns; /* session clock; that taking it took */
	uint32_t dropped;	   /* names, queues, waiters for which there was no room */
	uint32_t partial; /* waiters are known of mmap_locks and of asked-for locks only: the kernel
			     does not say what a task is blocked on (before 6.16) */
	uint32_t reason;  /* text: why nothing is known; 0: it is known */
	uint32_t mmap_offset; /* of mmap_lock in mm_struct; 0: not known */
};

struct locksnap {
	struct locksnap_head head;
	struct locksnap_name *names;
	struct locksnap_queue *queues;
	struct locksnap_waiter *waiters; /* in the order of their queues and positions */
	struct locksnap_area *areas;
	struct locksnap_var *vars; /* by offset */
	uint64_t *frames;	   /* addresses of kernel code, from the innermost call outwards */
	uint64_t *empty;	   /* locks that were asked about and had nobody in their queue */
	int32_t *gone;		   /* threads that were asked about and do not exist */
	char *strings;
	size_t n_names, n_queues, n_waiters, n_areas, n_vars, n_frames, n_empty, n_gone, n_strings;
	/* Of who fills it. */
	size_t cap_names, cap_queues, cap_waiters, cap_areas, cap_vars, cap_frames, cap_empty,
		cap_gone, cap_strings;
};

SECTIONS_FUNCTIONS(locksnap)
SECTIONS_ADD(locksnap, name, names, struct locksnap_name)
SECTIONS_ADD(locksnap, queue, queues, struct locksnap_queue)
SECTIONS_ADD(locksnap, waiter, waiters, struct locksnap_waiter)
SECTIONS_ADD(locksnap, area, areas, struct locksnap_area)
SECTIONS_ADD(locksnap, var, vars, struct locksnap_var)
SECTIONS_ADD(locksnap, frame, frames, uint64_t)
SECTIONS_ADD_VALUE(locksnap, empty, empty, uint64_t)
SECTIONS_ADD_VALUE(locksnap, gone, gone, int32_t)
SECTIONS_ADD_TEXT(locksnap)

#endif
