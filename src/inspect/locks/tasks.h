/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_LOCKS_TASKS_H
#define KONTEND_INSPECT_LOCKS_TASKS_H

/* Blocked tasks, as /proc shows them: shared by the parts of snapshot-tasks.h. */
#include "call-shared.h"
#include "kontend/locksnap.h"
#include "kontend/map64.h"
#include "sleepers-shared.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mounts;

/* A thread that was blocked when it was read. */
struct tasks_one {
	int32_t pid, tid;
	int cpu;	/* of its last run */
	uint32_t state; /* enum raw_blocked_state */
	bool kthread;
	bool is_bare;	   /* only its state was read, as more would wait for the kernel */
	bool runs_known;   /* then that of `runs` shows whether it has run since */
	uint64_t start;	   /* since the kernel started, in ticks */
	uint64_t runs;	   /* how often it has got a CPU */
	uint64_t ran_ns;   /* scheduler's clock; 0: not known */
	uint64_t first_ns; /* our clock: when it was first seen in this sleep */
	uint64_t since_ns; /* our clock: it sleeps since then, at least; 0: not found out yet */
	int32_t child;	   /* that it waits for in vfork(); 0: none, or not known */
	uint32_t stack;	   /* text: its calls, as the kernel writes them; 0: not known */
	char comm[16], process[16];
	struct raw_call call;
};

/* tasks-read.c */

/* Where tasks are read from, and the file systems that were seen. */
struct tasks_from {
	const char *proc;	     /* "/proc" or a test's tree */
	const struct mounts *mounts; /* of our mount namespace; NULL: not known */
	bool is_bare;		     /* read no more than states */
};

/*
 * Reads a thread. False: it is not blocked, or is gone. @before: what was read of it last, NULL:
 * nothing; what cannot have changed since is taken from there, but for its stack if @ret_same.
 */
bool tasks_read(const struct tasks_from *f, int32_t pid, int32_t tid,
		const struct tasks_one *before, struct tasks_one *ret, bool *ret_same);
/*
 * Its calls as a text of @texts, "[<0>] jbd2_log_wait_commit+0xd2/0x120" in lines, or the name of
 * the innermost function alone. 0: not known.
 */
uint32_t tasks_read_stack(const struct tasks_from *f, const struct tasks_one *t,
			  struct locksnap *texts);

/*
 * The process for whose exec or exit it waits, if its calls say so: the last one that it made, as
 * it makes no other meanwhile. 0: none, or not known.
 */
int32_t tasks_read_child(const struct tasks_from *f, const struct tasks_one *t, const char *stack);

/* tasks-symbols.c */

/* Addresses of functions by their names. */
struct tasks_symbols {
	struct tasks_symbol {
		char name[128], module[56];
		uint64_t size, addr; /* size 0: not known; addr 0: there is none */
		uint32_t next;	     /* with the same hash of the name, + 1 */
		bool is_exact;
	} * list;
	size_t n, cap, n_searched;
	struct map64 at;   /* hash of a name -> index */
	bool are_withheld; /* the kernel has written no address */
};

/*
 * Notes the functions of such a text, and reads the addresses of those that are new from @file, a
 * descriptor of /proc/kallsyms. 0 or -ENOMEM.
 */
int tasks_symbols_want(struct tasks_symbols *s, const char *stack);
int tasks_symbols_search(struct tasks_symbols *s, int file);
/* The addresses of its calls, from the innermost on; *@ret has room for RAW_BLOCKED_FRAMES. */
size_t tasks_symbols_frames(const struct tasks_symbols *s, const char *stack,
			    unsigned long long *ret);
void tasks_symbols_deinit(struct tasks_symbols *s);

#endif
