/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_SNAPSHOT_LOCKS_INT_H
#define KONTEND_INSPECT_SNAPSHOT_LOCKS_INT_H

/* Shared by the parts of snapshot-locks.h. */
#include "because.h"
#include "kontend/error.h"
#include "kontend/locksnap.h"
#include "kontend/map64.h"
#include "memcg.h"
#include "percpu.h"
#include "readers-shared.h"
#include "shared.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fields;
struct kerntypes;
struct target;

/* fill.c */

/* Results of the programs in their arrays. */
struct snapshot_locks_raw {
	struct raw_locks_state *state;
	struct raw_lock *locks;
	const struct raw_lock_name *names;
	const struct raw_lock_waiter *waiters;
	const struct raw_lock_task *tasks;
	const uint64_t *bases; /* of the CPUs' per-CPU sections; 0: not known */
	const struct percpu *percpu;
	const char *proc; /* "/proc" */
	struct memcg_cache *memcgs;
	const struct target *target; /* NULL: the whole system */
	bool reports_percpu;	     /* has the sections, to find the variable of an address */
	bool ran_known; /* the last time that waiters ran is known, by a clock ahead of ours */
	int64_t ahead_ns;
	const struct raw_reader *readers; /* of `wanted` */
	size_t n_readers;
	uint64_t wanted[RAW_READER_LOCKS];
	const char *no_readers; /* the reason why they are not known; NULL: they are */
	bool many_tasks;
	struct fields *fields; /* has names of locks by their objects; NULL: */
	const char *no_fields; /* why not */
	struct left *left;
};

/* Adds the state and the calls of @q's holder, the task of index + 1; 0: not known. 0 or -ENOMEM.
 */
int snapshot_locks_fill_does(const struct snapshot_locks_raw *raw, uint32_t task,
			     struct locksnap *s, struct locksnap_queue *q);
/* Adds @l's readers to the queue that is added next. 0 or -ENOMEM. */
int snapshot_locks_fill_readers(const struct snapshot_locks_raw *raw, const struct raw_lock *l,
				struct locksnap *s, struct locksnap_queue *q);
/* Path of a descriptor, cleaned likewise; 0: not known. */
uint32_t snapshot_locks_add_path(struct locksnap *s, const char *proc, int pid, int fd);
/* The number of readers that hold it, by its count. */
uint32_t snapshot_locks_readers(const struct raw_lock *l);
/* A comm or the name of a cache, with '?' for characters that cannot be shown. */
uint32_t snapshot_locks_add_text(struct locksnap *s, const char *text, size_t size);
/* The same of a longer text, as a path. */
uint32_t snapshot_locks_add_long(struct locksnap *s, const char *text);

/* One more reader of @q by evidence; the first of them is shown as the holder. */
static inline void snapshot_locks_hold_by(struct locksnap_queue *q, const struct locksnap_reader *r)
{
	if (q->n_evident++)
		return;
	q->certainty = LOCKSNAP_EVIDENCE;
	q->holder_pid = r->pid;
	q->holder_tid = r->tid;
	q->holder_comm = r->comm;
	q->holder_state = r->state;
	q->holder_cpu = r->cpu;
	q->holder_frame = r->frame;
	q->holder_n_frames = r->n_frames;
}

/* Adds the file for which a holder sleeps, if it waits for no lock. 0 or -ENOMEM. */
int snapshot_locks_fill_call(const struct snapshot_locks_raw *raw, const struct raw_call *c,
			     int tid, struct locksnap *s);

/* Turns them into a snapshot. 0 or -ENOMEM. */
int snapshot_locks_fill(const struct snapshot_locks_raw *raw, struct locksnap *ret);

/* calls-netlink.c */

/*
 * Adds the message for which a holder is in its call, if it sends one to rtnetlink. @left: threads
 * that processes keep waiting. 0 or -ENOMEM.
 */
struct left;
int snapshot_locks_fill_message(struct left *left, const struct raw_call *c, int tid,
				struct locksnap *s);
/* "RTM_NEWLINK"; false: it is none that is known. */
bool calls_message_name(uint32_t type, char *ret, size_t size);

/* calls.c */

/* The use that a system call makes of the descriptor in its argument *@ret_arg (from 0); else
 * LOCKSNAP_NO_FILE. */
enum locksnap_doing calls_doing(long long number, unsigned *ret_arg);
/* Does a task in state S wait for work, for another program or for a user in that call? */
bool calls_is_idle(long number);
/*
 * The file for which a task sleeps in that call, and *@ret_doing, enum locksnap_doing; NULL: for
 * none, or not known.
 */
const struct raw_call_file *calls_file(const struct raw_call *c, uint32_t *ret_doing);
/*
 * On what the task @tid is in that call: a text of @s, 0: none; *ret_kind: enum locksnap_on. Of the
 * first tasks of a snapshot the files and names are read.
 */
uint32_t calls_on(struct locksnap *s, const struct raw_call *c, const char *proc, int tid,
		  uint32_t *ret_kind);
/* The device of a file, major << 20 | minor: the one that it stands for, or is on. */
static inline unsigned calls_device_number(const struct raw_call_file *f)
{
	return f->rdev ? f->rdev : f->dev;
}
/* Its name as a text of @s; 0: none. */
uint32_t calls_add_device(struct locksnap *s, const struct raw_call_file *f);
/*
 * Adds @at with the path of its descriptor, unless @s has @most files already, or one of that task.
 * @proc is "/proc" or a test's tree. 0 or -ENOMEM.
 */
