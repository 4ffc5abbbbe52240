/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_LOCKNAME_H
#define KONTEND_LOCKNAME_H

#include "kontend/lockhold.h"
#include "kontend/map64.h"
#include "kontend/strpool.h"

struct locksnap;
struct task_table;

/*
 * Objects that contain locks, by address, from the snapshots of locks of a session. A name stays
 * when its lock is gone, as the waits for it do; that of an mmap_lock is valid for the time in
 * which its process had it. That of a file's lock ends where an event reports another file's there,
 * or, without such events, at the snapshot that shows it. So an address may have one after the
 * other. Of other objects the latest name counts. Shared by the copies of a model, so it may
 * contain names that are later than one of them.
 */
struct lockname {
	uint64_t addr;
	uint32_t kind;	  /* enum locksnap_kind */
	int32_t cpu;	  /* of LOCKSNAP_PERCPU */
	int32_t pid;	  /* 0: none */
	uint32_t offset;  /* into the variable; of LOCKSNAP_BPF_MAP its id; of
			     LOCKSNAP_USER 1: processes share it */
	const char *comm; /* of the process; "" if it is not known */
	const char *text; /* path, variable, cache, memory cgroup; "" */
	/* Of LOCKSNAP_USER: "mutex", and the function that was first seen to wait; NULL: none was.
	 * Of LOCKSNAP_OBJECT: the member and the type. */
	const char *what, *site;
	uint64_t from_ns;     /* 0: from before the session on, or not known */
	uint64_t to_ns;	      /* 0: its end is not known */
	uint64_t reported_ns; /* by the snapshot of that time, last */
	uint64_t ino;	      /* of a file's lock, with the two below; 0: not known */
	uint32_t generation, dev;
	uint64_t start, past; /* of a part of a file: filelock_part() */
	uint64_t event_ns; /* the last event that reported it; the next inode is reported, too; 0:
			      none */
	uint32_t before, before_of_pid; /* index + 1: of the address, of the process; 0: none */
};

/* Where a thread that held a lock was last seen to sleep. */
struct lockname_holder {
	int32_t tid;
	uint32_t n_frames;
	uint64_t frames[6]; /* the innermost ones */
};

struct lockname_set {
	struct lockname *names; /* in the order in which they came */
	size_t n, cap;
	struct map64 at;     /* address -> index of the latest */
	struct map64 of_pid; /* process -> index + 1 of the latest mmap_lock */
	struct strpool pool;
	struct locksnap_area *areas; /* of the per-CPU section, from the last snapshot */
	struct lockname_var {
		uint64_t offset;
		uint32_t size;
		const char *name;
	} * vars; /* by offset */
	size_t n_areas, n_vars;
	struct lockname_holder *holders;
	size_t n_holders, cap_holders;
	struct map64 holder_at; /* thread -> index */
	struct lockholds holds;
	uint64_t lost_ns; /* events before this time may be missing */
	uint32_t most;	  /* names */
	unsigned refs;
};

enum { LOCKNAME_LEAST = 1 << 14, LOCKNAME_MOST = 1 << 16 };
enum { LOCKNAME_HOLDERS = 1 << 12 /* then all of them are forgotten */ };

/*
 * NULL: no memory; with one reference. For a table of @locks locks: there are some names for each,
 * within the bounds above; when there are as many, the older half is forgotten.
 */
struct lockname_set *lockname_set_new(uint32_t locks);
struct lockname_set *lockname_set_ref(struct lockname_set *s);
void lockname_set_unref(struct lockname_set *s); /* NULL is fine */

/*
 * All names of a snapshot taken at @time_ns, and where holders sleep; @tasks say since when they
 * have their address spaces. 0 or -ENOMEM: some are missing.
 */
int lockname_take(struct lockname_set *s, const struct locksnap *snap, uint64_t time_ns,
		  const struct task_table *tasks);
/* Its names alone: the latest snapshot and the holders that it saw stay. */
int lockname_take_names(struct lockname_set *s, const struct locksnap *snap, uint64_t time_ns,
			const struct task_table *tasks);
/*
 * An event reports that the lock at @n->addr is that of a file from @n->from_ns on; @changed: it
 * was another one's before. 0 or -ENOMEM.
 */
int lockname_inode(struct lockname_set *s, const struct lockname *n, bool changed);
/* Does an event report it if the lock at @addr, of that time, is another file's? */
bool lockname_is_followed(const struct lockname_set *s, uint64_t addr, uint64_t time_ns);
/* Events before @until_ns may be missing (UINT64_MAX: the end is not known): a snapshot counts. */
static inline void lockname_lost(struct lockname_set *s, uint64_t until_ns)
{
	s->lost_ns = until_ns > s->lost_ns ? until_ns : s->lost_ns;
}
/*
 * The address space of process @pid ended: of its mmap_locks the first one, and from then on (*at,
 * 0 before the first call) the next one. False: there is no more.
 */
bool lockname_end(struct lockname_set *s, int32_t pid, uint64_t time_ns, uint32_t *at,
		  uint64_t *ret_addr);
/* Is the address in a known variable of a CPU's per-CPU section? *ret gets its name. */
bool lockname_percpu(const struct lockname_set *s, uint64_t addr, struct lockname *ret);
/* NULL: it was not seen. Borrowed as a name is. */
const struct lockname_holder *lockname_holder(const struct lockname_set *s, int32_t tid);
/* The object at @addr at that time. NULL: not known. Borrowed until the next lockname_take(). */
const struct lockname *lockname_at(const struct lockname_set *s, uint64_t addr, uint64_t time_ns);
/* The latest that was there. */
const struct lockname *lockname_get(const struct lockname_set *s, uint64_t addr);
/* Another number whenever the latest one is known to be gone, and so to be asked for again. */
uint32_t lockname_life(const struct lockname_set *s, uint64_t addr);

#endif
