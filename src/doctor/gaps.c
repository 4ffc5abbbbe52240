// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits that lock:contention_begin and _end do not report, and what kontend shows of them. They
 * differ by kernel, so each is tried here: by a call, a tracepoint's format, or the kernel's own
 * types (BTF). Facts are answers (yes, no, not known), and a table derives the gaps from them, so
 * that other kernels can be tested.
 */
#include "internal.h"
#include "kontend/kerntypes.h"
#include "kontend/sysinfo.h"
#include "kontend/tracefs.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Since this version a writer that is alone causes no event. */
enum { SILENT_WRITERS = 6009 };

/* In the place of a fact. */
enum { ALL_KERNELS = DOCTOR_GAP_FACTS };

struct gap_rule {
	const char *name, *waits, *instead;
	unsigned fact;			/* enum doctor_gap_fact */
	const char *yes, *no, *unknown; /* how it is known */
};

#define BY_STATE "tasks in state D by process; what a holder of a lock sleeps in"
#define BY_PROFILE "CPU time by function, in view hot with -F"

static const struct gap_rule gap_rules[DOCTOR_GAPS] = {
	{"futexes",
	 "locks of programs: only the lock by which the kernel protects a futex has events",
	 "tasks that sleep in futex(2), and locks of the C library with owners, by snapshots",
	 ALL_KERNELS, "no kernel reports them"},
	{"pi-futexes", "futexes with priority inheritance, which the kernel makes of rt-mutexes",
	 "tasks that sleep in futex(2), and locks with owners, by snapshots", DOCTOR_GAP_PI_FUTEXES,
	 "FUTEX_LOCK_PI works here", "FUTEX_LOCK_PI does not work here",
	 "FUTEX_LOCK_PI was refused"},
	{"file-locks", "locks of files: flock(2), fcntl(2), leases",
	 "waits of their own types, from events of file locks and /proc/locks",
	 DOCTOR_GAP_FILE_LOCKS, "/proc/locks lists them", "there is no /proc/locks",
	 "/proc/locks cannot be read"},
	{"pcpu-writers", "a writer of a percpu-rwsem that waits for RCU, or for readers of before",
	 "waits of type pcpu-sem:W with both parts, as snapshots see them; the writer as the "
	 "holder for which readers wait",
	 DOCTOR_GAP_PCPU_WRITERS,
	 "since Linux 6.9 only writers that wait for another writer have events",
	 "before Linux 6.9 all writers have events", "the version of this kernel is not known"},
	{"vma-locks", "locks of single mappings (VMAs), for both sides",
	 "waits of type vma, as snapshots see them, with who keeps the mapping and who waits "
	 "behind them",
	 DOCTOR_GAP_VMA_LOCKS, "each mapping counts its readers (vm_area_struct.vm_refcnt)",
	 "mappings have no locks, or rwsems, whose waits have events",
	 "the kernel's types cannot be read"},
	{"bit-locks", "locks of folios, buffers and inodes, which are bits with a queue", BY_STATE,
	 ALL_KERNELS, "no kernel reports them"},
	{"journals", "transactions and logs of file systems", BY_STATE, DOCTOR_GAP_JOURNALS,
	 "mounted: ", "no ext4, xfs or btrfs is mounted", "/proc/self/mounts cannot be read"},
	{"queues", "completions, flush_work(), RCU, locks of sockets, ttys and kernfs", BY_STATE,
	 ALL_KERNELS, "no kernel reports them"},
	{"first-spinner",
	 "the first task that spins for a spinlock: events begin with the second one", BY_PROFILE,
	 DOCTOR_GAP_FIRST_SPINNER, "spinlocks are not paravirtual here",
	 "spinlocks sleep here (PREEMPT_RT)",
	 "in this virtual machine all have events with paravirtual spinlocks, or none without"},
	{"rwsem-spins", "the time that a writer of a rwsem spins before it sleeps", BY_PROFILE,
	 DOCTOR_GAP_RWSEM_SPINS, "writers spin here (rw_semaphore.osq)", "writers do not spin here",
	 "the kernel's types cannot be read"},
	{"bit-spins", "bit spinlocks, trylocks in loops, retries of seqlocks", BY_PROFILE,
	 ALL_KERNELS, "no kernel reports them"},
	{"rqspinlocks", "the first task that spins for a BPF map's resilient spinlock", BY_PROFILE,
	 DOCTOR_GAP_RQSPINLOCKS, "BPF maps have such locks (struct rqspinlock_held)",
	 "BPF maps have ordinary spinlocks", "the kernel's types cannot be read"},
	{"mutexes", "whether a wait is for a mutex or a semaphore", "the callers of both",
	 DOCTOR_GAP_MUTEXES, "events have no flag MUTEX: both are of type semaphore",
	 "events have the flag MUTEX", "the event's format cannot be read"},
	{"realtime", "which task reads a lock that another one waits to write",
	 "waits, and holders that write", DOCTOR_GAP_REALTIME,
	 "PREEMPT_RT counts readers without their names", "this is not PREEMPT_RT",
	 "the kernel's types cannot be read"},
};

