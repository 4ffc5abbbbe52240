/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_H
#define KONTEND_INSPECT_H

#include "kontend/error.h"
#include "kontend/perfsnap.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct kerntypes;

/*
 * Reads the perf events, contexts and breakpoint slots of the running kernel: by BPF programs that
 * read the kernel's own structures, if this kernel and this user can; else by probing: see enum
 * snap_method. Takes no breakpoint slot for longer than a probe; its own events are software events
 * and marked SNAP_OWN. For one thread.
 */
struct inspect_options {
	bool no_bpf;	/* behaves as if the kernel had no BPF */
	bool creations; /* reports each creation of a breakpoint, at a cost for each system call */
	struct kerntypes *types; /* NULL: it reads them itself */
	/* Probing only: the greatest age of counts and descriptors; 0: always current. */
	uint64_t slots_ns, holders_ns;
	bool probe_cpus; /* probing only: also open CPU-wide breakpoints, which holds up every other
			    open and close of one, up to 22 ms (kernel: bp_cpuinfo_sem for write) */
};

/* How much is read. Probing always reads all that it can. */
enum inspect_what {
	/* Everything: contexts and events of all tasks, and the tasks that have their descriptors.
	 */
	INSPECT_ALL,
	/*
	 * Slots, registers and breakpoints, without contexts. Descriptors of tasks are searched
	 * again only when there are breakpoints that were not there last time, and then for at most
	 * one percent of the time; until then the result of the last search is used.
	 */
	INSPECT_SLOTS,
	INSPECT_WHATS,
};

struct inspect;

struct inspect_ops {
	int (*take)(struct inspect *i, enum inspect_what what, struct perfsnap *ret,
		    struct error *err);
	void (*free)(struct inspect *i);
};

/* First member of every inspector. */
struct inspect {
	const struct inspect_ops *ops;
	bool has_parts; /* INSPECT_SLOTS is less than INSPECT_ALL */
	char why[256]; /* reason why something is missing, for snap_head.reason; "" if nothing is */
};

/* By BPF if possible, else by probing: then the `why` of @ret has the reason. */
int inspect_new(struct inspect **ret, const struct inspect_options *o, struct error *err);
/* By BPF only: -ENOTSUP if kontend was built without BPF, else the errno of the kernel. */
int inspect_bpf_new(struct inspect **ret, const struct inspect_options *o, struct error *err);
int inspect_probe_new(struct inspect **ret, const struct inspect_options *o, struct error *err);

/*
 * How many breakpoints the kernel still accepts for thread @tid (0: ours, -1: the CPU itself, which
 * delays all others for a moment) on @cpu (-1: any), of the pool @type (enum snap_slot_type), by
 * opening them; or a negative errno.
 */
int inspect_probe_free(uint32_t type, pid_t tid, int cpu);

/*
 * Takes a snapshot into @ret, which is cleared first. 0, or a negative errno: try again later.
 * Intervals and rates are over the time since the previous one of the same @what.
 */
static inline int inspect_take(struct inspect *i, enum inspect_what what, struct perfsnap *ret,
			       struct error *err)
{
	return i->ops->take(i, what, ret, err);
}

static inline void inspect_free(struct inspect *i)
{
	if (i)
		i->ops->free(i);
}

#endif
