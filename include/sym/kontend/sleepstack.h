/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SLEEPSTACK_H
#define KONTEND_SLEEPSTACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * User-space call chains of threads that sleep in a system call, of this machine: from the stack
 * pointer and the instruction pointer, which /proc/PID/task/TID/syscall has, and the memory of the
 * process. The thread is not stopped, so the caller makes sure that it slept all the time. For one
 * thread, which reads files.
 */
struct sleepstack;

enum { SLEEPSTACK_MOST = 32, SLEEPSTACK_DEEP = 96 }; /* frames: with names, and without */

/* A mapping of a process. */
struct sleepstack_map {
	uint64_t start, end, file_offset;
	const char *path; /* borrowed; "", "[stack]" */
	uint32_t maj, min;
	uint64_t ino;
	bool executable;
};

struct sleepstack_frame {
	uint64_t ip; /* first frame: instruction pointer; others: return address */
	/* Until sleepstack_free() or _renew(); a part of a function of the C library has the name
	 * of that. NULL: it has no name. */
	const char *function;
	uint64_t into;	    /* bytes from its begin */
	const char *object; /* path; "": none; the same */
	uint64_t file_offset;
};

/* Exactly @n bytes of the process. */
typedef bool sleepstack_read(void *arg, uint64_t addr, void *ret, size_t n);

/*
 * @proc: "/proc", or a tree that a test made; borrowed. @keep: large tables of symbols are kept in
 * files, and of those that are, only what is looked up is in memory. 0, -ENOMEM, or -ENOTSUP: this
 * build cannot unwind.
 */
int sleepstack_new(struct sleepstack **ret, const char *proc, bool keep);
void sleepstack_free(struct sleepstack *s); /* NULL is fine */
/*
 * True when much was read of files that may never come again. Then, when the caller needs no frame
 * any more, sleepstack_renew() forgets all files: 0, or -ENOMEM with nothing changed.
 */
bool sleepstack_is_worn(const struct sleepstack *s);
int sleepstack_renew(struct sleepstack *s);

/* The process whose stacks are next: its mappings, ordered by address. 0 or -ENOMEM. */
int sleepstack_process(struct sleepstack *s, pid_t pid, const struct sleepstack_map *maps,
		       size_t n);
/*
 * Registers of a thread: the stack pointer and the instruction pointer, and what else is known: the
 * frame pointer (0: not known), or more as in PERF_SAMPLE_REGS_USER, a bit for each and their
 * values (mask 0: none).
 */
struct sleepstack_registers {
	uint64_t sp, ip, fp;
	uint64_t mask;
	const uint64_t *of;
};
/*
 * The frames of a thread of it, innermost first, SLEEPSTACK_MOST at most. *ret_pending: names of
 * some are still being read, see sleepstack_load().
 */
size_t sleepstack_take(struct sleepstack *s, const struct sleepstack_registers *regs,
		       sleepstack_read *read, void *arg,
		       struct sleepstack_frame ret[SLEEPSTACK_MOST], bool *ret_pending);
/* As unwind_rule_of(), for an address of that process. */
struct unwind_rule;
int sleepstack_rule(struct sleepstack *s, uint64_t addr, struct unwind_rule *ret);
/* The same without names. */
struct sleepstack_chain {
	uint64_t ips[SLEEPSTACK_DEEP];
	size_t n;
	uint32_t end; /* enum unwind_end: why there are no more */
	bool pending; /* symbols would show more, and are still being read */
};
void sleepstack_chain(struct sleepstack *s, const struct sleepstack_registers *regs,
		      sleepstack_read *read, void *arg, struct sleepstack_chain *ret);
/* Reads symbols that are wanted, until @budget_ns have passed. True: there is more to do. */
bool sleepstack_load(struct sleepstack *s, uint64_t budget_ns);

#endif