const char *doctor_gap_state(const struct doctor_gap *g)
{
	return g->here > 0 ? "here" : g->here < 0 ? "unknown" : "absent";
}

void doctor_gaps(struct doctor *d, const struct doctor_gap_facts *f)
{
	d->n_gaps = 0;
	for (size_t i = 0; i < DOCTOR_GAPS; i++) {
		const struct gap_rule *r = &gap_rules[i];
		struct doctor_gap *g = &d->gaps[d->n_gaps++];
		signed char is = r->fact == ALL_KERNELS ? 1 : f->is[r->fact];

		*g = (struct doctor_gap){
			.name = r->name, .waits = r->waits, .instead = r->instead, .here = is};
		snprintf(g->found, sizeof(g->found), "%s%s",
			 is > 0	  ? r->yes
			 : is < 0 ? r->unknown
				  : r->no,
			 is > 0 && r->fact == DOCTOR_GAP_JOURNALS ? f->journals : "");
	}
}

signed char doctor_gap_pcpu(const char *release)
{
	int version = doctor_kernel_version(release);

	return version ? version >= SILENT_WRITERS : -1;
}

void doctor_gap_journals(struct doctor_gap_facts *f, const char *mounts)
{
	static const char *const known[] = {"ext4", "xfs", "btrfs"};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		char type[16];
		size_t n = strlen(f->journals);

		snprintf(type, sizeof(type), " %s ", known[i]);
		if (strstr(mounts, type))
			snprintf(f->journals + n, sizeof(f->journals) - n, "%s%s", n ? ", " : "",
				 known[i]);
	}
	f->is[DOCTOR_GAP_JOURNALS] = *f->journals != '\0';
}

/* Takes a lock that is free, and gives it back. */
static signed char try_pi_futex(void)
{
	uint32_t word = 0;

	if (syscall(SYS_futex, &word, FUTEX_LOCK_PI | FUTEX_PRIVATE_FLAG, 0, NULL, NULL, 0) == 0) {
		syscall(SYS_futex, &word, FUTEX_UNLOCK_PI | FUTEX_PRIVATE_FLAG, 0, NULL, NULL, 0);
		return 1;
	}
	return errno == ENOSYS ? 0 : -1;
}

static signed char try_file_locks(void)
{
	char text[64];
	int r = sysinfo_read("/proc/locks", text, sizeof(text));

	return r >= 0 ? 1 : r == -ENOENT ? 0 : -1;
}

/* The flag's name in the format by which the kernel prints the event. */
static signed char try_mutex_flag(void)
{
	char path[TRACEFS_PATH];
	struct tracepoint tp = {0};
	signed char ret = -1;

	if (tracefs_search("/proc/self/mounts", path) == 0 &&
	    tracepoint_read(&tp, path, "lock", "contention_begin", NULL) == 0)
		ret = !strstr(tp.format, "\"MUTEX\"");
	tracepoint_deinit(&tp);
	return ret;
}

/* Only x86 has paravirtual spinlocks, and only a virtual machine may use them. */
static signed char try_first_spinner(void)
{
#if defined(__x86_64__)
	char text[8192];

	if (sysinfo_read("/proc/cpuinfo", text, sizeof(text)) < 0 || strstr(text, " hypervisor"))
		return -1;
#endif
	return 1;
}

static signed char type_has(struct kerntypes *t, const char *type, const char *member)
{
	int r = kerntypes_has(t, type, member);

	return (signed char)(r < 0 ? -1 : r);
}

static void try_types(struct doctor_gap_facts *f)
{
	struct error err = {0};
	struct kerntypes *t = NULL;
	bool has = kerntypes_new(&t, &err) == 0;

	f->is[DOCTOR_GAP_VMA_LOCKS] = has ? type_has(t, "vm_area_struct", "vm_refcnt") : -1;
	f->is[DOCTOR_GAP_RWSEM_SPINS] = has ? type_has(t, "rw_semaphore", "osq") : -1;
	f->is[DOCTOR_GAP_RQSPINLOCKS] = has ? type_has(t, "rqspinlock_held", NULL) : -1;
	f->is[DOCTOR_GAP_REALTIME] = has ? type_has(t, "rw_semaphore", "rwbase") : -1;
	kerntypes_free(t);
}

void doctor_try_gaps(struct doctor *d)
{
	static char mounts[65536]; /* one doctor at a time */
	struct doctor_gap_facts f = {0};

	f.is[DOCTOR_GAP_PI_FUTEXES] = try_pi_futex();
	f.is[DOCTOR_GAP_FILE_LOCKS] = try_file_locks();
	f.is[DOCTOR_GAP_PCPU_WRITERS] = doctor_gap_pcpu(d->kernel);
	f.is[DOCTOR_GAP_MUTEXES] = try_mutex_flag();
	try_types(&f);
	f.is[DOCTOR_GAP_FIRST_SPINNER] = f.is[DOCTOR_GAP_REALTIME] > 0 ? 0 : try_first_spinner();
	if (sysinfo_read("/proc/self/mounts", mounts, sizeof(mounts)) < 0)
		f.is[DOCTOR_GAP_JOURNALS] = -1;
	else
		doctor_gap_journals(&f, mounts);
	doctor_gaps(d, &f);
}
