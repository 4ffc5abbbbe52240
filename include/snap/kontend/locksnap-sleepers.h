/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_LOCKSNAP_SLEEPERS_H
#define KONTEND_LOCKSNAP_SLEEPERS_H

#include <stdint.h>

/* Causes of sleep other than kernel locks. */
enum locksnap_sleeps {
	LOCKSNAP_FUTEX = 1, /* in futex(2): locks and work queues of programs */
	LOCKSNAP_FILE_LOCK, /* flock(2), fcntl(2) */
	LOCKSNAP_IO,	    /* uninterruptibly, accounted by the kernel as waiting for I/O */
	LOCKSNAP_DISK,	    /* other uninterruptible sleep (state D), kernel locks included */
	LOCKSNAP_SLEEPS,
};

/* Sleeping tasks of one process. */
struct locksnap_sleepers {
	int32_t pid;
	uint32_t comm; /* text: its name */
	uint32_t kind; /* enum locksnap_sleeps */
	uint32_t tasks;
	uint32_t idle; /* of them: in a futex for so long that they probably wait for work */
	uint32_t pad;
};

/* The object of a waiter's system call, by its arguments. */
enum locksnap_on {
	LOCKSNAP_ON_UNKNOWN, /* not read */
	LOCKSNAP_ON_NOTHING, /* its arguments name none of these */
	LOCKSNAP_ON_FILE,    /* a descriptor, also a socket */
	LOCKSNAP_ON_TASK,    /* a process or thread */
	LOCKSNAP_ON_MEMORY,  /* addresses of the process */
	LOCKSNAP_ON_PATH,    /* a path, which is in the memory of the process and not read */
	LOCKSNAP_ONS,
};

/* State of a blocked task. */
enum locksnap_blocked_state {
	LOCKSNAP_BLOCKED_D = 1,	    /* as /proc/PID/stat shows it, frozen tasks included */
	LOCKSNAP_BLOCKED_S,	    /* within a call that is not one for waiting */
	LOCKSNAP_BLOCKED_STOPPED,   /* by a signal or a debugger */
	LOCKSNAP_BLOCKED_THROTTLED, /* not asleep, but kept from running by cpu.max of a cgroup */
	LOCKSNAP_BLOCKED_STATES,
};

/* How a snapshot has found the blocked tasks. */
enum locksnap_blocked_by {
	LOCKSNAP_BLOCKED_BY_BPF,
	LOCKSNAP_BLOCKED_BY_PROC,	/* all tasks, in /proc */
	LOCKSNAP_BLOCKED_BY_PROC_AGAIN, /* only those that an earlier one had found there */
};

/* A task that does not run until something has happened. */
struct locksnap_blocked {
	int32_t pid, tid;
	uint32_t comm, process;	  /* texts: names of the task and of its process */
	uint32_t device;	  /* text: "vda1", of the file of its system call; 0: not known */
	uint32_t state;		  /* enum locksnap_blocked_state */
	uint32_t io, kthread;	  /* 1: accounted as waiting for I/O; a kernel thread */
	uint32_t frame, n_frames; /* its call chain: into frames; tasks share equal ones */
	uint64_t ran_ns;	  /* end of its last run, session clock; 0: not known */
	uint32_t cpu;		  /* CPU of its last run, + 1; 0: not known */
	int32_t by_cpu;		  /* on which by_tid runs, or ran last; -1: not known */
	/* The task because of which it is blocked, where a structure of the kernel names it. */
	int32_t by_pid, by_tid; /* 0: not known */
	uint32_t by_comm;	/* text */
	uint32_t fs;		/* text: file system of the file that it waits for, "ext4" */
	uint32_t by_state;	/* enum locksnap_state */
	/* If that task is runnable: the one that has its CPU. 0: not known. */
	int32_t off_pid, off_tid;
	uint32_t off_comm;  /* text */
	uint64_t function;  /* of the work that it waits for; 0: it waits for none */
	uint32_t queue;	    /* text: workqueue of that */
	uint32_t file;	    /* text: path of the page that it waits for */
	uint32_t cgroup;    /* text: its cgroup, by the hierarchy that perf uses; 0: not known */
	uint32_t limit;	    /* text: the cgroup that limits, freezes or throttles it */
	uint32_t source;    /* text: of its file system, "nas:/home"; of a dm device its name */
	uint32_t suspended; /* 1: that dm device is suspended */
	int32_t off_prio;   /* real-time priority of off_tid; 0: it has none */
	uint32_t pad;
};

/* Why a stack has no more calls; others are those of enum unwind_end. */
enum { LOCKSNAP_STACK_ENDS = 64 };

/* The calls in its program that led a task to where it sleeps, read while it slept there. */
struct locksnap_stack {
	int32_t pid, tid;
	uint32_t call, n_calls; /* into calls, from the innermost outwards */
	uint32_t end;		/* enum unwind_end; less than LOCKSNAP_STACK_ENDS */
	uint32_t pad;
	uint64_t ran_ns; /* end of its last run, session clock; 0: not known */
};

/* Machine code, or a function that an interpreter runs, which has a name and no code of its own. */
struct locksnap_call {
	uint64_t ip;		 /* first call: instruction pointer; others: return address */
	uint32_t function, file; /* texts; 0: it is machine code */
	uint32_t line;		 /* in the file; 0: not known */
	uint32_t pad;
};

/*
 * A thread that could run, and whose CPU another thread of its process has: it was interrupted in
 * its program, or in a page fault of that, and not in a system call.
 */
struct locksnap_preempted {
	int32_t pid, tid;
	int32_t off_tid; /* the other one */
	uint32_t comm;	 /* text */
	uint64_t ip;	 /* where it was */
};

#endif