int calls_add(struct locksnap *s, const struct locksnap_sleep *at, const char *proc, size_t most);
/* "vda1" of /sys/dev/block, @sys is "/sys" or a test's tree; "": there is no such device. */
const char *calls_device(const char *sys, unsigned dev, char *ret, size_t size);

/* objects.c */

/*
 * Locks of files with a known name. Each snapshot reads whether they still belong to the same
 * files: the kernel soon reuses the memory of a freed inode for another one, with its lock.
 */
struct locks_objects {
	struct map64 at; /* lock -> index */
	struct locks_object {
		struct raw_lock_object of;
		struct raw_lock_file named; /* as it was when its name was found */
	} known[RAW_LOCK_OBJECTS];
	size_t n;
	uint64_t ended[RAW_LOCK_OBJECTS]; /* found by the last snapshot */
	size_t n_ended;
};

void locks_objects_deinit(struct locks_objects *o);
/* Fills in the objects to read, at most RAW_LOCK_OBJECTS. Returns their number. */
size_t locks_objects_ask(const struct locks_objects *o, struct raw_lock_object *ret);
/* Compares the results: locks that now belong to another file go to `ended`, and are removed. */
void locks_objects_take(struct locks_objects *o, const struct raw_lock_object *read);
/* Adds the lock of the found name @n, if it is that of a file. */
void locks_objects_add(struct locks_objects *o, const struct raw_lock_name *n);

/* readers.c */

/* Finds the readers of locks: see readers.bpf.c. */
struct locks_readers;

/* 0 or a negative errno with why. */
int locks_readers_new(struct locks_readers **ret, struct kerntypes *types, struct error *err);
/*
 * Finds readers of the @n locks at @wanted; *@ret: those found, valid until the next call;
 * *@ret_n: how many. 0, or a negative errno: not known; locks_readers_why() has the reason.
 */
int locks_readers_find(struct locks_readers *r, const uint64_t *wanted, size_t n,
		       const struct raw_reader **ret, size_t *ret_n);
/*
 * How many of these calls, from the innermost on, are of a writer of a percpu-rwsem that waits for
 * RCU; 0: it does not.
 */
size_t locks_readers_rcu(struct locks_readers *r, const unsigned long long *frames, size_t n);
/* Were tasks left out? */
int locks_readers_dropped(const struct locks_readers *r);
void locks_readers_free(struct locks_readers *r); /* NULL is fine */

/* readers-functions.c */

/*
 * Searches the text of /proc/kallsyms for the functions that hold a lock for reading, or show whose
 * lock it is: at most RAW_READER_RANGES, by address. 0: none, or the addresses are withheld.
 */
uint32_t readers_functions_find(const char *text, size_t len, struct raw_reader_range *ret);

/* sleepers.c */

/* Counts tasks that sleep for other reasons than kernel locks. For one thread. */
struct sleepers;

int sleepers_new(struct sleepers **ret, struct kerntypes *types, struct error *err);
/*
 * Reads those of @target (NULL: all), and each task that is blocked. @child: the process of a
 * measured command; 0: it does not exist yet. Returns the number of blocked tasks; if it is
 * impossible 0, and sleepers_put() reports the reason.
 */
size_t sleepers_read(struct sleepers *s, const struct target *target, int child);
/*
 * Adds the tasks that were read to a snapshot, and the locks that some of them wait for without an
 * event. The scheduler's clock is *@ahead_ns ahead of ours; NULL: that is not known. @functions:
 * NULL if the kernel's are not known. 0 or -ENOMEM.
 */
int sleepers_put(struct sleepers *s, struct locks_readers *functions, const int64_t *ahead_ns,
		 struct locksnap *ret);
void sleepers_free(struct sleepers *s); /* NULL is fine */

/* The rows of one pass, one for each process and kind, most tasks first. 0 or -ENOMEM. */
struct raw_sleepers;
int sleepers_fill(const struct raw_sleepers *rows, size_t n, struct locksnap *ret);
/* Results of one pass. */
struct raw_blocked_pass {
	const struct raw_blocked *blocked;
	const struct raw_vfork *vforks;
	size_t n, n_vforks;
	const char *proc;		   /* "/proc" or a test's tree */
	const int64_t *ahead_ns;	   /* of the scheduler's clock; NULL: not known */
	const struct raw_because *because; /* of the first @n_because of them; NULL */
	size_t n_because;
	struct because_names *names;
	struct cgroup_names *cgroups; /* NULL: not known */
};

/* How many frames these bytes are, which are a negative errno if there are none. */
size_t sleepers_frames(int bytes, const unsigned long long *frames);
/* The blocked tasks of one pass, in its order. 0 or -ENOMEM. */
int sleepers_fill_blocked(const struct raw_blocked_pass *p, struct locksnap *ret);
struct raw_preempted;
int sleepers_fill_preempted(const struct raw_preempted *rows, size_t n, struct locksnap *ret);

/* silent.c */

struct raw_keeper;
/* The tasks of a pass, which the snapshot has in its order, and who keeps VMAs. */
struct raw_silent_pass {
	const struct raw_blocked_pass *of;
	const struct raw_keeper *keepers;
	size_t n_keepers;
	struct locks_readers *functions; /* NULL: unknown, so nothing is known to wait for RCU */
};

/*
 * Adds the locks for which they wait without an event: those of mappings, and percpu-rwsems that
 * they write. 0 or -ENOMEM.
 */
int silent_fill(const struct raw_silent_pass *p, struct locksnap *ret);

#endif
