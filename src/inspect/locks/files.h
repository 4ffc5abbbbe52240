/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_LOCKS_FILES_H
#define KONTEND_INSPECT_LOCKS_FILES_H

/*
 * Locks of files and of programs, as /proc shows them: shared by the parts of snapshot-files.h and
 * snapshot-users.h.
 */
#include "kontend/filelock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* files-line.c */

/* A line of /proc/locks, or of a descriptor's information after "lock:". */
struct files_line {
	enum filelock_kind kind;
	bool waits;   /* for the lock of the last line that does not */
	bool reads;   /* its mode */
	bool has_ino; /* a task that breaks a lease has no file yet */
	int32_t pid;  /* -1: it is of an open file, not of a process */
	uint32_t dev; /* major << 20 | minor */
	uint64_t ino;
	uint64_t start, past; /* filelock_part() */
};

/* False: it is no line of a lock that is known here. */
bool files_line_parse(const char *line, struct files_line *ret);

/* files-proc.c */

/* The descriptor of process @pid that has the lock @l; -1: none, or it cannot be read. */
int files_holding(const char *proc, int32_t pid, const struct files_line *l);
/*
 * The thread of process @pid that is in a call to lock a file with the inode of @l, the @nth of
 * them from 0 on, and its descriptor in *@ret_fd (-1: not known). Of a lease, or where calls cannot
 * be read, it is the only thread. 0: none is, or not known.
 */
int32_t files_waiting(const char *proc, int32_t pid, const struct files_line *l, unsigned nth,
		      int *ret_fd);
/* When a thread ran last, by the scheduler's clock; 0: not known. */
uint64_t files_ran_ns(const char *proc, int32_t pid, int32_t tid);
/*
 * How far the scheduler's clock is ahead of ours, by CPU: it stands still on one that serves
 * interrupts, or that a hypervisor has taken, so after hours those of two CPUs may differ by a
 * second. A thread on that CPU reads it, from time to time and after a hypervisor has taken some
 * CPU. Times that were asked for lately have the same answer as before, whatever the clock did
 * since. `= {0}` is empty.
 */
enum { FILES_CLOCKS = 64, FILES_RAN_BITS = 10 };

struct files_clocks {
	struct files_clock {
		int cpu;
		bool known;
		int64_t ahead_ns;
		uint64_t read_ns;
		uint64_t stolen;	     /* when its thread began */
		struct clock_thread *thread; /* NULL: it does not run */
	} of[FILES_CLOCKS];
	size_t n;
	uint64_t stolen, stolen_ns; /* ticks of all CPUs; when they were read */
	struct files_ran {
		int cpu;
		uint64_t theirs, ours; /* by the scheduler's clock, 0: none; and by ours */
	} ran[1 << FILES_RAN_BITS];
};

/* By our clock when a task ran last on that CPU, by files_ran_ns(); 0: not known. */
uint64_t files_clock_ran(struct files_clocks *c, const char *proc, int cpu, uint64_t ran_ns);
void files_clocks_deinit(struct files_clocks *c);
/* The name of a thread as a text of @s; 0: not known. */
struct locksnap;
uint32_t files_comm(const char *proc, int32_t pid, int32_t tid, struct locksnap *s);
/* The path of a descriptor, or "". */
const char *files_path(const char *proc, int32_t pid, int fd, char *ret, size_t size);

/* A process, or a thread by its number, by its stat file. */
struct files_process {
	char state;	/* of its first thread, or of that thread: 'R', 'S', ...; 0: not known */
	int cpu;	/* of that; -1: not known */
	uint64_t ticks; /* since the kernel started, until it began; 0: not known */
	uint64_t stack; /* where its stack begins; 0: not known */
};

struct files_process files_process(const char *proc, int32_t pid);

#endif
